"""What is read off a pilot against the definitions, and its resamples against real calibrations."""

from __future__ import annotations

import math
from fractions import Fraction

import attrs
import numpy as np
import pytest

import plausibly
from plausibly.conformal.aggregate import aggregate
from plausibly.data.plausibilities import Plausibilities
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Ints
from plausibly.planning.law import Law
from plausibly.planning.pilot import Pilot

from .pilots import pilot

TENTH = Fraction(1, 10)
PREDICTIONS, VOTES = pilot(200, 3)
LAM = aggregate(VOTES)
CLUSTERS = np.unique(PREDICTIONS["patient"].values, return_inverse=True)[1]
ORDER = np.argsort(hash_names(PREDICTIONS["example"].values))


def made(clusters: Ints | None = None) -> Pilot:
    lam = Plausibilities.of(LAM)
    return Pilot(
        predictions=PREDICTIONS, plausibilities=lam, score="probability", seed=0, clusters=clusters
    )


def missed_by_definition(alpha: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The plausibility left out by the largest threshold that leaves out at most alpha of it."""
    scores, shares = PREDICTIONS.values, LAM.values
    best = np.zeros(len(scores))
    for tau in np.append(np.unique(scores), 2.0):
        missed = (shares * (scores < tau)).sum(axis=1)
        if missed.mean() <= alpha + 1e-12:
            best = missed
    return best


def test_variances_between_and_within_examples() -> None:
    missed = missed_by_definition(0.1)
    assert 0.09 < missed.mean() <= 0.1
    found = made(CLUSTERS).shares(TENTH)
    assert found.between == pytest.approx(missed.var(ddof=1), rel=1e-12)
    assert found.within == pytest.approx((missed * (1 - missed)).mean(), rel=1e-12)
    mean = missed.mean()
    assert found.between * (1 - 1 / 200) + found.within == pytest.approx(
        mean * (1 - mean), rel=1e-12
    )
    off = missed - mean
    sums = np.array([off[code == CLUSTERS].sum() for code in range(CLUSTERS.max() + 1)])
    variance = len(sums) / (len(sums) - 1) * (sums**2).sum() / 200
    assert found.design_effect == pytest.approx(variance / missed.var(ddof=1), rel=1e-12)
    assert found.design_effect > 1.2
    assert made().shares(TENTH).design_effect == 1.0
    assert found.ratio(1) == pytest.approx(
        1 + (found.design_effect - 1) * found.between / (found.between + found.within)
    )


def test_the_caller_s_rows_do_not_matter() -> None:
    turned = np.arange(200)[::-1]
    other = attrs.evolve(
        made(CLUSTERS[turned]),
        predictions=PREDICTIONS.isel(example=turned),
        plausibilities=Plausibilities.of(LAM.isel(example=turned)),
    )
    assert other.shares(TENTH) == made(CLUSTERS).shares(TENTH)
    for m in (2, math.inf):
        one, two = (
            each.resampled([TENTH], 50, [m], 5, Keys(0)) for each in (made(CLUSTERS), other)
        )
        np.testing.assert_array_equal(one, two)


def calibrated(examples: Ints, alpha: Fraction) -> float:
    """Coverage on the pilot of what `calibrate` makes of these rows of it, ordered by hash."""
    rows = ORDER[examples]
    names = [f"copy {number}" for number in range(len(rows))]
    part = PREDICTIONS.isel(example=rows).assign_coords(example=names)
    lam = LAM.isel(example=rows).assign_coords(example=names)
    sets = plausibly.calibrate(part, lam).predict(PREDICTIONS, alpha)
    return float((LAM * sets).sum("label").mean())


@pytest.mark.parametrize("n", [9, 30, 150])
def test_resamples_calibrate_as_calibrate_does(n: int) -> None:
    held = made()
    found = held.resampled([TENTH, Fraction(1, 4)], n, [math.inf], 4, Keys(3))
    for number in range(4):
        stream = Keys(3).child(f"resample-{number}")
        examples = (stream.uniform(hash_names(["examples"]), n)[0] * 200).astype(np.int64)
        for row, alpha in enumerate((TENTH, Fraction(1, 4))):
            assert found[row, 0, number] == pytest.approx(calibrated(examples, alpha), abs=1e-9)


def test_drawn_labels_have_their_plausibilities() -> None:
    held = made()
    examples = np.repeat(np.arange(200), 300)
    values, weights, _ = held._ordered
    drawn = held._draw(examples, 1, Keys(0))[:, 0].reshape(200, 300)
    for row in range(0, 200, 20):
        for label in range(values.shape[1]):
            share = float((drawn[row] == values[row, label]).mean())
            alike = values[row] == values[row, label]
            expected = weights[row, alike].sum()
            assert abs(share - expected) < 4 * 0.5 / math.sqrt(300)
            assert expected > 0 or share == 0


def test_fewer_draws_are_among_more() -> None:
    held = made()
    one = held.resampled([TENTH], 60, [1, 5], 6, Keys(0))
    two = held.resampled([TENTH], 60, [1, 2, 5], 6, Keys(0))
    np.testing.assert_array_equal(one[:, 0], two[:, 0])
    np.testing.assert_array_equal(one[:, 1], two[:, 2])
    more = held.resampled([TENTH], 60, [1], 9, Keys(0))
    np.testing.assert_array_equal(one[:, 0], more[:, 0, :6])


@pytest.mark.parametrize("n", [1, 7, 40, 500])
def test_whole_clusters_are_drawn(n: int) -> None:
    held = made(CLUSTERS)
    examples = held._examples(n, Keys(5))
    assert len(examples) == n
    codes, counts = np.unique(CLUSTERS[ORDER][examples], return_counts=True)
    sizes = np.bincount(CLUSTERS)[codes]
    whole = counts % sizes == 0
    assert (~whole).sum() <= 1  # the last one is cut


@pytest.mark.parametrize("clustered", [False, True])
def test_the_bootstrap_agrees_with_the_formula(clustered: bool) -> None:
    predictions, votes = pilot(1500, 4, clusters=60, seed=4)
    lam = aggregate(votes)
    codes = None
    if clustered:
        codes = np.unique(predictions["patient"].values, return_inverse=True)[1]
    held = attrs.evolve(made(codes), predictions=predictions, plausibilities=Plausibilities.of(lam))
    shares = held.shares(TENTH)
    assert (shares.design_effect > 1.4) == clustered
    found = held.resampled([TENTH], 600, [1, 10, math.inf], 300, Keys(1))[0]
    for place, m in enumerate((1, 10, math.inf)):
        law = Law.of(TENTH, np.array([600]), m, shares)
        # a spread of 300 is off by 4%, with clusters of several sizes by more
        assert found[place].std() == pytest.approx(law.spread()[0], rel=0.17)
        assert (
            abs(found[place].mean() - law.mean()[0]) < 4 * law.spread()[0] / math.sqrt(300) + 1e-3
        )
