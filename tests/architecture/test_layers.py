"""Imports are those that ``docs/architecture.md`` describes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from imports import Import, Layer, asked_for, imports_of, layers, modules

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
        yield from ((module, found) for found in imports_in(module) if not found.unseen)


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
            asked_for(found, MODULES)
            for found in imports_in(module)
            # A stub that xarray needs, since it has no entry point.
            if not (found.unseen and found.module == "plausibly.accessor")
        }
        files[module] = (others & {*MODULES}) - {module}
        top = ".".join(module.split(".")[:2])
        tops = {".".join(other.split(".")[:2]) for other in files[module]} - {top}
        folders[top] = folders.get(top, set()) | tops
    for graph in (files, folders):
        assert [node for node in graph if node in reached(graph, node)] == []


def test_the_page_lists_every_module_once_and_no_other() -> None:
    listed = [name for layer in LAYERS for name in layer.modules]
    assert sorted(listed) == sorted({part(module) for module in FRAMEWORK})
    assert [layer.number for layer in LAYERS] == list(range(6))


def test_a_module_imports_from_its_layer_or_lower() -> None:
    wrong = []
    for module, found in imports(*FRAMEWORK):
        target = asked_for(found, MODULES)
        if target.split(".")[0] != "plausibly":
            continue
        here, there = layer_of(module).number, layer_of(target).number
        if there > here:
            wrong.append(f"{module} (layer {here}) line {found.line}: {target} (layer {there})")
    assert not wrong


def test_the_framework_does_not_know_the_built_ins() -> None:
    wrong = [f for f in imports(*FRAMEWORK) if f[1].module.split(".")[0] == "plausibly_builtins"]
    assert not wrong


def test_built_ins_import_only_what_plugins_import() -> None:
    wrong = [
        f"{module} line {found.line}: {found.module}"
        for module, found in imports(*BUILTINS)
        if found.module.split(".")[0] == "plausibly" and found.module not in FOR_PLUGINS
    ]
    assert not wrong


def test_entry_points_are_imported_by_no_other_module() -> None:
    wrong = []
    for module, found in imports(*FRAMEWORK):
        target = asked_for(found, MODULES)
        entry = part(target) if target.split(".")[0] == "plausibly" else ""
        if entry in ENTRIES and part(module) not in {entry, *ENTRIES[entry]}:
            wrong.append(f"{module} line {found.line}: {target}")
    assert not wrong


def test_low_layers_need_few_libraries() -> None:
    wrong = []
    for module, found in imports(*FRAMEWORK):
        allowed = layer_of(module).libraries
        own = sys.stdlib_module_names | {"plausibly"}
        if allowed is not None and not found.names() & (allowed | own):
            wrong.append(f"{module} line {found.line}: {found.module}")
    assert not wrong


def test_slow_libraries_wait_until_they_are_used() -> None:
    slow = {"scipy.stats", "matplotlib", "sklearn", "rich", "pyarrow", "netCDF4", "zarr", "torch"}
    slow |= {"dask", "distributed", "jinja2", "transformers"}
    wrong = [
        f"{module} line {found.line}: {found.module}"
        for module, found in imports(*FRAMEWORK, *BUILTINS)
        # The estimator is one of scikit-learn's, so its entry is made of it.
        if found.names() & slow and not found.deferred and part(module) != "sklearn"
    ]
    assert not wrong


HEAVY = {"numpy", "xarray", "pandas", "scipy", "dask", "rich"}
LOADED = "import sys; print(*{m.partition('.')[0] for m in sys.modules})"


def run(code: str) -> set[str]:
    """Return the words that a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_layer_0_and_lazy_modules_load_no_arrays() -> None:
    lowest = [module for module in FRAMEWORK if layer_of(module).number == 0]
    assert not run(f"import {', '.join([*lowest, *LAZY])}\n{LOADED}") & HEAVY


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
