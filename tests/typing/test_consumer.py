"""A type checker that has nothing but the installed wheel: what is right passes, what is wrong is
an error on its line."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from cli_world import Ran
from template_world import Environment, installed

__all__ = ["installed"]

CONSUMER = Path(__file__).parent / "consumer"
MODULES = sorted(CONSUMER.glob("*.py"))


def expected(path: Path) -> set[tuple[int, str]]:
    """Return line and code of every error that a comment announces."""
    return {
        (number, announced[1])
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if (announced := re.search(r"# error: ([a-z-]+)$", line))
    }


@pytest.fixture(scope="module")
def checked(installed: Environment, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Output of mypy on a copy of the modules, outside of the project."""
    folder = tmp_path_factory.mktemp("consumer")
    for path in MODULES:
        shutil.copy(path, folder)
    names = [path.name for path in MODULES]
    return installed.mypy("--strict", "--config-file=", "-v", *names, cwd=folder, code=1)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_every_line_is_as_it_says(checked: Ran, path: Path) -> None:
    lines = re.findall(r"^(\S+?):(\d+): error: .*\[([a-z-]+)\]$", checked.out, re.MULTILINE)
    assert len(lines) == checked.out.count(": error: "), checked.out
    errors = {(int(number), code) for name, number, code in lines if name == path.name}
    assert errors == expected(path)


def test_the_types_are_those_of_the_wheel(checked: Ran, installed: Environment) -> None:
    read = checked.err.replace("\\", "/")
    (place,) = set(re.findall(r"(\S+plausibly.plugin.__init__\.pyi?)\b", read))
    assert Path(place).is_relative_to(installed.folder)
