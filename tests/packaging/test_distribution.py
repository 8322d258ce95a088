"""Contents and metadata of the wheel and the source distribution."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

import plausibly
import plausibly_builtins
from imports import imports_of, modules

PROJECT = Path(__file__).resolve().parents[2]
FOLDERS = ("framework", "plugins", "tests", "docs", "scripts", ".ci")

# Any: what a TOML file holds.
DECLARED: Mapping[str, Any] = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))
EXTRAS: Mapping[str, list[str]] = DECLARED["project"]["optional-dependencies"]

# Modules that nothing imports but the library that they are for.
FOR_ONE_LIBRARY = ("plausibly.testing.pytest", "plausibly.sklearn.")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the wheel and the source distribution of this tree, built as pip would."""
    folder = tmp_path_factory.mktemp("dist")
    code = (
        "from hatchling.build import build_sdist, build_wheel;"
        f"build_wheel({str(folder)!r}); build_sdist({str(folder)!r})"
    )
    subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Iterator[ZipFile]:
    (path,) = built.glob("*.whl")
    with ZipFile(path) as archive:
        yield archive


def files_in(*folders: Path) -> list[Path]:
    """Return the files below these folders, but for what tools leave behind."""
    return [
        path
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not any(
            part.startswith((".", "__pycache__")) for part in path.relative_to(folder).parts
        )
    ]


def test_every_file_of_the_packages_is_in_the_wheel(wheel: ZipFile) -> None:
    inside = {name for name in wheel.namelist() if not re.search(r"\.(dist-info|data)/", name)}
    source = {
        path.relative_to(root).as_posix()
        for root in (PROJECT / "framework", PROJECT / "plugins")
        for path in files_in(root)
    }
    assert inside == source
    assert {"plausibly/py.typed", "plausibly_builtins/py.typed"} <= inside


def names_of(requirements: Sequence[str]) -> set[str]:
    """Return the names of distributions, in lower case, with dashes."""
    names = (re.match(r"[\w.-]+", requirement) for requirement in requirements)
    return {match[0].lower().replace("_", "-") for match in names if match}


def test_what_the_code_imports_is_declared() -> None:
    core = names_of(DECLARED["project"]["dependencies"])
    optional = {name for lines in EXTRAS.values() for name in names_of(lines)}
    homes = packages_distributions()
    undeclared = []
    for module, path in modules(PROJECT).items():
        for used in imports_of(path.read_text("utf-8"), module):
            package = used.module.split(".")[0]
            known = {*sys.stdlib_module_names, "plausibly", "plausibly_builtins"}
            if used.unseen or package in known:
                continue
            late = used.deferred or module.startswith(FOR_ONE_LIBRARY)
            if not names_of(homes[package]) & (core | optional if late else core):
                undeclared.append(f"{module} line {used.line}: {package}")
    assert not undeclared


def test_an_extra_that_a_message_names_exists() -> None:
    named = {
        extra
        for path in modules(PROJECT).values()
        for extra in re.findall(r"\bextra=\"([\w-]+)\"", path.read_text("utf-8"))
    }
    assert named
    assert named <= set(EXTRAS)


def test_the_source_distribution_can_be_tested(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "tox.ini",
        "tests/conftest.py",
        "docs/architecture.md",
        "scripts/derive_lidc.py",
        "framework/plausibly/py.typed",
        "plugins/plausibly_builtins/py.typed",
    } <= inside


@pytest.mark.skipif("TOX_ENV_NAME" not in os.environ, reason="outside tox the tree is installed")
def test_tests_see_the_wheel_and_not_the_tree() -> None:
    for package in (plausibly, plausibly_builtins):
        assert PROJECT / "framework" not in Path(str(package.__file__)).parents
        assert PROJECT / "plugins" not in Path(str(package.__file__)).parents
        assert "site-packages" in Path(str(package.__file__)).parts


def test_no_path_of_a_machine_and_no_package_host_stands_in_the_project() -> None:
    places = "|".join(("work", "root", "home", "tmp"))
    pattern = re.compile(rf"(?:^|[^\w.])/(?:{places})/|index-{'url'}|{'file'}:///", re.MULTILINE)
    beside = [path for path in PROJECT.iterdir() if path.is_file() and path.name[0] != "."]
    machines = []
    for path in (*beside, *files_in(*(PROJECT / folder for folder in FOLDERS))):
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        machines += [f"{path.relative_to(PROJECT)}: {match[0]}" for match in pattern.finditer(text)]
    assert not machines
