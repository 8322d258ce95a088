"""The one hook of plausibly: a plugin is handed a `Registrar` and adds its components to it."""

from __future__ import annotations

import importlib
import importlib.metadata as metadata
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

import attrs
import pluggy

from plausibly.errors import ComponentError, listed
from plausibly.protocols import KINDS, Kind
from plausibly.registry.entries import (
    Advised,
    Entry,
    Failure,
    Source,
    Stage,
    an,
    normalised,
    reason_of,
)

P = TypeVar("P")

GROUP = "plausibly"
"""The entry-point group; its targets are modules."""

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
    _names: set[tuple[str, str]] = attrs.field(factory=set, init=False, repr=False)

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
        message = ""
        if kind not in KINDS:
            message, what = (
                "component-kind",
                f'offers "{name}" as something plausibly does not know',
            )
            expected = f"one of the kinds {listed((k.name for k in KINDS), most=len(KINDS))}"
            value: object = getattr(kind, "name", kind)
            hint = "from plausibly.plugin import AGGREGATOR, or another kind"
        elif not _NAME.fullmatch(str(name)):
            message, what = "component-name", f"offers {an(kind.name)} by a name that is none"
            expected, value = "lower-case letters, digits and single hyphens", name
            simple = re.sub(r"[^a-z0-9]+", "-", str(name).lower()).strip("-")
            hint = f'call it "{simple}"' if simple else "give it such a name"
        elif not (_TARGET.fullmatch(target) if isinstance(target, str) else callable(target)):
            message, what = "component-target", f'offers no class for the {kind.name} "{name}"'
            expected = 'a class, a function, or where to find it: "package.module:Name"'
            value, hint = target, "pass the class itself, without calling it"
            if isinstance(target, str):
                hint = "write the module, a colon, and the name in it"
        elif (kind.name, name) in self._names:
            message, what = "name-clash", f'offers the {kind.name} "{name}" twice'
            expected, value = "each name once", target
            hint = "give one of the two another name"
        if message:
            raise ComponentError(
                message,
                f"{self.source} {what}",
                expected=expected,
                found=repr(value),
                hint=hint,
                source=self.source.plugin,
            )
        self._names.add((kind.name, name))
        entry = Entry(kind.name, name, target, self.source, summary, extra, suffixes)
        self.entries.append(entry)


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


OURS = "plausibly"


@attrs.frozen
class Declared:
    source: Source
    value: str


def own_plugins() -> tuple[Declared, ...]:
    """Return the plugins that our own distribution declares; reads no other metadata."""
    try:
        ours = metadata.distribution(OURS)
    except metadata.PackageNotFoundError:
        return ()
    return tuple(_declared_by(ours, builtin=True))


def other_plugins() -> tuple[Declared | Failure, ...]:
    """Return the plugins of all other distributions, sorted by distribution and name."""
    seen = {OURS}
    plugins: list[Declared | Failure] = []
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
            plugins.append(Failure(Source(called, called), "metadata", error))
    return tuple(sorted(plugins, key=lambda plugin: normalised(plugin.source.distribution)))


def _declared_by(
    distribution: metadata.Distribution, *, builtin: bool = False
) -> Iterator[Declared]:
    points = {(p.name, p.value) for p in distribution.entry_points if p.group == GROUP}
    about = distribution.metadata  # is parsed each time it is asked for
    for plugin, value in sorted(points):
        yield Declared(Source(plugin, about["Name"], about["Version"] or "", builtin), value)


def run_hook(declared: Declared) -> tuple[Entry, ...] | Failure:
    """Import the module of a plugin and call its hook: its components, or where it failed."""
    source = declared.source
    registrar = Registrar(source)
    here = f"this is plausibly {metadata.version(OURS)}, API {API_VERSION}"
    upgrade = f"pip install --upgrade {OURS} {source.distribution}"
    stage: Stage = "import"
    try:
        name, colon, attribute = declared.value.partition(":")
        if colon:
            raise Advised(
                f"the entry point names {declared.value}; it must name a module",
                f'write {source.plugin} = "{name}", and add {attribute} in its hook',
            )
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            if error.name != "plausibly.plugin":
                raise
            raise Advised(f"{reason_of(error)}; {here}", upgrade) from error
        stage = "API"
        wanted: object = getattr(module, "requires_api", API_VERSION)
        if type(wanted) is not int or not 1 <= wanted <= API_VERSION:
            raise Advised(f"it requires API {wanted!r}; {here}", upgrade)
        stage = "hook"
        hooks = []
        for function in filter(inspect.isroutine, vars(module).values()):
            mark: object = getattr(function, f"{GROUP}_impl", None)  # what pluggy's marker leaves
            if isinstance(mark, dict) and (mark.get("specname") or function.__name__) == HOOK:
                hooks.append(function)
        if not hooks:
            advice = f"mark it with @hookimpl of {OURS}.plugin"
            raise Advised(f"{name} has no function marked @hookimpl", advice)
        stage = "registration"
        for hook in hooks:
            if (result := hook(registrar=registrar)) is not None:
                if inspect.iscoroutine(result):
                    result.close()
                raise Advised(
                    f"its hook returned {an(type(result).__name__)}; "
                    "what is not added to the registrar is lost",
                    "registrar.add(KIND, name, target), and return nothing",
                )
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # a plugin may raise anything, or exit
        return Failure(source, stage, error, tuple(registrar.entries))
    return tuple(registrar.entries)
