"""docs/evaluation.md, run: every block of Python, the command, and the names in its table."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

import cli_world
from plausibly import evaluation

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


@pytest.fixture
def page(project: Path) -> str:
    return (project / "docs" / "evaluation.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cli_world.make(tmp_path)
    monkeypatch.chdir(tmp_path)
    for words in (
        "calibrate -a votes.csv -p probabilities.csv -o predictor.nc",
        "predict predictor.nc -p new.csv -o sets.csv",
    ):
        assert cli_world.run(*words.split()).code == 0
    return tmp_path


def test_the_blocks_print_what_the_page_shows(page: str, folder: Path) -> None:
    blocks = [(found[0], found[1]) for found in _FENCE.findall(page)]
    names: dict[str, object] = {}
    for (language, text), after in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, "evaluation.md", "exec"), names)  # the page's own blocks
            assert after == ("text", out.getvalue())
        elif language == "console":
            ran = cli_world.run(*text.removeprefix("$ plausibly ").split())
            assert (ran.code, ran.err) == (0, "")
            assert "by label" in ran.out
    assert sum(language == "python" for language, _ in blocks) == 4


def test_functions_and_flags_of_the_table_are_there(page: str) -> None:
    table = page.partition("## What is measured")[2].partition("```")[0]
    rows = [row.split("|") for row in table.splitlines() if row.startswith("| ")][1:]
    flags = set(re.findall(r"--[a-z-]+|-p\b", cli_world.run("evaluate", "--help").out))
    functions = [name for row in rows for name in re.findall(r"`(\w+)`", row[2])]
    assert len(functions) > 12
    for name in functions:
        assert name in evaluation.__all__
    for row in rows:
        assert set(re.findall(r"--[a-z-]+|-p\b", row[3])) <= flags


def test_every_measure_is_on_the_page(page: str) -> None:
    measures = [
        name for name in evaluation.__all__ if name.startswith(("coverage_", "worst", "p_"))
    ]
    assert [name for name in measures if f"`{name}" not in page] == []
