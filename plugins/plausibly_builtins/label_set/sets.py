"""Label sets: each annotator names all labels that apply; equal shares, and shares of parents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.plugin import (
    Annotation,
    AnnotationTable,
    Answer,
    AnswerRefused,
    Bools,
    Floats,
    Hierarchy,
    InputError,
    Ints,
    Keys,
    Record,
    Rows,
    an,
    answered_rows,
    check_responses,
    label_text,
    listed,
    names,
    ordered_sum,
    quoted,
    several,
    table_from_records,
    with_left_out,
)
from plausibly_builtins.aggregation import Around, Shares, Terms

_DROP = "drop"


@attrs.frozen(kw_only=True)
class LabelSet(Annotation):
    """A set of labels per response.

    An answer is a list, tuple or set of labels; a label named twice is named once.

    Attributes
    ----------
    empty : str or None
        What an empty set means: None = an error that names the examples (default); ``"drop"`` = no
        answer, kept as a response without mention and counted as such; any other text = the name
        of the label that it stands for, such as ``"none of these"``.
    """

    name: ClassVar[str] = "label-set"

    empty: str | None = None

    def build(self, records: Iterable[Record], labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table of ``(example, annotator, labels)`` records."""
        return table_from_records(self.name, records, labels, self._mentions)

    def validate(self, table: xr.Dataset) -> None:
        check_responses(table, self.name, labels_once=True)

    def _mentions(self, answer: object) -> Answer:
        if answer not in (None, ""):
            labels = answer if isinstance(answer, (list, tuple, set, frozenset)) else [None]
            label_names = [name for label in labels if (name := label_text(label)) is not None]
            if len(label_names) < len(labels) or "" in label_names:
                raise AnswerRefused(
                    "answer-invalid",
                    f"gives {an(type(answer).__name__)} that is no set of labels",
                    expected='a list of labels, such as ["sad", "angry"]',
                    found=repr(answer),
                    hint="split it into labels",
                )
            if label_names:
                return tuple((label, 1, 1.0) for label in set(label_names))
        if self.empty is None:
            raise AnswerRefused(
                "answer-empty",
                "names no label",
                expected="one label or more, or a word on what an empty set means",
                found="an empty set",
                hint='empty="drop", or the label that it stands for: empty="none of these"',
            )
        return () if self.empty == _DROP else ((self.empty, 1, 1.0),)


_EXACT = 2.0**53  # whole numbers that a float64 holds


@attrs.frozen(kw_only=True)
class EqualSplit(Shares):
    """Plausibility of a label = the mean over responses of 1/L, if it is one of the L named.

    ``lambda_ik = sum_b w_b 1[k in b] / |b| / sum_b w_b`` over the label sets b of example i that
    name a label, w_b their `response_weight`: the distribution of a label drawn at random from the
    set of a random annotator. Where all weights are whole numbers the `denominator` of an example
    is its votes times the least common multiple of the sizes of its sets.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"label-set", "single-label"})

    def _terms(self, rows: Rows) -> Terms:
        size = rows.mentions[rows.response]
        weight = rows.weight[rows.response]
        votes = rows.votes
        unit = math.lcm(*np.unique(size).tolist())
        if not (rows.counts and float(votes.max(initial=0)) * unit < 2.0**53):
            return weight / size, votes, None
        denominator = votes.astype(np.int64)
        multiple = np.ones(rows.n, np.int64)  # of the sizes of an example's sets
        np.lcm.at(multiple, rows.example[rows.mentions > 1], rows.mentions[rows.mentions > 1])
        return weight * (unit // size), votes * unit, denominator * multiple


def _fits(spread: Spread, _: object, value: str | None) -> None:
    if value not in (None, "uniform", "overall"):
        raise ValueError(f'unseen is "uniform" or "overall", not "{value}"')
    if value is not None and spread.parents != "frequency":
        raise ValueError(f'unseen = "{value}" has no meaning with parents = "{spread.parents}"')


@attrs.frozen(kw_only=True)
class Spread(Around):
    """Aggregate with any aggregator, then take the plausibility of parents to the labels below.

    A label that others name in their column ``parent`` of the table of labels is above them. With
    ``lambda`` from the inner aggregator, parent p and the leaves L(p) below it, each leaf l gets
    ``lambda_ip / |L(p)|`` (``"uniform"``) or ``lambda_ip lambda_il / sum_{k in L(p)} lambda_ik``
    (``"frequency"``). Parents are taken from the lowest level up. Shares are exact: the
    `denominator` grows by what the numbers of leaves need.

    Attributes
    ----------
    parents : {"uniform", "frequency", "drop", "error"}
        What becomes of a parent's plausibility: equal shares for its leaves (default); shares in
        proportion to their own plausibility in the example; nothing, the other labels of the
        example sharing it in proportion; or an error that names the examples.
    unseen : {"uniform", "overall"}, optional
        With ``"frequency"``, of an example in which no leaf of the parent has plausibility: equal
        shares (default), or shares in proportion to the leaves' plausibilities in all examples
        together, which then depend on one another (`joint`).
    """

    parents: Literal["uniform", "frequency", "drop", "error"] = "uniform"
    unseen: Literal["uniform", "overall"] | None = attrs.field(default=None, validator=_fits)

    @property
    def joint(self) -> bool:
        """True if the inner aggregator learns from all examples, or the shares do."""
        return self.unseen == "overall" or super().joint

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        rows = answered_rows(annotations, self.accepts)
        table = rows.table
        plausibilities = self.inner_for(table).aggregate(table, keys)
        tree = Hierarchy.of_table(table)
        if not tree.above:
            return plausibilities
        labels = table.indexes[names.LABEL]
        plausibilities = plausibilities.reindex({names.LABEL: labels}, copy=False)
        plausibilities = plausibilities.transpose(..., names.EXAMPLE, names.LABEL)
        if self.parents == "error":
            named: Bools = plausibilities.values[..., list(tree.above)] > 0
            if examples := _named(plausibilities, np.any(named, axis=-1)):
                above = [tree.labels[at] for k, at in enumerate(tree.above) if named[..., k].any()]
                raise InputError(
                    "parents-named",
                    f"annotations name labels above others: {listed(map(quoted, above))}",
                    expected="labels that stand above none",
                    found=f"{several(len(examples), 'example')} ({listed(examples)})",
                    hint='parents = "uniform", "frequency" or "drop"',
                    source="annotations",
                )
        elif self.parents == "drop":
            plausibilities = _dropped(plausibilities, tree, rows)
        else:
            plausibilities = self._spread(plausibilities, tree)
        return plausibilities.assign_attrs({names.PARENTS: self.parents})

    def _spread(self, plausibilities: xr.DataArray, tree: Hierarchy) -> xr.DataArray:
        by_share = self.parents == "frequency"
        counts = _counts(plausibilities)
        if counts is not None and self.unseen != "overall":
            exact = _in_units(*counts, tree, by_share)
            if exact is not None:
                return _with(plausibilities, exact[0] / exact[1][:, None], exact[1])
        values: Floats = plausibilities.values.astype(np.float64)
        overall = np.ones(values.shape[-1])
        if self.unseen == "overall":  # sums that do not depend on the order of examples
            cells = np.broadcast_to(np.arange(overall.size), values.shape)
            overall = ordered_sum(cells.ravel(), values.ravel(), overall.size)
        return _with(plausibilities, _in_floats(values, tree, by_share, overall), None)


def _with(plausibilities: xr.DataArray, values: Floats, denominator: Ints | None) -> xr.DataArray:
    plausibilities = plausibilities.copy(data=values.astype(plausibilities.dtype)).drop_vars(
        names.DENOMINATOR, errors="ignore"
    )
    if denominator is None:
        return plausibilities
    return plausibilities.assign_coords({names.DENOMINATOR: (names.EXAMPLE, denominator)})


def _counts(plausibilities: xr.DataArray) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return units (example, label) and totals, where plausibilities are counts."""
    if names.DENOMINATOR not in plausibilities.coords or names.DRAW in plausibilities.dims:
        return None
    total: NDArray[np.int64] = plausibilities[names.DENOMINATOR].values.astype(np.int64)
    units = np.rint(plausibilities.values.astype(np.float64) * total[:, None]).astype(np.int64)
    return units, total


def _in_units(
    units: NDArray[np.int64], total: NDArray[np.int64], tree: Hierarchy, by_share: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return units and totals after spreading; None where a total would pass 2^53."""
    for parent in tree.above:
        leaves = tree.below[parent]
        own = units[:, parent]
        shares = np.ones((len(units), leaves.size), np.int64)
        if by_share:
            there = units[:, leaves]
            shares = np.where(there.any(axis=1, keepdims=True), there, shares)
        parts = shares.sum(axis=1)
        # As many units more as it takes for a parent's own to be a whole number a share.
        factor = np.where(own > 0, parts // np.gcd(parts, own), 1)
        if (total.astype(np.float64) * factor).max(initial=0.0) >= _EXACT:
            return None
        units, total = units * factor[:, None], total * factor
        units[:, leaves] += shares * (units[:, parent] // parts)[:, None]
        units[:, parent] = 0
    return units, total


def _in_floats(values: Floats, tree: Hierarchy, by_share: bool, overall: Floats) -> Floats:
    """Return plausibilities ([draw,] example, label) after spreading."""
    values = values.copy()
    for parent in tree.above:
        leaves = tree.below[parent]
        usual = overall[leaves] if overall[leaves].any() else np.ones(leaves.size)
        shares = np.broadcast_to(usual, values[..., leaves].shape)
        if by_share:
            there = values[..., leaves]
            shares = np.where(there.any(axis=-1, keepdims=True), there, shares)
        own = values[..., parent, None]
        values[..., leaves] += own * (shares / shares.sum(axis=-1, keepdims=True))
        values[..., parent] = 0
    return values


def _named(plausibilities: xr.DataArray, flags: Bools) -> list[str]:
    """Return the names of the examples of which a flag ([draw,] example) is set."""
    rows = flags.reshape(-1, flags.shape[-1]).any(axis=0)
    return [str(name) for name in plausibilities.indexes[names.EXAMPLE][rows]]


def _dropped(plausibilities: xr.DataArray, tree: Hierarchy, rows: Rows) -> xr.DataArray:
    """Return the plausibilities of the leaves among themselves."""
    counts = _counts(plausibilities)
    values = plausibilities.values.astype(np.float64) if counts is None else counts[0].copy()
    values[..., list(tree.above)] = 0
    total = values.sum(axis=-1)
    if examples := _named(plausibilities, total <= 0):
        raise InputError(
            "parents-alone",
            f"annotations name only labels above others in {several(len(examples), 'example')}",
            expected="an answer with a label that stands above none",
            found=listed(examples),
            hint='parents = "uniform" or "frequency", which spread these answers',
            source="annotations",
        )
    of_parents = np.isin(rows.label, tree.above)
    gone = int(np.rint(rows.weight[rows.response[of_parents]].sum()))
    kept = _with(plausibilities, values / total[..., None], None if counts is None else total)
    return with_left_out(kept, {"named a label above others": gone})
