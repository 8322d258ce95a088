"""Type hints compared with values, and spelled as in source code."""

from __future__ import annotations

import types
import typing
from typing import Literal


def fits(value: object, wanted: object) -> bool:
    """Return whether a data member has the declared type, looked into one level deep."""
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if origin is not None and hasattr(origin, "__value__"):
        # A name for another type, as numpy's NDArray is from Python 3.12 on.
        return fits(value, origin.__value__[arguments])
    if origin is Literal:
        return value in arguments
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, arm) for arm in arguments)
    if origin is not None:
        if not isinstance(value, origin):
            return False
        inner = [a for a in arguments if a is not Ellipsis]
        return len(inner) != 1 or all(fits(item, inner[0]) for item in value)
    if wanted is float:
        return isinstance(value, float | int) and not isinstance(value, bool)
    if wanted is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return not isinstance(wanted, type) or isinstance(value, wanted)


def spelled(wanted: object) -> str:
    """Return a type as it is spelled in source code."""
    if typing.get_origin(wanted) is Literal:
        return " or ".join(repr(value) for value in typing.get_args(wanted))
    return (
        wanted.__name__ if isinstance(wanted, type) and not typing.get_args(wanted) else str(wanted)
    )
