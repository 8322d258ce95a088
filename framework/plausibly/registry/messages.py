"""The errors of the registry, in the house form."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import attrs

from plausibly.errors import ComponentError, counted, listed
from plausibly.protocols import Kind
from plausibly.registry.conformance import Problem, members
from plausibly.registry.entries import Asked, Disabled, Entry, Failure, Source, missing


def an(noun: str) -> str:
    """Return a noun with its article."""
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def dashed(name: str) -> str:
    """Return the component name that the name of a class suggests."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).replace("_", "-").lower()


def plural(number: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{counted(number)} {noun}{'' if number == 1 else 's'}"


def unknown(
    kind: Kind[Any],  # Any: each kind has its own Protocol
    name: str,
    entries: Sequence[Entry],
    failures: Sequence[Failure],
    disabled: Sequence[Disabled],
) -> ComponentError:
    """Return ``component-unknown``: nothing is called that, and what may be the reason."""
    plugin, _, bare = name.rpartition(":")
    close = _close(kind, name, entries)
    what, expected = f'no {kind.name} "{name}"', "a name from plugins list"
    do = f"plausibly plugins list --kind {kind.name}"
    if close is not None:
        alone = close.source.builtin and not close.extra
        shown = close.name if alone else close.qualified
        expected += f'; did you mean "{shown}"?'
        lacking = missing(close.source.distribution, close.extra)
        if lacking:
            needed = f"{close.source.distribution}[{close.extra}]"
            do = f'pip install "{needed}" (that one needs the extra)'
    named = Asked(plugin, "this name")
    failed = [
        f
        for f in failures
        if f.component is None and (named.means(f.source) or _offers(f, kind, bare))
    ]
    off = [d for d in disabled if named.means(d.source)]
    got = ""
    if failed:
        what += f": {failed[0].source} {failed[0].state}"
        got = "; ".join(f.reason for f in failed)
        do = failed[0].warning().do
    elif off:
        what += f": {off[0].source} is disabled"
        expected = "the name of a plugin that is on"
        got = off[0].reason
        do = off[0].asked.undo
    else:
        got = _reason(kind, name, entries, failures, disabled, close)
    return ComponentError(
        "component-unknown",
        what,
        expected=expected,
        got=got,
        do=do,
        whose=name,
        details={
            "kind": kind.name,
            "name": name,
            "suggestion": shown if close is not None else None,
            "failed": [str(f.source) for f in failures],
            "disabled": [str(d.source) for d in disabled],
            "python": sys.executable,
        },
    )


def _close(kind: Kind[Any], name: str, entries: Iterable[Entry]) -> Entry | None:
    """Return the component that was probably meant."""
    known: dict[str, Entry] = {}
    for entry in sorted(entries, key=lambda e: bool(e.extra)):  # first what is here
        if entry.kind == kind.name:
            known.setdefault(entry.qualified, entry)
            known.setdefault(entry.name, entry)
    bare = name.rpartition(":")[2]
    if bare in known:
        return known[bare]
    close = get_close_matches(name, known, n=1) or get_close_matches(bare, known, n=1)
    return known[close[0]] if close else None


def _reason(
    kind: Kind[Any],
    name: str,
    entries: Sequence[Entry],
    failures: Sequence[Failure],
    disabled: Sequence[Disabled],
    close: Entry | None,
) -> str:
    """Return why nothing may be called `name`, where no plugin is to blame for certain."""
    plugin, _, bare = name.rpartition(":")
    elsewhere = [e for e in entries if e.name == bare and e.kind != kind.name]
    if elsewhere:
        return f"{an(elsewhere[0].kind)} of that name"
    if not entries and not failures:
        return "no component at all: plausibly is on the path, but not installed"
    maybe = [
        f"{plural(len(found), 'plugin')} {state} ({listed(found)})"
        for state, found in (
            ("that failed", [f.source.plugin for f in failures if f.component is None]),
            ("that is off" if len(disabled) == 1 else "that are off",
             [d.source.plugin for d in disabled]),
        )
        if found
    ]  # fmt: skip
    if maybe:
        return f"{' and '.join(maybe)}, which may have it"
    if plugin and plugin not in {e.source.plugin for e in entries}:
        return f'no plugin "{plugin}" in the environment of {sys.executable}'
    if close is not None:
        return ""
    return f"nothing like it in the environment of {sys.executable}"


def _offers(failure: Failure, kind: Kind[Any], bare: str) -> bool:
    return any((e.kind, e.name) == (kind.name, bare) for e in failure.offered)


def off(kind: Kind[Any], entry: Entry, asked: Asked, others: Sequence[Entry]) -> ComponentError:
    """Return ``component-disabled``: the component is here, and its plugin is turned off."""
    instead = f"plausibly plugins list --kind {kind.name}"
    if others:
        instead = f"say {' or '.join(other.qualified for other in others)}"
    return ComponentError(
        "component-disabled",
        f'{kind.name} "{entry.name}": its plugin {entry.source} is disabled',
        expected="a component of a plugin that is on",
        got=f"{asked.by} names {asked.name}",
        do=f"{asked.undo}; or another: {instead}",
        whose=entry.qualified,
        details={"kind": kind.name, "name": entry.name, "plugin": entry.source.plugin},
    )


def clash(
    kind: Kind[Any], name: str, found: Sequence[Entry], called: Callable[[Entry], str]
) -> ComponentError:
    """Return ``name-clash``: several plugins offer one name, and ours do not."""
    found = sorted(found, key=lambda e: (e.source.distribution, e.source.plugin))
    number = {2: "two"}.get(len(found), counted(len(found)))
    return ComponentError(
        "name-clash",
        f'{number} plugins offer the {kind.name} "{name}"',
        expected="one",
        got=" and ".join(f"{e.source.where} ({e.source.plugin.strip('()')})" for e in found),
        do=f"say {' or '.join(called(e) for e in found)}; or disable one",
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


def unregistered(kind: Kind[Any], cls: type[object]) -> ComponentError:
    """Return ``component-unregistered``: no component here is of this class."""
    return ComponentError(
        "component-unregistered",
        f"{kind.name} {cls.__name__} has no name here",
        expected="a component of a registered class: a file holds names, never code",
        got=f"{cls.__module__}:{cls.__qualname__}",
        do=f'plausibly.register({kind.name.upper()}, "{dashed(cls.__name__)}", '
        f"{cls.__name__}) before this, and again before loading",
        whose=cls.__name__,
    )
