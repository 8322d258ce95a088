"""The house stands as ``docs/architecture.md`` draws it: the page and the imports cannot drift."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arch_imports import Floor, Import, asked_for, floors, imports_of, modules

PROJECT = Path(__file__).resolve().parents[2]
MODULES = modules(PROJECT)
PAGE = (PROJECT / "docs" / "architecture.md").read_text("utf-8")
FLOORS = floors(PAGE)
FRAMEWORK = sorted(name for name in MODULES if name.split(".")[0] == "plausibly")
BUILTINS = sorted(name for name in MODULES if name.split(".")[0] == "plausibly_builtins")
DOORS_OF_PLUGINS = {"plausibly.plugin", "plausibly.plugin.readers"}
FACES = {
    "plausibly": "__init__",
    "plausibly.plugin": "plugin",
    "plausibly.plugin.readers": "plugin",
}
# What people come in by: nobody else imports it, except as it says here.
DOORS: dict[str, set[str]] = {
    "cli": {"__main__"},
    "huggingface": set(),
    "report": {"cli"},
    "sklearn": set(),
    "torch": set(),
}


def room(module: str) -> str:
    """Return the name under which the page lists a module of the framework."""
    return FACES.get(module) or module.split(".")[1]


def floor_of(module: str) -> Floor:
    return next(floor for floor in FLOORS if room(module) in floor.modules)


def imports(*among: str) -> Iterator[tuple[str, Import]]:
    """Yield each import of each of these modules."""
    for module in among:
        path = MODULES[module]
        text = path.read_text("utf-8")
        for found in imports_of(text, module, package=path.name == "__init__.py"):
            yield module, found


def test_the_page_lists_every_module_once_and_no_other() -> None:
    listed = [name for floor in FLOORS for name in floor.modules]
    assert sorted(listed) == sorted({room(module) for module in FRAMEWORK})
    assert [floor.number for floor in FLOORS] == list(range(6))


def test_modules_that_the_page_names_exist() -> None:
    named = re.findall(r"`(plausibly(?:_builtins)?(?:\.\w+)+)`", PAGE)
    assert named
    assert not set(named) - set(MODULES)


def test_a_module_imports_from_its_floor_or_lower() -> None:
    wrong = []
    for module, found in imports(*FRAMEWORK):
        target = asked_for(found, MODULES)
        # The version belongs to no floor: files and tables state it.
        if target.split(".")[0] != "plausibly" or found.name == "__version__":
            continue
        here, there = floor_of(module).number, floor_of(target).number
        if there > here:
            wrong.append(f"{module} (floor {here}) line {found.line}: {target} (floor {there})")
    assert not wrong


def test_the_framework_does_not_know_the_built_ins() -> None:
    wrong = [f for f in imports(*FRAMEWORK) if f[1].module.split(".")[0] == "plausibly_builtins"]
    assert not wrong


def test_built_ins_use_only_the_door_of_plugins() -> None:
    wrong = [
        f"{module} line {found.line}: {found.module}"
        for module, found in imports(*BUILTINS)
        if found.module.split(".")[0] == "plausibly" and found.module not in DOORS_OF_PLUGINS
    ]
    assert not wrong


def test_the_page_lists_the_doors() -> None:
    listed = {name for floor in FLOORS for name in floor.modules}
    assert listed >= DOORS.keys()


@pytest.mark.parametrize("door", DOORS)
def test_nobody_else_comes_in_by_a_door(door: str) -> None:
    wrong = []
    for module, found in imports(*FRAMEWORK):
        target = asked_for(found, MODULES)
        here = room(module)
        inside = (door, *DOORS[door])
        ours = target.split(".")[0] == "plausibly"
        if ours and room(target) == door and here not in inside:
            wrong.append(f"{module} line {found.line}: {target}")
    assert not wrong


def test_low_floors_need_few_libraries() -> None:
    wrong = []
    for module, found in imports(*FRAMEWORK):
        allowed = floor_of(module).libraries
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
        # The estimator is one of scikit-learn's, so its door is made of it.
        if found.names() & slow and not found.deferred and room(module) != "sklearn"
    ]
    assert not wrong


def loaded_by(*asked: str) -> set[str]:
    """Return the top-level packages that a fresh interpreter has loaded after these imports."""
    code = f"import sys, {', '.join(asked)}; print(*{{m.partition('.')[0] for m in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


HEAVY = {"numpy", "xarray", "pandas", "scipy", "dask", "rich"}


def test_floor_0_and_the_faces_load_no_arrays() -> None:
    lowest = [module for module in FRAMEWORK if floor_of(module).number == 0]
    assert not loaded_by(*lowest, *FACES) & HEAVY


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


def test_a_heavy_library_would_be_seen() -> None:
    assert "numpy" in loaded_by("plausibly.kernels.random")


@pytest.mark.parametrize("face", FACES)
def test_a_face_leads_everywhere(face: str) -> None:
    code = (
        f"import {face} as face;"
        "assert all(hasattr(face, name) for name in face.__all__), 'a name leads nowhere';"
        "assert sorted(face.__all__) == dir(face)"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)


CODE = """
from __future__ import annotations
import os.path
from typing import TYPE_CHECKING
from . import sibling
from ..other.part import thing
if TYPE_CHECKING:
    import numpy
else:
    import json
def inside():
    from plausibly import late
class Holder:
    import csv
"""


def test_imports_are_read_from_the_syntax() -> None:
    found = [(i.module, i.name, i.deferred) for i in imports_of(CODE, "plausibly.room.module")]
    assert found == [
        ("__future__", "annotations", False),
        ("os.path", "", False),
        ("typing", "TYPE_CHECKING", False),
        ("plausibly.room", "sibling", False),
        ("plausibly.other.part", "thing", False),
        ("json", "", False),
        ("plausibly", "late", True),
        ("csv", "", False),
    ]
    inside = list(imports_of("from . import part", "plausibly.room", package=True))
    assert inside == [Import("plausibly.room", "part", "part", 1, False)]
