"""What the registry holds: components on offer, who offers them, and plugins that failed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Literal

import attrs

from plausibly.errors import ComponentError, InputError, MissingExtra, PlausiblyWarning

Stage = Literal["metadata", "name", "import", "hook", "registration"]
"""Where a plugin failed: its metadata, its name, its import, finding its hook, or calling it."""

THIS_RUN = "(this run)"
"""Plugin name of components that were registered in this process."""

EXPECTED: dict[Stage, str] = {
    "metadata": "readable entry points",
    "name": "a plugin name of its own",
    "import": "a module",
    "hook": "one function register(registrar) with @hookimpl",
    "registration": "a hook that only registers components",
}


@attrs.frozen
class Source:
    """Who offers a component; printed in every error about it.

    Attributes
    ----------
    plugin : str
        Name of the entry point, or `THIS_RUN`.
    distribution, version : str
        The installed distribution it belongs to; empty for `THIS_RUN`.
    builtin : bool
        Whether plausibly itself ships it.
    """

    plugin: str
    distribution: str = ""
    version: str = ""
    builtin: bool = False

    @property
    def where(self) -> str:
        """Distribution and version, as tables print them."""
        return f"{self.distribution} {self.version}".strip() or "registered here"

    def __str__(self) -> str:
        return "this run" if self.plugin == THIS_RUN else f"{self.plugin} ({self.where})"


def reason_of(error: BaseException) -> str:
    """Return why something failed, in one line."""
    if isinstance(error, InputError):
        expectation = f": expected {error.expected}" if error.expected else ""
        return f"{error.what}{expectation}" + (f", got {error.got}" if error.got else "")
    text = " ".join(str(error).split())
    if text and (isinstance(error, ImportError) or type(error) is LookupError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


@attrs.frozen
class Entry:
    """One component on offer.

    Attributes
    ----------
    kind, name : str
        What it is and what it is called; unique within a plugin.
    target : callable or str
        The class or function that makes it, or where to find that: ``"module:attr"``.
    source : Source
        Who offers it.
    summary : str
        One line about it.
    """

    kind: str
    name: str
    target: Callable[..., object] | str
    source: Source
    summary: str = ""

    @property
    def qualified(self) -> str:
        """The name that is always unique: ``plugin:name``."""
        return f"{self.source.plugin}:{self.name}"

    def __str__(self) -> str:
        return f'{self.kind} "{self.name}" of {self.source}'

    def load(self) -> Callable[..., object]:
        """Return the class or function, imported now if it was not before.

        Raises
        ------
        MissingExtra
            If it needs an optional dependency of plausibly that is not installed.
        ComponentError
            ``component-unloadable`` if its module cannot be imported or lacks the attribute.
        """
        if not isinstance(self.target, str):
            return self.target
        module, _, attr = self.target.partition(":")
        try:
            found: object = import_module(module)
            for part in attr.split("."):
                found = getattr(found, part)
            if not callable(found):
                raise TypeError(f"{self.target} is no class or function")
        except MissingExtra:
            raise
        except Exception as error:  # somebody's module may raise anything
            raise ComponentError(
                "component-unloadable",
                f"{self} cannot be loaded",
                expected=f"a class or function at {self.target}",
                got=reason_of(error),
                do=f"mend or reinstall {self.source.distribution or 'it'}; "
                f"others: plausibly plugins list --kind {self.kind}",
                whose=self.qualified,
            ) from error
        return found


@attrs.frozen
class Failure:
    """A plugin that could not be used, and why; everything else works without it.

    Attributes
    ----------
    source : Source
        Whose plugin it is.
    stage : str
        Where it failed; see `Stage`.
    error : BaseException
        What was raised, with its traceback.
    offered : tuple of Entry
        Components that it had registered before it failed; none of them was kept.
    """

    source: Source
    stage: Stage
    error: BaseException
    offered: tuple[Entry, ...] = ()

    @property
    def reason(self) -> str:
        """Why it failed, in one line."""
        return reason_of(self.error)

    @property
    def state(self) -> str:
        """The state as tables print it."""
        return f"failed at {self.stage}"

    def warning(self) -> PlausiblyWarning:
        """Return what is said of it: ``plugin-failed``."""
        remedy = f"pip uninstall {self.source.distribution}, or mend it"
        if self.source.builtin:
            remedy = "reinstall plausibly: its installation is incomplete"
        return PlausiblyWarning(
            "plugin-failed",
            f"{self.source} stopped at {self.stage}",
            expected=EXPECTED[self.stage],
            got=f'"{self.reason}"; all others work',
            do=remedy,
            whose=self.source.plugin,
        )
