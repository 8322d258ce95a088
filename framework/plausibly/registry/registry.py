"""The registry: from a name, a table or an object to a component that satisfies its Protocol."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar, cast

from plausibly.errors import ComponentError
from plausibly.protocols import KINDS, ComponentLike, Kind
from plausibly.registry import messages
from plausibly.registry.conformance import class_problems, members, problems
from plausibly.registry.disabling import Disabled, asked, normalised
from plausibly.registry.discovery import Declared, other_plugins, own_plugins
from plausibly.registry.entries import THIS_RUN, Entry, Failure, Source
from plausibly.registry.hooks import checked_entry
from plausibly.registry.origin import entry_of, identity
from plausibly.registry.plugins import Find, Plugins

if TYPE_CHECKING:
    from plausibly.registry.convert import Strict

P = TypeVar("P")

_KIND = {kind.name: kind for kind in KINDS}


class Registry:
    """Components by kind, name and plugin; nothing in it is ever overwritten.

    Our own plugins are loaded when the first component is asked for, the plugins of other
    distributions when a name is not found among ours, is qualified by a plugin that is not ours, or
    everything is listed.

    Parameters
    ----------
    own, others : callable
        Where plugins come from; a test may hand in its own.
    disabled : collection of str
        Plugins or distributions to do without; ``*`` = all but ours.
    strict : bool, optional
        Whether a plugin that fails is an error; else it is recorded, and warned of once. By default
        the environment variable ``PLAUSIBLY_STRICT_PLUGINS`` decides.
    """

    def __init__(
        self,
        own: Callable[[], Iterable[Declared]] = own_plugins,
        others: Find = other_plugins,
        *,
        disabled: Collection[str] = (),
        strict: bool | None = None,
    ) -> None:
        self._plugins = Plugins(own, others, asked(disabled, "Registry(disabled=...)"), strict)
        self._strict: Strict | None = None

    # ---- what there is

    # Any: each kind has its own Protocol
    def entries(self, kind: Kind[Any] | None = None, *, off: bool = False) -> tuple[Entry, ...]:
        """Return every component on offer, ours first.

        Parameters
        ----------
        kind : Kind, optional
            Only those of one kind.
        off : bool
            Also those of plugins that are turned off, as far as they are known.
        """
        self._plugins.load_others()
        return self._entries(kind, off=off)

    def plugins(self) -> tuple[Source, ...]:
        """Return every plugin that works and is on."""
        return self._plugins.working()

    def failures(self) -> tuple[Failure, ...]:
        """Return every plugin and component that failed, with the stage and the error.

        Of a component that is loaded when it is asked for this is known afterwards.
        """
        self._plugins.load_others()
        return self._plugins.failures()

    def disabled(self) -> tuple[Disabled, ...]:
        """Return every plugin here that is turned off, and by whom; none of them is imported."""
        return self._plugins.disabled()

    def off(self, source: Source) -> Disabled | None:
        """Return who turned a plugin off, None where it is on."""
        by = self._plugins.off(source)
        return None if by is None else Disabled(source, by)

    def installed(self) -> tuple[Declared | Failure, ...]:
        """Return every plugin as the metadata declare it; none of them is imported."""
        return self._plugins.installed()

    def disabling(self, *names: str, by: str = "disabling(...)") -> AbstractContextManager[None]:
        """Do without some plugins until the block ends, in every thread.

        Parameters
        ----------
        *names : str
            Plugins or distributions; ``*`` = all but ours. One that is not here is warned of.
        by : str
            Who asks for it, as messages call it.
        """
        return self._plugins.disabling(asked(names, by))

    def refresh(self) -> None:
        """Look for plugins again: new distributions, and those that failed.

        What works and what was registered in this run stays.
        """
        self._plugins.refresh()

    def tell(self) -> None:
        """Warn of plugins that failed, once each; `find` and `create` do so themselves.

        Raises
        ------
        ComponentError
            ``plugin-failed`` where failures are errors.
        """
        self._plugins.load_others()
        self._plugins.insist()
        self._plugins.tell()

    def told(self) -> None:
        """Count what failed as told: for who shows `failures` in another way."""
        self._plugins.told()

    def tell_of_names(self) -> None:
        """Warn of names that were to be disabled and are none here, once each."""
        self._plugins.tell_of_names()

    # ---- from what a user wrote to a component

    def find(self, kind: Kind[Any], name: str) -> Entry:
        """Return the component called `name` or ``plugin:name``.

        A distribution may stand for the plugin. A name of ours always means ours; where two of ours
        have it, the one that needs no extra.

        Raises
        ------
        ComponentError
            ``component-unknown`` where there is none, ``component-disabled`` where its plugin is
            turned off, ``name-clash`` where several plugins of other distributions offer one, and
            ``plugin-failed`` where failures are errors.
        """
        self._plugins.load_own()
        self._plugins.insist()
        plugin, _, bare = name.rpartition(":")
        found = self._called(kind, bare, plugin)
        here = any(e.source.builtin and self._plugins.off(e.source) is None for e in found)
        if not here and (not plugin or not found):
            self._plugins.load_others()
            found = self._called(kind, bare, plugin)
        ours = sorted((e for e in found if e.source.builtin), key=lambda e: bool(e.extra))
        on = [e for e in found if self._plugins.off(e.source) is None]
        # A name of ours is not free for others where ours is off: a default would change.
        chosen = ours[:1] or on or found[:1]
        self._plugins.tell(but=chosen[0] if chosen else None)
        if not chosen:
            failed, disabled = self._plugins.failures(), self._plugins.disabled()
            raise messages.unknown(kind, name, self._entries(None), failed, disabled)
        if len(chosen) > 1:
            raise messages.clash(kind, bare, chosen, self._clear_name)
        asked_off = self._plugins.off(chosen[0].source)
        if asked_off is not None:
            raise messages.off(kind, chosen[0], asked_off, on)
        return chosen[0]

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

    def make(self, entry: Entry, params: Mapping[str, object] | None = None) -> object:
        """Return the component of an entry, from `entries`; raises what `create` does."""
        return self._build(_KIND[entry.kind], entry, params or {})

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
        from plausibly.registry.plain import described

        self._plugins.load_own()
        entry = entry_of(kind, component, lambda: self._entries(kind), lambda: self.entries(kind))
        return {
            "name": self._shortest(kind, entry),
            **described(component, self.describe, str(entry)),
        }

    def register(
        self,
        kind: Kind[P],
        name: str,
        target: Callable[..., P] | str,
        *,
        summary: str = "",
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
            ``component-invalid`` if no object of the class can satisfy the Protocol.
        """
        self._plugins.load_own()
        source = Source(THIS_RUN)
        entry = checked_entry(kind, name, target, source, summary)
        before = [e for e in self._called(kind, name, "") if e.source.builtin]
        mine = self._plugins.entries.get(entry.key)
        if mine is not None and identity(mine.target) != identity(target):
            before.append(mine)
        if before:
            raise messages.taken(kind, name, before[0], target)
        found = class_problems(target, kind.protocol)
        if found:
            raise messages.invalid(kind, f'{kind.name} "{name}"', source, found)
        self._plugins.add(entry)

    # ---- inside

    def _entries(self, kind: Kind[Any] | None, *, off: bool = False) -> tuple[Entry, ...]:
        every = tuple(self._plugins.entries.values())
        on = {s for s in {e.source for e in every} if off or self._plugins.off(s) is None}
        return tuple(e for e in every if e.source in on and kind in (None, _KIND[e.kind]))

    def _called(self, kind: Kind[Any], bare: str, plugin: str) -> list[Entry]:
        """Return every component of this name, also those that are off."""
        every = tuple(self._plugins.entries.values())
        named = [e for e in every if (e.kind, e.name) == (kind.name, bare)]
        if not plugin:
            return named
        exactly = [e for e in named if e.source.plugin == plugin]
        wanted = normalised(plugin)
        return exactly or [e for e in named if normalised(e.source.distribution) == wanted]

    def _clear_name(self, entry: Entry) -> str:
        """Return a name that means this component and no other."""
        alike = [
            e for e in self._entries(None) if (e.kind, e.qualified) == (entry.kind, entry.qualified)
        ]
        return entry.qualified if len(alike) == 1 else f"{entry.source.distribution}:{entry.name}"

    def _build(self, kind: Kind[P], entry: Entry, given: Mapping[str, object]) -> P:
        from plausibly.registry.convert import Strict, signature
        from plausibly.registry.mistakes import Mistakes, ParameterError

        whose = f'{kind.name} "{entry.name}"'
        try:
            target = entry.load()
        except ComponentError as error:
            self._plugins.fail(entry, "loading", error)
            raise
        if self._strict is None:
            self._strict = Strict(self.create)
        try:
            component = self._strict.build(target, given)
        except Mistakes as error:
            mistakes = [messages.with_others(m, kind, entry, self.entries) for m in error.mistakes]
            raise ParameterError.about(whose, mistakes, signature(target)) from error.__cause__
        try:
            return self._checked(kind, component, whose, entry.source)
        except ComponentError as error:
            self._plugins.fail(entry, "check", error)
            raise

    def _checked(self, kind: Kind[P], component: object, whose: str, source: Source) -> P:
        found = problems(component, kind.protocol)
        if isinstance(component, type) or len(found) == len(members(kind.protocol)):
            raise messages.no_component(kind, component, found)
        if found:
            raise messages.invalid(kind, whose, source, found)
        return cast("P", component)

    def _shortest(self, kind: Kind[Any], entry: Entry) -> str:
        """Return the bare name of what is ours or of this run, unless it is not clear.

        With its plugin's, what needs an extra says which library its figures come from.
        """
        alone = self._called(kind, entry.name, "") == [entry]
        ours = entry.source.builtin and not entry.extra
        bare = ours or (entry.source.plugin == THIS_RUN and alone)
        return entry.name if bare else self._clear_name(entry)
