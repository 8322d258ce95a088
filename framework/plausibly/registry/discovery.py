"""Finding plugins and running their hooks, each on its own: one broken plugin stops nothing.

Our own plugins are read from the metadata of our own distribution; the other distributions of the
environment are scanned only when somebody asks for something that we do not have.
"""

from __future__ import annotations

import importlib
import importlib.metadata as metadata
import re
from collections.abc import Iterator

import attrs
import pluggy

from plausibly.registry import hooks
from plausibly.registry.entries import Entry, Failure, Source, Stage
from plausibly.registry.hooks import GROUP, Registrar

OURS = "plausibly"


@attrs.frozen
class Declared:
    """One entry point of the group: a plugin that somebody installed.

    Attributes
    ----------
    source : Source
        Its name, and the distribution that declares it.
    value : str
        The module that it names.
    """

    source: Source
    value: str


class _Failed(Exception):
    """A plugin failed at a stage; the cause says why."""

    def __init__(self, stage: Stage, cause: BaseException) -> None:
        super().__init__(stage)
        self.stage: Stage = stage
        self.cause = cause


def normalised(distribution: str) -> str:
    """Return the name by which two spellings of one distribution are equal."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def own_plugins() -> tuple[Declared, ...]:
    """Return the plugins that our own distribution declares; reads no other metadata."""
    try:
        ours = metadata.distribution(OURS)
    except metadata.PackageNotFoundError:
        return ()
    return tuple(_declared_by(ours, builtin=True))


def other_plugins() -> tuple[Declared | Failure, ...]:
    """Return the plugins of all other distributions, sorted by distribution and name.

    A distribution whose metadata cannot be read is a `Failure` of its own. What is seen twice, such
    as an editable installation beside a wheel, or one folder on the path under two names, is one.
    """
    names: set[str] = set()
    found: list[Declared | Failure] = []
    for number, distribution in enumerate(metadata.distributions()):
        try:
            if any(point.group == GROUP for point in distribution.entry_points):
                names.add(normalised(distribution.name))
        except Exception as error:  # noqa: BLE001  # any file may be malformed in any way
            found.append(_unreadable(distribution, number, error))
    for name in sorted(names - {OURS}):
        try:
            # The one that Python would import from: the first of this name on the path.
            found += _declared_by(metadata.distribution(name))
        except Exception as error:  # noqa: BLE001  # what was read above may be half of it
            found.append(Failure(Source(name, name), "metadata", error))
    return tuple(found)


def _unreadable(distribution: metadata.Distribution, number: int, error: Exception) -> Failure:
    try:
        name = str(distribution.name)
    except Exception:  # noqa: BLE001  # its name may be what cannot be read
        name = f"distribution {number} on the path"
    return Failure(Source(name, name), "metadata", error)


def _declared_by(
    distribution: metadata.Distribution, *, builtin: bool = False
) -> Iterator[Declared]:
    points = {(p.name, p.value) for p in distribution.entry_points if p.group == GROUP}
    for name, value in sorted(points):
        source = Source(name, distribution.name, distribution.version or "", builtin)
        yield Declared(source, value)


def run_hook(declared: Declared) -> tuple[Entry, ...] | Failure:
    """Import a plugin and call its hook.

    Returns
    -------
    tuple of Entry, or Failure
        All that it registered, or why nothing of it can be used.
    """
    registrar = Registrar(declared.source)
    try:
        _call(declared, registrar)
    except _Failed as failed:
        return Failure(declared.source, failed.stage, failed.cause, tuple(registrar.entries))
    return tuple(registrar.entries)


def _call(declared: Declared, registrar: Registrar) -> None:
    # A manager for each plugin: what pluggy raises then belongs to this one, and there is
    # nothing to undo afterwards.
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(hooks)
    try:
        if ":" in declared.value:
            raise ImportError(f"the entry point names {declared.value}; it must name a module")
        module = importlib.import_module(declared.value)
    except (Exception, SystemExit) as error:  # somebody's module may raise anything
        raise _Failed("import", error) from error
    try:
        manager.register(module, declared.source.plugin)
        manager.check_pending()
        if not manager.get_hookcallers(module):
            raise LookupError(f"{declared.value} has no function marked @hookimpl")
    except Exception as error:  # pluggy looks at every attribute of the module
        raise _Failed("hook", error) from error
    try:
        manager.hook.plausibly_register(registrar=registrar)
    except (Exception, SystemExit) as error:  # somebody's hook may raise anything
        raise _Failed("registration", error) from error
