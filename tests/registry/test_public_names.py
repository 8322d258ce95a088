"""The public names: that they are all there, and that they cost nothing before they are used."""

from __future__ import annotations

import ast
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


def names_for_type_checkers(module: ModuleType) -> set[str]:
    """Return the names that the module imports under TYPE_CHECKING."""
    assert module.__file__ is not None
    with open(module.__file__, encoding="utf-8") as file:  # noqa: PTH123  # a plain read
        tree = ast.parse(file.read())
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name):
            for inner in node.body:
                if isinstance(inner, ast.ImportFrom):
                    found |= {alias.asname or alias.name for alias in inner.names}
                if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name):
                    found.add(inner.target.id)
    return found


@pytest.mark.parametrize("module", [plausibly, plugin])
def test_the_lists_agree(module: ModuleType) -> None:
    lazy = names_for_type_checkers(module)
    assert lazy >= set(module._HOME)
    assert lazy - set(module._HOME) <= {"errors", "plots", "__version__"}
    assert lazy <= set(module.__all__)
    assert sorted(module.__all__) == dir(module)


@pytest.mark.parametrize("name", plausibly.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(plausibly, name) is not None
    assert name in vars(plausibly), "kept once it was looked up"


@pytest.mark.parametrize("name", plugin.__all__)
def test_every_name_for_authors_resolves(name: str) -> None:
    assert getattr(plugin, name) is not None


@pytest.mark.parametrize("module", [plausibly, plugin])
def test_a_name_that_is_not_there(module: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'nmae'"):
        _ = module.nmae


def test_the_version_is_that_of_the_distribution() -> None:
    assert plausibly.__version__ == version("plausibly")


def test_the_api_version() -> None:
    assert plugin.API_VERSION == 1


def test_public_names_of_the_design() -> None:
    design = (
        "read_annotations read_predictions read_examples aggregate calibrate load_predictor "
        "evaluate compare select concat to_frame register errors ConformalPredictor Guarantee"
    )
    assert set(design.split()) <= set(plausibly.__all__)
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
