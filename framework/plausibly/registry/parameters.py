"""Tables of plain data to components and back, with the path of every mistake."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from enum import Enum
from numbers import Integral, Rational, Real
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import attrs

from plausibly.errors import ComponentError, an
from plausibly.protocols import KINDS, Kind
from plausibly.registry.conformance import problems
from plausibly.registry.entries import Entry, underlying
from plausibly.registry.mistakes import (
    Mistake,
    Mistakes,
    ParameterError,
    Wrong,
    mistakes_in,
    unknown_key,
    written,
)

_FACTORY: type[Any] = type(attrs.Factory(list))  # Any: attrs declares its class as a function


@attrs.frozen
class Parameter:
    name: str
    field: str
    type: object
    required: bool
    default: object = attrs.field(default=attrs.NOTHING, eq=False)
    attribute: attrs.Attribute[Any] | None = attrs.field(default=None, eq=False)  # Any: any type

    def absent(self) -> Mistake:
        return Mistake(self.name, f"is required: {expected(self.type)}")

    def check(self, value: object) -> None:
        """Run the field's validator while the path of the field is still known."""
        field = self.attribute
        if field is not None and callable(field.converter):
            value = field.converter(value)
        if field is not None and field.validator is not None:
            # A rule that compares fields needs the component, and runs when that is made.
            with suppress(AttributeError):
                field.validator(None, field, value)


def has_fields(target: object) -> bool:
    return isinstance(target, type) and (attrs.has(target) or dataclasses.is_dataclass(target))


def parameters_of(target: Callable[..., object], *, typed: bool = False) -> tuple[Parameter, ...]:
    """Return the parameters of a class or function; `typed`: with the types that are declared."""
    hints = _type_hints(target) if typed else {}
    fields: dict[str, Any] = {}  # Any: of attrs or of dataclasses
    if isinstance(target, type) and attrs.has(target):
        fields = {field.alias or field.name: field for field in attrs.fields(target)}
    elif has_fields(target):
        fields = {field.name: field for field in dataclasses.fields(cast("type[Any]", target))}
    parameters = []
    for argument in inspect.signature(target).parameters.values():
        if argument.kind not in (argument.POSITIONAL_OR_KEYWORD, argument.KEYWORD_ONLY):
            continue
        field = fields.get(argument.name)
        required = argument.default is argument.empty
        default: object = attrs.NOTHING if required else argument.default
        factory = getattr(field, "default_factory", dataclasses.MISSING)
        if isinstance(field, attrs.Attribute) and isinstance(field.default, _FACTORY):
            # One that takes the component is known when there is one.
            default = attrs.NOTHING if field.default.takes_self else field.default.factory()
        elif factory is not dataclasses.MISSING:
            default = factory()
        name = argument.name if field is None else field.name
        wanted = hints.get(name, getattr(field, "type", None) or object)
        attribute = field if isinstance(field, attrs.Attribute) else None
        parameters.append(Parameter(argument.name, name, wanted, required, default, attribute))
    return tuple(parameters)


def _choices(target: type[object]) -> list[tuple[str, object]]:
    """Return names and types of the fields that are flags, or choices among literals."""
    chosen = []
    with suppress(ComponentError):  # types that do not exist at run time
        for parameter in parameters_of(target, typed=True) if has_fields(target) else ():
            wanted = parameter.type
            arms = typing.get_args(wanted) if is_union(wanted) else (wanted,)
            if all(a in (bool, types.NoneType) or typing.get_origin(a) is Literal for a in arms):
                chosen.append((parameter.field, wanted))
    return chosen


def _type_hints(target: Callable[..., object]) -> dict[str, Any]:  # Any: types of any form
    target = underlying(target)
    plain = isinstance(target, type) and not has_fields(target)
    source = inspect.getattr_static(target, "__init__") if plain else target
    try:
        return typing.get_type_hints(source)
    except (NameError, AttributeError) as error:
        name = f"{target.__module__}.{target.__qualname__}"
        raise ComponentError(
            "component-types",
            f"the parameters of {name} have types that do not exist at run time",
            expected="annotations that can be resolved, to check a table against",
            found=str(error),
            hint="import those types outside of TYPE_CHECKING, or pass an object instead of a "
            "table",
            source=name,
        ) from error


T = TypeVar("T")

Create = Callable[[Kind[Any], Any], object]  # Any: a kind is known at run time only
"""Makes the component of a kind from a name, a table or an object: `Registry.create`."""

_LISTS = (tuple, list, set, frozenset, Sequence, Set)
_SCALARS: dict[type, Any] = {  # Any: a class or several
    str: str,
    bool: bool,
    int: Integral,
    float: Real,
    Path: (str, Path),
}
_WORDS = {str: "text", bool: "true or false", int: "an integer", float: "a number", Path: "a path"}


class Strict:
    """A converter that coerces nothing; it makes parameters that are components themselves."""

    def __init__(self, create: Create, *, noun: str = "parameter") -> None:
        self._create = create
        self._noun = noun

    def build(self, target: Callable[..., T], parameters: Mapping[str, object]) -> T:
        known = parameters_of(target)
        if parameters or any(p.required for p in known):
            known = parameters_of(target, typed=True)
        names = [p.name for p in known]
        mistakes = [
            unknown_key(key, value, names, noun=self._noun)
            for key, value in parameters.items()
            if key not in names
        ]
        values: dict[str, object] = {}
        for parameter in known:
            if parameter.name in parameters:
                with below(parameter.name, mistakes):
                    values[parameter.name] = self.value(parameter, parameters[parameter.name])
            elif parameter.required:
                mistakes.append(parameter.absent())
        if mistakes:
            raise Mistakes(mistakes)
        try:
            return target(**values)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # an initialiser raises what it likes, or exits
            raise Mistakes(mistakes_in(error)) from error

    def value(self, parameter: Parameter, value: object) -> object:
        made = self.convert(value, parameter.type)
        parameter.check(made)
        return made

    def misfits(self, component: object) -> list[Mistake]:
        """Return the flags and choices of an object, made by hand, that have none of their values.

        A flag may be anything that equals True or False, such as what numpy returns.
        """
        mistakes: list[Mistake] = []
        for name, wanted in _choices(type(component)):
            value: object = getattr(component, name)
            with below(name, mistakes):
                if wanted is not bool or value not in (True, False):
                    self.convert(value, wanted)
        return mistakes

    def convert(self, value: object, wanted: Any) -> object:  # Any: a type is whatever was written
        """Return what a declared type makes of plain data, or raise what is wrong with it."""
        wanted = getattr(wanted, "__supertype__", getattr(wanted, "__value__", wanted))
        origin = typing.get_origin(wanted) or wanted
        kind = _kind_of(wanted)
        if kind is not None:
            return self._create(kind, value)
        if origin is Literal:
            return _literal(value, wanted)
        if is_union(wanted):
            return self._union(value, wanted)
        if origin in _LISTS:
            return self._many(value, wanted)
        if origin in (dict, Mapping):
            return self._mapping(value, wanted)
        if wanted in _WORDS:
            return _scalar(value, wanted)
        # No table can write the others, such as an array, but for records and enumerations.
        if wanted is Any or not isinstance(origin, type) or isinstance(value, origin):
            return value
        if has_fields(origin) and isinstance(value, Mapping):
            return self.build(origin, value)
        if issubclass(origin, Enum):
            return origin(value)
        raise Wrong(expected(wanted), value)

    def _many(self, value: object, wanted: object) -> object:
        if not isinstance(value, list | tuple | Set):
            tables = isinstance(value, Mapping) and any(map(has_fields, typing.get_args(wanted)))
            alone = isinstance(value, str) or tables
            raise Wrong(expected(wanted), value, [value] if alone else None)
        items, arguments = list(value), typing.get_args(wanted)
        origin = typing.get_origin(wanted) or wanted
        if origin is tuple and arguments and arguments[-1] is not Ellipsis:
            if len(items) != len(arguments):
                raise Wrong(expected(wanted), value)
            types_ = list(arguments)
        else:
            types_ = [arguments[0] if arguments else object] * len(items)
        made: list[object] = []
        mistakes: list[Mistake] = []
        for place, (item, item_type) in enumerate(zip(items, types_, strict=True)):
            with below(place, mistakes):
                made.append(self.convert(item, item_type))
        if mistakes:
            raise Mistakes(mistakes)
        if origin in (list, set):
            return list(made) if origin is list else set(made)
        return frozenset(made) if origin in (frozenset, Set) else tuple(made)

    def _mapping(self, value: object, wanted: object) -> object:
        if not isinstance(value, Mapping):
            raise Wrong(expected(wanted), value)
        key_type, value_type = typing.get_args(wanted) or (object, object)
        made: dict[object, object] = {}
        mistakes: list[Mistake] = []
        for key, item in value.items():
            with below(str(key), mistakes):
                try:
                    self.convert(key, key_type)
                except Wrong as error:
                    raise ValueError(f"the key: {error}") from None
                made[key] = self.convert(item, value_type)
        if mistakes:
            raise Mistakes(mistakes)
        return made

    def _union(self, value: object, wanted: object) -> object:
        arms = [arm for arm in typing.get_args(wanted) if arm is not types.NoneType]
        if value is None and len(arms) < len(typing.get_args(wanted)):
            return None
        arms.sort(key=lambda arm: type(value) is not arm)
        errors: list[Exception] = []
        for arm in arms:
            try:
                return self.convert(value, arm)
            except Exception as error:  # noqa: BLE001  # the next arm may take it
                errors.append(error)
        deeper = [error for error in errors if not isinstance(error, Wrong)]
        if len(arms) == 1 or len(deeper) == 1:
            raise (deeper or errors)[0]
        instead = [e.instead for e in errors if isinstance(e, Wrong) and e.instead is not None]
        raise Wrong(expected(wanted), value, instead[0] if instead else None)


@contextmanager
def below(key: str | int, mistakes: list[Mistake]) -> Iterator[None]:
    """Add what goes wrong below `key` to `mistakes`, and go on: an error lists all mistakes."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  # a validator raises what it likes
        mistakes += [mistake.below(key) for mistake in mistakes_in(error)]


def expected(wanted: object) -> str:
    """Return what a declared type takes, in words."""
    if isinstance(wanted, type) and wanted in _WORDS:
        return _WORDS[wanted]
    origin, arguments = typing.get_origin(wanted) or wanted, typing.get_args(wanted)
    arms = [a for a in arguments if a not in (Ellipsis, types.NoneType)]
    kind = _kind_of(wanted)
    if kind is not None:
        return f"the name, table or object of {an(kind.name)}"
    if origin is Literal:
        return " or ".join(written(value) for value in arguments)
    if is_union(wanted):
        return " or ".join(expected(arm) for arm in arms)
    if origin is tuple and arms and Ellipsis not in arguments:
        return f"a list of {len(arms)}: {', '.join(expected(arm) for arm in arms)}"
    if origin in _LISTS:
        return f"a list, each {expected(arms[0])}" if arms else "a list"
    if origin in (dict, Mapping) or has_fields(wanted):
        return "a table"
    if wanted in (Any, object):
        return "anything"
    return getattr(wanted, "__name__", str(wanted))


def signature(target: Callable[..., object]) -> str:
    takes = [f"{p.name} ({expected(p.type)})" for p in parameters_of(target, typed=True)]
    return ", ".join(takes) or "no parameters"


def _kind_of(wanted: object) -> Kind[Any] | None:
    return next((kind for kind in KINDS if kind.protocol is wanted), None)


def is_union(wanted: object) -> bool:
    return typing.get_origin(wanted) in (typing.Union, types.UnionType)


def _scalar(value: object, wanted: type[Any]) -> object:
    # Python counts True as a number.
    if isinstance(value, _SCALARS[wanted]) and isinstance(value, bool) == (wanted is bool):
        return wanted(value)
    raise Wrong(_WORDS[wanted], value, _meant(value, wanted))


def _meant(value: object, wanted: type[object]) -> object:
    """Return the value of the wanted type that was probably meant, to suggest it."""
    if wanted is bool:
        return {"true": True, "false": False}.get(str(value).lower())
    if wanted is str and isinstance(value, Real) and not isinstance(value, bool):
        return str(value)
    if wanted in (int, float) and isinstance(value, str):
        with suppress(ValueError):
            return int(value) if wanted is int else float(value)
    return None


def _literal(value: object, wanted: object) -> object:
    for allowed in typing.get_args(wanted):
        if type(allowed) is type(value) and allowed == value:
            return allowed
    texts = [a for a in typing.get_args(wanted) if isinstance(a, str)]
    close = get_close_matches(str(value), texts, n=1)
    raise Wrong(expected(wanted), value, close[0] if close else None)


Describe = Callable[[Kind[Any], object], dict[str, object]]  # Any: each kind has its own Protocol
"""Returns the table of a component: `Registry.describe`."""


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
    raise TypeError(f"no table can hold {value!r}")


def as_table(component: object, describe: Describe) -> dict[str, object]:
    """Return the parameters of a component as plain data."""
    table: dict[str, object] = {}
    mistakes: list[Mistake] = []
    for parameter in parameters_of(type(component)):
        try:
            table[parameter.name] = plain(getattr(component, parameter.field), describe)
        except (TypeError, AttributeError):
            text = "cannot be written down: it is no number, text, list, table or component"
            advice = "make the component a frozen attrs class with plain parameters"
            mistakes.append(Mistake(parameter.name, text, advice=advice))
    if mistakes:
        raise ParameterError.about(type(component).__name__, mistakes)
    return table


def with_others(mistake: Mistake, entry: Entry, entries: Callable[[], Iterable[Entry]]) -> Mistake:
    """Return the mistake, with the components that do have such a parameter."""
    if not mistake.unknown or mistake.key or "." in mistake.path:
        return mistake
    having = []
    for candidate in entries():
        if candidate.kind == entry.kind and candidate.source.builtin and candidate != entry:
            with suppress(ComponentError):  # what cannot be loaded is no advice
                if mistake.path in {p.name for p in parameters_of(candidate.load())}:
                    having.append(candidate.name)
    if not having:
        return mistake
    *most, last = having
    which = f"{', '.join(most)} and {last} have it" if most else f"{last} has it"
    return attrs.evolve(mistake, text=f"no such parameter; {which}")
