"""Arrays over examples and labels out of files, with the names that the files give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.errors import InputError, counted, listed
from plausibly.io import files, netcdf, numpy_files, parquet, text
from plausibly.io.numbers import numbers
from plausibly.io.tables import Names, names_of, table_from, with_coordinates
from plausibly.labelled.names import EXAMPLE, LABEL
from plausibly.labelled.near import near
from plausibly.labelled.text import check_names, name_texts, quoted, several, text_array

LABEL_ARRAYS = ("labels", "label_names", "class_names")
EXAMPLE_ARRAYS = ("examples", "names")
_REST = "a column of example names, then one column of numbers a label and nothing else"


@attrs.frozen(kw_only=True, eq=False)
class NamedArray:
    """Numbers over examples and labels, with the names that their file gives.

    Attributes
    ----------
    values : ndarray, (example, label)
        The numbers, of the file's type.
    examples, labels : list of str or None
        Names, where the file has them.
    whose : str
        Name of the file.
    coordinates : dict
        Further coordinates over ``example`` or ``label``.
    attributes : dict
        Attributes of the array, where the file has them.
    """

    values: NDArray[Any]  # Any: the type is the file's
    examples: list[str] | None
    labels: list[str] | None
    whose: str
    coordinates: Mapping[str, xr.DataArray] = attrs.field(factory=dict)
    attributes: Mapping[str, object] = attrs.field(factory=dict)


def two_dims(values: NDArray[Any], whose: str) -> NDArray[Any]:  # Any: the type is the file's
    """Return numbers over (example, label), or raise ``array-shape``."""
    if values.ndim != 2 or values.dtype.kind not in "iufb" or 0 in values.shape:
        raise InputError(
            "array-shape",
            f"{whose} holds no table of numbers",
            expected="two dimensions, example and label, both with entries",
            got=f"shape {values.shape}, type {values.dtype}",
            do="save an array with one row an example and one column a label",
            whose=whose,
        )
    return values


def from_npy(path: Path, role: str) -> NamedArray:
    """Read an ``.npy`` file: numbers without names."""
    values = two_dims(numpy_files.read_npy(path, role), path.name)
    return NamedArray(values=values, examples=None, labels=None, whose=path.name)


def from_npz(path: Path, role: str, arrays: tuple[str, ...]) -> NamedArray:
    """Read the one array of an ``.npz`` file that has one of the names `arrays`, and its names."""
    whose = path.name
    stored = numpy_files.read_npz(path, role)
    values = two_dims(numpy_files.one_of(stored, arrays, whose), whose)
    named: list[list[str] | None] = []
    for names, size in ((EXAMPLE_ARRAYS, values.shape[0]), (LABEL_ARRAYS, values.shape[1])):
        if not any(name in stored for name in names):
            named.append(None)
            continue
        texts = numpy_files.texts(numpy_files.one_of(stored, names, whose), whose, names[0])
        _check_count(texts, size, whose, names[0])
        named.append(texts)
    return NamedArray(values=values, examples=named[0], labels=named[1], whose=whose)


def from_netcdf(path: Path, role: str, variable: str | None, usual: tuple[str, ...]) -> NamedArray:
    """Read a variable over ``example`` and ``label`` of a netCDF file."""
    array = netcdf.variable_of(netcdf.load(path, role), variable, usual, path.name)
    values = two_dims(array.values, path.name)
    coordinates = {str(name): values for name, values in array.coords.items()}
    examples, labels = (
        numpy_files.texts(coordinates.pop(dim).values, path.name, f"{dim}s")
        if dim in coordinates
        else None
        for dim in (EXAMPLE, LABEL)
    )
    native = values.astype(values.dtype.newbyteorder("="), copy=False)
    return NamedArray(
        values=native,
        examples=examples,
        labels=labels,
        whose=path.name,
        coordinates=coordinates,
        attributes={str(name): value for name, value in array.attrs.items()},
    )


def _columns(
    header: Sequence[str], example: str, whose: str, *, unique: bool
) -> tuple[int, list[int]]:
    """Return the position of the names, and those of the numbers."""
    names = header.index(example)
    rest = [position for position in range(len(header)) if position != names]
    if unique:
        text.distinct([header[position] for position in rest], whose)
    if not rest:
        raise InputError(
            "columns-missing",
            f"{whose} has no column of numbers",
            expected=_REST,
            got=f"only {quoted(example)}",
            do="add one column a label",
            whose=whose,
        )
    return names, rest


def _name_hint(header: Sequence[str], example: str) -> str:
    guess = near(example, header) or (header[0] if header else example)
    return f"--example {quoted(guess)}, if that column names the examples"


def from_table(path: Path, role: str, example: str, *, unique: bool = True) -> NamedArray:
    """Read a CSV, TSV or Parquet file: a column of example names, then a column a label.

    The first column called `example` has the names; a label may be called so too. `unique` False
    leaves it to the caller to look for labels that repeat.
    """
    whose = path.name
    if files.opening(path, role, 4) == b"PAR1":
        return _from_parquet(path, role, example, unique=unique)
    table = text.read_text(path, role=role, unique=False)
    table.need([example], do=_name_hint(table.header, example))
    place, rest = _columns(table.header, example, whose, unique=unique)
    if not len(table):
        raise files.empty(whose, "one row an example", "a header and no rows")
    names = table.columns[place]
    unnamed = [row for row, name in enumerate(names) if not name]
    if unnamed:
        raise InputError(
            "example-unnamed",
            f"{whose} has no example name in {table.places(unnamed)}",
            expected=f"a name in column {quoted(example)}",
            got="an empty cell",
            do="name it, or remove the row",
            whose=whose,
            details={"lines": [table.lines[row] for row in unnamed]},
        )
    values = numbers(table, rest, rest=_REST, do="remove what is no label from the file")
    labels = [table.header[position] for position in rest]
    return NamedArray(values=values, examples=names, labels=labels, whose=whose)


def _from_parquet(path: Path, role: str, example: str, *, unique: bool) -> NamedArray:
    whose = path.name
    columns = parquet.read_columns(path, role)
    header = tuple(column.name for column in columns)
    nothing: tuple[list[str], ...] = tuple([] for _ in header)
    shell = text.TextTable(whose=whose, header=header, columns=nothing, lines=())
    shell.need([example], do=_name_hint(header, example))
    place, rest = _columns(header, example, whose, unique=unique)
    words = [columns[position] for position in rest if columns[position].content != "number"]
    if words:
        raise InputError(
            "columns-not-numeric",
            f"{whose} holds no numbers in column{'s' if len(words) > 1 else ''} "
            f"{listed(quoted(column.name) for column in words)}",
            expected=_REST,
            got=listed(column.type for column in words),
            do="remove what is no label from the file",
            whose=whose,
            details={"columns": [column.name for column in words]},
        )
    arrays = [columns[position].numbers() for position in rest]
    single = all(array.dtype == np.float32 for array in arrays)
    values = np.stack(arrays, axis=1).astype(np.float32 if single else np.float64, copy=False)
    names = columns[place].texts()
    if not names:
        raise files.empty(whose, "one row an example", "columns without rows")
    labels = [header[position] for position in rest]
    return NamedArray(values=values, examples=names, labels=labels, whose=whose)


def _check_count(texts: Sequence[str], size: int, whose: str, what: str) -> None:
    if len(texts) != size:
        dim = "column" if what in LABEL_ARRAYS else "row"
        raise InputError(
            "names-count",
            f"{whose} has {several(size, dim)} and {counted(len(texts))} {what}",
            expected=f"one name a {dim}",
            got=listed(texts) or "none",
            do=f"name every {dim} once, in order",
            whose=whose,
        )


def labelled(
    found: NamedArray, *, labels: Names | None = None, examples: Names | None = None, name: str
) -> xr.DataArray:
    """Return the numbers under names: the file's own, else those that were given.

    Parameters
    ----------
    found : NamedArray
        What the file holds.
    labels : names, optional
        Of the labels, in column order where the file names none; else see `declared`.
    examples : names, optional
        Of the examples where the file names none; else they are ``"0"``, ``"1"``, …
    name : str
        Name of the array.

    Raises
    ------
    InputError
        ``labels-unnamed`` where nobody names the labels, ``names-count``, ``examples-named`` where
        both the file and the caller name the examples, or ``label-twice``.
    """
    whose, size = found.whose, found.values.shape
    if found.labels is None and labels is None:
        raise InputError(
            "labels-unnamed",
            f"{whose} has {several(size[1], 'column')} and no label names",
            expected="names in column order; an order is never guessed",
            do="--labels labels.txt (one name a line)",
            whose=whose,
        )
    if found.examples is not None and examples is not None:
        raise InputError(
            "examples-named",
            f"{whose} names its examples itself",
            expected="names for a file without them",
            got=f"{listed(found.examples)} in the file",
            do="leave examples out; plausibly.io.with_coordinates attaches their coordinates",
            whose=whose,
        )
    tables: list[xr.Dataset] = []
    columns = found.labels
    if columns is None and labels is not None:
        tables.append(table_from(labels, LABEL))
        columns = names_of(tables[-1], LABEL)
        _check_count(columns, size[1], whose, "labels")
    rows = found.examples
    if examples is not None:
        tables.append(table_from(examples, EXAMPLE))
        rows = names_of(tables[-1], EXAMPLE)
        _check_count(rows, size[0], whose, "examples")
    elif rows is None:
        rows = [str(row) for row in range(size[0])]
    check_names(columns or [], LABEL, whose=whose)
    array = xr.DataArray(
        found.values,
        dims=(EXAMPLE, LABEL),
        coords={
            EXAMPLE: (EXAMPLE, text_array(rows)),
            LABEL: (LABEL, text_array(columns or [])),
            **{key: (value.dims, value.values) for key, value in found.coordinates.items()},
        },
        name=name,
    )
    for table in tables:
        array = with_coordinates(array, table)
    return array


def declared(array: xr.DataArray, labels: Names, whose: str) -> xr.DataArray:
    """Return the array with its labels in the declared order, and their coordinates.

    Raises
    ------
    InputError
        ``labels-differ`` where the names are not the same.
    """
    table = table_from(labels, LABEL)
    wanted = names_of(table, LABEL)
    here = name_texts(array[LABEL].values)
    missing = [label for label in wanted if label not in set(here)]
    extra = [label for label in here if label not in set(wanted)]
    if missing or extra:
        lacks = f"lacks {listed(map(quoted, missing))}" if missing else ""
        adds = f"has {listed(map(quoted, extra))} besides" if extra else ""
        guess = near(extra[0], missing) if extra and missing else None
        do = f'--rename "{extra[0]}={guess}"' if guess else "mend the names here or there"
        raise InputError(
            "labels-differ",
            f"{whose} does not have the declared labels",
            expected=f"the same {several(len(wanted), 'name')}",
            got=", and ".join(part for part in (f"{whose} {lacks}" if lacks else "", adds) if part),
            do=do,
            whose=whose,
            details={"missing": missing, "extra": extra},
        )
    return with_coordinates(array.sel({LABEL: wanted}), table)
