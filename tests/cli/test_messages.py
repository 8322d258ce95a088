"""What a message tells people to type exists: every flag in every message of the project."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from cli_world import run, typed

READS_ANNOTATIONS = ("aggregate", "calibrate", "evaluate")
READS_PREDICTIONS = ("calibrate", "predict")


def options(command: str) -> set[str]:
    """Return the long options of a command, as its help shows them."""
    return set(re.findall(r"--[a-z][a-z-]*", typed(command, "--help").out))


def commands(group: str = "") -> Iterator[str]:
    """Yield the empty name, and the name of every command and group, as their helps list them."""
    yield group
    listed = run(*group.split(), "--help").out.partition("\nCommands:\n")[2]
    for name in re.findall(r"^  ([a-z]+) ", listed, re.M):
        yield from commands(f"{group} {name}".strip())


def folders() -> Iterator[Path]:
    for package in ("plausibly", "plausibly_builtins"):
        spec = find_spec(package)
        assert spec is not None
        assert spec.submodule_search_locations
        yield Path(spec.submodule_search_locations[0])


def told(path: Path) -> set[str]:
    """Return the flags in the texts of a module, docstrings and comments aside."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    texts = (
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    )
    return {flag for text in texts for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)}


def modules() -> list[Path]:
    return sorted(path for folder in folders() for path in folder.rglob("*.py"))


def test_flags_in_messages_exist() -> None:
    every = set(commands())
    assert {"demo", "aggregate", "calibrate", "predict", "evaluate", "plugins list"} <= every
    of_pip = {"--upgrade"}
    known = of_pip.union(*map(options, every))
    found = {path.name: sorted(told(path) - known) for path in modules() if told(path) - known}
    assert found == {}


@pytest.mark.parametrize(
    ("place", "where"),
    [
        ("plausibly/io/arrays.py", READS_PREDICTIONS),
        ("plausibly/data/validate.py", READS_PREDICTIONS),
        ("plausibly/data/named.py", READS_PREDICTIONS),
        ("plausibly/data/rows.py", READS_ANNOTATIONS),
        ("plausibly/io/annotations.py", READS_ANNOTATIONS),
        ("plausibly/io/hints.py", READS_ANNOTATIONS),
        ("plausibly_builtins/readers/crowd_table.py", READS_ANNOTATIONS),
        ("plausibly_builtins/readers/counts.py", READS_ANNOTATIONS),
        ("plausibly_builtins/readers/selectors.py", READS_ANNOTATIONS),
        ("plausibly/data/align.py", ("calibrate", "evaluate")),
        ("plausibly/conformal/array_predictor.py", READS_PREDICTIONS),
        ("plausibly/calibration/alphas.py", READS_PREDICTIONS),
        ("plausibly/evaluation/describe.py", ("evaluate",)),
    ],
)
def test_flags_exist_where_the_message_comes_up(place: str, where: tuple[str, ...]) -> None:
    (path,) = (path for path in modules() if path.as_posix().endswith(f"/{place}"))
    flags = told(path)
    assert flags
    for command in where:
        # --kind of `plugins list` is told of too.
        assert flags - options(command) <= {"--kind"}, command


def test_every_option_is_documented() -> None:
    for command in commands():
        text = run(command, "--help").out
        block = text.partition("Options:\n")[2].partition("\n\n")[0]
        bare = re.findall(r"^  (-\S.*\S)\n(?!   )", block + "\n", re.M)
        assert [line for line in bare if "  " not in line] == []
