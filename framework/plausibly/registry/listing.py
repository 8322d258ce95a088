"""Lists of components and plugins, with parameters and states; checks of each."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any, Literal

import attrs

from plausibly.errors import ComponentError, MissingExtra, listed
from plausibly.protocols import KIND_BY_NAME, Kind
from plausibly.registry.conformance import Problem
from plausibly.registry.entries import (
    VARIABLE,
    Entry,
    Failure,
    Source,
    missing,
    normalised,
    reason_of,
)
from plausibly.registry.mistakes import written
from plausibly.registry.parameters import expected, parameters_of
from plausibly.registry.registry import Registry, check_class

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
    try:
        parameters = parameters_of(target, typed=True)
    except ComponentError:  # types that exist for type checkers only: as they are written
        parameters = parameters_of(target)
    return tuple(
        About(
            p.name,
            p.type if isinstance(p.type, str) else expected(p.type),
            p.required,
            "" if p.required or p.default is attrs.NOTHING else written(plain(p.default)),
            meanings.get(p.name, meanings.get(p.field, "")),
        )
        for p in parameters
    )


def helps(target: Callable[..., object]) -> dict[str, str]:
    """Return what the parameters of a class or function mean, where its author says it."""
    meanings: dict[str, str] = {}
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


def first_sentence(target: Callable[..., object]) -> str:
    return (inspect.getdoc(target) or "").partition("\n")[0].strip()


State = Literal["ready", "ok", "failed", "disabled", "needs extra"]


@attrs.frozen
class Row:
    """A component, or a plugin of which no component is known, and its state.

    Checks add the members at fault and what to do.
    """

    source: Source
    state: State
    kind: str = ""
    name: str = ""
    summary: str = ""
    stage: str = ""
    reason: str = ""
    entry: Entry | None = None
    problems: tuple[Problem, ...] = ()
    hint: str = ""

    @property
    def words(self) -> str:
        if self.state == "failed":
            return f"failed at {self.stage}"
        if self.state == "needs extra" and self.entry is not None:
            return f'needs extra "{self.entry.extra}"'
        return self.state

    def answers_to(self, name: str) -> bool:
        plain = normalised(name)
        if plain in (normalised(self.source.plugin), normalised(self.source.distribution)):
            return True
        if self.entry is None:
            return False
        by_distribution = f"{self.source.distribution}:{self.name}"
        return name in (self.name, self.entry.qualified, by_distribution)

    @property
    def what(self) -> str:
        source = f"{self.source.plugin}:{self.name}"
        return f"{self.kind} {source}" if self.kind else f"plugin {self.source.plugin}"

    def lines(self) -> list[str]:
        """Return one line per problem: what, member, expected, found; or the reason."""
        where = f", at {self.stage}" if self.stage else ""
        reason = f": {self.reason}" if self.reason else ""
        return [
            f"{self.what}, member {p.member}: expected {p.expected}, found {p.found}"
            for p in self.problems
        ] or [f"{self.what}{where}{reason}"]


def overview(registry: Registry) -> tuple[Row, ...]:
    """Return every component by kind, ours first, then the plugins without one; imports none."""
    failures = registry.failures()
    broken = {f.component.key: f for f in failures if f.component is not None}
    disabled = {source: by.reason for source, by in registry.disabled().items()}
    rows = []
    for entry in registry.entries(off=True):
        row = Row(entry.source, "ready", entry.kind, entry.name, entry.summary, entry=entry)
        if entry.source in disabled:
            row = attrs.evolve(row, state="disabled", reason=disabled[entry.source])
        elif (fault := broken.get(entry.key)) is not None:
            row = attrs.evolve(row, state="failed", stage=fault.stage, reason=fault.reason)
        elif lacking := missing(entry.source.distribution, entry.extra):
            row = attrs.evolve(row, state="needs extra", reason=f"{listed(lacking)} not installed")
        rows.append(row)
    rows.sort(key=lambda r: (r.kind, not r.source.builtin, r.name, r.source.plugin))
    for failure in failures:
        if failure.component is None:
            row = Row(failure.source, "failed", stage=failure.stage, reason=failure.reason)
            # One row for each component that the plugin was about to offer, or one for all.
            rows += [
                attrs.evolve(row, kind=e.kind, name=e.name, summary=e.summary)
                for e in failure.offered
            ] or [row]
    shown = {row.source for row in rows}
    rows += [Row(s, "disabled", reason=why) for s, why in disabled.items() if s not in shown]
    shown |= set(disabled)
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
            close = next(iter(get_close_matches(name, sorted(known - {""}), n=1)), None)
            raise ComponentError(
                "plugin-unknown",
                f'nothing here is called "{name}"',
                expected="a plugin, a distribution or a component"
                + (f'; did you mean "{close}"?' if close else ""),
                hint="plausibly plugins list",
                source=name,
                details={"name": name, "suggestion": close},
            )
    return tuple(row for row in rows if any(row.answers_to(name) for name in wanted))


Rules = Callable[[Kind[Any], object], object]  # Any: each kind has its own Protocol
"""The author's kit: raises AssertionError, or returns a report that prints as one line."""


def check_failure(failure: Failure) -> Row:
    # A name that is not its own would turn off the plugin that has it.
    source = failure.source
    off = f"{VARIABLE}={source.distribution if failure.stage == 'name' else source.plugin}"
    return Row(
        source,
        "failed",
        stage=failure.stage,
        reason=failure.reason,
        hint=failure.remedy if source.builtin else f"{failure.remedy}, or {off}",
    )


def check_entry(entry: Entry, registry: Registry, rules: Rules | None = None) -> Row:
    """Load a component, make it with its defaults, and compare it with its Protocol."""
    kind = KIND_BY_NAME[entry.kind]
    of = Row(entry.source, "ok", entry.kind, entry.name)
    if lacking := missing(entry.source.distribution, entry.extra):
        reason = f'needs the extra "{entry.extra}": {listed(lacking)}'
        hint = f'pip install "{entry.source.distribution}[{entry.extra}]"'
        return attrs.evolve(of, state="needs extra", reason=reason, hint=hint)
    stage, remark = "making", ""
    try:
        target = entry.load()
        check_class(kind, target, entry)
        # Each type must exist at run time, where a table is checked against it.
        required = [p.name for p in parameters_of(target, typed=True) if p.required]
        if required:
            remark = f"not made: {listed(required)} has no default"
        else:
            component = registry.create(kind, entry)
            if rules is not None:
                stage = "rules"
                remark = str(rules(kind, component))
        return attrs.evolve(of, reason=remark)
    except MissingExtra as error:
        return attrs.evolve(of, state="needs extra", reason=error.what, hint=error.hint)
    except ComponentError as error:
        reason, faults = reason_of(error), error.details.get("problems", ())
        if error.name == "component-unloadable":
            stage, reason = "loading", error.found
        parts = tuple(Problem(**fault) for fault in faults) if isinstance(faults, list) else ()
        if parts:
            stage, reason = "check", ""
        failed = attrs.evolve(of, state="failed", stage=stage, reason=reason, hint=error.hint)
        return attrs.evolve(failed, problems=parts)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # a class may raise anything, or exit
        table = isinstance(error, AssertionError) and stage == "rules"
        reason = str(error).strip() if table else reason_of(error)
        return attrs.evolve(of, state="failed", stage=stage, reason=reason)
