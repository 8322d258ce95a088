"""Lists of components and plugins, with parameters and states."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Literal

import attrs

from plausibly.errors import ComponentError, listed
from plausibly.registry.entries import Disabled, Entry, Failure, Source, missing, normalised
from plausibly.registry.hooks import Declared
from plausibly.registry.registry import Registry

Describe = Callable[[object], object]
"""Returns a value as plain data: `config.describe.plain` with a registry."""

_SECTIONS = ("Attributes", "Parameters")
_UNDERLINE = re.compile(r"-{3,}\s*")


@attrs.frozen
class About:
    """One parameter of a component, in words."""

    name: str
    type: str
    required: bool
    default: str
    help: str


def about(target: Callable[..., object], plain: Describe) -> tuple[About, ...]:
    """Return the parameters of a component, in words."""
    from plausibly.registry.parameters import expected, parameters_of

    meanings = helps(target)
    try:
        found = parameters_of(target, typed=True)
    except ComponentError:  # types that exist for type checkers only: as they are written
        found = parameters_of(target)
    return tuple(
        About(
            p.name,
            p.type if isinstance(p.type, str) else expected(p.type),
            p.required,
            "" if p.required or p.default is attrs.NOTHING else _written(plain(p.default)),
            meanings.get(p.name, meanings.get(p.field, "")),
        )
        for p in found
    )


def _written(value: object) -> str:
    """Return plain data as TOML writes them in one line; there is no word for nothing."""
    from plausibly.registry.mistakes import written

    if value is None:
        return "none"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {_written(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(_written(item) for item in value)}]"
    return written(value)


def helps(target: Callable[..., object]) -> dict[str, str]:
    """Return what the parameters of a class or function mean, where its author says it."""
    found: dict[str, str] = {}
    for base in reversed(target.__mro__ if isinstance(target, type) else [target]):
        doc = vars(base).get("__doc__") if isinstance(base, type) else inspect.getdoc(base)
        found |= dict(_documented(inspect.cleandoc(doc or "")))
    if isinstance(target, type) and attrs.has(target):
        for field in attrs.fields(target):
            if isinstance(text := field.metadata.get("help"), str):
                found[field.name] = text
    return found


def _documented(doc: str) -> Iterator[tuple[str, str]]:
    lines = doc.splitlines()
    names: list[str] = []
    words: list[str] = []
    inside = False
    for line, after in zip(lines, [*lines, ""][1:], strict=True):
        title = bool(line.strip()) and bool(_UNDERLINE.fullmatch(after))
        if title or (line and not line[0].isspace() and not _UNDERLINE.fullmatch(line)):
            yield from ((name, _plain(words)) for name in names if inside)
            names, words = [], []
            inside = line.strip() in _SECTIONS if title else inside
            if not title:
                names = [name.strip() for name in line.partition(":")[0].split(",")]
        elif not _UNDERLINE.fullmatch(line):
            words += line.split()
    yield from ((name, _plain(words)) for name in names if inside)


def _plain(words: list[str]) -> str:
    return " ".join(words).replace("``", "")


def first_sentence(target: Callable[..., object]) -> str:
    """Return the first line of a docstring, for components without a summary."""
    doc = inspect.getdoc(target) or ""
    return doc.partition("\n")[0].strip()


State = Literal["ready", "failed", "disabled", "needs extra"]


@attrs.frozen
class Row:
    """One component, or one plugin of which no component is known."""

    source: Source
    state: State
    kind: str = ""
    name: str = ""
    summary: str = ""
    stage: str = ""
    reason: str = ""
    entry: Entry | None = None

    @property
    def words(self) -> str:
        """The state as tables print it."""
        if self.state == "failed":
            return f"failed at {self.stage}"
        if self.state == "needs extra" and self.entry is not None:
            return f'needs extra "{self.entry.extra}"'
        return self.state

    def answers_to(self, name: str) -> bool:
        """Return whether somebody who says `name` means this, its plugin or its distribution."""
        plain = normalised(name)
        if plain in (normalised(self.source.plugin), normalised(self.source.distribution)):
            return True
        if self.entry is None:
            return False
        by_distribution = f"{self.source.distribution}:{self.name}"
        return name in (self.name, self.entry.qualified, by_distribution)


def overview(registry: Registry) -> tuple[Row, ...]:
    """Return every component by kind, ours first, then the plugins without one; imports none."""
    failures = registry.failures()
    components = [f for f in failures if f.component is not None]
    disabled = {d.source: d.reason for d in registry.disabled()}
    rows = [_row(entry, components, disabled) for entry in registry.entries(off=True)]
    rows.sort(key=lambda r: (r.kind, not r.source.builtin, r.name, r.source.plugin))
    for failure in failures:
        if failure.component is None:
            rows += _failed(failure)
    shown = {row.source for row in rows}
    rows += [Row(s, "disabled", reason=why) for s, why in disabled.items() if s not in shown]
    shown |= set(disabled)
    rows += [
        Row(source, "ready", reason="it registers nothing")
        for source in registry.plugins()
        if source not in shown
    ]
    return tuple(rows)


def _row(entry: Entry, failures: Sequence[Failure], disabled: dict[Source, str]) -> Row:
    row = Row(entry.source, "ready", entry.kind, entry.name, entry.summary, entry=entry)
    if entry.source in disabled:
        return attrs.evolve(row, state="disabled", reason=disabled[entry.source])
    failure = next((f for f in failures if f.offered[0].key == entry.key), None)
    if failure is not None:
        return attrs.evolve(row, state="failed", stage=failure.stage, reason=failure.reason)
    lacking = missing(entry.source.distribution, entry.extra)
    if lacking:
        return attrs.evolve(row, state="needs extra", reason=f"{listed(lacking)} not installed")
    return row


def _failed(failure: Failure) -> list[Row]:
    """Return one row for each component that a plugin was about to offer, or one for all."""
    row = Row(failure.source, "failed", stage=failure.stage, reason=failure.reason)
    known = [
        attrs.evolve(row, kind=e.kind, name=e.name, summary=e.summary) for e in failure.offered
    ]
    return known or [row]


@attrs.frozen
class Installed:
    """One plugin as the metadata declare it."""

    source: Source
    module: str
    state: Literal["installed", "failed", "disabled"]
    reason: str = ""


def installed(registry: Registry) -> tuple[Installed, ...]:
    """Return every plugin from the metadata alone; none is imported."""
    return tuple(_installed(found, registry.off(found.source)) for found in registry.installed())


def _installed(found: Declared | Failure, off: Disabled | None) -> Installed:
    module = found.value if isinstance(found, Declared) else ""
    if off is not None:
        return Installed(found.source, module, "disabled", off.reason)
    if isinstance(found, Failure):
        return Installed(found.source, module, "failed", found.reason)
    return Installed(found.source, module, "installed")


def select(rows: Sequence[Row], names: Iterable[str]) -> tuple[Row, ...]:
    """Return the rows that answer to some name."""
    wanted = list(names)
    for name in wanted:
        if not any(row.answers_to(name) for row in rows):
            raise _unknown(name, rows)
    return tuple(row for row in rows if any(row.answers_to(name) for name in wanted))


def _unknown(name: str, rows: Sequence[Row]) -> ComponentError:
    known = {
        text
        for row in rows
        for text in (row.source.plugin, row.source.distribution, row.name)
        if text
    }
    close = get_close_matches(name, sorted(known), n=1)
    return ComponentError(
        "plugin-unknown",
        f'nothing here is called "{name}"',
        expected="a plugin, a distribution or a component"
        + (f'; did you mean "{close[0]}"?' if close else ""),
        do="plausibly plugins list",
        whose=name,
        details={"name": name, "suggestion": close[0] if close else None},
    )
