"""Answers of an annotation table, counted by value, with resamples of the examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.annotations import Rows, check_table
from plausibly.data.names import name_texts, positions, quoted
from plausibly.errors import InputError, listed, warn
from plausibly.evaluation.intervals import Doubles
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools, Floats, Hashes, Ints

if TYPE_CHECKING:
    from scipy import sparse  # slow to import, and not every command needs it


SINGLE, SETS, RANKINGS = KINDS = "single-label", "label-set", "partial-ranking"
TIED = 1e-9  # relative: sums of 1 / (rank x ties) that should be equal are closer than this


class Cells(NamedTuple):
    """Pairs of an example and the value of an answer, by example, with the number of answers."""

    example: Ints
    value: Ints
    n: NDArray[np.int64]
    of_answer: Ints


class Support(NamedTuple):
    """Pairs of an example and a label that an answer names, by example: answers, and masses."""

    example: Ints
    label: Ints
    named: NDArray[np.int64]
    mass: Doubles


@attrs.frozen(kw_only=True, eq=False)
class Answers:
    """Answers in the order of names, so that no sum depends on the order of rows."""

    kind: str
    labels: list[str]
    annotators: list[str]
    examples: NDArray[np.str_]
    value: Ints
    owner: Ints
    annotator: Ints
    weight: Ints
    mention_value: Ints
    mention_label: Ints
    mention_block: Ints
    mention_mass: Doubles
    excluded: bool

    @classmethod
    def of(cls, table: xr.Dataset) -> Answers:
        """Return the answers of a table, without empty ones."""
        rows = Rows.of(check_table(table))
        kind = str(table.attrs[names.KIND])
        if kind not in KINDS:
            raise InputError(
                "agreement-kind",
                f"annotations: agreement of {kind} answers is not defined here",
                expected=" or ".join(KINDS),
                found=kind,
                hint="evaluation.entropy(plausibly.aggregate(ann)) for how certain the examples "
                "are",
                source="annotations",
            )
        broken = rows.weight != np.rint(rows.weight)
        if broken.any():
            where = rows.table.indexes[names.EXAMPLE][rows.example[broken]]
            raise InputError(
                "weights-fractional",
                "annotations: responses count a broken number of times",
                expected="whole numbers: an answer agrees with another one or does not",
                found=f"{rows.weight[broken][0]:g}, about {listed(dict.fromkeys(where))}",
                hint="leave the weights out of the file, or give whole counts",
                source="annotations",
            )
        examples = name_texts(table.indexes[names.EXAMPLE])
        place = np.lexsort((np.array(examples, dtype=np.str_), hash_names(examples)))
        rank = np.empty(rows.n, dtype=np.int64)
        rank[place] = np.arange(rows.n)
        order = rows.by_name()
        order = order[np.argsort(rank[rows.example[order]], kind="stable")]
        order = order[(rows.mentions[order] > 0) & (rows.weight[order] > 0)]
        starts = np.cumsum(rows.mentions) - rows.mentions
        value, chosen = _values(rows, starts, kind, order)
        of_value, mentions = ranges(starts[chosen], rows.mentions[chosen])
        label, block = rows.label[mentions].astype(np.int64), rows.block[mentions].astype(np.int64)
        mass = np.ones(len(mentions))
        if kind == SETS:
            mass = 1.0 / np.bincount(of_value)[of_value]
        elif kind == RANKINGS:
            rank_of_value = of_value * (int(block.max(initial=0)) + 1) + block
            mass = 1.0 / (block * np.bincount(rank_of_value)[rank_of_value])
        return cls(
            kind=kind,
            labels=name_texts(table.indexes[names.LABEL]),
            annotators=name_texts(table.indexes[names.ANNOTATOR]),
            examples=np.array(examples, dtype=np.str_)[place],
            value=value,
            owner=rank[rows.example[order]],
            annotator=rows.annotator[order].astype(np.int64),
            weight=rows.weight[order].astype(np.int64),
            mention_value=of_value,
            mention_label=label,
            mention_block=block,
            mention_mass=mass,
            excluded=table.attrs[names.UNLISTED] == "excluded",
        )

    def only(self, wanted: Bools) -> Answers:
        """Return the answers to some examples: `wanted` (example,)."""
        kept = wanted[self.owner]
        place = np.cumsum(wanted) - 1
        return attrs.evolve(
            self,
            examples=self.examples[wanted],
            value=self.value[kept],
            owner=place[self.owner[kept]],
            annotator=self.annotator[kept],
            weight=self.weight[kept],
        )

    def unfit(self, argument: str, kind: str) -> InputError:
        """Return the error that an argument is for another kind of answers."""
        return InputError(
            f"{argument}-unfit",
            f"{argument} has no meaning for {self.kind} answers",
            expected=f"{kind} answers",
            found=self.kind,
            hint=f"leave {argument} out",
            source=argument,
        )

    @property
    def n(self) -> int:
        return len(self.examples)

    @property
    def values(self) -> int:
        """Number of different values, in the whole table."""
        return int(self.mention_value[-1]) + 1 if self.mention_value.size else 0

    @cached_property
    def answers(self) -> NDArray[np.int64]:
        """Number of answers to each example: (example,)."""
        return np.bincount(self.owner, self.weight, self.n).astype(np.int64)

    @cached_property
    def paired(self) -> Bools:
        """True for examples (example,) with two answers or more."""
        return self.answers >= 2

    @cached_property
    def cells(self) -> Cells:
        joint = self.owner * max(self.values, 1) + self.value
        cells, of_answer = np.unique(joint, return_inverse=True)
        n = np.bincount(of_answer, self.weight, len(cells)).astype(np.int64)
        return Cells(*np.divmod(cells, max(self.values, 1)), n, of_answer)

    @cached_property
    def support(self) -> Support:
        cell, mention = self.spread(self.cells.value)
        joint = self.cells.example[cell] * len(self.labels) + self.mention_label[mention]
        pairs, where = np.unique(joint, return_inverse=True)
        count = self.cells.n[cell]
        named = np.bincount(where, count, len(pairs)).astype(np.int64)
        mass = np.bincount(where, count * self.mention_mass[mention], len(pairs))
        example, label = pairs // len(self.labels), pairs % len(self.labels)
        return Support(example, label, named, mass.astype(np.float64))

    def spread(self, values: Ints) -> tuple[Ints, Ints]:
        """Return one row for each label that values name: which of `values`, and the mention."""
        return items_of(self.mention_value, self.values, values)

    def left(self, examples: Ints, values: Ints) -> tuple[Ints, Ints, Doubles, Ints, Ints]:
        """Return the masses of labels of examples, each example without one of its values.

        Row, label and remaining mass; then place and mention of each label that the value names.
        """
        row, support = items_of(self.support.example, self.n, examples)
        own, mention = self.spread(values)
        labels, label = len(self.labels), self.support.label[support]
        # Both run through the same pairs of a row and a label.
        where = np.searchsorted(row * labels + label, own * labels + self.mention_label[mention])
        left = self.support.mass[support]
        left[where] -= self.mention_mass[mention]
        return row, label, left, where, mention

    def cell_pairs(self) -> tuple[Ints, Ints]:
        """Return each pair of cells, or of one and itself, of the same example."""
        return items_of(self.cells.example, self.n, self.cells.example)

    def counts(self) -> Matrix:
        """Return how many answers of each value a paired example has: (example, value)."""
        n = self.cells.n * self.paired[self.cells.example]
        return matrix(n, self.cells.example, self.cells.value, (self.n, self.values))

    @cached_property
    def leading(self) -> Bools:
        """True for labels of `support` with the most answers of their example, ties included."""
        most = np.zeros(self.n)
        np.maximum.at(most, self.support.example, self.support.mass)
        return self.support.mass >= most[self.support.example] * (1 - TIED)


def ranges(starts: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Return owner and place of all items of several runs: ``starts[o] + 0, 1, ...``."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return owner, starts[owner] + within


def items_of(owner: Ints, owners: int, chosen: Ints) -> tuple[Ints, Ints]:
    """Return the items, in the order of their owners, of chosen owners: which, and the item."""
    size = np.bincount(owner, minlength=owners)
    return ranges((np.cumsum(size) - size)[chosen], size[chosen])


def _values(rows: Rows, starts: Ints, kind: str, order: Ints) -> tuple[Ints, Ints]:
    """Return the value of each answer, and a response that has it for every value in turn."""
    if kind == SINGLE:
        label = rows.label[starts[order]]
        first, value = np.unique(label, return_index=True, return_inverse=True)[1:]
        return value.astype(np.int64), order[first]
    codes: dict[bytes, int] = {}
    value = np.empty(len(order), dtype=np.int64)
    chosen: list[int] = []
    label, block = rows.label.astype(np.int32), rows.block.astype(np.int32)
    for place, response in enumerate(order.tolist()):
        mine = slice(starts[response], starts[response] + rows.mentions[response])
        # mentions of a response stand in the order of blocks, then labels
        named = label[mine].tobytes() + block[mine].tobytes()
        if named not in codes:
            codes[named] = len(codes)
            chosen.append(response)
        value[place] = codes[named]
    return value, np.array(chosen, dtype=np.int64)


ORDER = names.ORDER


def order_positions(
    annotations: xr.Dataset, answers: Answers, order: Sequence[object] | None
) -> Ints | None:
    """Return the place of the label of each value in the order, None where there is no order."""
    if order is not None:
        wanted = name_texts(order)
        if answers.kind != SINGLE:
            raise answers.unfit("order", SINGLE)
    else:  # the numbers in the coordinate of the labels
        column = annotations.coords.get(ORDER)
        if answers.kind != SINGLE or column is None or column.dims != (names.LABEL,):
            return None
        numbers = column.values.astype(np.float64) if column.dtype.kind in "iuf" else np.array([])
        ascending = np.argsort(numbers, kind="stable").tolist()
        wanted = [answers.labels[code] for code in ascending if not np.isnan(numbers[code])]
    place = positions(wanted, answers.labels)
    lost = [answers.labels[k] for k in answers.mention_label.tolist() if place[k] < 0]
    if order is None and (lost or not wanted):
        if wanted:
            warn(
                "order-partial",
                f"labels that annotators name are not in the order: {listed(map(quoted, lost))}",
                expected="a number in the column order for each label in the answers",
                found="agreement without the measures that know an order",
                hint=f'number them, or missing=["{lost[0]}"], if it means no answer',
                source=ORDER,
            )
        return None
    if lost or len(set(wanted)) < len(wanted):
        raise InputError(
            "order-incomplete",
            "the order does not name each label in the answers once",
            expected=f"{listed(map(quoted, answers.labels))}, from one end to the other",
            found=listed(map(quoted, wanted)),
            hint=f"order={answers.labels}, in their order",
            source="order",
        )
    return place[answers.mention_label]


_BLOCK = 4_000_000  # entries of the matrix of times at once
_LEAST_FINITE = 0.9  # share of the resamples that must have a value
_PARTS = 100  # of the units, for the jackknife: their skewness says that of the units
_SAME = 1e-12  # replicates closer than this are equal but for rounding
_FLOOR = 0.1  # of the denominator of BCa, which is 0 or less where very few units are very skew

Matrix: TypeAlias = "sparse.csr_array"
"""Numbers that are mostly 0."""

Sums: TypeAlias = Mapping[str, Doubles]
"""Sums over examples of each feature, (feature, replicate)."""


@attrs.frozen(kw_only=True, eq=False)
class Resampling:
    """Resampling of examples."""

    hashes: Hashes
    of: Ints
    resamples: int
    keys: Keys
    confidence: float

    def times(self) -> Iterator[Doubles]:
        """Yield how often each example is in each resample, (example, replicate), in blocks."""
        units = len(self.hashes)
        if not units or not self.resamples:
            return
        size = max(1, min(_BLOCK // max(len(self.of), units, 1), self.resamples))
        part = self.of[:, None] % self._parts
        for start in range(-1, self._parts, size):
            yield 1.0 - (part == np.arange(start, min(start + size, self._parts)))
        for start in range(0, self.resamples, size):
            counts = np.empty((units, min(size, self.resamples - start)))
            for column in range(counts.shape[1]):
                stream = self.keys.child(f"resample-{start + column}")
                drawn = (stream.uniform(self.hashes)[:, 0] * units).astype(np.int64)
                counts[:, column] = np.bincount(drawn, minlength=units)
            yield counts[self.of]

    @property
    def _parts(self) -> int:
        return min(len(self.hashes), _PARTS)

    def intervals(self, features: Mapping[str, Matrix], of: Callable[[Sums], Doubles]) -> Doubles:
        """Return both ends, (2, figure), for figures (figure, replicate) of sums of features."""
        replicates = [of(summed(features, times)) for times in self.times()]
        if not replicates:
            return np.full((2, len(of(summed(features, np.ones((len(self.of), 1)))))), np.nan)
        return np.transpose([self.ends(row) for row in np.concatenate(replicates, axis=1)])

    def ends(self, values: Doubles) -> tuple[float, float]:
        """Return an interval from values of all that `times` yields; NaN where too few have one."""
        from scipy.special import ndtr, ndtri, stdtrit

        units, first = len(self.hashes), self._parts + 1
        drawn = values[first:]
        finite = drawn[np.isfinite(drawn)]
        few = units < 2 or finite.size < max(_LEAST_FINITE * len(drawn), 1)
        if few or np.ptp(finite) < _SAME:
            return np.nan, np.nan
        off = values[0] - values[1:first][np.isfinite(values[1:first])]
        off = off - off.mean()
        spread = max(float(np.square(off).sum()) ** 1.5, np.finfo(float).tiny)
        skewness = float((off**3).sum()) / (6 * spread)
        below = (finite < values[0] - _SAME).mean() + (abs(finite - values[0]) <= _SAME).mean() / 2
        bias = ndtri(np.clip(below, 0.5 / finite.size, 1 - 0.5 / finite.size))
        tail = (1 - self.confidence) / 2
        wide = bias + stdtrit(units - 1, [tail, 1 - tail]) * np.sqrt(units / (units - 1))
        levels = ndtr(bias + wide / np.maximum(1 - skewness * wide, _FLOOR))
        low, high = np.quantile(finite, levels)
        return float(low), float(high)


def summed(features: Mapping[str, Matrix], times: Doubles) -> Sums:
    """Return sums of the features (example, feature) of the examples of each resample."""
    return {name: np.asarray(matrix.T @ times) for name, matrix in features.items()}


def matrix(
    values: Floats | Ints | Bools, rows: Ints, columns: Ints, shape: tuple[int, int]
) -> Matrix:
    """Return a matrix of values at places; values at the same place are added."""
    from scipy import sparse

    return sparse.csr_array((values.astype(np.float64), (rows, columns)), shape=shape)


def column(values: Floats | Ints | Bools) -> Matrix:
    """Return one number per example as a feature, (example, 1)."""
    place = np.arange(len(values))
    return matrix(values, place, 0 * place, (len(values), 1))


def scaled(
    original: Matrix, *, rows: Doubles | None = None, columns: Doubles | None = None
) -> Matrix:
    """Return a matrix with its rows and columns multiplied by numbers."""
    result: Matrix = original.copy()
    if rows is not None:
        result.data = result.data * np.repeat(rows, np.diff(result.indptr))
    if columns is not None:
        result.data = result.data * columns[result.indices]
    return result
