"""Plausibilities as a long table: one row for each label of an example that is not 0.

What rows cannot say (labels that are 0 everywhere, the order of labels, types, attributes, further
coordinates) is in the column ``about`` of a CSV, and in the metadata of a Parquet file. A table
without it has the labels that it names, in the order in which they first come.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import attrs
import numpy as np
import xarray as xr

from plausibly.conformal.aggregate import FEW_LABELS
from plausibly.data import names
from plausibly.data.names import (
    DENOMINATOR,
    DRAW,
    EXAMPLE,
    LABEL,
    PLAUSIBILITIES,
    name_texts,
    quoted,
    several,
    text_array,
)
from plausibly.data.plausibilities import about_packed, check_packed, is_packed, of_slots
from plausibly.data.validate import check_plausibilities, checked_rows
from plausibly.errors import InputError, listed
from plausibly.io import about, parquet, pieces, text
from plausibly.io.annotation_rows import Columns, write_csv, write_parquet
from plausibly.io.exact_json import check_encodable
from plausibly.io.numbers import numbers, plain, value_of
from plausibly.io.pieces import MARK, Content, Piece
from plausibly.io.plausibilities_arrays import KIND, array_of, content_of, not_totals
from plausibly.io.plausibilities_wide import draw_column, draw_texts, read_totals, totals_of
from plausibly.kernels.sparse import packed_pairs
from plausibly.kernels.types import Floats, Ints

VALUE = "plausibility"

_ROLE = "plausibilities"
_FORM = "long"
_OTHERS = frozenset({DENOMINATOR, about.COLUMN})


@attrs.frozen(kw_only=True, eq=False)
class Sparse:
    """The entries that are not 0, and what else there is.

    Attributes
    ----------
    places : tuple of ndarray of int, (entry,)
        Codes over the dims, ([draw,] example, label).
    values : ndarray of float, (entry,)
    shell : DataArray, ([draw,] example, label)
        Coordinates, attributes and type; its values mean nothing, and take no memory.
    packed : bool
        Whether the plausibilities were packed.
    """

    places: tuple[Ints, ...]
    values: Floats
    shell: xr.DataArray
    packed: bool = False


def checked(lam: xr.DataArray | xr.Dataset) -> Sparse:
    """Return plausibilities that are fit to be written; packed ones are never unpacked.

    Raises
    ------
    InputError
        What `check_packed` and `check_plausibilities` say.
    """
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
    """Write a CSV or Parquet file, by the ending.

    Raises
    ------
    InputError
        ``name-unwritable``, ``variable-unwritable`` or ``attribute-unwritable``.
    """
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
        form=_FORM,
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
    return any(about.begins(head, names) for names in _HEADERS)


def is_long(table: text.TextTable) -> bool:
    """Return whether a table is long; a wide one may have labels of the same names."""
    header = list(table.header)
    first = next((names for names in _HEADERS if header[: len(names)] == names), None)
    if first is None or not set(header[len(first) :]) <= _OTHERS or not len(table):
        return False
    if about.COLUMN in header:
        return any(map(about.opens, table.column(about.COLUMN)))
    rows = set(zip(*(table.column(name) for name in first[:-2]), strict=True))
    return len(rows) < len(table) or any(value_of(cell) is None for cell in table.column(LABEL))


def read(
    table: text.TextTable, said: str | None, *, packed: bool | None
) -> xr.DataArray | xr.Dataset:
    """Return plausibilities in a long table, packed where that is asked for.

    Parameters
    ----------
    table : TextTable
    said : str or None
        What the file says of itself.
    packed : bool or None
        None: where it has more than `FEW_LABELS`, and no draws.

    Raises
    ------
    InputError
        ``plausibility-twice``, ``plausibilities-incomplete``, ``denominator-unfit``,
        ``number-unreadable`` or ``file-damaged``.
    """
    drawn = table.header[0] == DRAW
    dims = (DRAW, EXAMPLE, LABEL) if drawn else (EXAMPLE, LABEL)
    # Rows of which only the last column says something: the rest of what the file says of itself.
    kept = [row for row, cell in enumerate(table.column(EXAMPLE)) if cell]
    column = {name: [table.column(name)[row] for row in kept] for name in dims}
    values = _values(table, kept)
    if said is None:
        shell = _seen(column, dims, values.dtype)
    else:
        shell = _said(pieces.understood(said, KIND, table.whose), table.whose)
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


def _said(content: Content, whose: str) -> xr.DataArray:
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
            do=f'write it again, or remove the column "{about.COLUMN}" (Parquet: the metadata)',
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
        return parquet.metadata(path, MARK)
    if about.COLUMN not in table.header:
        return None
    said = about.joined(table.column(about.COLUMN))
    if said is None:
        raise pieces.damaged(table.whose, ValueError(f'cells of column "{about.COLUMN}" are lost'))
    return said


def says_long(said: str | None) -> bool:
    """Return whether a file says that it is a long table of plausibilities."""
    return said is not None and f'"form": "{_FORM}"' in said[:100]
