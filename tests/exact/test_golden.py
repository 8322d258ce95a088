"""The golden answers: ranks, thresholds, counts and sets bit for bit; p-values to the last unit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from math import inf, ulp
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

import plausibly
from exact_checks import combiner, p_values, pools_of, threshold_of
from exact_oracles import Rule, algorithm_rank, algorithm_threshold, drawn, table
from plausibly.kernels import coverage
from plausibly.kernels.coverage import Ties
from plausibly.kernels.ranks import order_statistic
from plausibly.kernels.types import Floats, Ints

from .pairs import given_draws

pytestmark = pytest.mark.realdata

AVERAGE = Rule("average")
BEYOND = "1.0"
"""The alpha of the two cases that only a rank can answer: public calls refuse it."""

Arrays: TypeAlias = dict[str, NDArray[Any]]  # Any: scores are floats, labels and counts are not
Case: TypeAlias = tuple[dict[str, str], Arrays]


def cases(shared: Path) -> Iterator[Case]:
    text = (shared / "golden" / "threshold_cases.json").read_text()
    arrays = np.load(shared / "golden" / "threshold_cases.npz", allow_pickle=False)
    for facts in json.loads(text, parse_float=str, parse_int=str):
        start = facts["name"] + "_"
        yield facts, {k.removeprefix(start): arrays[k] for k in arrays if k.startswith(start)}


def names(n: int, what: str = "case") -> list[str]:
    return [f"{what} {i}" for i in range(n)]


def one_hot(codes: Ints, labels: int) -> Floats:
    return np.eye(labels)[codes]


def test_there_are_twenty_six_cases(shared: Path) -> None:
    assert len(list(cases(shared))) == 26


def test_the_oracle_gives_the_golden_answers(shared: Path) -> None:
    for facts, arrays in cases(shared):
        n, m, alpha = int(facts["n"]), int(facts["m"]), Fraction(facts["alpha"])
        calibration = drawn(arrays["scores"].tolist(), arrays["labels"].tolist())
        assert algorithm_rank(alpha, m, n) == int(facts["k"])
        assert algorithm_threshold(calibration, alpha) == float(facts["tau"])


def test_ranks_thresholds_and_counts_of_the_kernels(shared: Path) -> None:
    for facts, arrays in cases(shared):
        m, alpha = int(facts["m"]), Fraction(facts["alpha"])
        calibration = drawn(arrays["scores"].tolist(), arrays["labels"].tolist())
        pools = pools_of(calibration, np.float32)
        average = combiner(AVERAGE)
        tau = threshold_of(average, pools, [], alpha)
        assert tau == float(facts["tau"]), facts
        assert tau == order_statistic(pools.pooled.ordered, int(facts["k"])), facts
        counts = pools.pooled.numerators(arrays["test"]) - m
        assert np.array_equal(counts, arrays["counts"])
        assert np.array_equal(arrays["test"] >= np.float32(tau), arrays["set"] == 1)
        by_p = p_values(average, pools, [], arrays["test"].tolist()) > float(alpha)
        assert np.array_equal(by_p, arrays["set"] == 1)


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_thresholds_and_sets_of_the_public_calls(shared: Path) -> None:
    seen = 0
    for facts, arrays in cases(shared):
        if facts["alpha"] == BEYOND:
            continue
        n, labels = arrays["scores"].shape
        columns = names(labels, "label")
        codes = arrays["labels"]
        inputs = given_draws(names(n), codes)
        predictor = plausibly.calibrate(
            table(arrays["scores"], names(n), columns),
            table(one_hot(codes[0], labels), names(n), columns).drop_attrs(),
            calibrator=inputs,
        )
        test = table(arrays["test"], names(len(arrays["test"]), "new"), columns)
        assert float(predictor.threshold(facts["alpha"])) == float(facts["tau"])
        sets = predictor.predict(test, facts["alpha"])
        assert np.array_equal(sets.values, arrays["set"] == 1)
        by_array = predictor.predict_array(arrays["test"], facts["alpha"])
        assert np.array_equal(by_array, arrays["set"] == 1)
        by_p = predictor.p_values(test) > float(facts["alpha"])
        assert np.array_equal(by_p.values, arrays["set"] == 1)
        seen += 1
    assert seen == 24


def test_alpha_one_leaves_nothing(shared: Path) -> None:
    beyond = [facts for facts, _ in cases(shared) if facts["alpha"] == BEYOND]
    assert [float(facts["tau"]) for facts in beyond] == [inf, inf]


def ecdf_cases(shared: Path) -> Iterator[Arrays]:
    arrays = np.load(shared / "golden" / "ecdf_cases.npz", allow_pickle=False)
    for name in ("e0", "e1"):
        start = name + "_"
        yield {k.removeprefix(start): arrays[k] for k in arrays if k.startswith(start)}


def within_ulps(values: Floats, exact: list[list[Fraction]], most: int) -> bool:
    """Return whether no value is more than `most` units in its last place from the exact one."""
    pairs = zip(values.ravel().tolist(), (p for row in exact for p in row), strict=True)
    return all(abs(Fraction(value) - p) <= most * Fraction(ulp(value)) for value, p in pairs)


@pytest.mark.parametrize(
    ("column", "rule"),
    [
        ("conformal_p", Rule("held-out-rank")),
        ("Fplus_delta0.5", Rule("ecdf", Fraction(1, 2))),
        ("Fplus_delta0.1", Rule("ecdf", Fraction(1, 10))),
        ("Fplus_delta0.0001", Rule("ecdf", Fraction(1, 10_000))),
    ],
)
def test_held_out_p_values(shared: Path, column: str, rule: Rule) -> None:
    for arrays in ecdf_cases(shared):
        calibration = drawn(arrays["cal_scores"].tolist(), arrays["cal_labels"].tolist())
        codes = arrays["est_labels"].astype(int)
        held = arrays["est_scores"][np.arange(len(codes)), codes].tolist()
        rhos = [calibration.mean(s) for s in held]
        test = arrays["test"].tolist()
        exact = [[rule.p(calibration, rhos, s) for s in row] for row in test]
        # The golden sums with the band were made in doubles: 1.32 units off at worst.
        assert within_ulps(arrays[column], exact, most=2)
        values = p_values(combiner(rule), pools_of(calibration, np.float32), held, test)
        assert within_ulps(values, exact, most=1)


def test_the_plain_empirical_distribution(shared: Path) -> None:
    """The golden F is the share that the band is added to."""
    for arrays in ecdf_cases(shared):
        calibration = drawn(arrays["cal_scores"].tolist(), arrays["cal_labels"].tolist())
        codes = arrays["est_labels"].astype(int)
        rhos = [
            calibration.mean(float(row[k]))
            for row, k in zip(arrays["est_scores"], codes, strict=True)
        ]
        exact = [
            [Fraction(sum(rho <= calibration.mean(s) for rho in rhos), len(rhos)) for s in row]
            for row in arrays["test"].tolist()
        ]
        assert within_ulps(arrays["F"], exact, most=1)


def test_coverage(shared: Path) -> None:
    golden = np.load(shared / "golden" / "coverage_cases.npz", allow_pickle=False)
    plausibilities, sets = golden["plausibilities"], golden["sets"].astype(bool)
    measured = coverage.aggregated(sets, plausibilities)
    exact = [
        sum(map(Fraction, row[inside].tolist()), Fraction(0))
        for row, inside in zip(plausibilities, sets, strict=True)
    ]
    assert within_ulps(measured[:, None], [[value] for value in exact], most=1)
    np.testing.assert_array_max_ulp(measured, golden["aggregated"], maxulp=1)
    by_ties: dict[str, Ties] = {
        "voted_first": "first",
        "voted_any": "any",
        "voted_all": "all",
        "voted_mean": "fractional",
    }
    for key, ties in by_ties.items():
        votes = coverage.majority_vote(sets, plausibilities, ties)
        np.testing.assert_array_max_ulp(votes, golden[key], maxulp=1)
