"""Simulated crowds whose confusion is known: it is found, and better labels with it."""

from __future__ import annotations

import numpy as np

import plausibly
from crowd_models_worlds import crowd


def test_confusion_matrices_are_found() -> None:
    """Standard errors are about sqrt(p (1 - p) / 2,000): 0.01; five of them at most."""
    found = crowd(np.random.default_rng(11), examples=8_000, annotators=8, labels=3, each=6)
    told = plausibly.reliability(found.table, "dawid-skene")
    names = [f"a{q}" for q in range(8)]
    labels = [f"l{k}" for k in range(3)]
    ours = told["confusion"].sel(annotator=names, label=labels, said=labels).values
    off = np.abs(ours - found.confusion)
    assert off.max() < 0.05
    assert off.mean() < 0.012
    counts = found.prevalence[None, :, None] * 8_000 * 6 / 8
    errors = np.sqrt(found.confusion * (1 - found.confusion) / counts)
    assert (off <= 4 * errors + 0.01).mean() > 0.97


def test_so_is_what_each_is_worth() -> None:
    found = crowd(np.random.default_rng(12), examples=4_000, annotators=8, labels=3, each=5)
    about = found.table["response_example"].values
    who = found.table["response_annotator"].values
    right = found.table["mention_label"].values == found.truth[about]
    real = np.bincount(who, right) / np.bincount(who)
    for aggregator, within in (("dawid-skene", 0.03), ("one-coin", 0.06)):
        told = plausibly.reliability(found.table, aggregator)
        assert np.abs(told["weight"].values - real).max() < within
        assert told["responses"].values.tolist() == np.bincount(who).tolist()
    votes = plausibly.reliability(found.table, "worker-agreement")
    assert np.corrcoef(votes["weight"].values, real)[0, 1] > 0.95
