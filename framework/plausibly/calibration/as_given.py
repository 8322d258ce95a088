"""Scores that are the predictions as they were given: read where they are asked for, not copied."""

from __future__ import annotations

from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.kernels import blocks
from plausibly.kernels.types import Floats, FloatType, Ints, still, unwritable
from plausibly.protocols import ScoreFunction


def scores_as_given(score: ScoreFunction, scale: str) -> bool:
    """Return whether scores are the numbers as given.

    Parameters
    ----------
    score : ScoreFunction
    scale : {"probability", "logit", "independent", "any"}
        Of the predictions.
    """
    plain = scale != "logit" and score.reads == "probability"
    return plain and getattr(score, "identity", False) is True


@attrs.frozen(eq=False)
class AsGiven:
    """Predictions, finite, as a source of scores.

    Zero is added to what is read, which turns -0.0 into 0.0: they compare equal and are different
    bits.

    Attributes
    ----------
    values : ndarray, (example, label)
    """

    values: Floats = attrs.field(converter=unwritable)

    @property
    def dtype(self) -> FloatType:
        """Float type of the scores."""
        return self.values.dtype

    def at(self, row: Ints, label: Ints) -> Floats:
        """Return the scores of pairs of example and label, of any shape."""
        found: Floats = self.values[row, label]
        return np.add(found, self.dtype.type(0), out=found)

    def take(self, rows: NDArray[np.intp]) -> AsGiven:
        """Return the scores of some examples."""
        return AsGiven(self.values[rows])

    def largest(self) -> Floats:
        """Return the largest score of each example, (example,)."""
        found = blocks.largest(self.values)
        return np.add(found, self.dtype.type(0), out=found)

    @cached_property
    def _dense(self) -> Floats:
        return still(np.add(self.values, self.dtype.type(0), order="C"))

    def dense(self) -> Floats:
        """Return all scores."""
        return self._dense
