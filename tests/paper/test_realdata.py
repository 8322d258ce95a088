"""The table of procedures on real ratings, against the figures that were measured before."""

from __future__ import annotations

from pathlib import Path

import pytest

import plausibly
from exact_realdata import load
from plausibly.paper import procedures

# Aggregated coverage and mean set size at alpha 0.1 over 100 random halves.
KNOWN = {
    "majority-vote": (0.756, 1.27),
    procedures.MANY: (0.900, 2.24),
    "expected": (0.900, 2.24),
    "maximum": (0.906, 2.32),
    "held-out-rank": (0.899, 2.24),
    procedures.ECDF: (0.950, 3.01),
}


@pytest.mark.realdata
def test_the_table_of_procedures(shared: Path, tmp_path: Path) -> None:
    predictions, plausibilities = load(shared, "crema_d")
    (one,) = plausibly.reproduce(
        "procedures",
        tmp_path,
        splits=6,
        predictions=predictions,
        plausibilities=plausibilities,
        name="crema_d",
    )
    numbers = one.numbers
    for method, (coverage, size) in KNOWN.items():
        row = numbers.sel({"method": method})
        # A few standard deviations of a mean over six splits.
        assert float(row["coverage"].mean()) == pytest.approx(coverage, abs=0.012)
        assert float(row["set_size"]) == pytest.approx(size, abs=0.25)
    spread = numbers["coverage_over_labels"].std("repetition", ddof=1)
    many, single = (float(spread.sel({"method": m})) for m in (procedures.MANY, procedures.ONE))
    assert many < single
    # The paper's level of Algorithm 2 is not what its band gives.
    assert one.claim.parts["Algorithm 2 at 0.8999"] is False
    table = (tmp_path / "procedures.csv").read_text(encoding="utf-8")
    assert table.splitlines()[1].startswith("crema_d")
