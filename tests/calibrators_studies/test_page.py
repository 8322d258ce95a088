"""docs/calibrators_measured.md shows what its script measures."""

from __future__ import annotations

from pathlib import Path

import pytest

from measure_calibrators import renewed, tables_of
from measured.tables import FULL, TABLES, Cell, Effort, Figure, shown
from studies_claims import IN_CI

REAL = sorted(set(TABLES) - {"shift", "pac", "ties"})
SIMULATED = sorted(set(TABLES) - set(REAL))
AGAIN = (
    Effort(splits=4, few=3, runs=10, many=30, seeds=6, sets=4)
    if IN_CI
    else Effort(splits=25, few=10, runs=50, many=200, seeds=20, sets=10)
)


@pytest.fixture(scope="module")
def page(project: Path) -> str:
    return (project / "docs" / "calibrators_measured.md").read_text(encoding="utf-8")


def check(shown_on_page: list[list[str]], measured: list[list[Cell]]) -> None:
    """Compare figures within what fewer repeats allow, and all else as it is."""
    assert len(shown_on_page) == len(measured)
    for line, found in zip(shown_on_page, measured, strict=True):
        assert len(line) == len(found), line
        for text, cell in zip(line, found, strict=True):
            if not isinstance(cell, Figure):
                assert text == cell
                continue
            # Few repeats know their own error badly: five of them, and a little more.
            allowed = 5 * cell.error + 5 * 10.0**-cell.digits
            assert abs(float(text) - cell.value) <= allowed, (line, str(cell))


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
@pytest.mark.parametrize("name", REAL)
def test_tables_of_real_data(page: str, shared: Path, name: str) -> None:
    check(tables_of(page)[name], TABLES[name](shared / "data", AGAIN))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
@pytest.mark.parametrize("name", SIMULATED)
def test_tables_of_simulated_examples(page: str, tmp_path: Path, name: str) -> None:
    pytest.importorskip("sklearn", reason="ratios are estimated by its logistic regression")
    check(tables_of(page)[name], TABLES[name](tmp_path, AGAIN))


def test_every_table_is_on_the_page(page: str) -> None:
    assert sorted(tables_of(page)) == sorted(TABLES)
    assert all(len(table) > 1 for table in tables_of(page).values())


def test_what_the_page_says_of_its_figures(page: str) -> None:
    """Sentences that quote figures, or compare them."""
    tables = tables_of(page)
    assert "100 random splits (40 where there are 10,000 examples or more)" in " ".join(
        page.split()
    )
    assert (FULL.splits, FULL.few, FULL.many) == (100, 40, 2000)
    band = next(row for row in tables["procedures"] if row[:2] == ["imagenet16h", "ecdf"])
    assert band[4:6] == ["1.000", "16.00"]
    held = [float(row[3]) for row in tables["shares"][1:]]
    assert all(0.6 < share < 0.76 for share in held)  # "two examples in three"
    cost = next(row for row in tables["patients"] if row[0].startswith("crema_d"))
    assert float(cost[3]) > float(cost[1])
    for delta, _, below in tables["pac"][1:]:
        assert float(below) <= float(delta) + 3.1 * (float(delta) / FULL.many) ** 0.5


def test_tables_are_renewed_below_their_marks(page: str) -> None:
    table = shown([["a", "b"], ["one", Figure(0.12345, 0.0)], ["two", Figure(3.0, 0.0, 2)]])
    assert table == "| a | b |\n| --- | --- |\n| one | 0.123 |\n| two | 3.00 |\n"
    again = renewed(page, {"ties": table})
    assert tables_of(again)["ties"] == [["a", "b"], ["one", "0.123"], ["two", "3.00"]]
    assert tables_of(again)["pac"] == tables_of(page)["pac"]
    before = shown([[*row] for row in tables_of(page)["ties"]])
    assert renewed(again, {"ties": before}) == page
