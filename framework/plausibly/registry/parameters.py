"""The parameters of a component: the fields of its class, or the arguments of its function."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import attrs

from plausibly.errors import ComponentError

_FACTORY: type[Any] = type(attrs.Factory(list))  # Any: attrs declares its class as a function


@attrs.frozen
class Parameter:
    """One parameter of a component.

    Attributes
    ----------
    name : str
        As it is written in a table.
    field : str
        The attribute of the component that holds it.
    type : object
        Its declared type, where it was asked for.
    required : bool
        Whether it has no default.
    default : object
        What it is where nobody says it, before any converter; `attrs.NOTHING` where it is required,
        or made from the other parameters.
    check : callable
        Raises what the component's own validator says of a value.
    rule : callable or None
        The validator itself.
    """

    name: str
    field: str
    type: object
    required: bool
    default: object = attrs.field(default=attrs.NOTHING, eq=False)
    check: Callable[[object], object] = attrs.field(default=lambda value: value, eq=False)
    rule: Callable[..., object] | None = attrs.field(default=None, eq=False)


def has_fields(target: object) -> bool:
    """Return whether `target` is an attrs class or a dataclass."""
    return isinstance(target, type) and (attrs.has(target) or dataclasses.is_dataclass(target))


def parameters_of(target: Callable[..., object], *, typed: bool = False) -> tuple[Parameter, ...]:
    """Return the parameters that a table may give.

    Parameters
    ----------
    target : callable
        An attrs class, a dataclass, any other class, or a function.
    typed : bool
        Whether to resolve the declared types, which must then exist at run time.

    Raises
    ------
    ComponentError
        ``component-types`` if a declared type cannot be resolved.
    """
    return tuple(_parameters(target, _hints(target) if typed else {}))


def _hints(target: Callable[..., object]) -> dict[str, Any]:  # Any: a type is whatever was written
    plain = isinstance(target, type) and not has_fields(target)
    source = inspect.getattr_static(target, "__init__") if plain else target
    try:
        return typing.get_type_hints(source)
    except (NameError, AttributeError) as error:
        name = f"{target.__module__}.{getattr(target, '__qualname__', target)}"
        raise ComponentError(
            "component-types",
            f"the parameters of {name} have types that do not exist at run time",
            expected="annotations that can be resolved, to check a table against",
            got=str(error),
            do="import those types outside of TYPE_CHECKING, or pass an object instead of a table",
            whose=name,
        ) from error


def _parameters(target: Callable[..., object], hints: dict[str, Any]) -> Iterator[Parameter]:
    if isinstance(target, type) and attrs.has(target):
        for field in attrs.fields(target):
            if field.init:
                yield Parameter(
                    field.alias or field.name,
                    field.name,
                    hints.get(field.name, field.type or object),
                    required=field.default is attrs.NOTHING,
                    default=_default(field.default),
                    check=_check(field),
                    rule=field.validator,
                )
    elif isinstance(target, type) and dataclasses.is_dataclass(target):
        for plain in dataclasses.fields(target):
            if plain.init:
                wanted = hints.get(plain.name, object)
                made = plain.default_factory
                default = made() if made is not dataclasses.MISSING else plain.default
                required = default is dataclasses.MISSING
                known = attrs.NOTHING if required else default
                yield Parameter(plain.name, plain.name, wanted, required, known)
    else:
        for argument in inspect.signature(target).parameters.values():
            if argument.kind in (argument.POSITIONAL_OR_KEYWORD, argument.KEYWORD_ONLY):
                wanted = hints.get(argument.name, object)
                required = argument.default is argument.empty
                known = attrs.NOTHING if required else argument.default
                yield Parameter(argument.name, argument.name, wanted, required, known)


def _default(written: object) -> object:
    if not isinstance(written, _FACTORY):
        return written
    # One that takes the component is known when there is one.
    return attrs.NOTHING if written.takes_self else written.factory()


def _check(field: attrs.Attribute[Any]) -> Callable[[object], object]:  # Any: of whatever type
    """Return the field's validator, to be run while the path of the field is still known."""

    def check(value: object) -> None:
        if callable(field.converter):
            value = field.converter(value)
        if field.validator is not None:
            # A rule that compares fields needs the component: it speaks when that is made.
            with suppress(AttributeError):
                field.validator(None, field, value)

    return check
