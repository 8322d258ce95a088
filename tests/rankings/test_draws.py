"""Posterior draws: closed forms, exact integrals, intervals that cover, keys and messages."""

from __future__ import annotations

import json
import math
import re
import warnings
from typing import Any, TypeAlias

import numpy as np
import pytest
from scipy.special import bdtr, betainc

import plausibly
import rankings_oracles as ro
from plausibly.errors import PlausiblyWarning
from plausibly.kernels.random import Keys, hash_names
from plausibly_builtins.partial_ranking.plackett_luce import log_chances
from plausibly_builtins.partial_ranking.plackett_luce_draws import PlackettLuceDraws
from refusals import refused, warned

Parameter: TypeAlias = Any  # by its name; what checks it is the component
KEYS = Keys(0, "aggregator")
LABELS = ["b", "Ä", "a", "0"]
TIES: list[tuple[float, ro.Ranking]] = [
    (2.0, [["a", "b"], ["Ä"]]),
    (1.0, [["Ä"], ["a"]]),
    (1.0, [["b", "Ä", "a"]]),
]


def drawn(
    answers: list[tuple[float, ro.Ranking]],
    draws: int,
    unlisted: str = "excluded",
    **params: Parameter,
) -> ro.Column:
    """Return draws (draw, label), one each of as many examples with the same rankings."""
    params.setdefault("warm_up", 15)
    annotations = ro.table({str(e): answers for e in range(draws)}, LABELS, unlisted=unlisted)
    with warnings.catch_warnings():  # of one chain alone little is known
        warnings.simplefilter("ignore", PlausiblyWarning)
        result = PlackettLuceDraws(draws=1, **params).aggregate(annotations, KEYS)
    values: ro.Column = result.values[0]
    return values


def assert_distributed(values: ro.Column, cdf: ro.Column) -> None:
    """Demand that values follow a distribution: Kolmogorov's distance at level 1e-6."""
    n = values.size
    sorted_cdf = np.sort(cdf)
    off = np.abs(sorted_cdf - (np.arange(n) + 0.5) / n).max()
    assert off < math.sqrt(-math.log(1e-6 / 2) / (2 * n)) + 0.5 / n


def test_of_two_labels_it_is_a_beta_distribution() -> None:
    """One ranking a > b: Beta(prior + 1, prior); votes 5 to 2: Beta(5 + prior, 2 + prior)."""
    for prior in (0.5, 2.0):
        one = drawn([(1.0, [["a"], ["b"]])], 1500, prior=prior, warm_up=5)[:, 2]
        assert_distributed(one, betainc(prior + 1.0, prior, one))
        votes = drawn([(5.0, [["a"]]), (2.0, [["b"]])], 1500, prior=prior, warm_up=5)[:, 2]
        assert_distributed(votes, betainc(prior + 5.0, prior + 2.0, votes))


def test_labels_that_nobody_names_are_drawn_too() -> None:
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


def _stick(uniform: ro.Column, first: float, second: float) -> tuple[ro.Column, ro.Column]:
    """Return points of (0, 1) from a grid, each with its mass of Beta(first, second)."""
    # x = sin^2(pi u / 2) takes both poles of the density away
    angle = np.pi * uniform / 2
    point = np.sin(angle) ** 2
    density = np.sin(angle) ** (2 * first - 1) * np.cos(angle) ** (2 * second - 1)
    return point, density


def test_intervals_cover_at_their_level() -> None:
    """Utilities from the prior, rankings from the utilities: 80% intervals hold 80% of them."""
    examples, labels, rankers, prior = 250, 4, 3, 1.0
    keys = Keys(11, "coverage")
    names = [f"case {at}" for at in range(examples)]
    hashes = hash_names(names)
    gammas = -np.log1p(-keys.child("truth").uniform(hashes, labels))  # shape 1
    truth = gammas / gammas.sum(axis=1, keepdims=True)
    answers: dict[str, list[tuple[float, ro.Ranking]]] = {}
    uniform = keys.child("rankings").uniform(hashes, rankers * labels)
    for at, name in enumerate(names):
        answers[name] = []
        for row in uniform[at].reshape(rankers, labels):
            a, b, c, d = (LABELS[k] for k in ro.ranked(truth[at], row))
            forms: list[ro.Ranking] = [[[a, b], [c]], [[a], [b, c]], [[a], [b], [c], [d]]]
            answers[name].append((1.0, forms[at % 3]))
    annotations = ro.table(answers, LABELS)
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


def test_keyed_by_seed_and_example() -> None:
    annotations = ro.table({"e": TIES, "f": TIES}, LABELS)
    one, other = (
        PlackettLuceDraws(draws=3).aggregate(annotations, Keys(seed, "aggregator"))
        for seed in (0, 1)
    )
    assert one["draw"].values.tolist() == [1, 2, 3]
    assert not np.isclose(one.values, other.values).all(axis=2).any()
    assert not np.isclose(one.sel(example="e"), one.sel(example="f")).all()


def test_utilities_that_are_hardly_floats() -> None:
    """A tiny prior leaves most draws on one label; nothing overflows on the way."""
    values = drawn(TIES, 200, prior=1e-3, unmentioned="each", warm_up=20)
    assert np.isfinite(values).all()
    assert values.sum(axis=1) == pytest.approx(np.ones(200))
    unknown = drawn([(1.0, [["a", "b"]])], 200, "unknown", prior=1e-3)
    assert unknown.max(axis=1).min() > 0.5
    assert 60 < (unknown[:, 0] > 0.5).sum() < 140


def test_convergence_is_reported() -> None:
    annotations = ro.table({"e": TIES}, LABELS)
    result = PlackettLuceDraws().aggregate(annotations, KEYS)
    facts = json.loads(result.attrs["convergence"])
    assert facts["sweeps"] == 50
    assert 0.0 <= facts["correlation"] < 0.8
    assert facts["left"] == pytest.approx(facts["correlation"] ** 50)


def test_a_slow_chain_is_told() -> None:
    """A long chain of labels that are compared with their neighbours only."""
    labels = [f"l{at:02}" for at in range(25)]
    answers: list[tuple[float, ro.Ranking]] = [
        (50.0, [[labels[at + back]], [labels[at + 1 - back]]])
        for at in range(24)
        for back in (0, 1)
    ]
    annotations = ro.table({"chain": answers}, labels, unlisted="unknown")
    pieces = ("after 20 sweeps, draws of 1 example (chain)", "expected 1% of the start or less")
    with warned("not-converged", *pieces) as caught:
        PlackettLuceDraws(draws=40, warm_up=20).aggregate(annotations, KEYS)
    report = " ".join(str(caught[0].message).split())
    share = re.search(r"found up to (\d+)%", report)
    enough = re.search(r"hint warm_up = (\d+), or a larger prior, such as 1$", report)
    assert share is not None
    assert enough is not None
    assert 1 < int(share[1]) <= 100
    longer = PlackettLuceDraws(draws=2, warm_up=int(enough[1])).aggregate(annotations, KEYS)
    assert json.loads(longer.attrs["convergence"])["left"] < 0.01


def test_ties_that_count_a_broken_number_of_times_are_refused() -> None:
    answers: list[tuple[float, ro.Ranking]] = [(1.5, [["a", "b"], ["Ä"]])]
    annotations = ro.table({"e": answers, "f": [(0.5, [["a"], ["b"]])]}, LABELS)
    hint = "hint aggregator plackett-luce, which takes any weight, or round the weights"
    with refused("weights-broken", hint):
        PlackettLuceDraws().aggregate(annotations, KEYS)
    part = plausibly.select_annotations(annotations, example=["f"])
    result = PlackettLuceDraws(draws=500, prior=1.0).aggregate(part, KEYS).sel(label="a").values
    assert_distributed(result[:, 0], betainc(1.5, 1.0, result[:, 0]))
