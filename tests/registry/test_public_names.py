"""The public names: what is not there, and that they cost nothing before they are used."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distribution, version

import pytest

import plausibly
from plausibly import plugin
from plausibly.errors import InputError
from plausibly.registry import default

HEAVY = {"numpy", "xarray", "pandas", "scipy", "cattrs", "rich", "typer"}
PLUGIN = """
from plausibly.errors import InputError
from plausibly.plugin import AGGREGATOR, Registrar, hookimpl
import plausibly_builtins.single_label, plausibly_builtins.combiners
from plausibly import registry
registry.default().entries()
"""


def test_names_of_the_package() -> None:
    for module in (plausibly, plugin):
        with pytest.raises(AttributeError, match=f"'{module.__name__}' has no attribute 'nmae'"):
            _ = module.nmae
    assert plausibly.__version__ == version("plausibly")
    assert plausibly.errors.InputError is InputError is plausibly.InputError


def test_every_family_is_ready_and_nothing_is_plugged_into_pytest() -> None:
    """A plugin of pytest would be imported by every test run of every user."""
    points = distribution("plausibly").entry_points
    families = {point.name for point in points.select(group="plausibly")}
    assert {s.plugin for s in default().plugins() if s.builtin} == families
    assert {point.group for point in points} == {"console_scripts", "plausibly"}


@pytest.mark.parametrize(
    ("code", "heavy"),
    [("import plausibly", HEAVY | {"attrs", "attr", "pluggy"}), (PLUGIN, HEAVY)],
    ids=["import", "plugin"],
)
def test_nothing_heavy_is_imported(code: str, heavy: set[str]) -> None:
    code += "\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not heavy & set(done.stdout.split())
