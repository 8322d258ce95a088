"""Predictors loaded from files, with xarray or without."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from plausibly.conformal.array_predictor import ArrayPredictor
from plausibly.conformal.files import read

if TYPE_CHECKING:
    from plausibly.conformal.predictor import ConformalPredictor


@overload
def load_predictor(
    path: str | Path, *, array_only: Literal[False] = False
) -> ConformalPredictor: ...
@overload
def load_predictor(path: str | Path, *, array_only: Literal[True]) -> ArrayPredictor: ...
def load_predictor(path: str | Path, *, array_only: bool = False) -> ArrayPredictor:
    """Read a predictor that `ConformalPredictor.save` wrote.

    Parameters
    ----------
    path : str or Path
    array_only : bool
        Whether rows of numbers are all that it will be asked about: it has `predict_array`,
        `p_values_array`, `threshold_array` and `guarantee`, and xarray is not imported.

    Returns
    -------
    ConformalPredictor, or ArrayPredictor with `array_only`
        Equal in every prediction to the saved one. Score and combiner come from the registry.

    Raises
    ------
    InputError
        ``file-missing``, ``predictor-unreadable`` or ``file-newer``.
    """
    if array_only:
        return read(Path(path), ArrayPredictor)
    from plausibly.conformal.predictor import ConformalPredictor

    return read(Path(path), ConformalPredictor)
