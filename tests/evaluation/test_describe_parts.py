"""The further measures in words: long names, silent labels, many rows, losses."""

from __future__ import annotations

import numpy as np
import xarray as xr

import eval_oracles as oracle
from eval_parts import case
from plausibly.evaluation import ByCoordinate, ByRisk, coverage_by, describe_coverage
from plausibly.evaluation.groups import SUBGROUP
from plausibly.evaluation.result import decimal, ends, part_rows
from plausibly.evaluation.risk import LEVEL

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


def test_many_subgroups_show_the_weakest() -> None:
    sets = SETS.assign_coords(ward=("example", np.arange(120) // 6))
    found = coverage_by(sets, LAM, by=ByCoordinate("ward", at_least=1))
    lines = describe_coverage(found)
    assert lines[0] == "by ward (lowest 8 of 20 groups, intervals widened for all)"
    assert len(lines) == 10
    first = found["subgroup"].values[int(np.argmin(found["aggregated_coverage_high"].values))]
    assert lines[2].startswith(f"  {first} ") or first in lines[2]


def test_names_that_are_too_long_for_the_page_end_in_dots() -> None:
    sets = SETS.assign_coords(site=("example", np.where(np.arange(120) < 60, "n" * 90, "s")))
    found = coverage_by(sets, LAM, by="site")
    lines = describe_coverage(found)
    assert max(map(len, lines)) <= 80
    assert any(line.endswith("n…") for line in lines)


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
