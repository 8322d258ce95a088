"""Annotation tables as rows and as named arrays, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import registry
from plausibly.data import names
from plausibly.data.annotations import AnnotationTable, build_table, rebuilt
from plausibly.data.left_out import read_left_out
from plausibly.data.names import name_texts, positions, quoted, several
from plausibly.data.rows import Rows
from plausibly.data.states import STATES
from plausibly.errors import InputError, counted, listed
from plausibly.io import pieces, text
from plausibly.io.delimited import line
from plausibly.io.pieces import MARK, Content, check_encodable
from plausibly.io.text import TextTable, plain
from plausibly.kernels.types import Bools, Ints
from plausibly.protocols import ANNOTATION
from plausibly.registry.calls import calling

KIND = "annotation table"
_DIGEST = "digest"
NAMED = (names.EXAMPLE, names.LABEL, names.ANNOTATOR)
COLUMNS = (
    names.RESPONSE_EXAMPLE,
    names.RESPONSE_ANNOTATOR,
    names.RESPONSE_WEIGHT,
    names.RESPONSE_STATE,
    names.MENTION_RESPONSE,
    names.MENTION_LABEL,
    names.MENTION_BLOCK,
    names.MENTION_WEIGHT,
)


def content_of(table: AnnotationTable) -> Content:
    """Return the variables and attributes of a table, those that every table has first."""
    every = {str(name): variable for name, variable in table.variables.items()}
    first = {name: every[name] for name in (*NAMED, *COLUMNS) if name in every}
    others = {name: variable for name, variable in every.items() if name not in first}
    return Content(
        kind=KIND,
        attributes={str(k): value for k, value in table.attrs.items() if k != names.SEAL},
        pieces=tuple(pieces.pieces_of({**first, **others}, table.coords)),
        more={_DIGEST: _digest(table)},
    )


def _digest(table: xr.Dataset) -> str:
    """Return the digest of names and codes that is part of version 1 of the format."""
    state = blake2b(digest_size=16)
    for dim in NAMED:
        texts = name_texts(table.indexes[dim])
        state.update(f"{dim}:{len(texts)}:".encode())
        state.update("\0".join(texts).encode("utf-8", "surrogatepass"))
    for column in COLUMNS:
        if column in table.variables:
            values = table[column].values
            values = values.astype("<f8" if values.dtype.kind == "f" else "<i8")
            state.update(f"{column}:{values.size}:".encode())
            state.update(values.tobytes())
    return state.hexdigest()


def table_of(
    content: Content,
    named: Mapping[str, Sequence[str]],
    columns: Mapping[str, NDArray[Any]],  # Any: codes, weights
    whose: str,
) -> AnnotationTable | None:
    """Return the table of a content, with names and columns that stand beside it."""
    attributes = dict(content.attributes)
    held = {piece.name: piece for piece in content.pieces}
    further = [piece for name, piece in held.items() if name not in (*NAMED, *COLUMNS)]
    try:
        table = _built(
            str(attributes[names.KIND]),
            {dim: named.get(dim) or name_texts(held[dim].values) for dim in NAMED},
            columns,
            unlisted=str(attributes[names.UNLISTED]),
            labels_declared=bool(attributes[names.LABELS_DECLARED]),
            left_out=read_left_out({names.LEFT_OUT: attributes[names.LEFT_OUT]}),
            variables={p.name: p.variable for p in further if not p.coordinate},
            coordinates={p.name: p.variable for p in further if p.coordinate},
            attributes=attributes,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as reason:
        raise pieces.damaged(whose, reason) from reason
    return table if _digest(table) == content.more.get(_DIGEST) else None


def table_of_rows(read: Read, kind: str, whose: str) -> AnnotationTable:
    """Return the table of rows of which only the kind of answer is known."""
    annotation = registry.resolve(ANNOTATION, kind)
    named = {dim: sorted(read.named[dim]) for dim in NAMED}
    try:
        table = _built(kind, named, read.coded(named) or {}, labels_declared=False)
        with calling(f"annotation {kind}", "validate"):
            annotation.validate(table)
    except InputError as error:
        error.what = f"{whose}: {error.what}"
        raise
    return table


def _built(
    kind: str,
    named: Mapping[str, Sequence[str]],
    columns: Mapping[str, NDArray[Any]],  # Any: codes, weights
    *,
    labels_declared: bool,
    unlisted: str = "excluded",
    left_out: Mapping[str, int] | None = None,
    variables: Mapping[str, xr.Variable] | None = None,
    coordinates: Mapping[str, xr.Variable] | None = None,
    attributes: Mapping[str, object] | None = None,
) -> AnnotationTable:
    return build_table(
        kind,
        examples=named[names.EXAMPLE],
        annotators=named[names.ANNOTATOR],
        labels=named[names.LABEL],
        response_example=columns[names.RESPONSE_EXAMPLE],
        response_annotator=columns[names.RESPONSE_ANNOTATOR],
        response_weight=columns.get(names.RESPONSE_WEIGHT),
        response_state=columns.get(names.RESPONSE_STATE),
        mention_response=columns[names.MENTION_RESPONSE],
        mention_label=columns[names.MENTION_LABEL],
        mention_block=columns.get(names.MENTION_BLOCK),
        mention_weight=columns.get(names.MENTION_WEIGHT),
        unlisted=unlisted,
        labels_declared=labels_declared,
        left_out=left_out,
        variables=variables,
        coordinates=coordinates,
        attributes=attributes,
    )


def declared(table: AnnotationTable, labels: Sequence[str], whose: str) -> AnnotationTable:
    """Return the table with other labels declared; what is known of labels goes with them."""
    known = name_texts(table.indexes[names.LABEL])
    label: Ints = table[names.MENTION_LABEL].values
    used = [known[code] for code in np.unique(label).tolist()]
    code = {name: place for place, name in enumerate(labels)}
    outside = [name for name in used if name not in code]
    if outside:
        votes = int(np.isin(label, [known.index(name) for name in outside]).sum())
        raise InputError(
            "label-unknown",
            f"{whose}: annotators say {listed(map(quoted, outside))}",
            expected=f"one of {several(len(labels), 'declared label')}",
            got=f"{several(len(outside), 'label')} outside ({several(votes, 'vote')})",
            do="declare them in --labels too, or leave --labels out: the file has its own",
            whose=whose,
            details={"labels": outside},
        )
    fill = {name: "" for name, item in table.variables.items() if item.dtype.kind in "UO"}
    wider = table.reindex({names.LABEL: list(labels)}, fill_value=fill)
    new = np.array([code.get(name, names.NO_LABEL) for name in known], np.int64)[label]
    wider = wider.assign({names.MENTION_LABEL: (names.MENTION, new)})
    return rebuilt(wider.assign_attrs({**table.attrs, names.LABELS_DECLARED: 1}))


RESPONSE, EXAMPLE, ANNOTATOR, LABEL = NEEDED = (
    names.RESPONSE,
    names.EXAMPLE,
    names.ANNOTATOR,
    names.LABEL,
)
"""The first columns; the others are there where the table has what they say."""

_BLOCK, _WEIGHT, _RESPONSE_WEIGHT, _STATE = "block", "weight", names.RESPONSE_WEIGHT, "state"
_NUMBER = re.compile("[0-9]{1,15}")


Columns: TypeAlias = dict[str, list[str | None] | NDArray[Any]]  # Any: numbers of their own type
"""Columns by name: text, None for nothing; or numbers, masked where there is none."""


@attrs.frozen(kw_only=True, eq=False)
class _Row:
    """Which response and mention each row is about; mention -1 = a response without one."""

    response: Ints
    mention: Ints

    @classmethod
    def of(cls, rows: Rows) -> _Row:
        empty = np.flatnonzero(rows.mentions == 0)
        response = np.concatenate((rows.response, empty))
        mention = np.concatenate((np.arange(rows.response.size), np.full(empty.size, -1)))
        order = np.argsort(response, kind="stable")
        return cls(response=response[order], mention=mention[order])


def columns_of(table: xr.Dataset, whose: str) -> Columns:
    """Return the columns of a table."""
    rows = Rows.of(table)
    row = _Row.of(rows)
    bare = row.mention < 0
    label = np.append(rows.label, names.NO_LABEL)[row.mention]
    label[bare] = names.NO_LABEL
    found: Columns = {RESPONSE: row.response.astype(np.int64)}
    for dim, codes in (
        (EXAMPLE, rows.example[row.response]),
        (ANNOTATOR, rows.annotator[row.response]),
        (LABEL, label),
    ):
        texts = name_texts(table.indexes[dim])
        check_encodable(texts, dim, whose)
        known: list[str | None] = [*texts, None]  # the last place is where code -1 looks
        found[dim] = [known[code] for code in codes.tolist()]
    for column, variable in ((_BLOCK, names.MENTION_BLOCK), (_WEIGHT, names.MENTION_WEIGHT)):
        if variable in table.variables:
            values: NDArray[Any] = table[variable].values  # Any: blocks or weights
            filled = np.append(values, values.dtype.type(0))[row.mention]
            found[column] = np.ma.masked_array(filled, mask=bare)
    if names.RESPONSE_WEIGHT in table.variables:
        found[_RESPONSE_WEIGHT] = table[names.RESPONSE_WEIGHT].values[row.response]
    if names.RESPONSE_STATE in table.variables:
        states = table[names.RESPONSE_STATE].values[row.response]
        found[_STATE] = [STATES[code] for code in states.tolist()]
    return found


def write_csv(columns: Columns, said: str, path: Path) -> None:
    """Write columns as CSV, with what the file says of itself in a last column."""
    quoted_once: dict[str, str] = {}

    def cell(value: object) -> str:
        if value is None:
            return ""
        if isinstance(value, str):
            if value not in quoted_once:
                quoted_once[value] = line([value])[:-1]
            return quoted_once[value]
        return repr(value)

    cells = [line([part])[:-1] for part in pieces.cells(said)]
    texts = [
        [cell(value) for value in (column if isinstance(column, list) else column.tolist())]
        for column in columns.values()
    ]
    size = len(texts[0])
    rows = zip(*texts, [*cells[:size], *[""] * (size - len(cells))], strict=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(line([*columns, pieces.COLUMN]))
        file.writelines(",".join(row) + "\n" for row in rows)
        file.writelines(f"{',' * len(columns)}{part}\n" for part in cells[size:])


def write_parquet(columns: Columns, said: str, path: Path) -> None:
    """Write columns as Parquet, with what the file says of itself in the metadata."""
    text.write_columns(path, list(columns), list(columns.values()), {MARK: said})


# ---- and back


def is_header(header: Sequence[str]) -> bool:
    """Return whether these are the names of our columns."""
    return tuple(header[: len(NEEDED)]) == NEEDED


@attrs.frozen(kw_only=True, eq=False)
class Read:
    """Rows of a file: codes into names, in the order in which responses first name them."""

    named: Mapping[str, list[str]]
    columns: Mapping[str, NDArray[Any]]  # Any: codes, weights

    def coded(self, known: Mapping[str, Sequence[str]]) -> dict[str, NDArray[Any]] | None:
        """Return the columns with codes into other names; None where a name is not among them."""
        found = dict(self.columns)
        for dim, column in (
            (EXAMPLE, names.RESPONSE_EXAMPLE),
            (ANNOTATOR, names.RESPONSE_ANNOTATOR),
            (LABEL, names.MENTION_LABEL),
        ):
            place = positions(known[dim], self.named[dim])
            if (place < 0).any():
                return None
            # the last place is where code -1, an unknown annotator, looks
            found[column] = np.append(place, names.UNKNOWN_ANNOTATOR)[found[column]]
        return found


def read_rows(table: TextTable) -> Read:
    """Return what the rows of a table say."""
    table.need(NEEDED, do="name the columns response, example, annotator and label")
    first = [table.column(column) for column in NEEDED]
    # Rows of which only the last column says something: the rest of what the file says of itself.
    kept = [row for row, cells in enumerate(zip(*first, strict=True)) if any(cells)]
    numbers = _whole(table, RESPONSE, kept)
    order = np.argsort(numbers, kind="stable")
    numbers, kept = numbers[order], [kept[place] for place in order.tolist()]
    _, start, response = np.unique(numbers, return_index=True, return_inverse=True)
    example, annotator, label = ([column[row] for row in kept] for column in first[1:])
    unnamed = [row for row, name in zip(kept, example, strict=True) if not name]
    if unnamed:
        raise InputError(
            "example-unnamed",
            f"{table.whose} names no example in {table.places(unnamed)}",
            expected="the name of an example",
            got="an empty cell",
            do="name it, or remove the row",
            whose=table.whose,
        )
    named: dict[str, list[str]] = {}
    codes: dict[str, Ints] = {}
    for dim, texts in ((EXAMPLE, example), (ANNOTATOR, annotator), (LABEL, label)):
        known = {name: code for code, name in enumerate(dict.fromkeys(filter(None, texts)))}
        named[dim] = list(known)
        codes[dim] = np.array([known.get(name, -1) for name in texts], np.int64)
    mentions = codes[LABEL] >= 0
    columns: dict[str, NDArray[Any]] = {  # Any: codes, weights
        names.MENTION_RESPONSE: response[mentions],
        names.MENTION_LABEL: codes[LABEL][mentions],
    }
    of_response: dict[str, NDArray[Any]] = {  # Any: as above
        names.RESPONSE_EXAMPLE: codes[EXAMPLE],
        names.RESPONSE_ANNOTATOR: codes[ANNOTATOR],
    }
    said = [row for row, one in zip(kept, mentions.tolist(), strict=True) if one]
    if _BLOCK in table.header:
        columns[names.MENTION_BLOCK] = _whole(table, _BLOCK, said)
    if _WEIGHT in table.header:
        columns[names.MENTION_WEIGHT] = _numbers(table, _WEIGHT, said)
    if _RESPONSE_WEIGHT in table.header:
        of_response[names.RESPONSE_WEIGHT] = _numbers(table, _RESPONSE_WEIGHT, kept)
    if _STATE in table.header:
        of_response[names.RESPONSE_STATE] = _states(table, kept)
    for name, values in of_response.items():
        _check_one(table, kept, values == values[start][response], numbers)
        columns[name] = values[start]
    return Read(named=named, columns=columns)


def _check_one(table: TextTable, kept: Sequence[int], same: Bools, numbers: Ints) -> None:
    if not same.all():
        place = int(np.flatnonzero(~same)[0])
        raise InputError(
            "response-mixed",
            f"{table.place(kept[place])} is about another example, annotator, weight or state than "
            f"the rows before it of response {counted(int(numbers[place]))}",
            expected="rows of one response that differ in what they name alone",
            do="give it another number",
            whose=table.whose,
        )


def _refuse(table: TextTable, row: int, column: str, expected: str, text: str) -> InputError:
    return InputError(
        "number-unreadable",
        f'{table.place(row)}, column "{column}" is not a number',
        expected=expected,
        got=quoted(text if len(text) <= 30 else f"{text[:29]}…"),
        do="mend that line",
        whose=table.whose,
        details={"lines": [table.lines[row]]},
    )


def _whole(table: TextTable, column: str, rows: Sequence[int]) -> Ints:
    texts = table.column(column)
    if not all(_NUMBER.fullmatch(texts[row]) for row in rows):
        row = next(row for row in rows if not _NUMBER.fullmatch(texts[row]))
        raise _refuse(table, row, column, "a whole number", texts[row])
    return np.array([int(texts[row]) for row in rows], np.int64)


def _numbers(table: TextTable, column: str, rows: Sequence[int]) -> NDArray[np.float64]:
    texts = table.column(column)
    values = plain([texts[row] for row in rows])
    if values is None and rows:
        row = next((row for row in rows if plain([texts[row]]) is None), rows[0])
        raise _refuse(table, row, column, "a number such as 0.25", texts[row])
    return np.zeros(0) if values is None else values.astype(np.float64)


def _states(table: TextTable, rows: Sequence[int]) -> Ints:
    texts = table.column(_STATE)
    known = {word: code for code, word in enumerate(STATES)}
    for row in rows:
        if texts[row] not in known:
            raise InputError(
                "state-unknown",
                f"{table.place(row)}: {quoted(texts[row])} is no state of a response",
                expected=", ".join(STATES),
                do="mend that line",
                whose=table.whose,
            )
    return np.array([known[texts[row]] for row in rows], np.int64)
