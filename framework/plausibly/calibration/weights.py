"""Weights of examples for covariate shift: checked, and what they are worth together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plausibly.errors import InputError, counted


def check_weights(values: NDArray[np.generic], name: str, *, whose: str) -> NDArray[np.float64]:
    """Return weights as float64, or say what is wrong with them.

    Parameters
    ----------
    values : ndarray, (example,)
    name : str
        Coordinate that they came from.
    whose : str

    Raises
    ------
    InputError
        ``weights-range`` where they are no finite numbers from 0 on.
    """
    numeric = values.dtype.kind in "fiu"
    weights = values.astype(np.float64) if numeric else np.full(len(values), np.nan)
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        got = f"{weights[wrong][0]:g}" if numeric else f'"{values[wrong][0]}"'
        raise InputError(
            "weights-range",
            f'{counted(int(wrong.sum()))} of {counted(len(weights))} weights in "{name}" are no '
            "likelihood ratios",
            expected="finite numbers from 0 on: how much more often new examples are like this one",
            got=got,
            do="plausibly.likelihood_ratios(...), or mend the coordinate",
            whose=whose,
        )
    return weights


def effective_size(weights: NDArray[np.float64]) -> float:
    """Return how many equal weights these are worth: ``(sum w)^2 / sum w^2``; 0 for none.

    Parameters
    ----------
    weights : ndarray, (example,)
        Not negative.
    """
    largest = float(weights.max(initial=0.0))
    if not largest:
        return 0.0
    scaled = weights / largest
    return float(scaled.sum() ** 2 / (scaled**2).sum())
