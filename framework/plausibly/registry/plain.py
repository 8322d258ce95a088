"""Components to plain data: the table from which an equal component can be made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from numbers import Integral, Rational, Real
from pathlib import Path
from typing import Any

from plausibly.protocols import KINDS, Kind
from plausibly.registry.conformance import problems
from plausibly.registry.mistakes import Mistake, ParameterError
from plausibly.registry.parameters import has_fields, parameters_of

Describe = Callable[[Kind[Any], object], dict[str, object]]  # Any: each kind has its own Protocol
"""Returns the table of a component: `Registry.describe`."""


class _NotPlain(Exception):
    """A value that no table can hold."""


def described(component: object, describe: Describe, whose: str) -> dict[str, object]:
    """Return the parameters of a component as plain data.

    Raises
    ------
    ComponentError
        ``component-parameter`` with every parameter that is no plain data.
    """
    table: dict[str, object] = {}
    mistakes: list[Mistake] = []
    for parameter in parameters_of(type(component)):
        try:
            value = getattr(component, parameter.field)
            table[parameter.name] = plain(value, describe)
        except (_NotPlain, AttributeError):
            mistakes.append(
                Mistake(
                    parameter.name,
                    "cannot be written down: it is no number, text, list, table or component",
                    advice="make the component a frozen attrs class with plain parameters",
                )
            )
    if mistakes:
        raise ParameterError.about(whose, mistakes)
    return table


def plain(value: object, describe: Describe) -> object:
    """Return `value` as JSON and TOML can hold it; components become tables."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str | Path):
        return str(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and not isinstance(value, Rational):
        return float(value)
    if isinstance(value, list | tuple):
        return [plain(item, describe) for item in value]
    if isinstance(value, Set):
        return sorted((plain(item, describe) for item in value), key=repr)
    if isinstance(value, Mapping):
        return {str(key): plain(item, describe) for key, item in value.items()}
    kinds = [kind for kind in KINDS if not problems(value, kind.protocol)]
    if kinds:
        return describe(kinds[0], value)
    if has_fields(type(value)):
        return {
            p.name: plain(getattr(value, p.field), describe) for p in parameters_of(type(value))
        }
    raise _NotPlain
