"""The registry: plugins and their one hook; from a name, a table or an object to a component."""

from __future__ import annotations

import importlib
import importlib.metadata as metadata
import os
import re
import reprlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from threading import RLock
from typing import Any, Protocol, TypeVar, cast

import attrs
import pluggy

from plausibly.errors import (
    ComponentError,
    InputError,
    PlausiblyWarning,
    an,
    counted,
    issue,
    listed,
    warn,
)
from plausibly.protocols import KINDS, ComponentLike, Kind
from plausibly.registry.conformance import complete, members, problems
from plausibly.registry.entries import (
    STRICT,
    THIS_RUN,
    VARIABLE,
    Disabled,
    Entry,
    Source,
    normalised,
    reason_of,
)
from plausibly.registry.mistakes import Mistakes, ParameterError
from plausibly.registry.parameters import Strict, as_table, signature, with_others

P = TypeVar("P")

GROUP = "plausibly"
"""The entry-point group; its targets are modules. Also the name of our own distribution."""

API_VERSION = 1
"""Version of what `plausibly.plugin` offers; plugins may state theirs: ``requires_api = 1``."""

HOOK = "plausibly_register"

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TARGET = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")

_hookimpl = pluggy.HookimplMarker(GROUP)


@attrs.define
class Registrar:
    """Argument of a plugin's hook, to which it adds its components (`entries`)."""

    source: Source
    entries: list[Entry] = attrs.field(factory=list)
    _taken: set[tuple[str, str]] = attrs.field(factory=set, init=False, repr=False)

    def add(
        self,
        kind: Kind[P],
        name: str,
        target: Callable[..., P] | str,
        *,
        summary: str = "",
        extra: str = "",
        suffixes: tuple[str, ...] = (),
    ) -> None:
        """Offer a component.

        Parameters
        ----------
        kind : Kind
            `ANNOTATION`, `READER`, `AGGREGATOR`, `SCORE`, `CALIBRATOR` or `COMBINER`.
        name : str
            Lower case with hyphens, unique among the plugin's components of this kind.
        target : callable or str
            The class (or a function that returns the object), or ``"package.module:Name"``, which
            is imported when the component is first asked for.
        summary : str
            One line for lists.
        extra : str
            The extra of the plugin's distribution that this component needs, if it needs one: lists
            then say whether it is installed.
        suffixes : tuple of str
            For readers: endings of its files, such as ``".json"``. Other readers are loaded and
            asked about such a file only if none of these recognises it; without suffixes, a reader
            is asked about every file.

        Raises
        ------
        ComponentError
            If kind, name or target cannot be used, or the plugin already offers this name.
        """
        called: object = name  # whatever an author passes
        named = isinstance(called, str) and _NAME.fullmatch(called)
        usable = _TARGET.fullmatch(target) if isinstance(target, str) else callable(target)
        key = (str(getattr(kind, "name", "")), str(name))
        spelling = "a name of lower-case letters, digits and single hyphens"
        place = 'a class, a function, or where to find it: "package.module:Name"'
        for right, message, expected, value in (
            (kind in KINDS, "component-kind", "a kind, such as AGGREGATOR", kind),
            (named, "component-name", spelling, name),
            (usable, "component-target", place, target),
            (key not in self._taken, "name-clash", "each name once", name),
        ):
            if not right:
                raise ComponentError(
                    message,
                    f'{self.source} cannot offer a component "{name}"',
                    expected=expected,
                    found=repr(value),
                    hint='a call such as add(AGGREGATOR, "my-name", MyClass)',
                    source=self.source.plugin,
                )
        entry = Entry(kind.name, name, target, self.source, summary, extra, suffixes)
        self.entries.append(entry)
        self._taken.add(key)


class RegisterHook(Protocol):
    """Hook of a plugin: one function that takes the registrar, by this name."""

    def __call__(self, registrar: Registrar) -> None: ...


def hookimpl(function: RegisterHook) -> RegisterHook:
    """Mark the function that registers a plugin's components; call it what you like.

    Examples
    --------
    >>> from plausibly.plugin import AGGREGATOR, Registrar, hookimpl
    >>> @hookimpl
    ... def register(registrar: Registrar) -> None:
    ...     registrar.add(AGGREGATOR, "plackett-luce", "my_package.plackett_luce:PlackettLuce")
    """
    return _hookimpl(function, specname=HOOK)


def plausibly_register(registrar: Registrar) -> None:
    """Add the plugin's components to `registrar`."""


@attrs.define(eq=False)
class Plugin:
    """A plugin, and what it offers or where and why it failed, once its hook was called."""

    source: Source
    module: str = ""
    ran: bool = False
    entries: tuple[Entry, ...] = ()
    stage: str = ""  # "metadata", "name", "import", "API", "hook" or "registration"
    error: BaseException | None = None

    @property
    def reason(self) -> str:
        return reason_of(self.error) if self.error else ""

    @property
    def hint(self) -> str:
        name = self.source.distribution
        if self.source.builtin:
            return f"pip install --force-reinstall {name}"
        if self.stage == "metadata":  # upgrading and uninstalling read it too
            again = "" if " " in name else f"pip install --force-reinstall {name}, or "
            return f'{again}do without: {VARIABLE}="{name}"'
        return f"pip install --upgrade {name}, or pip uninstall {name}"

    def run(self) -> None:
        """Import the module and call its hook."""
        self.ran = True  # before it runs: a hook may ask for components
        registrar = Registrar(self.source)
        try:
            self.stage = "import"
            module = importlib.import_module(self.module)
            self.stage = "API"
            wanted: object = getattr(module, "requires_api", API_VERSION)
            if wanted not in range(1, API_VERSION + 1):
                here = f"plausibly {metadata.version(GROUP)}, API {API_VERSION}"
                raise LookupError(f"it requires API {wanted!r}; this is {here}")
            self.stage = "hook"
            manager = pluggy.PluginManager(GROUP)
            manager.register(module)
            hook = getattr(manager.hook, HOOK, None)
            if hook is None:
                raise LookupError(f"{self.module} has no function marked @hookimpl")
            self.stage = "registration"
            hook(registrar=registrar)
            self.entries, self.stage = tuple(registrar.entries), ""
        except KeyboardInterrupt:
            self.ran = False  # so that the next call runs it
            raise
        except BaseException as error:  # noqa: BLE001  # a plugin may raise anything, or exit
            self.error = error


def own_plugins() -> Iterator[Plugin]:
    """Yield the plugins that our own distribution declares; reads no other metadata."""
    with suppress(metadata.PackageNotFoundError):
        yield from _declared_by(metadata.distribution(GROUP), builtin=True)


def other_plugins() -> list[Plugin]:
    """Return the plugins of all other distributions, sorted by distribution and name."""
    seen = {GROUP}
    plugins: list[Plugin] = []
    for number, distribution in enumerate(metadata.distributions()):
        called = f"distribution {number} on the path"
        try:
            # Most distributions declare nothing of ours, and parsing takes longer than looking.
            if f"[{GROUP}]" not in (distribution.read_text("entry_points.txt") or ""):
                continue
            called = str(distribution.name)
            if normalised(called) not in seen:
                seen.add(normalised(called))
                # The one that Python would import from: the first of this name on the path.
                plugins += _declared_by(metadata.distribution(called))
        except Exception as error:  # noqa: BLE001  # any file may be malformed in any way
            source = Source(called, called)
            plugins.append(Plugin(source, stage="metadata", error=error))
    return sorted(plugins, key=lambda plugin: normalised(plugin.source.distribution))


def _declared_by(distribution: metadata.Distribution, *, builtin: bool = False) -> Iterator[Plugin]:
    points = {(p.name, p.value) for p in distribution.entry_points if p.group == GROUP}
    about = distribution.metadata  # is parsed each time it is asked for
    for plugin, module in sorted(points):
        yield Plugin(Source(plugin, about["Name"], about["Version"] or "", builtin), module)


class Registry:
    """Components by kind, name and plugin; nothing in it is ever overwritten.

    Our own plugins are loaded when the first component is asked for, the plugins of other
    distributions when a name is not one of ours, or everything is listed. `own` and `others` say
    where plugins come from.
    """

    def __init__(
        self,
        own: Callable[[], Iterable[Plugin]] = own_plugins,
        others: Callable[[], Iterable[Plugin]] = other_plugins,
    ) -> None:
        self._others = others
        self._converter = Strict(self.create)
        self._lock = RLock()
        self._this_run = Plugin(Source(THIS_RUN), ran=True)
        self._plugins = [*own(), self._this_run]
        self._scanned = False
        self._blocks: list[list[Disabled]] = []
        self._reported: list[Plugin | Disabled] = []

    # Any: each kind has its own Protocol
    def entries(self, kind: Kind[Any] | None = None, *, off: bool = False) -> tuple[Entry, ...]:
        """Return every component on offer, ours first; `off`: also those that are turned off."""
        return tuple(
            entry
            for entry in self._load(others=True)
            if (kind is None or entry.kind == kind.name) and (off or self.off(entry.source) is None)
        )

    def plugins(self) -> tuple[Source, ...]:
        """Return every plugin that works and is on."""
        self._load(others=True)
        return tuple(
            p.source
            for p in self._plugins
            if (p.entries or p is not self._this_run)
            and p.error is None
            and self.off(p.source) is None
        )

    def failures(self, *, others: bool = True) -> tuple[Plugin, ...]:
        """Return the plugins that failed, of those that are on."""
        self._load(others=others)
        return tuple(p for p in self._plugins if p.error is not None and not self.off(p.source))

    def disabled(self) -> dict[Source, Disabled]:
        """Return every plugin here that is turned off, with where; none of them is imported."""
        self._load(others=True)
        self._warn_of_unknown()
        turned_off = {plugin.source: self.off(plugin.source) for plugin in self._plugins}
        return {source: name for source, name in turned_off.items() if name is not None}

    def off(self, source: Source) -> Disabled | None:
        return next((name for name in self._off_names() if name.means(source)), None)

    def _off_names(self) -> list[Disabled]:
        names = [disabled for block in tuple(self._blocks) for disabled in block]
        if listing := os.environ.get(VARIABLE):
            names += [Disabled(name, VARIABLE) for name in listing.split(",")]
        return names

    def _warn_of_unknown(self) -> None:
        """Warn once of each name to do without that no plugin here has."""
        for unknown in self._off_names():
            name = unknown.name.strip()
            if name in ("", "*") or unknown in self._reported:
                continue
            if not any(unknown.means(plugin.source) for plugin in self._plugins):
                self._scan()
            sources = [plugin.source for plugin in self._plugins]
            if any(map(unknown.means, sources)):
                continue
            self._reported.append(unknown)
            known = {text for s in sources for text in (s.plugin, s.distribution) if text}
            close = get_close_matches(name, sorted(known), n=1)
            warn(
                "plugin-unknown",
                f'{unknown.by} names "{name}", but no plugin has this name',
                expected="a plugin or a distribution",
                found=name,
                hint=f"write {close[0]}" if close else "plausibly plugins list",
                source=name,
            )

    @contextmanager
    def disabling(self, *names: str, by: str = "disabling(...)") -> Iterator[None]:
        """Do without some plugins until the block ends, in every thread; ``*`` = all but ours."""
        block = [Disabled(name, by) for name in names]
        self._blocks.append(block)
        try:
            yield
        finally:
            # Two equal blocks may stand for two threads: either is as good to take away.
            self._blocks.remove(block)

    def report(self) -> None:
        """Warn once of each plugin that failed; where plugins are strict, raise an error."""
        if self._blocks or VARIABLE in os.environ:
            self._warn_of_unknown()
        strict = os.environ.get(STRICT, "").strip() not in ("", "0")
        for failure in self.failures(others=strict):
            if failure in self._reported and not strict:
                continue
            self._reported.append(failure)
            message = (ComponentError if strict else PlausiblyWarning)(
                "plugin-failed",
                f"{failure.source} failed at {failure.stage}",
                expected="a plugin that loads; all others work",
                found=failure.reason,
                hint=f"plausibly plugins check {failure.source.plugin}, or {failure.hint}",
                source=failure.source.plugin,
            )
            if isinstance(message, ComponentError):
                raise message from failure.error
            issue(message)

    def find(self, kind: Kind[Any], name: str) -> Entry:
        """Return the component called `name` or ``plugin:name``; names of ours are always ours."""
        plugin, _, bare = name.rpartition(":")
        for others in (False, True):  # plugins of others run only for names that ours do not have
            known = self._load(others=others)
            named = [e for e in known if (e.kind, e.name) == (kind.name, bare)]
            if plugin:
                named = [e for e in named if e.source.is_called(plugin)]
            if ours := [e for e in named if e.source.builtin]:
                break
        # Where two of ours have the name, it means the one that needs no extra.
        chosen = sorted(ours, key=lambda e: bool(e.extra))[:1] or named
        # A name of ours is not free for others where ours is off: a default would change.
        chosen = [e for e in chosen if self.off(e.source) is None]
        self.report()
        if not chosen:
            raise self._unknown(kind, name)
        if len(chosen) > 1:
            chosen = sorted(chosen, key=lambda e: (e.source.distribution, e.source.plugin))
            places = (f"{e.source.where} ({e.source.plugin.strip('()')})" for e in chosen)
            names = (f"{e.source.distribution or e.source.plugin}:{bare}" for e in chosen)
            raise ComponentError(
                "name-clash",
                f'{counted(len(chosen))} plugins offer the {kind.name} "{bare}"',
                expected="one",
                found=" and ".join(places),
                hint=f"{' or '.join(names)}; or disable one of them",
                source=bare,
            )
        return chosen[0]

    def create(
        self,
        kind: Kind[P],
        like: ComponentLike[P] | Entry,
        params: Mapping[str, object] | None = None,
    ) -> P:
        """Return a component by name or entry, from a table ``{"name": ..., ...}``, or as it is."""
        parameters = dict(params or {})
        table: dict[str, object] = {}
        name: object = like
        if isinstance(like, Mapping):
            table = dict(like)
            name = table.pop("name", None)
            if not isinstance(name, str):
                raise ComponentError(
                    "component-name",
                    f"a table for {an(kind.name)} has no name",
                    expected='a key "name" with text',
                    found=f"name = {name!r}" if name else f"the keys {listed(table) or 'none'}",
                    hint=f"plausibly plugins list --kind {kind.name}",
                    source=kind.name,
                )
        component = not isinstance(like, Entry | str | Mapping)
        twice = sorted(parameters if component else table.keys() & parameters.keys())
        if twice:
            raise ComponentError(
                "component-parameter",
                f"{kind.name} {type(like).__name__ if component else name} and {listed(twice)}",
                expected="each parameter once: in the object or table, or beside a name",
                found=f"{listed(twice)} beside an object, or a table that has it",
                hint=f"leave {listed(twice)} out, or set it inside",
                source=kind.name,
            )
        if component:
            has_none = not any(hasattr(like, member) for member in members(kind.protocol))
            if has_none or isinstance(like, type):
                raise ComponentError(
                    "component-invalid",
                    f"this is no {kind.name}: {reprlib.repr(like)}",
                    expected="a name, a table with a name, or an object",
                    hint=f"plausibly plugins list --kind {kind.name}; or Name(), with parentheses",
                    source=kind.name,
                )
            source = f"{kind.name} {type(like).__name__}"
            check(kind, like, source)
            if mistakes := self._converter.misfits(like):
                raise ParameterError.about(source, mistakes, signature(type(like)))
            return cast("P", like)
        entry = like if isinstance(like, Entry) else self.find(kind, cast("str", name))
        source = f'{kind.name} "{entry.name}"'
        target = entry.load()
        try:
            made = self._converter.build(target, {**table, **parameters})
        except Mistakes as error:
            mistakes = [with_others(m, entry, self.entries) for m in error.mistakes]
            raise ParameterError.about(source, mistakes, signature(target)) from error.__cause__
        if not entry.source.builtin:  # the suite holds what we ship to its Protocol
            check(kind, made, f"{source} of {entry.source}")
        return cast("P", made)

    def describe(self, kind: Kind[Any], component: object) -> dict[str, object]:
        """Return the table, plain data, from which `create` makes an equal component."""
        return {"name": self.name_of(kind, component), **as_table(component, self.describe)}

    def name_of(self, kind: Kind[Any], component: object) -> str:
        """Return the name under which the class of a component is registered."""
        cls = type(component)
        place = f"{cls.__module__}:{cls.__qualname__}"
        # A target may name another module of the same package, which re-exports the class.
        package = cls.__module__.partition(".")[0]
        for others in (False, True):
            known = [e for e in self._load(others=others) if e.kind == kind.name]
            on = [e for e in known if self.off(e.source) is None]
            entry = next((e for e in on if e.target in (cls, place)), None)
            for likely in on if entry is None else ():
                with suppress(InputError):  # what cannot be loaded made no component
                    if str(likely.target).startswith(package) and likely.load() is cls:
                        entry = likely
                        break
            if entry is not None:
                break
        if entry is None:
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
        alone = [e for e in known if e.name == entry.name] == [entry]
        of_this_run = entry.source == self._this_run.source
        return entry.name if of_this_run and alone else entry.stable_name

    def register(
        self,
        kind: Kind[P],
        name: str,
        target: Callable[..., P] | str,
        *,
        summary: str = "",
    ) -> None:
        """Offer a component in this process, under the plugin name ``(this run)``."""
        registrar = Registrar(self._this_run.source)
        registrar.add(kind, name, target, summary=summary)
        (entry,) = registrar.entries
        for other in self._load(others=False):
            again = other.source == entry.source and other.place == entry.place
            mine = other.source.builtin or other.source == entry.source
            if mine and (other.kind, other.name) == (kind.name, name) and not again:
                raise ComponentError(
                    "name-clash",
                    f'there is {an(kind.name)} "{name}" already',
                    expected="a new name: nothing is overwritten",
                    found=f"{entry.place}, beside that of {other.source}",
                    hint=f'register it as "my-{name}"',
                    source=name,
                )
        if isinstance(target, type):  # of a function only what it returns can be looked at
            check(kind, target, f'{kind.name} "{name}"')
        with self._lock:
            kept = (e for e in self._this_run.entries if (e.kind, e.name) != (kind.name, name))
            self._this_run.entries = (*kept, entry)

    def _load(self, *, others: bool) -> list[Entry]:
        """Run the hooks of our own plugins, and of `others` that are on; return every entry."""
        with self._lock:
            if others:
                self._scan()
            for plugin in list(self._plugins):
                wanted = plugin.source.builtin or (others and self.off(plugin.source) is None)
                if wanted and not plugin.ran and plugin.error is None:
                    plugin.run()
            return [entry for plugin in self._plugins for entry in plugin.entries]

    def _scan(self) -> None:
        """Read which plugins other distributions declare, once; none of them is imported."""
        with self._lock:
            if self._scanned:
                return
            reserved = {GROUP, *(normalised(p.source.plugin) for p in self._plugins)}
            plugins = list(self._others())
            for plugin in plugins:
                name = plugin.source.plugin
                if plugin.error is None and normalised(name) in reserved:
                    plugin.stage = "name"
                    plugin.error = LookupError(f"{name} is a name of plausibly's own")
            self._plugins += plugins
            self._scanned = True

    def _unknown(self, kind: Kind[Any], name: str) -> ComponentError:
        """Return the error for a name of which no plugin that works and is on has a component."""
        known: dict[str, Entry] = {}
        for entry in sorted(self.entries(kind), key=lambda e: bool(e.extra)):  # first what is here
            known.setdefault(entry.qualified, entry)
            known.setdefault(entry.name, entry)
        close = get_close_matches(name, known, n=1)
        close = close or get_close_matches(name.rpartition(":")[2], known, n=1)
        suggestion = known[close[0]].stable_name if close else None
        absent = [f"{f.source} failed at {f.stage}: {f.reason}" for f in self.failures()]
        absent += [f"{source} is off: {off.reason}" for source, off in self.disabled().items()]
        if not absent and not close:
            absent = [f"nothing like it in the environment of {sys.executable}"]
        meant = f'; did you mean "{suggestion}"?' if suggestion else ""
        return ComponentError(
            "component-unknown",
            f'no {kind.name} "{name}"',
            expected=f"a name from plugins list{meant}",
            found="; ".join(absent),
            hint=f"plausibly plugins list --kind {kind.name}",
            source=name,
            details={"kind": kind.name, "name": name, "suggestion": suggestion},
        )


# Any: each kind has its own Protocol
def check(kind: Kind[Any], component: object, source: str) -> None:
    """Raise ``component-invalid`` unless a component, or its class, satisfies its Protocol."""
    protocol = kind.protocol
    lacking = problems(component, protocol)
    if not isinstance(component, type):
        lacking = lacking or complete(component, protocol)
    if lacking:
        raise ComponentError(
            "component-invalid",
            f"{source}, member {', '.join(p.member for p in lacking)}",
            expected="; ".join(p.expected for p in lacking),
            found="; ".join(p.found for p in lacking),
            hint=f"fix it as the Protocol {protocol.__name__} of plausibly.plugin says, or name "
            f"another: plausibly plugins list --kind {kind.name}",
            source=source,
            details={"problems": [attrs.asdict(p) for p in lacking]},
        )
