"""Imports are those that ``docs/architecture.md`` describes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from imports import Import, Layer, imports_of, layers, loaded_by, modules

PROJECT = Path(__file__).resolve().parents[2]
MODULES = modules(PROJECT)
PAGE = (PROJECT / "docs" / "architecture.md").read_text("utf-8")
LAYERS = layers(PAGE)
FRAMEWORK = sorted(name for name in MODULES if name.split(".")[0] == "plausibly")
BUILTINS = sorted(name for name in MODULES if name.split(".")[0] == "plausibly_builtins")
FOR_PLUGINS = {"plausibly.plugin", "plausibly.plugin.readers"}
LAZY = {
    "plausibly": "__init__",
    "plausibly.plugin": "plugin",
    "plausibly.plugin.readers": "plugin",
}
# Entry points, and the modules that may import them.
ENTRIES: dict[str, set[str]] = {
    "cli": {"__main__"},
    "huggingface": set(),
    "report": {"cli"},
    "sklearn": set(),
    "torch": set(),
}


def part(module: str) -> str:
    """Return the name under which the page lists a module of the framework."""
    return LAZY.get(module) or module.split(".")[1]


def layer_of(module: str) -> Layer:
    return next(layer for layer in LAYERS if part(module) in layer.modules)


@cache
def imports_in(module: str) -> list[Import]:
    path = MODULES[module]
    text = path.read_text("utf-8")
    return list(imports_of(text, module, package=path.name == "__init__.py"))


def imports(*among: str) -> Iterator[tuple[str, Import]]:
    """Yield each import of each of these modules, but for those of type checkers alone."""
    for module in among:
        yield from ((module, imported) for imported in imports_in(module) if not imported.unseen)


def wrong(pairs: Iterable[tuple[str, Import]]) -> list[str]:
    return [
        f"{module} line {imported.line}: {imported.module} {imported.name}"
        for module, imported in pairs
    ]


def reached(graph: Mapping[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    ahead = list(graph[start])
    while ahead:
        if (node := ahead.pop()) not in seen:
            seen.add(node)
            ahead.extend(graph[node])
    return seen


def test_there_is_no_circle_of_files_or_folders() -> None:
    """Every import counts, inside functions and for types alone too."""
    files: dict[str, set[str]] = {}
    folders: dict[str, set[str]] = {}
    for module in MODULES:
        others = {
            loaded_by(imported, MODULES)
            for imported in imports_in(module)
            # A stub that xarray needs, since it has no entry point.
            if not (imported.unseen and imported.module == "plausibly.accessor")
        }
        files[module] = (others & {*MODULES}) - {module}
        top = ".".join(module.split(".")[:2])
        tops = {".".join(another.split(".")[:2]) for another in files[module]} - {top}
        folders[top] = folders.get(top, set()) | tops
    for graph in (files, folders):
        assert [node for node in graph if node in reached(graph, node)] == []


def test_the_page_lists_every_module_once_and_no_other() -> None:
    listed = [name for layer in LAYERS for name in layer.modules]
    assert sorted(listed) == sorted({part(module) for module in FRAMEWORK})
    assert [layer.number for layer in LAYERS] == list(range(6))


def within(package: str, *among: str) -> list[tuple[str, Import, str]]:
    """Return the imports that load a module of a package, with that module."""
    pairs = [
        (module, imported, loaded_by(imported, MODULES)) for module, imported in imports(*among)
    ]
    return [each for each in pairs if each[2].split(".")[0] == package]


def test_a_module_imports_from_its_layer_or_lower() -> None:
    assert not wrong(
        (module, imported)
        for module, imported, target in within("plausibly", *FRAMEWORK)
        if layer_of(target).number > layer_of(module).number
    )


def test_framework_and_built_ins_meet_in_the_plugin_interface() -> None:
    assert not within("plausibly_builtins", *FRAMEWORK)
    ours = within("plausibly", *BUILTINS)
    assert not wrong(
        (module, imported) for module, imported, _ in ours if imported.module not in FOR_PLUGINS
    )


def test_entry_points_are_imported_by_no_other_module() -> None:
    assert not wrong(
        (module, imported)
        for module, imported, target in within("plausibly", *FRAMEWORK)
        if part(module) not in {part(target), *ENTRIES.get(part(target), {part(module)})}
    )


def test_low_layers_need_few_libraries() -> None:
    own = sys.stdlib_module_names | {"plausibly"}
    assert not wrong(
        (module, imported)
        for module, imported in imports(*FRAMEWORK)
        if (allowed := layer_of(module).libraries) is not None
        and not imported.names() & (allowed | own)
    )


def test_slow_libraries_wait_until_they_are_used() -> None:
    slow = {"scipy.stats", "matplotlib", "sklearn", "rich", "pyarrow", "netCDF4", "zarr", "torch"}
    slow |= {"dask", "distributed", "jinja2", "transformers"}
    assert not wrong(
        (module, imported)
        for module, imported in imports(*FRAMEWORK, *BUILTINS)
        # The estimator is imported of scikit-learn's, so its entry is made of it.
        if imported.names() & slow and not imported.deferred and part(module) != "sklearn"
    )


HEAVY = {"numpy", "xarray", "pandas", "scipy", "dask", "rich"}
LOADED = "import sys; print(*{m.partition('.')[0] for m in sys.modules})"


def run(code: str) -> set[str]:
    """Return the words that a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_layer_0_and_lazy_modules_load_no_arrays() -> None:
    lowest = [module for module in FRAMEWORK if layer_of(module).number == 0]
    assert not run(f"import {', '.join([*lowest, *LAZY, 'plausibly.io'])}\n{LOADED}") & HEAVY


def test_declaring_the_commands_loads_no_arrays() -> None:
    """Commands import what they need when they run: so ``--help`` is quick."""
    declare = "import plausibly.cli.app as a\nfor name in a.SUMMARIES: a.made(name)\n"
    # Flags are looked up in the classes of settings, which need attrs, cattrs and pluggy.
    assert not run(f"{declare}{LOADED}") & (HEAVY | {"jinja2", "matplotlib"})


def test_every_lazy_name_can_be_loaded() -> None:
    for module in LAZY:
        loaded = import_module(module)
        assert all(hasattr(loaded, name) for name in loaded.__all__)
        assert sorted(loaded.__all__) == dir(loaded)
