"""Lists of components and plugins, with parameters and states; checks of each."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any, Literal

import attrs

from plausibly.errors import ComponentError, InputError, MissingExtra, listed
from plausibly.protocols import KIND_BY_NAME, Kind
from plausibly.registry.entries import Entry, Source, missing, reason_of, underlying
from plausibly.registry.mistakes import written
from plausibly.registry.parameters import expected, parameters_of
from plausibly.registry.registry import Registry, check

Describe = Callable[[object], object]
"""Returns a value as plain data: `config.describe.plain` with a registry."""

_SECTION = re.compile(
    r"^(?:Attributes|Parameters) *\n-{3,} *\n(.*?)(?=^\S[^\n]*\n---|\Z)", re.MULTILINE | re.DOTALL
)
_PARAMETER = re.compile(r"^(\S[^:\n]*).*\n((?:[ \t].*\n|\n)*)", re.MULTILINE)


@attrs.frozen
class About:
    name: str
    type: str
    required: bool
    default: str
    help: str


def about(target: Callable[..., object], plain: Describe) -> tuple[About, ...]:
    meanings = helps(target)
    return tuple(
        About(
            p.name,
            expected(p.type),
            p.required,
            "" if p.required or p.default is attrs.NOTHING else written(plain(p.default)),
            meanings.get(p.name, meanings.get(p.field, "")),
        )
        for p in parameters_of(target, typed=True)
    )


def helps(target: Callable[..., object]) -> dict[str, str]:
    """Return what the parameters of a class or function mean, where its author says it."""
    meanings: dict[str, str] = {}
    target = underlying(target)
    for base in reversed(target.__mro__ if isinstance(target, type) else [target]):
        doc = vars(base).get("__doc__") if isinstance(base, type) else inspect.getdoc(base)
        for section in _SECTION.findall(inspect.cleandoc(doc or "") + "\n"):
            for heads, words in _PARAMETER.findall(section):
                meaning = " ".join(words.split()).replace("``", "")
                meanings |= {name.strip(): meaning for name in heads.split(",")}
    if isinstance(target, type) and attrs.has(target):
        for field in attrs.fields(target):
            if isinstance(text := field.metadata.get("help"), str):
                meanings[field.name] = text
    return meanings


State = Literal["ready", "ok", "failed", "disabled", "needs extra"]


@attrs.frozen
class Row:
    """A component, or a plugin without one, and its state; checks add what to do."""

    source: Source
    state: State
    kind: str = ""
    name: str = ""
    summary: str = ""
    stage: str = ""
    reason: str = ""
    hint: str = ""
    entry: Entry | None = None

    @property
    def words(self) -> str:
        if self.state == "needs extra" and self.entry is not None:
            return f'needs extra "{self.entry.extra}"'
        return f"failed at {self.stage}" if self.stage else self.state

    def answers_to(self, name: str) -> bool:
        plugin, _, bare = name.rpartition(":")
        named = self.name == bare and (not plugin or self.source.is_called(plugin))
        return named or self.source.is_called(name)


def overview(registry: Registry) -> tuple[Row, ...]:
    """Return every component by kind, ours first, then the plugins without one; imports none."""
    disabled = registry.disabled()
    rows = []
    for entry in registry.entries(off=True):
        state: State = "ready"
        reason = ""
        if entry.source in disabled:
            state, reason = "disabled", disabled[entry.source].reason
        elif lacking := missing(entry.source.distribution, entry.extra):
            state, reason = "needs extra", f"{listed(lacking)} not installed"
        about = (entry.kind, entry.name, entry.summary)
        rows.append(Row(entry.source, state, *about, reason=reason, entry=entry))
    rows.sort(key=lambda r: (r.kind, not r.source.builtin, r.name, r.source.plugin))
    rows += [
        Row(failure.source, "failed", stage=failure.stage, reason=failure.reason, hint=failure.hint)
        for failure in registry.failures()
    ]
    shown = {row.source for row in rows}
    rows += [Row(s, "disabled", reason=d.reason) for s, d in disabled.items() if s not in shown]
    rows += [
        Row(source, "ready", reason="it registers nothing")
        for source in registry.plugins()
        if source not in shown
    ]
    return tuple(rows)


def select(rows: Sequence[Row], names: Iterable[str]) -> tuple[Row, ...]:
    wanted = list(names)
    for name in wanted:
        if not any(row.answers_to(name) for row in rows):
            known = {t for r in rows for t in (r.source.plugin, r.source.distribution, r.name)}
            close = get_close_matches(name, sorted(known), n=1)
            raise ComponentError(
                "plugin-unknown",
                f'nothing here is called "{name}"',
                expected="a plugin, a distribution or a component"
                + (f'; did you mean "{close[0]}"?' if close else ""),
                hint="plausibly plugins list",
                source=name,
            )
    return tuple(row for row in rows if any(row.answers_to(name) for name in wanted))


Rules = Callable[[Kind[Any], object], object]  # Any: each kind has its own Protocol
"""The author's kit: raises AssertionError, or returns a report that prints as one line."""


def check_entry(entry: Entry, registry: Registry, rules: Rules | None = None) -> Row:
    """Load a component, make it with its defaults, and compare it with its Protocol."""
    kind, stage = KIND_BY_NAME[entry.kind], "loading"
    row = Row(entry.source, "ok", entry.kind, entry.name)
    if lacking := missing(entry.source.distribution, entry.extra):
        reason = f'needs the extra "{entry.extra}": {listed(lacking)}'
        hint = f'pip install "{entry.source.distribution}[{entry.extra}]"'
        return attrs.evolve(row, state="needs extra", reason=reason, hint=hint)
    try:
        target = entry.load()
        stage = "making"
        # Each type must exist at run time, where a table is checked against it.
        required = [p.name for p in parameters_of(target, typed=True) if p.required]
        if required:
            if isinstance(target, type):
                check(kind, target, str(entry))
            return attrs.evolve(row, reason=f"not made: {listed(required)} has no default")
        component = registry.create(kind, entry)
        stage = "rules"
        return attrs.evolve(row, reason="" if rules is None else str(rules(kind, component)))
    except MissingExtra as error:
        return attrs.evolve(row, state="needs extra", reason=error.what, hint=error.hint)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # a class may raise anything, or exit
        # The report of the author's kit is a table.
        reason = str(error).strip() if isinstance(error, AssertionError) else reason_of(error)
        hint = error.hint if isinstance(error, InputError) else ""
        return attrs.evolve(row, state="failed", stage=stage, reason=reason, hint=hint)
