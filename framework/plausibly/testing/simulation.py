"""Simulated calibrations, in which what is promised must hold, but for chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.calibration.data import CalibrationData
from plausibly.guarantee import bounded, rounded
from plausibly.kernels.draws import draw_labels
from plausibly.kernels.random import hash_names
from plausibly.kernels.types import Floats, Hashes
from plausibly.testing import worlds
from plausibly.testing.rules import demand

ALPHAS = (Fraction(1, 20), Fraction(1, 10), Fraction(1, 5), Fraction(1, 2))

# A component that keeps its promise fails by chance once in a million times, over all alphas.
_CHANCE = 1e-6 / len(ALPHAS)
_VOTES = 5
_LABELS = 3
# What single annotators say of the label that the model puts first, second and third: far from
# everybody says the likeliest, so that what covers votes only does not cover annotators.
_SAID = np.array([0.6, 0.3, 0.1])


@attrs.frozen(eq=False)
class Population:
    """Examples of which a model says something and annotators say something else.

    Attributes
    ----------
    scores, plausibilities : ndarray, (example, label)
        The plausibilities are shares of five votes.
    hashes : ndarray of uint64, (example,)
    label : ndarray of int, (example,)
        One label of each, drawn from its plausibilities.

    Examples have the coordinates ``group`` (one of three) and ``weight`` (the same for all), labels
    have ``risk``, and each example has two augmentations.
    """

    scores: Floats
    plausibilities: Floats
    hashes: Hashes
    label: NDArray[np.int32]

    def data(self, rows: slice | NDArray[np.intp]) -> CalibrationData:
        """Return some examples as a calibrator sees them, in arrays of their own."""
        plausibilities = self.plausibilities[rows].copy()
        return CalibrationData(
            scores=self.scores[rows].copy(),
            plausibilities=plausibilities,
            denominator=np.full(len(plausibilities), _VOTES, np.int64),
            hashes=self.hashes[rows].copy(),
            labels=worlds.LABELS[: plausibilities.shape[1]],
            coordinates={name: values[rows].copy() for name, values in self.coordinates().items()},
            label_coordinates={"risk": np.arange(1.0, plausibilities.shape[1] + 1)},
            augmented=self.augmented(rows),
        )

    def coordinates(self) -> dict[str, NDArray[np.generic]]:
        """Return what is known about the examples, (example,)."""
        group = np.array(["x", "y", "z"])[(self.hashes % np.uint64(3)).astype(np.int64)]
        return {"group": group, "weight": np.full(len(self.hashes), 2.0)}

    def augmented(self, rows: slice | NDArray[np.intp]) -> Floats:
        """Return the scores of two augmentations, (augmentation, example, label)."""
        scores = self.scores[rows]
        return np.stack([scores, scores])

    def own(self, rows: slice) -> Floats:
        """Return the scores of the drawn labels of some examples."""
        places = np.arange(len(self.label))[rows]
        scores: Floats = self.scores[places, self.label[rows]]
        return scores


@cache
def population(stream: str, size: int, labels: int = _LABELS) -> Population:
    """Return independent examples, always the same ones of a stream.

    The scores are all different, so that nothing is lost to ties.
    """
    sharp = worlds.probabilities(f"{stream}/scores", size, labels) ** 2
    scores = sharp / sharp.sum(axis=1, keepdims=True)
    rank = np.argsort(np.argsort(-scores, axis=1), axis=1)
    said = _SAID[:labels] / _SAID[:labels].sum()
    counts = worlds.votes(f"{stream}/votes", said[rank], _VOTES)
    plausibilities = counts / _VOTES
    label = draw_labels(plausibilities, worlds.uniforms(f"{stream}/label", size, 1))[0]
    hashes = hash_names(f"{stream} {row}" for row in range(size))
    return Population(scores, plausibilities, hashes, label)


def blocks(size: int, count: int) -> Iterator[slice]:
    """Yield `count` slices of `size` examples each."""
    return (slice(start, start + size) for start in range(0, size * count, size))


def demand_coverage(
    p_values: Floats, level: Callable[[Fraction], Fraction | None], of_what: str
) -> None:
    """Demand that sets made from p-values of true labels cover as often as is promised.

    Parameters
    ----------
    p_values : ndarray of float, (calibration,)
        The p-value of the label that is to be covered, of independent calibrations.
    level : callable
        What is promised at an alpha; None = nothing.
    of_what : str
        The label, in words.

    Raises
    ------
    Broken
        Where at most so many would be covered once in a million times if the promise held: the
        lower tail of the binomial distribution.
    """
    from scipy.special import bdtr

    trials = len(p_values)
    for alpha in ALPHAS:
        promised = level(alpha)
        if promised is None:
            continue
        hits = int(np.count_nonzero(p_values > float(alpha)))
        tail = float(bdtr(hits, trials, float(promised))) if promised < 1 else float(hits == trials)
        demand(
            tail > _CHANCE,
            f"at alpha {rounded(alpha)} it promises {bounded(promised, typed=False)} of {of_what}; "
            f"{hits} of {trials} simulated ones were covered, {rounded(hits / trials)}",
        )
