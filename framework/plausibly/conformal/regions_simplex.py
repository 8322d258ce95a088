"""The simplex cut by a half-space: everything about ``{lambda : sum_k lambda_k E_k >= tau}``.

The expected score of a plausibility vector is linear in it, so the vectors that conform are the
part of the simplex on one side of a plane, and what one wants to know of them has a closed form:
no grid, and no optimiser. Notation: `scores` are the E_k of one example, b is their largest.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.types import Bools, Floats

_EPS = float(np.finfo(np.float64).eps)


def expected_scores(scores: Floats, plausibilities: Floats) -> NDArray[np.float64]:
    """Return the score that a label drawn from the plausibilities has on average, (example,).

    ``sum_k lambda_k E_k / sum_k lambda_k``; a label of plausibility zero counts nothing, whatever
    its score.

    Parameters
    ----------
    scores, plausibilities : ndarray, (example, label)
        Rows broadcast. Scores may be -inf; plausibilities are not negative.
    """
    weights, values = np.broadcast_arrays(
        plausibilities.astype(np.float64), scores.astype(np.float64)
    )
    terms = np.zeros(weights.shape, dtype=np.float64)
    np.multiply(weights, values, out=terms, where=weights > 0)
    # Rows that sum to one only nearly would shift with the scores.
    total: NDArray[np.float64] = terms.sum(axis=1) / np.ascontiguousarray(weights).sum(axis=1)
    return total


def rounding(scores: Floats) -> NDArray[np.float64]:
    """Return a bound, (example, 1), of the error with which `expected_scores` is computed."""
    finite = np.where(np.isfinite(scores), np.abs(scores), 0).astype(np.float64)
    bound: NDArray[np.float64] = (4 * (scores.shape[1] + 2) * _EPS) * finite.max(
        axis=1, keepdims=True
    )
    return bound


def most(scores: Floats, tau: float) -> NDArray[np.float64]:
    """Return the largest plausibility of each label among the vectors that conform.

    ``min(1, (b - tau) / (b - E_k))``: mass p on k and the rest on the best label has the expected
    score ``p E_k + (1 - p) b``, and no vector with that mass on k has more. A set of labels has
    the largest of theirs.

    Parameters
    ----------
    scores : ndarray, (example, label)
    tau : float

    Returns
    -------
    ndarray of float64, (example, label)
        NaN for an example with which no vector conforms (b < tau).
    """
    found = np.ones(scores.shape, dtype=np.float64)
    if tau == -math.inf:
        return found
    values = scores.astype(np.float64)
    best = values.max(axis=1, keepdims=True)
    apart = values < np.minimum(best, tau)
    np.divide(best - tau, _below(best, values), out=found, where=apart)
    found[best[:, 0] < tau] = np.nan
    return found


def least(scores: Floats, tau: float) -> NDArray[np.float64]:
    """Return the smallest plausibility of each label among the vectors that conform.

    One less the largest mass of all other labels; it is positive only for the label of the largest
    score, where the second largest is below tau.

    Parameters
    ----------
    scores : ndarray, (example, label)
    tau : float

    Returns
    -------
    ndarray of float64, (example, label)
        NaN for an example with which no vector conforms.
    """
    values = scores.astype(np.float64)
    found = np.zeros(values.shape, dtype=np.float64)
    rows = np.arange(len(values))
    top = values.argmax(axis=1)
    best = values[rows, top]
    if values.shape[1] == 1:
        found[:] = 1
    else:
        others = values.copy()
        others[rows, top] = -np.inf
        second = others.max(axis=1)
        alone = rows[second < np.minimum(best, tau)]
        share = (best[alone] - tau) / (best[alone] - second[alone])
        found[alone, top[alone]] = 1 - share
    found[best < tau] = np.nan
    return found


def plausible_above(scores: Floats, tau: float, mass: Fraction) -> Bools:
    """Return the labels of which some vector that conforms has more than `mass`.

    The complement has at most `mass` under every vector that conforms, and no smaller set leaves
    so little out: labels outside it together have the largest of their masses, not the sum.
    Rounding can only add a label.

    Parameters
    ----------
    scores : ndarray, (example, label)
    tau : float
    mass : Fraction
        0 < mass < 1.

    Returns
    -------
    ndarray of bool, (example, label)
    """
    if tau == -math.inf:
        return np.ones(scores.shape, dtype=np.bool_)
    values = scores.astype(np.float64)
    best = values.max(axis=1, keepdims=True)
    low = tau - rounding(values)
    room = (best - low) * (1 + 8 * _EPS)
    allowed = float(mass) * _below(best, values) * (1 - 8 * _EPS)
    # A label whose own score conforms can have all mass, also where nothing is above tau.
    inside: Bools = ((room > allowed) & (best >= low)) | (values >= low)
    return inside


def _below(best: Floats, values: Floats) -> NDArray[np.float64]:
    """Return how far scores lie below the best; 0 where even that is -inf."""
    gap: NDArray[np.float64] = np.where(best > -np.inf, best, 0) - np.where(
        best > -np.inf, values, 0
    )
    return gap


def votable(scores: Floats, tau: float) -> Bools:
    """Return the labels that are voted, alone or tied, under some vector that conforms.

    Of all vectors in which k has the largest plausibility, one that is uniform over k and the s
    best other labels has the largest expected score, for some s. Rounding can only add a label.

    Parameters
    ----------
    scores : ndarray, (example, label)
    tau : float

    Returns
    -------
    ndarray of bool, (example, label)
    """
    values = scores.astype(np.float64)
    ordered = -np.sort(-values, axis=1)
    total, mean = values.copy(), values.copy()
    for count in range(values.shape[1] - 1):
        # A label that is already in, k itself among them, is never above the mean.
        gains = ordered[:, count : count + 1] > mean
        if not gains.any():
            break
        total += np.where(gains, ordered[:, count : count + 1], 0)
        mean = np.where(gains, total / (count + 2), mean)
    reaches: Bools = mean >= tau - rounding(values)
    return reaches


def vertices(scores: Floats, tau: float) -> NDArray[np.float64]:
    """Return the corners of the polytope of vectors that conform, (corner, label).

    Corners of the simplex on the right side of the plane, and the points where its edges cross.

    Parameters
    ----------
    scores : ndarray, (label,)
    tau : float
    """
    values = scores.astype(np.float64)
    whole = np.eye(len(values))
    corners = [whole[k] for k in range(len(values)) if values[k] >= tau]
    for i, j in combinations(range(len(values)), 2):
        high, low = (i, j) if values[i] > values[j] else (j, i)
        if values[low] < tau < values[high]:
            share = (values[high] - tau) / (values[high] - values[low])
            corners.append((1 - share) * whole[high] + share * whole[low])
    return np.array(corners).reshape(-1, len(values))


def grid_size(labels: int, parts: int) -> int:
    """Return how many vectors there are whose plausibilities are whole multiples of 1/parts."""
    return math.comb(parts + labels - 1, labels - 1)


def grid(labels: int, parts: int) -> NDArray[np.float64]:
    """Return every plausibility vector in multiples of 1/parts, (point, label).

    Each way to put `labels` - 1 bars among `parts` stars is one vector; no other point is made.

    Parameters
    ----------
    labels, parts : int
        From 1 on.
    """
    slots = parts + labels - 1
    bars = np.array(list(combinations(range(slots), labels - 1)), dtype=np.int64)
    bars = bars.reshape(grid_size(labels, parts), labels - 1)
    ends = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, slots)))
    counts = np.diff(ends, axis=1) - 1
    return counts / parts
