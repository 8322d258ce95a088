"""docs/evaluation.md: the names in its table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cli_world
from plausibly import evaluation


@pytest.fixture
def page(project: Path) -> str:
    return (project / "docs" / "evaluation.md").read_text(encoding="utf-8")


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
