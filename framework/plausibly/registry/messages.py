"""The errors of the registry, in the house form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import attrs

from plausibly.errors import ComponentError, counted, listed
from plausibly.protocols import Kind
from plausibly.registry.conformance import Problem, members
from plausibly.registry.entries import Entry, Failure, Source

if TYPE_CHECKING:
    from plausibly.config.mistakes import Mistake


def an(noun: str) -> str:
    """Return a noun with its article."""
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def dashed(name: str) -> str:
    """Return the component name that the name of a class suggests."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).replace("_", "-").lower()


def unknown(
    kind: Kind[Any], name: str, entries: Iterable[Entry], failures: Sequence[Failure]
) -> ComponentError:
    """Return ``component-unknown``: nothing is called that, and what may be the reason."""
    known: dict[str, str] = {}
    elsewhere = []
    plugin, _, bare = name.rpartition(":")
    for entry in entries:
        if entry.kind == kind.name:
            known.setdefault(entry.qualified, entry.qualified)
            known.setdefault(entry.name, entry.name if entry.source.builtin else entry.qualified)
        elif entry.name == bare:
            elsewhere.append(entry)
    expected = "a name from plugins list"
    close = [bare] if bare in known else []
    close = close or get_close_matches(name, known, n=1) or get_close_matches(bare, known, n=1)
    if close:
        expected += f'; did you mean "{known[close[0]]}"?'
    blamed = [f for f in failures if plugin == f.source.plugin or _offers(f, kind, bare)]
    got = ""
    if blamed:
        got = "; ".join(f"{f.source} {f.state}: {f.reason}" for f in blamed)
    elif elsewhere:
        got = f"{an(elsewhere[0].kind)} of that name"
    elif not known and not elsewhere and not failures:
        got = "no component at all: plausibly is on the path, but not installed"
    elif failures:
        count = f"{counted(len(failures))} plugin{'s' * (len(failures) > 1)}"
        got = f"{count} that failed: {listed(f.source for f in failures)}"
    return ComponentError(
        "component-unknown",
        f'no {kind.name} "{name}"',
        expected=expected,
        got=got,
        do=f"plausibly plugins list --kind {kind.name}",
        whose=name,
        details={"kind": kind.name, "name": name, "suggestion": known[close[0]] if close else None},
    )


def _offers(failure: Failure, kind: Kind[Any], bare: str) -> bool:
    return any((e.kind, e.name) == (kind.name, bare) for e in failure.offered)


def clash(kind: Kind[Any], name: str, found: Sequence[Entry]) -> ComponentError:
    """Return ``name-clash``: several plugins offer one name, and ours do not."""
    number = {2: "two"}.get(len(found), counted(len(found)))
    return ComponentError(
        "name-clash",
        f'{number} plugins offer the {kind.name} "{name}"',
        expected="one",
        got=" and ".join(f"{e.source.where} ({e.source.plugin.strip('()')})" for e in found),
        do=f"say {' or '.join(e.qualified for e in found)}",
        whose=name,
        details={"kind": kind.name, "name": name, "plugins": [e.source.plugin for e in found]},
    )


def taken(kind: Kind[Any], name: str, holder: Entry, target: object) -> ComponentError:
    """Return ``name-clash``: this process registers a name that stands already."""
    return ComponentError(
        "name-clash",
        f'there is {an(kind.name)} "{name}" already',
        expected="a new name: nothing is overwritten",
        got=f"{getattr(target, '__qualname__', target)}, beside that of {holder.source}",
        do=f'register it as "my-{name}"',
        whose=name,
        details={"kind": kind.name, "name": name, "plugins": [holder.source.plugin]},
    )


def nameless(kind: Kind[Any], table: Mapping[str, object]) -> ComponentError:
    """Return ``component-name``: a table that does not say which component it is about."""
    name = table.get("name")
    return ComponentError(
        "component-name",
        f"a table for {an(kind.name)} has no name",
        expected='a key "name" with text',
        got=f"name = {name!r}" if "name" in table else f"the keys {listed(table) or 'none'}",
        do=f"plausibly plugins list --kind {kind.name}",
        whose=kind.name,
    )


def given_twice(kind: Kind[Any], name: str, twice: Sequence[str]) -> ComponentError:
    """Return ``component-parameter``: a parameter stands in the table and beside it."""
    return ComponentError(
        "component-parameter",
        f'{kind.name} "{name}": {listed(twice)} is given twice',
        expected="each parameter once",
        got="one in the table, and one beside it",
        do=f"leave {listed(twice)} out of one of them",
        whose=name,
    )


def complete_already(kind: Kind[Any], component: object, names: Sequence[str]) -> ComponentError:
    """Return ``component-parameter``: an object has its parameters already."""
    cls = type(component).__name__
    return ComponentError(
        "component-parameter",
        f"{kind.name} {cls} is an object and takes no more parameters",
        expected="parameters beside a name or a table only",
        got=listed(names),
        do=f"{cls}({', '.join(f'{n}=...' for n in names)})",
        whose=cls,
    )


def no_component(kind: Kind[Any], component: object, found: Sequence[Problem]) -> ComponentError:
    """Return ``component-invalid``: this is something else altogether."""
    if isinstance(component, type):
        got, do = f"the class {component.__name__}", f"{component.__name__}(), with parentheses"
    else:
        got = repr(component) if len(repr(component)) < 40 else f"{an(type(component).__name__)}"
        do = f"plausibly plugins list --kind {kind.name}"
    needed = listed(members(kind.protocol), most=9)
    return ComponentError(
        "component-invalid",
        f"this is no {kind.name}: {got}",
        expected=f"a name, a table with a name, or an object that has {needed}",
        do=do,
        whose=kind.name,
        details={"kind": kind.name, "members": [p.member for p in found]},
    )


def invalid(
    kind: Kind[Any], whose: str, source: Source, found: Sequence[Problem]
) -> ComponentError:
    """Return ``component-invalid``: members are missing or have the wrong form."""
    several = "members" if len(found) > 1 else "member"
    return ComponentError(
        "component-invalid",
        f"{whose} of {source}, {several} {', '.join(p.member for p in found)}",
        expected="; ".join(p.expected for p in found),
        got="; ".join(p.got for p in found),
        do=f"mend it as the Protocol {kind.protocol.__name__} of plausibly.plugin says",
        whose=whose,
        details={
            "kind": kind.name,
            "plugin": source.plugin,
            "distribution": source.distribution,
            "version": source.version,
            "problems": [attrs.asdict(p) for p in found],
        },
    )


def with_others(
    mistake: Mistake, kind: Kind[Any], entry: Entry, entries: Callable[[], Iterable[Entry]]
) -> Mistake:
    """Return the mistake, with the components that do have such a parameter."""
    from plausibly.config.parameters import parameters_of

    if not mistake.unknown or mistake.key or "." in mistake.path:
        return mistake
    having = []
    for other in entries():
        if other.kind == kind.name and other.source.builtin and other != entry:
            try:
                names = [p.name for p in parameters_of(other.load())]
            except ComponentError:  # it cannot be loaded: then it is no advice
                continue
            having += [other.name] * (mistake.path in names)
    if not having:
        return mistake
    *most, last = having
    those = f"{', '.join(most)} and {last} have it" if most else f"{last} has it"
    return attrs.evolve(mistake, text=f"no such parameter; {those}")
