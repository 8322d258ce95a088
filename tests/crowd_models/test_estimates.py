"""Estimates that go round and round: they climb, they stop, and only names and votes matter."""

from __future__ import annotations

import itertools
import json
import math

import attrs
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings

import plausibly
from crowd_models_oracles import Votes
from crowd_models_worlds import LABELS, crowd, quiet, table_of, votes
from plausibly.errors import PlausiblyWarning
from plausibly.plugin import Keys
from plausibly_builtins.crowd_models.em import DawidSkene, OneCoin
from refusals import warned

KEYS = Keys()
MODELS = [
    DawidSkene(smoothing=0.0, tolerance=0.0, iterations=30),
    DawidSkene(smoothing=0.3, diagonal=0.7, label_smoothing=0.2, tolerance=0.0, iterations=30),
    OneCoin(right=0.4, wrong=0.1, label_smoothing=1.0, tolerance=0.0, iterations=30),
]


def history_of(model: DawidSkene | OneCoin, table: xr.Dataset) -> list[float]:
    """Return the objective where each iteration began, until nothing changes."""
    found = []
    for count in range(1, model.iterations + 1):
        with quiet():
            lam = attrs.evolve(model, iterations=count).aggregate(table, KEYS)
        facts = json.loads(lam.attrs["convergence"])
        if facts["iterations"] < count:
            break
        found.append(facts["objective"])
    return found


@pytest.mark.parametrize("model", MODELS, ids=repr)
@settings(max_examples=15)
@given(given_votes=votes())
def test_the_objective_never_falls(model: DawidSkene | OneCoin, given_votes: Votes) -> None:
    history = history_of(model, table_of(given_votes))
    slack = 1e-9 * (1 + np.abs(history[:-1]))
    assert (np.diff(history) >= -slack).all(), history


def test_the_objective_is_the_likelihood_summed_over_all_truths() -> None:
    """Every way in which three examples may be true, each with its chance."""
    given_votes = [("a", "q", "b c", 1), ("a", "r1", "Ä", 1), ("b", "q", "Ä", 1)]
    given_votes += [("b", "r1", "Ä", 1), ("c", "r1", "b c", 1), ("c", "q", "b c", 1)]
    model = DawidSkene(smoothing=0.2, tolerance=0.0, iterations=4)
    with quiet():
        told = model.reliability(table_of(given_votes))
        history = history_of(attrs.evolve(model, iterations=5), table_of(given_votes))
        lam = model.aggregate(table_of(given_votes), KEYS)
    prevalence = lam.mean("example")
    total = 0.0
    for truth in itertools.product(LABELS, repeat=3):
        true = dict(zip("abc", truth, strict=True))
        chance = math.prod(float(prevalence.sel(label=k)) for k in truth)
        for example, who, said, _ in given_votes:
            cell = {"annotator": who, "label": true[example], "said": said}
            chance *= float(told["confusion"].sel(cell))
        total += chance
    prior = 0.2 * float(np.log(told["confusion"]).sum())
    assert history[-1] == pytest.approx(math.log(total) + prior, abs=1e-9)


def test_thousands_of_responses_an_example_do_not_underflow() -> None:
    """Two hundred responses per example, each with chances far from 1: 1e-2^200 is no float."""
    found = crowd(
        np.random.default_rng(0), examples=30, annotators=200, labels=5, each=200, skill=(0.2, 0.4)
    )
    lam = plausibly.aggregate(found.table, "dawid-skene")
    assert np.isfinite(lam.values).all()
    assert np.abs(lam.values.sum(axis=1) - 1).max() < 1e-12
    assert (lam.values.argmax(axis=1) == found.truth).mean() > 0.9


def test_convergence_is_told() -> None:
    found = crowd(np.random.default_rng(1), examples=100, annotators=8, labels=3, each=4)
    lam = plausibly.aggregate(found.table, "dawid-skene", tolerance=1e-4)
    facts = json.loads(lam.attrs["convergence"])
    assert facts["tolerance"] == 1e-4
    assert 0 < facts["change"] <= 1e-4
    assert 3 < facts["iterations"] < 500
    assert facts["objective"] < 0
    told = plausibly.reliability(found.table, "dawid-skene", tolerance=1e-4)
    assert told.attrs["convergence"] == lam.attrs["convergence"]
    closer = plausibly.aggregate(found.table, "dawid-skene", tolerance=1e-10)
    assert np.abs(closer - lam).max() < 1e-2
    assert json.loads(closer.attrs["convergence"])["objective"] >= facts["objective"]


def test_stopped_early_it_warns_with_numbers() -> None:
    found = crowd(np.random.default_rng(1), examples=100, annotators=8, labels=3, each=4)
    with warned("not-converged", "in iteration 2", "hint iterations = 20") as caught:
        plausibly.aggregate(found.table, "one-coin", iterations=2)
    message = caught[0].message
    assert isinstance(message, PlausiblyWarning)
    change = float(str(message.details["change"]))
    assert f"still changes by {change:.2g}" in " ".join(message.what.split())
    assert message.details["iterations"] == 2
    with warned("not-converged", "iterations = 300, or tolerance = 0.0001"):
        plausibly.aggregate(found.table, "one-coin", iterations=30)
