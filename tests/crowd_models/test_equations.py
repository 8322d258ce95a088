"""Each aggregator against its equations in fractions, on votes that hypothesis makes."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import crowd_models_oracles as oracle
from crowd_models_worlds import ANNOTATORS, LABELS, assert_close, quiet, table_of, votes
from plausibly.plugin import Keys
from plausibly_builtins.crowd_models.em import Cells, DawidSkene, OneCoin
from plausibly_builtins.crowd_models.votes import WeightedVote, WorkerAgreement

KEYS = Keys()
pseudo = st.sampled_from([Fraction(0), Fraction(1, 100), Fraction(1, 2), Fraction(3)])


@pytest.mark.parametrize(
    ("make", "oracle_of", "priors"),
    [
        (DawidSkene, oracle.dawid_skene, ("smoothing", "diagonal", "label_smoothing")),
        (OneCoin, oracle.one_coin, ("right", "wrong", "label_smoothing")),
    ],
)
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
        lam = model.aggregate(table_of(given_votes), KEYS)
    facts = json.loads(lam.attrs["convergence"])
    step = steps[facts["iterations"] - 1]  # fewer where nothing changes any more
    assert_close(lam, step.shares, within=1e-10)
    assert facts["objective"] == pytest.approx(step.objective, rel=1e-10, abs=1e-10)


@given(votes())
def test_dawid_skene_confuses_as_the_equations_say(given_votes: oracle.Votes) -> None:
    """The confusion that is told is the M-step of the plausibilities that are told."""
    model = DawidSkene(smoothing=0.5, tolerance=0.0, iterations=2)
    with quiet():
        told = model.reliability(table_of(given_votes))
    rounds = json.loads(told.attrs["convergence"])["iterations"]
    steps = oracle.dawid_skene(given_votes, LABELS, rounds=rounds + 1, smoothing=Fraction(1, 2))
    for (who, true, said), chance in steps[-1].chance.items():
        got = float(told["confusion"].sel(annotator=who, label=true, said=said))
        assert got == pytest.approx(float(chance), abs=1e-10)
    assert told["confusion"].sum("said").values == pytest.approx(np.ones((len(told.annotator), 3)))
    last = steps[rounds - 1].shares
    for who in told["annotator"].values:
        own = [(e, k, w) for e, q, k, w in given_votes if q == who]
        right = sum(w * last[e][k] for e, k, w in own) / sum(w for _, _, w in own)
        assert float(told["weight"].sel(annotator=who)) == pytest.approx(float(right), abs=1e-10)


@given(votes())
def test_worker_agreement(given_votes: oracle.Votes) -> None:
    worth = oracle.agreement(given_votes, LABELS)
    table = table_of(given_votes)
    lam = WorkerAgreement().aggregate(table, KEYS)
    assert_close(lam, oracle.shares(given_votes, LABELS, worth))
    told = WorkerAgreement().reliability(table)
    for who, weight in worth.items():
        assert float(told["weight"].sel(annotator=who)) == pytest.approx(float(weight), abs=1e-14)


@given(votes(), st.lists(st.integers(0, 4), min_size=4, max_size=4), st.integers(1, 3))
def test_weighted_vote(given_votes: oracle.Votes, weights: list[int], others: int) -> None:
    known = list(dict.fromkeys(vote[1] for vote in given_votes))
    own = {who: float(weight) for who, weight in zip(known[1:], weights, strict=False) if weight}
    worth = {who: Fraction(own.get(who, others)) for who in ANNOTATORS}
    lam = WeightedVote(weights=own, others=float(others)).aggregate(table_of(given_votes), KEYS)
    assert_close(lam, oracle.shares(given_votes, LABELS, worth))


@given(votes())
def test_with_equal_weights_they_are_label_frequency(given_votes: oracle.Votes) -> None:
    table = table_of(given_votes)
    shares = oracle.shares(given_votes, LABELS)
    assert_close(WeightedVote().aggregate(table, KEYS), shares)
    nobody = table_of(given_votes, anonymous=ANNOTATORS)
    with quiet():
        assert_close(WorkerAgreement().aggregate(nobody, KEYS), shares)


@settings(max_examples=20)
@given(votes())
def test_unknown_annotators_are_one(given_votes: oracle.Votes) -> None:
    """As if one person had given all their responses, whatever that person is called."""
    some = ANNOTATORS[:2]
    as_one = [(e, "zz" if q in some else q, k, w) for e, q, k, w in given_votes]
    model = DawidSkene(iterations=5, tolerance=0.0)
    with quiet():
        found = model.aggregate(table_of(given_votes, anonymous=some), KEYS)
    steps = oracle.dawid_skene(as_one, LABELS, rounds=5, smoothing=Fraction(1, 100))
    assert_close(found, steps[-1].shares, within=1e-9)


def test_cells_are_in_the_order_of_names() -> None:
    cells = Cells.of(
        table_of([("b", "z", "Ä", 2), ("a", "y", "melanoma", 1), ("b", "a", "Ä", 1)]),
        frozenset({"single-label"}),
        "error",
        "it",
    )
    found = zip(cells.example, cells.annotator, cells.label, cells.weight, strict=True)
    assert [tuple(map(int, cell)) for cell in found] == [(0, 1, 1, 1), (1, 0, 2, 1), (1, 2, 2, 2)]
