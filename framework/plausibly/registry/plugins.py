"""The plugins of one registry, and in which state each is: working, failed, off, not yet asked."""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import RLock

import attrs

from plausibly.errors import ComponentError
from plausibly.protocols import KINDS
from plausibly.registry.conformance import class_problems
from plausibly.registry.disabling import (
    EVERY_OTHER,
    Asked,
    Disabled,
    asked_by_environment,
    normalised,
    strict_by_environment,
    unknown,
)
from plausibly.registry.discovery import OURS, Declared, run_hook
from plausibly.registry.entries import THIS_RUN, Advised, Entry, Failure, Source, Stage
from plausibly.registry.glance import glance
from plausibly.registry.messages import invalid

Find = Callable[[], Iterable[Declared | Failure]]
"""Returns the plugins of one place; see `discovery`."""

_PLUGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_PROTOCOL = {kind.name: kind for kind in KINDS}


@attrs.define(eq=False)
class Plugins:
    """Everything that a registry knows of plugins.

    Ours are run when the first component is asked for, also where they are disabled: what they
    offer must be known to say so. Of the others one that is disabled is not imported.

    Attributes
    ----------
    own : callable
        Returns our own plugins.
    others : callable
        Returns those of all other distributions.
    argument : tuple of Asked
        Plugins that are off for as long as there is this registry.
    strictly : bool or None
        Whether a failure is an error; None asks the environment.
    entries : dict of tuple to Entry
        Every component that a working plugin offers, also where it is disabled, by kind, name and
        source.
    """

    own: Callable[[], Iterable[Declared]]
    others: Find
    argument: tuple[Asked, ...] = ()
    strictly: bool | None = None
    entries: dict[tuple[str, str, Source], Entry] = attrs.field(factory=dict, init=False)
    lock: RLock = attrs.field(factory=RLock, init=False)
    _sources: list[Source] = attrs.field(factory=list, init=False)
    _failures: list[Failure] = attrs.field(factory=list, init=False)
    _for_now: list[tuple[Asked, ...]] = attrs.field(factory=list, init=False)
    _own_left: list[Declared] | None = attrs.field(default=None, init=False)
    _others_left: list[Declared] | None = attrs.field(default=None, init=False)
    _told: list[Failure] = attrs.field(factory=list, init=False)
    _told_names: set[Asked] = attrs.field(factory=set, init=False)

    # ---- what is off

    def asked(self) -> tuple[Asked, ...]:
        """Return every name that is to be off now, wherever it was given."""
        blocks = [one for block in tuple(self._for_now) for one in block]
        return (*self.argument, *blocks, *asked_by_environment())

    def off(self, source: Source) -> Asked | None:
        """Return who turned a plugin off, None where it is on."""
        return next((asked for asked in self.asked() if asked.means(source)), None)

    @contextmanager
    def disabling(self, asked: tuple[Asked, ...]) -> Iterator[None]:
        """Turn plugins off until the block ends."""
        self._for_now.append(asked)
        try:
            yield
        finally:
            # Two equal blocks may stand for two threads: either is as good to take away.
            self._for_now.remove(asked)

    # ---- what there is

    def working(self) -> tuple[Source, ...]:
        """Return every plugin that works and is on."""
        self.load_others()
        return tuple(source for source in self._sources if self.off(source) is None)

    def failures(self) -> tuple[Failure, ...]:
        """Return what failed of the plugins that are on, so far."""
        return tuple(f for f in tuple(self._failures) if self.off(f.source) is None)

    def disabled(self) -> tuple[Disabled, ...]:
        """Return every plugin here that is off."""
        sources = dict.fromkeys(self._known())
        found = [(source, self.off(source)) for source in sources]
        return tuple(Disabled(source, asked) for source, asked in found if asked is not None)

    def installed(self) -> tuple[Declared | Failure, ...]:
        """Return what the metadata of all distributions declare; no plugin is imported."""
        own = list(self.own())
        return (*own, *_judged(self.others(), own))

    def _known(self) -> list[Source]:
        left = [*self._scan(), *(self.own() if self._own_left is None else self._own_left)]
        return [
            *self._sources,
            *(failure.source for failure in self._failures),
            *(declared.source for declared in left),
        ]

    # ---- from a distribution to its components

    def load_own(self) -> None:
        """Run the hooks of our own plugins, once."""
        with self.lock:
            if self._own_left is None:
                self._own_left = list(self.own())
            self._run(self._own_left)

    def load_others(self) -> None:
        """Run the hooks of all other plugins that are on, each once."""
        with self.lock:
            self.load_own()
            left = self._scan()
            self._run(left, [d for d in left if self.off(d.source) is None])

    def _scan(self) -> list[Declared]:
        """Return the plugins of others that were not run yet; reads metadata once."""
        with self.lock:
            if self._others_left is None:
                judged = list(_judged(self.others(), self.own()))
                self._failures += [found for found in judged if isinstance(found, Failure)]
                self._others_left = [found for found in judged if isinstance(found, Declared)]
            return self._others_left

    def _run(self, left: list[Declared], on: Iterable[Declared] | None = None) -> None:
        for declared in list(left if on is None else on):
            if declared not in left:  # a hook that asked for a component had it run
                continue
            left.remove(declared)
            before = dict(self.entries)
            try:
                outcome = run_hook(declared)
            except BaseException:  # interrupted: the next who asks has it run
                left.insert(0, declared)
                raise
            if isinstance(outcome, Failure):
                self.entries = before
                self._failures.append(outcome)
            else:
                self._sources.append(declared.source)
                self.entries |= {entry.key: entry for entry in outcome}
                self._check(outcome)

    def _check(self, entries: Iterable[Entry]) -> None:
        """Record what cannot be loaded, or cannot satisfy its Protocol, as far as it can be seen.

        Nothing is imported for it; ours are known to be there.
        """
        for entry in entries:
            if entry.source.builtin:
                continue
            kind = _PROTOCOL[entry.kind]
            try:
                target = glance(entry)
            except ComponentError as error:
                self.fail(entry, "loading", error)
                continue
            found = class_problems(target, kind.protocol)
            if found:
                whose = f'{kind.name} "{entry.name}"'
                self.fail(entry, "check", invalid(kind, whose, entry.source, found))

    def add(self, entry: Entry) -> None:
        """Keep a component of this run."""
        with self.lock:
            if entry.source not in self._sources:
                self._sources.append(entry.source)
            self.forget(entry)
            self.entries[entry.key] = entry

    def fail(self, entry: Entry, stage: Stage, error: ComponentError) -> None:
        """Record that a component cannot be used, once."""
        with self.lock:
            if self.failure_of(entry) is None:
                self._failures.append(Failure(entry.source, stage, error, (entry,)))

    def failure_of(self, entry: Entry) -> Failure | None:
        """Return what is known to be wrong with a component."""
        failed = (f for f in tuple(self._failures) if f.component is not None)
        return next((f for f in failed if f.offered[0].key == entry.key), None)

    def forget(self, entry: Entry) -> None:
        """Take back that a component failed, as its class was replaced."""
        failure = self.failure_of(entry)
        if failure is not None:
            self._failures.remove(failure)

    def refresh(self) -> None:
        """Look again: for new distributions, and at the plugins that failed."""
        with self.lock:
            importlib.invalidate_caches()
            known = set(self._sources)
            self._failures.clear()
            self._told.clear()
            self._own_left = [d for d in self.own() if d.source not in known]
            self._others_left = None
            self._others_left = [d for d in self._scan() if d.source not in known]

    # ---- what is said of it

    def insist(self) -> None:
        """Raise ``plugin-failed`` if anything failed and failures are errors.

        Then every plugin that is on is run, so that this does not depend on what is asked for.
        """
        strict = self.strictly
        if strict_by_environment() if strict is None else strict:
            self.load_others()
            failed = self.failures()
            if failed:
                raise failed[0].strictly() from failed[0].error

    def tell(self, *, but: Entry | None = None, stacklevel: int = 4) -> None:
        """Warn of what failed, and of names that turn nothing off; once each.

        Parameters
        ----------
        but : Entry, optional
            The component that is asked for: if it failed, an error is going to say so.
        stacklevel : int
            As in `warnings.warn`.
        """
        with self.lock:
            new = [f for f in self.failures() if not any(f is told for told in self._told)]
            self._told += new
        for failure in new:
            if but is None or failure.component is not but:
                warnings.warn(failure.warning(), stacklevel=stacklevel)
        self.tell_of_names(stacklevel=stacklevel + 1)

    def told(self) -> None:
        """Count what failed as told."""
        with self.lock:
            self._told += self.failures()

    def tell_of_names(self, *, stacklevel: int = 3) -> None:
        """Warn of names that were to be disabled and are none, once each."""
        for given in self.asked():
            if given in self._told_names or given.name == EVERY_OTHER:
                continue
            self._told_names.add(given)
            sources = self._known()
            if not any(given.means(source) for source in sources):
                warnings.warn(unknown(given, sources), stacklevel=stacklevel)


def _judged(
    found: Iterable[Declared | Failure], own: Iterable[Declared]
) -> Iterator[Declared | Failure]:
    """Yield what was found; a plugin whose name cannot stand becomes a failure."""
    reserved = {normalised(declared.source.plugin) for declared in own} | {OURS}
    seen: set[Source] = set()
    for declared in found:
        if isinstance(declared, Failure):
            yield declared
            continue
        source = declared.source
        name = source.plugin
        advice = f"pip uninstall {source.distribution}, or rename it in its entry points"
        text = ""
        if normalised(name) in reserved:
            text = f"{name} is a name of plausibly's own"
        elif not _PLUGIN.fullmatch(name) or name == THIS_RUN:
            text = f"{name!r} is no name: letters, digits, dots and hyphens"
        elif source in seen:
            text = f"{source} has this name already"
        seen.add(source)
        yield Failure(source, "name", Advised(text, advice)) if text else declared
