"""Arrays over examples and labels from files, with the names that the files give."""

from __future__ import annotations

import io
import sys
import threading
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import extras
from plausibly.data.align import match_labels
from plausibly.data.labels import Hierarchy, renamed_columns
from plausibly.data.names import (
    AUGMENTATION,
    DRAW,
    EXAMPLE,
    LABEL,
    NUMBERED,
    check_names,
    name_texts,
    near,
    positions,
    quoted,
    several,
    text_array,
)
from plausibly.data.text_table import TextTable
from plausibly.errors import InputError, counted, listed
from plausibly.io import files, text
from plausibly.io.hints import names_examples
from plausibly.io.label_tables import Names, names_of, table_from, with_coordinates
from plausibly.io.text import numbers

Array: TypeAlias = NDArray[Any]  # Any: whatever type a file says

# Bytes that an npz may expand to: so many, and so many more for each byte of the file.
_ROOM, _RATIO = 1 << 26, 200


_damaged = partial(
    files.damaged,
    expected="arrays as numpy or xarray write them",
    hint="copy it again, or save it again",
)


def parse_npy(data: bytes, source: str) -> Array:
    """Return the array in the bytes of an ``.npy`` file, in the byte order of this machine."""
    if not data:
        raise files.empty(source, "an array as numpy.save writes it")
    try:
        array: Array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except Exception as reason:  # numpy evaluates the header: anything may come
        if "Object arrays" not in str(reason):
            raise _damaged(source, reason) from reason
        raise InputError(
            "file-pickled",
            f"{source} holds Python objects, which are never loaded",
            expected="numbers or text",
            found="type object",
            hint='save it with .astype(float) or .astype(str), as "O" arrays can run code',
            source=source,
        ) from None
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    if native.dtype.kind == "U" and native.size:
        codes = np.ascontiguousarray(native).reshape(-1).view(np.uint32)
        if codes.max(initial=0) > sys.maxunicode:
            raise _damaged(source, "text with characters that do not exist")
    return native


def read_npz(path: Path | str, role: str) -> dict[str, Array]:
    """Return all arrays of an ``.npz`` file by name."""
    source = Path(path).name
    data = files.opening(path, role, -1)
    if not data:
        raise files.empty(source, "arrays as numpy.savez writes them")
    arrays: dict[str, Array] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
            if unpacked > _ROOM + _RATIO * len(data):
                raise ValueError(f"{len(data):,} bytes that unpack to {unpacked:,}")
            for name in archive.namelist():
                if name.endswith(".npy"):
                    inner = name.removesuffix(".npy")
                    arrays[inner] = parse_npy(archive.read(name), f"{source}, array {inner}")
    except InputError:
        raise
    except Exception as reason:  # zipfile and zlib raise a dozen kinds on damage
        raise _damaged(source, reason) from reason
    return arrays


def one_of(arrays: dict[str, Array], names: tuple[str, ...], source: str) -> Array:
    """Return the array that has one of `names`."""
    present = [name for name in names if name in arrays]
    if len(present) == 1:
        return arrays[present[0]]
    raise InputError(
        "array-missing",
        f"{source} has {listed(present) if present else 'no array ' + ' or '.join(names)}",
        expected=f"one of {', '.join(names)}",
        found=listed((f"{name} {array.shape}" for name, array in arrays.items()), most=5),
        hint=f"numpy.savez(..., {names[0]}=...) with one of these names",
        source=source,
        details={"arrays": list(arrays)},
    )


def texts_of(array: Array, source: str, what: str) -> list[str]:
    """Return the names in a one-dimensional array as text."""
    if array.ndim != 1:
        raise InputError(
            "array-shape",
            f"{source}: {what} is not a list of names",
            expected="one dimension",
            found=f"shape {array.shape}",
            hint=f"save {what} with one name an entry",
            source=source,
        )
    try:
        return name_texts(array)
    except ValueError as reason:
        raise _damaged(source, f"{what}: {reason}") from reason


CLASSIC = (b"CDF\x01", b"CDF\x02")


class _Lock:
    """A lock around the netCDF-4 library, which ends the process when two threads are in it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.acquire, self.release = self._lock.acquire, self._lock.release

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def __reduce__(self) -> str:
        return "LOCK"  # in another process, that of its own


LOCK = _Lock()


def is_zarr(path: Path) -> bool:
    """Return whether a path is a Zarr store."""
    return path.suffix.lower() == ".zarr" or (
        path.is_dir() and any((path / name).exists() for name in ("zarr.json", ".zgroup"))
    )


def load(path: Path | str, role: str, *, lazy: bool = False) -> xr.Dataset:
    """Return a netCDF file or Zarr store, whole, or in the chunks in which it is stored."""
    path, what = Path(path), "netCDF file"
    source: Path | io.BytesIO = path
    more: dict[str, Any] = {}  # Any: arguments of xarray
    if lazy:
        extras.require("dask.array", extra="dask", source=path.name)
        more["chunks"] = {}
    if is_zarr(path):
        extras.require("zarr", extra="zarr", source=path.name)
        files.existing(path, role, folder=True)
        engine, what = "zarr", "Zarr store"
        # One without consolidated metadata would be read all the same, with a warning of xarray's.
        more["consolidated"] = False
    else:
        data = files.opening(path, role, 8) if lazy else files.opening(path, role, -1)
        engine = "scipy" if data.startswith(CLASSIC) else "netcdf4"
        if engine == "netcdf4":
            extras.require("netCDF4", extra="netcdf", source=path.name)
            more["backend_kwargs"] = {"lock": LOCK}
        elif not lazy:
            source = io.BytesIO(data)
    read = xr.open_dataset if lazy else xr.load_dataset
    try:
        with LOCK:
            raw = read(source, engine=engine, decode_cf=False, **more)
            for variable in raw.variables.values():  # a stored 0 never means "nothing here"
                for key in ("_FillValue", "missing_value"):
                    if variable.attrs.get("add_offset", 0) == 0 and np.array_equal(
                        variable.attrs.get(key, np.nan), 0
                    ):
                        del variable.attrs[key]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", xr.SerializationWarning)  # NaN is refused later
                dataset = xr.decode_cf(raw, decode_times=False)
            # Text that is no UTF-8 would only fail when it is looked at.
            return dataset if lazy else dataset.load()
    except Exception as reason:  # the parsers raise a dozen kinds on damaged files
        expected = "one as xarray writes it"
        raise files.damaged(path.name, reason, what=what, expected=expected) from reason


def variable_of(
    dataset: xr.Dataset,
    wanted: str | None,
    usual: tuple[str, ...],
    source: str,
    *,
    augmented: bool = False,
) -> xr.DataArray:
    """Return the variable over ``example`` and ``label``, in that order."""
    more = {AUGMENTATION} if augmented else set()
    fit = [str(name) for name, a in dataset.items() if set(a.dims) - more == {EXAMPLE, LABEL}]
    candidates = [name for name in fit if wanted in (None, name)]
    if len(candidates) > 1:
        candidates = [name for name in usual if name in fit]
    if len(candidates) != 1:
        raise InputError(
            "variable-missing",
            f"{source} has no {wanted or 'variable of predictions'} over example and label",
            expected="one variable over example and label",
            found=listed(f"{name} ({', '.join(map(str, a.dims))})" for name, a in dataset.items()),
            hint=f"variable={quoted(fit[0])}" if fit else "name the dims example and label",
            source=source,
        )
    return dataset[candidates[0]].transpose(..., EXAMPLE, LABEL)


def stacked(
    values: Array, table: TextTable, example: str, augmentation: str
) -> tuple[Array, list[str], list[str]]:
    """Return the rows of a table as one plane per augmentation, all names as first seen."""
    examples, augmentations = table.column(example), table.column(augmentation)
    noun = DRAW if augmentation == DRAW else "augmentation"
    text.check_named(table, augmentation, noun)
    rows, planes = list(dict.fromkeys(examples)), list(dict.fromkeys(augmentations))
    cell = positions(planes, augmentations) * len(rows) + positions(rows, examples)
    counts = np.bincount(cell, minlength=len(planes) * len(rows)).reshape(len(planes), -1)
    if (counts == 1).all():
        return values[np.argsort(cell).reshape(counts.shape)], rows, planes
    wrong = list(compress(rows, (counts != 1).any(axis=0).tolist()))
    plane, row = np.argwhere(counts != 1)[0].tolist()
    raise InputError(
        f"{noun}s-incomplete",
        f"{table.source} has not one row per {noun} of {counted(len(wrong))} of "
        f"{several(len(rows), 'example')} ({listed(wrong)})",
        expected=f"every {noun} of every example once: {listed(map(quoted, planes))}",
        found=f"{several(int(counts[plane, row]), 'row')} of {rows[row]} with {noun} "
        f"{quoted(planes[plane])}",
        hint=f"keep one row per {noun} and example, or remove these examples from the file",
        source=table.source,
        details={"examples": wrong},
    )


_REST = "a column of example names, then one column of numbers per label and nothing else"
_INDEX = ("", "Unnamed: 0", "__index_level_0__")
"""What pandas, or what read its files, calls an index without a name."""


@attrs.frozen
class Wanted:
    """Columns of a table that are not labels, and whether plausibly wrote it."""

    example: str
    augmentation: str | None = None
    plausibilities: bool = False  # names of labels and of examples may repeat
    ours: bool = False

    def read(self, table: TextTable, columns: Sequence[text.Column] = ()) -> NamedArray:
        """Return the numbers of a table, or of its `columns` where these have types."""
        rest = self.number_columns(table)
        if not len(table):
            raise files.empty(table.source, "one row per example", "a header and no rows")
        names, augmentations = table.column(self.example), None
        if not self.ours:
            text.check_named(table, self.example, EXAMPLE)
        hint = "remove what is no label from the file"
        if not self.plausibilities and self.augmentation is None:
            hint += ', or augmentation="COLUMN", if it names augmentations of an example'
        kept = [columns[position] for position in rest] if columns else []
        if words := {column.name: column.type for column in kept if column.content != "number"}:
            raise text.not_numeric(table.source, list(words), _REST, listed(words.values()), hint)
        if columns:
            arrays = [column.numbers() for column in kept]
            single = all(array.dtype == np.float32 for array in arrays)
            values: Array = np.stack(arrays, axis=1)
            values = values.astype(np.float32 if single else np.float64, copy=False)
        else:
            values = numbers(table, rest, rest=_REST, hint=hint)
        if self.augmentation is not None:
            values, names, augmentations = stacked(values, table, self.example, self.augmentation)
        elif not self.plausibilities:
            advice = 'keep one, or name the augmentations of an example: augmentation="COLUMN"'
            check_names(names, EXAMPLE, source=table.source, hint=advice)
        return NamedArray(
            values=values,
            examples=names,
            labels=[table.header[position] for position in rest],
            source=table.source,
            augmentations=augmentations,
        )

    def number_columns(self, table: TextTable) -> list[int]:
        """Return the positions of the columns of numbers."""
        source, header = table.source, table.header
        # An unnamed column elsewhere is none, such as the last one where lines end in a comma.
        index = next((name for name in _INDEX if name in header and (name or not header[0])), None)
        mine = self.ours or index in (self.example, self.augmentation)
        if index is not None and not mine:
            at = header.index(index)
            sample = f"{listed(table.columns[at][:3])}, … in " if table.columns[at] else ""
            where = f"the column {quoted(index)}" if index else "an unnamed column"
            kind = "parquet" if source.endswith(".parquet") else "csv"
            raise InputError(
                "index-column",
                f"the first column of {source} has no name"
                if not index
                else f"column {at + 1} of {source} is an index, not a label",
                expected="a column of example names and one column per label",
                found=f"{sample}{where}, like the index of a data frame",
                hint=f'write the file with df.to_{kind}("{source}", index=False)'
                if self.example in header
                else f"example={quoted(index)}, if it names the examples",
                source=source,
                details={"column": index},
            )
        hint = f"add a column {self.example} with the names of the examples"
        if self.example not in header:
            guess = near(self.example, header)
            if guess is None and header and names_examples(header[0], table.columns[0]):
                guess = header[0]
            if guess is not None:
                hint = f"example={quoted(guess)}, if that column names the examples"
        table.need([self.example], hint=hint)
        taken = [header.index(self.example)]
        if self.augmentation is not None:
            guess = near(self.augmentation, header) or "COLUMN"
            hint = f"augmentation={quoted(guess)}, if that column names the augmentations"
            table.need([self.augmentation], hint=hint)
            taken.append(header.index(self.augmentation))
        rest = [position for position in range(len(header)) if position not in taken]
        if not self.plausibilities:
            text.distinct([header[position] for position in rest], source)
        if not rest:
            raise files.empty(source, _REST, f"only {listed(map(quoted, header))}")
        return rest


def from_table(path: Path, role: str, wanted: Wanted) -> NamedArray:
    """Read a CSV, TSV or Parquet file: a column of example names, then a column per label."""
    if files.opening(path, role, 4) == b"PAR1":
        return from_columns(path.name, text.read_columns(path, role), wanted)
    return wanted.read(text.read_table(path, role=role, unique=False))


def from_columns(source: str, columns: Sequence[text.Column], wanted: Wanted) -> NamedArray:
    """Return the numbers in columns of a Parquet file or a frame."""
    # Numbers are not made text; the first column is looked at where the one of names is not named.
    named = [
        column.content != "nested"
        if column.name in (wanted.example, wanted.augmentation)
        else not at and column.content == "text"
        for at, column in enumerate(columns)
    ]
    return wanted.read(text.table_of(source, columns, named), columns)


LABEL_ARRAYS = ("labels", "label_names", "class_names", "label")
EXAMPLE_ARRAYS = ("examples", "names", "example")
AUGMENTATION_ARRAYS = ("augmentations", "views", "augmentation", "view")


@attrs.frozen(kw_only=True, eq=False)
class NamedArray:
    """Numbers ([augmentation,] example, label), with the names and coordinates of their file.

    Augmentations are None where there is one row per example; `unread` is the rest of the file.
    """

    values: Array
    examples: list[str] | None
    labels: list[str] | None
    source: str
    augmentations: list[str] | None = None
    coordinates: Mapping[str, xr.DataArray] = attrs.field(factory=dict)
    attributes: Mapping[str, object] = attrs.field(factory=dict)
    unread: Mapping[str, Array] = attrs.field(factory=dict)


def shaped(values: Array, source: str, *, augmented: bool = False) -> Array:
    """Return numbers over ([augmentation,] example, label), or raise ``array-shape``."""
    dims = (*(["augmentation"] if augmented else []), "example", "label")
    if values.ndim != len(dims) or values.dtype.kind not in "iufb" or 0 in values.shape:
        raise InputError(
            "array-shape",
            f"{source} holds no table of numbers",
            expected=f"numbers over {listed(dims)}",
            found=f"shape {values.shape}, type {values.dtype}",
            hint="save an array with one row per example and one column per label",
            source=source,
        )
    return values


def from_npy(path: Path, role: str) -> NamedArray:
    """Read an ``.npy`` file: numbers without names."""
    values = shaped(parse_npy(files.opening(path, role, -1), path.name), path.name)
    return NamedArray(values=values, examples=None, labels=None, source=path.name)


def from_npz(
    path: Path, role: str, arrays: tuple[str, ...], *, augmented: bool = False
) -> NamedArray:
    """Read the one array of an ``.npz`` file that has one of the names `arrays`, and its names."""
    source = path.name
    stored = read_npz(path, role)
    values = one_of(stored, arrays, source)
    values = shaped(values, source, augmented=augmented and values.ndim == 3)
    rest = {name: array for name, array in stored.items() if array is not values}
    named: dict[str, list[str]] = {}
    for words, size in zip(
        (LABEL_ARRAYS, EXAMPLE_ARRAYS, AUGMENTATION_ARRAYS), values.shape[::-1], strict=False
    ):
        # Of the words in the singular, one of another length is something else: one truth per row.
        there = [name for name in words if name in rest]
        fit = [name for name in there if rest[name].shape == (size,)]
        keys = fit or [name for name in there if name.endswith("s")]
        # The order of planes is never guessed either.
        if keys or words is AUGMENTATION_ARRAYS:
            array = one_of(stored, tuple(keys) or words, source)
            named[words[0]] = texts_of(array, source, words[0])
            _check_count(named[words[0]], size, source, words[0])
            del rest[keys[0]]
    if "labels" not in named:
        _check_read(rest, LABEL, values.shape[-1], source)
    return NamedArray(
        values=values,
        examples=named.get("examples"),
        labels=named.get("labels"),
        source=source,
        augmentations=named.get("augmentations"),
        unread=rest,
    )


def _check_read(rest: Mapping[str, Array], dim: str, size: int, source: str) -> None:
    """Raise ``array-missing`` where an array of another name may hold the names of `dim`."""
    words = LABEL_ARRAYS if dim == LABEL else EXAMPLE_ARRAYS
    for name, array in rest.items():
        if array.shape != (size,) or array.dtype.kind not in "USOiu":
            continue
        texts = name_texts(array)
        if len({*texts}) < size or texts == [*map(str, range(size))]:
            continue
        raise InputError(
            "array-missing",
            f"{source} has no array {words[0]}, and may name the {dim}s in {name}",
            expected=f"names in one of {', '.join(words)}; what a file names is never taken by "
            "its position",
            found=f"{name}: {listed(map(quoted, texts))}",
            hint=f'numpy.savez(..., {words[0]}=data["{name}"]), if these are the {dim}s; '
            f"else without {name}",
            source=source,
            details={"arrays": list(rest)},
        )


def from_netcdf(
    path: Path, role: str, variable: str | None, usual: tuple[str, ...], *, augmented: bool = False
) -> NamedArray:
    """Read a variable over ``example`` and ``label`` of a netCDF file."""
    dataset = load(path, role)
    array = variable_of(dataset, variable, usual, path.name, augmented=augmented)
    return of_variable(dataset, array, path.name)


def of_variable(dataset: xr.Dataset, array: xr.DataArray, source: str) -> NamedArray:
    """Return a variable of a dataset under the names that its coordinates give."""
    augmentations = AUGMENTATION in array.dims
    native = array.data.astype(array.dtype.newbyteorder("="), copy=False)
    values = shaped(native, source, augmented=augmentations)
    coordinates = {str(name): variable for name, variable in array.coords.items()}
    named = {
        dim: texts_of(coordinates.pop(dim).values, source, f"{dim}s")
        for dim in (EXAMPLE, LABEL, AUGMENTATION)
        if dim in coordinates
    }
    if LABEL not in named:
        others = {str(n): v.values for n, v in dataset.variables.items() if len(v.dims) == 1}
        _check_read(others, LABEL, array.sizes[LABEL], source)
    return NamedArray(
        values=values,
        examples=named.get(EXAMPLE),
        labels=named.get(LABEL),
        source=source,
        augmentations=named.get(AUGMENTATION, [*map(str, range(len(values)))])
        if augmentations
        else None,
        coordinates=coordinates,
        attributes={str(name): value for name, value in array.attrs.items()},
    )


def _check_count(texts: Sequence[str], size: int, source: str, what: str) -> None:
    if len(texts) != size:
        dim = {"labels": "column", "examples": "row"}.get(what, "plane")
        raise InputError(
            "names-count",
            f"{source} has {several(size, dim)} and {counted(len(texts))} {what}",
            expected=f"one name per {dim}",
            found=listed(texts) or "none",
            hint=f"name every {dim} once, in order",
            source=source,
        )


def labelled(
    data: NamedArray, *, labels: Names | None = None, examples: Names | None = None, name: str
) -> xr.DataArray:
    """Return the numbers under names: the file's own, else those that were given."""
    source, size = data.source, data.values.shape[-2:]
    if data.labels is None and labels is None:
        raise InputError(
            "labels-unnamed",
            f"{source} has {several(size[1], 'column')} and no label names",
            expected="names in column order; an order is never guessed",
            found=f"beside them {listed(f'{n} {a.shape}' for n, a in data.unread.items())}"
            if data.unread
            else "",
            hint='labels="labels.txt" (one name per line)',
            source=source,
        )
    tables: list[xr.Dataset] = []
    columns = data.labels
    if columns is None and labels is not None:
        tables.append(table_from(labels, LABEL))
        columns = names_of(tables[-1], LABEL)
        leaves = Hierarchy.of_table(tables[-1]).leaves
        if len(leaves) == size[1]:  # the labels that stand above no other
            columns = [columns[code] for code in leaves]
        _check_count(columns, size[1], source, "labels")
    rows = [*map(str, range(size[0]))] if data.examples is None else data.examples
    if examples is not None:
        tables.append(table_from(examples, EXAMPLE))
        if data.examples is None:
            _check_read(data.unread, EXAMPLE, size[0], source)
            rows = names_of(tables[-1], EXAMPLE)
            _check_count(rows, size[0], source, "examples")
    check_names(columns or [], LABEL, source=source)
    named: dict[str, NDArray[np.str_]] = {}
    if data.augmentations is not None:
        check_names(data.augmentations, AUGMENTATION, source=source)
        named[AUGMENTATION] = text_array(data.augmentations)
    named |= {EXAMPLE: text_array(rows), LABEL: text_array(columns or [])}
    numbered = data.examples is None and examples is None
    array = xr.DataArray(
        data.values, named, tuple(named), name=name, attrs={NUMBERED: 1} if numbered else {}
    )
    further = {key: (value.dims, value.values) for key, value in data.coordinates.items()}
    array = array.assign_coords(further)
    for table in tables:
        array = with_coordinates(array, table)
    return array


def declared(array: xr.DataArray, labels: Names, source: str) -> xr.DataArray:
    """Return the array with its labels in the declared order, and their coordinates."""
    table = table_from(labels, LABEL)
    array = renamed_columns(array, table, source=source)
    here, tree = name_texts(array[LABEL].values), Hierarchy.of_table(table)
    above = {tree.labels[code] for code in tree.above}.difference(here)
    wanted = [label for label in tree.labels if label not in above]
    matched = match_labels(array, wanted, source=source, other="the declared labels")
    return with_coordinates(matched, table)
