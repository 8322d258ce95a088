"""The page about agreement lists every measure."""

from __future__ import annotations

from pathlib import Path

import plausibly
from agreement_oracles import table
from methods_page import tables


def test_every_measure_is_on_the_page(project: Path) -> None:
    (_, *rows) = tables(project / "docs" / "agreement.md")[0]
    shown = {name.strip("` ") for cells in rows for name in cells[0].split(",")}
    single = plausibly.agreement(table([("e", w, "a") for w in "xy"]), order=["a"]).data
    sets = plausibly.agreement(table([("e", w, ["a"]) for w in "xy"], kind="label-set")).data
    ranks = plausibly.agreement(table([("e", w, ["a"]) for w in "xy"], kind="partial-ranking")).data
    assert shown == {str(name) for one in (single, sets, ranks) for name in one["measure"].values}
