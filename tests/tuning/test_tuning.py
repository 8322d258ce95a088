"""RAPS tuned on examples of its own: what is chosen, on which examples, and why not on others."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import xarray as xr

import plausibly
from call_files import each_call
from plausibly.evaluation.splits import split, split_keys
from plausibly.evaluation.tuning import TunedScore
from plausibly.kernels.random import hash_names
from plausibly_builtins.single_label.votes import SingleLabel
from refusals import refused
from tables import LABELS, world


@pytest.fixture(scope="module")
def data() -> tuple[xr.DataArray, xr.DataArray]:
    return world(300)


@pytest.fixture(scope="module")
def tuned(data: tuple[xr.DataArray, xr.DataArray]) -> TunedScore:
    return plausibly.tune_raps(*data, penalties=[0.2, 0.0, 0.05], free_ranks=[2, 1], splits=3)


def test_the_candidate_with_the_smallest_sets_is_chosen(tuned: TunedScore) -> None:
    sizes = tuned.candidates["set_size"]
    assert sizes.dims == ("penalty", "free_rank")
    assert sizes["penalty"].values.tolist() == [0, 0.05, 0.2]
    assert sizes["free_rank"].values.tolist() == [1, 2]
    chosen = sizes.sel(penalty=tuned.score["penalty"], free_rank=tuned.score["free_rank"])
    assert float(chosen) == float(sizes.min())
    assert tuned.score["name"] == "raps"
    assert (tuned.candidates["aggregated_coverage"] > 0.85).all()


def test_candidates_are_measured_on_the_halves_of_the_tuning_examples(
    data: tuple[xr.DataArray, xr.DataArray], tuned: TunedScore
) -> None:
    predictions, plausibilities = (array.sel(example=list(tuned.tuned_on)) for array in data)
    hashes = hash_names(tuned.tuned_on)
    sizes, covered = [], []
    for number in range(3):
        test = split(hashes, split_keys(0, number).child("tuning"))
        predictor = plausibly.calibrate(
            predictions[~test],
            plausibilities[~test],
            score={"name": "raps", "penalty": 0.05, "free_rank": 1},
        )
        sets = predictor.predict(predictions[test], 0.1)
        sizes.append(sets.sum("label").values)
        covered.append((sets * plausibilities[test]).sum("label").values)
    item = tuned.candidates.sel(penalty=0.05, free_rank=1)
    size, cover = np.concatenate(sizes), np.concatenate(covered)
    assert float(item["set_size"]) == pytest.approx(size.mean(), abs=1e-12)
    assert float(item["aggregated_coverage"]) == pytest.approx(cover.mean(), abs=1e-12)
    strata = [(size <= 1), (size >= 2) & (size <= 3), size >= 4]
    worst = max(abs(cover[s].mean() - 0.9) for s in strata if s.sum() >= 10)
    assert float(item["violation"]) == pytest.approx(worst, abs=1e-12)


def test_without_penalty_the_score_is_aps(data: tuple[xr.DataArray, xr.DataArray]) -> None:
    tuned = plausibly.tune_raps(*data, penalties=[0.0], splits=1)
    assert tuned.score["penalty"] == 0
    rest = [tuned.rest(array) for array in data]
    raps, aps = (plausibly.calibrate(*rest, score=score) for score in (tuned.score, "aps"))
    assert float(raps.threshold(0.1)) == float(aps.threshold(0.1))


def test_equal_candidates_go_to_the_smallest_penalty_and_the_fewest_ranks() -> None:
    tuned = plausibly.tune_raps(*world(200), free_ranks=[5, 4], penalties=[0.3, 0.1], splits=5)
    assert (tuned.score["penalty"], tuned.score["free_rank"]) == (0.1, 4)


def test_free_ranks_hold_enough_plausibility(data: tuple[xr.DataArray, xr.DataArray]) -> None:
    for alpha in (0.1, 0.3, 0.5 - 1e-9):
        tuned = plausibly.tune_raps(*data, alpha=alpha, splits=1, penalties=[0.1])
        predictions, plausibilities = (
            array.sel(example=list(tuned.tuned_on)).values for array in data
        )
        wanted = (1 - Fraction(str(alpha))) * (len(plausibilities) + 1)
        rank = (predictions[:, None, :] >= predictions[:, :, None]).sum(axis=2)
        held = [Fraction(round(5 * plausibilities[rank <= r].sum()), 5) for r in range(1, 5)]
        expected = next((r for r, mass in enumerate(held, 1) if mass >= wanted), len(LABELS))
        assert tuned.score["free_rank"] == expected


def test_the_goal_is_what_is_made_small(data: tuple[xr.DataArray, xr.DataArray]) -> None:
    tuned = plausibly.tune_raps(*data, goal="size-stratified", splits=3)
    chosen = tuned.candidates.sel(
        penalty=tuned.score["penalty"], free_rank=tuned.score["free_rank"]
    )
    assert float(chosen["violation"]) == float(tuned.candidates["violation"].min())


def test_a_randomised_score_stays_randomised(data: tuple[xr.DataArray, xr.DataArray]) -> None:
    tuned = plausibly.tune_raps(*data, randomised=True, splits=1, penalties=[0.1])
    assert tuned.score["randomised"] is True
    assert tuned.calibrate(*data).score.randomised


def test_tuning_examples_are_a_share_by_name(
    data: tuple[xr.DataArray, xr.DataArray], tuned: TunedScore
) -> None:
    predictions, plausibilities = data
    assert len(tuned.tuned_on) == 60
    assert set(tuned.tuned_on) < set(predictions["example"].values)
    tune = partial(plausibly.tune_raps, penalties=[0.2, 0, 0.05], free_ranks=[1, 2], splits=3)
    turned = tune(predictions[::-1, [2, 0, 1, 3]], plausibilities[::-1])
    assert turned.tuned_on == tuned.tuned_on
    assert turned.score == tuned.score
    xr.testing.assert_identical(turned.candidates, tuned.candidates)
    another = tune(predictions, plausibilities, seed=1)
    assert another.tuned_on != tuned.tuned_on
    more = tune(predictions, plausibilities, share=0.5)
    assert set(more.tuned_on) > set(tuned.tuned_on)


def test_groups_stay_on_one_side(data: tuple[xr.DataArray, xr.DataArray]) -> None:
    predictions, plausibilities = data
    tuned = plausibly.tune_raps(predictions, plausibilities, cluster="patient", splits=2)
    inside = predictions.sel(example=list(tuned.tuned_on))["patient"].values
    outside = tuned.rest(predictions)["patient"].values
    assert not set(inside) & set(outside)


def test_the_rest_calibrates(data: tuple[xr.DataArray, xr.DataArray], tuned: TunedScore) -> None:
    predictions, plausibilities = data
    draws = {"name": "monte-carlo", "draws": 3}
    predictor = tuned.calibrate(predictions, plausibilities, calibrator=draws, seed=4)
    rest = tuned.rest(predictions), tuned.rest(plausibilities)
    by_hand = plausibly.calibrate(*rest, calibrator=draws, score=tuned.score, seed=4)
    assert predictor.n == 240
    assert predictor.fingerprint == by_hand.fingerprint
    left_out = json.loads(tuned.rest(predictions).attrs["left_out"])
    assert left_out == {"tuned the score": 60}
    assert "left_out" not in predictions.attrs
    tuned.check(tuned.rest(predictions))


def test_annotations_and_datasets_lose_the_tuning_examples_too() -> None:
    predictions, _ = world(100)
    examples, labels = predictions["example"].values, list(LABELS)
    records = [(n, f"r{j}", labels[(i + j) % 3]) for i, n in enumerate(examples) for j in (0, 1)]
    table = SingleLabel().build(records, labels)
    tuned = plausibly.tune_raps(predictions, table, splits=1, penalties=[0.1])
    rest = tuned.rest(table)
    assert rest.sizes["example"] == 80
    assert tuned.calibrate(predictions, table).n == 80
    facts = xr.Dataset({"site": ("example", np.arange(100))}, {"example": examples})
    assert tuned.rest(facts).sizes["example"] == 80


def test_examples_that_tuned_are_refused_by_name(
    data: tuple[xr.DataArray, xr.DataArray], tuned: TunedScore
) -> None:
    with refused("examples-tuned") as error:
        tuned.check(data[0], source="the calibration examples")
    assert sorted(map(str, error.value.details["examples"])) == sorted(tuned.tuned_on)  # type: ignore[call-overload]  # a list


test_each_call_gives_its_text = each_call(__file__, globals())
