"""Comparison of the members and signatures of an object with those of a Protocol."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any, cast

import attrs

from plausibly.type_hints import fits, spelled

_MISSING = object()


@attrs.frozen
class Problem:
    member: str
    expected: str
    found: str


# Any: a Protocol cannot be written as type[P]
def members(protocol: type[Any]) -> dict[str, object]:
    return {name: value for name, value in vars(protocol).items() if name[0] != "_"}


def _is_optional(declared: object) -> bool:
    function = declared.fget if isinstance(declared, property) else declared
    return getattr(function, "__optional__", False)


# Any: as above
def complete(component: object, protocol: type[Any]) -> tuple[Problem, ...]:
    """Give the class of a component the optional members that it lacks; return what it refuses."""
    lacking = []
    for name, default in members(protocol).items():
        absent = inspect.getattr_static(component, name, _MISSING) is _MISSING
        if absent and _is_optional(default):
            try:
                setattr(type(component), name, default)
            except TypeError:
                inherit = f"{name}, or a class that inherits {protocol.__name__}"
                lacking.append(Problem(name, inherit, f"no {name}"))
    return tuple(lacking)


# Any: as above
def problems(component: object, protocol: type[Any]) -> tuple[Problem, ...]:
    """Return every member of `protocol` that `component` lacks or has in another form.

    Only the methods of a class are compared: its objects may have more than the class shows.
    """
    wrong: list[Problem] = []
    for name, declared in members(protocol).items():
        absent = inspect.getattr_static(component, name, _MISSING) is _MISSING
        of_objects = isinstance(component, type) and isinstance(declared, property)
        if of_objects or (absent and _is_optional(declared)):
            continue
        if isinstance(declared, property):
            wanted = typing.get_type_hints(declared.fget).get("return", object)
            expected = f"{name}: {spelled(wanted)}"
            fault = "" if absent else _value_fault(component, name, wanted)
        else:
            takes = _without_first(inspect.signature(cast("Callable[..., object]", declared)))
            expected = f"{name}{_names_only(takes)}"
            fault = "" if absent else _method_fault(component, name, takes)
        if absent or fault:
            wrong.append(Problem(name, expected, fault or f"no {name}"))
    return tuple(wrong)


def _value_fault(component: object, name: str, wanted: object) -> str:
    try:
        value = getattr(component, name)
    except Exception as error:  # noqa: BLE001  # a property may raise anything
        return f"{name} raises {type(error).__name__}: {error}"
    return "" if fits(value, wanted) else f"{name} = {value!r}"


def _method_fault(component: object, name: str, wanted: inspect.Signature) -> str:
    method = getattr(component, name)
    if not callable(method):
        return f"{name} = {method!r}"
    try:
        has = inspect.signature(method)
    except ValueError:  # written in C, without a signature: nothing to compare
        return ""
    if isinstance(component, type) and inspect.isfunction(inspect.getattr_static(component, name)):
        has = _without_first(has)
    try:
        has.bind(*wanted.parameters)
        has.bind(**dict.fromkeys(wanted.parameters))
    except TypeError:
        return f"{name}{_names_only(has)}"
    return ""


def _without_first(signature: inspect.Signature) -> inspect.Signature:
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def _names_only(signature: inspect.Signature) -> str:
    """Return the parameters as text, without annotations: they may not exist at run time."""
    empty = inspect.Signature.empty
    plain = [p.replace(annotation=empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=empty))
