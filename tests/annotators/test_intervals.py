"""Intervals of agreement hold the truth as often as they say, also of few examples."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import plausibly
from plausibly.annotators.answers import Resampling
from plausibly.kernels.random import Keys, hash_names

from .oracles import alpha, ordinal, table

WORLDS, ANSWERS = 500, 4


def votes(worlds: int, n: int, seed: int) -> NDArray[np.int64]:
    """Counts of three labels, of four answers each: (world, example, label)."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet([0.5, 0.5, 0.3], (worlds, n))
    return rng.multinomial(ANSWERS, shares)


def measures(
    counts: NDArray[np.int64], times: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The share of pairs that agree, and Krippendorff's alpha: (world, replicate)."""
    pairs = (counts * (counts - 1)).sum(axis=-1) / (ANSWERS * (ANSWERS - 1))
    number = times.sum(axis=0)
    percent = pairs @ times / number
    label = np.einsum("wnk,nr->wkr", counts, times, optimize=True)
    n = ANSWERS * number
    left = n * n - (label**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return percent, np.where(left > 0, 1 - (n - 1) * n * (1 - percent) / left, np.nan)


@pytest.mark.parametrize("n", [10, 50])
def test_they_cover_what_they_say(n: int) -> None:
    plan = Resampling(
        hashes=np.sort(hash_names([f"e{place}" for place in range(n)])),
        of=np.arange(n),
        resamples=400,
        keys=Keys(n),
        confidence=0.95,
    )
    times = np.concatenate(list(plan.times()), axis=1)
    truth = measures(votes(1, 100_000, seed=1), np.ones((100_000, 1)))
    for found, true in zip(measures(votes(WORLDS, n, seed=n), times), truth, strict=True):
        ends = np.array([plan.ends(row) for row in found])
        assert np.isfinite(ends).all(axis=1).mean() > 0.99
        covered = np.mean((ends[:, 0] <= true[0, 0]) & (true[0, 0] <= ends[:, 1]))
        # Three standard errors of 500 worlds around 0.95 to 0.97; percentiles give 0.88 at 10.
        assert 0.925 <= covered <= 0.99


def test_ordinal_alpha_of_each_resample_is_that_of_its_answers() -> None:
    """The interval is made of alpha by definition, of answers as often as they are drawn."""
    rng = np.random.default_rng(2)
    names, order = [f"e{place}" for place in range(8)], ["1", "2", "3", "4"]
    answers = {name: rng.choice(order, 3, p=[0.5, 0.2, 0.2, 0.1]).tolist() for name in names}
    records = [(name, f"w{k}", said) for name in names for k, said in enumerate(answers[name])]
    found = plausibly.agreement(table(records, order), order=order, resamples=20, seed=5).data
    hashes = hash_names(names)
    by_hash = [answers[names[place]] for place in np.argsort(hashes)]
    plan = Resampling(
        hashes=np.sort(hashes),
        of=np.arange(8),
        resamples=20,
        keys=Keys(5).child("agreement"),
        confidence=0.95,
    )
    values = []
    for times in np.concatenate(list(plan.times()), axis=1).T.astype(int):
        drawn = [unit for unit, often in zip(by_hash, times, strict=True) for _ in range(often)]
        values.append(float(alpha(drawn, ordinal(drawn, order)) or np.nan))
    one = found.sel(measure="krippendorff-ordinal")
    ends = float(one["low"]), float(one["high"])
    assert ends == pytest.approx(plan.ends(np.array(values)), abs=1e-9)


def test_what_does_not_vary_has_no_interval() -> None:
    records = [(f"e{place}", by, "a" if place < 7 else "b") for place in range(9) for by in "xyz"]
    found = plausibly.agreement(table(records), resamples=50).data.sel(measure="percent")
    assert float(found["value"]) == 1
    assert np.isnan([float(found["low"]), float(found["high"])]).all()
