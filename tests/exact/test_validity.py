"""Coverage by simulation: seeded, with a margin of several standard errors.

The enumeration of small bags is the proof; this shows the size of the effect at n that people
have, and that calibration on votes falls short of the answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

import plausibly
from exact_oracles import table
from plausibly.kernels.random import Keys
from plausibly.kernels.types import Hashes

from .pairs import PAIRS, Pair

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

LABELS = ["a", "b", "c"]
MEANS = np.array([[-1.0, -0.6], [1.0, -0.6], [0.0, 0.9]])
ALPHA = "0.1"
MARGIN = 4.0
"""Standard errors of the mean over calibrations; a false alarm is a chance of 1 in 30,000."""


@dataclass(frozen=True)
class Toy:
    """Three overlapping Gaussians in the plane, and five annotators drawn from the posterior."""

    scores: NDArray[np.float64]
    votes: NDArray[np.int64]
    posterior: NDArray[np.float64]


def toy(examples: int, random: np.random.Generator, *, ties: bool, spread: float = 1.0) -> Toy:
    """Return examples of the toy; with `ties` the model says only tenths."""
    truth = random.integers(3, size=examples)
    x = MEANS[truth] + spread * random.normal(size=(examples, 2))
    logits = -((x[:, None, :] - MEANS) ** 2).sum(axis=2) / (2 * spread**2)
    posterior = np.exp(logits - logits.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    votes = random.multinomial(5, posterior)
    blurred = np.exp(0.7 * logits - (0.7 * logits).max(axis=1, keepdims=True))
    blurred /= blurred.sum(axis=1, keepdims=True)
    return Toy(np.round(blurred, 1) if ties else blurred, votes, posterior)


def plausibilities(votes: NDArray[np.int64], names: list[str]) -> xr.DataArray:
    totals = votes.sum(axis=1)
    return xr.DataArray(
        votes / totals[:, None],
        dims=("example", "label"),
        coords={"example": names, "label": LABELS, "denominator": ("example", totals)},
    )


def coverages(
    pair: Pair, n: int, runs: int, *, ties: bool, test: int = 400
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return aggregated and coverage of the majority vote of each of many calibrations."""
    aggregated, voted = np.zeros(runs), np.zeros(runs)
    names = [f"{i}" for i in range(n)]
    for run in range(runs):
        random = np.random.default_rng([run, n, ties])
        data = toy(n + test, random, ties=ties)
        predictor = plausibly.calibrate(
            table(data.scores[:n], names, LABELS),
            plausibilities(data.votes[:n], names),
            calibrator=pair.calibrator,
            combiner=pair.combiner,
            seed=run,
        )
        sets = predictor.predict_array(data.scores[n:], ALPHA)
        shares = data.votes[n:] / 5
        aggregated[run] = (shares * sets).sum(axis=1).mean()
        voted[run] = sets[np.arange(test), shares.argmax(axis=1)].mean()
    return aggregated, voted


CLAIMING = [
    pair for pair in PAIRS if pair.calibrator != "majority-vote" and pair.rule.name != "ecdf"
]
VOTED = [
    pair
    for pair in PAIRS
    if str(pair) in ("majority-vote x average", "majority-vote x held-out-rank")
]


def least(values: NDArray[np.float64]) -> float:
    """Return the upper end of the margin around the mean of independent calibrations."""
    return float(values.mean() + MARGIN * values.std(ddof=1) / np.sqrt(len(values)))


@pytest.mark.parametrize("ties", [False, True], ids=["distinct", "tied"])
@pytest.mark.parametrize("n", [10, 50, 200])
@pytest.mark.parametrize("pair", CLAIMING, ids=str)
def test_aggregated_coverage_is_kept(pair: Pair, n: int, ties: bool) -> None:
    aggregated, _ = coverages(pair, n, runs=25, ties=ties)
    assert least(aggregated) >= 0.9


@pytest.mark.parametrize("pair", VOTED, ids=str)
def test_votes_are_covered_and_experts_are_not(pair: Pair) -> None:
    aggregated, voted = coverages(pair, n=200, runs=40, ties=False)
    assert least(voted) >= 0.9
    assert least(aggregated) < 0.9
    assert aggregated.mean() < 0.85


@pytest.mark.parametrize("name", ["expected x average", "monte-carlo x average"])
def test_coverage_is_not_much_more_than_guaranteed(name: str) -> None:
    """Without ties between examples: below 1 - alpha + 2 / N, and a margin."""
    pair = next(pair for pair in PAIRS if str(pair) == name)
    aggregated, _ = coverages(pair, n=200, runs=40, ties=False)
    slack = MARGIN * aggregated.std(ddof=1) / np.sqrt(len(aggregated))
    assert aggregated.mean() < 0.9 + 2 / 201 + slack


def test_pac_holds_for_nearly_every_calibration() -> None:
    """At delta 1/5 about one calibration in five may fall short, not more."""
    pair = next(pair for pair in PAIRS if str(pair) == "monte-carlo x pac")
    aggregated, _ = coverages(pair, n=200, runs=80, ties=False, test=2000)
    short = float((aggregated < 0.9).mean())
    assert short <= 0.2 + MARGIN * np.sqrt(0.2 * 0.8 / 80)


def share_missed(seeds: range) -> float:
    """Return how often one more example's drawn label is missed, of 100 examples of even odds."""
    names = [f"case {i}" for i in range(99)]
    scores = np.column_stack([np.linspace(0.6, 0.9, 99), np.linspace(0.1, 0.4, 99)])
    votes = np.ones((99, 2), dtype=np.int64)
    shares = xr.DataArray(
        votes / 2, dims=("example", "label"), coords={"example": names, "label": ["a", "b"]}
    )
    missed = []
    for seed in seeds:
        predictor = plausibly.calibrate(
            table(scores, names, ["a", "b"]), shares, calibrator="monte-carlo", draws=1, seed=seed
        )
        missed.append(1 - predictor.predict_array(scores, ALPHA).mean())
    return float(np.mean(missed))


def test_draws_of_different_examples_are_independent(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one uniform for all examples the same calibration misses far more than alpha."""
    assert share_missed(range(60)) < 0.11
    uniform = Keys.uniform

    def shared(self: Keys, hashes: Hashes, count: int = 1) -> NDArray[np.float64]:
        return np.repeat(uniform(self, hashes[:1], count), len(hashes), axis=0)

    monkeypatch.setattr(Keys, "uniform", shared)
    assert share_missed(range(60)) > 0.2
