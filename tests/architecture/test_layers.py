"""Imports are those that ``docs/architecture.md`` describes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

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


def imports(*among: str) -> Iterator[tuple[str, Import]]:
    """Yield each import of each of these modules."""
    for module in among:
        path = MODULES[module]
        text = path.read_text("utf-8")
        for found in imports_of(text, module, package=path.name == "__init__.py"):
            yield module, found


def test_the_page_lists_every_module_once_and_no_other() -> None:
    listed = [name for layer in LAYERS for name in layer.modules]
    assert sorted(listed) == sorted({part(module) for module in FRAMEWORK})
    assert [layer.number for layer in LAYERS] == list(range(6))


def test_a_module_imports_from_its_layer_or_lower() -> None:
    wrong = []
    for module, found in imports(*FRAMEWORK):
        target = asked_for(found, MODULES)
        # The version belongs to no layer.
        if target.split(".")[0] != "plausibly" or found.name == "__version__":
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


@pytest.mark.parametrize("entry", ENTRIES)
def test_entry_points_are_imported_by_no_other_module(entry: str) -> None:
    wrong = []
    for module, found in imports(*FRAMEWORK):
        target = asked_for(found, MODULES)
        here = part(module)
        inside = (entry, *ENTRIES[entry])
        ours = target.split(".")[0] == "plausibly"
        if ours and part(target) == entry and here not in inside:
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


def loaded_by(*asked: str) -> set[str]:
    """Return the top-level packages that a fresh interpreter has loaded after these imports."""
    code = f"import sys, {', '.join(asked)}; print(*{{m.partition('.')[0] for m in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


HEAVY = {"numpy", "xarray", "pandas", "scipy", "dask", "rich"}


def test_layer_0_and_lazy_modules_load_no_arrays() -> None:
    lowest = [module for module in FRAMEWORK if layer_of(module).number == 0]
    assert not loaded_by(*lowest, *LAZY) & HEAVY


def test_declaring_the_commands_loads_no_arrays() -> None:
    """Commands import what they need when they run: so ``--help`` is quick."""
    code = (
        "import sys, plausibly.cli.app as commands\n"
        "for name in commands.SUMMARIES: commands.made(name)\n"
        "print(*{m.partition('.')[0] for m in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # Flags are looked up in the classes of settings, which need attrs, cattrs and pluggy.
    assert not set(done.stdout.split()) & (HEAVY | {"jinja2", "matplotlib"})


@pytest.mark.parametrize("module", LAZY)
def test_every_lazy_name_can_be_loaded(module: str) -> None:
    code = (
        f"import {module} as module;"
        "assert all(hasattr(module, name) for name in module.__all__), 'a name leads nowhere';"
        "assert sorted(module.__all__) == dir(module)"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
