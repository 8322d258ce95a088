"""Studies: the same splits for every method, one stream a split, warnings said once."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import xarray as xr

from plausibly import calibrate
from plausibly.errors import PlausiblyWarning
from plausibly.evaluation import Study, compare, evaluate
from plausibly.evaluation.design import Methods
from plausibly.evaluation.splits import split, split_keys, split_seed
from plausibly.kernels.random import hash_names

from . import studies as oracle

MEASURES = ("aggregated_coverage", "majority_vote_coverage", "set_size", "share_empty")
METHODS = [
    {"calibrator": "majority-vote"},
    {"calibrator": "monte-carlo", "combiner": "average"},
    {"calibrator": "monte-carlo", "combiner": "held-out-rank"},
    {"calibrator": "expected"},
]


def test_a_study_is_calibrate_predict_evaluate_on_each_split() -> None:
    predictions, lam = oracle.world(120)
    true = predictions["example"].copy(data=np.resize(["l2", "l0", "l1"], 120))
    study = compare(
        predictions,
        lam,
        METHODS,
        alphas=["0.1", "0.25"],
        splits=3,
        test=0.4,
        cluster="patient",
        seed=5,
        true_label=true,
    ).data
    assert study["aggregated_coverage"].dims == ("method", "split", "alpha")
    hashes = hash_names(predictions["example"].values)
    for number in range(3):
        test = split(hashes, split_keys(5, number), test=0.4, groups=predictions["patient"].values)
        assert study["n_test"][number] == test.sum()
        assert study["n_calibration"][number] == (~test).sum()
        for place, method in enumerate(METHODS):
            predictor = calibrate(
                predictions[~test],
                lam[~test],
                seed=split_seed(5, number),
                cluster="patient",
                **method,  # type: ignore[arg-type]  # names of components only
            )
            sets = predictor.predict(predictions[test], [0.1, 0.25])
            found = evaluate(sets, lam[test], true_label=true).data
            one = study.isel(method=place, split=number)
            for measure in (*MEASURES, "true_coverage"):
                mean = found[measure if measure == "share_empty" else f"{measure}_mean"]
                np.testing.assert_allclose(one[measure], mean, rtol=1e-12)


def test_the_guarantees_stand_beside_the_figures() -> None:
    predictions, lam = oracle.world(60)
    study = compare(predictions, lam, METHODS, alphas=[0.2, 0.5 - 0.1], splits=2, seed=1).data
    assert study["method"].values.tolist() == [
        "majority-vote",
        "monte-carlo, average",
        "monte-carlo, held-out-rank",
        "expected",
    ]
    assert study["guaranteed"].values.tolist() == [["nothing"] * 2, *[["0.80", "0.60"]] * 3]
    assert np.isnan(study["guaranteed_level"].values[0]).all()
    assert study["guaranteed_level"].values[3].tolist() == [0.8, 0.6]
    assert not study["vacuous"].any()
    assert "true_coverage" not in study
    stated = json.loads(study.attrs["guarantees"])
    assert stated["majority-vote"][0]["target"] == "majority-vote"
    assert stated["expected"][1]["alpha"] == "2/5"
    assert {name: study.attrs[name] for name in ("n", "labels", "seed", "test", "ties")} == {
        "n": 60,
        "labels": 4,
        "seed": 1,
        "test": 0.5,
        "ties": "first",
    }
    assert json.loads(study.attrs["methods"])["majority-vote"] == {
        "calibrator": "majority-vote",
        "score": "probability",
        "combiner": "average",
    }


def test_the_order_of_rows_labels_and_dims_does_not_matter() -> None:
    predictions, lam = oracle.world(80)
    first = compare(predictions, lam, METHODS, splits=3, ties="random", cluster="patient").data
    order = np.random.default_rng(2).permutation(80)
    second = compare(
        predictions[order].transpose(),
        lam[order[::-1], ::-1],
        METHODS,
        splits=3,
        ties="random",
        cluster="patient",
    ).data
    xr.testing.assert_identical(first, second)


def test_what_splits_warn_of_is_said_once_at_the_end() -> None:
    predictions, lam = oracle.world(60)
    methods: Methods = [{"calibrator": "monte-carlo", "combiner": "ecdf"}, "expected"]
    with pytest.warns(PlausiblyWarning) as heard:
        study = compare(predictions, lam, methods, splits=4).data
    assert len(heard) == 1
    message = heard[0].message
    assert isinstance(message, PlausiblyWarning)
    assert message.name == "guarantee-vacuous"
    assert "splits)" not in message.what
    assert message.details["methods"] == ["monte-carlo, ecdf"]
    assert message.details["splits"] == 4
    assert heard[0].filename == __file__
    assert study["vacuous"].values[0].all()
    assert study["guaranteed"].values.ravel().tolist() == ["0.8999, vacuous", "0.90"]
    assert study["aggregated_coverage"].values[0].tolist() == [[1.0]] * 4


def test_a_warning_of_some_splits_says_of_how_many() -> None:
    predictions, lam = oracle.world(21)
    sizes = np.repeat(np.arange(6), [6, 3, 3, 3, 3, 3])
    predictions = predictions.assign_coords(site=("example", sizes))
    with pytest.warns(PlausiblyWarning) as heard:
        study = compare(
            predictions, lam, {"e": {}}, alphas=0.075, splits=8, cluster="site", test=0.45
        ).data
    often = int(study["vacuous"].sum())
    assert 0 < often < 8
    assert len(heard) == 1
    assert (
        str(heard[0].message)
        .replace("\n  ", " ")
        .startswith(
            "warning guarantee-vacuous: every set contains all labels at alpha 0.075 "
            f"(in {often} of 8 splits)"
        )
    )
    assert study["guaranteed"].item() == f"0.925, vacuous in {often} of 8"


def test_alpha_large_is_said_once_as_it_was_typed() -> None:
    predictions, lam = oracle.world(30)
    with pytest.warns(PlausiblyWarning, match=r"alpha 0\.9 asks") as heard:
        compare(predictions, lam, ["expected", "majority-vote"], alphas=[0.9], splits=3)
    assert len(heard) == 1


def test_the_table_of_a_study() -> None:
    coverage = np.array([[[0.84], [0.88]], [[0.905], [0.897]], [[1.0], [1.0]]])
    dims = ("method", "split", "alpha")
    study = xr.Dataset(
        {
            "aggregated_coverage": (dims, coverage),
            "majority_vote_coverage": (dims, np.full((3, 2, 1), 0.9)),
            "set_size": (dims, np.full((3, 2, 1), 2.216)),
        },
        coords={
            "method": ["majority-vote", "monte-carlo, average", "monte-carlo, ecdf"],
            "alpha": [0.1],
            "guaranteed": (("method", "alpha"), [["nothing"], ["0.90"], ["0.8999, vacuous"]]),
            "guaranteed_level": (("method", "alpha"), [[math.nan], [0.9], [0.8999]]),
        },
    )
    assert Study(study).lines() == [
        "Study: 2 splits, alpha 0.1",
        "method                all answers  spread  majority vote  set size  guarantee",
        "majority-vote               0.860   0.028          0.900      2.22  none",
        "monte-carlo, average        0.901   0.006          0.900      2.22  0.90",
        "monte-carlo, ecdf           1.000   0.000          0.900      2.22  0.8999,",
        "                                                                    vacuous",
        'Verdict: with "majority-vote", sets cover 86% of the answers, without a',
        'guarantee; with "monte-carlo, average", 90%.',
    ]
    twice = xr.concat([study, study.assign_coords(alpha=[0.15])], dim="alpha")
    lines = Study(twice.isel(split=[0])).lines()
    assert lines[1] == "alpha 0.1"
    assert "alpha 0.15" in lines
    assert [line.split()[2] for line in lines if line.startswith("majority-vote")] == ["-", "-"]
