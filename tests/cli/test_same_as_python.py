"""The command line computes what the Python API computes."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import plausibly
from cli_world import CALIBRATE, EVALUATE, World, typed
from plausibly.io import read_plausibilities, read_sets

METHODS: dict[str, dict[str, object]] = {
    "": {},
    "--calibrator monte-carlo --set method.calibrator.draws=7 --seed 3": {
        "calibrator": "monte-carlo",
        "draws": 7,
        "seed": 3,
    },
    "--calibrator majority-vote --score log-probability": {
        "calibrator": "majority-vote",
        "score": "log-probability",
    },
}


@pytest.mark.parametrize("flags", METHODS)
def test_the_way_of_the_data(world: World, flags: str) -> None:
    predictions = plausibly.read_predictions("probabilities.csv")
    lam = plausibly.aggregate(plausibly.read_annotations("votes.csv"))
    predictor = plausibly.calibrate(predictions, lam, **METHODS[flags])  # type: ignore[arg-type]  # by name
    sets = predictor.predict(plausibly.read_predictions("new.csv"), ["0.1", "0.2"])
    new = plausibly.aggregate(plausibly.read_annotations("new_votes.csv"))
    evaluation = plausibly.evaluate(sets, new).data

    ran = typed(f"{CALIBRATE} {flags} --json")
    assert ran.code == 0, ran.err
    assert ran.document["fingerprint"] == predictor.fingerprint
    loaded = plausibly.load_predictor("predictor.nc")
    assert loaded.metadata.aggregator == "label-frequency"
    ran = typed("predict predictor.nc -p new.csv --alpha 0.1 --alpha 0.2 -o sets.csv --json")
    thresholds = predictor.threshold(["0.1", "0.2"]).values.tolist()
    assert [result["threshold"] for result in ran.document["results"]] == thresholds
    xr.testing.assert_identical(read_sets("sets.csv"), sets.rename(None))
    ran = typed(f"{EVALUATE} --json")
    for result, alpha in zip(ran.document["results"], (0.1, 0.2), strict=True):
        for end in ("mean", "low", "high"):
            expected = float(evaluation[f"aggregated_coverage_{end}"].sel(alpha=alpha))
            assert result["aggregated_coverage"][end] == expected


def test_aggregate_writes_what_python_gives(world: World) -> None:
    lam = plausibly.aggregate(plausibly.read_annotations("votes.csv"))
    assert typed("aggregate -a votes.csv -o lam.csv").code == 0
    found = read_plausibilities("lam.csv")
    np.testing.assert_array_equal(found.values, lam.values)
    np.testing.assert_array_equal(found["denominator"].values, lam["denominator"].values)


def test_inline_tables_are_components_and_names_may_be_left_out(world: World) -> None:
    table = '{name = "ecdf", delta = 0.5, held_out = 0.4, band = "one-sided"}'
    drawn = ("--calibrator", '{name = "monte-carlo", draws = 3}')
    ran = typed(CALIBRATE, "--combiner", table, *drawn, "--set", "output.keep_names=false")
    assert ran.code == 0
    predictor = plausibly.load_predictor("predictor.nc")
    assert (predictor.summary.m, predictor.summary.n_held_out) == (3, 12)
    assert "combiner ecdf (held_out 0.4, delta 0.5, band one-sided)" in ran.text
    assert predictor.hashes is None


def test_clusters_are_held_out_whole(world: World) -> None:
    typed(f"{CALIBRATE} -e patients.csv --set examples.cluster=patient --combiner held-out-rank")
    predictions = plausibly.read_predictions("probabilities.csv")
    table = plausibly.read_examples("patients.csv")
    predictions = predictions.assign_coords(patient=("example", table["patient"].values))
    lam = plausibly.aggregate(plausibly.read_annotations("votes.csv"))
    expected = plausibly.calibrate(predictions, lam, combiner="held-out-rank", cluster="patient")
    assert plausibly.load_predictor("predictor.nc").fingerprint == expected.fingerprint


def test_examples_name_the_rows_of_a_file_without_names(world: World) -> None:
    np.save("bare.npy", plausibly.read_predictions("probabilities.csv").values)
    world.write("labels.txt", "cat\ndog\nfox\n")
    words = "-a votes.csv --labels labels.txt -e patients.csv -o predictor.nc"
    words += " --set examples.cluster=patient --json"
    bare = typed(f"calibrate -p bare.npy {words}").document
    named = typed(f"calibrate -p probabilities.csv {words}").document
    assert bare["fingerprint"] == named["fingerprint"]


def test_the_scale_of_the_predictor_is_the_default(world: World) -> None:
    for name in ("probabilities", "new"):
        array = plausibly.read_predictions(f"{name}.csv")
        np.savez(
            f"{name}.npz",
            predictions=np.log(array.values) + 1,
            examples=array["example"].values,
            labels=array["label"].values,
        )
    words = "-a votes.csv -p probabilities.npz --set predictions.scale=logit -o predictor.nc"
    assert typed(f"calibrate {words}").code == 0
    ran = typed("predict predictor.nc -p new.npz -o sets.csv --json")
    assert ran.document["predictions"]["scale"] == "logit"
    expected = plausibly.load_predictor("predictor.nc").predict(
        plausibly.read_predictions("new.npz", scale="logit"), "0.1"
    )
    np.testing.assert_array_equal(read_sets("sets.csv").values, expected.values)
