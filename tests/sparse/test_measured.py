"""Measures of sparse plausibilities: the same bits as of dense ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly import to_sparse
from plausibly.evaluation import (
    ByLabel,
    ByRisk,
    coverage_by,
    entropy,
    largest,
    p_value_uniformity,
    sorted_coverage,
)
from plausibly.kernels import coverage
from sparse_world import label_names, mentions, plausibilities, predictions, shuffled

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")

LABELS, EXAMPLES = 45, 60
RISKS = {name: ("low", "high")[place % 2] for place, name in enumerate(label_names(LABELS))}
MODEL = predictions(EXAMPLES, LABELS)[:, ::-1]
NEW = predictions(20, LABELS, start=1000)
OLD = predictions(EXAMPLES, LABELS, start=2000)
PREDICTOR = plausibly.calibrate(OLD, plausibilities(EXAMPLES, LABELS, start=2000))
SETS = xr.DataArray(
    np.random.default_rng(0).random((EXAMPLES, LABELS, 2)) < 0.6,
    coords={**MODEL[:, ::-1].coords, "alpha": [0.1, 0.3]},
    dims=("example", "label", "alpha"),
)
ONE = SETS.isel(alpha=0, drop=True)
# As many examples, of which five are others.
SHIFTED = SETS.assign_coords(example=[f"case {row + 5}" for row in range(EXAMPLES)])
Answers = xr.DataArray | xr.Dataset
Measure = Callable[[Answers], xr.Dataset]


def augmented(model: xr.DataArray) -> xr.DataArray:
    parts = [model, model[:, ::-1].assign_coords(label=model["label"])]
    return xr.concat(parts, dim="augmentation").assign_coords(augmentation=["a", "b"])


def tuned(answers: Answers) -> xr.Dataset:
    result = plausibly.tune_raps(MODEL, answers, share=0.5, splits=2, penalties=(0, 0.1))
    return result.candidates.assign_attrs(score=result.score, on=result.tuned_on)


def evaluated(answers: Answers, ties: coverage.Ties) -> xr.Dataset:
    return plausibly.evaluate(
        SETS, answers, ties=ties, true_label="truth", by="patient", cluster="patient"
    ).data


def ranked(answers: Answers, score: str) -> xr.Dataset:
    p = plausibly.joint_rank(augmented(MODEL), answers, augmented(NEW), score=score)
    return p.to_dataset(name="p")


# Those of one alpha are in tests/evaluation/test_parts.py.
MEASURES: dict[str, Measure] = {
    **{f"ties {ties}": partial(evaluated, ties=ties) for ties in coverage.TIES},
    "a coordinate of the plausibilities": lambda answers: (
        plausibly.evaluate(SETS, answers, by="site", cluster="site").data
    ),
    "common examples": lambda answers: plausibly.evaluate(SHIFTED, answers, only_common=True).data,
    "sorted": lambda answers: sorted_coverage(SETS, answers),
    "labels": lambda answers: coverage_by(
        SETS, answers, by=ByLabel(simultaneous=True), cluster="patient"
    ),
    "risk": lambda answers: coverage_by(SETS, answers, by=ByRisk()),
    "named risks": lambda answers: coverage_by(ONE, answers, by=ByRisk(RISKS), cluster="patient"),
    "plan": lambda answers: (
        plausibly.plan(MODEL, answers, alpha=[0.2, 0.3], resamples=3, cluster="patient").data
    ),
    "uniformity": lambda answers: p_value_uniformity(PREDICTOR, MODEL, answers, cluster="patient"),
    "tuning": tuned,
    **{f"joint rank, {score}": partial(ranked, score=score) for score in ("probability", "aps")},
}


@pytest.mark.parametrize(("dtype", "counts"), [("float32", True), ("float64", False)])
@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_a_measure_has_the_same_bits(measure: Measure, dtype: str, counts: bool) -> None:
    dense = plausibilities(EXAMPLES, LABELS, dtype=dtype, counts=counts)
    dense = dense.assign_coords(site=("example", [f"site {row % 4}" for row in range(EXAMPLES)]))
    turned = to_sparse(dense.isel(label=np.random.default_rng(3).permutation(LABELS)))
    expected = measure(dense)
    assert not counts or expected.attrs.get("tied_share", 1) > 0
    assert measure(to_sparse(dense)).identical(expected)
    assert measure(shuffled(turned)).identical(expected)


@pytest.mark.parametrize("number", [entropy, largest])
def test_numbers_of_the_examples(number: Callable[[object], xr.DataArray]) -> None:
    dense = plausibilities(EXAMPLES, LABELS, counts=False)
    result, expected = number(to_sparse(dense)), number(dense)
    np.testing.assert_array_equal(result.values, expected.values)
    assert (result.name, set(result.coords)) == (expected.name, {"example", "truth"})


def test_annotations_of_many_labels() -> None:
    table = mentions("single-label", EXAMPLES, LABELS)
    dense = plausibly.aggregate(table)
    assert plausibly.evaluate(SETS, table).data.identical(plausibly.evaluate(SETS, dense).data)
    assert entropy(table).identical(entropy(dense))
    plans = [plausibly.plan(MODEL, answers, alpha=0.2, resamples=2) for answers in (table, dense)]
    assert (plans[0].data["spread"] == plans[1].data["spread"]).all()
    assert (plans[0].data["responses_distance"] >= 0).all()
