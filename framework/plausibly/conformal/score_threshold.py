"""The threshold of scores in plain arrays, without names or a predictor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from plausibly.calibration.alphas import AlphaLike, read_alpha
from plausibly.errors import InputError, counted, warn
from plausibly.kernels.types import Floats


def score_threshold(
    scores: Floats, alpha: AlphaLike
) -> np.floating[Any]:  # Any: the float type of the scores
    """Return the threshold of Monte Carlo conformal prediction for scores of plain arrays.

    A label belongs into the set of a new example where its score is at least the threshold: the
    label of one draw is then in the set with probability ``1 - alpha`` on average over draws, as
    with `calibrate` and the combiner ``average``. It takes no names and checks no model: whoever
    calls it has put scores and labels side by side. Nothing is kept for p-values or a file.

    Parameters
    ----------
    scores : ndarray, (example,) or (draw, example)
        Conformity score of the label of each calibration example, larger = fits better; with
        several labels drawn for each example, one row a draw. float32 or float64.
    alpha : number or text

    Returns
    -------
    float32 or float64
        The k-th smallest score with ``k = floor(alpha m (n + 1)) - m + 1`` for n examples and m
        draws; -inf below the first.

    Raises
    ------
    InputError
        ``scores-malformed`` for anything but a numpy array (compute a Dask array first), another
        shape or type, none at all, or NaN.

    Warns
    -----
    PlausiblyWarning
        ``n-too-small`` where every set is every label.

    References
    ----------
    Stutz et al., Conformal prediction under ambiguous ground truth, TMLR 2023, Algorithm 1.
    """
    if not isinstance(scores, np.ndarray):
        kind = type(scores)
        way = "scores.compute() of a Dask array, numpy.asarray(scores) of anything else"
        raise _malformed(f"{kind.__module__}.{kind.__qualname__}", way)
    if scores.ndim not in (1, 2) or not scores.size or scores.dtype not in (np.float32, np.float64):
        raise _malformed(f"shape {scores.shape}, {scores.dtype}")
    if np.isnan(scores.min()):
        raise _malformed("NaN")
    exact = read_alpha(alpha)
    draws = 1 if scores.ndim == 1 else scores.shape[0]
    examples = scores.shape[-1]
    rank = math.floor(exact * draws * (examples + 1)) - draws + 1
    if rank < 1:
        needed = math.ceil(1 / exact) - 1
        warn(
            "n-too-small",
            f"every set is every label at alpha {float(exact):g}",
            expected=f"{counted(needed)} calibration examples or more",
            got=counted(examples),
            do=f"annotate {counted(needed - examples)} more, or a larger alpha",
            whose="scores",
        )
        return scores.dtype.type(-np.inf)
    found: np.floating[Any] = np.partition(scores, rank - 1, axis=None)[rank - 1]  # Any: as above
    # Adding zero turns -0.0 into 0.0, whichever of the two stands at the rank.
    return found + scores.dtype.type(0)


def _malformed(
    got: str, do: str = "scores.astype(float), and leave out what has no score"
) -> InputError:
    return InputError(
        "scores-malformed",
        "scores cannot be compared",
        expected="a numpy array, float32 or float64 without NaN, (example,) or (draw, example)",
        got=got,
        do=do,
        whose="scores",
    )
