"""p-values with a known dependence, and p-values of a calibration that are what a test wants."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from plausibly.calibration.pvalues import Pools, PValues
from plausibly.calibration.scores import CalibrationScores
from plausibly.guarantee import CalibrationSummary, Claim
from plausibly.kernels.random import Keys, hash_names
from plausibly.protocols import COMBINER, PValueCombiner
from plausibly.registry import resolve

M = 10
ALPHA = 0.1

ANY = ("bonferroni", "median", "geometric", "harmonic")
"""Rules that hold for p-values of any dependence."""

EXCHANGEABLE = ("exchangeable-average", "exchangeable-median", "exchangeable-geometric")
MERGING = (*ANY, *EXCHANGEABLE)
CLAIMING = (*MERGING, "e-value")
NONE = ("cauchy", "fisher", "stouffer")
"""Rules without a guarantee."""

Matrix = NDArray[np.float64]


def combiner(like: str | dict[str, object]) -> PValueCombiner:
    return resolve(COMBINER, like)


def uniforms(name: str, rows: int, count: int) -> Matrix:
    """Return uniforms (row, draw), the same on every machine and above 0."""
    values: Matrix = Keys(7, f"combiners/{name}").uniform(hash_names(range(count)), rows).T
    return np.maximum(values, 2.0**-60)


def independent(count: int) -> Matrix:
    """Return independent uniforms, (replicate, draw)."""
    return uniforms("independent", M, count)


def gaussian(count: int, r: float = 0.8) -> Matrix:
    """Return uniforms whose normal scores have the correlation r."""
    shared = ndtri(uniforms("shared", 1, count))
    own = ndtri(uniforms("own", M, count))
    p_values: Matrix = ndtr(np.sqrt(r) * shared + np.sqrt(1 - r) * own)
    return p_values


def copies(count: int) -> Matrix:
    """Return one uniform, m times."""
    return np.repeat(uniforms("copies", 1, count), M, axis=0)


def pairs(count: int) -> Matrix:
    """Return exchangeable uniforms that conspire against averages at ALPHA.

    With probability 2 alpha they are five pairs (v, 2 alpha - v) in random order, v uniform up to
    2 alpha: their mean is alpha. Otherwise they are copies of a uniform above 2 alpha.
    """
    edge = 2 * ALPHA
    low = edge * uniforms("pairs", M // 2, count)
    paired = np.concatenate([low, edge - low])
    order = np.argsort(uniforms("order", M, count), axis=0)
    high = edge + (1 - edge) * uniforms("high", 1, count)
    conspiring = uniforms("conspire", 1, count) < edge
    return np.where(conspiring, np.take_along_axis(paired, order, axis=0), high)


DESIGNS: dict[str, Callable[[int], Matrix]] = {
    "independent": independent,
    "Gaussian, r = 0.8": gaussian,
    "copies": copies,
    "pairs": pairs,
}


def calibration_with(ranks: Sequence[int], n: int) -> PValues:
    """Return a calibration and one query whose p-values are ``ranks / (n + 1)``."""
    scores = np.array([[0.0] * (rank - 1) + [1.0] * (n + 1 - rank) for rank in ranks])
    return PValues.of(Pools(CalibrationScores(scores=scores)), np.array([0.5]))


def drawn(n: int, m: int = M) -> tuple[Claim, CalibrationSummary]:
    """Return a claim about labels that are drawn, and its numbers."""
    claim = Claim(covers="a label", assumption=None, conditions=("this", "that"))
    return claim, CalibrationSummary(n=n, m=m)
