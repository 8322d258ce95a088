"""Look at every component of some plugins: can it be loaded, made, and does it conform."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import attrs

from plausibly.errors import ComponentError, MissingExtra, listed
from plausibly.protocols import KINDS, Kind
from plausibly.registry.conformance import Problem, class_problems, problems
from plausibly.registry.entries import VARIABLE, Entry, Failure, Source, missing, reason_of

State = Literal["ok", "failed", "needs extra"]

Rules = Callable[[Kind[Any], object], object]  # Any: each kind has its own Protocol
"""The author's kit: raises AssertionError, or returns a report that prints as one line."""

_KIND = {kind.name: kind for kind in KINDS}


@attrs.frozen
class Checked:
    """What was found of one component, or of a plugin that has none."""

    source: Source
    state: State
    kind: str = ""
    name: str = ""
    stage: str = ""
    reason: str = ""
    problems: tuple[Problem, ...] = ()
    do: str = ""

    @property
    def what(self) -> str:
        """What was looked at, in words."""
        whose = f"{self.source.plugin}:{self.name}"
        return f"{self.kind} {whose}" if self.kind else f"plugin {self.source.plugin}"

    def lines(self) -> list[str]:
        """Return one line a problem: what, member, expected, got; or the reason."""
        if self.problems:
            return [
                f"{self.what}, member {p.member}: expected {p.expected}, got {p.got}"
                for p in self.problems
            ]
        where = f", at {self.stage}" if self.stage else ""
        return [f"{self.what}{where}: {self.reason}" if self.reason else f"{self.what}{where}"]


def check_failure(failure: Failure) -> Checked:
    """Return what is known of a plugin that failed as a whole."""
    # A name that is not its own would turn off the plugin that has it.
    source = failure.source
    off = f"{VARIABLE}={source.distribution if failure.stage == 'name' else source.plugin}"
    return Checked(
        source,
        "failed",
        stage=failure.stage,
        reason=failure.reason,
        do=failure.remedy if source.builtin else f"{failure.remedy}, or {off}",
    )


def check_entry(
    entry: Entry, make: Callable[[Entry], object], rules: Rules | None = None
) -> Checked:
    """Load a component, make it with its defaults, and compare it with its Protocol."""
    kind = _KIND[entry.kind]
    of = Checked(entry.source, "ok", entry.kind, entry.name)
    lacking = missing(entry.source.distribution, entry.extra)
    if lacking:
        extra = f"{entry.source.distribution}[{entry.extra}]"
        return attrs.evolve(
            of,
            state="needs extra",
            reason=f'needs the extra "{entry.extra}": {listed(lacking)}',
            do=f'pip install "{extra}"',
        )
    stage = "making"
    try:
        required = _required(entry)
        if required:
            found = class_problems(entry.load(), kind.protocol)
            remark = f"not made: {listed(required)} has no default"
        else:
            component = make(entry)
            found, remark = problems(component, kind.protocol), ""
        if rules is not None and not required and not found:
            stage = "rules"
            remark = str(rules(kind, component))
    except MissingExtra as error:
        return attrs.evolve(of, state="needs extra", reason=error.what, do=error.do)
    except ComponentError as error:
        return _failed(of, stage, error)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # somebody's class may raise anything, or exit
        table = isinstance(error, AssertionError) and stage == "rules"
        reason = str(error).strip() if table else reason_of(error)
        return attrs.evolve(of, state="failed", stage=stage, reason=reason)
    if found:
        return attrs.evolve(of, state="failed", stage="check", problems=found)
    return attrs.evolve(of, reason=remark)


def _required(entry: Entry) -> list[str]:
    """Return the parameters without a default; every type must exist at run time."""
    from plausibly.registry.parameters import parameters_of

    return [p.name for p in parameters_of(entry.load(), typed=True) if p.required]


def _failed(of: Checked, stage: str, error: ComponentError) -> Checked:
    if isinstance(found := error.details.get("problems"), list):
        known = tuple(Problem(**p) for p in found)
        return attrs.evolve(of, state="failed", stage="check", problems=known, do=error.do)
    if error.name == "component-unloadable":
        return attrs.evolve(of, state="failed", stage="loading", reason=error.got, do=error.do)
    return attrs.evolve(of, state="failed", stage=stage, reason=reason_of(error), do=error.do)


def failed_sources(found: Iterable[Checked]) -> set[Source]:
    """Return the plugins of which something failed."""
    return {checked.source for checked in found if checked.state == "failed"}
