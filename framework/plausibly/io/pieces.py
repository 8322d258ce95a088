"""Variables of any type with their attributes as JSON, npz or netCDF-3, exact when read back."""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data.names import quoted
from plausibly.errors import InputError
from plausibly.io import files
from plausibly.kernels.types import Ints

COLUMN = "about"

_LENGTH = 30_000  # a cell of a spreadsheet holds 32,767 characters
_PART = re.compile(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,8}) (.*)", re.DOTALL)
_OPENS = re.compile(r"1/[1-9][0-9]{0,8} \{")


def cells(text: str) -> list[str]:
    """Return the text in cells, each with its number: ``1/2 {...``."""
    count = -(-len(text) // _LENGTH)
    return [
        f"{part + 1}/{count} {text[part * _LENGTH : (part + 1) * _LENGTH]}" for part in range(count)
    ]


def joined(column: Sequence[str]) -> str | None:
    """Return the text in the cells of a column, in any order; None unless it is whole."""
    found: dict[int, str] = {}
    counts = set()
    for cell in column:
        if cell:
            part = _PART.fullmatch(cell)
            if part is None:
                return None
            found[int(part[1])] = part[3]
            counts.add(int(part[2]))
    whole = len(counts) == 1 and sorted(found) == list(range(1, max(counts) + 1))
    return "".join(found[number] for number in sorted(found)) if whole else None


def opens(cell: str) -> bool:
    """Return whether a cell is the first one of such a text."""
    return _OPENS.match(cell) is not None


def begins(head: bytes, names: Sequence[str]) -> bool:
    """Return whether the first line of a text table begins with these columns."""
    words = [f'(?:{name}|"{name}")' for name in names]
    first = head.removeprefix(b"\xef\xbb\xbf")[:400].decode("utf-8", "replace")
    return any(re.match(f"{mark.join(words)}(?:[{mark}\r\n]|$)", first) for mark in ",;\t")


_KINDS = "biufUmMO"
_SURROGATE = re.compile("[\ud800-\udfff]")


def plain(
    values: NDArray[Any],  # Any: a plugin's own type
    name: str,
    whose: str,
) -> NDArray[Any]:  # Any: numbers, truth values or text
    """Return the values as numbers, truth values or text: dates as integers, objects as text."""
    kind = values.dtype.kind
    if kind in "mM":
        return values.astype(np.int64)
    if kind == "O":
        every: list[object] = list(values.reshape(-1))
        if not all(type(one) is str and not one.endswith("\0") for one in every):
            _unwritable(name, whose, "objects that are no text")
        return np.array(every, dtype=np.str_).reshape(values.shape)
    if kind not in _KINDS or (kind == "f" and values.dtype.itemsize > 8):
        _unwritable(name, whose, f"type {values.dtype}")
    return values


def _unwritable(name: str, whose: str, got: str) -> NoReturn:
    raise InputError(
        "variable-unwritable",
        f"{whose} cannot hold the variable {name}",
        expected="numbers, truth values, text or dates",
        got=got,
        do=f"change its type, or leave it out: .drop_vars({quoted(name)})",
        whose=whose,
        details={"variable": name},
    )


def type_of(values: NDArray[Any]) -> str:  # Any: as above
    """Return the type of an array as `as_it_was` reads it."""
    return "object" if values.dtype.kind == "O" else values.dtype.newbyteorder("<").str


def as_it_was(stored: NDArray[Any], type_: str) -> NDArray[Any]:  # Any: as above
    """Return values of the type that they had, from numbers, truth values, text, or digits."""
    dtype = np.dtype(type_).newbyteorder("=")
    if dtype.kind in "iumM" and stored.dtype.kind in "UO":
        whole = np.dtype(np.int64) if dtype.kind in "mM" else dtype
        digits = [int(text) for text in stored.reshape(-1).tolist()]
        stored = np.array(digits, dtype=whole).reshape(stored.shape)
    if dtype.kind in "mM":
        return stored.astype(np.int64).astype(dtype)
    return stored.astype(dtype)


def as_list(values: NDArray[Any]) -> list[object]:  # Any: as above
    """Return what `plain` gave as JSON: numbers that JSON does not know as text."""
    flat: list[object] = values.reshape(-1).tolist()
    if values.dtype.kind == "f":
        return [x if isinstance(x, float) and math.isfinite(x) else str(x) for x in flat]
    return flat


def from_list(
    items: Sequence[object], type_: str, shape: Sequence[int]
) -> NDArray[Any]:  # Any: as above
    """Return the array that `as_list` took apart."""
    dtype = np.dtype(type_).newbyteorder("=")
    if dtype.kind == "f":
        numbers = np.array([float(str(x)) for x in items], np.float64)
        return numbers.astype(dtype).reshape(shape)
    stored = np.dtype(np.int64) if dtype.kind in "mM" else dtype
    return as_it_was(np.array(items, dtype=stored).reshape(shape), type_)


def encoded(value: object, name: str, whose: str) -> object:
    """Return an attribute as JSON that says its type where JSON has none for it."""
    if value is None or type(value) in (str, bool, int):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, list | tuple):
        items = [encoded(item, name, whose) for item in value]
        return items if isinstance(value, list) else {"tuple": items}
    if isinstance(value, Mapping):
        return {"mapping": [[str(k), encoded(v, name, whose)] for k, v in value.items()]}
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        shape = None if isinstance(value, np.generic) else list(value.shape)
        values = as_list(plain(array, name, whose))
        return {"type": type_of(array), "shape": shape, "values": values}
    raise InputError(
        "attribute-unwritable",
        f"{whose} cannot hold the attribute {name}",
        expected="text, a number, a truth value, or a list, mapping or array of them",
        got=type(value).__name__,
        do="write it as text, or take it away from .attrs",
        whose=whose,
        details={"attribute": name},
    )


def decoded(value: Any) -> object:  # Any: whatever the JSON holds
    """Return the attribute that `encoded` wrote."""
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return float(value["float"])
    if "tuple" in value:
        return tuple(decoded(item) for item in value["tuple"])
    if "mapping" in value:
        return {str(key): decoded(item) for key, item in value["mapping"]}
    array = from_list(value["values"], value["type"], value["shape"] or ())
    return array[()] if value["shape"] is None else array


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


MARK = "plausibly"
"""The key of the JSON text that says what kind of table a file is; its first one."""

_VERSION = 1


@attrs.frozen(kw_only=True, eq=False)
class Piece:
    """One variable."""

    name: str
    dims: tuple[str, ...]
    values: NDArray[Any]  # Any: a plugin's own type
    coordinate: bool = False
    attributes: Mapping[str, object] = attrs.field(factory=dict)

    @property
    def variable(self) -> xr.Variable:
        """The same as a variable of xarray."""
        return xr.Variable(self.dims, self.values, attrs=dict(self.attributes))


@attrs.frozen(kw_only=True, eq=False)
class Content:
    """What a file holds."""

    kind: str
    attributes: Mapping[str, object]
    pieces: tuple[Piece, ...]
    more: Mapping[str, object] = attrs.field(factory=dict)


def pieces_of(variables: Mapping[str, xr.Variable], coordinates: Iterable[object]) -> list[Piece]:
    """Return variables as pieces; those named in `coordinates` are some."""
    known = {str(name) for name in coordinates}
    return [
        Piece(
            name=name,
            dims=tuple(str(dim) for dim in variable.dims),
            values=np.asarray(variable.values),
            coordinate=name in known,
            attributes={str(key): value for key, value in variable.attrs.items()},
        )
        for name, variable in variables.items()
    ]


# ---- what is said of them


def entry(piece: Piece, whose: str, *, key: str | None = None) -> dict[str, object]:
    """Return what is said of a variable: with its values, unless they are stored under `key`."""
    found: dict[str, object] = {
        "name": piece.name,
        "dims": list(piece.dims),
        "type": type_of(piece.values),
        "coordinate": piece.coordinate,
        "attributes": {k: encoded(v, k, whose) for k, v in piece.attributes.items()},
    }
    if key is not None:
        return {**found, "key": key}
    return {
        **found,
        "shape": list(piece.values.shape),
        "values": as_list(plain(piece.values, piece.name, whose)),
    }


def said(content: Content, entries: Sequence[Mapping[str, object]], whose: str) -> str:
    """Return the JSON text that says what a file holds, in ASCII."""
    return json.dumps(
        {
            MARK: content.kind,
            "version": _VERSION,
            **content.more,
            "attributes": {k: encoded(v, k, whose) for k, v in content.attributes.items()},
            "variables": list(entries),
        }
    )


def understood(
    text: str,
    kind: str,
    whose: str,
    stored: Mapping[str, NDArray[Any]] | None = None,  # Any: as the file says
) -> Content:
    """Return what a file holds, from its JSON text and the arrays that it stores."""
    try:
        document = json.loads(text)
        version = int(document["version"])
        if document[MARK] != kind:
            raise _other(whose, kind, str(document[MARK]))
        if version > _VERSION:
            raise _newer(whose, version)
        return _understood(document, stored or {})
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as reason:
        raise damaged(whose, reason) from reason


# Any: whatever the JSON holds; what does not fit raises, and is reported as damage
def _understood(document: dict[str, Any], stored: Mapping[str, NDArray[Any]]) -> Content:
    pieces = []
    for one in document.pop("variables"):
        dims = tuple(str(dim) for dim in one["dims"])
        if "values" in one:
            values = from_list(one["values"], one["type"], one["shape"])
        elif one["key"] in stored:
            values = as_it_was(stored[one["key"]], one["type"])
        else:
            continue
        if values.ndim != len(dims):
            raise ValueError(f"{one['name']} has {values.ndim} dims")
        pieces.append(
            Piece(
                name=str(one["name"]),
                dims=dims,
                values=values,
                coordinate=bool(one["coordinate"]),
                attributes={k: decoded(v) for k, v in one["attributes"].items()},
            )
        )
    attributes = {k: decoded(v) for k, v in document.pop("attributes").items()}
    kind = str(document.pop(MARK))
    return Content(kind=kind, attributes=attributes, pieces=tuple(pieces), more=document)


def damaged(whose: str, reason: BaseException) -> InputError:
    """Return the error for a file of ours whose parts do not fit together."""
    shown = " ".join(str(reason).split())[:120] or type(reason).__name__
    return InputError(
        "file-damaged",
        f"{whose} is not a whole file",
        expected="what plausibly wrote",
        got=shown,
        do="copy it again, or write it again",
        whose=whose,
    )


_READS = {
    "annotation table": "plausibly.read_annotations(path), or -a FILE",
    "plausibilities": "plausibly.read_plausibilities(path), or the option plausibilities",
}


def _other(whose: str, kind: str, got: str) -> InputError:
    return InputError(
        "file-other",
        f"{whose} holds something else",
        expected=kind,
        got=got,
        do=_READS.get(got, "name another file"),
        whose=whose,
    )


def _newer(whose: str, version: int) -> InputError:
    return InputError(
        "file-newer",
        f"{whose} was written by a later version of plausibly",
        expected=f"format {_VERSION}",
        got=f"format {version}",
        do='upgrade here: pip install --upgrade "plausibly"',
        whose=whose,
    )


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
    """Write pieces as arrays of an npz file; `keys` renames some."""
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
    """Write pieces as variables of a netCDF-3 file."""
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
