"""The registry: from a name, a table or an object to a component that satisfies its Protocol."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, cast

from plausibly.errors import ComponentError, InputError
from plausibly.protocols import ComponentLike, Kind
from plausibly.registry import messages
from plausibly.registry.conformance import members, problems
from plausibly.registry.discovery import Declared, other_plugins, own_plugins, run_hook
from plausibly.registry.entries import THIS_RUN, Entry, Failure, Source
from plausibly.registry.hooks import checked_entry

if TYPE_CHECKING:
    from plausibly.config.convert import Strict

P = TypeVar("P")

Find = Callable[[], Iterable[Declared | Failure]]
"""Returns the plugins of one place; see `discovery`."""


class Registry:
    """Components by kind, name and plugin; nothing in it is ever overwritten.

    Our own plugins are loaded when the first component is asked for, the plugins of other
    distributions when a name is not found among ours, is qualified by a plugin that is not ours, or
    everything is listed.

    Parameters
    ----------
    own, others : callable
        Where plugins come from; a test may hand in its own.
    """

    def __init__(self, own: Find = own_plugins, others: Find = other_plugins) -> None:
        self._own = own
        self._others = others
        self._entries: dict[tuple[str, str, str], Entry] = {}
        self._plugins: dict[str, Source] = {}
        self._failures: list[Failure] = []
        self._strict: Strict | None = None
        self._warned = 0
        self._seen_own = False
        self._seen_others = False
        self._lock = RLock()

    # ---- what there is

    def entries(self, kind: Kind[Any] | None = None) -> tuple[Entry, ...]:
        """Return every component on offer, ours first, or those of one kind."""
        self._load_others()
        return tuple(e for e in self._entries.values() if kind is None or e.kind == kind.name)

    def plugins(self) -> tuple[Source, ...]:
        """Return every plugin that works."""
        self._load_others()
        return tuple(self._plugins.values())

    def failures(self) -> tuple[Failure, ...]:
        """Return every plugin that failed, with the stage and the error."""
        self._load_others()
        return tuple(self._failures)

    # ---- from what a user wrote to a component

    def find(self, kind: Kind[Any], name: str) -> Entry:
        """Return the component called `name` or ``plugin:name``.

        Raises
        ------
        ComponentError
            ``component-unknown`` where there is none, ``name-clash`` where several plugins of other
            distributions offer one. A name of ours always means ours.
        """
        self._load_own()
        self._warn_of_failures()
        plugin, _, bare = name.rpartition(":")
        ours = [e for e in self._called(kind, bare, plugin) if e.source.builtin]
        if ours:
            return ours[0]
        if plugin not in self._plugins:
            self._load_others()
        found = self._called(kind, bare, plugin)
        self._warn_of_failures()
        if len(found) > 1:
            raise messages.clash(kind, bare, found)
        if not found:
            raise messages.unknown(kind, name, self._entries.values(), self._failures)
        return found[0]

    def create(
        self, kind: Kind[P], like: ComponentLike[P], params: Mapping[str, object] | None = None
    ) -> P:
        """Return a component.

        Parameters
        ----------
        kind : Kind
            What it must be; the result has the type of this kind's Protocol.
        like : str, mapping or object
            A name (``"ecdf"`` or ``"plugin:name"``), a table (``{"name": "ecdf", "delta": 0.01}``)
            or the object itself.
        params : mapping, optional
            Parameters beside those of the table; an object takes none.

        Returns
        -------
        object
            It has every member of the Protocol, with the right parameters.

        Raises
        ------
        ComponentError
            ``component-unknown``, ``name-clash``, ``component-unloadable``,
            ``component-parameter`` with every mistake, or ``component-invalid``.
        """
        given = dict(params or {})
        if isinstance(like, str):
            return self._build(kind, self.find(kind, like), given)
        if isinstance(like, Mapping):
            table = dict(like)
            name = table.pop("name", None)
            if not isinstance(name, str):
                raise messages.nameless(kind, like)
            if twice := sorted(table.keys() & given.keys()):
                raise messages.given_twice(kind, name, twice)
            return self._build(kind, self.find(kind, name), {**table, **given})
        if given:
            raise messages.complete_already(kind, like, sorted(given))
        whose = f"{kind.name} {type(like).__name__}"
        return self._checked(kind, like, whose, Source(THIS_RUN))

    def describe(self, kind: Kind[Any], component: object) -> dict[str, object]:
        """Return the table from which `create` makes an equal component.

        Parameters
        ----------
        kind : Kind
            What it is.
        component : object
            An instance of a registered class.

        Returns
        -------
        dict
            ``{"name": ..., parameters}``, plain data all the way down.

        Raises
        ------
        ComponentError
            ``component-unregistered`` if its class has no name here: a file holds names and
            parameters, never code. ``component-parameter`` if a parameter is no plain data.
        """
        from plausibly.config.describe import described

        entry = self._entry_of(kind, component)
        return {
            "name": self._shortest(kind, entry),
            **described(component, self.describe, str(entry)),
        }

    def register(
        self, kind: Kind[P], name: str, target: Callable[..., P] | str, *, summary: str = ""
    ) -> None:
        """Offer a component in this process, under the plugin name ``(this run)``.

        Parameters
        ----------
        kind, name, target, summary
            As in `Registrar.add`.

        Raises
        ------
        ComponentError
            ``name-clash`` if we ship a component of this name, or another class was registered
            under it. The same class may come again, as when a notebook cell is run twice.
        """
        self._load_own()
        source = Source(THIS_RUN)
        entry = checked_entry(kind, name, target, summary, source)
        key = (kind.name, name, THIS_RUN)
        before = [e for e in self._called(kind, name, "") if e.source.builtin]
        if key in self._entries and _identity(self._entries[key].target) != _identity(target):
            before.append(self._entries[key])
        if before:
            raise messages.taken(kind, name, before[0], target)
        with self._lock:
            self._plugins[THIS_RUN] = source
            self._entries[key] = entry

    # ---- inside

    def _called(self, kind: Kind[Any], bare: str, plugin: str) -> list[Entry]:
        return [
            entry
            for (of_kind, name, offered_by), entry in list(self._entries.items())
            if of_kind == kind.name and name == bare and plugin in ("", offered_by)
        ]

    def _load_own(self) -> None:
        with self._lock:
            if not self._seen_own:
                self._seen_own = True
                self._load(self._own())

    def _load_others(self) -> None:
        with self._lock:
            self._load_own()
            if not self._seen_others:
                self._seen_others = True
                self._load(self._others())

    def _load(self, declared: Iterable[Declared | Failure]) -> None:
        taken = {**self._plugins, **{f.source.plugin: f.source for f in self._failures}}
        for plugin in declared:
            if isinstance(plugin, Failure):
                self._failures.append(plugin)
                continue
            source = plugin.source
            if source.plugin in taken or source.plugin == THIS_RUN:
                holder = taken.get(source.plugin, Source(THIS_RUN))
                clash = LookupError(f"{holder} has this name already")
                self._failures.append(Failure(source, "name", clash))
                continue
            taken[source.plugin] = source
            outcome = run_hook(plugin)
            if isinstance(outcome, Failure):
                self._failures.append(outcome)
                continue
            self._plugins[source.plugin] = source
            self._entries |= {(e.kind, e.name, source.plugin): e for e in outcome}

    def _warn_of_failures(self) -> None:
        with self._lock:
            new, self._warned = self._failures[self._warned :], len(self._failures)
        for failure in new:
            warnings.warn(failure.warning(), stacklevel=4)

    def _build(self, kind: Kind[P], entry: Entry, given: Mapping[str, object]) -> P:
        from plausibly.config.convert import Strict, signature
        from plausibly.config.mistakes import Mistakes, ParameterError

        target, whose = entry.load(), f'{kind.name} "{entry.name}"'
        if self._strict is None:
            self._strict = Strict(self.create)
        try:
            component = self._strict.build(target, given)
        except Mistakes as error:
            mistakes = [messages.with_others(m, kind, entry, self.entries) for m in error.mistakes]
            raise ParameterError.about(whose, mistakes, signature(target)) from error.__cause__
        return self._checked(kind, component, whose, entry.source)

    def _checked(self, kind: Kind[P], component: object, whose: str, source: Source) -> P:
        found = problems(component, kind.protocol)
        if isinstance(component, type) or len(found) == len(members(kind.protocol)):
            raise messages.no_component(kind, component, found)
        if found:
            raise messages.invalid(kind, whose, source, found)
        return cast("P", component)

    def _entry_of(self, kind: Kind[Any], component: object) -> Entry:
        cls = type(component)
        path = f"{cls.__module__}:{cls.__qualname__}"
        self._load_own()
        for everywhere in (False, True):
            if everywhere:
                self._load_others()
            here = [e for e in self._entries.values() if e.kind == kind.name]
            for entry in here:
                if entry.target is cls or entry.target == path:
                    return entry
            # A target may name another module of the same package, which re-exports the class.
            top = cls.__module__.partition(".")[0]
            for entry in here:
                if str(entry.target).startswith(top) and _is_at(entry, cls):
                    return entry
        raise ComponentError(
            "component-unregistered",
            f"{kind.name} {cls.__name__} has no name here",
            expected="a component of a registered class: a file holds names, never code",
            got=path,
            do=f'plausibly.register({kind.name.upper()}, "{messages.dashed(cls.__name__)}", '
            f"{cls.__name__}) before this, and again before loading",
            whose=cls.__name__,
        )

    def _shortest(self, kind: Kind[Any], entry: Entry) -> str:
        """Return the bare name of what is ours or of this run, unless it is not clear."""
        alone = self._called(kind, entry.name, "") == [entry]
        bare = entry.source.builtin or (entry.source.plugin == THIS_RUN and alone)
        return entry.name if bare else entry.qualified


def _is_at(entry: Entry, cls: type[object]) -> bool:
    try:
        return entry.load() is cls
    except InputError:  # what cannot be loaded made no component
        return False


def _identity(target: object) -> object:
    """Return what two definitions of one class have in common."""
    if isinstance(target, str):
        return target
    return getattr(target, "__module__", None), getattr(target, "__qualname__", target)
