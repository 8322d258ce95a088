"""The same sets under several aggregators: against `calibrate` and `evaluate`, by hand, printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import plausibly
from call_files import each_call
from cli_world import make, run
from plausibly.data.states import read_left_out
from plausibly.errors import InputError
from plausibly.evaluation.aggregators import sensitivity
from plausibly.evaluation.splits import split, split_keys, split_seed
from plausibly.kernels.random import hash_names
from tables import labelled

LABELS = ["benign", "unsure", "malignant"]


def crowd(examples: int = 120) -> tuple[xr.DataArray, xr.Dataset]:
    """Return predictions, and single labels by four annotators, of whom one says one thing."""
    rng = np.random.default_rng(5)
    true = rng.dirichlet(np.full(3, 0.7), size=examples)
    named = [f"e{place:03}" for place in range(examples)]
    votes = [
        (name, who, LABELS[1] if who == "dan" else LABELS[rng.choice(3, p=row)])
        for name, row in zip(named, true, strict=True)
        for who in ("ann", "bob", "cat", "dan")
    ]
    noisy = true * rng.uniform(0.4, 1.6, size=true.shape)
    noisy /= noisy.sum(axis=1, keepdims=True)
    patient = [f"p{place // 3}" for place in range(examples)]
    predictions = labelled(noisy, named, LABELS, patient=patient)
    return predictions, plausibly.build_annotations("single-label", votes, LABELS)


NAMES = ["label-frequency", "worker-agreement", "one-coin"]
MEASURES = ("aggregated_coverage", "majority_vote_coverage", "set_size", "sets_changed")


MODEL, VOTES = crowd()
FEWER = MODEL.isel(example=slice(20, None))
TWINS = {"one": "worker-agreement", "two": {"name": "worker-agreement"}}


@pytest.fixture(scope="module")
def found() -> xr.Dataset:
    return sensitivity(MODEL, VOTES, NAMES, alphas=[0.1, "0.3"], splits=6).data


def test_sensitivity_equals_calibrate_and_evaluate(found: xr.Dataset) -> None:
    assert found["guaranteed"].sel(alpha=0.1).values.tolist() == ["0.90"] * 3
    assert found["guaranteed_level"].sel(alpha=0.3).values.tolist() == [0.7] * 3
    mean = found["aggregated_coverage"].mean("split")
    for name in NAMES:  # each covers the answers as it aggregates them, not as others do
        own = mean.sel(calibrated_with=name, judged_by=name)
        assert own.values == pytest.approx([0.9, 0.7], abs=0.05)
    other = mean.sel(calibrated_with="one-coin", judged_by="label-frequency", alpha=0.1)
    assert float(other) < 0.85
    hashes = hash_names(MODEL["example"].values)
    for number in (0, 4):
        test = split(hashes, split_keys(0, number), test=0.5)
        new = MODEL["example"].values[test]
        sets = {}
        for name in NAMES:
            plausibilities = plausibly.aggregate(VOTES, name)
            rest = MODEL["example"].values[~test]
            predictor = plausibly.calibrate(
                MODEL.sel(example=rest),
                plausibilities.sel(example=rest),
                seed=split_seed(0, number),
            )
            sets[name] = predictor.predict(MODEL.sel(example=new), [0.1, 0.3])
        for name in NAMES:
            here = found.sel(calibrated_with=name, split=number)
            changed = (sets[name] != sets[NAMES[0]]).any("label").mean("example")
            np.testing.assert_allclose(here["sets_changed"], changed)
            for judge in NAMES:
                plausibilities = plausibly.aggregate(VOTES, judge).sel(example=new)
                shown = plausibly.evaluate(sets[name], plausibilities).data
                by = here.sel(judged_by=judge)
                for measure in MEASURES[:3]:
                    np.testing.assert_allclose(
                        by[measure], shown[f"{measure}_mean"], rtol=1e-12, err_msg=measure
                    )


def test_others_change_nothing(found: xr.Dataset) -> None:
    fewer = sensitivity(
        MODEL.isel(example=slice(None, None, -1)), VOTES, NAMES[:2], alphas=[0.1], splits=3
    ).data
    part = found.sel(calibrated_with=NAMES[:2], judged_by=NAMES[:2], alpha=[0.1], split=[0, 1, 2])
    for name in MEASURES:
        xr.testing.assert_identical(fewer[name].drop_attrs(), part[name].drop_attrs())
    for name in ("total_variation", "top_changed"):
        xr.testing.assert_allclose(fewer[name], part[name])


@pytest.mark.filterwarnings("ignore:warning guarantee-vacuous")
def test_distances_by_hand() -> None:
    """Of x, 2 of 3 say a; of y there is a tie; z is agreed on."""
    said = ["x1a", "x2a", "x3b", "y1a", "y2b", "z1b", "z2b"]
    votes = plausibly.build_annotations(
        "single-label", [(s[0], s[1], s[2]) for s in said], ["a", "b"]
    )
    model = labelled([[0.6, 0.4], [0.5, 0.5], [0.1, 0.9]], list("xyz"), ["b", "a"])
    silent = {"name": "weighted-vote", "weights": {"1": 0.0}}
    found = sensitivity(
        model, votes, {"all": "label-frequency", "without 1": silent}, splits=1, alphas=[0.3]
    ).data
    # without annotator 1: x is a or b, y is b, z is b
    apart = found["total_variation"].sel(calibrated_with="all", judged_by="without 1")
    assert float(apart) == pytest.approx((1 / 6 + 1 / 2 + 0) / 3)
    assert float(found["total_variation"].sel(calibrated_with="all", judged_by="all")) == 0.0
    # a first label in common: x has a, y has b, z has b
    assert (found["top_changed"] == 0).all()
    largest = found["largest_plausibility"]
    assert float(largest.sel(judged_by="all")) == pytest.approx((2 / 3 + 1 / 2 + 1) / 3)
    assert float(largest.sel(judged_by="without 1")) == pytest.approx((1 / 2 + 1 + 1) / 3)


@pytest.mark.filterwarnings("ignore:warning guarantee-vacuous")
def test_first_labels_that_differ() -> None:
    said = [("x", "r", [["a"], ["b"]]), ("x", "s", [["b"]]), ("y", "r", [["b"]])]
    rankings = plausibly.build_annotations("partial-ranking", said, ["a", "b"])
    model = labelled([[0.6, 0.4], [0.5, 0.5]], ["x", "y"])
    less = {"name": "exclude", "annotators": ["s"]}
    found = sensitivity(model, rankings, {"all": "inverse-rank", "r alone": less}, splits=1).data
    assert float(found["top_changed"].sel(calibrated_with="all", judged_by="r alone")) == 0.5
    notes = json.loads(found.attrs["notes"])
    assert notes == {"all": {}, "r alone": {"left_out": {"responses by excluded annotators": 1}}}


def test_drawn_plausibilities_are_evaluated_by_their_mean() -> None:
    # Any: parameters of an aggregator
    draws: dict[str, Any] = {"name": "bootstrap", "draws": 4}
    found = sensitivity(
        MODEL, VOTES, {"once": "label-frequency", "four": draws}, splits=2, seed=3
    ).data
    mean = plausibly.aggregate(VOTES, draws, seed=3).mean("draw")
    apart = abs(plausibly.aggregate(VOTES) - mean).sum("label").mean() / 2
    shown = found["total_variation"].sel(calibrated_with="once", judged_by="four")
    assert float(shown) == pytest.approx(float(apart))
    by_draw = sensitivity(
        MODEL, VOTES, {"once": draws, "four": draws}, splits=2, calibrator="monte-carlo", draws=4
    ).data
    assert (by_draw["sets_changed"] == 0).all()


def test_examples_without_an_answer() -> None:
    rows = plausibly.to_frame(VOTES)[["example", "annotator", "label"]].astype(str)
    rows.loc[rows["example"].isin(["e003", "e100"]), "label"] = ""
    table = plausibly.build_annotations(
        "single-label", rows.itertuples(index=False, name=None), LABELS
    )
    with pytest.raises(InputError, match="example-unanswered"):
        sensitivity(MODEL, table, NAMES[:2], splits=1)
    found = sensitivity(MODEL, table, NAMES[:2], splits=1, unanswered="drop").data
    assert found.attrs["n"] == 118
    assert read_left_out(found.attrs) == {"without a response": 2}


BASE = ("sensitivity", "-a", "votes.csv", "-p", "probabilities.csv", "--aggregator")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path)


def test_six_aggregators_take_two_tables_and_the_reference_is_named() -> None:
    tables = [f'{{name = "weighted-vote", others = {weight}.0}}' for weight in range(2, 6)]
    more = [word for table in tables for word in ("--aggregator", table)]
    words = ("--splits", "1", "-e", "patients.csv", "--cluster", "patient")
    names = ("label-frequency", "--aggregator", "one-coin", "--reference", "one-coin")
    ran = run(*BASE, *names, *more, *words)
    assert ran.code == 0, ran.err
    assert "the sets of one-coin cover" in " ".join(ran.out.split())
    assert ran.out.count("coverage, evaluated with") == 2
    assert max(map(len, ran.out.splitlines())) <= 80
    assert not [line for line in ran.out.splitlines() if line != line.rstrip()]


test_each_call_gives_its_text = each_call(__file__, globals())
