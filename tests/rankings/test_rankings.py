"""Aggregators of rankings against equations, on real ballots, and the figures of their page."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize
from scipy.special import bdtr, betainc

import labelled_records as lr
import plausibly
from call_files import each_call
from plausibly.kernels.random import hash_names
from plausibly.plugin import AGGREGATOR, Keys
from plausibly.registry import default
from plausibly_builtins.partial_ranking.plackett_luce import (
    PlackettLuce,
    PlackettLuceDraws,
    derivatives,
    log_chances,
)
from plausibly_builtins.partial_ranking.points import Borda, PartialRanking
from plausibly_builtins.single_label.votes import SingleLabel
from refusals import quiet, refused, warned

# ---- Plackett-Luce: chances of blocks, the maximum against scipy, and draws from the posterior


UTILITIES = st.floats(-40.0, 40.0)


@given(st.lists(UTILITIES, min_size=1, max_size=6) | st.lists(UTILITIES, min_size=7, max_size=10))
def test_chances_of_blocks_are_those_of_every_order(phi: list[float]) -> None:
    result = log_chances(np.array([phi]))[0]
    assert result == pytest.approx(lr.by_subsets(phi, 1.0), rel=1e-12, abs=1e-13)
    if len(phi) <= 6:
        assert result == pytest.approx(lr.every_order(phi, 1.0), rel=1e-13, abs=1e-14)


def test_utilities_that_are_no_floats() -> None:
    """Far below or above all others, as logarithms: nothing overflows."""
    at = np.array([[-2000.0, 50.0], [2000.0, 1500.0], [-900.0, -900.0]])
    gradient, curvature = derivatives(at)
    assert log_chances(at) == pytest.approx([-2000.0, 0.0, math.log(2.0) - 1800.0], rel=1e-9)
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
    gradient, curvature = derivatives(at)
    for place in range(len(phi)):
        off = np.zeros_like(at)
        off[0, place] = step
        slope = (log_chances(at + off) - log_chances(at - off)) / (2 * step)
        assert gradient[:, place] == pytest.approx(slope, abs=1e-8)
        bend = (derivatives(at + off)[0] - derivatives(at - off)[0]) / (2 * step)
        assert curvature[:, place] == pytest.approx(bend, abs=1e-8)


def test_many_blocks_are_each_what_they_are_alone() -> None:
    phi = np.random.default_rng(3).normal(size=(500, 4)) * 5
    together = derivatives(phi)
    for at in (0, 17, 499):
        alone = derivatives(phi[at : at + 1])
        for item, of_many in zip(alone, together, strict=True):
            assert np.array_equal(item[0], of_many[at])


Parameter: TypeAlias = Any  # by its name; what checks it is the component
Answers: TypeAlias = list[tuple[float, lr.Ranking]]
KEYS = Keys(0, "aggregator")
LABELS = ["b", "Ä", "a", "0"]


def fitted(answers: Answers, unlisted: str = "excluded", **params: Parameter) -> dict[str, float]:
    annotations = lr.table({"e": answers}, LABELS, unlisted=unlisted)
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
def test_no_other_utilities_are_as_likely(answers: Answers, excluded: bool, prior: float) -> None:
    unlisted = "excluded" if excluded else "unknown"
    annotations = lr.table({"e": answers}, lr.LABELS, unlisted=unlisted)
    result = PlackettLuce(prior=prior).aggregate(annotations, KEYS).values[0]
    support = sorted({label for _, ranking in answers for block in ranking for label in block})
    assert {lr.LABELS[k] for k in np.flatnonzero(result)} == set(support)

    def lost(phi: lr.Column) -> float:
        logs = phi - np.logaddexp.reduce(phi)
        named = dict(zip(support, logs.tolist(), strict=True))
        return -lr.log_likelihood(answers, named, excluded=excluded) - prior * float(logs.sum())

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


def test_labels_without_answers_follow_unmentioned() -> None:
    """With k others of prior p each, or one, votes have a closed form again."""
    answers: Answers = [(3.0, [["a"]]), (1.0, [["b"]])]
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
    annotations = lr.table({"e": answers}, labels, unlisted="unknown")
    result = PlackettLuce(prior=prior).aggregate(annotations, KEYS)
    convergence = json.loads(result.attrs["convergence"])
    assert convergence["iterations"] < 60
    assert convergence["change"] <= convergence["tolerance"] == 1e-10
    ahead = np.log(result.values[0, :-1] / result.values[0, 1:])
    assert (ahead > 0).all()
    if prior == 1e-12:
        assert ahead[:4] == pytest.approx(np.full(4, math.log(500.0)), rel=1e-6)


def test_without_a_prior_one_side_is_refused() -> None:
    one_sided: Answers = [(2.0, [["a"], ["b"]])]
    both: Answers = [(2.0, [["a"], ["b"]]), (1.0, [["b"], ["a"]])]
    annotations = lr.table({"e": one_sided, "f": both, "g": [(1.0, [["a"]])]}, LABELS)
    with refused("ranking-one-sided", "hint prior = 0.5, or another above 0"):
        PlackettLuce(prior=0.0).aggregate(annotations, KEYS)
    part = plausibly.select_annotations(annotations, example=["f", "g"])
    result = PlackettLuce(prior=0.0).aggregate(part, KEYS)
    assert result.sel(label="a").values.tolist() == pytest.approx([2 / 3, 1.0])


def test_too_few_steps_are_warned_of() -> None:
    annotations = lr.table({"e": [(7.0, [["a"], ["b"], ["0"]])]}, LABELS)
    with warned("not-converged", "changes by 0.5", "hint iterations = 10"):
        PlackettLuce(iterations=1).aggregate(annotations, KEYS)


TIES: Answers = [
    (2.0, [["a", "b"], ["Ä"]]),
    (1.0, [["Ä"], ["a"]]),
    (1.0, [["b", "Ä", "a"]]),
]


def drawn(
    answers: Answers,
    draws: int,
    unlisted: str = "excluded",
    **params: Parameter,
) -> lr.Column:
    """Return draws (draw, label), one each of as many examples with the same rankings."""
    params.setdefault("warm_up", 15)
    annotations = lr.table({str(e): answers for e in range(draws)}, LABELS, unlisted=unlisted)
    with quiet():  # of one chain alone little is known
        result = PlackettLuceDraws(draws=1, **params).aggregate(annotations, KEYS)
    values: lr.Column = result.values[0]
    return values


def assert_distributed(values: lr.Column, cdf: lr.Column) -> None:
    """Demand that values follow a distribution: Kolmogorov's distance at level 1e-6."""
    n = values.size
    sorted_cdf = np.sort(cdf)
    off = np.abs(sorted_cdf - (np.arange(n) + 0.5) / n).max()
    assert off < math.sqrt(-math.log(1e-6 / 2) / (2 * n)) + 0.5 / n


def test_of_two_labels_it_is_a_beta_distribution() -> None:
    """One ranking a > b: Beta(prior + 1, prior); votes 5 to 2: Beta(5 + prior, 2 + prior)."""
    for prior in (0.5, 2.0):
        item = drawn([(1.0, [["a"], ["b"]])], 800, prior=prior, warm_up=5)[:, 2]
        assert_distributed(item, betainc(prior + 1.0, prior, item))
        votes = drawn([(5.0, [["a"]]), (2.0, [["b"]])], 800, prior=prior, warm_up=5)[:, 2]
        assert_distributed(votes, betainc(prior + 5.0, prior + 2.0, votes))


def test_labels_without_answers_are_drawn_too() -> None:
    """Of k labels with a prior each, a vote for one gives it Beta(prior + 1, (k - 1) prior)."""
    each = drawn([(1.0, [["a"]])], 800, prior=0.5, unmentioned="each")
    assert_distributed(each[:, 2], betainc(1.5, 1.5, each[:, 2]))
    for column in (0, 1, 3):
        assert_distributed(each[:, column], betainc(0.5, 2.5, each[:, column]))
    together = drawn([(1.0, [["a"]])], 800, prior=0.5, unmentioned="together")
    assert_distributed(together[:, 2], betainc(1.5, 0.5, together[:, 2]))
    assert np.array_equal(together[:, 0], together[:, 3])
    nothing = drawn([(1.0, [["a"]])], 3)
    assert nothing.tolist() == [[0.0, 0.0, 1.0, 0.0]] * 3


@pytest.mark.parametrize("unlisted", ["excluded", "unknown"])
@pytest.mark.parametrize("prior", [0.5, 1.5])
def test_ties_against_the_integral(unlisted: str, prior: float) -> None:
    """Means and second moments over a grid of the simplex, weighted by the exact likelihood."""
    steps = 120
    # midpoints in logits-like coordinates: p = x^(1/prior) has a flat prior density near 0
    grid = (np.arange(steps) + 0.5) / steps
    left, share = np.meshgrid(grid, grid, indexing="ij")
    # stick breaking: a has Beta(prior, 2 prior), b has Beta(prior, prior) of what is left
    first, weight_a = _stick(left.ravel(), prior, 2 * prior)
    second, weight_b = _stick(share.ravel(), prior, prior)
    points = np.stack([first, (1 - first) * second, (1 - first) * (1 - second)], axis=1)
    logs = np.log(points)
    order = {"a": 0, "b": 1, "Ä": 2}
    like = np.log(weight_a) + np.log(weight_b)
    for weight, ranking in TIES:
        below = set(order) if unlisted == "excluded" else {k for block in ranking for k in block}
        for block in ranking:
            below = below - set(block)
            if below:
                rest = np.logaddexp.reduce(logs[:, [order[k] for k in below]], axis=1)
                like += weight * log_chances(logs[:, [order[k] for k in block]] - rest[:, None])
    mass = np.exp(like - like.max())
    mass /= mass.sum()
    result = drawn(TIES, 1500, unlisted, prior=prior, warm_up=30)[:, [2, 0, 1]]
    for power in (1, 2):
        exact = mass @ points**power
        error = (result**power).std(axis=0) / math.sqrt(len(result))
        assert (np.abs((result**power).mean(axis=0) - exact) < 4.5 * error + 2e-4).all()


def _stick(uniform: lr.Column, first: float, second: float) -> tuple[lr.Column, lr.Column]:
    """Return points of (0, 1) from a grid, each with its mass of Beta(first, second)."""
    # x = sin^2(pi u / 2) takes both poles of the density away
    angle = np.pi * uniform / 2
    point = np.sin(angle) ** 2
    density = np.sin(angle) ** (2 * first - 1) * np.cos(angle) ** (2 * second - 1)
    return point, density


def test_keyed_by_seed_and_example() -> None:
    annotations = lr.table({"e": TIES, "f": TIES}, LABELS)
    first, second = (
        PlackettLuceDraws(draws=3).aggregate(annotations, Keys(seed, "aggregator"))
        for seed in (0, 1)
    )
    assert first["draw"].values.tolist() == [1, 2, 3]
    assert not np.isclose(first.values, second.values).all(axis=2).any()
    assert not np.isclose(first.sel(example="e"), first.sel(example="f")).all()


def test_utilities_that_are_hardly_floats() -> None:
    """A tiny prior leaves most draws on one label; nothing overflows on the way."""
    values = drawn(TIES, 200, prior=1e-3, unmentioned="each", warm_up=20)
    assert np.isfinite(values).all()
    assert values.sum(axis=1) == pytest.approx(np.ones(200))
    unknown = drawn([(1.0, [["a", "b"]])], 200, "unknown", prior=1e-3)
    assert unknown.max(axis=1).min() > 0.5
    assert 60 < (unknown[:, 0] > 0.5).sum() < 140


def test_convergence_is_reported() -> None:
    annotations = lr.table({"e": TIES}, LABELS)
    result = PlackettLuceDraws().aggregate(annotations, KEYS)
    facts = json.loads(result.attrs["convergence"])
    assert facts["sweeps"] == 50
    assert 0.0 <= facts["correlation"] < 0.8
    assert facts["left"] == pytest.approx(facts["correlation"] ** 50)


def test_a_slow_chain_is_warned_of() -> None:
    """A long chain of labels that are compared with their neighbours only."""
    labels = [f"l{at:02}" for at in range(25)]
    answers: Answers = [
        (50.0, [[labels[at + back]], [labels[at + 1 - back]]])
        for at in range(24)
        for back in (0, 1)
    ]
    annotations = lr.table({"chain": answers}, labels, unlisted="unknown")
    pieces = ("after 20 sweeps, draws of 1 example (chain)", "expected 1% of the start or less")
    with warned("not-converged", *pieces) as caught:
        PlackettLuceDraws(draws=40, warm_up=20).aggregate(annotations, KEYS)
    report = " ".join(str(caught[0].message).split())
    share = re.search(r"found up to (\d+)%", report)
    assert share is not None
    assert 1 < int(share[1]) <= 100
    longer = PlackettLuceDraws(draws=2, warm_up=200).aggregate(annotations, KEYS)
    assert json.loads(longer.attrs["convergence"])["left"] < 0.01


def test_ties_that_count_a_broken_number_of_times_are_refused() -> None:
    answers: Answers = [(1.5, [["a", "b"], ["Ä"]])]
    annotations = lr.table({"e": answers, "f": [(0.5, [["a"], ["b"]])]}, LABELS)
    hint = "hint aggregator plackett-luce, which takes any weight, or round the weights"
    with refused("weights-broken", hint):
        PlackettLuceDraws().aggregate(annotations, KEYS)
    part = plausibly.select_annotations(annotations, example=["f"])
    result = PlackettLuceDraws(draws=200, prior=1.0).aggregate(part, KEYS).sel(label="a").values
    assert_distributed(result[:, 0], betainc(1.5, 1.0, result[:, 0]))


def test_intervals_cover_at_their_level() -> None:
    """Utilities from the prior, rankings from the utilities: 80% intervals hold 80% of them."""
    examples, labels, rankers, prior = 250, 4, 3, 1.0
    keys = Keys(11, "coverage")
    names = [f"case {at}" for at in range(examples)]
    hashes = hash_names(names)
    gammas = -np.log1p(-keys.child("truth").uniform(hashes, labels))  # shape 1
    truth = gammas / gammas.sum(axis=1, keepdims=True)
    answers: dict[str, Answers] = {}
    uniform = keys.child("rankings").uniform(hashes, rankers * labels)
    for at, name in enumerate(names):
        answers[name] = []
        for row in uniform[at].reshape(rankers, labels):
            a, b, c, d = (LABELS[k] for k in lr.ranked(truth[at], row))
            forms: list[lr.Ranking] = [[[a, b], [c]], [[a], [b, c]], [[a], [b], [c], [d]]]
            answers[name].append((1.0, forms[at % 3]))
    annotations = lr.table(answers, LABELS)
    result = PlackettLuceDraws(draws=99, prior=prior, unmentioned="each", warm_up=15).aggregate(
        annotations, KEYS
    )
    below = (result.values < truth).sum(axis=0)  # uniform on 0..99
    inside = (below >= 10) & (below < 90)
    for label in range(labels):
        hits = int(inside[:, label].sum())
        assert bdtr(hits, examples, 0.8) > 1e-4
        assert bdtr(examples - hits, examples, 0.2) > 1e-4
    lower = int((below < 50).sum(axis=0)[0])
    assert 1e-4 < bdtr(lower, examples, 0.5) < 1 - 1e-4


# ---- Borda in fractions, Dirichlet draws against means and variances, ranges of parameters


def points(
    answers: list[tuple[int, lr.Ranking]], labels: list[str], *, excluded: bool
) -> dict[str, Fraction]:
    """Return normalised Borda points: places counted one by one."""
    named = {label for _, ranking in answers for block in ranking for label in block}
    result = dict.fromkeys(labels, Fraction(0))
    for weight, ranking in answers:
        places = len(named) if excluded else sum(map(len, ranking))
        first = 1
        for block in ranking:
            mean = Fraction(sum(range(first, first + len(block))), len(block))
            for label in block:
                result[label] += weight * (places + 1 - mean)
            first += len(block)
    total = sum(result.values())
    return {label: value / total for label, value in result.items()}


@given(st.lists(st.tuples(st.integers(1, 3), lr.rankings()), min_size=1, max_size=5), st.booleans())
def test_points_are_exact(answers: list[tuple[int, lr.Ranking]], excluded: bool) -> None:
    annotations = lr.table(
        {"e": [(float(w), r) for w, r in answers]},
        lr.LABELS,
        unlisted="excluded" if excluded else "unknown",
    )
    result = Borda().aggregate(annotations, KEYS)
    exact = {"e": points(answers, lr.LABELS, excluded=excluded)}
    lr.assert_exact(result, exact)
    units = result.values * result["denominator"].values[:, None]
    assert units == pytest.approx(np.rint(units), abs=1e-9)


def test_a_response_that_counts_nothing_has_no_place() -> None:
    annotations = lr.table({"e": [(1.0, [["a"], ["b"]]), (0.0, [["0"]])]}, LABELS)
    result = Borda().aggregate(annotations, KEYS).sel(example="e")
    assert result.sel(label=["a", "b", "0"]).values.tolist() == pytest.approx([2 / 3, 1 / 3, 0.0])


def test_broken_weights_have_no_denominator() -> None:
    annotations = lr.table({"e": [(0.3, [["a"], ["b"]])]}, LABELS)
    assert "denominator" not in Borda().aggregate(annotations, KEYS).coords


@pytest.mark.parametrize("temperature", [1.0, 10.0])
@pytest.mark.parametrize("unmentioned", ["nothing", "together", "each"])
def test_means_and_variances(temperature: float, unmentioned: str) -> None:
    annotations = lr.table({"e": [(1.0, [["a"], ["b"]]), (1.0, [["b"]])]}, LABELS)
    around = {"a": 0.4, "b": 0.6}
    inverse = plausibly.aggregate(annotations, "inverse-rank").sel(example="e")
    assert inverse.sel(label=["a", "b"]).values.tolist() == pytest.approx([0.4, 0.6])
    prior, draws = 0.3, 4000
    result = plausibly.aggregate(
        annotations,
        "dirichlet",
        draws=draws,
        temperature=temperature,
        prior=prior,
        unmentioned=unmentioned,
    ).sel(example="e")
    others = {"nothing": 0, "together": 1, "each": 2}[unmentioned]
    total = temperature + (2 + others) * prior
    for label, mean in around.items():
        values: lr.Column = result.sel(label=label).values
        shape = temperature * mean + prior
        cdf = np.sort(betainc(shape, total - shape, values))
        assert np.abs(cdf - (np.arange(draws) + 0.5) / draws).max() < 0.04
    off = float(result.sel(label=["Ä", "0"]).sum("label").mean())
    assert off == pytest.approx(others * prior / total, abs=0.02)


def test_no_prior_nothing_off_the_rankings() -> None:
    annotations = lr.table({"e": [(1.0, [["a"], ["b"]])], "f": [(1.0, [["Ä"]])]}, LABELS)
    result = plausibly.aggregate(annotations, "dirichlet", unmentioned="each")
    assert (result.sel(example="f", label="Ä") == 1.0).all()
    assert (result.sel(example="e", label=["Ä", "0"]) == 0.0).all()
    assert (result.sel(example="e", label="a") > result.sel(example="e", label="b")).mean() > 0.5


# ---- ballots of PrefLib, the rankings of dermatologists, docs/rankings.md


def ballots(shared: Path, name: str, unlisted: str = "excluded") -> xr.Dataset:
    file = shared / "cases/annotations/preflib" / name
    return plausibly.read_annotations(file, reader={"name": "preflib", "unlisted": unlisted})


def count(table: xr.Dataset) -> float:
    """Return how many ballots there are; without weights each counts once."""
    return float(table.get("response_weight", xr.ones_like(table["response_example"])).sum())


@pytest.fixture(scope="module")
def dermatologists(shared: Path) -> xr.Dataset:
    folder = shared / "data/derm_ddx"
    labels = folder / "dermatology_conditions.txt"
    return plausibly.read_annotations(folder / "dermatology_selectors.json", labels=labels)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("unlisted", "known"),
    [
        ("unknown", [0.26876, 0.21007, 0.47103, 0.05015]),
        ("excluded", [0.2551, 0.21754, 0.48656, 0.0408]),
    ],
)
def test_debian_ballots(shared: Path, unlisted: str, known: list[float]) -> None:
    annotations = ballots(shared, "00002-00000001.soi", unlisted)
    assert count(annotations) == 475
    for prior in (0.0, 1e-6):
        result = PlackettLuce(prior=prior).aggregate(annotations, KEYS).values[0]
        assert result == pytest.approx(known, abs=6e-6)
    drawn = PlackettLuceDraws(draws=200).aggregate(annotations, KEYS).values[:, 0]
    error = drawn.std(axis=0)
    assert error.max() < 0.03
    assert (np.abs(drawn.mean(axis=0) - known) < 5 * error / np.sqrt(200) + 2e-3).all()


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "voters"),
    [
        ("00023-00000001.toi", 204),
        ("00022-00000002.toi", 25355),
        ("00032-00000004.toi", 15),
        ("00003-00000001.toc", 10),
    ],
)
def test_ballots_with_ties(shared: Path, name: str, voters: int) -> None:
    annotations = ballots(shared, name)
    assert count(annotations) == voters
    result = PlackettLuce().aggregate(annotations, KEYS)
    facts = json.loads(result.attrs["convergence"])
    assert facts["iterations"] < 30
    assert facts["change"] <= 1e-10
    assert (result.isel(label=np.unique(annotations["mention_label"])) > 0).all()


@pytest.mark.realdata
def test_dermatologists(dermatologists: xr.Dataset) -> None:
    annotations = dermatologists
    inverse = plausibly.aggregate(annotations, "inverse-rank")
    for name in ("borda", "plackett-luce"):
        result = plausibly.aggregate(annotations, name)
        assert np.array_equal(result.values > 0, inverse.values > 0)
    part = plausibly.select_annotations(annotations, example=list(map(str, range(100))))
    for name in ("dirichlet", "plackett-luce-draws"):
        drawn = plausibly.aggregate(part, name, draws=3)
        assert drawn.shape == (3, 100, 419)
        assert (drawn.values[:, inverse.values[:100] == 0] == 0).all()
    # published: prior .01 of each of 419 conditions, at temperature 1, .80 off the rankings
    spread = plausibly.aggregate(
        part, "dirichlet", draws=40, temperature=1.0, prior=0.01, unmentioned="each"
    )
    off = spread.where(inverse.isel(example=slice(0, 100)) == 0, 0.0).sum("label").mean()
    assert float(off) == pytest.approx(0.80, abs=0.01)


# ---- docs/rankings.md


CASES: dict[str, tuple[str, dict[str, object]]] = {
    "`inverse-rank`": ("inverse-rank", {}),
    "`borda`": ("borda", {}),
    "`plackett-luce`": ("plackett-luce", {}),
    "`plackett-luce`, `prior` 0.1": ("plackett-luce", {"prior": 0.1}),
    "`plackett-luce`, `prior` 2": ("plackett-luce", {"prior": 2.0}),
}


@pytest.fixture(scope="module")
def page(project: Path) -> str:
    return (project / "docs" / "rankings.md").read_text(encoding="utf-8")


def test_the_table_of_aggregators(page: str) -> None:
    rows = [line.split("|")[1:-1] for line in page.splitlines() if line.startswith("| `")]
    first = {row[0].strip(" `"): row[2].split() for row in rows if len(row) == 4}
    table = PartialRanking().build([("e", "q", [["a"], ["b"], ["c"]])], ["a", "b", "c"])
    for name, shown in first.items():
        assert default().find(AGGREGATOR, name).source.builtin
        result = plausibly.aggregate(table, name)
        if "draw" not in result.dims:
            assert shown == [f"{value:.3f}" for value in result.values[0]]
    assert set(first) >= {"inverse-rank", "borda", "plackett-luce", "dirichlet", "bootstrap"}


@pytest.mark.realdata
def test_the_cases(page: str, dermatologists: xr.Dataset) -> None:
    inverse = plausibly.aggregate(dermatologists, "inverse-rank").values
    best = inverse == inverse.max(axis=1, keepdims=True)
    lines = []
    for shown, (name, params) in CASES.items():
        values = plausibly.aggregate(dermatologists, {"name": name, **params}).values
        same = best[np.arange(len(values)), values.argmax(axis=1)].mean()
        lines.append(f"| {shown} | {values.max(axis=1).mean():.3f} | {same:.1%} |")
    assert "\n".join(lines) in page


test_each_call_gives_its_text = each_call(__file__, globals())
