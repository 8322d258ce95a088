"""The registry: from a name, a table or an object to a component that satisfies its Protocol."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from threading import RLock
from typing import Any, TypeVar, cast

import attrs

from plausibly.errors import ComponentError, InputError, PlausiblyWarning, counted, listed
from plausibly.protocols import KIND_BY_NAME, ComponentLike, Kind
from plausibly.registry.conformance import Problem, complete, problems, required_members
from plausibly.registry.discovery import (
    OURS,
    Declared,
    Registrar,
    other_plugins,
    own_plugins,
    run_hook,
)
from plausibly.registry.entries import (
    STRICT,
    THIS_RUN,
    VARIABLE,
    Advised,
    Disabled,
    Entry,
    Failure,
    Source,
    Stage,
    an,
    disabled_by,
    missing,
    normalised,
)
from plausibly.registry.mistakes import Mistake, Mistakes, ParameterError
from plausibly.registry.parameters import Strict, parameters_of, plain, signature, with_others

P = TypeVar("P")

_PLUGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@attrs.define(eq=False)
class _Plugin:
    source: Source
    place: str = ""  # of its module
    ran: bool = False
    entries: tuple[Entry, ...] = ()
    failure: Failure | None = None


class Registry:
    """Components by kind, name and plugin; nothing in it is ever overwritten.

    Our own plugins are loaded when the first component is asked for, the plugins of other
    distributions when a name is not one of ours, or everything is listed. `own` and `others` say
    where plugins come from.
    """

    def __init__(
        self,
        own: Callable[[], Iterable[Declared]] = own_plugins,
        others: Callable[[], Iterable[Declared | Failure]] = other_plugins,
    ) -> None:
        self._others = others
        self._converter = Strict(self.create)
        self._lock = RLock()
        self._this_run = _Plugin(Source(THIS_RUN), ran=True)
        self._plugins = [*(_Plugin(ours.source, ours.value) for ours in own()), self._this_run]
        self._scanned = False
        self._broken: dict[tuple[str, str, Source], Failure] = {}  # components of good plugins
        self._blocks: list[tuple[Disabled, ...]] = []
        self._reported: list[Failure | Disabled] = []

    # Any: each kind has its own Protocol
    def entries(self, kind: Kind[Any] | None = None, *, off: bool = False) -> tuple[Entry, ...]:
        """Return every component on offer, ours first; `off`: also those that are turned off."""
        return tuple(
            entry
            for entry in self._load(others=True)
            if (kind is None or entry.kind == kind.name) and (off or self.off(entry.source) is None)
        )

    def plugins(self) -> tuple[Source, ...]:
        self._load(others=True)
        working = [p for p in self._plugins if p.ran and p.failure is None]
        return tuple(
            p.source
            for p in working
            if self.off(p.source) is None and (p.entries or p is not self._this_run)
        )

    def failures(self) -> tuple[Failure, ...]:
        """Return every plugin and component that failed, of the plugins that are on."""
        self._load(others=True)
        return self._failures()

    def disabled(self) -> dict[Source, Disabled]:
        """Return every plugin here that is turned off, with where; none of them is imported."""
        turned_off = {source: self.off(source) for source in self._every_source()}
        return {source: name for source, name in turned_off.items() if name is not None}

    def off(self, source: Source) -> Disabled | None:
        return next((name for name in self._names_off() if name.means(source)), None)

    @contextmanager
    def disabling(self, *names: str, by: str = "disabling(...)") -> Iterator[None]:
        """Do without some plugins until the block ends, in every thread; ``*`` = all but ours."""
        block = disabled_by(names, by)
        self._blocks.append(block)
        try:
            yield
        finally:
            # Two equal blocks may stand for two threads: either is as good to take away.
            self._blocks.remove(block)

    def report(self, *, failures: bool = True, but: Entry | None = None) -> None:
        """Warn, once each, of what failed and of names that were to be disabled and are none here.

        Where plugins are strict, raise ``plugin-failed``. Without `failures`, those so far count as
        reported: for commands that list them.
        """
        strict = os.environ.get(STRICT, "").strip() not in ("", "0")
        if strict and failures:
            for failure in self.failures():
                raise failure.message(ComponentError, "plugins are strict") from failure.error
        with self._lock:
            new = [f for f in self._failures() if f not in self._reported]
            names = [n for n in self._names_off() if n.name != "*" and n not in self._reported]
            self._reported += [*new, *names]
        for failure in new:
            if failures and (but is None or failure.component is not but):
                message = failure.message(PlausiblyWarning, "all others work")
                warnings.warn(message, stacklevel=4)
        sources = self._every_source() if names else []
        for name in names:
            if not any(name.means(source) for source in sources):
                warnings.warn(name.unknown(sources), stacklevel=4)

    def find(self, kind: Kind[Any], name: str) -> Entry:
        """Return the component called `name` or ``plugin:name``; names of ours are always ours."""
        plugin, _, bare = name.rpartition(":")
        named: list[Entry] = []
        on: list[Entry] = []
        for others in (False, True):  # plugins of others run only for names that ours do not have
            known = self._load(others=others)
            named = [e for e in known if (e.kind, e.name) == (kind.name, bare)]
            if plugin:
                exact = [e for e in named if e.source.plugin == plugin]
                wanted = normalised(plugin)
                named = exact or [e for e in named if normalised(e.source.distribution) == wanted]
            on = [e for e in named if self.off(e.source) is None]
            if any(e.source.builtin for e in on):
                break
        # Where two of ours have the name, it means the one that needs no extra.
        ours = sorted((e for e in named if e.source.builtin), key=lambda e: bool(e.extra))
        # A name of ours is not free for others where ours is off: a default would change.
        chosen = ours[:1] or on or named[:1]
        self.report(but=chosen[0] if chosen else None)
        if not chosen:
            raise self._unknown(kind, name)
        if len(chosen) > 1:
            chosen = sorted(chosen, key=lambda e: (e.source.distribution, e.source.plugin))
            places = (f"{e.source.where} ({e.source.plugin.strip('()')})" for e in chosen)
            raise ComponentError(
                "name-clash",
                f'{counted(len(chosen))} plugins offer the {kind.name} "{bare}"',
                expected="one",
                found=" and ".join(places),
                hint=f"say {' or '.join(map(self._clear_name, chosen))}; or disable one",
                source=bare,
                details={
                    "kind": kind.name,
                    "name": bare,
                    "plugins": [e.source.plugin for e in chosen],
                },
            )
        entry = chosen[0]
        if (off := self.off(entry.source)) is not None:
            there = " or ".join(alternative.qualified for alternative in on)
            instead = f"say {there}" if there else f"plausibly plugins list --kind {kind.name}"
            raise ComponentError(
                "component-disabled",
                f'{kind.name} "{entry.name}": its plugin {entry.source} is disabled',
                expected="a component of a plugin that is on",
                found=off.reason,
                hint=f"{off.undo}; or another: {instead}",
                source=entry.qualified,
                details={"kind": kind.name, "name": entry.name, "plugin": entry.source.plugin},
            )
        return entry

    def create(
        self,
        kind: Kind[P],
        like: ComponentLike[P] | Entry,
        params: Mapping[str, object] | None = None,
    ) -> P:
        """Return a component by name or entry, from a table ``{"name": ..., ...}``, or as it is."""
        parameters = dict(params or {})
        if isinstance(like, Entry):
            entry = like
        elif isinstance(like, str | Mapping):
            table = {"name": like} if isinstance(like, str) else dict(like)
            name = table.pop("name", None)
            if not isinstance(name, str):
                keys = f"the keys {listed(table) or 'none'}"
                raise ComponentError(
                    "component-name",
                    f"a table for {an(kind.name)} has no name",
                    expected='a key "name" with text',
                    found=keys if name is None else f"name = {name!r}",
                    hint=f"plausibly plugins list --kind {kind.name}",
                    source=kind.name,
                )
            if twice := sorted(table.keys() & parameters.keys()):
                raise ComponentError(
                    "component-parameter",
                    f'{kind.name} "{name}": {listed(twice)} is given twice',
                    expected="each parameter once",
                    found="one in the table, and one beside it",
                    hint=f"leave {listed(twice)} out of one of them",
                    source=name,
                )
            entry, parameters = self.find(kind, name), {**table, **parameters}
        else:
            cls = type(like).__name__
            if parameters:
                raise ComponentError(
                    "component-parameter",
                    f"{kind.name} {cls} is an object and takes no more parameters",
                    expected="parameters beside a name or a table only",
                    found=listed(sorted(parameters)),
                    hint=f"{cls}({', '.join(f'{name}=...' for name in sorted(parameters))})",
                    source=cls,
                )
            _check(kind, like, f"{kind.name} {cls}", Source(THIS_RUN))
            return like
        source = f'{kind.name} "{entry.name}"'
        try:
            target = entry.load()
        except ComponentError as error:
            self._broken.setdefault(entry.key, Failure(entry.source, "loading", error, (entry,)))
            raise
        try:
            component = self._converter.build(target, parameters)
        except Mistakes as error:
            mistakes = [with_others(m, entry, self.entries) for m in error.mistakes]
            raise ParameterError.about(source, mistakes, signature(target)) from error.__cause__
        if not entry.source.builtin:  # the suite holds what we ship to its Protocol
            try:
                _check(kind, component, source, entry.source)
            except ComponentError as error:
                self._broken.setdefault(entry.key, Failure(entry.source, "check", error, (entry,)))
                raise
        return cast("P", component)

    def describe(
        self, kind: Kind[Any], component: object, *, unregistered: str = ""
    ) -> dict[str, object]:
        """Return the table, plain data, from which `create` makes an equal component.

        The name of a class that is not registered is `unregistered`; without one it is an error.
        """
        cls = type(component)
        place = f"{cls.__module__}:{cls.__qualname__}"
        # A target may name another module of the same package, which re-exports the class.
        package = cls.__module__.partition(".")[0]
        entry: Entry | None = None
        for others in (False, True):
            known = [e for e in self._load(others=others) if e.kind == kind.name]
            on = [e for e in known if self.off(e.source) is None]
            entry = next((e for e in on if e.target is cls or e.target == place), None)
            for likely in on if entry is None else ():
                with suppress(InputError):  # what cannot be loaded made no component
                    if str(likely.target).startswith(package) and likely.load() is cls:
                        entry = likely
                        break
            if entry is not None:
                break
        if entry is not None:
            # The bare name of what is ours or of this run, unless it is not clear.
            alike = [e for e in known if e.name == entry.name]
            ours = entry.source.builtin and not entry.extra
            bare = alike == [entry] if entry.source.plugin == THIS_RUN else ours
            name = entry.name if bare else self._clear_name(entry)
        elif unregistered:
            name = unregistered
        else:
            dashed = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).replace("_", "-").lower()
            raise ComponentError(
                "component-unregistered",
                f"{kind.name} {cls.__name__} has no name here",
                expected="a component of a registered class: a file holds names, never code",
                found=place,
                hint=f'plausibly.register({kind.name.upper()}, "{dashed}", {cls.__name__}) before '
                "this, and again before loading",
                source=cls.__name__,
            )
        table: dict[str, object] = {"name": name}
        mistakes: list[Mistake] = []
        for parameter in parameters_of(cls):
            try:
                table[parameter.name] = plain(getattr(component, parameter.field), self.describe)
            except (TypeError, AttributeError):
                text = "cannot be written down: it is no number, text, list, table or component"
                advice = "make the component a frozen attrs class with plain parameters"
                mistakes.append(Mistake(parameter.name, text, advice=advice))
        if mistakes:
            raise ParameterError.about(str(entry or f"{kind.name} {cls.__name__}"), mistakes)
        return table

    def register(
        self,
        kind: Kind[P],
        name: str,
        target: Callable[..., P] | str,
        *,
        summary: str = "",
    ) -> None:
        """Offer a component in this process, under the plugin name ``(this run)``."""
        known = self._load(others=False)
        registrar = Registrar(self._this_run.source)
        registrar.add(kind, name, target, summary=summary)
        (entry,) = registrar.entries
        for other in (e for e in known if (e.kind, e.name) == (kind.name, name)):
            again = other.key == entry.key and _identity(other.target) == _identity(target)
            if other.source.builtin or (other.key == entry.key and not again):
                raise ComponentError(
                    "name-clash",
                    f'there is {an(kind.name)} "{name}" already',
                    expected="a new name: nothing is overwritten",
                    found=f"{getattr(target, '__qualname__', target)}, beside that of "
                    f"{other.source}",
                    hint=f'register it as "my-{name}"',
                    source=name,
                    details={"kind": kind.name, "name": name, "plugins": [other.source.plugin]},
                )
        check_class(kind, target, entry)
        with self._lock:
            self._broken.pop(entry.key, None)  # of the class that it replaces
            kept = (e for e in self._this_run.entries if e.key != entry.key)
            self._this_run.entries = (*kept, entry)

    def _failures(self) -> tuple[Failure, ...]:
        whole = [plugin.failure for plugin in tuple(self._plugins) if plugin.failure is not None]
        return tuple(f for f in (*whole, *self._broken.values()) if self.off(f.source) is None)

    def _names_off(self) -> tuple[Disabled, ...]:
        """Return every name that is to be off now, wherever it is configured."""
        blocks = [disabled for block in tuple(self._blocks) for disabled in block]
        listing = os.environ.get(VARIABLE)
        return (*blocks, *(disabled_by(listing.split(","), VARIABLE) if listing else ()))

    def _every_source(self) -> list[Source]:
        self._scan()
        return [plugin.source for plugin in self._plugins if plugin is not self._this_run]

    def _scan(self) -> None:
        """Look once which plugins of others there are; none is run."""
        with self._lock:
            if self._scanned:
                return
            others = list(self._others())
            self._scanned = True
            reserved = {OURS, *(normalised(plugin.source.plugin) for plugin in self._plugins)}
            seen: set[Source] = set()
            for declared in others:
                if isinstance(declared, Failure):
                    self._plugins.append(_Plugin(declared.source, ran=True, failure=declared))
                    continue
                source, text = declared.source, ""
                plugin = _Plugin(source, declared.value)
                if not _PLUGIN.fullmatch(source.plugin) or source.plugin == THIS_RUN:
                    text = f"{source.plugin!r} is no name: letters, digits, dots and hyphens"
                elif normalised(source.plugin) in reserved:
                    text = f"{source.plugin} is a name of plausibly's own"
                elif source in seen:
                    text = f"{source} has this name already"
                if text:
                    advice = f"pip uninstall {source.distribution}, or rename it there"
                    plugin.ran = True
                    plugin.failure = Failure(source, "name", Advised(text, advice))
                seen.add(source)
                self._plugins.append(plugin)

    def _load(self, *, others: bool) -> list[Entry]:
        """Run the hooks of our own plugins, and of `others` that are on; return every entry."""
        with self._lock:
            if others:
                self._scan()
            for plugin in list(self._plugins):
                wanted = plugin.source.builtin or (others and self.off(plugin.source) is None)
                if plugin.ran or not wanted:
                    continue
                plugin.ran = True  # before it runs: a hook may ask for components
                before = self._this_run.entries
                try:
                    outcome = run_hook(Declared(plugin.source, plugin.place))
                except BaseException:  # interrupted: the next call runs it
                    plugin.ran = False
                    raise
                if isinstance(outcome, Failure):
                    plugin.failure, self._this_run.entries = outcome, before
                    continue
                plugin.entries = outcome
                for entry in () if plugin.source.builtin else outcome:
                    self._try_in_memory(entry)
            return [entry for plugin in self._plugins for entry in plugin.entries]

    def _try_in_memory(self, entry: Entry) -> None:
        """Record a component whose class is in memory, and lacks what its Protocol wants."""
        place = entry.target.partition(":")[0] if isinstance(entry.target, str) else ""
        module = sys.modules.get(place)
        # A module may make attributes when they are asked for, out of what takes long to import.
        if place and (module is None or hasattr(module, "__getattr__")):
            return
        stage: Stage = "loading"
        try:
            target = entry.load()
            stage = "check"
            check_class(KIND_BY_NAME[entry.kind], target, entry)
        except ComponentError as error:
            self._broken[entry.key] = Failure(entry.source, stage, error, (entry,))

    def _clear_name(self, entry: Entry) -> str:
        """Return a name that means this component and no other."""
        key = (entry.kind, entry.qualified)
        alike = [e for e in self._load(others=False) if (e.kind, e.qualified) == key]
        on = [e for e in alike if self.off(e.source) is None]
        return entry.qualified if len(on) == 1 else f"{entry.source.distribution}:{entry.name}"

    def _unknown(self, kind: Kind[Any], name: str) -> ComponentError:
        entries, failures, disabled = self.entries(), self.failures(), self.disabled()
        broken = [f for f in failures if f.component is None]  # plugins, not single components
        plugin, _, bare = name.rpartition(":")
        known: dict[str, Entry] = {}
        for entry in sorted(entries, key=lambda e: bool(e.extra)):  # first what is here
            if entry.kind == kind.name:
                known.setdefault(entry.qualified, entry)
                known.setdefault(entry.name, entry)
        close = get_close_matches(name, known, n=1) or get_close_matches(bare, known, n=1)
        what, expected, suggestion = f'no {kind.name} "{name}"', "a name from plugins list", None
        hint = f"plausibly plugins list --kind {kind.name}"
        if close:
            likely = known[close[0]]
            bare_name = likely.source.builtin and not likely.extra
            suggestion = likely.name if bare_name else likely.qualified
            expected += f'; did you mean "{suggestion}"?'
            if missing(likely.source.distribution, likely.extra):
                hint = f'pip install "{likely.source.distribution}[{likely.extra}]"'
        named = Disabled(plugin, "this name")
        failed = [
            f
            for f in broken
            if named.means(f.source)
            or any((e.kind, e.name) == (kind.name, bare) for e in f.offered)
        ]
        off = [(source, by) for source, by in disabled.items() if named.means(source)]
        if failed:
            what += f": {failed[0].source} {failed[0].state}"
            found = "; ".join(f.reason for f in failed)
            hint = failed[0].message(ComponentError, "").hint
        elif off:
            source, by = off[0]
            what, found, hint = f"{what}: {source} is disabled", by.reason, by.undo
        else:
            plugins = {
                "failed": [f.source.plugin for f in broken],
                "is disabled": [source.plugin for source in disabled],
            }
            reasons = [
                *(f"{an(e.kind)} of that name" for e in entries if e.name == bare),
                *(
                    f"it may be in a plugin that {how} ({listed(n)})"
                    for how, n in plugins.items()
                    if n
                ),
            ]
            found = "; ".join(reasons)
            if not entries and not failures:
                found = "no component at all: plausibly is on the path, but not installed"
            elif not reasons and not close:
                found = f"nothing like it in the environment of {sys.executable}"
        return ComponentError(
            "component-unknown",
            what,
            expected=expected,
            found=found,
            hint=hint,
            source=name,
            details={
                "kind": kind.name,
                "name": name,
                "suggestion": suggestion,
                "failed": [str(f.source) for f in failures],
                "disabled": [str(source) for source in disabled],
                "python": sys.executable,
            },
        )


# Any: each kind has its own Protocol
def _check(kind: Kind[Any], component: object, source: str, origin: Source) -> None:
    """Raise ``component-invalid`` unless a component satisfies its Protocol."""
    lacking = problems(component, kind.protocol)
    required = required_members(kind.protocol)
    if isinstance(component, type) or len(lacking) >= len(required):
        text, hint = repr(component), f"plausibly plugins list --kind {kind.name}"
        text = text if len(text) < 40 else an(type(component).__name__)
        if isinstance(component, type):
            text = f"the class {component.__name__}"
            hint = f"{component.__name__}(), with parentheses"
        raise ComponentError(
            "component-invalid",
            f"this is no {kind.name}: {text}",
            expected="a name, a table with a name, or an object that has "
            f"{listed(required, most=9)}",
            hint=hint,
            source=kind.name,
            details={"kind": kind.name, "members": [p.member for p in lacking]},
        )
    _check_members(kind, source, origin, lacking or complete(component, kind.protocol))


def check_class(kind: Kind[Any], target: object, entry: Entry) -> None:
    if isinstance(target, type):  # of a function only what it returns can be looked at
        lacking = problems(target, kind.protocol)
        _check_members(kind, f'{kind.name} "{entry.name}"', entry.source, lacking)


def _check_members(
    kind: Kind[Any], source: str, origin: Source, lacking: Sequence[Problem]
) -> None:
    if not lacking:
        return
    raise ComponentError(
        "component-invalid",
        f"{source} of {origin}, member {', '.join(p.member for p in lacking)}",
        expected="; ".join(p.expected for p in lacking),
        found="; ".join(p.found for p in lacking),
        hint=f"fix it as the Protocol {kind.protocol.__name__} of plausibly.plugin says",
        source=source,
        details={
            "kind": kind.name,
            **attrs.asdict(origin, filter=attrs.filters.exclude("builtin")),
            "problems": [attrs.asdict(p) for p in lacking],
        },
    )


def _identity(target: object) -> object:
    if isinstance(target, str):
        return target
    return getattr(target, "__module__", None), getattr(target, "__qualname__", target)
