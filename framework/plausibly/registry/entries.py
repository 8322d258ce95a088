"""Entries of the registry: components on offer, who offers them, what failed, what is disabled."""

from __future__ import annotations

import importlib.metadata as metadata
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from difflib import get_close_matches
from importlib import import_module
from typing import Literal, TypeVar

import attrs

from plausibly.errors import ComponentError, InputError, MissingExtra, PlausiblyWarning, counted

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?[^;]*(?:;(.*))?")
_ONLY_EXTRA = re.compile(r"""\s*extra\s*==\s*["']([^"']+)["']\s*""")


def extras_of(distribution: str) -> tuple[str, ...]:
    """Return the extras that a distribution declares, none where it is not installed."""
    try:
        return tuple(metadata.metadata(distribution).get_all("Provides-Extra") or ())
    except metadata.PackageNotFoundError:
        return ()


def missing(distribution: str, extra: str) -> tuple[str, ...]:
    """Return the distributions that an extra requires and that are not installed."""
    if not extra or not distribution:
        return ()
    return tuple(name for name in _required(distribution, extra) if not _is_installed(name))


def declares(distribution: str, module: str) -> bool:
    """Return whether a distribution requires one that is called like a module."""
    try:
        lines = metadata.requires(distribution) or ()
    except metadata.PackageNotFoundError:
        return False
    found = (_REQUIREMENT.fullmatch(line) for line in lines)
    return module in {match[1].replace("-", "_").lower() for match in found if match}


def _required(distribution: str, extra: str) -> Iterator[str]:
    try:
        requirements = metadata.requires(distribution) or ()
    except metadata.PackageNotFoundError:
        return
    for requirement in requirements:
        found = _REQUIREMENT.fullmatch(requirement)
        marker = _ONLY_EXTRA.fullmatch(found[3] or "") if found else None
        if found is None or marker is None or marker[1] != extra:
            continue
        if found[1] == distribution:  # an extra made of other extras
            for other in (found[2] or "").split(","):
                yield from _required(distribution, other.strip())
        else:
            yield found[1]


def _is_installed(distribution: str) -> bool:
    try:
        metadata.distribution(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


Stage = Literal[
    "metadata", "name", "import", "API", "hook", "registration", "loading", "check"
]  # fmt: skip
"""Where something failed: a plugin in its metadata, its name, its import, the API version that it
requires, finding its hook or calling it; a component in loading or checking its class."""

THIS_RUN = "(this run)"
"""Plugin name of components that were registered in this process."""

EXPECTED: dict[Stage, str] = {
    "metadata": "readable entry points",
    "name": "a plugin name of its own",
    "import": "a module",
    "API": "an API that is here",
    "hook": "one function register(registrar) with @hookimpl",
    "registration": "a hook that only registers components",
    "loading": "a class or function where the plugin says",
    "check": "every member of its Protocol",
}

Message = TypeVar("Message", ComponentError, PlausiblyWarning)


@attrs.frozen
class Source:
    """Who offers a component: a plugin of an installed distribution, or `THIS_RUN` of none."""

    plugin: str  # name of the entry point
    distribution: str = ""
    version: str = ""
    builtin: bool = False

    @property
    def where(self) -> str:
        """Distribution and version, as tables print them."""
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
        return f"{error.what}{expectation}" + (f", got {error.got}" if error.got else "")
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
        """What no two components have in common."""
        return self.kind, self.name, self.source

    @property
    def qualified(self) -> str:
        """Its name with that of its plugin: ``plugin:name``."""
        return f"{self.source.plugin}:{self.name}"

    def __str__(self) -> str:
        return f'{self.kind} "{self.name}" of {self.source}'

    def load(self) -> Callable[..., object]:
        """Return the class or function, or raise `MissingExtra` or ``component-unloadable``."""
        if not isinstance(self.target, str):
            return self.target
        module, _, attr = self.target.partition(":")
        try:
            found: object = import_module(module)
            for part in attr.split("."):
                found = getattr(found, part)
            if not callable(found):
                raise TypeError(f"{self.target} is no class or function")
        except (MissingExtra, KeyboardInterrupt):
            raise
        except BaseException as error:  # somebody's module may raise anything, or exit
            if self.extra and isinstance(error, ModuleNotFoundError):
                raise self._extra_missing(error) from error
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

    def _extra_missing(self, error: ModuleNotFoundError) -> MissingExtra:
        return MissingExtra(
            "extra-missing",
            f"{self} needs {error.name}, which is not installed",
            expected=f'the extra "{self.extra}"',
            do=f'pip install "{self.source.distribution}[{self.extra}]"',
            whose=self.qualified,
            details={"module": error.name, "extra": self.extra},
        )


@attrs.frozen
class Failure:
    """A plugin or component that cannot be used, and why; everything else works without it.

    What a plugin had offered before it failed was not kept; of a component, it is the component.
    """

    source: Source
    stage: Stage
    error: BaseException
    offered: tuple[Entry, ...] = ()

    @property
    def component(self) -> Entry | None:
        """The component that failed, None where it is a whole plugin."""
        return self.offered[0] if self.stage in ("loading", "check") else None

    @property
    def whose(self) -> str:
        """What failed, in words."""
        return str(self.component or self.source)

    @property
    def reason(self) -> str:
        """Why it failed, in one line."""
        if self.component is not None and isinstance(self.error, ComponentError):
            expected = f"expected {self.error.expected}, got " if self.stage == "check" else ""
            return expected + self.error.got
        return reason_of(self.error)

    @property
    def state(self) -> str:
        """The state as tables print it."""
        return f"failed at {self.stage}"

    @property
    def remedy(self) -> str:
        """What to do about it, apart from doing without."""
        if isinstance(self.error, Advised):
            return self.error.advice
        if self.source.builtin:
            return "reinstall plausibly: its installation is incomplete"
        if not self.source.distribution:
            return "mend its class, and register it again"
        if isinstance(self.error, ModuleNotFoundError) and self.error.name:
            module = self.error.name.partition(".")[0]
            # A module may come with a distribution of another name, which nobody should guess.
            known = declares(self.source.distribution, module.lower())
            return f"pip install {module}" if known else f"install what provides {module}"
        return f"mend {self.source.distribution}"

    @property
    def without(self) -> str:
        """What to do to do without it."""
        if self.source.builtin or not self.source.distribution:
            return ""
        return f"pip uninstall {self.source.distribution}"

    def warning(self) -> PlausiblyWarning:
        """Return what is said of it: ``plugin-failed``."""
        return self._said(PlausiblyWarning)

    def strictly(self) -> ComponentError:
        """Return the same as an error, for those who asked for that."""
        return self._said(ComponentError, "plugins are strict")

    def _said(self, message: type[Message], then: str = "all others work") -> Message:
        look = f"plausibly plugins check {self.source.plugin}, or {self.without}"
        return message(
            "plugin-failed",
            f"{self.whose} stopped at {self.stage}",
            expected=EXPECTED[self.stage],
            got=f'"{self.reason}"; {then}',
            do=look if self.without else self.remedy,
            whose=self.source.plugin,
            details={
                "plugin": self.source.plugin,
                "distribution": self.source.distribution,
                "version": self.source.version,
                "stage": self.stage,
                "reason": self.reason,
            },
        )


def glance(entry: Entry) -> Callable[..., object] | None:
    """Return the class or function if it is in memory, None if only loading it would tell."""
    if not isinstance(entry.target, str):
        return entry.target
    place, _, attribute = entry.target.partition(":")
    module = sys.modules.get(place)
    if module is None:
        return None if entry.extra or _may_be_found(place) else entry.load()
    there = vars(module)
    # A module may make its attributes when they are asked for, out of what takes long to import.
    return entry.load() if attribute in there or "__getattr__" not in there else None


def _may_be_found(module: str) -> bool:
    parent = module.rpartition(".")[0]
    if parent and parent not in sys.modules:  # looking further would import it
        return True
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # below a module that is no package
        return False
    except (ImportError, ValueError, AttributeError):  # a finder that cannot tell
        return True


VARIABLE = "PLAUSIBLY_DISABLE_PLUGINS"
"""Environment variable: names with commas between them."""

STRICT = "PLAUSIBLY_STRICT_PLUGINS"
"""Environment variable: unless it is empty or 0, a plugin that fails is an error."""

EVERY_OTHER = "*"


def normalised(name: str) -> str:
    """Return the name by which two spellings of one plugin or distribution are equal."""
    return re.sub(r"[-_.]+", "-", name).lower()


@attrs.frozen
class Asked:
    """One name that somebody gave."""

    name: str
    by: str

    def means(self, source: Source) -> bool:
        """Return whether the plugin is turned off by it."""
        if source.plugin == THIS_RUN:
            return False
        if self.name == EVERY_OTHER:
            return not source.builtin
        return normalised(self.name) in (normalised(source.plugin), normalised(source.distribution))

    @property
    def undo(self) -> str:
        """What to do to have the plugin back."""
        return f"take {self.name} out of {self.by}"


@attrs.frozen
class Disabled:
    """A plugin that is turned off, and who asked for that."""

    source: Source
    asked: Asked

    @property
    def reason(self) -> str:
        """Why it is off, in one line."""
        return f"{self.asked.by} names {self.asked.name}"


def asked(names: Collection[str], by: str) -> tuple[Asked, ...]:
    """Return what was asked for, each name once."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InputError(
            "plugin-names",
            f"{by} takes names of plugins or distributions",
            expected="a list of texts",
            got=repr(names),
            do=f'write ["{names}"]' if isinstance(names, str) else "write their names",
            whose=by,
        )
    return tuple(Asked(name, by) for name in dict.fromkeys(n.strip() for n in names) if name)


def asked_by_environment() -> tuple[Asked, ...]:
    """Return what the environment variable asks for, as it is now."""
    return asked(os.environ.get(VARIABLE, "").split(","), VARIABLE)


def strict_by_environment() -> bool:
    """Return whether the environment asks for errors instead of records."""
    return os.environ.get(STRICT, "").strip() not in ("", "0")


def unknown(given: Asked, sources: Iterable[Source]) -> PlausiblyWarning:
    """Return the warning that nothing here has a name that was to be disabled."""
    names = {n: None for s in sources for n in (s.plugin, s.distribution) if n}
    close = get_close_matches(normalised(given.name), names, n=1)
    count = f"one of {counted(len(names))} plugins and distributions"
    return PlausiblyWarning(
        "plugin-unknown",
        f'{given.by} names "{given.name}", which is no plugin here',
        expected=f'{count}; did you mean "{close[0]}"?' if close else count,
        do=(f"write {close[0]}, or " if close else "") + given.undo,
        whose=given.name,
        details={"name": given.name, "by": given.by, "suggestion": close[0] if close else None},
    )
