"""Files read a chunk of examples at a time: Zarr, netCDF, npy, and Parquet by row groups."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import extras
from plausibly.data.named import read_coordinates
from plausibly.data.names import EXAMPLE, near, quoted
from plausibly.errors import InputError, listed
from plausibly.io import arrays, files, text
from plausibly.io.arrays import NamedArray, shaped


def is_zarr(path: Path) -> bool:
    """Return whether a path is a Zarr store."""
    return path.suffix.lower() == ".zarr" or (
        path.is_dir() and any((path / name).exists() for name in ("zarr.json", ".zgroup"))
    )


def open_dataset(path: Path, role: str, *, lazy: bool = True) -> xr.Dataset:
    """Return a Zarr store or a netCDF file in the chunks in which it is stored, not read yet."""
    if lazy:
        extras.require("dask.array", extra="dask", whose=path.name)
    engine = "zarr"
    if is_zarr(path):
        extras.require("zarr", extra="zarr", whose=path.name)
        if not path.exists():
            files.existing(path, role)
    else:
        classic = files.opening(path, role, 8)[:4] in arrays.CLASSIC
        engine = "scipy" if classic else "netcdf4"
        if not classic:
            extras.require("netCDF4", extra="netcdf", whose=path.name)
    try:
        return arrays.opened(path, engine, lazy=lazy)
    except Exception as reason:  # the parsers raise a dozen kinds on damaged files
        what = "Zarr store" if engine == "zarr" else "netCDF file"
        expected = "one as xarray writes it"
        raise files.damaged(path.name, reason, what=what, expected=expected) from reason


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
    whose = path.name
    if is_zarr(path) or files.opening(path, role, 8).startswith(arrays.SIGNATURES):
        dataset = open_dataset(path, role)
        array = in_chunks(arrays.variable_of(dataset, variable, usual, whose), chunks)
        return arrays.of_variable(dataset, read_coordinates(array), whose)
    if path.suffix.lower() == ".npy":
        rows = _NpyRows.of(path, role)
        return NamedArray(
            values=shaped(_lazy(rows, chunks), whose), examples=None, labels=None, whose=whose
        )
    if path.suffix.lower() == ".parquet":
        groups, names = _ParquetRows.of(path, role, example)
        return NamedArray(
            values=shaped(_lazy(groups, groups.cut(chunks)), whose),
            examples=names,
            labels=list(groups.labels),
            whose=whose,
        )
    raise files.meaningless(
        whose,
        "chunks",
        path.suffix or "no ending",
        "a file that can be read in parts: .zarr, .nc, .npy or .parquet",
        f"leave chunks (--chunks) out, or write it as {path.with_suffix('.zarr').name}",
    )


def from_store(path: Path, role: str, variable: str | None, usual: tuple[str, ...]) -> NamedArray:
    """Return a variable over ``example`` and ``label`` of a Zarr store, in memory."""
    dataset = open_dataset(path, role, lazy=False)
    array = arrays.variable_of(dataset, variable, usual, path.name)
    return arrays.of_variable(dataset, array, path.name)


def check_chunks(chunks: int) -> None:
    """Raise ``chunks-range`` unless there is an example in a chunk."""
    if chunks < 1:
        raise InputError(
            "chunks-range",
            f"chunks of {chunks} examples hold nothing",
            expected="one example a chunk, or more",
            got=str(chunks),
            do="chunks=50000 (--chunks 50000)",
        )


def _lazy(
    rows: _NpyRows | _ParquetRows, cut: int | Sequence[int]
) -> Any:  # Any: an array that stands for another
    da = extras.require("dask.array", extra="dask", whose="chunks")
    examples = cut if isinstance(cut, int) else tuple(cut)
    return da.from_array(
        rows,
        chunks=(examples, -1),
        name=False,
        asarray=True,
        meta=np.empty((0, 0), dtype=rows.dtype),
    )


@attrs.frozen
class _NpyRows:
    """The array of an npy file."""

    path: Path
    shape: tuple[int, int]
    dtype: np.dtype[Any]  # Any: the type is the file's
    ndim: int = 2

    @classmethod
    def of(cls, path: Path, role: str) -> _NpyRows:
        files.existing(path, role)
        try:
            mapped = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as reason:
            expected = "a file as numpy.save writes it"
            raise files.damaged(path.name, reason, what="npy file", expected=expected) from reason
        shaped(mapped, path.name)
        return cls(path.absolute(), (mapped.shape[0], mapped.shape[1]), mapped.dtype)

    def __getitem__(self, at: tuple[slice, slice]) -> NDArray[Any]:  # Any: as above
        return np.array(np.load(self.path, mmap_mode="r", allow_pickle=False)[at])


@attrs.frozen
class _ParquetRows:
    """Columns of labels in a Parquet file, by whole row groups."""

    path: Path
    labels: tuple[str, ...]
    ends: tuple[int, ...]
    dtype: np.dtype[Any]  # Any: the type is the file's
    ndim: int = 2

    @classmethod
    def of(cls, path: Path, role: str, example: str) -> tuple[_ParquetRows, list[str]]:
        """Return the rows, and the names of the examples."""
        files.existing(path, role)
        header, whose = text.names(path), path.name
        text.distinct(header, whose)
        if example not in header or len(header) == 1:
            guess = near(example, header) or header[0]
            raise InputError(
                "columns-missing",
                f"{whose} has no column {quoted(example)} beside columns of numbers",
                expected="a column of example names, then one column of numbers a label",
                got=listed(map(quoted, header)),
                do=f"--example {quoted(guess)}, if that column names the examples",
                whose=whose,
            )
        module = extras.require("pyarrow.parquet", extra="parquet", whose=whose)
        labels = tuple(name for name in header if name != example)
        with module.ParquetFile(path) as file:
            sizes = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
            names = [str(name) for name in file.read(columns=[example])[example].to_pylist()]
            types = {file.schema_arrow.field(label).type.to_pandas_dtype() for label in labels}
        ends = tuple(accumulate(sizes))
        return cls(path.absolute(), labels, ends, np.result_type(*types)), names

    @property
    def shape(self) -> tuple[int, int]:
        return (self.ends[-1] if self.ends else 0, len(self.labels))

    def cut(self, chunks: int) -> list[int]:
        """Return how many examples each chunk has: whole row groups, about `chunks`."""
        sizes: list[int] = []
        for start, end in zip((0, *self.ends), self.ends, strict=False):
            if sizes and sizes[-1] + end - start <= chunks:
                sizes[-1] += end - start
            else:
                sizes.append(end - start)
        return sizes

    def __getitem__(self, at: tuple[slice, slice]) -> NDArray[Any]:  # Any: as above
        module = extras.require("pyarrow.parquet", extra="parquet", whose=self.path.name)
        start, stop, _ = at[0].indices(self.shape[0])
        groups = [
            place
            for place, (low, end) in enumerate(zip((0, *self.ends), self.ends, strict=False))
            if low < stop and end > start
        ]
        first = ([0, *self.ends])[groups[0]] if groups else 0
        with module.ParquetFile(self.path) as file:
            table = file.read_row_groups(groups, columns=list(self.labels))
        columns = [table[label].to_numpy() for label in self.labels]
        values = np.stack(columns, axis=1).astype(self.dtype, copy=False)
        return np.ascontiguousarray(values[start - first : stop - first, at[1]])
