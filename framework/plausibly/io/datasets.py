"""Datasets in files, exact when read back: one JSON text, and arrays or rows beside it.

The text is an array of an npz file, an attribute of netCDF-3, the last column of a CSV, or in the
metadata of Parquet. What a format has no array for, the text holds.
"""

from __future__ import annotations

import functools
import io
import json
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np
import xarray as xr

from plausibly import extras
from plausibly.data import names
from plausibly.data.names import quoted
from plausibly.data.text_table import TextTable
from plausibly.errors import InputError
from plausibly.io import files, text
from plausibly.io.text import line

if TYPE_CHECKING:
    from plausibly.io.arrays import Array

MARK = "plausibly"
"""Where netCDF and Parquet have the JSON text, and in it the key of its kind, its first one."""

ABOUT = "about"
"""Where npz and CSV have the JSON text."""

ARRAY_ENDINGS = (".npz", ".nc")
"""Of files of arrays, in which sparse plausibilities stay sparse."""

ENDINGS = (".csv", ".parquet", *ARRAY_ENDINGS)
"""Of the files that are written."""

_VERSION = 1
ANNOTATION_TABLE = "annotation table"
FIRST_COLUMNS = (names.RESPONSE, names.EXAMPLE, names.ANNOTATOR, names.LABEL)
"""Kind of an annotation table, and the columns with which its rows begin."""

_READS = {
    ANNOTATION_TABLE: "plausibly.read_annotations(path), where annotations are wanted",
    "plausibilities": "plausibly.read_plausibilities(path), where plausibilities are wanted",
}


# ---- arrays and attributes as JSON


def _plain(values: Array, name: str, source: str) -> Array:
    """Return the values as numbers, truth values or text: dates as integers, objects as text."""
    kind, actual = values.dtype.kind, f"type {values.dtype}"
    if kind == "O":
        every: list[object] = values.reshape(-1).tolist()
        if all(type(value) is str and not value.endswith("\0") for value in every):
            return np.array(every, dtype=np.str_).reshape(values.shape)
        actual = "objects that are no text"
    elif kind in "mM":
        return values.astype(np.int64)
    elif kind in "biuU" or (kind == "f" and values.dtype.itemsize <= 8):
        return values
    hint = f"change its type, or leave it out: .drop_vars({quoted(name)})"
    expected = "numbers, truth values, text or dates"
    raise _unwritable(source, f"variable {name}", expected, actual, hint)


def _unwritable(source: str, what: str, expected: str, found: str, hint: str) -> InputError:
    return InputError(
        "value-unwritable",
        f"{source} cannot hold the {what}",
        expected=expected,
        found=found,
        hint=hint,
        source=source,
    )


def _encoded(value: object, name: str, source: str) -> object:
    """Return an array or attribute as JSON that states its type where JSON has none for it."""
    if value is None or type(value) in (str, bool, int, float):
        return value
    if isinstance(value, list):
        return [_encoded(item, name, source) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [_encoded(item, name, source) for item in value]}
    if isinstance(value, Mapping):
        return {"mapping": {str(key): _encoded(item, name, source) for key, item in value.items()}}
    if isinstance(value, np.ndarray | np.generic):
        return {
            "type": _type_name(np.asarray(value)),
            "shape": list(value.shape) if isinstance(value, np.ndarray) else None,
            "values": _plain(np.asarray(value), name, source).reshape(-1).tolist(),
        }
    expected = "text, a number, a truth value, or a list, mapping or array of them"
    hint = "write it as text, or take it away from .attrs"
    raise _unwritable(source, f"attribute {name}", expected, type(value).__name__, hint)


def _decoded(value: Any) -> Any:  # Any: whatever the JSON holds
    """Return what `_encoded` wrote."""
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "tuple" in value:
        return tuple(map(_decoded, value["tuple"]))
    if "mapping" in value:
        return {str(key): _decoded(item) for key, item in value["mapping"].items()}
    array = _restored(value["values"], value["type"]).reshape(value["shape"] or ())
    return array[()] if value["shape"] is None else array


def _type_name(values: Array) -> str:
    return "object" if values.dtype.kind == "O" else values.dtype.newbyteorder("<").str


def _restored(stored: Array | Sequence[object], type_name: str) -> Array:
    """Return the values of `_plain` in the type that they had."""
    dtype = np.dtype(type_name).newbyteorder("=")
    plain = np.dtype(np.int64) if dtype.kind in "mM" else dtype
    values = stored if isinstance(stored, np.ndarray) else np.array(stored, dtype=plain)
    return values.astype(plain).astype(dtype)


def _check_encodable(texts: Iterable[str | None], what: str, source: str) -> None:
    """Raise ``value-unwritable`` where a text holds half a surrogate pair: UTF-8 has none."""
    bad = [text for text in texts if text and re.search("[\ud800-\udfff]", text)]
    if bad:
        found, hint = "half a surrogate pair", "write .npz instead, or fix the name"
        expected = "characters that UTF-8 can write"
        raise _unwritable(source, f"name of {what} {bad[0]!a}", expected, found, hint)


def encode(
    dataset: xr.Dataset, kind: str, source: str, keys: Mapping[str, str], **more: object
) -> str:
    """Return a Dataset as JSON in ASCII, without the arrays that stand beside it under `keys`."""
    variables = []
    for label, variable in dataset.variables.items():
        name, values = str(label), variable.values
        beside = {"type": _type_name(values), "key": keys.get(name)}
        entry = {
            "name": name,
            "dims": list(map(str, variable.dims)),
            "coordinate": name in dataset.coords,
            "attributes": _encoded(variable.attrs, name, source),
            "array": beside if name in keys else _encoded(values, name, source),
        }
        variables.append(entry)
    attributes = {key: _encoded(value, str(key), source) for key, value in dataset.attrs.items()}
    about = {MARK: kind, "version": _VERSION, **more}
    return json.dumps(about | {"attributes": {"mapping": attributes}, "variables": variables})


damaged = functools.partial(files.damaged, expected="what plausibly wrote")
"""Returns the error for a file of ours whose parts do not fit together."""


def decode(
    about: str, kind: str, source: str, stored: Mapping[str, Array] | None = None
) -> tuple[xr.Dataset, dict[str, Any]]:  # Any: whatever the JSON holds
    """Return what `encode` was called with, without the variables whose arrays are not `stored`."""
    try:
        document = json.loads(about)
        version = int(document["version"])
        actual = str(document.pop(MARK))
        if actual == kind and version <= _VERSION:
            variables: dict[bool, dict[str, xr.Variable]] = {False: {}, True: {}}
            for entry in document.pop("variables"):
                array = entry["array"]
                if "values" in array:
                    values = _decoded(array)
                elif array["key"] in (stored or {}):
                    values = _restored((stored or {})[array["key"]], array["type"])
                else:
                    continue
                variable = xr.Variable(entry["dims"], values, _decoded(entry["attributes"]))
                variables[bool(entry["coordinate"])][str(entry["name"])] = variable
            attributes = _decoded(document.pop("attributes"))
            return xr.Dataset(variables[False], variables[True], attributes), document
    except (
        *(KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError),
        SyntaxError,  # of what should be the name of a type
    ) as reason:
        raise damaged(source, reason) from reason
    expected, found, hint = kind, actual, _READS.get(actual, "name another file")
    if actual == kind:
        expected, found = f"{kind} of format {_VERSION}, of this version", f"format {version}"
        hint = 'upgrade here: pip install --upgrade "plausibly"'
    raise InputError(
        "file-other",
        f"{source} holds something else",
        expected=expected,
        found=found,
        hint=hint,
        source=source,
    )


# ---- as arrays

_TAKEN = (ABOUT, "file", "allow_pickle")  # the latter are arguments of numpy's function
_SAFE = re.compile("[A-Za-z][A-Za-z0-9_]{0,60}")  # any program can read these
_INT32 = np.iinfo(np.int32)


def write_arrays(
    dataset: xr.Dataset, kind: str, path: Path, keys: Mapping[str, str], **more: object
) -> None:
    """Write variables as arrays of an npz file, where `keys` renames some, or of netCDF-3."""
    npz = path.suffix.lower() == ".npz"
    beside: dict[str, str] = {}
    held: dict[str, xr.Variable] = {}
    for name, variable in ((str(name), value) for name, value in dataset.variables.items()):
        values = _plain(variable.values, name, path.name)
        stored = values if npz else _classic(values, name, path.name)
        key = keys.get(name, name) if npz else name
        safe = all(map(_SAFE.fullmatch, (key, *map(str, variable.dims))))
        if stored is not None and safe and key not in (*_TAKEN, *held):
            beside[name] = key
            held[key] = xr.Variable(variable.dims, stored, encoding={"_FillValue": None})
    about = encode(dataset, kind, path.name, beside, **more)
    if npz:
        by_key = {key: variable.values for key, variable in held.items()}
        with path.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **by_key, **{ABOUT: np.array(about)})
        return
    coordinates = [key for name, key in beside.items() if name in dataset.coords]
    classic = xr.Dataset(held, attrs={MARK: about}).set_coords(coordinates)
    classic.to_netcdf(path, engine="scipy", format="NETCDF3_64BIT")


def _classic(values: Array, name: str, source: str) -> Array | None:
    """Return what `_plain` gave as netCDF-3 holds it, or None where only JSON does."""
    if not values.ndim or not values.size:
        return None
    if values.dtype.kind == "U":
        texts: list[str] = values.reshape(-1).tolist()
        _check_encodable(texts, name, source)
        return values if any(texts) and "\0" not in "".join(texts) else None
    if values.dtype.kind == "f":
        return values.astype(np.float32) if values.dtype.itemsize == 2 else values
    fits = _INT32.min <= int(values.min()) and int(values.max()) <= _INT32.max
    return values.astype(np.int32) if fits else None


def read_arrays(path: Path, role: str, head: bytes) -> tuple[str | None, dict[str, Array]]:
    """Return what an npz or netCDF file says of itself, None where others wrote it; its arrays."""
    from plausibly.io import arrays  # not needed to recognise a file

    if head.startswith(files.NETCDF):
        dataset = arrays.load(path, role)
        stored = {str(name): np.asarray(array.values) for name, array in dataset.variables.items()}
        return str(dataset.attrs[MARK]) if MARK in dataset.attrs else None, stored
    stored = arrays.read_npz(path, role)
    # An array of another program may have this name too.
    about = str(stored.get(ABOUT))
    return about if about.startswith(f'{{"{MARK}"') else None, stored


def npz_names(path: Path) -> frozenset[str]:
    """Return the names of the arrays of an npz file; none where it is no such file."""
    try:
        with zipfile.ZipFile(io.BytesIO(files.opening(path, "file", -1))) as archive:
            inside = archive.namelist()
    except Exception:  # noqa: BLE001  # zipfile raises a dozen kinds; who only asks wants no error
        return frozenset()
    return frozenset(name.removesuffix(".npy") for name in inside if name.endswith(".npy"))


# ---- as rows

_BLOCK = 4_096
_LENGTH = 30_000  # a cell of a spreadsheet holds 32,767 characters
_PART = re.compile(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,8}) (.*)", re.DOTALL)

Columns: TypeAlias = "Sequence[Sequence[str | None] | Array]"
"""Text, None for nothing; or numbers, masked where there is none."""


def write_rows(path: Path, header: Sequence[str], columns: Columns, about: str = "") -> None:
    """Write columns as CSV or Parquet, by the ending, with what the file says of itself."""
    _check_encodable(header, "column", path.name)
    for name, column in zip(header, columns, strict=True):
        if not isinstance(column, np.ndarray):
            _check_encodable(dict.fromkeys(column), name, path.name)
    if path.suffix.lower() == ".parquet":
        pyarrow = extras.require("pyarrow", extra="parquet", source=path.name)
        parquet = extras.require("pyarrow.parquet", extra="parquet", source=path.name)
        values = [
            pyarrow.array(np.ma.getdata(column), mask=np.ma.getmaskarray(column))
            if isinstance(column, np.ndarray)
            else pyarrow.array(column, type=pyarrow.string())
            for column in columns
        ]
        table = pyarrow.Table.from_arrays(values, names=list(header))
        parquet.write_table(table.replace_schema_metadata({MARK: about} if about else {}), path)
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
            blocks = (column[start : start + _BLOCK] for column in columns)
            cells = (map(cell, c.tolist() if isinstance(c, np.ndarray) else c) for c in blocks)
            file.writelines(",".join(row) + "\n" for row in zip_longest(*cells, fillvalue=""))


def read_rows(path: Path, role: str) -> tuple[TextTable, str | None]:
    """Return the rows that `write_rows` wrote, and what the file says of itself where it is whole.

    There may be further rows of which only the last column is filled: these are left out.
    """
    table = text.read_table(path, role=role, unique=False)
    about = None if table.unit == "line" else text.metadata(path, MARK)
    if about is not None or ABOUT not in table.header:
        return table, about
    at = table.header.index(ABOUT)
    parts = [_PART.fullmatch(cell) for cell in table.columns[at] if cell]
    numbered = {int(part[1]): part[3] for part in parts if part}
    counts = {int(part[2]) for part in parts if part}
    whole = None not in parts and len(counts) == 1
    whole = whole and sorted(numbered) == list(range(1, max(counts) + 1))
    rest = [column for place, column in enumerate(table.columns) if place != at]
    kept = [row for row, filled in enumerate(map(any, zip(*rest, strict=True))) if filled]
    table = attrs.evolve(
        table,
        columns=tuple([column[row] for row in kept] for column in table.columns),
        lines=[table.lines[row] for row in kept],
    )
    return table, "".join(numbered[number] for number in sorted(numbered)) if whole else None


def begins(path: Path, head: bytes, columns: Sequence[str]) -> bool:
    """Return whether a table begins with these columns, by the first bytes of its file."""
    is_json = head.lstrip().startswith((b"{", b"["))
    return not is_json and text.first_row(path, head)[: len(columns)] == tuple(columns)


def is_annotation_file(path: Path, head: bytes) -> bool:
    """Return whether `write_annotations` wrote a file, also one that was edited since."""
    if head.startswith(b"PK"):
        return {ABOUT, names.MENTION_RESPONSE} <= npz_names(path)
    if head.startswith(files.NETCDF):
        return f'"{MARK}": "{ANNOTATION_TABLE}"'.encode() in head
    return begins(path, head, FIRST_COLUMNS)
