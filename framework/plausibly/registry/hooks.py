"""The one hook of plausibly: a plugin is handed a `Registrar` and adds its components to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol, TypeVar

import attrs
import pluggy

from plausibly.errors import ComponentError, listed
from plausibly.protocols import KINDS, Kind
from plausibly.registry.entries import Entry, Source
from plausibly.registry.messages import an

P = TypeVar("P")

GROUP = "plausibly"
"""The entry-point group; its targets are modules."""

API_VERSION = 1
"""Version of what `plausibly.plugin` offers; it grows when a plugin could notice a change.

A plugin may state the version that it was written for: ``requires_api = 1`` in its module.
"""

OLDEST_API = 1
"""Plugins for this version and all between still work."""

HOOK = "plausibly_register"

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TARGET = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")

_hookspec = pluggy.HookspecMarker(GROUP)
_hookimpl = pluggy.HookimplMarker(GROUP)


def checked_entry(
    kind: Kind[P],
    name: str,
    target: Callable[..., P] | str,
    source: Source,
    summary: str = "",
    extra: str = "",
) -> Entry:
    """Return the entry, or raise ``component-name`` or ``component-target``."""
    if kind not in KINDS:
        raise ComponentError(
            "component-kind",
            f'{source} offers "{name}" as something plausibly does not know',
            expected=f"one of the kinds {listed((k.name for k in KINDS), most=len(KINDS))}",
            got=repr(getattr(kind, "name", kind)),
            do="from plausibly.plugin import AGGREGATOR, or another kind",
            whose=source.plugin,
        )
    if not _NAME.fullmatch(str(name)):
        plain = re.sub(r"[^a-z0-9]+", "-", str(name).lower()).strip("-")
        raise ComponentError(
            "component-name",
            f"{source} offers {an(kind.name)} by a name that is none",
            expected="lower-case letters, digits and single hyphens",
            got=repr(name),
            do=f'call it "{plain}"' if plain else "give it such a name",
            whose=source.plugin,
        )
    if not (_TARGET.fullmatch(target) if isinstance(target, str) else callable(target)):
        raise ComponentError(
            "component-target",
            f'{source} offers no class for the {kind.name} "{name}"',
            expected='a class, a function, or where to find it: "package.module:Name"',
            got=repr(target),
            do="pass the class itself, without calling it"
            if not isinstance(target, str)
            else "write the module, a colon, and the name in it",
            whose=source.plugin,
        )
    return Entry(kind.name, name, target, source, summary, extra)


@attrs.define
class Registrar:
    """What a plugin's hook receives: the place to put its components.

    Attributes
    ----------
    source : Source
        The plugin that registers.
    entries : list of Entry
        What was added so far; the registry takes it over once the hook has returned.
    """

    source: Source
    entries: list[Entry] = attrs.field(factory=list)
    _known: set[tuple[str, str]] = attrs.field(factory=set, init=False, repr=False, eq=False)

    def add(
        self,
        kind: Kind[P],
        name: str,
        target: Callable[..., P] | str,
        *,
        summary: str = "",
        extra: str = "",
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

        Raises
        ------
        ComponentError
            If kind, name or target cannot be used, or the plugin already offers this name.
        """
        entry = checked_entry(kind, name, target, self.source, summary, extra)
        if (entry.kind, entry.name) in self._known:
            raise ComponentError(
                "name-clash",
                f'{self.source} offers the {kind.name} "{name}" twice',
                expected="each name once",
                got=f"{target!r} as well",
                do="give one of the two another name",
                whose=self.source.plugin,
            )
        self._known.add((entry.kind, entry.name))
        self.entries.append(entry)


class RegisterHook(Protocol):
    """What a plugin implements: one function that takes the registrar, by this name."""

    def __call__(self, registrar: Registrar) -> None:
        """Add the plugin's components to `registrar`; read nothing, return nothing."""


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


@_hookspec
def plausibly_register(registrar: Registrar) -> None:
    """Add the plugin's components to `registrar`."""
