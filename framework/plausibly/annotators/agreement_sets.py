"""How alike two sets of labels are: Jaccard, and MASI."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from plausibly.annotators.agreement_answers import Answers
from plausibly.annotators.agreement_resampling import matrix
from plausibly.kernels.types import Ints

_STEP = 500_000


def jaccard(answers: Answers, first: Ints, second: Ints) -> NDArray[np.float64]:
    """Return ``|A & B| / |A | B|`` of pairs of values: (pair,).

    Parameters
    ----------
    answers : Answers
    first, second : ndarray of int, (pair,)
        Values.
    """
    both, one, other = _sizes(answers, first, second)
    return both / (one + other - both)


def masi(answers: Answers, first: Ints, second: Ints) -> NDArray[np.float64]:
    """Return Jaccard times 1 for equal sets, 2/3 where one holds the other, 1/3 else: (pair,).

    Parameters
    ----------
    answers : Answers
    first, second : ndarray of int, (pair,)
        Values.

    References
    ----------
    Passonneau, Measuring agreement on set-valued items (MASI) for semantic and pragmatic
    annotation, LREC 2006.
    """
    both, one, other = _sizes(answers, first, second)
    held = both == np.minimum(one, other)
    factor = np.where(held & (one == other), 1.0, np.where(held, 2 / 3, 1 / 3))
    return both / (one + other - both) * factor


def set_likeness(one: Collection[object], other: Collection[object]) -> dict[str, float]:
    """Return Jaccard and MASI of two sets; both 1 of two empty ones.

    Parameters
    ----------
    one, other : collection of labels
    """
    a, b = set(one), set(other)
    if not a | b:
        return {"jaccard": 1.0, "masi": 1.0}
    overlap = len(a & b) / len(a | b)
    factor = 1.0 if a == b else 2 / 3 if a <= b or b <= a else 1 / 3
    return {"jaccard": overlap, "masi": overlap * factor}


def _sizes(
    answers: Answers, first: Ints, second: Ints
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the size of the intersection, and of each set."""
    shape = (answers.values, len(answers.labels))
    names = matrix(
        np.ones(len(answers.mention_value)), answers.mention_value, answers.mention_label, shape
    )
    size = np.bincount(answers.mention_value, minlength=answers.values).astype(np.float64)
    both = np.zeros(len(first))
    for start in range(0, len(first), _STEP):
        part = slice(start, start + _STEP)
        shared = names[first[part]].multiply(names[second[part]])
        both[part] = np.asarray(shared.sum(axis=1)).ravel()
    return both, size[first], size[second]
