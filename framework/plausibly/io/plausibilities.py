"""Plausibilities and draws of them in files, exact when read back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias, overload

import attrs
import numpy as np
import pandas as pd
import xarray as xr

from plausibly.atomic import replacing
from plausibly.data import names
from plausibly.data.names import (
    AUGMENTATION,
    CONVERGENCE,
    DENOMINATOR,
    DRAW,
    EXAMPLE,
    JOINT,
    LABEL,
    LABEL_NAME,
    PLAUSIBILITIES,
    name_texts,
    positions,
    quoted,
    several,
    text_array,
)
from plausibly.data.plausibilities import (
    FEW_LABELS,
    Plausibilities,
    check_plausibilities,
    check_sparse,
    is_sparse,
    mean_over_draws,
    sparse_dataset,
    to_sparse,
)
from plausibly.data.text_table import TextTable
from plausibly.errors import InputError, listed, warn
from plausibly.io import arrays, datasets, files, text
from plausibly.io.arrays import Array, Wanted
from plausibly.io.datasets import ABOUT, MARK, damaged
from plausibly.io.label_tables import as_values
from plausibly.io.text import numbers, plain, value_of
from plausibly.kernels.sparse import Sparse
from plausibly.kernels.types import Floats, Ints

VALUE = "plausibility"

_KIND = _ROLE = "plausibilities"
_USUAL = (PLAUSIBILITIES, "plausibility")
_FORM, _LONG, _SPARSE = "form", "long", "sparse"


def _array_of(dataset: xr.Dataset, source: str) -> xr.DataArray:
    """Return the plausibilities in a Dataset, whose attributes are theirs."""
    array = dataset.get(PLAUSIBILITIES)
    if array is None or len(array.coords) + 1 < len(dataset.variables):
        raise damaged(source, "no plausibilities, or a coordinate of other dims")
    return array.assign_attrs(dataset.attrs)


def _read_arrays(path: Path, head: bytes) -> xr.DataArray | xr.Dataset:
    """Return plausibilities in an npz or netCDF file, sparse where ours says so."""
    about, held = datasets.read_arrays(path, _ROLE, head)
    if about is not None:
        dataset, more = datasets.decode(about, _KIND, path.name, held)
        if more.get(_FORM) == _SPARSE:
            return dataset
        return _array_of(dataset, path.name)
    if head.startswith(files.NETCDF):
        data = arrays.from_netcdf(path, _ROLE, None, _USUAL)
    else:
        data = arrays.from_npz(path, _ROLE, _USUAL)
    array = arrays.labelled(data, name=PLAUSIBILITIES).assign_attrs(data.attributes)
    totals = held.get(DENOMINATOR)
    if totals is None:
        return array
    if totals.shape != array.shape[:1] or totals.dtype.kind not in "iu":
        raise _not_totals(path.name, f"shape {totals.shape}, type {totals.dtype}")
    return array.assign_coords({DENOMINATOR: (EXAMPLE, totals.astype(np.int64))})


def _not_totals(source: str, found: str) -> InputError:
    return InputError(
        "denominator-unfit",
        f"{source}: {DENOMINATOR} is not one total per example",
        expected="whole numbers, one per row",
        found=found,
        hint=f"fix {DENOMINATOR}, or leave it out",
        source=source,
    )


def _read_totals(digits: Sequence[str], source: str) -> Ints:
    for total in digits:
        if not (re.fullmatch("[0-9]{1,19}", total) and int(total) < 2**63):
            raise _not_totals(source, f'"{total}"')
    return np.array([int(total) for total in digits], dtype=np.int64)


def _names(array: xr.DataArray | xr.Dataset, dim: str, size: int) -> list[str]:
    """Return the names along a dim; those of draws are numbers from 1, where they have none."""
    if dim == DRAW and DRAW not in array.coords:
        return [str(number + 1) for number in range(size)]
    return name_texts(array[dim].values)


def _draw_column(draws: list[str]) -> list[str] | Ints:
    """Return names of draws as whole numbers, where they are some, else as text."""
    whole = plain(draws)
    return draws if whole is None or whole.dtype.kind != "i" else whole.astype(np.int64)


_Rows: TypeAlias = tuple[list[str], list[Sequence[str | None] | Array], str]
"""The header and the columns of a table, and what it says of itself."""


def _wide(array: xr.DataArray, path: Path) -> _Rows:
    """Return the rows of a CSV, or a Parquet file with the rest in its metadata."""
    labels, examples = (name_texts(array[dim].values) for dim in (LABEL, EXAMPLE))
    values = array.values.reshape(-1, len(labels))
    times = len(values) // len(examples)
    before: dict[str, Sequence[str | None] | Array] = {}
    if DRAW in array.dims:
        draws = _names(array, DRAW, times)
        before[DRAW] = _draw_column([name for name in draws for _ in examples])
    before[EXAMPLE] = examples * times
    csv = path.suffix.lower() == ".csv"
    if DENOMINATOR in array.coords:
        before[DENOMINATOR] = np.tile(array.coords[DENOMINATOR].values, times)
    elif csv and labels[0] == DENOMINATOR:
        # It would read back as the totals: so their column is there too.
        before[DENOMINATOR] = [""] * len(values)
    beside = array.coords.to_dataset().assign_attrs(array.attrs)
    kept = values.dtype.newbyteorder("<").str
    about = "" if csv else datasets.encode(beside, _KIND, path.name, {}, form="wide", type=kept)
    return [*before, *labels], [*before.values(), *np.ascontiguousarray(values.T)], about


def _read_wide(path: Path, head: bytes, about: str | None) -> xr.DataArray:
    """Return plausibilities in a table with one column per label."""
    source = path.name
    drawn = datasets.begins(path, head, [DRAW, EXAMPLE])
    view = DRAW if drawn else None
    wanted = Wanted(EXAMPLE, view, plausibilities=True, ours=about is not None)
    data = arrays.from_table(path, _ROLE, wanted)
    values, labels = data.values, data.labels or []
    if about is not None:
        known, more = datasets.decode(about, _KIND, source)
        first = len(labels) - known.sizes.get(LABEL, 0)
        here = {EXAMPLE: data.examples, LABEL: labels[first:]}
        here |= {DRAW: data.augmentations} if drawn else {}
        try:
            for dim, texts in here.items():
                named = _names(known, dim, len(values))
                if texts != named:
                    raise ValueError(f"its {dim}s are not {listed(named)}")
            dims = (EXAMPLE, LABEL) if not drawn else (DRAW, EXAMPLE, LABEL)
            values = values[..., first:].astype(np.dtype(str(more["type"])))
            return _array_of(known.assign({PLAUSIBILITIES: (dims, values)}), source)
        except (KeyError, TypeError, ValueError, SyntaxError) as reason:
            raise damaged(source, reason) from reason
    first = int(labels[:1] == [DENOMINATOR])
    text.distinct(labels[first:], source)
    rest = attrs.evolve(data, values=values[..., first:], labels=labels[first:])
    array = arrays.labelled(rest, name=PLAUSIBILITIES)
    if drawn:
        array = array.rename({AUGMENTATION: DRAW})
        array[DRAW] = as_values(data.augmentations or [])
    if not first or np.isnan(values[..., 0]).all():
        return array
    # Read as digits: a float64 would round totals above 2^53.
    table = text.read_table(path, role=_ROLE, unique=False)
    pairs = set(zip(table.column(EXAMPLE), table.column(DENOMINATOR), strict=True))
    if len(pairs) > array.sizes[EXAMPLE]:
        raise _not_totals(source, "other totals in other draws")
    total = dict(pairs)
    counts = _read_totals([total[name] for name in data.examples or []], source)
    return array.assign_coords({DENOMINATOR: (EXAMPLE, counts)})


def _long(plausibilities: xr.DataArray | xr.Dataset, path: Path) -> _Rows:
    """Return the rows of a long table; sparse plausibilities are never made dense."""
    if is_sparse(plausibilities):
        plausibilities = check_sparse(plausibilities, "plausibilities")
        weight, code = plausibilities[names.WEIGHT].values, plausibilities[LABEL].values
        example, slot = np.nonzero(code >= 0)
        places: tuple[Ints, ...] = (example, code[example, slot])
        values: Floats = weight[example, slot]
        sizes = {EXAMPLE: len(weight), LABEL: plausibilities.sizes[LABEL_NAME]}
        beside = Plausibilities.of(plausibilities).about
    else:
        array = check_plausibilities(plausibilities)
        values = array.values
        # A negative zero is kept too: it is another bit.
        places = np.nonzero((values != 0) | np.signbit(values))
        values = values[places]
        sizes = {str(dim): size for dim, size in array.sizes.items()}
        beside = array.coords.to_dataset().assign_attrs(array.attrs)
    columns: dict[str, Sequence[str | None] | Array] = {}
    for (dim, size), codes in zip(sizes.items(), places, strict=True):
        texts = _names(beside, dim, size)
        cells = [texts[code] for code in codes.tolist()]
        columns[dim] = _draw_column(cells) if dim == DRAW else cells
    columns[VALUE] = values
    if DENOMINATOR in beside.coords:
        columns[DENOMINATOR] = beside.coords[DENOMINATOR].values[places[-2]]
    beside = beside.drop_vars(DENOMINATOR, errors="ignore")
    kept = values.dtype.newbyteorder("<").str
    about = datasets.encode(beside, _KIND, path.name, {}, form=_LONG, type=kept)
    return list(columns), list(columns.values()), about


_HEADERS = ([EXAMPLE, LABEL, VALUE], [DRAW, EXAMPLE, LABEL, VALUE])


def _is_long(table: TextTable) -> bool:
    """Return whether a table is long; a wide one may have labels of the same names."""
    header = list(table.header)
    first = next((names for names in _HEADERS if header[: len(names)] == names), None)
    if first is None or not set(header[len(first) :]) <= {DENOMINATOR, ABOUT} or not len(table):
        return False
    if ABOUT in header:
        return any(re.match(r"1/[1-9][0-9]* \{", cell) for cell in table.column(ABOUT))
    rows = set(zip(*(table.column(name) for name in first[:-2]), strict=True))
    return len(rows) < len(table) or any(value_of(cell) is None for cell in table.column(LABEL))


def _read_long(
    table: TextTable, about: str | None, *, sparse: bool | None
) -> xr.DataArray | xr.Dataset:
    """Return plausibilities in a long table, sparse where that is asked for."""
    source, drawn = table.source, table.header[0] == DRAW
    dims = (DRAW, EXAMPLE, LABEL) if drawn else (EXAMPLE, LABEL)
    if not {*dims, VALUE} <= {*table.header} - {*table.nested}:
        raise damaged(source, f"its columns are {listed(table.header)}")
    if about is None and ABOUT in table.header:
        raise damaged(source, f'cells of column "{ABOUT}" are lost')
    column = {name: table.column(name) for name in dims}
    place = table.header.index(VALUE)
    rest = "one plausibility per row"
    values = numbers(table, [place], rest=rest, hint="fix that column")[:, 0]
    seen = {dim: list(dict.fromkeys(texts)) for dim, texts in column.items()}
    if about is None:  # names as they are first seen
        beside = xr.Dataset(coords={dim: text_array(texts) for dim, texts in seen.items()})
        if drawn:
            beside[DRAW] = as_values(seen[DRAW])
    else:
        beside, more = datasets.decode(about, _KIND, source)
        try:
            values = values.astype(np.dtype(str(more["type"])))
            if values.dtype.kind != "f" or not {*beside.indexes} >= {EXAMPLE, LABEL}:
                raise ValueError(f"{values.dtype}, names of {listed(beside.indexes)}")
        except (KeyError, TypeError, ValueError, SyntaxError) as reason:
            raise damaged(source, reason) from reason
    # Draws may have no names; each has rows.
    sizes = {dim: beside.sizes.get(dim, len(texts)) for dim, texts in seen.items()}
    places = []
    for dim, cells in column.items():
        known = _names(beside, dim, sizes[dim])
        places.append(positions(known, cells))
        unknown = list(dict.fromkeys(cells[row] for row in np.flatnonzero(places[-1] < 0)))
        if unknown:
            raise damaged(source, f"{dim}s that it does not know: {listed(map(quoted, unknown))}")
    again = np.flatnonzero(pd.DataFrame(dict(enumerate(places))).duplicated())
    if again.size:
        row = int(again[0])
        raise InputError(
            "plausibility-twice",
            f"{table.place(row)} has a second row of a label of an example",
            expected="one row per label of an example",
            found=f"{several(again.size, 'row')} too many",
            hint="keep one of them",
            source=source,
        )
    example, label = places[-2:]
    if DENOMINATOR in table.header:
        totals = _read_totals(table.column(DENOMINATOR), source)
        denominator = np.zeros(sizes[EXAMPLE], np.int64)
        denominator[example] = totals
        if (denominator[example] != totals).any():
            raise _not_totals(source, "several totals of one example")
        beside = beside.assign_coords({DENOMINATOR: (EXAMPLE, denominator)})
    shape = tuple(sizes.values())
    if sparse is None:
        sparse = sizes[LABEL] > FEW_LABELS
    # As large as the array has to look, of one number, for what is checked of its coordinates.
    shell = np.broadcast_to(values.dtype.type(0), shape)
    array = _array_of(beside.assign({PLAUSIBILITIES: (dims, shell)}), source)
    if not sparse or drawn:
        dense = np.zeros(shape, values.dtype)
        dense[tuple(places)] = values
        return array.copy(data=dense)
    filled = np.flatnonzero(values)
    order = filled[np.lexsort((label[filled], example[filled]))]
    slots = Sparse.of_pairs(example[order], label[order], values[order], (shape[0], shape[1]))
    return sparse_dataset(slots, array.coords.to_dataset(), array.attrs)


Form = Literal["wide", "long"]
"""One column per label, or one row per label that is plausible at all."""


def check_output(path: Path, form: str = "wide") -> None:
    """Raise ``ending-unknown``, ``option-unfit`` or ``extra-missing`` before writing."""
    ending = files.check_ending(path, datasets.ENDINGS)
    found, hint = f'form "{form}"', 'form="long", or leave it out'
    if form == "long":
        found, hint = f"the ending {ending}", f'path="{path.with_suffix(".parquet")}", or form wide'
    if form != "wide" and (form != "long" or ending in datasets.ARRAY_ENDINGS):
        expected = 'form "wide", or "long" for .csv and .parquet'
        raise files.meaningless(path.name, "form", found, expected, hint)


def write_plausibilities(
    lam: xr.DataArray | xr.Dataset, path: Path | str, *, form: Form = "wide"
) -> None:
    """Write plausibilities, or draws of them; the ending decides the format.

    Parameters
    ----------
    lam : DataArray ([draw,] example, label) or sparse Dataset
        Plausibilities, as `plausibly.aggregate` gives them, with or without ``denominator``.
    path : Path or str
        ``.csv``, ``.parquet``, ``.npz`` or ``.nc``; the page on files says what each format keeps.
        A CSV has columns ``example``, perhaps ``denominator``, then one per label, behind a column
        ``draw`` where they were drawn, and no place for attributes and further coordinates.
    form : {"wide", "long"}
        ``"long"``, for ``.csv`` and ``.parquet``: one row for each label that is not 0. It keeps
        everything, and sparse plausibilities are never dense.

    Raises
    ------
    InputError
        ``ending-unknown``, ``option-unfit``, ``output-unwritable``, ``value-unwritable`` and the
        like where the format cannot hold something, or what `check_plausibilities` says.

    Warns
    -----
    PlausiblyWarning
        ``attributes-lost`` where a wide CSV does not keep how plausibilities were estimated.
    """
    path = Path(path)
    check_output(path, form)
    in_arrays = path.suffix.lower() in datasets.ARRAY_ENDINGS
    keys = {EXAMPLE: "examples", LABEL: "labels", DRAW: "draws"}
    more: dict[str, object] = {}
    if form != "wide":
        rows = _long(lam, path)
    elif in_arrays and is_sparse(lam):
        whole = check_sparse(lam, "plausibilities")
        keys, more = {EXAMPLE: "examples", LABEL_NAME: "labels"}, {_FORM: _SPARSE}
    else:
        array = check_plausibilities(lam)
        if in_arrays:
            bare = array.drop_attrs(deep=False)
            whole = bare.to_dataset(name=PLAUSIBILITIES).assign_attrs(array.attrs)
        else:
            rows = _wide(array, path)
        lost = [name for name in (JOINT, CONVERGENCE) if name in array.attrs]
        if lost and path.suffix.lower() == ".csv":  # guarantees would say less than they should
            warn(
                "attributes-lost",
                f"{path.name} does not keep {listed(lost)}: how the plausibilities were estimated",
                expected="a format that does: guarantees then say that they are estimates",
                found="a wide CSV",
                hint=f'path="{path.with_suffix(".parquet").name}", .npz or .nc, or form long',
                source=path.name,
                details={"attributes": lost},
            )
    with replacing(path) as part:
        if in_arrays:
            datasets.write_arrays(whole, _KIND, part, keys, **more)
        else:
            datasets.write_rows(part, *rows)


@overload
def read_plausibilities(path: Path | str, *, sparse: Literal[False] = False) -> xr.DataArray: ...


@overload
def read_plausibilities(path: Path | str, *, sparse: Literal[True]) -> xr.Dataset: ...


@overload
def read_plausibilities(path: Path | str, *, sparse: None) -> xr.DataArray | xr.Dataset: ...


def read_plausibilities(
    path: Path | str, *, sparse: bool | None = False
) -> xr.DataArray | xr.Dataset:
    """Read plausibilities that `write_plausibilities` wrote, or that have the same form.

    Parameters
    ----------
    path : Path or str
        CSV, TSV or Parquet, wide or long, npz, or netCDF, recognised by what is in it.
    sparse : bool or None
        Return the sparse form; of a file of sparse plausibilities or a long table, without
        making it dense on the way. None: in the form that takes less: sparse where the file is, and
        of a long table of more than 32 labels.

    Returns
    -------
    DataArray, ([draw,] example, label), or sparse Dataset
        Rows sum to 1; coordinate ``denominator`` over ``example`` where the file has it.

    Raises
    ------
    InputError
        With the name of the file and the rows.
    """
    path = Path(path)
    plausibilities: xr.DataArray | xr.Dataset | None = None
    head = files.opening(path, _ROLE)
    if head.startswith((*files.NETCDF, b"PK")) or path.suffix.lower() == ".npz":
        plausibilities = _read_arrays(path, head)
    else:
        parquet = head.startswith(b"PAR1")
        about = text.metadata(path, MARK) if parquet else None
        long = about is None or f'"{_FORM}": "{_LONG}"' in about[:100]
        if long and (parquet or any(datasets.begins(path, head, names) for names in _HEADERS)):
            table, about = datasets.read_rows(path, _ROLE)
            if about is not None or _is_long(table):
                plausibilities = _read_long(table, about, sparse=sparse)
        if plausibilities is None:
            plausibilities = _read_wide(path, head, about)
    if isinstance(plausibilities, xr.Dataset):
        checked = Plausibilities.from_xarray(plausibilities, source=path.name).array
        return mean_over_draws(checked) if sparse is False else checked
    array = check_plausibilities(plausibilities, source=path.name, draws=not sparse)
    return to_sparse(array) if sparse else array
