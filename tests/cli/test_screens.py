"""The screens of each command for a small made world, one file per command in ``screens``.

A file holds command lines after ``$``, each with its exit code where that is not 0 and with what it
prints; command lines after ``#`` run before them. Lines after ``@`` edit, write or show a file, or
begin again. Sizes of files, versions and times depend on the machine and are replaced. With
``PLAUSIBLY_WRITE_NETS`` set the files are written instead.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from cli_calibrators import make
from cli_world import World, make as make_plain, typed
from plausibly.cli.app import SUMMARIES
from study_world import WHOLE

SCREENS = sorted((Path(__file__).parent / "screens").glob("*.txt"))
VARIES = {
    r"\d+(\.\d+)? [kM]?B\b": "SIZE",
    r"\b\d+\.\d+ s\b": "TIME",
    r"\b\d+\.\d+\.\d+\S*": "VERSION",
    r"environment\s+of\s+\S+": "environment of PYTHON",
}


def act(world: World, action: str, *words: str) -> list[str]:
    """Do what a line after ``@`` says, and return what it shows."""
    words = tuple(word.replace("\\n", "\n") for word in words)
    if action == "again":
        for path in world.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        make_plain(world.folder)
    elif action == "show":
        return [*world.path(words[0]).read_text("utf-8").rstrip().splitlines(), ""]
    else:
        assert action in {"edit", "replace", "write"}
        getattr(world, action)(*words)
    return []


def files(world: World) -> dict[str, bytes]:
    """Return the files of the folder by their paths; a folder in it has no bytes."""
    every = world.folder.rglob("*")
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in every}


def screen(text: str, world: World) -> str:
    """Return a file of screens with its commands run again."""
    shown: list[str] = []
    for line in text.splitlines():
        if line.startswith("@ "):
            shown += [line, *act(world, *shlex.split(line[2:]))]
        elif line.startswith("# plausibly "):
            ran = typed(line.removeprefix("# plausibly "))
            assert ran.code == 0, ran.err
            shown.append(line)
        elif line.startswith("$ plausibly"):
            before = files(world)
            ran = typed(line.removeprefix("$ plausibly"))
            assert ran.width <= 80 or "--json" in line
            if ran.code == 2 or "--dry-run" in line:
                assert files(world) == before
            printed = ran.out + ran.err
            for pattern, name in VARIES.items():
                printed = re.sub(pattern, name, printed)
            code = [f"exit code {ran.code}"] if ran.code else []
            shown += [line, *code, *(item.rstrip() for item in printed.rstrip().splitlines()), ""]
    return "\n".join(shown).rstrip() + "\n"


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
@pytest.mark.parametrize("path", SCREENS, ids=lambda path: path.stem)
def test_screens_are_as_recorded(world: World, path: Path) -> None:
    if path.stem == "calibrators":
        make(world.folder)
    world.write("study.toml", WHOLE)
    recorded = path.read_text(encoding="utf-8")
    result = screen(recorded, world)
    if os.environ.get("PLAUSIBLY_WRITE_NETS"):
        path.write_text(result, encoding="utf-8")
    assert result.splitlines() == path.read_text(encoding="utf-8").splitlines()


def test_every_command_has_its_screens() -> None:
    names = {path.stem for path in SCREENS}
    assert SUMMARIES.keys() <= names
