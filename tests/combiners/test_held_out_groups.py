"""Ranks among held-out examples where patients have several: one of each patient is ranked."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly.calibration.pvalues import keyed_share, one_of_each
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools, Floats, Ints
from refusals import refused
from tables import labelled

REPEATS, NEW = 250, 200


def few_large(rng: np.random.Generator, count: int) -> tuple[Ints, Bools]:
    """Return how many scans patients have: few have thirty; and whether these are hard."""
    sizes = np.where(rng.random(count) < 2 / 62, 30, 1)
    return sizes, sizes == 30


def many_hard(rng: np.random.Generator, count: int) -> tuple[Ints, Bools]:
    """Return those of patients, of whom one in five has thirty easy scans, others a hard one."""
    sizes = np.where(rng.random(count) < 0.2, 30, 1)
    return sizes, sizes == 1


@pytest.mark.parametrize(
    ("world", "count", "share", "exact"),
    [(few_large, 62, "0.4", 2 / 25), (many_hard, 98, "0.5", 5 / 50)],
)
def test_a_random_example_of_a_new_patient_is_missed_as_often_as_its_rank_says(
    world: Callable[[np.random.Generator, int], tuple[Ints, Bools]],
    count: int,
    share: str,
    exact: float,
) -> None:
    """The rank among h others is uniform: floor(alpha (h + 1)) of h + 1 places are misses."""
    rng = np.random.default_rng(11)
    names = hash_names(range(30 * count))

    def scores(hard: Bools) -> Floats:
        values: Floats = (rng.random(len(hard)) + ~hard) / 2
        return values

    misses = []
    for repeat in range(REPEATS):
        sizes, hard = world(rng, count)
        patient = np.repeat(np.arange(count), sizes)
        hashes = names[: len(patient)]
        away = keyed_share(Fraction(share), hashes, Keys(repeat, "some"), patient)
        away &= one_of_each(hashes, Keys(repeat, "one"), patient.astype(np.str_))
        held_out = np.sort(scores(hard[patient])[away])
        ranks = np.searchsorted(held_out, scores(world(rng, NEW)[1]), "right") + 1
        misses.append(float((10 * ranks <= len(held_out) + 1).mean()))
    assert abs(np.mean(misses) - exact) < 4 * np.std(misses) / np.sqrt(REPEATS)


@pytest.mark.parametrize("combiner", ["held-out-rank", "pac", "ecdf"])
def test_one_example_of_each_held_out_patient_is_ranked(combiner: str) -> None:
    """The others of its patient are set aside too, and the guarantee is for a new patient."""
    rng, sizes = np.random.default_rng(0), [1, 4, 30, 2, 3, 1, 5, 2, 1, 30]
    patient = np.array([f"patient {i}" for i in np.repeat(np.arange(10), sizes)])
    n = len(patient)
    predictions = labelled(rng.dirichlet([1, 1, 1], n), "scan ", patient=patient)
    answers = labelled(rng.multinomial(4, [1 / 3] * 3, n) / 4, "scan ")
    table: dict[str, object] = {"name": combiner, "held_out": 0.4}
    if combiner == "pac":
        table["bound"] = "held-out"
    calibrate = partial(
        plausibly.calibrate, calibrator="monte-carlo", combiner=table, cluster="patient", seed=2
    )
    predictor = calibrate(predictions, answers)
    hashes = hash_names(predictions["example"].values)
    away = keyed_share(Fraction(2, 5), hashes, Keys(2).child("held-out"), patient)
    assert len(set(patient[away])) == predictor.summary.n_held_out == 4
    assert predictor.metadata.calibrated_on == (~away).sum() < n - 4
    guarantee = predictor.guarantee("0.3")
    assert guarantee.cluster == "patient"
    assert 'random one of a new "patient"' in guarantee.covers
    assert any('values of "patient"' in text for text in guarantee.assumes)
    # Without held-out examples no patient matters.
    plain = plausibly.calibrate(predictions, answers, cluster="patient")
    assert plain.guarantee("0.1").cluster == ""
    again = calibrate(predictions[rng.permutation(n)], answers)
    expected = predictor.p_values(predictions)
    np.testing.assert_array_equal(again.p_values(predictions), expected)
    with refused("calibration-empty", "1 group"):
        calibrate(predictions[5:35], answers[5:35])


def test_resampled_plausibilities_stay_with_examples_that_are_not_held_out() -> None:
    """Every label of the first draw is the first one, of the second draw the second."""
    predictions = labelled(np.random.default_rng(0).dirichlet([1, 1], 40))
    certain = [labelled(np.tile(row, (40, 1))) for row in ([1.0, 0.0], [0.0, 1.0])]
    resampled = xr.concat(certain, xr.Variable("draw", [1, 2]))
    predictor = plausibly.calibrate(
        predictions,
        resampled,
        calibrator={"name": "monte-carlo", "draws": 2},
        combiner="held-out-rank",
    )
    scores = predictor.pools.calibration.scores
    assert scores.shape == (2, predictor.summary.n)
    for label in range(2):
        assert np.isin(scores[label], predictions[:, label]).all()
