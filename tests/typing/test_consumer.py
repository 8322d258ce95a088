"""A type checker that has nothing but the installed wheel: what is right passes, what is wrong is
an error on its line."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from template_world import Environment, installed

__all__ = ["installed"]

CONSUMER = Path(__file__).parent / "consumer"
MODULES = sorted(CONSUMER.glob("*.py"))

Errors = set[tuple[str, int, str]]


def expected(*modules: Path) -> Errors:
    """Return file, line and code of every error that a comment announces."""
    return {
        (path.name, number, announced[1])
        for path in modules
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if (announced := re.search(r"# error: ([a-z-]+)$", line))
    }


def errors_in(text: str) -> Errors:
    """Return file, line and code of every error that mypy printed."""
    errors = re.findall(r"^(\S+?):(\d+): error: .*\[([a-z-]+)\]$", text, re.MULTILINE)
    assert len(errors) == text.count(": error: "), text
    return {(name, int(number), code) for name, number, code in errors}


@pytest.fixture(scope="module")
def checked(installed: Environment, tmp_path_factory: pytest.TempPathFactory) -> Errors:
    """Output of mypy on a copy of the modules, outside of the project."""
    folder = tmp_path_factory.mktemp("consumer")
    for path in MODULES:
        shutil.copy(path, folder)
    names = [path.name for path in MODULES]
    return errors_in(installed.mypy("--strict", "--config-file=", *names, cwd=folder, code=1).out)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_every_line_is_as_it_says(checked: Errors, path: Path) -> None:
    here = {error for error in checked if error[0] == path.name}
    assert here == expected(path)


def test_the_types_are_those_of_the_wheel(installed: Environment, tmp_path: Path) -> None:
    (tmp_path / "where.py").write_text("import plausibly\nimport plausibly.plugin\n")
    ran = installed.mypy("--strict", "--config-file=", "-v", "where.py", cwd=tmp_path)
    (place,) = set(
        re.findall(r"(\S+plausibly.plugin.__init__\.pyi?)\b", ran.err.replace("\\", "/"))
    )
    assert Path(place).is_relative_to(installed.folder)
