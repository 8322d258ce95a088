"""Plausibilities and draws of them in files, exact when read back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, overload

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import extras
from plausibly.atomic import replacing
from plausibly.conformal.aggregate import FEW_LABELS
from plausibly.data import names
from plausibly.data.names import (
    CONVERGENCE,
    DENOMINATOR,
    DRAW,
    EXAMPLE,
    JOINT,
    LABEL,
    LABEL_NAME,
    PLAUSIBILITIES,
    WEIGHT,
    name_texts,
    quoted,
    several,
    text_array,
)
from plausibly.data.plausibilities import (
    about_packed,
    check_packed,
    is_packed,
    of_slots,
    pack,
    unpack,
)
from plausibly.data.validate import check_packed_plausibilities, check_plausibilities, checked_rows
from plausibly.errors import InputError, counted, listed, warn
from plausibly.io import arrays, files, pieces, text
from plausibly.io.annotation_rows import Columns, write_csv, write_parquet
from plausibly.io.arrays import from_table
from plausibly.io.delimited import line
from plausibly.io.pieces import MARK, Content, Piece, check_encodable, damaged, pieces_of
from plausibly.io.text import numbers, plain, value_of
from plausibly.kernels.sparse import packed_pairs
from plausibly.kernels.types import Floats, Ints

KIND = "plausibilities"
KEYS = {EXAMPLE: "examples", LABEL: "labels", DRAW: "draws"}

_USUAL = (PLAUSIBILITIES, "plausibility")
_ROLE = "plausibilities"
_ATTRIBUTES = "attributes"


def content_of(array: xr.DataArray, **more: object) -> Content:
    """Return plausibilities, their coordinates and attributes; `more` says what the file is."""
    first = [name for name in (EXAMPLE, LABEL, DRAW, DENOMINATOR) if name in array.coords]
    others = [str(name) for name in array.coords if name not in first]
    coordinates = {name: array.coords[name].variable for name in (*first, *others)}
    dims = tuple(str(dim) for dim in array.dims)
    return Content(
        kind=KIND,
        attributes={str(name): value for name, value in array.attrs.items()},
        pieces=(
            Piece(name=PLAUSIBILITIES, dims=dims, values=array.values),
            *pieces_of(coordinates, coordinates),
        ),
        more=more,
    )


def array_of(
    content: Content,
    whose: str,
    values: NDArray[Any] | None = None,  # Any: float32 or float64
) -> xr.DataArray:
    """Return the array of a content; `values`, where they stand beside it."""
    held = {piece.name: piece for piece in content.pieces}
    found = held.pop(PLAUSIBILITIES, None)
    dims = (DRAW, EXAMPLE, LABEL)[-2 if values is None else -values.ndim :]
    try:
        return xr.DataArray(
            found.values if found is not None else values,
            dims=found.dims if found is not None else dims,
            coords={name: piece.variable for name, piece in held.items()},
            name=PLAUSIBILITIES,
            attrs=dict(content.attributes),
        )
    except (TypeError, ValueError, AttributeError) as reason:
        raise damaged(whose, reason) from reason


def write_npz(array: xr.DataArray, path: Path) -> None:
    """Write arrays under the names that any npz of plausibilities has, and all else beside them."""
    pieces.write_npz(content_of(array), path, KEYS)


def write_netcdf(array: xr.DataArray, path: Path) -> None:
    """Write a variable ``plausibilities`` with its coordinates."""
    pieces.write_netcdf(content_of(array), path)


def read_npz(path: Path) -> xr.DataArray | Content:
    """Return plausibilities in an npz file, or what our own file holds."""
    held = arrays.read_npz(path, _ROLE)
    if str(held.get(pieces.ABOUT, "")).startswith(f'{{"{MARK}"'):
        return pieces.npz_content(held, KIND, path.name)
    found = arrays.from_npz(path, _ROLE, _USUAL)
    array = arrays.labelled(found, name=PLAUSIBILITIES).assign_attrs(_said(held))
    totals = held.get(DENOMINATOR)
    if totals is None:
        return array
    if totals.shape != found.values.shape[:1] or totals.dtype.kind not in "iu":
        raise not_totals(path.name, f"shape {totals.shape}, type {totals.dtype}")
    return with_totals(array, totals)


def _said(held: dict[str, NDArray[Any]]) -> dict[str, object]:  # Any: as the file says
    try:
        return dict(json.loads(str(held.get(_ATTRIBUTES, np.array("{}")))))
    except (ValueError, TypeError):
        return {}


def read_netcdf(path: Path) -> xr.DataArray | Content:
    """Return plausibilities in a netCDF file, or what our own file holds."""
    content = pieces.netcdf_content(arrays.load(path, _ROLE), KIND, path.name)
    if content is not None:
        return content
    found = arrays.from_netcdf(path, _ROLE, None, _USUAL)
    kept = dict(found.coordinates)
    totals = kept.pop(DENOMINATOR, None)
    array = arrays.labelled(found, name=PLAUSIBILITIES).assign_attrs(dict(found.attributes))
    return array if totals is None else with_totals(array, totals.values)


def with_totals(array: xr.DataArray, totals: Ints) -> xr.DataArray:
    """Return the array with the total of each example."""
    return array.assign_coords({DENOMINATOR: (EXAMPLE, totals.astype(np.int64))})


def not_totals(whose: str, got: str) -> InputError:
    """Return the error for totals that are none."""
    return InputError(
        "denominator-unfit",
        f"{whose}: {DENOMINATOR} is not one total an example",
        expected="whole numbers, one a row",
        got=got,
        do=f"mend {DENOMINATOR}, or leave it out",
        whose=whose,
    )


VALUE = "plausibility"

_LONG_FORM = "long"
_OTHERS = frozenset({DENOMINATOR, pieces.COLUMN})


@attrs.frozen(kw_only=True, eq=False)
class Sparse:
    """The entries that are not 0, and what else there is."""

    places: tuple[Ints, ...]
    values: Floats
    shell: xr.DataArray
    packed: bool = False


def checked_long(lam: xr.DataArray | xr.Dataset) -> Sparse:
    """Return plausibilities that are fit to be written; packed ones are never unpacked."""
    if isinstance(lam, xr.Dataset) and is_packed(lam):
        return _of_packed(check_packed(lam))
    array = check_plausibilities(lam)
    values: Floats = array.values
    # A negative zero is kept too: it is another bit.
    places = np.nonzero((values != 0) | np.signbit(values))
    return Sparse(places=places, values=values[places], shell=array)


def _of_packed(lam: xr.Dataset) -> Sparse:
    weight, label = lam[names.WEIGHT].values, lam[names.LABEL].values
    coords = about_packed(lam).coords
    shape = (weight.shape[0], lam.sizes[names.LABEL_NAME])
    shell = _shell(shape, weight.dtype).assign_coords(coords).assign_attrs(lam.attrs)
    fits = checked_rows(weight, shell, "plausibilities")
    if DENOMINATOR not in fits.coords:
        shell = shell.drop_vars(DENOMINATOR, errors="ignore")
    example, slot = np.nonzero(label >= 0)
    places = (example, label[example, slot].astype(np.int64))
    return Sparse(places=places, values=weight[example, slot], shell=shell, packed=True)


def _shell(shape: tuple[int, ...], dtype: np.dtype[np.floating]) -> xr.DataArray:
    """Return an array of one number that is as large as it has to look."""
    dims = (DRAW, EXAMPLE, LABEL)[-len(shape) :]
    return xr.DataArray(np.broadcast_to(dtype.type(0), shape), dims=dims, name=PLAUSIBILITIES)


def write(sparse: Sparse, path: Path) -> None:
    """Write a CSV or Parquet file, by the ending."""
    shell = sparse.shell
    *draw, example, label = sparse.places
    columns: Columns = {}
    if draw:
        texts = draw_texts(shell)
        column = draw_column([texts[code] for code in draw[0].tolist()])
        columns[DRAW] = column if isinstance(column, np.ndarray) else [*column]
    for dim, codes in ((EXAMPLE, example), (LABEL, label)):
        texts = name_texts(shell.indexes[dim])
        check_encodable(texts, dim, path.name)
        columns[dim] = [texts[code] for code in codes.tolist()]
    columns[VALUE] = sparse.values
    totals = totals_of(shell)
    if totals is not None:
        columns[DENOMINATOR] = totals[example]
    content = content_of(
        shell,
        form=_LONG_FORM,
        shape={str(dim): size for dim, size in shell.sizes.items()},
        type=shell.dtype.newbyteorder("<").str,
    )
    others = [piece for piece in content.pieces if piece.name not in (PLAUSIBILITIES, DENOMINATOR)]
    entries = [pieces.entry(piece, path.name) for piece in others]
    said = pieces.said(content, entries, path.name)
    to_file = write_csv if path.suffix.lower() == ".csv" else write_parquet
    to_file(columns, said, path)


# ---- and back


_HEADERS = ([EXAMPLE, LABEL, VALUE], [DRAW, EXAMPLE, LABEL, VALUE])


def may_be_long(head: bytes) -> bool:
    """Return whether a text table has the first columns of a long one."""
    return any(pieces.begins(head, names) for names in _HEADERS)


def is_long(table: text.TextTable) -> bool:
    """Return whether a table is long; a wide one may have labels of the same names."""
    header = list(table.header)
    first = next((names for names in _HEADERS if header[: len(names)] == names), None)
    if first is None or not set(header[len(first) :]) <= _OTHERS or not len(table):
        return False
    if pieces.COLUMN in header:
        return any(map(pieces.opens, table.column(pieces.COLUMN)))
    rows = set(zip(*(table.column(name) for name in first[:-2]), strict=True))
    return len(rows) < len(table) or any(value_of(cell) is None for cell in table.column(LABEL))


def read(
    table: text.TextTable, said: str | None, *, packed: bool | None
) -> xr.DataArray | xr.Dataset:
    """Return plausibilities in a long table, packed where that is asked for."""
    drawn = table.header[0] == DRAW
    dims = (DRAW, EXAMPLE, LABEL) if drawn else (EXAMPLE, LABEL)
    # Rows of which only the last column says something: the rest of what the file says of itself.
    kept = [row for row, cell in enumerate(table.column(EXAMPLE)) if cell]
    column = {name: [table.column(name)[row] for row in kept] for name in dims}
    values = _values(table, kept)
    if said is None:
        shell = _seen(column, dims, values.dtype)
    else:
        shell = _array_shell(pieces.understood(said, KIND, table.whose), table.whose)
    known = {dim: name_texts(shell.indexes[dim]) for dim in (EXAMPLE, LABEL)}
    if drawn:
        known[DRAW] = draw_texts(shell)
    if shell.dims != dims:
        raise pieces.damaged(table.whose, ValueError(f"its columns are not {listed(shell.dims)}"))
    if packed is None:
        packed = not drawn and shell.sizes[LABEL] > FEW_LABELS
    places = tuple(_codes(table, column[dim], known[dim], dim) for dim in dims)
    _check_once(table, kept, places, shell.shape)
    if DENOMINATOR in table.header:
        digits = [table.column(DENOMINATOR)[row] for row in kept]
        shell = _with_totals(shell, read_totals(digits, table.whose), places[-2], table.whose)
    sparse = Sparse(places=places, values=values.astype(shell.dtype), shell=shell, packed=packed)
    return _packed(sparse, table.whose) if packed else _dense(sparse)


def _seen(
    column: dict[str, list[str]], dims: Sequence[str], dtype: np.dtype[np.floating]
) -> xr.DataArray:
    """Return the shell of a table that says nothing of itself: names as they are first seen."""
    seen = {dim: list(dict.fromkeys(column[dim])) for dim in dims}
    coords: dict[str, object] = {dim: (dim, text_array(texts)) for dim, texts in seen.items()}
    whole = plain(seen[DRAW]) if DRAW in seen else None
    if whole is not None:
        coords[DRAW] = (DRAW, whole)
    return _shell(tuple(len(texts) for texts in seen.values()), dtype).assign_coords(coords)


def _array_shell(content: Content, whose: str) -> xr.DataArray:
    """Return the shell that the file describes."""
    sizes: dict[str, int] = {}
    try:
        for piece in content.pieces:
            sizes.update(zip(piece.dims, piece.values.shape, strict=True))
        described = content.more["shape"]
        if not isinstance(described, dict):
            raise ValueError("it does not say how large it is")
        shape = tuple(int(size) for size in described.values())
        dtype = np.dtype(str(content.more["type"]))
        if dtype.kind != "f" or any(sizes.get(d, s) != s for d, s in described.items()):
            raise ValueError(f"type {dtype}, shape {shape}")
    except (KeyError, TypeError, ValueError) as reason:
        raise pieces.damaged(whose, reason) from reason
    empty = Piece(
        name=PLAUSIBILITIES,
        dims=tuple(described),
        values=np.broadcast_to(dtype.type(0), shape),
    )
    return array_of(attrs.evolve(content, pieces=(empty, *content.pieces)), whose)


def _values(table: text.TextTable, kept: Sequence[int]) -> Floats:
    every = numbers(
        table,
        [table.header.index(VALUE)],
        rest="one plausibility a row",
        do="mend that column",
    )
    return every[:, 0][kept]


def _codes(table: text.TextTable, cells: Sequence[str], known: Sequence[str], dim: str) -> Ints:
    code = {name: place for place, name in enumerate(known)}
    unknown = [name for name in dict.fromkeys(cells) if name not in code]
    if unknown:
        raise InputError(
            "table-changed",
            f"{table.whose} has {several(len(unknown), dim)} that it does not know "
            f"({listed(map(quoted, unknown))})",
            expected="the names that it says it has",
            got=several(len(known), dim),
            do=f'write it again, or remove the column "{pieces.COLUMN}" (Parquet: the metadata)',
            whose=table.whose,
        )
    return np.array([code[name] for name in cells], np.int64)


def _check_once(
    table: text.TextTable, kept: Sequence[int], places: tuple[Ints, ...], shape: tuple[int, ...]
) -> None:
    # An array of codes per row, as the product of sizes may not fit 64 bits.
    order = np.lexsort(places)
    same = np.ones(max(len(kept) - 1, 0), bool)
    for codes in places:
        same &= codes[order][1:] == codes[order][:-1]
    again = [kept[row] for row in order[1:][same].tolist()]
    if again:
        row = min(again)
        names = " of ".join(quoted(table.column(dim)[row]) for dim in (LABEL, EXAMPLE))
        raise InputError(
            "plausibility-twice",
            f"{table.place(row)} names {names} again",
            expected="one row a label of an example",
            got=f"{several(len(again), 'row')} too many",
            do="keep one of them",
            whose=table.whose,
        )


def _with_totals(shell: xr.DataArray, totals: Ints, example: Ints, whose: str) -> xr.DataArray:
    found = np.zeros(shell.sizes[EXAMPLE], np.int64)
    found[example] = totals
    if (found[example] != totals).any():
        raise not_totals(whose, "several totals of one example")
    return shell.assign_coords({DENOMINATOR: (EXAMPLE, found)})


def _dense(sparse: Sparse) -> xr.DataArray:
    values = np.zeros(sparse.shell.shape, sparse.shell.dtype)
    values[sparse.places] = sparse.values
    return sparse.shell.copy(data=values)


def _packed(sparse: Sparse, whose: str) -> xr.Dataset:
    if DRAW in sparse.shell.dims:
        check_plausibilities(sparse.shell, whose=whose, draws=False)
    filled = np.flatnonzero(sparse.values != 0)
    example, label = (codes[filled] for codes in sparse.places)
    order = np.lexsort((label, example))
    example, label, values = example[order], label[order], sparse.values[filled][order]
    sizes = sparse.shell.sizes
    slots = packed_pairs(example, label, values, (sizes[EXAMPLE], sizes[LABEL]))
    fits = checked_rows(slots.weight, sparse.shell, whose)
    coords = sparse.shell.coords.to_dataset()
    if DENOMINATOR not in fits.coords:
        coords = coords.drop_vars(DENOMINATOR, errors="ignore")
    return check_packed(of_slots(slots, coords, sparse.shell.attrs))


def said_in(path: Path, table: text.TextTable) -> str | None:
    """Return what the file of a long table says of itself, None where it says nothing."""
    if table.unit != "line":
        return text.metadata(path, MARK)
    if pieces.COLUMN not in table.header:
        return None
    said = pieces.joined(table.column(pieces.COLUMN))
    if said is None:
        raise pieces.damaged(table.whose, ValueError(f'cells of column "{pieces.COLUMN}" are lost'))
    return said


def says_long(said: str | None) -> bool:
    """Return whether a file says that it is a long table of plausibilities."""
    return said is not None and f'"form": "{_LONG_FORM}"' in said[:100]


PACKED_KEYS = {EXAMPLE: "examples", LABEL_NAME: "labels"}

_PACKED_FORM = "packed"


def packed_content_of(packed: xr.Dataset) -> Content:
    """Return the variables of packed plausibilities; the file says that it holds these."""
    first = [WEIGHT, LABEL, EXAMPLE, LABEL_NAME]
    others = [str(name) for name in packed.variables if name not in first]
    variables = {name: packed.variables[name] for name in (*first, *others)}
    return Content(
        kind=KIND,
        attributes={str(name): value for name, value in packed.attrs.items()},
        pieces=tuple(pieces_of(variables, packed.coords)),
        more={"form": _PACKED_FORM},
    )


def is_content(content: Content) -> bool:
    """Return whether a file says that its plausibilities are packed."""
    return content.more.get("form") == _PACKED_FORM


def dataset_of(content: Content, whose: str) -> xr.Dataset:
    """Return packed plausibilities in a file; they are checked by who asks."""
    try:
        return xr.Dataset(
            {piece.name: piece.variable for piece in content.pieces if not piece.coordinate},
            coords={piece.name: piece.variable for piece in content.pieces if piece.coordinate},
            attrs=dict(content.attributes),
        )
    except (TypeError, ValueError, AttributeError) as reason:
        raise damaged(whose, reason) from reason


def write_packed_npz(packed: xr.Dataset, path: Path) -> None:
    """Write arrays ``weight``, ``label`` (codes), ``examples``, ``labels``, and all else."""
    pieces.write_npz(packed_content_of(packed), path, PACKED_KEYS)


def write_packed_netcdf(packed: xr.Dataset, path: Path) -> None:
    """Write the variables of the Dataset."""
    pieces.write_netcdf(packed_content_of(packed), path)


_INT64 = 2**63
_TOTAL = re.compile("[0-9]{1,19}")


def totals_of(array: xr.DataArray | xr.Dataset) -> Ints | None:
    """Return the total of each example, where there are totals."""
    return array.coords[DENOMINATOR].values if DENOMINATOR in array.coords else None


def draw_texts(array: xr.DataArray) -> list[str]:
    """Return the name of each draw: by its number, from 1, where it has none."""
    if DRAW in array.coords:
        return name_texts(array[DRAW].values)
    return [str(number + 1) for number in range(array.sizes[DRAW])]


def draw_column(draws: list[str]) -> list[str] | Ints:
    """Return names of draws as whole numbers, where they are some, else as text."""
    whole = plain(draws)
    return draws if whole is None or whole.dtype.kind != "i" else whole.astype(np.int64)


@attrs.frozen(kw_only=True, eq=False)
class _Columns:
    """The columns before those of the labels, and the rows of numbers."""

    draws: list[str] | None
    examples: list[str]
    totals: Ints | None
    labels: list[str]
    values: NDArray[Any]  # Any: float32 or float64

    @classmethod
    def of(cls, array: xr.DataArray, whose: str) -> _Columns:
        labels, examples = name_texts(array[LABEL].values), name_texts(array[EXAMPLE].values)
        check_encodable(labels, LABEL, whose)
        check_encodable(examples, EXAMPLE, whose)
        draws = draw_texts(array) if DRAW in array.dims else None
        times = 1 if draws is None else len(draws)
        totals = totals_of(array)
        return cls(
            draws=None if draws is None else [name for name in draws for _ in examples],
            examples=examples * times,
            totals=None if totals is None else np.tile(totals, times),
            labels=labels,
            values=array.values.reshape(-1, len(labels)),
        )


def write_wide_csv(array: xr.DataArray, path: Path) -> None:
    """Write a CSV, every number so long that it reads back as it was."""
    columns = _Columns.of(array, path.name)
    # A first label of this name would read back as the totals: then the column is always there.
    named = columns.totals is not None or columns.labels[0] == DENOMINATOR
    before = [
        *([] if columns.draws is None else [DRAW]),
        EXAMPLE,
        *([DENOMINATOR] if named else []),
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(line([*before, *columns.labels]))
        for row, name in enumerate(columns.examples):
            draw = [] if columns.draws is None else [columns.draws[row]]
            total = "" if columns.totals is None else int(columns.totals[row])
            shares = columns.values[row].astype(float).tolist()
            file.write(line([*draw, name, *([total] if named else []), *shares]))


def write_wide_parquet(array: xr.DataArray, path: Path) -> None:
    """Write a Parquet file: the columns of a CSV, attributes and coordinates in its metadata."""
    columns = _Columns.of(array, path.name)
    content = content_of(array, form="wide")
    entries = [
        pieces.entry(piece, path.name, key=piece.name if piece.name == PLAUSIBILITIES else None)
        for piece in content.pieces
    ]
    text.write_columns(
        path,
        [
            *([] if columns.draws is None else [DRAW]),
            EXAMPLE,
            *([] if columns.totals is None else [DENOMINATOR]),
            *columns.labels,
        ],
        [
            *([] if columns.draws is None else [draw_column(columns.draws)]),
            columns.examples,
            *([] if columns.totals is None else [columns.totals]),
            *np.ascontiguousarray(columns.values.T),
        ],
        {MARK: pieces.said(content, entries, path.name)},
    )


# ---- and back


def read_parquet(path: Path, said: str) -> xr.DataArray:
    """Return plausibilities in a wide Parquet file that says of itself what it is."""
    whose = path.name
    content = pieces.understood(said, KIND, whose)
    held = {piece.name: piece for piece in content.pieces}
    try:
        labels = name_texts(held[LABEL].values)
        names = name_texts(held[EXAMPLE].values)
        columns = text.read_columns(path, _ROLE)
        before = len(columns) - len(labels)
        rows = [column.texts() for column in columns[:before] if column.name == EXAMPLE]
        values = np.stack([column.numbers() for column in columns[before:]], axis=1)
        times, rest = divmod(len(values), len(names))
        drawn = columns[0].name == DRAW
        draws = _draws_said(held, times)
        if drawn and columns[0].texts() != [name for name in draws for _ in names]:
            raise ValueError(f"its draws are not {listed(draws)} of every example")
        if rest or rows != [names * times] or (times != 1 and not drawn):
            raise ValueError(f"it has {several(len(values), 'row')} of {len(names)} examples")
        if [column.name for column in columns[before:]] != labels:
            raise ValueError("the columns are not of its labels")
    except (KeyError, ValueError, ZeroDivisionError) as reason:
        raise pieces.damaged(whose, reason) from reason
    shape = (times, len(names), len(labels)) if drawn else (len(names), len(labels))
    return array_of(content, whose, values.reshape(shape))


def _draws_said(held: Mapping[str, pieces.Piece], times: int) -> list[str]:
    if DRAW in held:
        return name_texts(held[DRAW].values)
    return [str(number + 1) for number in range(times)]


def read_table(path: Path, head: bytes) -> xr.DataArray:
    """Return plausibilities in a table with one column a label."""
    if head.startswith(b"PAR1"):
        drawn = text.names(path)[:2] == (DRAW, EXAMPLE)
    else:
        drawn = pieces.begins(head, [DRAW, EXAMPLE])
    if drawn:
        return _read_draws(text.read_table(path, role=_ROLE, unique=False))
    found = from_table(path, _ROLE, EXAMPLE, unique=False)
    labels = found.labels or []
    if labels[:1] != [DENOMINATOR]:
        text.distinct(labels, path.name)
        return arrays.labelled(found, name=PLAUSIBILITIES)
    text.distinct(labels[1:], path.name)
    rest = attrs.evolve(found, values=found.values[:, 1:], labels=labels[1:])
    array = arrays.labelled(rest, name=PLAUSIBILITIES)
    if np.isnan(found.values[:, 0]).all():
        return array
    # Read as digits: a float64 would round totals above 2^53.
    table = text.read_table(path, role=_ROLE, unique=False)
    return as_single(array, read_totals(table.columns[table.header.index(DENOMINATOR)], path.name))


def read_totals(digits: Sequence[str], whose: str) -> Ints:
    """Return the totals in a column; errors are ``denominator-unfit``."""
    wrong = [total for total in digits if not (_TOTAL.fullmatch(total) and int(total) < _INT64)]
    if wrong:
        raise not_totals(whose, f'"{wrong[0]}"')
    return np.array([int(total) for total in digits], dtype=np.int64)


def _read_draws(table: text.TextTable) -> xr.DataArray:
    """Return ([draw], example, label) of a table with one row a draw of an example."""
    whose, header = table.whose, table.header
    named = header[2:3] == (DENOMINATOR,)
    first = 3 if named else 2
    labels = header[first:]
    text.distinct(labels, whose)
    if not len(table) or not labels:
        raise files.empty(whose, "one row a draw of an example, one column a label")
    draws, examples = table.columns[0], table.columns[1]
    draw_codes = {name: code for code, name in enumerate(dict.fromkeys(draws))}
    codes = {name: code for code, name in enumerate(dict.fromkeys(examples))}
    row_of = np.full((len(draw_codes), len(codes)), -1, np.intp)
    for row, (draw, example) in enumerate(zip(draws, examples, strict=True)):
        place = draw_codes[draw], codes[example]
        if row_of[place] >= 0:
            raise _draws_unfit(table, f"names draw {draw} of {example} twice", row)
        row_of[place] = row
    if (row_of < 0).any():
        lack = int((row_of < 0).sum())
        raise _draws_unfit(table, f"lacks {several(lack, 'row')}", None)
    rest = "draw and example, then one column of numbers a label and nothing else"
    values = numbers(
        table, range(first, len(header)), rest=rest, do="remove what is no label from the file"
    )
    whole = plain(list(draw_codes))
    array = xr.DataArray(
        values[row_of],
        dims=(DRAW, EXAMPLE, LABEL),
        coords={
            DRAW: text_array(list(draw_codes)) if whole is None else whole,
            EXAMPLE: text_array(list(codes)),
            LABEL: text_array(labels),
        },
        name=PLAUSIBILITIES,
    )
    if not named or not any(table.columns[2]):
        return array
    totals = read_totals(table.columns[2], whose)[row_of]
    if (totals != totals[0]).any():
        raise not_totals(whose, "other totals in other draws")
    return as_single(array, totals[0])


def _draws_unfit(table: text.TextTable, what: str, row: int | None) -> InputError:
    where = "" if row is None else f" (again in {table.unit} {counted(table.lines[row])})"
    return InputError(
        "draws-incomplete",
        f"{table.whose} {what}{where}",
        expected="each draw of each example, once",
        got=several(len(table), "row"),
        do="write it again, or remove the draws that are not whole",
        whose=table.whose,
    )


def as_single(array: xr.DataArray, totals: Ints) -> xr.DataArray:
    """Return the array with totals, float32 where the written shares were."""
    values = array.values
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        single = values.astype(np.float32)
        shares = np.rint(values * totals[:, None]) / totals[:, None]
    was_single = (single == values).all() and (shares != values).any()
    return with_totals(array.copy(data=single) if was_single else array, totals)


Form = Literal["wide", "long"]
"""One column a label, or one row a label that is plausible at all."""


ENDINGS = (".csv", ".parquet", ".npz", ".nc")
"""Of the files that are written."""

PACKED_ENDINGS = (".npz", ".nc")
"""Of those in which packed plausibilities stay packed."""


def check_output(path: Path, form: str = "wide") -> None:
    """Raise ``ending-unknown``, ``option-unfit`` or ``extra-missing`` before writing."""
    if path.suffix.lower() not in ENDINGS:
        raise unknown_ending(path, list(ENDINGS))
    if form != "wide":
        _check_form(form, path)
    if path.suffix.lower() == ".parquet":
        extras.require("pyarrow", extra="parquet", whose=path.name)


def write_plausibilities(
    lam: xr.DataArray | xr.Dataset, path: Path | str, *, form: Form = "wide"
) -> None:
    """Write plausibilities, or draws of them; the ending decides the format.

    Parameters
    ----------
    lam : DataArray ([draw,] example, label) or packed Dataset
        Plausibilities, as `plausibly.aggregate` gives them, with or without ``denominator``.
    path : Path or str
        ``.csv``: columns ``example``, perhaps ``denominator``, then one a label, numbers so long
        that they read back as they were; draws have a first column ``draw``. It has no place for
        attributes and further coordinates. ``.parquet``: the same columns, and the rest in the
        metadata of the file. ``.npz``: arrays ``plausibilities``, ``examples``, ``labels``, perhaps
        ``draws`` and ``denominator``, and further coordinates. ``.nc``: netCDF-3. Packed
        plausibilities stay packed in ``.npz`` and ``.nc``: ``weight`` and ``label``.
    form : {"wide", "long"}
        ``"long"``, for ``.csv`` and ``.parquet``: one row for each label that is not 0, with the
        columns ``example``, ``label``, ``plausibility``, perhaps ``draw`` before them and
        ``denominator`` after. It keeps everything, and packed plausibilities are never unpacked.

    Raises
    ------
    InputError
        ``ending-unknown``, ``option-unfit``, ``output-unwritable``, ``variable-unwritable`` and the
        like where the format cannot hold something, or what `check_plausibilities` says.

    Warns
    -----
    PlausiblyWarning
        ``attributes-lost`` where a wide CSV does not keep how plausibilities were estimated.
    """
    path = Path(path)
    writers: Mapping[str, Callable[[xr.DataArray, Path], None]] = {
        ".csv": write_wide_csv,
        ".parquet": write_wide_parquet,
        ".npz": write_npz,
        ".nc": write_netcdf,
    }
    packed_writers: Mapping[str, Callable[[xr.Dataset, Path], None]] = {
        ".npz": write_packed_npz,
        ".nc": write_packed_netcdf,
    }
    ending = path.suffix.lower()
    check_output(path, form)
    if form != "wide":
        checked = checked_long(lam)
        with replacing(path) as part:
            write(checked, part)
        return
    if isinstance(lam, xr.Dataset) and is_packed(lam) and ending in PACKED_ENDINGS:
        checked_slots = check_packed_plausibilities(lam)
        with replacing(path) as part:
            packed_writers[ending](checked_slots, part)
        return
    array = check_plausibilities(lam)
    if ending == ".csv":
        _warn_of_lost(array, path)
    with replacing(path) as part:
        writers[ending](array, part)


def unknown_ending(path: Path, endings: list[str]) -> InputError:
    """Return the error for an output whose ending says no format that we write."""
    return InputError(
        "ending-unknown",
        f"cannot tell the format of {path}",
        expected=" or ".join(endings),
        got=path.suffix or "no ending",
        do=f"-o {path.with_suffix(endings[0])}",
        whose=str(path),
    )


def _check_form(form: str, path: Path) -> None:
    if form != "long":
        got, do = f'form "{form}"', 'form="long", or leave it out'
    elif path.suffix.lower() not in (".csv", ".parquet"):
        got, do = f"the ending {path.suffix}", f"-o {path.with_suffix('.parquet')}, or form wide"
    else:
        return
    raise InputError(
        "option-unfit",
        f"{path.name}: plausibilities are not written in this form",
        expected='form "wide", or "long" for .csv and .parquet',
        got=got,
        do=do,
        whose=str(path),
    )


def _warn_of_lost(array: xr.DataArray, path: Path) -> None:
    """Warn of attributes without which a guarantee would say less than it should."""
    lost = [name for name in (JOINT, CONVERGENCE) if name in array.attrs]
    if lost:
        warn(
            "attributes-lost",
            f"{path.name} does not keep {listed(lost)}: how the plausibilities were estimated",
            expected="a format that does: guarantees then say that they are estimates",
            got="a wide CSV",
            do=f"-o {path.with_suffix('.parquet').name}, {path.with_suffix('.npz').name} or "
            f'{path.with_suffix(".nc").name} (or form="long")',
            whose=path.name,
            details={"attributes": lost},
            stacklevel=3,
        )


@overload
def read_plausibilities(path: Path | str, *, packed: Literal[False] = False) -> xr.DataArray: ...


@overload
def read_plausibilities(path: Path | str, *, packed: Literal[True]) -> xr.Dataset: ...


@overload
def read_plausibilities(path: Path | str, *, packed: None) -> xr.DataArray | xr.Dataset: ...


def read_plausibilities(
    path: Path | str, *, packed: bool | None = False
) -> xr.DataArray | xr.Dataset:
    """Read plausibilities that `write_plausibilities` wrote, or that have the same form.

    Parameters
    ----------
    path : Path or str
        CSV, TSV or Parquet, wide or long, npz, or netCDF, told by what is in it.
    packed : bool or None
        Return the packed form; of a file of packed plausibilities or a long table, without
        unpacking it on the way. None: in the form that takes less: packed where the file is, and
        of a long table of more than 32 labels.

    Returns
    -------
    DataArray, ([draw,] example, label), or packed Dataset
        Rows sum to 1; coordinate ``denominator`` over ``example`` where the file has it.

    Raises
    ------
    InputError
        With the name of the file and the rows.
    """
    path = Path(path)
    found = _read(path, packed=packed)
    if isinstance(found, xr.Dataset):
        checked = check_packed_plausibilities(found, whose=path.name)
        return unpack(checked) if packed is False else checked
    array = check_plausibilities(found, whose=path.name, draws=not packed)
    return pack(array) if packed else array


def _of_content(found: xr.DataArray | Content, whose: str) -> xr.DataArray | xr.Dataset:
    """Return the plausibilities that a file of ours holds, packed where they were."""
    if not isinstance(found, Content):
        return found
    if is_content(found):
        return dataset_of(found, whose)
    return array_of(found, whose)


def _read(path: Path, *, packed: bool | None) -> xr.DataArray | xr.Dataset:
    head = files.opening(path, _ROLE)
    if head.startswith(arrays.SIGNATURES):
        return _of_content(read_netcdf(path), path.name)
    if path.suffix.lower() == ".npz" or head.startswith(b"PK"):
        return _of_content(read_npz(path), path.name)
    said = text.metadata(path, MARK) if head.startswith(b"PAR1") else None
    if said is not None and not says_long(said):
        return read_parquet(path, said)
    if said is not None or head.startswith(b"PAR1") or may_be_long(head):
        table = text.read_table(path, role=_ROLE, unique=False)
        if said is not None or is_long(table):
            said = said_in(path, table)
            return read(table, said, packed=packed)
    return read_table(path, head)
