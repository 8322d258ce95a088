"""Numpy's files, read without pickle and checked for their length before anything is allocated."""

from __future__ import annotations

import io
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausibly.data.names import name_texts
from plausibly.errors import InputError, counted, listed
from plausibly.io import files

_MAGIC = b"\x93NUMPY"
_HEADER = 10_000
# Bytes that an npz may unpack to: so many, and so many more for each byte of the file.
_ROOM, _RATIO = 1 << 26, 200
_LAST = 0x10FFFF  # of the characters of Unicode


def _damaged(whose: str, reason: BaseException) -> InputError:
    said = " ".join(str(reason).split())[:120] or type(reason).__name__
    return InputError(
        "file-damaged",
        f"{whose} is not a whole file",
        expected="arrays as numpy or xarray write them",
        got=said,
        do="copy it again, or save it again",
        whose=whose,
    )


def parse_npy(data: bytes, whose: str) -> NDArray[Any]:  # Any: whatever type the file says
    """Return the array in the bytes of an ``.npy`` file, in the byte order of this machine.

    Parameters
    ----------
    data : bytes
        The file.
    whose : str
        Its name, for messages.

    Raises
    ------
    InputError
        ``file-damaged``, ``file-truncated``, or ``file-pickled`` where it holds Python objects.
    """
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            header = np.lib.format.read_array_header_1_0(file, max_header_size=_HEADER)
        elif version == (2, 0):
            header = np.lib.format.read_array_header_2_0(file, max_header_size=_HEADER)
        else:
            raise ValueError(f"numpy file format {version[0]}.{version[1]}")
        shape, column_major, dtype = header
        count = math.prod(shape)
        if count < 0 or dtype.names is not None:
            raise ValueError(f"shape {shape}, type {dtype}")
    except Exception as reason:  # numpy evaluates the header: anything may come
        if not data:
            raise files.empty(whose, "an array as numpy.save writes it") from None
        if data[: len(_MAGIC)] != _MAGIC[: len(data)]:
            raise _damaged(whose, ValueError("other first bytes than a numpy file has")) from None
        raise _damaged(whose, reason) from reason
    if dtype.hasobject:
        raise InputError(
            "file-pickled",
            f"{whose} holds Python objects, which are never loaded",
            expected="numbers or text",
            got=f"type {dtype}",
            do='save it with .astype(float) or .astype(str), as "O" arrays can run code',
            whose=whose,
        )
    start = file.tell()
    if len(data) - start < count * dtype.itemsize:
        whole = f"{counted(start + count * dtype.itemsize)} bytes for shape {shape}, type {dtype}"
        raise files.truncated(whose, "its last row", whole=whole, size=len(data))
    if dtype.itemsize == 0:
        return np.zeros(shape, dtype)
    flat = np.frombuffer(data, dtype, count, start)
    array = flat.reshape(shape, order="F" if column_major else "C")
    native = array.astype(dtype.newbyteorder("="), copy=False)
    if dtype.kind == "U" and native.size and int(native.reshape(-1).view(np.uint32).max()) > _LAST:
        raise _damaged(whose, ValueError("text with characters that do not exist"))
    return native


def read_npy(path: Path | str, role: str) -> NDArray[Any]:  # Any: whatever type the file says
    """Return the array in an ``.npy`` file; errors as of `parse_npy` and `files.contents`."""
    return parse_npy(files.contents(path, role), Path(path).name)


def read_npz(path: Path | str, role: str) -> dict[str, NDArray[Any]]:  # Any: as the file says
    """Return all arrays of an ``.npz`` file by name.

    Raises
    ------
    InputError
        ``file-missing``, ``file-empty``, ``file-truncated``, ``file-damaged`` or ``file-pickled``.
    """
    whose = Path(path).name
    data = files.contents(path, role)
    if not data:
        raise files.empty(whose, "arrays as numpy.savez writes them")
    arrays: dict[str, NDArray[Any]] = {}  # Any: as above
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
            if unpacked > _ROOM + _RATIO * len(data):
                raise ValueError(f"{len(data):,} bytes that unpack to {unpacked:,}")
            for name in archive.namelist():
                if name.endswith(".npy"):
                    inner = name.removesuffix(".npy")
                    arrays[inner] = parse_npy(archive.read(name), f"{whose}, array {inner}")
    except InputError:
        raise
    except zipfile.BadZipFile as reason:
        if data.startswith(b"PK") and "CRC" not in str(reason):
            ends = "its directory"
            raise files.truncated(whose, ends, whole="a whole npz", size=len(data)) from reason
        raise _damaged(whose, reason) from reason
    except Exception as reason:  # zipfile and zlib raise a dozen kinds on damage
        raise _damaged(whose, reason) from reason
    return arrays


def one_of(
    arrays: dict[str, NDArray[Any]],  # Any: as the file says
    names: tuple[str, ...],
    whose: str,
) -> NDArray[Any]:  # Any: as the file says
    """Return the array that has one of `names`.

    Raises
    ------
    InputError
        ``array-missing`` where none or several are there.
    """
    found = [name for name in names if name in arrays]
    if len(found) == 1:
        return arrays[found[0]]
    shown = ", ".join(f"{name} {array.shape}" for name, array in list(arrays.items())[:5])
    more = ", …" if len(arrays) > 5 else ""
    raise InputError(
        "array-missing",
        f"{whose} has {listed(found) if found else 'no array ' + ' or '.join(names)}",
        expected=f"one of {', '.join(names)}",
        got=f"{shown}{more}" if arrays else "no array at all",
        do=f"numpy.savez(..., {names[0]}=...) with one of these names",
        whose=whose,
        details={"arrays": list(arrays)},
    )


def texts(array: NDArray[Any], whose: str, what: str) -> list[str]:  # Any: as the file says
    """Return the names in a one-dimensional array as text.

    Raises
    ------
    InputError
        ``names-shape`` unless it has one dimension; ``file-damaged`` if it is no text.
    """
    if array.ndim != 1:
        raise InputError(
            "names-shape",
            f"{whose}: {what} is not a list of names",
            expected="one dimension",
            got=f"shape {array.shape}",
            do=f"save {what} with one name an entry",
            whose=whose,
        )
    try:
        return name_texts(array)
    except ValueError as reason:
        raise _damaged(whose, ValueError(f"{what}: {reason}")) from reason
