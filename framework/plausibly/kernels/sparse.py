"""Two forms of plausibilities: dense (example, label), and only what is above 0 (example, slot).

What is computed from slots has the bits that the dense array would give: zeros that are not there
change no sum, as long as what is there is added in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.blocks import map_blocks
from plausibly.kernels.types import Bools, Floats, Ints, Numbers, unwritable

Rows: TypeAlias = NDArray[np.intp] | slice


@attrs.frozen(eq=False)
class Dense:
    """Plausibilities (example, label); the form of slots that hold every label in order.

    Nothing can be changed through its arrays.
    """

    weight: Floats = attrs.field(converter=unwritable)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples and of labels."""
        examples, labels = self.weight.shape
        return examples, labels

    def take(self, rows: Rows) -> Dense:
        """Return the plausibilities of some examples."""
        return Dense(self.weight[rows])

    def ordered(self, places: Ints) -> Dense:
        """Return the plausibilities of these labels, in this order; of others there are none."""
        return Dense(np.ascontiguousarray(self.weight[:, places]))

    def dense(self) -> Floats:
        """Return plausibilities (example, label)."""
        return self.weight

    def by_label(self, rows: NDArray[np.intp]) -> Iterator[Floats]:
        """Yield the plausibilities of each label for some examples, (example,)."""
        for label in range(self.shape[1]):
            yield self.weight[rows, label]

    def label_at(self, row: Ints, slot: Ints) -> Ints:
        """Return the code of the label in each of some slots."""
        return slot

    def inside(self, sets: Bools) -> Bools:
        """Return which slots hold a label that is in the set, (example, slot)."""
        return sets

    def argmax(self) -> NDArray[np.int32]:
        """Return the label code (example,) of the largest plausibility, the first where tied."""
        slot = np.empty(len(self.weight), dtype=np.intp)

        def fill(rows: slice) -> None:
            slot[rows] = np.argmax(self.weight[rows], axis=1)

        map_blocks(fill, self.weight.shape)
        return self.label_at(np.arange(len(slot)), slot).astype(np.int32)

    def above_zero(self) -> Sparse:
        """Return the sparse form."""
        place = np.flatnonzero(self.weight != 0)  # several times as fast as `nonzero` of two dims
        row, label = np.divmod(place, max(1, self.shape[1]))
        return Sparse.of_pairs(row, label, self.weight.ravel()[place], self.shape)


@attrs.frozen(eq=False)
class Sparse(Dense):
    """Weights of the labels that are above zero; those of a row by rising code, then padding."""

    label: Ints = attrs.field(converter=unwritable)
    labels: int

    @classmethod
    def of_pairs(cls, example: Ints, label: Ints, weight: Floats, shape: tuple[int, int]) -> Sparse:
        """Return the slots of weights by example and label."""
        examples, labels = shape
        count = np.bincount(example, minlength=examples)
        slot = np.arange(example.size) - np.repeat(np.cumsum(count) - count, count)
        wide = (examples, max(int(count.max(initial=0)), 1))
        weights, codes = np.zeros(wide, weight.dtype), np.full(wide, -1, np.int32)
        weights[example, slot] = weight
        codes[example, slot] = label
        return cls(weights, codes, labels)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.weight), self.labels

    @property
    def filled(self) -> NDArray[np.intp]:
        """Number of slots of each example that are filled, (example,)."""
        count: NDArray[np.intp] = np.count_nonzero(self.label >= 0, axis=1)
        return count

    def take(self, rows: Rows) -> Sparse:
        return Sparse(self.weight[rows], self.label[rows], self.labels)

    def ordered(self, places: Ints) -> Sparse:
        labels = len(places)
        # Padding looks up the last entry; it is behind every code, as is a label that goes.
        code = np.full(self.labels + 1, labels, np.int32)
        code[places] = np.arange(labels)
        new = code[self.label]
        order = np.argsort(new, axis=1, kind="stable")
        label = np.take_along_axis(new, order, axis=1)
        label[label == labels] = -1
        return Sparse(np.take_along_axis(self.weight, order, axis=1), label, labels)

    def dense(self) -> Floats:
        values = np.zeros(self.shape, self.weight.dtype)
        row, slot = np.nonzero(self.label >= 0)
        values[row, self.label[row, slot]] = self.weight[row, slot]
        return values

    def by_label(self, rows: NDArray[np.intp]) -> Iterator[Floats]:
        part = self.take(rows)
        row, slot = np.nonzero(part.label >= 0)
        code = part.label[row, slot]
        order = np.argsort(code, kind="stable")
        row, weight = row[order], part.weight[row, slot][order]
        ends = np.searchsorted(code[order], np.arange(self.labels + 1))
        for start, end in pairwise(ends.tolist()):
            column = np.zeros(len(rows), weight.dtype)
            column[row[start:end]] = weight[start:end]
            yield column

    def label_at(self, row: Ints, slot: Ints) -> Ints:
        return self.label[row, slot]

    def inside(self, sets: Bools) -> Bools:
        member = np.take_along_axis(sets, np.maximum(self.label, 0), axis=1)
        return np.logical_and(member, self.label >= 0, out=member)

    def above_zero(self) -> Sparse:
        return self


def gather(parts: Sequence[Sparse]) -> Sparse:
    """Return the slots of all parts, one below the other."""
    width = max(part.weight.shape[1] for part in parts)

    def widened(values: Numbers, padding: int) -> Numbers:
        lacking = width - values.shape[1]
        return np.pad(values, ((0, 0), (0, lacking)), constant_values=padding)

    weight = np.concatenate([widened(part.weight, 0) for part in parts])
    label = np.concatenate([widened(part.label, -1) for part in parts])
    return Sparse(weight, label, parts[0].labels)


def as_stored(plausibilities: Floats | Dense) -> Dense:
    """Return plausibilities in one of the two forms; an array is a dense one."""
    return Dense(plausibilities) if isinstance(plausibilities, np.ndarray) else plausibilities
