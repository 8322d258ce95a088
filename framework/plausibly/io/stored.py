"""Pieces in npz and netCDF-3 files: as arrays that anybody can read, exact for who reads them here.

What a format cannot hold is written as what it can (in netCDF-3: 64-bit integers as 32-bit ones
where they fit, else as digits), and the JSON text of `plausibly.io.pieces` says what it was.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.io import files
from plausibly.io.exact_json import check_encodable, plain
from plausibly.io.pieces import (
    MARK,
    Content,
    Piece,
    entry,
    said,
    understood,
)
from plausibly.kernels.types import Ints

ABOUT = "about"
"""Array of an npz file with the JSON text."""

_ARGUMENTS = ("file", "allow_pickle")  # of numpy's function that writes the arrays
_SAFE = re.compile("[A-Za-z][A-Za-z0-9_]{0,60}")
_INT32 = np.iinfo(np.int32)
_ROOM, _TIMES = 2**20, 64  # bytes, and bytes a character
_CLASSIC = {"i1", "i2", "i4", "f4", "f8"}
_WIDER = {"b1": np.int8, "u1": np.int16, "u2": np.int32, "f2": np.float32}


def _keyed(content: Content, keys: Mapping[str, str]) -> Iterator[tuple[str, Piece]]:
    """Yield the pieces, each under a key of its own that any program can read."""
    taken = {ABOUT, *_ARGUMENTS}
    for place, piece in enumerate(content.pieces):
        key = keys.get(piece.name, piece.name)
        if not _SAFE.fullmatch(key) or key in taken:
            key = f"variable_{place}"
        taken.add(key)
        yield key, piece


def write_npz(content: Content, path: Path, keys: Mapping[str, str]) -> None:
    """Write pieces as arrays of an npz file; `keys` renames some.

    Raises
    ------
    InputError
        ``variable-unwritable`` or ``attribute-unwritable``.
    """
    arrays: dict[str, NDArray[Any]] = {}  # Any: types of the pieces
    entries = []
    for key, piece in _keyed(content, keys):
        values = plain(piece.values, piece.name, path.name)
        if _is_mostly_padding(values):
            entries.append(entry(piece, path.name))
            continue
        entries.append(entry(piece, path.name, key=key))
        arrays[key] = values
    arrays[ABOUT] = np.array(said(content, entries, path.name))
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def _is_mostly_padding(values: NDArray[Any]) -> bool:  # Any: what `plain` gives
    """Return whether text would take much more room than its characters: one is far too long."""
    if values.dtype.kind != "U" or values.size * values.dtype.itemsize < _ROOM:
        return False
    characters = int(np.char.str_len(values).sum())
    return values.size * values.dtype.itemsize > _ROOM + _TIMES * characters


def npz_content(
    stored: Mapping[str, NDArray[Any]],  # Any: as the file says
    kind: str,
    whose: str,
) -> Content:
    """Return the pieces in the arrays of an npz file; ``file-damaged`` where they do not fit."""
    return understood(str(stored.get(ABOUT, "")), kind, whose, stored)


def npz_names(path: Path) -> frozenset[str]:
    """Return the names of the arrays of an npz file; none where it is no such file."""
    try:
        with zipfile.ZipFile(io.BytesIO(files.contents(path, "file"))) as archive:
            found = archive.namelist()
    except Exception:  # noqa: BLE001  # zipfile raises a dozen kinds; who only asks wants no error
        return frozenset()
    return frozenset(name.removesuffix(".npy") for name in found if name.endswith(".npy"))


def write_netcdf(content: Content, path: Path) -> None:
    """Write pieces as variables of a netCDF-3 file.

    Raises
    ------
    InputError
        ``variable-unwritable``, ``attribute-unwritable`` or ``name-unwritable``.
    """
    dims: dict[str, str] = {}
    entries = []
    variables: dict[str, xr.Variable] = {}
    coordinates: set[str] = set()
    for key, piece in _keyed(content, {}):
        classic = _classic(plain(piece.values, piece.name, path.name), piece.name, path.name)
        if classic is None:
            entries.append(entry(piece, path.name))
            continue
        entries.append(entry(piece, path.name, key=key))
        for dim in piece.dims:
            dims.setdefault(dim, dim if _SAFE.fullmatch(dim) else f"dim_{len(dims)}")
        named = tuple(dims[dim] for dim in piece.dims)
        variables[key] = xr.Variable(named, classic, encoding={"_FillValue": None})
        if piece.coordinate:
            coordinates.add(key)
    dataset = xr.Dataset(
        {key: item for key, item in variables.items() if key not in coordinates},
        coords={key: item for key, item in variables.items() if key in coordinates},
        attrs={MARK: said(content, entries, path.name)},
    )
    dataset.to_netcdf(path, engine="scipy", format="NETCDF3_64BIT")


def _classic(
    values: NDArray[Any],  # Any: what `plain` gives
    name: str,
    whose: str,
) -> NDArray[Any] | None:  # Any: as above
    """Return the values as netCDF-3 holds them, or None where only JSON does."""
    if not values.ndim or not values.size or _is_mostly_padding(values):
        return None
    kind = values.dtype.newbyteorder("<").str[1:]
    if values.dtype.kind == "U":
        texts: list[str] = values.reshape(-1).tolist()
        check_encodable(texts, name, whose)
        return values if any(texts) and "\0" not in "".join(texts) else None
    if kind in _CLASSIC:
        return values
    if kind in _WIDER:
        return values.astype(_WIDER[kind])
    whole: Ints = values
    if int(whole.min()) >= _INT32.min and int(whole.max()) <= _INT32.max:
        return whole.astype(np.int32)
    return np.array([str(one) for one in whole.reshape(-1).tolist()]).reshape(whole.shape)


def netcdf_content(dataset: xr.Dataset, kind: str, whose: str) -> Content | None:
    """Return the pieces of a netCDF file, None where others wrote it; or ``file-damaged``."""
    text = dataset.attrs.get(MARK)
    if text is None:
        return None
    stored = {str(name): np.asarray(item.values) for name, item in dataset.variables.items()}
    return understood(str(text), kind, whose, stored)
