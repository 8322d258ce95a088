"""The further measures in words: long names, silent labels, many rows, losses."""

from __future__ import annotations

import numpy as np
import xarray as xr

from plausibly.evaluation import ByRisk, coverage_by, describe_coverage
from plausibly.evaluation.groups import SUBGROUP
from plausibly.evaluation.result import decimal, ends, part_rows
from plausibly.evaluation.risk import LEVEL

from . import studies as oracle
from .parts import case

SETS, LAM = case()


def test_many_labels_show_those_that_are_covered_least() -> None:
    sets, lam = oracle.case(60, 20, votes=3)
    values = lam.values.copy()
    values[:, 1] += values[:, 0]
    values[:, 0] = 0
    found = coverage_by(sets, lam.copy(data=values), by="label")
    lines = describe_coverage(found)
    assert lines[0].startswith("by label: 12 of 19  ")
    assert len(lines) == 1 + 12 + 1
    assert lines[-1] == "  1 labels without an answer"
    order = np.argsort(found["covered_high"].values[1:], kind="stable")[:12] + 1
    assert [line.split()[0] for line in lines[1:-1]] == [f"l{place}" for place in order]


def test_risks_that_are_numbers_have_a_loss() -> None:
    found = coverage_by(SETS, LAM, by=ByRisk("cost"))
    last = describe_coverage(found)[-1]
    mean, low, high = (float(found[f"risk_missed_{end}"]) for end in ("mean", "low", "high"))
    assert last == f"mean risk per example: {decimal(mean)} ({ends(low, high)})"
    assert part_rows(found, LEVEL)[0]["risk_missed"] == {
        "mean": mean,
        "low": low,
        "high": high,
    }


def test_rows_as_data() -> None:
    sets, lam = case(alphas=(0.1, 0.3))
    found = coverage_by(sets, lam, by="site")
    rows = part_rows(found, SUBGROUP)
    assert [(row["alpha"], row["subgroup"]) for row in rows] == [
        (0.1, "site north"),
        (0.1, "site south"),
        (0.3, "site north"),
        (0.3, "site south"),
    ]
    figures = rows[3]["aggregated_coverage"]
    assert isinstance(figures, dict)
    assert figures["low"] == float(found["aggregated_coverage_low"].sel(alpha=0.3)[1])
    assert rows[0]["weakest"] == found["weakest"].values[0]
    plain = xr.Dataset({"mean_age": 3.0, "x_mean": 2.0, "x_low": 1.0, "x_high": 4.0})
    assert part_rows(plain) == [{"mean_age": 3.0, "x": {"mean": 2.0, "low": 1.0, "high": 4.0}}]
