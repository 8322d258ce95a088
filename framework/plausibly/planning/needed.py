"""From how many examples on combiners say anything at all, as their own guarantees tell."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import registry
from plausibly.conformal.calibrate import calibrate
from plausibly.conformal.components import called
from plausibly.data import names
from plausibly.protocols import COMBINER, ComponentLike, PValueCombiner

_EXAMPLES = 20


def default_combiners(delta: float) -> list[Mapping[str, object]]:
    """Return the combiners that a plan asks."""
    return [
        {"name": "average"},
        {"name": "held-out-rank"},
        {"name": "pac", "delta": delta},
        {"name": "ecdf", "delta": delta},
    ]


def examples_to_speak(
    combiners: Sequence[ComponentLike[PValueCombiner]], alphas: Sequence[Fraction]
) -> xr.Dataset:
    """Return from how many examples on sets are not every label.

    Parameters
    ----------
    combiners : sequence of str, mapping or object
    alphas : sequence of Fraction

    Returns
    -------
    Dataset
        `needed` (alpha, combiner), and `needed_counts` (combiner): what it counts, calibration or
        held-out examples.

    Raises
    ------
    IncompatibleComponents
        Where a combiner has no guarantee for drawn labels.
    """
    predictions, plausibilities = _made()
    made = [registry.resolve(COMBINER, combiner) for combiner in combiners]
    needed = np.zeros((len(alphas), len(made)), dtype=np.int64)
    counts: list[str] = []
    for place, combiner in enumerate(made):
        with warnings.catch_warnings():
            # That so few examples are too few is what is asked here.
            warnings.simplefilter("ignore")
            predictor = calibrate(
                predictions,
                plausibilities,
                calibrator={"name": "monte-carlo", "draws": 2},
                combiner=combiner,
            )
            promises = [predictor.guarantee(alpha) for alpha in alphas]
        needed[:, place] = [promise.needed or 1 for promise in promises]
        counts.append(promises[0].counted)
    titles = np.array([called(COMBINER, combiner) for combiner in made], dtype=np.str_)
    return xr.Dataset(
        {
            "needed": ((names.ALPHA, "combiner"), needed),
            "needed_counts": ("combiner", np.array(counts, dtype=np.str_)),
        },
        coords={names.ALPHA: _decimals(alphas), "combiner": titles},
    )


def _decimals(alphas: Sequence[Fraction]) -> NDArray[np.float64]:
    return np.array([float(alpha) for alpha in alphas])


def _made() -> tuple[xr.DataArray, xr.DataArray]:
    """Return predictions and plausibilities of a handful of examples."""
    first = (np.arange(_EXAMPLES) + 1.0) / (_EXAMPLES + 1)
    coords = {
        names.EXAMPLE: np.arange(_EXAMPLES).astype(np.str_),
        names.LABEL: np.array(["a", "b"]),
    }
    predictions = xr.DataArray(
        np.stack([first, 1 - first], axis=1),
        dims=(names.EXAMPLE, names.LABEL),
        coords=coords,
        attrs={names.SCALE: "probability"},
    )
    return predictions, predictions.copy(data=np.full((_EXAMPLES, 2), 0.5))
