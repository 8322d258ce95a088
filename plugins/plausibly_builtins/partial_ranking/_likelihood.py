"""Chance that a block of tied labels is ranked above others, in the model of Plackett and Luce.

A label of utility ``lambda_k = exp(phi_k)`` arrives at an exponential time of rate lambda_k; labels
are ranked as they arrive. A block B is above labels of total utility T where all of B arrive before
the first of those: that is the sum over every order of B, and as an integral::

    P(B above) = sum over orders s of B:
                     prod_t lambda_{s_t} / (lambda_{s_t} + ... + lambda_{s_b} + T)
               = integral over y > 0 of T exp(-T y) prod_{k in B} (1 - exp(-lambda_k y)) dy

The sum has b! terms, and its short form with signs cancels. The integral has positive terms only:
at ``y = exp(s) / T`` the trapezoidal rule in s is as good as float64 holds, for a block of any size
and utilities of any ratio, since the integrand is analytic for ``|Im s| < pi / 2`` and falls off
exponentially on both sides. Blocks of one label have a closed form.
"""

from __future__ import annotations

import math

import attrs
import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]

_STEP = 0.125  # between nodes, of blocks of up to thirty
_FIRST = -42.0  # what lies before is less than exp(-42) of the whole
_LATE = 700.0  # exp of more is no float
_AT_ONCE = 1 << 18  # terms of the integrals in memory at a time


@attrs.frozen(kw_only=True, eq=False)
class Moments:
    """Log-chance of blocks of one size, with its derivatives by the utilities in the block.

    With T fixed. The chance depends on ratios alone, so the derivative by log T is minus the sum of
    the others.

    Attributes
    ----------
    log_chance : ndarray of float64, (block,)
    gradient : ndarray of float64, (block, place)
        By ``phi_k``: not negative.
    curvature : ndarray of float64, (block, place, place)
        Second derivatives.
    """

    log_chance: Column
    gradient: Column
    curvature: Column


def log_chances(log_ratio: Column) -> Column:
    """Return the log-chance of blocks of one size: (block,).

    Parameters
    ----------
    log_ratio : ndarray of float64, (block, place)
        ``phi_k - log T`` of the labels of each block.
    """
    if log_ratio.shape[1] == 1:
        alone: Column = -np.logaddexp(0.0, -log_ratio[:, 0])
        return alone
    found = np.empty(len(log_ratio))
    for part, time, ratio in _parts(log_ratio):
        largest, weight = _integrand(time, ratio)
        found[part] = largest + np.log(weight.sum(axis=1) * (time[1] - time[0]))
    return found


def moments(log_ratio: Column) -> Moments:
    """Return log-chances with derivatives; the parameter is that of `log_chances`."""
    blocks, size = log_ratio.shape
    if size == 1:
        log_chance = log_chances(log_ratio)
        lost = np.exp(-np.logaddexp(0.0, log_ratio))  # chance that another arrives first
        return Moments(
            log_chance=log_chance,
            gradient=lost,
            curvature=(-np.exp(log_chance)[:, None] * lost)[:, :, None],
        )
    log_chance, gradient = np.empty(blocks), np.empty((blocks, size))
    curvature = np.empty((blocks, size, size))
    for part, time, ratio in _parts(log_ratio):
        largest, weight = _integrand(time, ratio)
        total = weight.sum(axis=1)
        log_chance[part] = largest + np.log(total * (time[1] - time[0]))
        weight /= total[:, None]
        waits = _waits(time, ratio)
        with np.errstate(over="ignore"):
            slope = np.where(waits < 1e-300, 1.0, waits / np.expm1(np.maximum(waits, 1e-300)))
        mean = (slope * weight[:, None, :]).sum(axis=2)
        bend = slope * (1.0 - slope - waits)
        off = slope - mean[:, :, None]
        for place in range(size):
            row = (off[:, place, None, :] * off * weight[:, None, :]).sum(axis=2)
            row[:, place] += (bend[:, place] * weight).sum(axis=1)
            curvature[part, place] = row
        gradient[part] = mean
    return Moments(log_chance=log_chance, gradient=gradient, curvature=curvature)


def _parts(log_ratio: Column) -> list[tuple[slice, Column, Column]]:
    """Return blocks a few at a time: which, the nodes s, and their log-ratios."""
    size = log_ratio.shape[1]
    # y^b exp(-y), the slowest fall there is, has lost 70 powers of e at 60 + 3 b; its logarithm
    # bends as a normal density with variance 1 / b.
    apart = min(_STEP, 0.7 / math.sqrt(size + 1.0))
    time = np.arange(_FIRST, math.log(60.0 + 3.0 * size), apart)
    step = max(1, _AT_ONCE // (size * time.size))
    return [
        (slice(at, at + step), time, log_ratio[at : at + step])
        for at in range(0, len(log_ratio), step)
    ]


def _integrand(time: Column, ratio: Column) -> tuple[Column, Column]:
    """Return the log of the largest term of each block (block,), and terms over it (block, node).

    Parameters
    ----------
    time : ndarray of float64, (node,)
    ratio : ndarray of float64, (block, place)
    """
    waits = _waits(time, ratio)
    # 1 - exp(-x) is x where x is so small that exp(-x) is 1
    small = waits < 1e-17
    arrived = np.log(-np.expm1(-np.where(small, 1.0, waits)))
    arrived = np.where(small, ratio[:, :, None] + time, arrived)
    terms = arrived.sum(axis=1) + (time - np.exp(time))
    largest: Column = terms.max(axis=1)
    return largest, np.exp(terms - largest[:, None])


def _waits(time: Column, ratio: Column) -> Column:
    """Return ``lambda_k y``: (block, place, node)."""
    found: Column = np.exp(np.minimum(ratio[:, :, None] + time, _LATE))
    return found
