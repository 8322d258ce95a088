"""Finding plugins and running their hooks, each on its own: one broken plugin stops nothing.

Our own plugins are read from the metadata of our own distribution; the other distributions of the
environment are scanned only when somebody asks for something that we do not have.
"""

from __future__ import annotations

import importlib
import importlib.metadata as metadata
import inspect
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType

import attrs
import pluggy

from plausibly.registry import hooks
from plausibly.registry.conformance import names_only
from plausibly.registry.entries import Advised, Entry, Failure, Source, Stage, normalised, reason_of
from plausibly.registry.hooks import API_VERSION, GROUP, HOOK, OLDEST_API, Registrar
from plausibly.registry.messages import an

OURS = "plausibly"


@attrs.frozen
class Declared:
    """One entry point of the group: a plugin that somebody installed."""

    source: Source
    value: str


class _Failed(Exception):
    """A plugin failed at a stage; the cause says why."""

    def __init__(self, stage: Stage, cause: BaseException) -> None:
        super().__init__(stage)
        self.stage: Stage = stage
        self.cause = cause


def own_plugins() -> tuple[Declared, ...]:
    """Return the plugins that our own distribution declares; reads no other metadata."""
    try:
        ours = metadata.distribution(OURS)
    except metadata.PackageNotFoundError:
        return ()
    return tuple(_declared_by(ours, builtin=True))


def other_plugins() -> tuple[Declared | Failure, ...]:
    """Return the plugins of all other distributions, sorted by distribution and name."""
    names: set[str] = set()
    found: list[Declared | Failure] = []
    for number, distribution in enumerate(metadata.distributions()):
        try:
            # Most distributions declare nothing of ours, and parsing takes longer than looking.
            if f"[{GROUP}]" in (distribution.read_text("entry_points.txt") or ""):
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
    about = distribution.metadata  # is parsed each time it is asked for
    for plugin, value in sorted(points):
        yield Declared(Source(plugin, about["Name"], about["Version"] or "", builtin), value)


def run_hook(declared: Declared) -> tuple[Entry, ...] | Failure:
    """Import a plugin and call its hook."""
    registrar = Registrar(declared.source)
    try:
        _call(declared, registrar)
    except _Failed as failed:
        return Failure(declared.source, failed.stage, failed.cause, tuple(registrar.entries))
    return tuple(registrar.entries)


class _Few(ModuleType):
    """Some functions under their names: pluggy looks at all that a module has, which takes long."""

    def __init__(self, functions: Mapping[str, object]) -> None:
        super().__init__(GROUP)
        self.__dict__.update(functions)

    def __dir__(self) -> list[str]:
        return [name for name in self.__dict__ if not name.startswith("__")]


_SPECS = _Few({HOOK: hooks.plausibly_register})


def _call(declared: Declared, registrar: Registrar) -> None:
    # A manager for each plugin: what pluggy raises then belongs to this one, and there is
    # nothing to undo afterwards.
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(_SPECS)
    module = _at("import", lambda: _imported(declared))
    _at("API", lambda: _check_api(module, declared.source))
    marked = _at("hook", lambda: _marked(manager, module))
    _at("hook", lambda: manager.register(_Few(marked), declared.source.plugin))
    _at("hook", manager.check_pending)
    given = _at("registration", lambda: manager.hook.plausibly_register(registrar=registrar))
    _at("registration", lambda: _check_given(given))


def _at(stage: Stage, step: Callable[[], hooks.P]) -> hooks.P:
    try:
        return step()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # somebody's module may raise anything, or exit
        raise _Failed(stage, error) from error


def _imported(declared: Declared) -> ModuleType:
    if ":" in declared.value:
        module, _, attribute = declared.value.partition(":")
        raise Advised(
            f"the entry point names {declared.value}; it must name a module",
            f'write {declared.source.plugin} = "{module}", and add {attribute} in its hook',
        )
    try:
        return importlib.import_module(declared.value)
    except ImportError as error:
        if error.name != "plausibly.plugin":
            raise
        upgrade = f"pip install --upgrade {OURS} {declared.source.distribution}"
        raise Advised(f"{reason_of(error)}; {_here()}", upgrade) from error


def _here() -> str:
    return f"this is plausibly {metadata.version(OURS)}, API {API_VERSION}"


def _check_api(module: ModuleType, source: Source) -> None:
    wanted: object = getattr(module, "requires_api", OLDEST_API)
    if not isinstance(wanted, int) or isinstance(wanted, bool):
        raise Advised(
            f"requires_api = {wanted!r} is no version; {_here()}",
            f"write requires_api = {API_VERSION}",
        )
    if wanted > API_VERSION:
        raise Advised(
            f"it requires API {wanted}; {_here()}",
            f"pip install --upgrade {OURS}, or an older {source.distribution}",
        )
    if wanted < OLDEST_API:
        raise Advised(
            f"it requires API {wanted}; {_here()}, which goes back to {OLDEST_API}",
            f"pip install --upgrade {source.distribution}",
        )


def _marked(manager: pluggy.PluginManager, module: ModuleType) -> dict[str, object]:
    """Return the hook of a module by its name."""
    functions = {name: value for name, value in vars(module).items() if inspect.isroutine(value)}
    marked = {
        name: options
        for name in functions
        if (options := manager.parse_hookimpl_opts(module, name)) is not None
    }
    mark = "mark it with @hookimpl of plausibly.plugin"
    if not marked:
        unmarked = [
            f"{name}{names_only(inspect.signature(value))}"
            for name, value in functions.items()
            if inspect.isfunction(value) and "registrar" in inspect.signature(value).parameters
        ]
        there = f"; it has {unmarked[0]}, unmarked" if unmarked else ""
        raise Advised(f"{module.__name__} has no function marked @hookimpl{there}", mark)
    for name, options in marked.items():
        if (options.get("specname") or name) != HOOK:
            raise Advised(f"{name} is marked as a hook that does not exist; {HOOK} does", mark)
        takes = inspect.signature(functions[name])
        # pluggy passes what it finds by this name, and nothing where there is a default.
        needed = [p.name for p in takes.parameters.values() if p.default is p.empty]
        kinds = {p.kind for p in takes.parameters.values() if p.name == "registrar"}
        if needed != ["registrar"] or kinds != {inspect.Parameter.POSITIONAL_OR_KEYWORD}:
            raise Advised(
                f"expected {name}(registrar), got {name}{names_only(takes)}",
                f"def {name}(registrar: Registrar) -> None",
            )
    return {name: functions[name] for name in marked}


def _check_given(given: list[object]) -> None:
    for result in given:
        if inspect.iscoroutine(result):
            result.close()
        kind = type(result).__name__
        raise Advised(
            f"its hook returned {an(kind)}; what is not added to the registrar is lost",
            "registrar.add(KIND, name, target), and return nothing",
        )
