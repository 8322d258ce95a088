"""docs/calibrators_measured.md shows what its script measures."""

from __future__ import annotations

from pathlib import Path

import pytest

from measure_calibrators import renewed, tables_of
from measured.tables import TABLES, Cell, Effort, Figure, shown

AGAIN = Effort(splits=4, few=3, runs=10, many=30, seeds=6, sets=4)


@pytest.fixture(scope="module")
def page(project: Path) -> str:
    return (project / "docs" / "calibrators_measured.md").read_text(encoding="utf-8")


def check(shown_on_page: list[list[str]], measured: list[list[Cell]]) -> None:
    """Compare figures within what fewer repeats allow, and all else as it is."""
    assert len(shown_on_page) == len(measured)
    for line, result in zip(shown_on_page, measured, strict=True):
        assert len(line) == len(result), line
        for text, cell in zip(line, result, strict=True):
            if not isinstance(cell, Figure):
                assert text == cell
                continue
            # Few repeats know their own error badly: five of them, and a little more.
            allowed = 5 * cell.error + 5 * 10.0**-cell.digits
            assert abs(float(text) - cell.value) <= allowed, (line, str(cell))


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
@pytest.mark.parametrize("name", TABLES)
def test_tables_are_those_that_are_measured(page: str, shared: Path, name: str) -> None:
    pytest.importorskip("sklearn", reason="ratios are estimated by its logistic regression")
    check(tables_of(page)[name], TABLES[name](shared / "data", AGAIN))


def test_every_table_is_on_the_page(page: str) -> None:
    assert sorted(tables_of(page)) == sorted(TABLES)
    assert all(len(table) > 1 for table in tables_of(page).values())


def test_tables_are_renewed_below_their_marks(page: str) -> None:
    table = shown([["a", "b"], ["one", Figure(0.12345, 0.0)], ["two", Figure(3.0, 0.0, 2)]])
    assert table == "| a | b |\n| --- | --- |\n| one | 0.123 |\n| two | 3.00 |\n"
    again = renewed(page, {"ties": table})
    assert tables_of(again)["ties"] == [["a", "b"], ["one", "0.123"], ["two", "3.00"]]
    assert tables_of(again)["pac"] == tables_of(page)["pac"]
    before = shown([[*row] for row in tables_of(page)["ties"]])
    assert renewed(again, {"ties": before}) == page
