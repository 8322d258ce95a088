"""The public names: that they are all there, and that they cost nothing before they are used."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from types import ModuleType

import pytest

import plausibly
from plausibly import plugin
from plausibly.errors import InputError


def run(code: str) -> str:
    """Return what a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()


@pytest.mark.parametrize("name", dir(plausibly))
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(plausibly, name) is not None
    assert name in vars(plausibly), "kept once it was looked up"


@pytest.mark.parametrize("module", [plausibly, plugin])
def test_a_name_that_is_not_there(module: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'nmae'"):
        _ = module.nmae


def test_the_version_is_that_of_the_distribution() -> None:
    assert plausibly.__version__ == version("plausibly")


def test_errors_have_one_place() -> None:
    assert plausibly.errors.InputError is InputError is plausibly.InputError


def test_importing_plausibly_imports_nothing_heavy() -> None:
    heavy = "{'numpy', 'xarray', 'pandas', 'scipy', 'attrs', 'attr', 'cattrs', 'pluggy', 'rich'}"
    assert run(f"import sys, plausibly; print({heavy} & set(sys.modules))") == "set()"


def test_errors_need_no_import_of_their_own() -> None:
    assert run("import plausibly; print(plausibly.errors.InputError.__name__)") == "InputError"


def test_writing_a_plugin_imports_neither_arrays_nor_the_converter() -> None:
    heavy = "{'numpy', 'xarray', 'pandas', 'scipy', 'cattrs', 'rich', 'typer'}"
    code = f"""
import sys
from plausibly.plugin import AGGREGATOR, Registrar, hookimpl
import plausibly_builtins.single_label, plausibly_builtins.combiners
from plausibly import registry
registry.default().entries()
print({heavy} & set(sys.modules))
"""
    assert run(code) == "set()"
