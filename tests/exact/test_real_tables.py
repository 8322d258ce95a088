"""Real data: calibrated on votes, sets fall short of the answers; on all answers they do not.

Half splits at alpha 0.1 of six data sets, and the table of the design beside what was measured.
The everyday form takes a few splits; all hundred are marked `slow`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
import xarray as xr

import plausibly
from exact_oracles import NAMES, load

pytestmark = [
    pytest.mark.realdata,
    pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning"),
]

CORE: Mapping[str, Mapping[str, object]] = {
    "majority-vote": {"calibrator": "majority-vote"},
    "monte-carlo, average": {"calibrator": "monte-carlo", "draws": 10},
    "expected": {"calibrator": "expected"},
}
ALL: Mapping[str, Mapping[str, object]] = {
    **CORE,
    "maximum": {"calibrator": "monte-carlo", "draws": 10, "combiner": "maximum"},
    "held-out-rank": {"calibrator": "monte-carlo", "draws": 10, "combiner": "held-out-rank"},
    "ecdf": {"calibrator": "monte-carlo", "draws": 10, "combiner": {"name": "ecdf", "delta": 1e-4}},
}

# Aggregated coverage and mean set size over 100 random halves (DESIGN, section 3).
DESIGN: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "crema_d": {
        "majority-vote": (0.756, 1.27),
        "monte-carlo, average": (0.900, 2.24),
        "expected": (0.900, 2.24),
        "maximum": (0.906, 2.32),
        "held-out-rank": (0.899, 2.24),
        "ecdf": (0.950, 3.01),
    },
    "imagenet16h": {
        "majority-vote": (0.816, 1.88),
        "monte-carlo, average": (0.902, 4.23),
        "expected": (0.902, 4.23),
        "maximum": (0.915, 4.83),
        "held-out-rank": (0.901, 4.25),
        "ecdf": (1.000, 16.0),
    },
    "lidc_malignancy": {
        "majority-vote": (0.857, 2.22),
        "monte-carlo, average": (0.900, 2.52),
        "expected": (0.899, 2.51),
        "maximum": (0.913, 2.63),
        "held-out-rank": (0.901, 2.53),
        "ecdf": (1.000, 5.0),
    },
}

# Spread of the aggregated coverage over splits of crema_d.
SPREADS = {
    "monte-carlo, average": 0.0030,
    "expected": 0.0027,
    "maximum": 0.0037,
    "held-out-rank": 0.0071,
}

Measured = dict[str, tuple[float, float, float]]


@cache
def measured(shared: Path, name: str, splits: int) -> Measured:
    """Return mean and spread of the aggregated coverage, and the mean set size, by method."""
    predictions, plausibilities = load(shared, name)
    methods = ALL if name in DESIGN else CORE
    study = plausibly.compare(
        predictions, plausibilities, methods, alphas=["0.1"], splits=splits, seed=1
    ).data
    return {method: numbers(study, method) for method in methods}


def numbers(study: xr.Dataset, method: str) -> tuple[float, float, float]:
    # In words, since sel(method=...) means something else to xarray.
    item = study.sel({"method": method}).isel(alpha=0)
    coverage = item["aggregated_coverage"]
    return float(coverage.mean()), float(coverage.std(ddof=1)), float(item["set_size"].mean())


def shown(name: str, splits: int, result: Measured) -> str:
    """Return the table of a data set, with the figures of the design beside it."""
    lines = [f"{name}, {splits} half splits, alpha 0.1    coverage  spread   size   design"]
    for method, (coverage, spread, size) in result.items():
        design = DESIGN.get(name, {}).get(method)
        beside = f"{design[0]:.3f} / {design[1]:.2f}" if design else "-"
        lines.append(f"  {method:<36} {coverage:8.3f} {spread:8.4f} {size:6.2f}   {beside}")
    return "\n".join(lines)


def check(name: str, result: Measured, *, near: float) -> None:
    """Raise AssertionError where a figure is not what theory and the design say."""
    assert result["majority-vote"][0] < 0.89, name
    for method in ("monte-carlo, average", "expected"):
        assert abs(result[method][0] - 0.90) <= 0.01, (name, method)
    assert abs(result["monte-carlo, average"][0] - result["expected"][0]) < 0.003
    assert result["majority-vote"][2] < result["expected"][2]
    for method, (coverage, size) in DESIGN.get(name, {}).items():
        assert abs(result[method][0] - coverage) <= near, (name, method)
        assert abs(result[method][2] - size) <= 10 * near * size, (name, method)


def a_few(name: str) -> int:
    """Return how many splits the everyday form can afford: fewer of the large data sets."""
    return 10 if name in ("sleep_dodh", "cifar10h", "crema_d") else 30


@pytest.mark.parametrize("name", NAMES)
def test_votes_fall_short_and_all_answers_do_not(shared: Path, name: str) -> None:
    splits = a_few(name)
    result = measured(shared, name, splits)
    print(shown(name, splits, result))  # noqa: T201  # pytest shows it with -s and on failure
    check(name, result, near=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_hundred_splits_of_the_design(shared: Path, name: str) -> None:
    result = measured(shared, name, 100)
    print(shown(name, 100, result))  # noqa: T201  # as above
    check(name, result, near=0.005)
    if name == "crema_d":
        for method, spread in SPREADS.items():
            assert abs(result[method][1] - spread) <= 0.25 * spread, method
