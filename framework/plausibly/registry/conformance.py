"""Comparison of the members and signatures of an object with those of a Protocol."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, cast

import attrs

from plausibly.type_hints import fits, spelled

_MISSING = object()


@attrs.frozen
class Problem:
    member: str
    expected: str
    found: str


def complete(component: object, protocol: type[Any]) -> tuple[Problem, ...]:
    """Give the class of a component the optional members that it lacks; return what it refuses."""
    lacking = []
    for name, default in members(protocol).items():
        if _is_optional(default) and _static(component, name) is _MISSING:
            try:
                setattr(type(component), name, default)
            except TypeError:
                inherit = f"{name}, or a class that inherits {protocol.__name__}"
                lacking.append(Problem(name, inherit, _absent(component, name)))
    return tuple(lacking)


def _static(component: object, name: str) -> object:
    return inspect.getattr_static(component, name, _MISSING)


def _is_optional(declared: object) -> bool:
    function = declared.fget if isinstance(declared, property) else declared
    return getattr(function, "__optional__", False)


# Any: a Protocol cannot be written as type[P]
def members(protocol: type[Any]) -> dict[str, object]:
    return {name: value for name, value in vars(protocol).items() if name[0] != "_"}


# Any: as above
def required_members(protocol: type[Any]) -> list[str]:
    return [name for name, declared in members(protocol).items() if not _is_optional(declared)]


def problems(component: object, protocol: type[Any]) -> tuple[Problem, ...]:
    """Return every member of `protocol` that `component` lacks or has in another form.

    Of a class that is what is known before there is an object of it.
    """
    wrong: list[Problem] = []
    for name, declared in members(protocol).items():
        absent = _static(component, name) is _MISSING
        if absent and _is_optional(declared):
            continue
        fault = _absent(component, name) if absent else ""
        if isinstance(declared, property):
            wanted = typing.get_type_hints(declared.fget).get("return", object)
            expected = f"{name}: {spelled(wanted)}"
            if isinstance(component, type):
                fault = "" if _may_set(component, name) else fault
            elif not absent:
                fault = _value_fault(component, name, wanted)
        else:
            takes = _without_first(inspect.signature(cast("Callable[..., object]", declared)))
            expected = f"{name}{names_only(takes)}"
            fault = fault or _method_fault(component, name, takes)
        if fault:
            wrong.append(Problem(name, expected, fault))
    return tuple(wrong)


def _value_fault(component: object, name: str, wanted: object) -> str:
    try:
        value = getattr(component, name)
    except Exception as error:  # noqa: BLE001  # a property may raise anything
        return f"{name} raises {type(error).__name__}: {error}"
    return "" if fits(value, wanted) else f"{name} = {value!r}"


def _may_set(cls: type, name: str) -> bool:
    """Return whether objects of a class may have an attribute that the class does not show."""
    fields = {field for base in cls.__mro__ for field in vars(base).get("__annotations__", ())}
    if attrs.has(cls):
        fields |= set(attrs.fields_dict(cls))
    generated = attrs.has(cls) or hasattr(cls, "__dataclass_fields__")
    own = not generated and inspect.getattr_static(cls, "__init__") is not object.__init__
    return name in fields or own or hasattr(cls, "__getattr__")


def _method_fault(component: object, name: str, wanted: inspect.Signature) -> str:
    method = getattr(component, name)
    if not callable(method):
        return f"{name} = {method!r}"
    try:
        has = inspect.signature(method)
    except ValueError:  # written in C, without a signature: nothing to compare
        return ""
    if isinstance(component, type) and inspect.isfunction(_static(component, name)):
        has = _without_first(has)
    try:
        has.bind(*wanted.parameters)
        has.bind(**dict.fromkeys(wanted.parameters))
    except TypeError:
        return f"{name}{names_only(has)}"
    return ""


def _absent(component: object, name: str) -> str:
    public = [member for member in dir(component) if not member.startswith("_")]
    close = get_close_matches(name, public, n=1, cutoff=0.75)
    return f'nothing of that name; it has "{close[0]}"' if close else "nothing of that name"


def _without_first(signature: inspect.Signature) -> inspect.Signature:
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def names_only(signature: inspect.Signature) -> str:
    """Return the parameters as text, without annotations: they may not exist at run time."""
    empty = inspect.Signature.empty
    plain = [p.replace(annotation=empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=empty))
