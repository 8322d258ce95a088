"""Variables of any type under names, and what is said of them, as JSON that reads back exactly.

A file of ours says of itself, in one JSON text, what its format has no place for: attributes with
their types, types and dims of variables, and the values of variables that it cannot hold.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.errors import InputError
from plausibly.labelled.text import quoted

MARK = "plausibly"
"""The key of the JSON text that says what kind of table a file is; its first one."""

_VERSION = 1
_KINDS = "biufUmMO"
_SURROGATE = re.compile("[\ud800-\udfff]")


@attrs.frozen(kw_only=True, eq=False)
class Piece:
    """One variable.

    Attributes
    ----------
    name : str
    dims : tuple of str
    values : ndarray
        Numbers, truth values, text (of fixed width or as objects) or dates.
    coordinate : bool
        Whether it is a coordinate of the table.
    attributes : dict
    """

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
    """What a file holds.

    Attributes
    ----------
    kind : str
        What it is: ``"annotation table"`` or ``"plausibilities"``.
    attributes : dict
        Of the table.
    pieces : tuple of Piece
        Its variables.
    more : dict
        Whatever else belongs to the kind of file; plain JSON.
    """

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


# ---- values


def plain(piece: Piece, whose: str) -> NDArray[Any]:  # Any: numbers, truth values or text
    """Return the values as numbers, truth values or text: dates as integers, objects as text.

    Raises
    ------
    InputError
        ``variable-unwritable`` for any other type.
    """
    values = piece.values
    kind = values.dtype.kind
    if kind in "mM":
        return values.astype(np.int64)
    if kind == "O":
        every: list[object] = list(values.reshape(-1))
        if not all(type(one) is str and not one.endswith("\0") for one in every):
            _unwritable(piece, whose, "objects that are no text")
        return np.array(every, dtype=np.str_).reshape(values.shape)
    if kind not in _KINDS or (kind == "f" and values.dtype.itemsize > 8):
        _unwritable(piece, whose, f"type {values.dtype}")
    return values


def _unwritable(piece: Piece, whose: str, got: str) -> NoReturn:
    raise InputError(
        "variable-unwritable",
        f"{whose} cannot hold the variable {piece.name}",
        expected="numbers, truth values, text or dates",
        got=got,
        do=f"change its type, or leave it out: .drop_vars({quoted(piece.name)})",
        whose=whose,
        details={"variable": piece.name},
    )


def _type(values: NDArray[Any]) -> str:  # Any: as above
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


def _as_list(values: NDArray[Any]) -> list[object]:  # Any: as above
    flat: list[object] = values.reshape(-1).tolist()
    if values.dtype.kind == "f":
        return [x if isinstance(x, float) and math.isfinite(x) else str(x) for x in flat]
    return flat


def _from_list(items: Sequence[object], type_: str, shape: Sequence[int]) -> NDArray[Any]:
    dtype = np.dtype(type_).newbyteorder("=")
    if dtype.kind == "f":
        numbers = np.array([float(str(x)) for x in items], np.float64)
        return numbers.astype(dtype).reshape(shape)
    stored = np.dtype(np.int64) if dtype.kind in "mM" else dtype
    return as_it_was(np.array(items, dtype=stored).reshape(shape), type_)


# ---- what is said of them


def entry(piece: Piece, whose: str, *, key: str | None = None) -> dict[str, object]:
    """Return what is said of a variable: with its values, unless they are stored under `key`."""
    found: dict[str, object] = {
        "name": piece.name,
        "dims": list(piece.dims),
        "type": _type(piece.values),
        "coordinate": piece.coordinate,
        "attributes": {k: _encoded(v, k, whose) for k, v in piece.attributes.items()},
    }
    if key is not None:
        return {**found, "key": key}
    return {**found, "shape": list(piece.values.shape), "values": _as_list(plain(piece, whose))}


def said(content: Content, entries: Sequence[Mapping[str, object]], whose: str) -> str:
    """Return the JSON text that says what a file holds, in ASCII."""
    return json.dumps(
        {
            MARK: content.kind,
            "version": _VERSION,
            **content.more,
            "attributes": {k: _encoded(v, k, whose) for k, v in content.attributes.items()},
            "variables": list(entries),
        }
    )


def understood(
    text: str,
    kind: str,
    whose: str,
    stored: Mapping[str, NDArray[Any]] | None = None,  # Any: as the file says
) -> Content:
    """Return what a file holds, from its JSON text and the arrays that it stores.

    Parameters
    ----------
    text : str
        What `said` gave.
    kind : str
        What the file should be.
    whose : str
        Name of the file.
    stored : mapping of str to ndarray, optional
        Arrays by key; a variable whose key is not there is left to the caller.

    Raises
    ------
    InputError
        ``file-damaged``; ``file-newer`` where a later version wrote it.
    """
    try:
        document = json.loads(text)
        version = int(document["version"])
        if document[MARK] != kind:
            raise ValueError(f"the file is of {document[MARK]}")
        if version > _VERSION:
            raise _newer(whose, version)
        return _understood(document, stored or {})
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as reason:
        raise damaged(whose, reason) from reason


def _understood(document: dict[str, Any], stored: Mapping[str, NDArray[Any]]) -> Content:
    # Any: whatever the JSON holds; what does not fit raises, and is reported as damage
    pieces = []
    for one in document.pop("variables"):
        dims = tuple(str(dim) for dim in one["dims"])
        if "values" in one:
            values = _from_list(one["values"], one["type"], one["shape"])
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
                attributes={k: _decoded(v) for k, v in one["attributes"].items()},
            )
        )
    attributes = {k: _decoded(v) for k, v in document.pop("attributes").items()}
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


def _newer(whose: str, version: int) -> InputError:
    return InputError(
        "file-newer",
        f"{whose} was written by a later version of plausibly",
        expected=f"format {_VERSION}",
        got=f"format {version}",
        do='upgrade here: pip install --upgrade "plausibly"',
        whose=whose,
    )


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
        array = Piece(name=name, dims=(), values=np.asarray(value))
        shape = None if isinstance(value, np.generic) else list(value.shape)
        values = _as_list(plain(array, whose))
        return {"type": _type(array.values), "shape": shape, "values": values}
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
    array = _from_list(value["values"], value["type"], value["shape"] or ())
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
