"""The threshold of scores alone, however many: neither named, nor sorted, nor gathered."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from plausibly.arrays import Floats
from plausibly.conformal.alphas import AlphaLike, read_alpha
from plausibly.errors import InputError, counted, warn
from plausibly.kernels.bracket import least, order_statistic
from plausibly.kernels.radix import order_statistic_of

if TYPE_CHECKING:
    import dask.array

_FEW = 1 << 20
"""Scores up to which a partition of a copy is quicker than bounds and a pass, and small."""


def score_threshold(
    scores: Floats | dask.array.Array, alpha: AlphaLike
) -> np.floating[Any]:  # Any: the float type of the scores
    """Return the threshold of Monte Carlo conformal prediction for scores of plain arrays.

    A label belongs into the set of a new example where its score is at least the threshold: the
    label of one draw is then in the set with probability ``1 - alpha`` on average over draws, as
    with `calibrate` and the combiner ``average``. It takes no names and checks no model: whoever
    calls it has put scores and labels side by side. Nothing is kept for p-values or a file.

    Parameters
    ----------
    scores : ndarray or Dask array, (example,) or (draw, example)
        Conformity score of the label of each calibration example, larger = fits better; with
        several labels drawn for each example, one row a draw. float32 or float64. A Dask array is
        read in two passes, four for float64, of which each chunk returns 512 KiB of counts.
    alpha : number or text

    Returns
    -------
    float32 or float64
        The k-th smallest score with ``k = floor(alpha m (n + 1)) - m + 1`` for n examples and m
        draws; -inf below the first.

    Raises
    ------
    InputError
        ``scores-malformed`` for another shape or type, none at all, or NaN.

    Warns
    -----
    PlausiblyWarning
        ``n-too-small`` where every set is every label.

    References
    ----------
    Stutz et al., Conformal prediction under ambiguous ground truth, TMLR 2023, Algorithm 1.
    """
    if scores.ndim not in (1, 2) or not scores.size or scores.dtype not in (np.float32, np.float64):
        raise _malformed(f"shape {scores.shape}, {scores.dtype}")
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
    if not isinstance(scores, np.ndarray):
        from plausibly.lazy.pool import counted_in_chunks

        return order_statistic_of(counted_in_chunks(scores), rank, scores.dtype)
    if np.isnan(least(scores)):
        raise _malformed("NaN")
    if scores.size > _FEW or rank < 1:
        return order_statistic(scores, rank)
    found: np.floating[Any] = np.partition(scores, rank - 1, axis=None)[rank - 1]  # Any: as above
    return found + scores.dtype.type(0)


def _malformed(got: str) -> InputError:
    return InputError(
        "scores-malformed",
        "scores cannot be compared",
        expected="float32 or float64 without NaN, (example,) or (draw, example)",
        got=got,
        do="scores.astype(float), and leave out what has no score",
        whose="scores",
    )
