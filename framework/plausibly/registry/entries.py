"""Entries of the registry: components on offer, who offers them, what failed, what is disabled."""

from __future__ import annotations

import importlib.metadata as metadata
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module

import attrs

from plausibly.errors import ComponentError, InputError, MissingExtra, PlausiblyWarning


def extras_of(distribution: str) -> tuple[str, ...]:
    """Return the extras that a distribution declares, none where it is not installed."""
    with suppress(metadata.PackageNotFoundError):
        return tuple(metadata.metadata(distribution).get_all("Provides-Extra") or ())
    return ()


def requirements(distribution: str, extra: str = "") -> list[str]:
    """Return the names of what a distribution always needs, or needs for an extra."""
    lines: list[str] = []
    with suppress(metadata.PackageNotFoundError, ValueError):  # ValueError: an empty name
        lines = metadata.requires(distribution) or []
    names = []
    for line in lines:
        requirement, _, marker = line.replace('"', "'").partition(";")
        wanted = marker.strip() == f"extra == '{extra}'" if extra else "extra ==" not in marker
        if wanted and (name := re.match(r"[\w.-]+", requirement)):
            names.append(name[0])
    return names


def missing(distribution: str, extra: str) -> tuple[str, ...]:
    """Return the distributions that an extra requires and that are not installed."""
    lacking = []
    for name in requirements(distribution, extra) if extra else ():
        try:
            metadata.distribution(name)
        except metadata.PackageNotFoundError:
            lacking.append(name)
    return tuple(lacking)


def normalised(name: str) -> str:
    """Return the name by which two spellings of one plugin or distribution are equal."""
    return re.sub(r"[-_.]+", "-", name).lower()


def underlying(target: Callable[..., object]) -> Callable[..., object]:
    """Return the class or function behind a partial one, or the method that an object calls."""
    while isinstance(target, partial):
        target = target.func
    return target if hasattr(target, "__qualname__") else type(target).__call__


THIS_RUN = "(this run)"
"""Plugin name of components that were registered in this process."""


@attrs.frozen
class Source:
    """Origin of a component: a plugin of an installed distribution, or `THIS_RUN`."""

    plugin: str  # name of the entry point
    distribution: str = ""
    version: str = ""
    builtin: bool = False

    @property
    def where(self) -> str:
        return f"{self.distribution} {self.version}".strip() or "registered here"

    def is_called(self, name: str) -> bool:
        return normalised(name) in (normalised(self.plugin), normalised(self.distribution))

    def __str__(self) -> str:
        return "this run" if self.plugin == THIS_RUN else f"{self.plugin} ({self.where})"


def reason_of(error: BaseException) -> str:
    """Return why something failed, in one line."""
    if isinstance(error, InputError):
        expectation = f": expected {error.expected}" if error.expected else ""
        return f"{error.what}{expectation}" + (f", found {error.found}" if error.found else "")
    text = " ".join(str(error).split())
    if text and (isinstance(error, ImportError) or type(error) is LookupError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


@attrs.frozen
class Entry:
    """One component on offer; within a plugin, kind and name are unique."""

    kind: str
    name: str
    target: Callable[..., object] | str  # what makes it, or where that is: "module:attr"
    source: Source
    summary: str = ""
    extra: str = ""  # the extra of its distribution that it needs
    suffixes: tuple[str, ...] = ()  # endings of a reader's files

    @property
    def qualified(self) -> str:
        return f"{self.source.plugin}:{self.name}"

    @property
    def place(self) -> str:
        """The module and the name in it, as in a target that is text."""
        if isinstance(self.target, str):
            return self.target
        target = underlying(self.target)
        return f"{target.__module__}:{target.__qualname__}"

    @property
    def stable_name(self) -> str:
        """The name that goes on meaning this component, whatever else is installed."""
        return self.name if self.source.builtin and not self.extra else self.qualified

    def __str__(self) -> str:
        return f'{self.kind} "{self.name}" of {self.source}'

    def load(self) -> Callable[..., object]:
        """Return the class or function, or raise `MissingExtra` or ``component-unloadable``."""
        if not isinstance(self.target, str):
            return self.target
        module, _, attr = self.target.partition(":")
        try:
            loaded: object = import_module(module)
            for part in attr.split("."):
                loaded = getattr(loaded, part)
            if not callable(loaded):
                raise TypeError(f"{self.target} is no class or function")
        except (MissingExtra, KeyboardInterrupt):
            raise
        except BaseException as error:  # the module of a plugin may raise anything, or exit
            message: type[InputError] = ComponentError
            name, hint = "component-unloadable", f"fix or reinstall {self.source.distribution}"
            if self.extra and isinstance(error, ModuleNotFoundError):
                message, name = MissingExtra, "extra-missing"
                hint = f'pip install "{self.source.distribution}[{self.extra}]"'
            raise message(
                name,
                f"{self} cannot be loaded",
                expected=f"a class or function at {self.target}",
                found=reason_of(error),
                hint=hint,
                source=self.qualified,
            ) from error
        return loaded


def failed(source: str, what: str, *, expected: str, found: str) -> ComponentError:
    """Return the error of a component, such as ``"aggregator mine"``."""
    return ComponentError(
        "component-failed",
        f"{source}: {what}",
        expected=expected,
        found=found,
        hint="fix it (plausibly.testing.check tries its rules), or name another",
        source=source,
    )


@contextmanager
def calling(source: str, method: str) -> Iterator[None]:
    """Name the component that is called in the block where it raises anything."""
    try:
        yield
    except (InputError, PlausiblyWarning, KeyboardInterrupt):
        raise
    except BaseException as reason:  # a component may raise anything, or exit
        raise failed(
            source,
            f"{method}() raised an error",
            expected="an answer; an InputError where its input is at fault",
            found=reason_of(reason),
        ) from reason


VARIABLE = "PLAUSIBLY_DISABLE_PLUGINS"
STRICT = "PLAUSIBLY_STRICT_PLUGINS"
"""Environment variables: names with commas between them; 1, if a failed plugin is an error."""


@attrs.frozen
class Disabled:
    """The name of a plugin or distribution to do without, and where that is configured."""

    name: str
    by: str

    def means(self, source: Source) -> bool:
        name = self.name.strip()
        if name == "*":  # every other plugin
            return not source.builtin and source.plugin != THIS_RUN
        return bool(name) and source.is_called(name)

    @property
    def reason(self) -> str:
        return f"{self.by} names {self.name.strip()}"
