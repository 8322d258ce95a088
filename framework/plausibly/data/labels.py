"""Labels under other names, and labels that stand above others."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.annotations import Rows, rebuilt
from plausibly.data.names import (
    Named,
    check_names,
    does,
    is_missing,
    name_text,
    name_texts,
    positions,
    quoted,
    several,
    text_array,
    warn_alike,
)
from plausibly.data.plausibilities import Plausibilities, label_dim
from plausibly.data.states import with_merged
from plausibly.data.validate import Predictions
from plausibly.errors import InputError, counted, listed
from plausibly.kernels.masses import ordered_sum
from plausibly.kernels.types import Floats, Ints

_BETWEEN = re.compile(r"(?<!\\)\|")
_BLOCK_BITS = 16  # blocks are int16
_KNOWN = frozenset(
    {names.MENTION_RESPONSE, names.MENTION_LABEL, names.MENTION_BLOCK, names.MENTION_WEIGHT}
)

Places = Callable[[Sequence[int]], str]
"""Places of rows of a table of labels, as in messages: ``lines 2, 5``."""


def split_aliases(cell: str) -> list[str]:
    r"""Return the aliases in a cell: ``a | b`` are two, ``a\|b`` is one; blanks around go."""
    parts = (part.replace(r"\|", "|").strip() for part in _BETWEEN.split(cell))
    return list(dict.fromkeys(part for part in parts if part))


def read_aliases(
    labels: Sequence[str],
    cells: Sequence[str],
    *,
    source: str = "the table of labels",
    places: Places | None = None,
) -> dict[str, str]:
    """Return the label of each alias."""
    row_of = {label: row for row, label in enumerate(labels)}
    aliases: dict[str, str] = {}
    for row, (label, cell) in enumerate(zip(labels, cells, strict=True)):
        for alias in split_aliases(cell):
            if alias == label:
                continue
            if alias in row_of or alias in aliases:
                rows = sorted((row, row_of[aliases.get(alias, alias)]))
                named = [labels[place] for place in rows]
                where = f" ({places(rows)})" if places else ""
                raise InputError(
                    "alias-ambiguous",
                    f"{source} calls {' and '.join(map(quoted, named))} {quoted(alias)}{where}",
                    expected="aliases of one label each, which are no labels themselves",
                    found=f"answers {quoted(alias)} that could be either",
                    hint="keep it at one of them",
                    source=source,
                    details={"alias": alias, "labels": named},
                )
            aliases[alias] = label
    for label, cell in zip(labels, cells, strict=True):
        # Without its blanks such an alias would be the label, and say nothing.
        written = (part for part in _BETWEEN.split(cell) if part.strip() == label)
        aliases |= {part: label for part in written if part not in row_of}
    return aliases


def aliases_of(table: xr.Dataset | xr.DataArray) -> dict[str, str]:
    """Return the label of each alias in the coordinate ``alias``; none where there is none."""
    if names.ALIAS not in table.coords or table[names.ALIAS].dims != (names.LABEL,):
        return {}
    cells = table[names.ALIAS].values.tolist()
    texts = ["" if is_missing(cell) else name_text(cell) for cell in cells]
    source = str(table.attrs.get("source", "the table of labels"))
    return read_aliases(name_texts(table[names.LABEL].values), texts, source=source)


def merge_aliases(
    table: xr.Dataset, aliases: Mapping[str, str], labels: Sequence[str]
) -> xr.Dataset:
    """Return the annotation table with the answers under an alias as answers of its label."""
    before = name_texts(table.indexes[names.LABEL])
    if not aliases.keys() & set(before):
        return table
    rows = Rows.of(table)
    called = [aliases.get(label, label) for label in before]
    present = set(called)
    order = [label for label in labels if label in present]
    known = list(dict.fromkeys([*order, *called]))
    label = positions(known, called)[rows.label]
    # What is known of a label stands in its own row, else in that of its first alias.
    place = {name: code for code, name in reversed([*enumerate(called)])}
    place |= {name: code for code, name in enumerate(before)}
    source = [place[name] for name in known]
    # A mention that is more than label, block and weight stays as it is.
    over = {str(n) for n, variable in table.variables.items() if names.MENTION in variable.dims}
    every: tuple[Ints, Ints, Floats] = (np.arange(rows.label.size), rows.block, rows.share)
    kept, block, share = _kept_once(rows, label) if over <= _KNOWN else every
    part = table.isel({names.LABEL: source, names.MENTION: kept})
    part = part.assign_coords({names.LABEL: (names.LABEL, text_array(known))})
    columns = {
        names.MENTION_LABEL: label[kept],
        names.MENTION_BLOCK: block,
        names.MENTION_WEIGHT: share,
    }
    part = part.assign(
        {name: (names.MENTION, data) for name, data in columns.items() if name in table.variables}
    )
    votes = ordered_sum(rows.label, rows.weight[rows.response], rows.labels).tolist()
    merged = {name: count for name, count in zip(before, votes, strict=True) if name in aliases}
    return rebuilt(with_merged(part, merged))


def called(table: xr.Dataset, labels: Sequence[str], *, source: str) -> xr.Dataset:
    """Return the annotation table with its labels called so; those of one name are merged."""
    before = name_texts(table.indexes[names.LABEL])
    different = list(dict.fromkeys(labels))
    check_names(different, names.LABEL, source=source)
    if len(different) < len(before):
        renamed = {old: new for old, new in zip(before, labels, strict=True) if old != new}
        table = merge_aliases(table, renamed, different)
    elif before != different:
        table = rebuilt(table.assign_coords({names.LABEL: (names.LABEL, text_array(labels))}))
    warn_alike(table, source, [names.LABEL])
    return table


def _kept_once(rows: Rows, label: Ints) -> tuple[Ints, Ints, Floats]:
    """Return places, blocks and weights of mentions with each label once, at its better place."""
    pair = rows.response.astype(np.int64) * rows.labels + label
    # Mentions of a response stand by block: the first of a pair is the better one.
    _, first, of = np.unique(pair, return_index=True, return_inverse=True)
    kept = np.sort(first)
    share = ordered_sum(of, rows.share, first.size)[of[kept]]
    # Blocks that lose their last mention; what was empty before stays so, and is refused as such.
    block = rows.response.astype(np.int64) << _BLOCK_BITS | rows.block.astype(np.int64)
    emptied = np.setdiff1d(block, block[kept])
    above = np.searchsorted(emptied, block[kept]) - np.searchsorted(
        emptied, rows.response[kept].astype(np.int64) << _BLOCK_BITS
    )
    return kept, rows.block[kept] - above, share


def renamed_columns(array: xr.DataArray, table: xr.Dataset, *, source: str) -> xr.DataArray:
    """Return predictions whose columns go by the labels, not by aliases."""
    aliases = aliases_of(table)
    here = name_texts(array.indexes[names.LABEL])
    called = [aliases.get(label, label) for label in here]
    twice = next((label for label in called if called.count(label) > 1), None)
    if twice is not None:
        columns = [name for name, label in zip(here, called, strict=True) if label == twice]
        raise InputError(
            "label-twice",
            f"{source} has {several(len(columns), 'column')} of the label {quoted(twice)}",
            expected="one column per label; probabilities of one label add up, other scores do not",
            found=listed(map(quoted, columns)),
            hint="add the columns up where they are made, or keep one",
            source=source,
            details={"label": twice},
        )
    return array.assign_coords({names.LABEL: (names.LABEL, text_array(called))})


@attrs.frozen(kw_only=True, eq=False)
class Hierarchy:
    """Parents of labels.

    Attributes
    ----------
    labels : tuple of str
    parent : ndarray of int, (label,)
        Code of the label directly above, -1 where there is none.
    """

    labels: tuple[str, ...]
    parent: Ints

    @classmethod
    def of(
        cls,
        labels: Sequence[str],
        parents: Sequence[str],
        *,
        source: str = "the labels",
        places: Places | None = None,
    ) -> Hierarchy:
        """Return the hierarchy of labels, each with the name of its parent or the empty text.

        Parents that are no label among these are left out.

        Parameters
        ----------
        labels, parents : sequence of str
        source : str
            What the messages call them.
        places : callable, optional
            Where rows stand, as messages say it.

        Raises
        ------
        InputError
            ``parents-circular`` where a label stands above itself.
        """
        code = {label: place for place, label in enumerate(labels)}
        parent = np.array([code.get(name, -1) for name in parents], dtype=np.int64)
        hierarchy = cls(labels=tuple(labels), parent=parent)
        try:
            TopologicalSorter({at: [up] for at, up in enumerate(parent.tolist())}).prepare()
        except CycleError as error:
            circle: list[int] = error.args[1][:0:-1]  # upwards
            lowest = circle.index(min(circle))
            circle = [*circle[lowest:], *circle[:lowest]]
            where = f" ({places(sorted(circle))})" if places else ""
            chain = [labels[at] for at in (*circle, circle[0])]
            raise InputError(
                "parents-circular",
                f"{source}: {quoted(labels[circle[0]])} stands above itself{where}",
                expected="parents that end at a label without one",
                found=" under ".join(map(quoted, chain if len(chain) < 6 else [*chain[:4], "…"])),
                hint="empty the parent of the topmost of them",
                source=source,
                details={"labels": [labels[at] for at in circle]},
            ) from None
        return hierarchy

    @classmethod
    def of_table(cls, table: xr.Dataset | xr.DataArray) -> Hierarchy:
        """Return the hierarchy in the coordinate ``parent`` over the labels of a table or array.

        Raises
        ------
        InputError
            ``parents-circular``.
        """
        dim = label_dim(table)
        labels = name_texts(table.indexes[dim])
        parents = [""] * len(labels)
        if names.PARENT in table.coords and table[names.PARENT].dims == (dim,):
            values = table[names.PARENT].values.tolist()
            parents = ["" if is_missing(value) else name_text(value) for value in values]
        return cls.of(labels, parents)

    def _ancestors(self, code: int) -> list[int]:
        """Return the codes of the labels that stand above one, from the nearest on."""
        ancestors: list[int] = []
        while (code := int(self.parent[code])) >= 0:
            ancestors.append(code)
        return ancestors

    @cached_property
    def above(self) -> tuple[int, ...]:
        """Codes of the labels that stand above others, each before those that stand above it."""
        codes = np.unique(self.parent[self.parent >= 0]).tolist()
        return tuple(sorted(codes, key=lambda code: (-len(self._ancestors(code)), code)))

    @cached_property
    def leaves(self) -> NDArray[np.int64]:
        """Codes of the labels that stand above none, (leaf,)."""
        return np.setdiff1d(np.arange(len(self.labels)), self.above)

    @cached_property
    def below(self) -> Mapping[int, NDArray[np.int64]]:
        """For each label that stands above others: the codes of its leaves, at any level below."""
        below: dict[int, list[int]] = {code: [] for code in self.above}
        for leaf in self.leaves.tolist():
            for code in self._ancestors(leaf):
                below[code].append(leaf)
        return {code: np.array(leaves, np.int64) for code, leaves in below.items()}


def without_parents(plausibilities: Plausibilities) -> Plausibilities:
    """Return plausibilities of the leaves alone."""
    tree = Hierarchy.of_table(plausibilities.array)
    return plausibilities.take_labels(tree.leaves) if tree.above else plausibilities


Record = TypeVar("Record", Named, Predictions, Plausibilities)


def without_unsaid_parents(
    record: Record, wanted: Sequence[str], *, source: str, other: str
) -> Record:
    """Return plausibilities without those parents of other labels that `wanted` lacks."""
    tree = Hierarchy.of_table(record.array)
    known = set(wanted)
    lost = [code for code in tree.above if tree.labels[code] not in known]
    if not lost:
        return record
    if isinstance(record.array, xr.Dataset):
        label: Ints = record.array[names.LABEL].values
        said, rows = np.isin(lost, label), np.isin(label, lost).any(axis=1)
    else:
        values: Floats = record.array.values
        above = values.reshape(-1, *values.shape[-2:])[..., lost] != 0
        said, rows = above.any(axis=(0, 1)), above.any(axis=(0, 2))
    if not said.any():
        return record.take_labels(np.setdiff1d(np.arange(len(tree.labels)), lost))
    named = [tree.labels[code] for place, code in enumerate(lost) if said[place]]
    examples = record.examples.take(np.flatnonzero(rows)).texts
    raise InputError(
        "parents-named",
        f"{does(source, 'name')} {listed(map(quoted, named))} above labels that "
        f"{does(other, 'have')}",
        expected=f"the {several(len(known), 'label')} of {other}, or how to get there",
        found=f"{several(len(named), 'such label')} in {counted(len(examples))} of "
        f"{several(rows.size, 'example')} ({listed(examples)})",
        hint='aggregate with aggregator="spread": it gives that to the labels '
        "below, in equal shares or by another policy",
        source=source,
        details={"labels": named, "examples": examples},
    )
