"""Plackett-Luce: chances of blocks against sums over orders, and the maximum against scipy."""

from __future__ import annotations

import json
import math
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize

import labelled_records as lr
import plausibly
import rankings_oracles as ro
from plausibly.kernels.random import Keys
from plausibly_builtins.partial_ranking.plackett_luce import PlackettLuce, log_chances, moments
from plausibly_builtins.single_label.votes import SingleLabel
from refusals import refused, warned

utilities = st.lists(st.floats(-40.0, 40.0), min_size=1, max_size=6)


@given(utilities)
def test_every_order_is_counted_once(phi: list[float]) -> None:
    result = log_chances(np.array([phi]))[0]
    assert result == pytest.approx(ro.every_order(phi, 1.0), rel=1e-13, abs=1e-14)


@given(st.lists(st.floats(-20.0, 20.0), min_size=7, max_size=10))
def test_large_blocks_by_what_is_left(phi: list[float]) -> None:
    result = log_chances(np.array([phi]))[0]
    assert result == pytest.approx(ro.by_subsets(phi, 1.0), rel=1e-12, abs=1e-13)


def test_utilities_that_are_no_floats() -> None:
    """Far below or above all others, as logarithms: nothing overflows."""
    at = np.array([[-2000.0, 50.0], [2000.0, 1500.0], [-900.0, -900.0]])
    log_chance, gradient, curvature = moments(at)
    assert log_chance == pytest.approx([-2000.0, 0.0, math.log(2.0) - 1800.0], rel=1e-9)
    assert np.isfinite(curvature).all()
    assert gradient == pytest.approx(np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]), abs=1e-9)


@pytest.mark.parametrize("size", [2, 5, 10, 32, 200])
def test_equal_utilities_in_closed_form(size: int) -> None:
    """Of b + 1 labels of one utility, the one below is last with chance 1 / (b + 1)."""
    result = log_chances(np.zeros((1, size)))[0]
    assert result == pytest.approx(-math.log(size + 1), rel=1e-13)
    tiny = log_chances(np.full((1, size), -300.0))[0]
    assert tiny == pytest.approx(math.lgamma(size + 1) - 300.0 * size, rel=1e-13)


@given(st.lists(st.floats(-6.0, 6.0), min_size=1, max_size=5))
def test_derivatives(phi: list[float]) -> None:
    at, step = np.array([phi]), 1e-5
    log_chance, gradient, curvature = moments(at)
    assert log_chance == pytest.approx(log_chances(at), abs=1e-14)
    for place in range(len(phi)):
        off = np.zeros_like(at)
        off[0, place] = step
        slope = (log_chances(at + off) - log_chances(at - off)) / (2 * step)
        assert gradient[:, place] == pytest.approx(slope, abs=1e-8)
        bend = (moments(at + off)[1] - moments(at - off)[1]) / (2 * step)
        assert curvature[:, place] == pytest.approx(bend, abs=1e-8)


def test_many_blocks_are_each_what_they_are_alone() -> None:
    phi = np.random.default_rng(3).normal(size=(500, 4)) * 5
    together = moments(phi)
    for at in (0, 17, 499):
        alone = moments(phi[at : at + 1])
        for one, of_many in zip(alone, together, strict=True):
            assert np.array_equal(one[0], of_many[at])


Parameter: TypeAlias = Any  # by its name; what checks it is the component
KEYS = Keys(0, "aggregator")
LABELS = ["b", "Ä", "a", "0"]


def fitted(
    answers: list[tuple[float, ro.Ranking]], unlisted: str = "excluded", **params: Parameter
) -> dict[str, float]:
    annotations = ro.table({"e": answers}, LABELS, unlisted=unlisted)
    result = PlackettLuce(**params).aggregate(annotations, KEYS)
    return dict(zip(LABELS, result.values[0].tolist(), strict=True))


@settings(max_examples=25)
@given(
    answers=st.lists(
        st.tuples(st.sampled_from([1.0, 2.0, 0.5]), lr.rankings()), min_size=1, max_size=4
    ),
    excluded=st.booleans(),
    prior=st.sampled_from([0.2, 0.5, 3.0]),
)
def test_no_other_utilities_are_as_likely(
    answers: list[tuple[float, ro.Ranking]], excluded: bool, prior: float
) -> None:
    unlisted = "excluded" if excluded else "unknown"
    annotations = ro.table({"e": answers}, lr.LABELS, unlisted=unlisted)
    result = PlackettLuce(prior=prior).aggregate(annotations, KEYS).values[0]
    support = sorted({label for _, ranking in answers for block in ranking for label in block})
    assert {lr.LABELS[k] for k in np.flatnonzero(result)} == set(support)

    def lost(phi: ro.Column) -> float:
        logs = phi - np.logaddexp.reduce(phi)
        named = dict(zip(support, logs.tolist(), strict=True))
        return -ro.log_likelihood(answers, named, excluded=excluded) - prior * float(logs.sum())

    ours = np.log([result[lr.LABELS.index(label)] for label in support])
    best = minimize(lost, np.zeros(len(support)), method="BFGS", options={"gtol": 1e-6})
    theirs = np.exp(best.x - np.logaddexp.reduce(best.x))
    assert np.exp(ours) == pytest.approx(theirs, abs=2e-5)
    assert lost(ours) <= float(best.fun) + 1e-9


def test_one_ranking_in_closed_form() -> None:
    for prior in (0.1, 0.5, 1.0):
        result = fitted([(1.0, [["a"], ["b"]])], prior=prior)
        assert result["a"] == pytest.approx((1 + prior) / (1 + 2 * prior), rel=1e-12)
        assert result["a"] + result["b"] == pytest.approx(1.0, abs=1e-15)
    assert fitted([(1.0, [["a"]])])["a"] == 1.0
    # a tie with nothing below it says nothing
    assert fitted([(5.0, [["a", "b"]])]) == pytest.approx({"a": 0.5, "b": 0.5, "Ä": 0, "0": 0})


def test_votes_in_closed_form() -> None:
    votes = [("e", f"r{at}", label) for at, label in enumerate("aaabbÄ")]
    annotations = SingleLabel().build(votes, LABELS)
    result = PlackettLuce(prior=0.25).aggregate(annotations, KEYS).sel(example="e")
    expected = {"a": 3.25, "b": 2.25, "Ä": 1.25, "0": 0.0}
    for label, count in expected.items():
        assert float(result.sel(label=label)) == pytest.approx(count / 6.75, rel=1e-12)
    frequency = plausibly.aggregate(annotations, "label-frequency")
    likely = PlackettLuce(prior=1e-12).aggregate(annotations, KEYS)
    assert likely.values == pytest.approx(frequency.values, abs=1e-9)


def test_labels_that_nobody_names() -> None:
    """With k others of prior p each, or one, votes have a closed form again."""
    answers: list[tuple[float, ro.Ranking]] = [(3.0, [["a"]]), (1.0, [["b"]])]
    nothing = fitted(answers, unmentioned="nothing")
    assert (nothing["Ä"], nothing["0"]) == (0.0, 0.0)
    together = fitted(answers, unmentioned="together")
    assert together["a"] == pytest.approx(3.5 / 5.5, rel=1e-12)
    assert together["Ä"] == together["0"] == pytest.approx(0.25 / 5.5, rel=1e-10)
    each = fitted(answers, unmentioned="each")
    assert each["a"] == pytest.approx(3.5 / 6.0, rel=1e-12)
    assert each["Ä"] == each["0"] == pytest.approx(0.5 / 6.0, rel=1e-10)
    # where what is not named is not known, labels that no annotator names are as plausible as the
    # prior
    unknown = fitted([(9.0, [["a"], ["b"]])], "unknown", unmentioned="each")
    assert unknown["Ä"] == pytest.approx(0.25, rel=1e-9)


@pytest.mark.parametrize("prior", [1e-12, 1e-3, 1e3])
def test_hard_problems_converge(prior: float) -> None:
    """A chain of fifteen labels, each ahead of the next by much, and never compared otherwise."""
    labels = [f"l{at:02}" for at in range(15)]
    answers = [
        (weight, [[labels[at + back]], [labels[at + 1 - back]]])
        for at in range(14)
        for back, weight in ((0, 500.0), (1, 1.0))
    ]
    annotations = ro.table({"e": answers}, labels, unlisted="unknown")
    result = PlackettLuce(prior=prior).aggregate(annotations, KEYS)
    convergence = json.loads(result.attrs["convergence"])
    assert convergence["iterations"] < 60
    assert convergence["change"] <= convergence["tolerance"] == 1e-10
    ahead = np.log(result.values[0, :-1] / result.values[0, 1:])
    assert (ahead > 0).all()
    if prior == 1e-12:
        assert ahead[:4] == pytest.approx(np.full(4, math.log(500.0)), rel=1e-6)


def test_it_says_what_it_came_to() -> None:
    answers: list[tuple[float, ro.Ranking]] = [(2.0, [["a"], ["b"]]), (1.0, [["b"], ["a"]])]
    annotations = ro.table({"e": answers, "f": answers[:1]}, LABELS)
    result = PlackettLuce(prior=1.0).aggregate(annotations, KEYS)
    convergence = json.loads(result.attrs["convergence"])
    e = 3 * math.log(3 / 5) + 2 * math.log(2 / 5)
    f = 3 * math.log(3 / 4) + math.log(1 / 4)
    assert convergence["objective"] == pytest.approx(e + f, rel=1e-12)


def test_without_a_prior_one_side_is_refused() -> None:
    one_sided: list[tuple[float, ro.Ranking]] = [(2.0, [["a"], ["b"]])]
    both: list[tuple[float, ro.Ranking]] = [(2.0, [["a"], ["b"]]), (1.0, [["b"], ["a"]])]
    annotations = ro.table({"e": one_sided, "f": both, "g": [(1.0, [["a"]])]}, LABELS)
    with refused("ranking-one-sided", "hint prior = 0.5, or another above 0"):
        PlackettLuce(prior=0.0).aggregate(annotations, KEYS)
    part = plausibly.select_annotations(annotations, example=["f", "g"])
    result = PlackettLuce(prior=0.0).aggregate(part, KEYS)
    assert result.sel(label="a").values.tolist() == pytest.approx([2 / 3, 1.0])


def test_too_few_steps_are_warned_of() -> None:
    annotations = ro.table({"e": [(7.0, [["a"], ["b"], ["0"]])]}, LABELS)
    with warned("not-converged", "1 example (e)", "changes by 0.5", "hint iterations = 10"):
        PlackettLuce(iterations=1).aggregate(annotations, KEYS)
