"""How alike two answers are: equal or not, by the overlap of sets, by the overlap of rankings.

Every likeness s(u, v) of values u and v is in [0, 1]. What measures need of it is, for each cell,
the sum over the *other* answers to the example, and what chance gives: the sum over all pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.annotators.agreement_answers import Answers, by_example, ranges
from plausibly.annotators.agreement_resampling import Matrix, Sums, matrix, scaled
from plausibly.kernels.types import Ints

MOST_VALUES = 3_000  # different sets whose distances are kept in one matrix

Chance = Callable[[Sums], NDArray[np.float64]]
"""The sum of ``n_u n_v s(u, v)`` over values u and v, each of n_u answers: (replicate,)."""


@attrs.frozen(kw_only=True, eq=False)
class Likeness:
    """A likeness of answers, summed over those of each example.

    Attributes
    ----------
    name : str
        Of the mean over pairs.
    alpha : str
        Of Krippendorff's alpha with the distance 1 - s; empty where it has none, as where an answer
        is not wholly like itself.
    answers : Answers
    cells : ndarray of float64, (cell,)
        Sum of s over the other answers to the example of the cell.
    features : dict of str to csr_array, (example, feature)
        What `chance` needs sums of.
    chance : callable or None
        None where the values are too many.
    """

    name: str
    alpha: str
    answers: Answers
    cells: NDArray[np.float64]
    features: dict[str, Matrix]
    chance: Chance | None

    @cached_property
    def pairs(self) -> NDArray[np.float64]:
        """Sum of s over ordered pairs of answers to each example: (example,)."""
        terms = self.answers.cell_count * self.cells
        return by_example(self.answers.cell_example, terms, self.answers.n)

    @cached_property
    def whole(self) -> bool:
        """Whether sums are counts."""
        return bool((self.cells == np.rint(self.cells)).all())


def likenesses(answers: Answers, depth: int) -> list[Likeness]:
    """Return the likenesses of a kind of answer, the one that annotators are compared by last.

    Parameters
    ----------
    answers : Answers
    depth : int
        Of rankings: down to which place they are compared.
    """
    from plausibly.annotators import agreement_rankings as rankings
    from plausibly.annotators import agreement_sets as sets

    found = [equal(answers)]
    if answers.kind == "label-set":
        found += [
            by_distance(answers, "masi", sets.masi),
            by_distance(answers, "jaccard", sets.jaccard),
        ]
    if answers.kind == "partial-ranking":
        first = rankings.first_choices(answers)
        kept = rankings.places(answers, depth)
        found += [
            by_features(answers, "first-choice", "", *first),
            by_features(answers, "average-overlap", "", *kept),
            by_features(
                answers,
                "partial-average-overlap",
                "krippendorff-overlap",
                *rankings.normalised(*kept),
            ),
        ]
    return found


def equal(answers: Answers) -> Likeness:
    """Return s(u, v) = 1 where the answers are equal, else 0."""
    return Likeness(
        name="percent",
        alpha="krippendorff-nominal",
        answers=answers,
        cells=(answers.cell_count - 1).astype(np.float64),
        features={"counts": answers.counts()},
        chance=lambda sums: np.asarray((sums["counts"] ** 2).sum(axis=0)),
    )


def by_distance(
    answers: Answers, name: str, alike: Callable[[Answers, Ints, Ints], NDArray[np.float64]]
) -> Likeness:
    """Return a likeness that is known for each pair of values.

    Parameters
    ----------
    answers : Answers
    name : str
    alike : callable
        Returns s of pairs of values; s(u, u) = 1.
    """
    size = np.bincount(answers.cell_example, minlength=answers.n)
    cell, other = ranges((np.cumsum(size) - size)[answers.cell_example], size[answers.cell_example])
    s = alike(answers, answers.cell_value[cell], answers.cell_value[other])
    sums = np.bincount(
        cell, weights=answers.cell_count[other] * s, minlength=len(answers.cell_value)
    )
    present = np.unique(answers.cell_value)
    chance: Chance | None = None
    if len(present) <= MOST_VALUES:
        first, second = np.meshgrid(present, present, indexing="ij")
        square = alike(answers, first.ravel(), second.ravel()).reshape(first.shape)

        def chance(sums: Sums) -> NDArray[np.float64]:
            counts = sums["counts"][present]
            return np.asarray((counts * (square @ counts)).sum(axis=0))

    return Likeness(
        name=name,
        alpha=f"krippendorff-{name}",
        answers=answers,
        cells=np.asarray(sums - 1.0, dtype=np.float64),
        features={"counts": answers.counts()},
        chance=chance,
    )


def by_features(
    answers: Answers,
    name: str,
    alpha: str,
    features: Matrix,
    sign: NDArray[np.float64],
) -> Likeness:
    """Return s(u, v) = sum_f sign_f phi_f(u) phi_f(v).

    Parameters
    ----------
    answers : Answers
    name, alpha : str
    features : csr_array, (value, feature)
        phi.
    sign : ndarray of float64, (feature,)
        1 or -1.
    """
    there = np.unique(features.indices)  # others are of labels that nobody names
    features, sign = features[:, there], sign[there]
    signed = scaled(features, columns=sign)
    own = np.asarray(features.multiply(signed).sum(axis=1))
    counts = matrix(
        answers.cell_count,
        answers.cell_example,
        answers.cell_value,
        (answers.n, answers.values),
    )
    together: Matrix = counts @ features
    cells = np.zeros(len(answers.cell_value))
    step = 100_000
    for start in range(0, len(cells), step):
        part = slice(start, start + step)
        mine: Matrix = signed[answers.cell_value[part]]
        theirs: Matrix = together[answers.cell_example[part]]
        cells[part] = np.asarray(mine.multiply(theirs).sum(axis=1)).ravel()
    cells -= own[answers.cell_value]
    paired = scaled(together, rows=answers.paired.astype(np.float64))
    return Likeness(
        name=name,
        alpha=alpha,
        answers=answers,
        cells=np.maximum(cells, 0.0),
        features={name: paired},
        chance=lambda sums: np.asarray((sums[name] ** 2 * sign[:, None]).sum(axis=0)),
    )
