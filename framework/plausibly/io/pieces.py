"""Datasets in files, exact when read back: a JSON text says what they are, arrays stand beside it.

The text is an array of an npz file, an attribute of netCDF-3, the last column of a CSV, or in the
metadata of Parquet. What a format has no array for, the text holds.
"""

from __future__ import annotations

import functools
import io
import json
import math
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import xarray as xr

from plausibly.data.names import quoted
from plausibly.data.text_table import TextTable
from plausibly.errors import InputError
from plausibly.io import arrays, files, text
from plausibly.io.arrays import Array
from plausibly.io.delimited import line
from plausibly.kernels.types import Ints

MARK = "plausibly"
"""Where netCDF and Parquet have the JSON text, and in it the key of its kind, its first one."""

ABOUT = "about"
"""Where npz and CSV have the JSON text."""

_VERSION = 1
_READS = {
    "annotation table": "plausibly.read_annotations(path), where annotations are wanted",
    "plausibilities": "plausibly.read_plausibilities(path), where plausibilities are wanted",
}
_SURROGATE = re.compile("[\ud800-\udfff]")


# ---- arrays and attributes as JSON


def plain(values: Array, name: str, whose: str) -> Array:
    """Return the values as numbers, truth values or text: dates as integers, objects as text."""
    kind, got = values.dtype.kind, f"type {values.dtype}"
    if kind == "O":
        every: list[object] = values.reshape(-1).tolist()
        if all(type(one) is str and not one.endswith("\0") for one in every):
            return np.array(every, dtype=np.str_).reshape(values.shape)
        got = "objects that are no text"
    elif kind in "mM":
        return values.astype(np.int64)
    elif kind in "biuU" or (kind == "f" and values.dtype.itemsize <= 8):
        return values
    raise InputError(
        "variable-unwritable",
        f"{whose} cannot hold the variable {name}",
        expected="numbers, truth values, text or dates",
        got=got,
        do=f"change its type, or leave it out: .drop_vars({quoted(name)})",
        whose=whose,
        details={"variable": name},
    )


def _type(values: Array) -> str:
    return "object" if values.dtype.kind == "O" else values.dtype.newbyteorder("<").str


def _listed(values: Array, name: str, whose: str) -> dict[str, object]:
    """Return an array as JSON: numbers that JSON does not know as text."""
    flat: list[object] = plain(values, name, whose).reshape(-1).tolist()
    flat = [str(x) if isinstance(x, float) and not math.isfinite(x) else x for x in flat]
    return {"type": _type(values), "shape": list(values.shape), "values": flat}


def _restored(stored: Array | Sequence[object], type_: str) -> Array:
    """Return values of the type that they had, from numbers, truth values, text, or digits."""
    dtype = np.dtype(type_).newbyteorder("=")
    whole = np.dtype(np.int64) if dtype.kind in "mM" else dtype
    given = stored if isinstance(stored, np.ndarray) else np.array(stored, dtype=whole)
    return given.astype(whole).astype(dtype)


def _encoded(value: object, name: str, whose: str) -> object:
    """Return an attribute as JSON that says its type where JSON has none for it."""
    if value is None or type(value) in (str, bool, int):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, list | tuple):
        items = [_encoded(item, name, whose) for item in value]
        return items if isinstance(value, list) else {"tuple": items}
    if isinstance(value, Mapping):
        return {"mapping": [[str(k), _encoded(v, name, whose)] for k, v in value.items()]}
    if isinstance(value, np.ndarray | np.generic):
        found = _listed(np.asarray(value), name, whose)
        return found if isinstance(value, np.ndarray) else {**found, "shape": None}
    raise InputError(
        "attribute-unwritable",
        f"{whose} cannot hold the attribute {name}",
        expected="text, a number, a truth value, or a list, mapping or array of them",
        got=type(value).__name__,
        do="write it as text, or take it away from .attrs",
        whose=whose,
        details={"attribute": name},
    )


def _decoded(value: Any) -> object:  # Any: whatever the JSON holds
    """Return the attribute that `_encoded` wrote."""
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return float(value["float"])
    if "tuple" in value:
        return tuple(_decoded(item) for item in value["tuple"])
    if "mapping" in value:
        return {str(key): _decoded(item) for key, item in value["mapping"]}
    array = _restored(value["values"], value["type"]).reshape(value["shape"] or ())
    return array[()] if value["shape"] is None else array


def _attributes(given: Mapping[Any, object], whose: str) -> dict[str, object]:  # Any: names
    return {str(k): _encoded(v, str(k), whose) for k, v in given.items()}


def check_encodable(texts: Iterable[str], what: str, whose: str) -> None:
    """Raise ``name-unwritable`` where a text holds half a surrogate pair: UTF-8 has none."""
    bad = [text for text in texts if _SURROGATE.search(text)]
    if bad:
        raise InputError(
            "name-unwritable",
            f"{whose} cannot hold the name of {what} {bad[0]!a}",
            expected="characters that UTF-8 can write",
            got="half a surrogate pair, as some JSON files have",
            do="write .npz instead, or mend the name",
            whose=whose,
            details={"names": bad},
        )


# ---- what a file says of itself

_MISFITS = (
    *(KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError),
    SyntaxError,  # of what should be the name of a type
)


def said(
    dataset: xr.Dataset, kind: str, whose: str, keys: Mapping[str, str], **more: object
) -> str:
    """Return a Dataset as JSON in ASCII, without the arrays that stand beside it under `keys`."""
    entries = []
    for name, variable in dataset.variables.items():
        values = variable.values
        entry: dict[str, object] = {
            "name": str(name),
            "dims": [str(dim) for dim in variable.dims],
            "coordinate": name in dataset.coords,
            "attributes": _attributes(variable.attrs, whose),
        }
        if name in keys:
            entry |= {"type": _type(values), "key": keys[str(name)]}
        else:
            entry |= _listed(values, str(name), whose)
        entries.append(entry)
    about = {"attributes": _attributes(dataset.attrs, whose), "variables": entries}
    return json.dumps({MARK: kind, "version": _VERSION, **more, **about})


def understood(
    about: str, kind: str, whose: str, stored: Mapping[str, Array] | None = None
) -> tuple[xr.Dataset, dict[str, Any]]:  # Any: whatever the JSON holds
    """Return a Dataset without the variables whose arrays are not there, and what else is said."""
    try:
        document = json.loads(about)
        version = int(document["version"])
        got = str(document.pop(MARK))
        if got == kind and version <= _VERSION:
            return _dataset(document, stored or {}), document
    except _MISFITS as reason:
        raise damaged(whose, reason) from reason
    if got != kind:
        raise InputError(
            "file-other",
            f"{whose} holds something else",
            expected=kind,
            got=got,
            do=_READS.get(got, "name another file"),
            whose=whose,
        )
    raise InputError(
        "file-newer",
        f"{whose} was written by a later version of plausibly",
        expected=f"format {_VERSION}",
        got=f"format {version}",
        do='upgrade here: pip install --upgrade "plausibly"',
        whose=whose,
    )


# Any: whatever the JSON holds; what does not fit raises, and is reported as damage
def _dataset(document: dict[str, Any], stored: Mapping[str, Array]) -> xr.Dataset:
    found: dict[bool, dict[str, xr.Variable]] = {False: {}, True: {}}
    for one in document.pop("variables"):
        if "values" in one:
            values = _restored(one["values"], one["type"]).reshape(one["shape"])
        elif one["key"] in stored:
            values = _restored(stored[one["key"]], one["type"])
        else:
            continue
        attributes = {key: _decoded(value) for key, value in one["attributes"].items()}
        variable = xr.Variable([str(dim) for dim in one["dims"]], values, attributes)
        found[bool(one["coordinate"])][str(one["name"])] = variable
    attributes = {key: _decoded(value) for key, value in document.pop("attributes").items()}
    return xr.Dataset(found[False], coords=found[True], attrs=attributes)


damaged = functools.partial(files.damaged, expected="what plausibly wrote")
"""Returns the error for a file of ours whose parts do not fit together."""


# ---- as arrays

_ARGUMENTS = ("file", "allow_pickle")  # of numpy's function that writes the arrays
_SAFE = re.compile("(?!variable_)[A-Za-z][A-Za-z0-9_]{0,60}")  # any program can read these
_INT32 = np.iinfo(np.int32)
_ROOM, _TIMES = 2**20, 64  # bytes, and bytes a character
_WIDER = {"b1": np.int8, "u1": np.int16, "u2": np.int32, "f2": np.float32}


def write_arrays(
    dataset: xr.Dataset, kind: str, path: Path, keys: Mapping[str, str], **more: object
) -> None:
    """Write variables as arrays of an npz file, where `keys` renames some, or of netCDF-3."""
    npz = path.suffix.lower() == ".npz"
    taken = [ABOUT, *_ARGUMENTS]
    dims: dict[object, str] = {}
    beside: dict[str, str] = {}
    held: dict[str, xr.Variable] = {}
    for name, variable in ((str(name), one) for name, one in dataset.variables.items()):
        values = plain(variable.values, name, path.name)
        stored = values if npz else _classic(values, name, path.name)
        if stored is None or _is_mostly_padding(values):
            continue
        key = keys.get(name, name) if npz else name
        beside[name] = (
            key if _SAFE.fullmatch(key) and key not in taken else f"variable_{len(taken)}"
        )
        taken.append(beside[name])
        for dim in variable.dims:
            dims.setdefault(dim, str(dim) if _SAFE.fullmatch(str(dim)) else f"dim_{len(dims)}")
        over = [dims[dim] for dim in variable.dims]
        held[beside[name]] = xr.Variable(over, stored, encoding={"_FillValue": None})
    about = said(dataset, kind, path.name, beside, **more)
    if npz:
        by_key = {key: variable.values for key, variable in held.items()}
        with path.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **by_key, **{ABOUT: np.array(about)})
        return
    coordinates = [key for name, key in beside.items() if name in dataset.coords]
    classic = xr.Dataset(held, attrs={MARK: about}).set_coords(coordinates)
    classic.to_netcdf(path, engine="scipy", format="NETCDF3_64BIT")


def _is_mostly_padding(values: Array) -> bool:
    """Return whether text would take much more room than its characters: one is far too long."""
    if values.dtype.kind != "U" or values.nbytes < _ROOM:
        return False
    return values.nbytes > _ROOM + _TIMES * int(np.char.str_len(values).sum())


def _classic(values: Array, name: str, whose: str) -> Array | None:
    """Return what `plain` gave as netCDF-3 holds it, or None where only JSON does."""
    if not values.ndim or not values.size:
        return None
    kind = values.dtype.newbyteorder("<").str[1:]
    if values.dtype.kind == "U":
        texts: list[str] = values.reshape(-1).tolist()
        check_encodable(texts, name, whose)
        return values if any(texts) and "\0" not in "".join(texts) else None
    if kind in ("i1", "i2", "i4", "f4", "f8"):
        return values
    if kind in _WIDER:
        return values.astype(_WIDER[kind])
    whole: Ints = values
    if int(whole.min()) >= _INT32.min and int(whole.max()) <= _INT32.max:
        return whole.astype(np.int32)
    return whole.astype(np.str_)


def read_arrays(path: Path, role: str, head: bytes) -> tuple[str | None, dict[str, Array]]:
    """Return what an npz or netCDF file says of itself, None where others wrote it; its arrays."""
    if head.startswith(arrays.SIGNATURES):
        dataset = arrays.load(path, role)
        found = dataset.attrs.get(MARK)
        stored = {str(name): np.asarray(one.values) for name, one in dataset.variables.items()}
    else:
        stored = arrays.read_npz(path, role)
        # Somebody else's array may have this name too.
        about = str(stored.get(ABOUT))
        found = about if about.startswith(f'{{"{MARK}"') else None
    return None if found is None else str(found), stored


def npz_names(path: Path) -> frozenset[str]:
    """Return the names of the arrays of an npz file; none where it is no such file."""
    try:
        with zipfile.ZipFile(io.BytesIO(files.contents(path, "file"))) as archive:
            found = archive.namelist()
    except Exception:  # noqa: BLE001  # zipfile raises a dozen kinds; who only asks wants no error
        return frozenset()
    return frozenset(name.removesuffix(".npy") for name in found if name.endswith(".npy"))


# ---- as rows

_BLOCK = 4_096
_LENGTH = 30_000  # a cell of a spreadsheet holds 32,767 characters
_PART = re.compile(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,8}) (.*)", re.DOTALL)
_OPENS = re.compile(r"1/[1-9][0-9]{0,8} \{")

Columns: TypeAlias = Sequence[Sequence[str | None] | Array]
"""Text, None for nothing; or numbers, masked where there is none."""


def write_rows(path: Path, header: Sequence[str], columns: Columns, about: str = "") -> None:
    """Write columns as CSV or Parquet, by the ending, with what the file says of itself."""
    if path.suffix.lower() == ".parquet":
        text.write_columns(path, header, columns, {MARK: about} if about else None)
        return
    if about:
        starts = range(0, len(about), _LENGTH)
        parts = [f"{n}/{len(starts)} {about[at : at + _LENGTH]}" for n, at in enumerate(starts, 1)]
        header, columns = [*header, ABOUT], [*columns, parts]
    quoted_once = functools.cache(lambda value: line([value])[:-1])

    def cell(value: object) -> str:
        return (
            "" if value is None else quoted_once(value) if isinstance(value, str) else repr(value)
        )

    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(line(header))
        for start in range(0, max(map(len, columns)), _BLOCK):
            some = (column[start : start + _BLOCK] for column in columns)
            cells = (map(cell, c.tolist() if isinstance(c, np.ndarray) else c) for c in some)
            file.writelines(",".join(row) + "\n" for row in zip_longest(*cells, fillvalue=""))


def said_in(path: Path, table: TextTable) -> str | None:
    """Return what a file of rows says of itself; None unless it is there as a whole."""
    if table.unit != "line":
        return text.metadata(path, MARK)
    cells = table.column(ABOUT) if ABOUT in table.header else []
    parts = [_PART.fullmatch(cell) for cell in cells if cell]
    found = {int(part[1]): part[3] for part in parts if part}
    counts = {int(part[2]) for part in parts if part}
    whole = None not in parts and len(counts) == 1
    if not whole or sorted(found) != list(range(1, max(counts) + 1)):
        return None
    return "".join(found[number] for number in sorted(found))


def opens(cell: str) -> bool:
    """Return whether a cell is the first one of such a text."""
    return _OPENS.match(cell) is not None


def begins(head: bytes, names: Sequence[str]) -> bool:
    """Return whether the first line of a text table begins with these columns."""
    words = [f'(?:{name}|"{name}")' for name in names]
    first = head.removeprefix(b"\xef\xbb\xbf")[:400].decode("utf-8", "replace")
    return any(re.match(f"{mark.join(words)}(?:[{mark}\r\n]|$)", first) for mark in ",;\t")
