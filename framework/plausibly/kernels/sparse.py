"""Plausibilities of thousands of labels, of which an example has a few: (example, slot) arrays.

What is computed from slots has the bits that the dense array would give: zeros that are not there
change no sum, as long as what is there is added in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.types import Floats, Ints


class Slots(NamedTuple):
    """Weights of the labels that are above zero; those of a row by rising code, then padding."""

    weight: Floats
    label: Ints
    labels: int

    @property
    def shape(self) -> tuple[int, int]:
        """Return the shape of the dense array, (example, label)."""
        return len(self.weight), self.labels

    @property
    def filled(self) -> NDArray[np.intp]:
        """Return how many slots of each example are filled, (example,)."""
        count: NDArray[np.intp] = np.count_nonzero(self.label >= 0, axis=1)
        return count

    def take(self, rows: NDArray[np.intp] | slice) -> Slots:
        """Return the slots of some examples."""
        return Slots(self.weight[rows], self.label[rows], self.labels)

    def recoded(self, code: Ints, labels: int) -> Slots:
        """Return the slots under other codes, again rising in each row."""
        # Padding looks up the last entry, which is behind every code.
        new = np.append(code, labels).astype(np.int32)[self.label]
        order = np.argsort(new, axis=1, kind="stable")
        label = np.take_along_axis(new, order, axis=1)
        label[label == labels] = -1
        return Slots(np.take_along_axis(self.weight, order, axis=1), label, labels)

    def dense(self) -> Floats:
        """Return plausibilities (example, label)."""
        values = np.zeros(self.shape, self.weight.dtype)
        row, slot = np.nonzero(self.label >= 0)
        values[row, self.label[row, slot]] = self.weight[row, slot]
        return values

    def by_label(self, rows: NDArray[np.intp]) -> Iterator[Floats]:
        """Yield the column of each label in the dense form of some examples, (example,)."""
        some = self.take(rows)
        row, slot = np.nonzero(some.label >= 0)
        code = some.label[row, slot]
        order = np.argsort(code, kind="stable")
        row, weight = row[order], some.weight[row, slot][order]
        ends = np.searchsorted(code[order], np.arange(self.labels + 1))
        for start, end in pairwise(ends.tolist()):
            column = np.zeros(len(rows), weight.dtype)
            column[row[start:end]] = weight[start:end]
            yield column

    def tied(self) -> NDArray[np.bool_]:
        """Return which slots have the largest plausibility of their row, (example, slot)."""
        tied: NDArray[np.bool_] = self.weight == self.weight.max(axis=1, keepdims=True)
        return tied


def packed_pairs(example: Ints, label: Ints, weight: Floats, shape: tuple[int, int]) -> Slots:
    """Return the slots of weights by example and label."""
    examples, labels = shape
    count = np.bincount(example, minlength=examples)
    slot = np.arange(example.size) - np.repeat(np.cumsum(count) - count, count)
    wide = (examples, max(int(count.max(initial=0)), 1))
    slots = Slots(np.zeros(wide, weight.dtype), np.full(wide, -1, np.int32), labels)
    slots.weight[example, slot] = weight
    slots.label[example, slot] = label
    return slots
