"""Files read a chunk of examples at a time: Zarr, netCDF, npy, and Parquet by row groups."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from numbers import Integral
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

import numpy as np
import xarray as xr

from plausibly import extras
from plausibly.data.names import EXAMPLE, read_coordinates
from plausibly.data.text_table import TextTable
from plausibly.errors import InputError, listed
from plausibly.io import arrays, files, text
from plausibly.io.arrays import Array, NamedArray, shaped


def in_chunks(array: xr.DataArray, chunks: int) -> xr.DataArray:
    """Return an array in chunks of about so many examples, none of which cuts a stored one."""
    stored = array.variable.chunksizes[EXAMPLE][0]
    if stored == array.sizes[EXAMPLE] and "preferred_chunks" not in array.encoding:
        stored = 1  # in one piece, of which any part can be read
    size = max(1, chunks // stored) * stored
    return array.chunk({dim: size if dim == EXAMPLE else -1 for dim in array.dims})


def from_chunks(
    path: Path,
    role: str,
    chunks: int,
    *,
    variable: str | None,
    usual: tuple[str, ...],
    example: str,
) -> NamedArray:
    """Return numbers over examples and labels whose values are a Dask array."""
    check_chunks(chunks)
    source, ending = path.name, path.suffix.lower()
    examples: list[str] | None = None
    labels: list[str] | None = None
    if arrays.is_zarr(path) or files.opening(path, role, 8).startswith(files.NETCDF):
        dataset = arrays.load(path, role, lazy=True)
        array = in_chunks(arrays.variable_of(dataset, variable, usual, source), chunks)
        return arrays.of_variable(dataset, read_coordinates(array), source)
    if ending == ".npy":
        values = _npy(path, role, chunks)
    elif ending == ".parquet":
        values, examples, labels = _parquet(path, role, chunks, example)
    else:
        raise files.meaningless(
            source,
            "chunks",
            path.suffix or "no ending",
            "a file that can be read in parts: .zarr, .nc, .npy or .parquet",
            f"leave chunks out, or write it as {path.with_suffix('.zarr').name}",
        )
    return NamedArray(
        values=shaped(values, source), examples=examples, labels=labels, source=source
    )


def check_chunks(chunks: int) -> None:
    """Raise ``option-range`` unless this is a number of examples."""
    if not isinstance(chunks, Integral) or chunks < 1:
        raise InputError(
            "option-range",
            f"chunks={chunks!r} is no number of examples",
            expected="examples per chunk: a whole number, 1 or more",
            found=str(chunks),
            hint="chunks=50000",
        )


_Rows: TypeAlias = Callable[[int, int], Array]
"""Reads the rows of a file from one place up to another."""


def _in_blocks(
    read: _Rows, sizes: Sequence[int], dtype: np.dtype[Any], labels: int
) -> Any:  # Any: dask
    da = extras.require("dask.array", extra="dask", source="chunks")
    return da.map_blocks(
        partial(_block, read),
        name=f"rows-{uuid4().hex}",
        chunks=(tuple(sizes), (labels,)),
        meta=np.empty((0, 0), dtype),
    )


def _block(read: _Rows, block_info: Any = None) -> Array:  # Any: what Dask says of the block
    start, stop = block_info[None]["array-location"][0]
    return read(start, stop)


def _npy(path: Path, role: str, chunks: int) -> Any:  # Any: an array that stands for another
    files.existing(path, role)
    try:
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as reason:
        expected = "a file as numpy.save writes it"
        raise files.damaged(path.name, reason, what="npy file", expected=expected) from reason
    rows, labels = shaped(mapped, path.name).shape
    sizes = [min(chunks, rows - start) for start in range(0, rows, chunks)]
    return _in_blocks(partial(_npy_rows, path.absolute()), sizes, mapped.dtype, labels)


def _npy_rows(path: Path, start: int, stop: int) -> Array:
    return np.array(np.load(path, mmap_mode="r", allow_pickle=False)[start:stop])


def _parquet(
    path: Path, role: str, chunks: int, example: str
) -> tuple[Any, list[str], list[str]]:  # Any: an array that stands for another
    """Return columns of labels by whole row groups, and the names of examples and labels."""
    files.existing(path, role)
    header, source = text.names(path), path.name
    text.distinct(header, source)
    cells: tuple[list[str], ...] = tuple([] for _ in header)
    table = TextTable(source=source, header=header, columns=cells, lines=(), unit="row")
    labels = [header[place] for place in arrays.Wanted(example).number_columns(table)]
    with text.parquet_file(path) as file:
        groups = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
        column = file.read(columns=[example])[example]
        types = {label: file.schema_arrow.field(label).type for label in labels}
    names = text.Column(example, "text", str(column.type), column).texts()
    rows = range(1, len(names) + 1)
    named = TextTable(source=source, header=(example,), columns=(names,), lines=rows, unit="row")
    text.check_named(named, example, EXAMPLE)
    words = [label for label, kind in types.items() if text.content_of(kind) != "number"]
    if words:
        found, hint = listed(str(types[label]) for label in words), "remove what is no label"
        raise text.not_numeric(source, words, "one column of numbers per label", found, hint)
    sizes: list[int] = []
    for size in groups:
        if sizes and sizes[-1] + size <= chunks:
            sizes[-1] += size
        else:
            sizes.append(size)
    single = all(str(kind) == "float" for kind in types.values())
    dtype = np.dtype(np.float32 if single else np.float64)
    read = partial(_parquet_rows, path.absolute(), labels, dtype, list(accumulate(groups)))
    return _in_blocks(read, sizes, dtype, len(labels)), names, labels


def _parquet_rows(
    path: Path,
    labels: Sequence[str],
    dtype: np.dtype[Any],  # Any: the type is the file's
    ends: Sequence[int],
    start: int,
    stop: int,
) -> Array:
    groups = range(bisect_right(ends, start), bisect_left(ends, stop) + 1)
    with text.parquet_file(path) as file:
        table = file.read_row_groups(list(groups), columns=labels)
    cells = ((label, table[label]) for label in labels)
    columns = [text.Column(label, "number", str(c.type), c).numbers() for label, c in cells]
    return np.stack(columns, axis=1).astype(dtype, copy=False)
