"""The annotation table: every response of every annotator, one checked Dataset.

`isel`, `sel`, `sortby` and `assign_coords` of xarray change the names of examples, annotators or
labels and leave the codes that point at them as they were. Nothing in the result looks wrong, so
a table holds a checksum of names and codes, which is compared wherever a table comes in.
It is a check against mistakes, made often: so the codes, which may be millions, enter it by their
CRC-32.
"""

from __future__ import annotations

import json
import math
import textwrap
import zlib
from collections.abc import Hashable, Iterable, Mapping
from copy import deepcopy
from functools import cached_property, partial
from hashlib import blake2b
from typing import Any, TypeAlias, TypeGuard, TypeVar

import attrs
import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from plausibly import text
from plausibly.data import names
from plausibly.data.names import check_names, name_texts, several, text_array
from plausibly.data.plausibilities import sparse_dataset
from plausibly.data.states import STATES, amount, count_states, describe_merged, read_left_out
from plausibly.errors import InputError, an, counted, listed
from plausibly.kernels.masses import ones, ordered_sum, whole
from plausibly.kernels.random import hash_names
from plausibly.kernels.sparse import Sparse
from plausibly.kernels.types import Bools, Floats, Hashes, Ints, unwritable

Table = TypeVar("Table", bound=xr.Dataset)

COLUMNS = {
    names.RESPONSE_EXAMPLE: "<i4",
    names.RESPONSE_ANNOTATOR: "<i4",
    names.RESPONSE_WEIGHT: "<f8",
    names.RESPONSE_STATE: "<i4",
    names.MENTION_RESPONSE: "<i4",
    names.MENTION_LABEL: "<i4",
    names.MENTION_BLOCK: "<i4",
    names.MENTION_WEIGHT: "<f8",
}
"""Columns of a table, and how the digest reads each, whatever bytes a file keeps (netCDF-3)."""

NEEDED = (
    names.RESPONSE_EXAMPLE,
    names.RESPONSE_ANNOTATOR,
    names.MENTION_RESPONSE,
    names.MENTION_LABEL,
)
_ATTRIBUTES = (names.KIND, names.UNLISTED, names.LABELS_DECLARED)
_DIMS = (names.EXAMPLE, names.LABEL, names.ANNOTATOR)


def is_annotations(array: object) -> TypeGuard[xr.Dataset]:
    """Return whether this is meant as an annotation table, and not as plausibilities."""
    return isinstance(array, xr.Dataset) and names.RESPONSE_EXAMPLE in array


def checksum(table: xr.Dataset) -> str:
    """Return the digest of names and codes, whatever types they are stored in."""
    state = blake2b(digest_size=16)
    for dim in _DIMS:
        of = name_texts(table.indexes[dim]) if dim in table.indexes else []
        state.update(f"{dim}:{len(of)}:".encode())
        state.update("\0".join(of).encode("utf-8", "surrogatepass"))
    for column, kind in COLUMNS.items():
        if column not in table.variables:
            continue
        values = table[column].values
        if values.dtype.kind not in ("f" if kind == "<f8" else "iu"):
            return ""  # `where` and the like turn codes into floats: no checksum fits them
        state.update(f"{column}:{values.size}:".encode())
        state.update(zlib.crc32(np.ascontiguousarray(values, kind).data).to_bytes(4, "big"))
    return state.hexdigest()


def is_intact(table: xr.Dataset) -> bool:
    """Return whether the checksum of the table fits its names and codes."""
    return bool(table.attrs.get(names.CHECKSUM) == checksum(table))


def read_only(table: Table) -> Table:
    """Return a view of the table that a component cannot change."""
    views = {
        name: variable.copy(deep=False, data=unwritable(variable.data))
        for name, variable in table.variables.items()
        if name not in table.indexes and isinstance(variable.data, np.ndarray)
    }
    return table.assign(views).assign_attrs(deepcopy(table.attrs))


def check_table(
    table: xr.Dataset, accepts: frozenset[str] | None = None, *, source: str = "annotations"
) -> xr.Dataset:
    """Return an annotation table, of one of the kinds `accepts`, if it stands as it was built."""
    value: object = table
    found = an(type(value).__name__)
    lacks: list[str] = []
    if isinstance(value, xr.Dataset):
        lacks = [name for name in (*NEEDED, *_DIMS) if name not in value.variables]
        lacks += [name for name in _ATTRIBUTES if name not in value.attrs]
        found += f" without {listed(lacks)}"
    if lacks or not isinstance(value, xr.Dataset):
        raise InputError(
            "table-unknown",
            f"{source}: this is no annotation table",
            expected="an annotation table as it was built",
            found=found,
            hint="plausibly.read_annotations(path), or plausibly.plugin.build_table(...)",
            source=source,
        )
    kind = str(table.attrs[names.KIND])
    stated = table.attrs.get(names.CHECKSUM)
    if stated != checksum(table):
        raise InputError(
            "table-detached",
            f"{source}: rows were cut, sorted or renamed after the table was built",
            expected="responses that point at the names they were built with",
            found="no checksum" if stated is None else "another checksum",
            hint="plausibly.select_annotations(ann, example=...) on the table as it was read, "
            "instead of isel, sel, sortby or assign_coords",
            source=source,
        )
    if accepts is not None and kind not in accepts:
        raise InputError(
            "kind-unsuitable",
            f"{source}: the kind {kind} is not read here",
            expected=" or ".join(sorted(accepts)),
            found=kind,
            hint=f"an aggregator for {kind}: plausibly plugins list --kind aggregator",
            source=source,
            details={"kind": kind, "accepts": sorted(accepts)},
        )
    return table


@attrs.frozen(kw_only=True, eq=False)
class Rows:
    """The columns of one table; missing ones filled with what they mean.

    Responses of an example stand together, and so do mentions of a response and, within it, of a
    block.

    Attributes
    ----------
    table : Dataset
        Where they come from.
    n, labels : int
        Number of examples and of labels.
    example, annotator : ndarray of int, (response,)
        Codes.
    weight : ndarray of float64, (response,)
        How many times a response counts; 1 where the table does not say.
    response, label, block : ndarray of int, (mention,)
        Codes; block 1 where the table has no ranks.
    share : ndarray of float64, (mention,)
        Weight of the label in its response; 1 where the table does not say.
    """

    table: xr.Dataset
    n: int
    labels: int
    example: Ints
    annotator: Ints
    weight: Floats
    response: Ints
    label: Ints
    block: Ints
    share: Floats

    @classmethod
    def of(cls, table: xr.Dataset) -> Rows:
        """Return the columns of a table that is known to be in order."""
        filled: dict[str, NDArray[Any]] = {}  # Any: floats or integers
        for name, dim, dtype in (
            (names.RESPONSE_WEIGHT, names.RESPONSE, np.float64),
            (names.MENTION_BLOCK, names.MENTION, np.int16),
            (names.MENTION_WEIGHT, names.MENTION, np.float64),
        ):
            there = name in table.variables
            filled[name] = table[name].values if there else ones(table.sizes[dim], dtype)
        return cls(
            table=table,
            n=table.sizes[names.EXAMPLE],
            labels=table.sizes[names.LABEL],
            example=table[names.RESPONSE_EXAMPLE].values,
            annotator=table[names.RESPONSE_ANNOTATOR].values,
            weight=filled[names.RESPONSE_WEIGHT],
            response=table[names.MENTION_RESPONSE].values,
            label=table[names.MENTION_LABEL].values,
            block=filled[names.MENTION_BLOCK],
            share=filled[names.MENTION_WEIGHT],
        )

    @cached_property
    def counts(self) -> bool:
        """True if responses count a whole number of times."""
        return whole(self.weight)

    @cached_property
    def hashes(self) -> Hashes:
        """Hashes of the names of the examples, (example,): what randomness is keyed by."""
        return hash_names(self.table.indexes[names.EXAMPLE].tolist())

    def with_mentions(self, mentions: Bools) -> Bools:
        """Return which responses (response,) have one of these mentions (mention,)."""
        return np.bincount(self.response[mentions], minlength=self.example.size) > 0

    def by_name(self) -> NDArray[np.intp]:
        """Return the places of responses, (response,), in an order that belongs to names.

        Example by example in the order of the table; within an example by the name of the annotator
        and the answer, whatever the order of annotators, labels or rows. Equal answers of unknown
        annotators cannot be told apart and keep their order.
        """
        annotators = name_texts(self.table.indexes[names.ANNOTATOR])
        # the extra last place is where code -1, an unknown annotator, looks
        who = np.append(hash_names(annotators), np.uint64(0))[self.annotator]
        # A number for each answer, of names of labels, not of codes.
        label = hash_names(name_texts(self.table.indexes[names.LABEL]))[self.label]
        share = np.ascontiguousarray(self.share, dtype=np.float64).view(np.uint64)
        with np.errstate(over="ignore"):
            mention = label * _ODD[0] ^ self.block.astype(np.uint64) * _ODD[1] ^ share * _ODD[2]
            mention = (mention ^ (mention >> _SHIFT)) * _ODD[1]
            mention ^= mention >> _SHIFT
            # Sums of unsigned integers wrap round: they do not depend on the order of mentions.
            sums = np.concatenate(([np.uint64(0)], np.cumsum(mention, dtype=np.uint64)))
            ends = np.cumsum(self.mentions)
            answer = sums[ends] - sums[ends - self.mentions]
        return np.lexsort((answer, who, self.example))

    def take(self, responses: Ints, weight: Floats | None = None) -> AnnotationTable:
        """Return the table with these responses only, each as often as it is named.

        Examples, labels and annotators stay; mentions follow their responses.

        Parameters
        ----------
        responses : ndarray of int, (taken,)
            Places of responses.
        weight : ndarray of float, (taken,), optional
            How many times each counts; by default as in the table.
        """
        starts = np.cumsum(self.mentions) - self.mentions
        taken = self.mentions[responses]
        within = np.arange(int(taken.sum())) - np.repeat(np.cumsum(taken) - taken, taken)
        part = self.table.isel(
            {names.RESPONSE: responses, names.MENTION: np.repeat(starts[responses], taken) + within}
        )
        new = np.repeat(np.arange(len(responses)), taken)
        part = part.assign({names.MENTION_RESPONSE: (names.MENTION, new)})
        if weight is not None:
            part = part.assign({names.RESPONSE_WEIGHT: (names.RESPONSE, weight)})
        return rebuilt(part)

    @cached_property
    def mentions(self) -> Ints:
        """Number of mentions of each response: ndarray of int64, (response,)."""
        return np.bincount(self.response, minlength=self.example.size)

    def spread(self) -> tuple[Ints, Ints]:
        """Return response and mention of each row of a table; -1 for a response without any."""
        response = np.repeat(np.arange(self.mentions.size), np.maximum(self.mentions, 1))
        bare = self.mentions[response] == 0
        return response, np.where(bare, -1, np.cumsum(~bare) - 1)

    def by_example(self, terms: Floats) -> NDArray[np.float64]:
        """Return sums (example,) of one term per mention."""
        return ordered_sum(self.example[self.response], terms, self.n)

    def by_label(self, terms: Floats, total: Floats | None = None) -> NDArray[np.float64]:
        """Return sums (example, label) of one term per mention, over a total of each example."""
        cells = self.example[self.response].astype(np.int64) * self.labels + self.label
        sums = ordered_sum(cells, terms, self.n * self.labels).reshape(self.n, self.labels)
        if total is not None:
            sums /= total[:, None]
        return sums

    @cached_property
    def votes(self) -> NDArray[np.float64]:
        """Total weight of the responses that name a label: ndarray of float64, (example,)."""
        return ordered_sum(self.example, np.where(self.mentions > 0, self.weight, 0.0), self.n)

    def shares(
        self, terms: Floats, total: Floats, *, denominator: Ints | None = None
    ) -> xr.DataArray:
        """Return plausibilities: for each label the sum of its terms, over a total.

        Parameters
        ----------
        terms : ndarray of float, (mention,)
            Not below 0.
        total : ndarray of float, (example,)
            Of the terms of an example.
        denominator : ndarray of int, (example,), optional
            Where the values of an example are counts over a total: that total.
        """
        return self.plausibilities(self.by_label(terms, total), denominator=denominator)

    def sparse_shares(
        self, terms: Floats, total: Floats, *, denominator: Ints | None = None
    ) -> xr.Dataset:
        """Return the sparse form of `shares`, to the last bit, without a dense array.

        Parameters
        ----------
        terms, total, denominator
            As `shares` takes them.
        """
        cells = self.example[self.response].astype(np.int64) * self.labels + self.label
        pairs, place = np.unique(cells, return_inverse=True)
        example, label = np.divmod(pairs, max(self.labels, 1))
        values = ordered_sum(place, terms, pairs.size)
        values /= total[example]
        above = np.flatnonzero(values)
        shape = (self.n, self.labels)
        slots = Sparse.of_pairs(example[above], label[above], values[above], shape)
        coordinates, attributes = self._about(denominator)
        return sparse_dataset(slots, xr.Dataset(coords=coordinates), attributes)

    def plausibilities(self, values: Floats, *, denominator: Ints | None = None) -> xr.DataArray:
        """Return (example, label) values under the names of the table.

        Parameters
        ----------
        values : ndarray of float, (example, label)
            Rows that sum to 1.
        denominator : ndarray of int, (example,), optional
            Where the values of an example are counts over a total: that total.
        """
        coordinates, attributes = self._about(denominator)
        return xr.DataArray(
            values,
            dims=(names.EXAMPLE, names.LABEL),
            coords=coordinates,
            name=names.PLAUSIBILITIES,
            attrs=attributes,
        )

    def _about(self, denominator: Ints | None) -> tuple[xr.Coordinates, dict[Hashable, str]]:
        """Return coordinates of examples and labels, and how many responses were left out."""
        dims = {names.EXAMPLE, names.LABEL}
        coords = {
            name: coordinate.variable
            for name, coordinate in self.table.coords.items()
            if set(coordinate.dims) <= dims
        }
        if denominator is not None:
            total = xr.Variable(names.EXAMPLE, denominator.astype(np.int64))
            coords[names.DENOMINATOR] = total
        # The very indexes of the table: what is known of their names need not be found again.
        indexes = {dim: index for dim, index in self.table.xindexes.items() if dim in dims}
        left_out = self.table.attrs.get(names.LEFT_OUT, "{}")
        attributes: dict[Hashable, str] = {names.LEFT_OUT: left_out} if left_out != "{}" else {}
        return xr.Coordinates(coords, indexes), attributes


_ODD = tuple(
    np.uint64(value) for value in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
)
_SHIFT = np.uint64(29)


def answered_rows(
    table: xr.Dataset, accepts: frozenset[str], *, source: str = "annotations"
) -> Rows:
    """Return the columns of a table that an aggregator can use: the first line of each.

    Parameters
    ----------
    table : Dataset
        An annotation table.
    accepts : frozenset of str
        Kinds that the aggregator reads.
    source : str
        What the messages call the table.

    Raises
    ------
    InputError
        What `check_table` raises, or ``example-unanswered`` where an example has no response that
        names a label.
    """
    rows = Rows.of(check_table(table, accepts, source=source))
    unanswered = np.flatnonzero(rows.votes <= 0)
    if not unanswered.size:
        return rows
    assigned = np.bincount(rows.example, minlength=rows.n)[unanswered] > 0
    skipped, never = int(assigned.sum()), int((~assigned).sum())
    shown = name_texts(rows.table.indexes[names.EXAMPLE][unanswered])
    raise InputError(
        "example-unanswered",
        f"{source}: {counted(len(shown))} of {several(rows.n, 'example')} "
        f"{'has' if len(shown) == 1 else 'have'} no response ({listed(shown)})",
        expected="one or more",
        found=f"0 ({counted(skipped)} skipped by all, {counted(never)} never assigned)",
        hint='unanswered="drop", which is recorded in the result',
        source=source,
        details={"examples": shown, "skipped": skipped, "never": never},
    )


def describe(table: xr.Dataset) -> str:
    """Return a summary: how much there is, of what kind, how disputed, and what is not counted."""
    if not is_intact(table):
        return (
            "annotations  detached: the rows no longer fit the names\n"
            "  made by isel, sel, sortby or the like; use plausibly.select_annotations(ann, "
            "example=...)"
        )
    first, *rest = contents(table)
    about = "; ".join([str(table.attrs.get(names.KIND)), *rest])
    wrap = partial(textwrap.wrap, width=80, break_on_hyphens=False, break_long_words=False)
    lines = wrap(f"annotations  {first}", subsequent_indent=" " * 13)
    return "\n".join([*lines, *wrap(f"  {about}", subsequent_indent="  ")])


def contents(table: xr.Dataset, *, brief: bool = False) -> list[str]:
    """Return how much a table holds, how disputed it is, and what is not counted, as phrases."""
    rows = Rows.of(table)
    votes, known = rows.votes, table.sizes[names.ANNOTATOR]
    total = float(votes.sum())
    by = several(known, "annotator") if known else "annotators unknown"
    some_unknown = bool((rows.annotator == names.UNKNOWN_ANNOTATOR).any())
    if known and some_unknown:
        by += " and unknown ones"
    answers = f"{amount(total)} answer{'' if total == 1 else 's'}"
    parts = [", ".join((several(rows.n, "example"), by, answers))]
    if not brief:
        if rows.n:
            ends = dict.fromkeys(amount(float(end)) for end in (votes.min(), votes.max()))
            parts[0] += f" ({' to '.join(ends)} per example)"
        parts[0] += f", {several(rows.labels, 'label')}"
        if (known != 1 or some_unknown) and (votes > 0).any():
            share = text.percent(_disputed(rows))
            parts.append(f"annotators disagree on {share} of the examples")
    for title, counts in (
        ("of these", count_states(table, answered=True)),
        ("not counted", not_counted(table)),
    ):
        if counts:
            shown = ", ".join(f"{counted(number)} {name}" for name, number in counts.items())
            parts.append(f"{title}: {shown}")
    merged = describe_merged(table)
    if merged:
        parts.append(f"under another name: {merged}")
    return parts


def not_counted(table: xr.Dataset) -> dict[str, int]:
    """Return how many responses count for nothing, by reason: their states, then `left_out`."""
    counts = count_states(table, answered=False)
    for reason, number in read_left_out(table.attrs).items():
        counts[reason] = counts.get(reason, 0) + number
    return counts


def _disputed(rows: Rows) -> float:
    """Return the share of answered examples with two responses that differ."""
    example = rows.example[rows.response]
    columns: list[Ints] = [example, rows.label, rows.block]
    if names.MENTION_WEIGHT in rows.table.variables:
        columns.append(np.unique(rows.share, return_inverse=True)[1])
    order = np.lexsort(columns[::-1])
    first = np.ones(example.size, bool)
    first[1:] = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    distinct = example[order][first]
    answered = rows.example[rows.mentions > 0]
    responses, different, mentions = (
        np.bincount(part, minlength=rows.n) for part in (answered, distinct, example)
    )
    return float((mentions != different * responses).sum() / (responses > 0).sum())


Extra: TypeAlias = Mapping[str, xr.Variable]
"""Further variables by name, each over dims of the table."""

_WHOSE = "the annotation table"
_UNLISTED = ("excluded", "unknown")


class AnnotationTable(xr.Dataset):  # type: ignore[no-untyped-call]  # xarray lacks the hint
    """A Dataset of annotations that prints a summary."""

    __slots__ = ()

    def __repr__(self) -> str:
        return describe(self)

    def _repr_html_(self) -> str:
        return text.framed(
            "annotation table",
            text.preformatted(describe(self)),
            text.unfolded("variables", text.Html(super()._repr_html_())),
        )


def build_table(
    kind: str,
    *,
    examples: Iterable[object],
    annotators: Iterable[object],
    labels: Iterable[object],
    response_example: ArrayLike,
    response_annotator: ArrayLike,
    mention_response: ArrayLike,
    mention_label: ArrayLike,
    mention_block: ArrayLike | None = None,
    mention_weight: ArrayLike | None = None,
    response_weight: ArrayLike | None = None,
    response_state: ArrayLike | None = None,
    unlisted: str = "excluded",
    labels_declared: bool = True,
    left_out: Mapping[str, int] | None = None,
    variables: Extra | None = None,
    coordinates: Extra | None = None,
    attributes: Mapping[str, object] | None = None,
) -> AnnotationTable:
    """Return an annotation table from names and codes.

    Responses are put in the order of examples, then annotators, and mentions in the order of
    responses, then blocks, then labels; otherwise the given order is kept.

    Parameters
    ----------
    kind : str
        Kind of answer: ``"single-label"``, ``"partial-ranking"``, ``"label-set"``,
        ``"soft-label"``, or a plugin's.
    examples, annotators, labels : iterable
        Names, each once; an example or annotator without response is kept.
    response_example, response_annotator : array_like of int, (response,)
        Codes into `examples` and `annotators`; annotator -1 = unknown.
    mention_response, mention_label : array_like of int, (mention,)
        Codes into the responses and `labels`.
    mention_block : array_like of int, (mention,), optional
        Rank block, from 1.
    mention_weight : array_like of float, (mention,), optional
        Weight of the label within its response.
    response_weight : array_like of float, (response,), optional
        How many times a response counts, such as the votes in a table of counts.
    response_state : array_like of int, (response,), optional
        Places in `plausibly.data.states.STATES`.
    unlisted : {"excluded", "unknown"}
        What it means that a response does not name a label.
    labels_declared : bool
        Whether `labels` were declared, or are those that were seen.
    left_out : mapping of str to int, optional
        Responses that did not enter, by reason: printed with the table.
    variables, coordinates : mapping of str to Variable, optional
        Further variables over these dims.
    attributes : mapping, optional
        Further attributes.

    Raises
    ------
    InputError
        ``example-twice`` and the like where names repeat, ``table-invalid`` where a code, weight or
        size is out of range.
    """
    named = {
        names.EXAMPLE: name_texts(examples),
        names.LABEL: name_texts(labels),
        names.ANNOTATOR: name_texts(annotators),
    }
    for dim, texts in named.items():
        check_names(texts, dim, source=_WHOSE)
    if unlisted not in _UNLISTED:
        raise _invalid(names.UNLISTED, " or ".join(_UNLISTED), unlisted)
    sizes: dict[Hashable, int] = {dim: len(texts) for dim, texts in named.items()}
    unknown, responses = names.UNKNOWN_ANNOTATOR, np.size(response_example)
    coded: dict[str, tuple[ArrayLike | None, int, int | None, type[np.generic]]] = {
        names.RESPONSE_EXAMPLE: (response_example, 0, sizes[names.EXAMPLE], np.int32),
        names.RESPONSE_ANNOTATOR: (response_annotator, unknown, sizes[names.ANNOTATOR], np.int32),
        names.MENTION_RESPONSE: (mention_response, 0, responses, np.int32),
        names.MENTION_LABEL: (mention_label, 0, sizes[names.LABEL], np.int32),
        names.RESPONSE_WEIGHT: (response_weight, 0, None, np.float64),
        names.RESPONSE_STATE: (response_state, 0, len(STATES), np.int8),
        names.MENTION_BLOCK: (mention_block, 1, np.iinfo(np.int16).max + 1, np.int16),
        names.MENTION_WEIGHT: (mention_weight, 0, None, np.float64),
    }
    columns: dict[str, xr.Variable] = {}
    for column, (values, least, end, dtype) in coded.items():
        if values is not None:
            dim = names.RESPONSE if column.startswith(names.RESPONSE) else names.MENTION
            columns[column] = xr.Variable(dim, _checked(values, column, least, end, dtype))
    extra = {**(variables or {}), **(coordinates or {})}
    for name, variable in {**columns, **extra}.items():
        for over, size in zip(variable.dims, variable.shape, strict=True):
            if sizes.setdefault(over, size) != size:
                raise _invalid(name, f"{several(sizes[over], 'value')} over {over}", f"{size}")
    table = AnnotationTable(
        {**_in_order(columns, extra), **{dim: (dim, text_array(t)) for dim, t in named.items()}},
        attrs={
            **(attributes or {}),
            names.KIND: kind,
            names.UNLISTED: unlisted,
            names.LABELS_DECLARED: int(labels_declared),
            names.LEFT_OUT: json.dumps({str(k): int(v) for k, v in (left_out or {}).items()}),
        },
    ).set_coords(list(coordinates or {}))
    return table.assign_attrs({names.CHECKSUM: checksum(table)})


def rebuilt(table: xr.Dataset) -> AnnotationTable:
    """Return a table of the same variables and attributes, checked and in order."""
    coded = {name: table[name].values for name in COLUMNS if name in table.variables}
    further = table.variables.keys() - {*COLUMNS, *_DIMS}
    return build_table(
        str(table.attrs[names.KIND]),
        examples=table.indexes[names.EXAMPLE],
        annotators=table.indexes[names.ANNOTATOR],
        labels=table.indexes[names.LABEL],
        **coded,
        unlisted=str(table.attrs[names.UNLISTED]),
        labels_declared=bool(table.attrs[names.LABELS_DECLARED]),
        left_out=read_left_out(table.attrs),
        variables={str(n): v for n, v in table.data_vars.variables.items() if n in further},
        coordinates={str(n): v for n, v in table.coords.variables.items() if n in further},
        attributes={str(name): value for name, value in table.attrs.items()},
    )


def _invalid(column: str, expected: str, found: str) -> InputError:
    return InputError(
        "table-invalid",
        f"{_WHOSE} cannot be built: {column} is out of range",
        expected=expected,
        found=found,
        hint=f"fix {column} where it is made",
        source=_WHOSE,
    )


def _checked(
    values: ArrayLike, column: str, least: int, end: int | None, dtype: type[np.generic]
) -> NDArray[np.generic]:
    """Return an array of our own: codes from `least` to below `end`, or weights without an end."""
    if end is None:
        weights = np.array(values, dtype=np.float64)
        if weights.size and not (np.isfinite(weights).all() and weights.min() >= 0):
            found = f"{weights.min()} to {weights.max()}"
            raise _invalid(column, "finite numbers, 0 or more", found)
        return weights
    codes: Ints = np.asarray(values)
    if codes.size == 0:
        return np.zeros(0, dtype)
    if codes.dtype.kind not in "iu" or codes.ndim != 1:
        raise _invalid(column, "one dim of integers", f"{codes.ndim} of {codes.dtype}")
    low, high = int(codes.min()), int(codes.max())
    if low < least or high >= end:
        raise _invalid(column, f"{least} to {end - 1}", f"{low} to {high}")
    return codes.astype(dtype)


def _in_order(columns: Extra, extra: Extra) -> dict[str, xr.Variable]:
    """Return all variables with responses and mentions in their order."""
    example: Ints = columns[names.RESPONSE_EXAMPLE].values
    annotator: Ints = columns[names.RESPONSE_ANNOTATOR].values
    response: Ints = columns[names.MENTION_RESPONSE].values
    place = order_of(example, annotator)
    rank = np.empty(place.size, np.int32)
    rank[place] = np.arange(place.size)
    response = rank[response]
    every = {**columns, **extra, names.MENTION_RESPONSE: xr.Variable(names.MENTION, response)}
    keys = (
        columns[name].values
        for name in (names.MENTION_BLOCK, names.MENTION_LABEL)
        if name in columns
    )
    orders = {names.RESPONSE: place, names.MENTION: order_of(response, *keys)}
    return {name: item.isel(orders, missing_dims="ignore") for name, item in every.items()}


def order_of(*keys: Ints) -> NDArray[np.intp]:
    """Return the stable order by the first of some codes from -1 on, then by the next ones."""
    spans = [int(key.max(initial=0)) + 2 for key in keys]
    if math.prod(spans) >= 2**63:
        return np.lexsort(keys[::-1])
    # One number for all keys is sorted several times as fast.
    joint = np.zeros(keys[0].size, np.int64)
    for key, span in zip(keys, spans, strict=True):
        joint *= span
        joint += key + 1
    return np.argsort(joint, kind="stable")
