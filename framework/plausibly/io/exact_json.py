"""Values and attributes of any type as JSON, as digits, as text, and back to the last bit."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from plausibly.data.names import quoted
from plausibly.errors import InputError

_KINDS = "biufUmMO"
_SURROGATE = re.compile("[\ud800-\udfff]")


def plain(
    values: NDArray[Any],  # Any: a plugin's own type
    name: str,
    whose: str,
) -> NDArray[Any]:  # Any: numbers, truth values or text
    """Return the values as numbers, truth values or text: dates as integers, objects as text.

    Raises
    ------
    InputError
        ``variable-unwritable`` for any other type.
    """
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
