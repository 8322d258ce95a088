"""Entries of the registry: components on offer, who offers them, what failed, what is disabled."""

from __future__ import annotations

import importlib.metadata as metadata
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Literal, TypeVar

import attrs

from plausibly.errors import ComponentError, InputError, MissingExtra, PlausiblyWarning, counted

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?[^;]*(?:;(.*))?")
_ONLY_EXTRA = re.compile(r"""\s*extra\s*==\s*["']([^"']+)["']\s*""")


def an(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def extras_of(distribution: str) -> tuple[str, ...]:
    """Return the extras that a distribution declares, none where it is not installed."""
    with suppress(metadata.PackageNotFoundError):
        return tuple(metadata.metadata(distribution).get_all("Provides-Extra") or ())
    return ()


def missing(distribution: str, extra: str) -> tuple[str, ...]:
    """Return the distributions that an extra requires and that are not installed."""
    lacking = []
    for name in _required(distribution, extra) if extra else ():
        try:
            metadata.distribution(name)
        except metadata.PackageNotFoundError:
            lacking.append(name)
    return tuple(lacking)


def _required(distribution: str, extra: str) -> Iterator[str]:
    """Yield the distributions that an extra of an installed distribution requires."""
    with suppress(metadata.PackageNotFoundError, ValueError):  # ValueError: an empty name
        for line in metadata.requires(distribution) or ():
            requirement = _REQUIREMENT.fullmatch(line)
            marker = _ONLY_EXTRA.fullmatch(requirement[3] or "") if requirement else None
            if requirement is None or marker is None or marker[1] != extra:
                continue
            if requirement[1] == distribution:  # an extra made of other extras
                for included in (requirement[2] or "").split(","):
                    yield from _required(distribution, included.strip())
            else:
                yield requirement[1]


Stage = Literal[
    "metadata", "name", "import", "API", "hook", "registration", "loading", "check"
]  # fmt: skip
"""Where a plugin failed; the last two: a component, whose class is loaded and checked."""

THIS_RUN = "(this run)"
"""Plugin name of components that were registered in this process."""

Message = TypeVar("Message", ComponentError, PlausiblyWarning)


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

    def __str__(self) -> str:
        return "this run" if self.plugin == THIS_RUN else f"{self.plugin} ({self.where})"


class Advised(Exception):
    """Why a plugin failed, where it is known what to do."""

    def __init__(self, text: str, advice: str) -> None:
        super().__init__(text)
        self.advice = advice


def reason_of(error: BaseException) -> str:
    """Return why something failed, in one line."""
    if isinstance(error, InputError):
        expectation = f": expected {error.expected}" if error.expected else ""
        return f"{error.what}{expectation}" + (f", found {error.found}" if error.found else "")
    text = " ".join(str(error).split())
    if text and (isinstance(error, ImportError | Advised) or type(error) is LookupError):
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
    def key(self) -> tuple[str, str, Source]:
        return self.kind, self.name, self.source

    @property
    def qualified(self) -> str:
        return f"{self.source.plugin}:{self.name}"

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
            if self.extra and isinstance(error, ModuleNotFoundError):
                raise MissingExtra(
                    "extra-missing",
                    f"{self} needs {error.name}, which is not installed",
                    expected=f'the extra "{self.extra}"',
                    hint=f'pip install "{self.source.distribution}[{self.extra}]"',
                    source=self.qualified,
                    details={"module": error.name, "extra": self.extra},
                ) from error
            raise ComponentError(
                "component-unloadable",
                f"{self} cannot be loaded",
                expected=f"a class or function at {self.target}",
                found=reason_of(error),
                hint=f"fix or reinstall {self.source.distribution or 'it'}; "
                f"others: plausibly plugins list --kind {self.kind}",
                source=self.qualified,
            ) from error
        return loaded


@attrs.frozen
class Failure:
    """A plugin or component that cannot be used, and why; everything else works without it."""

    source: Source
    stage: Stage
    error: BaseException
    offered: tuple[Entry, ...] = ()  # by the plugin before it failed; or the component that did

    @property
    def component(self) -> Entry | None:
        return self.offered[0] if self.stage in ("loading", "check") else None

    @property
    def subject(self) -> str:
        return str(self.component or self.source)

    @property
    def state(self) -> str:
        return f"failed at {self.stage}"

    @property
    def reason(self) -> str:
        if self.component is not None and isinstance(self.error, ComponentError):
            expected = f"expected {self.error.expected}, found " if self.stage == "check" else ""
            return expected + self.error.found
        return reason_of(self.error)

    @property
    def remedy(self) -> str:
        if isinstance(self.error, Advised):
            return self.error.advice
        if self.source.builtin:
            return "reinstall plausibly: its installation is incomplete"
        if not self.source.distribution:
            return "fix its class, and register it again"
        if isinstance(self.error, ModuleNotFoundError) and self.error.name:
            return f"install what provides {self.error.name.partition('.')[0]}"
        return f"fix {self.source.distribution}"

    def message(self, message: type[Message], then: str) -> Message:
        hint, name = self.remedy, self.source.distribution
        if name and not self.source.builtin:
            hint = f"plausibly plugins check {self.source.plugin}, or pip uninstall {name}"
        return message(
            "plugin-failed",
            f"{self.subject} stopped at {self.stage}",
            expected="a plugin that loads, and whose components satisfy their Protocol",
            found=f'"{self.reason}"; {then}',
            hint=hint,
            source=self.source.plugin,
            details={
                **attrs.asdict(self.source, filter=attrs.filters.exclude("builtin")),
                "stage": self.stage,
                "reason": self.reason,
            },
        )


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


def normalised(name: str) -> str:
    """Return the name by which two spellings of one plugin or distribution are equal."""
    return re.sub(r"[-_.]+", "-", name).lower()


@attrs.frozen
class Disabled:
    """The name of a plugin or distribution to do without, and where that is configured."""

    name: str
    by: str

    def means(self, source: Source) -> bool:
        if source.plugin == THIS_RUN:
            return False
        if self.name == "*":  # every other plugin
            return not source.builtin
        return normalised(self.name) in (normalised(source.plugin), normalised(source.distribution))

    @property
    def reason(self) -> str:
        return f"{self.by} names {self.name}"

    @property
    def undo(self) -> str:
        return f"take {self.name} out of {self.by}"

    def unknown(self, sources: Iterable[Source]) -> PlausiblyWarning:
        names = {n: None for s in sources for n in (s.plugin, s.distribution) if n}
        close = next(iter(get_close_matches(normalised(self.name), names, n=1)), None)
        return PlausiblyWarning(
            "plugin-unknown",
            f'{self.by} names "{self.name}", which is no plugin here',
            expected=f"one of {counted(len(names))} plugins and distributions",
            hint=f"write {close}, or {self.undo}" if close else self.undo,
            source=self.name,
            details={"name": self.name, "by": self.by, "suggestion": close},
        )


def disabled_by(names: Iterable[str], by: str) -> tuple[Disabled, ...]:
    return tuple(Disabled(name, by) for name in dict.fromkeys(n.strip() for n in names) if name)
