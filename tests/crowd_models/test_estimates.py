"""Aggregators of annotators against their equations in fractions, and on simulated crowds."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import crowd_models_oracles as oracle
import plausibly
from crowd_models_worlds import ANNOTATORS, LABELS, assert_close, crowd, table_of, votes
from plausibly.errors import PlausiblyWarning
from plausibly.plugin import Keys
from plausibly_builtins.crowd_models.models import (
    DawidSkene,
    OneCoin,
    WeightedVote,
    WorkerAgreement,
)
from refusals import quiet, warned

KEYS = Keys()
pseudo = st.sampled_from([Fraction(0), Fraction(1, 100), Fraction(1, 2), Fraction(3)])


@pytest.mark.parametrize(
    ("make", "oracle_of", "priors"),
    [
        (DawidSkene, oracle.dawid_skene, ("smoothing", "diagonal", "label_smoothing")),
        (OneCoin, oracle.one_coin, ("right", "wrong", "label_smoothing")),
    ],
)
@settings(max_examples=50)
@given(votes(), st.tuples(pseudo, pseudo, pseudo), st.integers(1, 6))
def test_estimates_after_some_rounds(
    make: Callable[..., DawidSkene | OneCoin],
    oracle_of: Callable[..., list[oracle.Step]],
    priors: tuple[str, ...],
    given_votes: oracle.Votes,
    counts: tuple[Fraction, ...],
    rounds: int,
) -> None:
    exact = dict(zip(priors, counts, strict=True))
    steps = oracle_of(given_votes, LABELS, rounds=rounds, **exact)
    floats = {name: float(count) for name, count in exact.items()}
    with quiet():
        model = make(**floats, tolerance=0.0, iterations=rounds)
        plausibilities = model.aggregate(table_of(given_votes), KEYS)
    facts = json.loads(plausibilities.attrs["convergence"])
    step = steps[facts["iterations"] - 1]  # fewer where nothing changes any more
    assert_close(plausibilities, step.shares, within=1e-10)


@settings(max_examples=30)
@given(votes())
def test_dawid_skene_confuses_as_the_equations_say(given_votes: oracle.Votes) -> None:
    """The confusion that is told is the M-step of the plausibilities that are told."""
    model = DawidSkene(smoothing=0.5, tolerance=0.0, iterations=2)
    with quiet():
        report = model.reliability(table_of(given_votes))
    rounds = json.loads(report.attrs["convergence"])["iterations"]
    steps = oracle.dawid_skene(given_votes, LABELS, rounds=rounds + 1, smoothing=Fraction(1, 2))
    for (who, true, answers), chance in steps[-1].chance.items():
        value = float(report["confusion"].sel(annotator=who, label=true, said=answers))
        assert value == pytest.approx(float(chance), abs=1e-10)
    assert report["confusion"].sum("said").values == pytest.approx(
        np.ones((len(report.annotator), 3))
    )
    last = steps[rounds - 1].shares
    for who in report["annotator"].values:
        own = [(e, k, w) for e, q, k, w in given_votes if q == who]
        right = sum(w * last[e][k] for e, k, w in own) / sum(w for _, _, w in own)
        assert float(report["weight"].sel(annotator=who)) == pytest.approx(float(right), abs=1e-10)


@settings(max_examples=40)
@given(votes())
def test_worker_agreement(given_votes: oracle.Votes) -> None:
    worth = oracle.agreement(given_votes, LABELS)
    table = table_of(given_votes)
    plausibilities = WorkerAgreement().aggregate(table, KEYS)
    assert_close(plausibilities, oracle.shares(given_votes, LABELS, worth))
    report = WorkerAgreement().reliability(table)
    for who, weight in worth.items():
        assert float(report["weight"].sel(annotator=who)) == pytest.approx(float(weight), abs=1e-14)


@settings(max_examples=30)
@given(votes(), st.lists(st.integers(0, 4), min_size=4, max_size=4), st.integers(1, 3))
def test_weighted_vote(given_votes: oracle.Votes, weights: list[int], others: int) -> None:
    known = list(dict.fromkeys(vote[1] for vote in given_votes))
    own = {who: float(weight) for who, weight in zip(known[1:], weights, strict=False) if weight}
    worth = {who: Fraction(own.get(who, others)) for who in ANNOTATORS}
    plausibilities = WeightedVote(weights=own, others=float(others)).aggregate(
        table_of(given_votes), KEYS
    )
    assert_close(plausibilities, oracle.shares(given_votes, LABELS, worth))


@settings(max_examples=20)
@given(votes())
def test_unknown_annotators_are_one(given_votes: oracle.Votes) -> None:
    """As if one person had given all their responses, whatever that person is called."""
    part = ANNOTATORS[:2]
    as_one = [(e, "zz" if q in part else q, k, w) for e, q, k, w in given_votes]
    table = table_of(given_votes, anonymous=part)
    with quiet():
        result = DawidSkene(iterations=5, tolerance=0.0).aggregate(table, KEYS)
        agreed = WorkerAgreement().aggregate(table, KEYS)
    assert_close(agreed, oracle.shares(as_one, LABELS, oracle.agreement(as_one, LABELS)))
    steps = oracle.dawid_skene(as_one, LABELS, rounds=5, smoothing=Fraction(1, 100))
    assert_close(result, steps[-1].shares, within=1e-9)


def test_thousands_of_responses_an_example_do_not_underflow() -> None:
    """Two hundred responses per example, each with chances far from 1: 1e-2^200 is no float."""
    result = crowd(
        np.random.default_rng(0), examples=30, annotators=200, labels=5, each=200, skill=(0.2, 0.4)
    )
    plausibilities = plausibly.aggregate(result.table, "dawid-skene")
    assert np.isfinite(plausibilities.values).all()
    assert np.abs(plausibilities.values.sum(axis=1) - 1).max() < 1e-12
    assert (plausibilities.values.argmax(axis=1) == result.truth).mean() > 0.9


SMALL = crowd(np.random.default_rng(1), examples=100, annotators=8, labels=3, each=4).table


def test_convergence_is_stated() -> None:
    plausibilities = plausibly.aggregate(SMALL, "dawid-skene", tolerance=1e-4)
    facts = json.loads(plausibilities.attrs["convergence"])
    assert facts["tolerance"] == 1e-4
    assert 0 < facts["change"] <= 1e-4
    assert 3 < facts["iterations"] < 500
    report = plausibly.reliability(SMALL, "dawid-skene", tolerance=1e-4)
    assert report.attrs["convergence"] == plausibilities.attrs["convergence"]
    closer = plausibly.aggregate(SMALL, "dawid-skene", tolerance=1e-10)
    assert np.abs(closer - plausibilities).max() < 1e-2


def test_stopped_early_it_warns_with_numbers() -> None:
    with warned("not-converged", "in iteration 2", "hint iterations = 20") as caught:
        plausibly.aggregate(SMALL, "one-coin", iterations=2)
    message = caught[0].message
    assert isinstance(message, PlausiblyWarning)
    change = float(str(message.details["change"]))
    assert f"still changes by {change:.2g}" in " ".join(message.what.split())
