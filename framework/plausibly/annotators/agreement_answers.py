"""The answers of an annotation table, counted by value: what measures of agreement start from."""

from __future__ import annotations

from functools import cached_property

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.annotators.agreement_resampling import Matrix, matrix
from plausibly.data import names
from plausibly.data.names import name_texts, several
from plausibly.data.responses import by_name
from plausibly.data.rows import Rows
from plausibly.data.seal import check_table
from plausibly.errors import InputError, counted, listed, warn
from plausibly.kernels.random import hash_names
from plausibly.kernels.types import Bools, Floats, Hashes, Ints

SINGLE, SETS, RANKINGS = "single-label", "label-set", "partial-ranking"
KINDS = (SINGLE, SETS, RANKINGS)
_TIED = 1e-9  # relative: sums of 1 / (rank x ties) that should be equal are closer than this


@attrs.frozen(kw_only=True, eq=False)
class Answers:
    """Answers in an order that belongs to names: no sum depends on the caller's order.

    Examples stand in the order of their names' hashes. A *value* is one of the different answers
    (a label, a set, a ranking); a *cell* is a value that somebody gave to an example.

    Attributes
    ----------
    kind : str
    labels, annotators : list of str
    examples : ndarray of str, (example,)
    hashes : ndarray of uint64, (example,)
    value, owner : ndarray of int, (answer,)
        Value and example of each answer.
    annotator : ndarray of int, (answer,)
        Code, -1 = unknown.
    weight : ndarray of int64, (answer,)
        How many answers it stands for, as in a table of counts.
    mention_value, mention_label, mention_block : ndarray of int, (mention,)
        What each value names.
    mention_mass : ndarray of float64, (mention,)
        What the label gets from an answer of this value: 1, equal parts of 1 in a set, and
        1 / (rank x ties) in a ranking, as in the default aggregator of the kind.
    excluded : bool
        Whether a label that a ranking does not list comes after all that it lists.
    """

    kind: str
    labels: list[str]
    annotators: list[str]
    examples: NDArray[np.str_]
    hashes: Hashes
    value: Ints
    owner: Ints
    annotator: Ints
    weight: Ints
    mention_value: Ints
    mention_label: Ints
    mention_block: Ints
    mention_mass: NDArray[np.float64]
    excluded: bool

    @classmethod
    def of(cls, table: xr.Dataset) -> Answers:
        """Return the answers of a table that say something.

        Raises
        ------
        InputError
            ``agreement-kind`` and ``weights-fractional``, and what `check_table` raises.

        Warns
        -----
        PlausiblyWarning
            ``annotator-repeats`` where one annotator answers an example several times.
        """
        rows = Rows.of(check_table(table))
        kind = str(table.attrs[names.KIND])
        _check(rows, kind)
        examples = name_texts(table.indexes[names.EXAMPLE])
        hashes = hash_names(examples)
        place = np.lexsort((np.array(examples, dtype=np.str_), hashes))
        rank = np.empty(rows.n, dtype=np.int64)
        rank[place] = np.arange(rows.n)
        order = by_name(rows)
        order = order[np.argsort(rank[rows.example[order]], kind="stable")]
        order = order[(rows.mentions[order] > 0) & (rows.weight[order] > 0)]
        value, mentions = _values(rows, kind, order)
        label, block = rows.label[mentions].astype(np.int64), rows.block[mentions].astype(np.int64)
        of_value = np.cumsum(
            np.append(0, rows.response[mentions][1:] != rows.response[mentions][:-1])
        )
        found = cls(
            kind=kind,
            labels=name_texts(table.indexes[names.LABEL]),
            annotators=name_texts(table.indexes[names.ANNOTATOR]),
            examples=np.array(examples, dtype=np.str_)[place],
            hashes=hashes[place],
            value=value,
            owner=rank[rows.example[order]],
            annotator=rows.annotator[order].astype(np.int64),
            weight=rows.weight[order].astype(np.int64),
            mention_value=of_value[: len(mentions)],
            mention_label=label,
            mention_block=block,
            mention_mass=_masses(of_value[: len(mentions)], block, kind),
            excluded=table.attrs[names.UNLISTED] == "excluded",
        )
        found._warn_of_repeats()
        return found

    def _warn_of_repeats(self) -> None:
        known = self.annotator >= 0
        pair = self.owner[known] * max(len(self.annotators), 1) + self.annotator[known]
        first, times = np.unique(pair, return_index=True, return_counts=True)[1:]
        again = np.flatnonzero(times > 1)
        if again.size:
            where = [str(self.examples[self.owner[known][first[place]]]) for place in again]
            warn(
                "annotator-repeats",
                f"annotations: {several(again.size, 'time')} an annotator answers an example "
                "more than once",
                expected="answers of different annotators: one is compared with itself otherwise",
                got=f"several about {listed(dict.fromkeys(where))}",
                do="keep one response an annotator and example",
                whose="annotations",
                details={"examples": list(dict.fromkeys(where))},
                stacklevel=4,
            )

    def only(self, wanted: Bools) -> Answers:
        """Return the answers to some examples: `wanted` (example,)."""
        kept = wanted[self.owner]
        place = np.cumsum(wanted) - 1
        return attrs.evolve(
            self,
            examples=self.examples[wanted],
            hashes=self.hashes[wanted],
            value=self.value[kept],
            owner=place[self.owner[kept]],
            annotator=self.annotator[kept],
            weight=self.weight[kept],
        )

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.examples)

    @property
    def values(self) -> int:
        """Number of different values, in the whole table."""
        return int(self.mention_value[-1]) + 1 if self.mention_value.size else 0

    @cached_property
    def answers(self) -> NDArray[np.int64]:
        """Answers to each example: (example,)."""
        found = np.zeros(self.n, dtype=np.int64)
        np.add.at(found, self.owner, self.weight)
        return found

    @cached_property
    def paired(self) -> Bools:
        """Which examples (example,) have two answers or more."""
        return self.answers >= 2

    @cached_property
    def _cells(self) -> tuple[Ints, Ints]:
        joint = self.owner * max(self.values, 1) + self.value
        cells, of_answer = np.unique(joint, return_inverse=True)
        return cells, of_answer

    @property
    def cell(self) -> Ints:
        """Cell of each answer: (answer,)."""
        return self._cells[1]

    @cached_property
    def cell_example(self) -> Ints:
        """Example of each cell, ascending: (cell,)."""
        return self._cells[0] // max(self.values, 1)

    @cached_property
    def cell_value(self) -> Ints:
        """Value of each cell: (cell,)."""
        return self._cells[0] % max(self.values, 1)

    @cached_property
    def cell_count(self) -> NDArray[np.int64]:
        """How many answers are of a cell: (cell,)."""
        found = np.zeros(len(self._cells[0]), dtype=np.int64)
        np.add.at(found, self._cells[1], self.weight)
        return found

    @cached_property
    def named(self) -> NDArray[np.int64]:
        """Answers to each example that name a label: (support,), see `support`."""
        return self._support[1]

    @cached_property
    def mass(self) -> NDArray[np.float64]:
        """What a label got from all answers to an example: (support,)."""
        return self._support[2]

    @property
    def support_example(self) -> Ints:
        """Example of each pair of an example and a label that somebody named, ascending."""
        return self._support[0] // len(self.labels)

    @property
    def support_label(self) -> Ints:
        """Label of each such pair: (support,)."""
        return self._support[0] % len(self.labels)

    @cached_property
    def _support(self) -> tuple[Ints, NDArray[np.int64], NDArray[np.float64]]:
        cell, mention = self.spread(self.cell_value)
        joint = self.cell_example[cell] * len(self.labels) + self.mention_label[mention]
        pairs, where = np.unique(joint, return_inverse=True)
        named = np.zeros(len(pairs), dtype=np.int64)
        np.add.at(named, where, self.cell_count[cell])
        mass = np.bincount(
            where,
            weights=self.cell_count[cell] * self.mention_mass[mention],
            minlength=len(pairs),
        )
        return pairs, named, mass.astype(np.float64)

    def spread(self, values: Ints) -> tuple[Ints, Ints]:
        """Return one row for each label that values name: which of `values`, and the mention."""
        size = np.bincount(self.mention_value, minlength=self.values)
        return ranges((np.cumsum(size) - size)[values], size[values])

    def spread_support(self, examples: Ints) -> tuple[Ints, Ints]:
        """Return one row for each label that the examples have: which, and the support."""
        size = np.bincount(self.support_example, minlength=self.n)
        return ranges((np.cumsum(size) - size)[examples], size[examples])

    def counts(self) -> Matrix:
        """Return how many answers of each value a paired example has: (example, value)."""
        kept = self.paired[self.cell_example]
        example, value = self.cell_example[kept], self.cell_value[kept]
        return matrix(self.cell_count[kept], example, value, (self.n, self.values))

    @cached_property
    def leading(self) -> Bools:
        """Which labels of `support` have the most of their example, ties included."""
        most = np.zeros(self.n)
        np.maximum.at(most, self.support_example, self.mass)
        return self.mass >= most[self.support_example] * (1 - _TIED)


def ranges(starts: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Return owner and place of all items of several runs: ``starts[o] + 0, 1, ...``."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return owner, starts[owner] + within


def by_example(owner: Ints, terms: Floats, n: int) -> NDArray[np.float64]:
    """Return sums (example,) of terms that stand in an order of names."""
    return np.bincount(owner, weights=terms, minlength=n).astype(np.float64)


def most_tied() -> float:
    """Return how close, relatively, two masses are taken to be equal."""
    return _TIED


def _check(rows: Rows, kind: str) -> None:
    if kind not in KINDS:
        raise InputError(
            "agreement-kind",
            f"annotations: agreement of {kind} answers is not defined here",
            expected=" or ".join(KINDS),
            got=kind,
            do="evaluation.entropy(plausibly.aggregate(ann)) for how certain the examples are",
            whose="annotations",
            details={"kind": kind},
        )
    broken = rows.weight != np.rint(rows.weight)
    if broken.any():
        where = rows.table.indexes[names.EXAMPLE][rows.example[broken]]
        many = several(int(broken.sum()), "response")
        raise InputError(
            "weights-fractional",
            f"annotations: no whole number of times counts for {many}",
            expected="whole numbers: an answer agrees with another one or does not",
            got=f"{rows.weight[broken][0]:g}, about {listed(dict.fromkeys(where))}",
            do="leave the weights out of the file, or give whole counts",
            whose="annotations",
            details={"examples": [str(name) for name in dict.fromkeys(where)]},
        )
    if rows.weight.sum() >= 2.0**31:
        raise InputError(
            "answers-many",
            f"annotations stand for {counted(int(rows.weight.sum()))} answers",
            expected="fewer than 2,147,483,648, so that pairs can be counted exactly",
            got=counted(int(rows.weight.sum())),
            do="plausibly.select(ann, example=...) some of the examples",
            whose="annotations",
        )


def _values(rows: Rows, kind: str, order: Ints) -> tuple[Ints, Ints]:
    """Return the value of each answer, and the mentions of every value in turn."""
    ends = np.cumsum(rows.mentions)
    starts = ends - rows.mentions
    if kind == SINGLE:
        label = rows.label[starts[order]]
        first, value = np.unique(label, return_index=True, return_inverse=True)[1:]
        return value.astype(np.int64), starts[order[first]]
    codes: dict[bytes, int] = {}
    value = np.empty(len(order), dtype=np.int64)
    kept: list[int] = []
    label, block = rows.label.astype(np.int32), rows.block.astype(np.int32)
    for place, response in enumerate(order.tolist()):
        mine = slice(starts[response], ends[response])
        # mentions of a response stand in the order of blocks, then labels
        said = label[mine].tobytes() + block[mine].tobytes()
        if said not in codes:
            codes[said] = len(codes)
            kept.append(response)
        value[place] = codes[said]
    chosen = np.array(kept, dtype=np.int64)
    return value, ranges(starts[chosen], rows.mentions[chosen])[1]


def _masses(of_value: Ints, block: Ints, kind: str) -> NDArray[np.float64]:
    if kind == SINGLE:
        return np.ones(len(block))
    if kind == SETS:
        return 1.0 / np.bincount(of_value)[of_value]
    most = int(block.max(initial=0)) + 1
    joint = of_value * most + block
    ties = np.bincount(joint)[joint] if joint.size else joint
    return 1.0 / (block * ties)
