"""The methods of a study, written as tables: names of components with their parameters."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass, replace
from typing import Any, TypeAlias, TypeVar, cast

import attrs

from plausibly import registry
from plausibly.conformal.components import called
from plausibly.errors import InputError, listed
from plausibly.protocols import (
    CALIBRATOR,
    COMBINER,
    SCORE,
    Calibrator,
    ComponentLike,
    Kind,
    PValueCombiner,
    ScoreFunction,
)
from plausibly.registry.parameters import has_fields, parameters_of

MethodTable: TypeAlias = Mapping[str, object]
"""Arguments of `calibrate` by name: those of `Method`."""

Methods: TypeAlias = (
    Mapping[str, MethodTable | Calibrator] | Sequence[MethodTable | Calibrator | str]
)
"""Methods by name, or methods that are named after their components."""

DEFAULT_SCORE = "probability"

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class Method:
    """What `calibrate` is asked for.

    Attributes
    ----------
    calibrator, score, combiner : str, mapping or object
    draws : int or None
        Shorthand for the calibrator's parameter.
    allow_no_guarantee : bool
        Whether to measure the method also where it has no guarantee.
    """

    calibrator: ComponentLike[Calibrator] = "expected"
    score: ComponentLike[ScoreFunction] = DEFAULT_SCORE
    combiner: ComponentLike[PValueCombiner] = "average"
    draws: int | None = None
    allow_no_guarantee: bool = False

    def table(self) -> dict[str, object]:
        """Return names and parameters as text, for the record of a study."""
        table: dict[str, object] = {
            "calibrator": component_name(CALIBRATOR, self.calibrator),
            "score": component_name(SCORE, self.score),
            "combiner": component_name(COMBINER, self.combiner),
        }
        if self.draws is not None:
            table["draws"] = self.draws
        if self.allow_no_guarantee:
            table["allow_no_guarantee"] = True
        return table

    def made(self) -> Method:
        """Return the same with the components themselves in the place of their names."""
        params = None if self.draws is None else {"draws": self.draws}
        return Method(
            calibrator=registry.resolve(CALIBRATOR, self.calibrator, params),
            score=registry.resolve(SCORE, self.score),
            combiner=registry.resolve(COMBINER, self.combiner),
            allow_no_guarantee=self.allow_no_guarantee,
        )


_KEYS = tuple(field.name for field in attrs.fields(Method))


def read_methods(methods: Methods) -> dict[str, Method]:
    """Return the methods of a study by name.

    Parameters
    ----------
    methods : mapping or sequence of mapping, str or Calibrator
        Arguments of `calibrate`; an object alone is a calibrator, in a sequence also a name. There
        a table may have a ``name``; otherwise it is called by the components that it names: the
        calibrator, then the combiner, then a score other than the default, such as
        ``"monte-carlo, average"``.

    Raises
    ------
    InputError
        ``method-malformed``, ``method-key`` or ``method-twice``.
    """
    if isinstance(methods, Mapping):
        return {str(name): _read(str(name), table) for name, table in methods.items()}
    if isinstance(methods, str) or not len(methods):
        raise _malformed(methods)
    found: dict[str, Method] = {}
    for entry in methods:
        table = _table(entry)
        rest = {key: value for key, value in table.items() if key != "name"}
        name = str(table.get("name", "")) or _named(rest)
        method = _read(name, rest)
        if name in found:
            raise InputError(
                "method-twice",
                f'two methods of the study are called "{name}"',
                expected="different names",
                got=name,
                do='name them: {"name": "...", "calibrator": ...}',
            )
        found[name] = method
    return found


def component_name(kind: Kind[Any], component: object) -> str:  # Any: one function for three kinds
    """Return the name of a component, with the parameters where a table gives some."""
    if isinstance(component, str):
        return component
    if isinstance(component, Mapping):
        given = [
            f"{key}={component_name(kind, value) if _is_component(value) else value}"
            for key, value in component.items()
            if key != "name"
        ]
        name = str(component.get("name", ""))
        return f"{name}({', '.join(given)})" if given else name
    return called(kind, component)


def _is_component(value: object) -> bool:
    return isinstance(value, Mapping) and "name" in value


def with_draws(calibrator: T, draws: int) -> T | None:
    """Return a calibrator with another number of draws, None for one that has no such parameter.

    Parameters
    ----------
    calibrator : Calibrator
        With a parameter ``draws``, of its own or of a calibrator inside it.
    draws : int
    """
    if not has_fields(type(calibrator)):
        return None
    changes: dict[str, object] = {}
    by_field = is_dataclass(calibrator)
    for parameter in parameters_of(type(calibrator)):
        value: object = getattr(calibrator, parameter.field, None)
        changed: object = None
        if parameter.name == "draws":
            changed = draws
        elif hasattr(value, "replicates"):
            changed = with_draws(value, draws)
        if changed is not None:
            changes[parameter.field if by_field else parameter.name] = changed
    evolve = cast("Callable[..., T]", replace if by_field else attrs.evolve)
    return evolve(calibrator, **changes) if changes else None


def _named(table: MethodTable) -> str:
    """Return the name of a method that its table does not give."""
    parts = [component_name(CALIBRATOR, table.get("calibrator", "expected"))]
    if "combiner" in table:
        parts.append(component_name(COMBINER, table["combiner"]))
    score = component_name(SCORE, table.get("score", DEFAULT_SCORE))
    return ", ".join(parts if score == DEFAULT_SCORE else [*parts, score])


def _table(entry: object) -> MethodTable:
    """Return the table of a method; a calibrator alone stands for one."""
    if isinstance(entry, str) or hasattr(entry, "replicates"):
        return {"calibrator": entry}
    if not isinstance(entry, Mapping):
        raise _malformed(entry)
    return entry


def _read(name: str, entry: object) -> Method:
    """Return the method that a table describes; a text would be the key of one table."""
    if isinstance(entry, str):
        raise _malformed(entry)
    table = _table(entry)
    unknown = [str(key) for key in table if key not in _KEYS]
    if unknown:
        close = difflib.get_close_matches(unknown[0], _KEYS, n=1)
        raise InputError(
            "method-key",
            f'method "{name}" has the unknown key "{unknown[0]}"',
            expected=f"some of {', '.join(_KEYS)}",
            got=listed(unknown),
            do=f'did you mean "{close[0]}"?' if close else "leave it out",
            details={"method": name, "keys": unknown},
        )
    return Method(**cast("dict[str, Any]", dict(table)))  # Any: calibrate checks each of them


def _malformed(got: object) -> InputError:
    return InputError(
        "method-malformed",
        "the methods of the study are not tables",
        expected="a list of tables with calibrator, score, combiner, or a mapping of names to them",
        got=repr(got),
        do='methods=[{"calibrator": "voted"}, {"calibrator": "expected"}]',
    )
