"""Sparse plausibilities: aggregated, calibrated, written, measured, they are the dense ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly import to_dense, to_sparse
from plausibly.evaluation import (
    ByLabel,
    ByRisk,
    coverage_by,
    entropy,
    largest,
    p_value_uniformity,
    sorted_coverage,
)
from plausibly.io.plausibilities import read_plausibilities, write_plausibilities
from plausibly.kernels import coverage
from plausibly.plugin import AGGREGATOR, Aggregator, Keys, answered_rows, resolve
from refusals import refused
from sparse_world import label_names, mentions, plausibilities, predictions, shuffled

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")

PAIRS = [
    ("single-label", "label-frequency"),
    ("partial-ranking", "inverse-rank"),
    ("single-label", "inverse-rank"),
    ("partial-ranking", "borda"),
    ("label-set", "label-set"),
    ("single-label", "label-set"),
    ("soft-label", "soft-label"),
    ("single-label", "majority-vote"),
    ("single-label", "worker-agreement"),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("kind", "name"), PAIRS)
def test_sparse_is_dense_to_the_bit(kind: str, name: str, weighted: bool) -> None:
    table = mentions(kind, 60, 90, weighted=weighted)
    native = resolve(AGGREGATOR, name).aggregate_sparse(table, Keys(0)) is not None
    assert native is (name not in ("majority-vote", "worker-agreement"))
    dense = plausibly.aggregate(table, name)
    sparse = plausibly.aggregate(table, name, sparse=True)
    assert to_dense(sparse).identical(dense)
    assert sparse.identical(to_sparse(dense))
    assert sparse.sizes["slot"] <= 5


def test_unanswered_examples_are_dropped_and_counted() -> None:
    answers = [(f"case {row}", "r0", f"label {row}" if row % 4 else None) for row in range(20)]
    table = plausibly.build_annotations("single-label", answers, labels=label_names(40))
    with refused("example-unanswered"):
        plausibly.aggregate(table, sparse=True)
    sparse = plausibly.aggregate(table, unanswered="drop", sparse=True)
    assert sparse.sizes["example"] == 15
    assert to_dense(sparse).identical(plausibly.aggregate(table, unanswered="drop"))


def test_labels_above_others_give_on_what_they_have() -> None:
    parents = ["label 39" if code < 5 else "" for code in range(40)]
    table = mentions("single-label", 12, 40).assign_coords(parent=("label", parents))
    sparse = plausibly.aggregate(table, "spread", sparse=True)
    assert "label 39" not in sparse.label_name
    assert to_dense(sparse).identical(plausibly.aggregate(table, "spread"))


def test_draws_have_no_sparse_form() -> None:
    with refused("sparse-draws", "hint sparse=False"):
        plausibly.aggregate(mentions("single-label", 6, 40), "bootstrap", draws=3, sparse=True)


@attrs.frozen(kw_only=True)
class OnlySparse(Aggregator):
    """An aggregator of a plugin that returns the sparse form, its weights moved."""

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})
    shift: float = 0.0

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> Any:  # Any: sparse, dense later
        return self.aggregate_sparse(annotations, keys)

    def aggregate_sparse(self, annotations: xr.Dataset, keys: Keys) -> xr.Dataset:
        rows = answered_rows(annotations, self.accepts)
        sparse = rows.sparse_shares(rows.weight[rows.response], rows.votes)
        return sparse.assign(weight=sparse["weight"] + self.shift * (sparse["label"] >= 0))


def test_a_plugin_may_return_the_sparse_form_which_is_checked_too() -> None:
    table = mentions("single-label", 10, 50)
    dense = plausibly.aggregate(table).drop_vars("denominator")
    assert plausibly.aggregate(table, OnlySparse()).identical(dense)
    assert plausibly.aggregate(table, OnlySparse(), sparse=True).identical(to_sparse(dense))
    rows = "found plausibilities: 10 of 10 rows sum to 1.2 (case 0, case 1,"
    with refused("component-failed", rows):
        plausibly.aggregate(table, OnlySparse(shift=0.1), sparse=True)


LABELS, EXAMPLES = 45, 60
DENSE = plausibilities(EXAMPLES, LABELS)
calibrate = partial(plausibly.calibrate, predictions(EXAMPLES, LABELS))


@pytest.mark.parametrize("calibrator", ["expected", "monte-carlo", "mass-coverage"])
def test_inputs_are_read_and_never_written(calibrator: str) -> None:
    """Predictors of sparse ones are those of dense ones: see ``tests/calibrators``."""
    sparse = shuffled(to_sparse(DENSE[:, np.random.default_rng(3).permutation(LABELS)]))
    before = sparse.copy(deep=True)
    for name in ("weight", "label"):
        sparse[name].values.flags.writeable = False
    predictor = calibrate(sparse, calibrator=calibrator)
    assert sparse.identical(before)
    assert predictor.fingerprint == calibrate(DENSE, calibrator=calibrator).fingerprint


def test_refusals_are_those_of_dense_plausibilities() -> None:
    # A label above others may have nothing, and is named where it has.
    wide = DENSE.drop_vars(["denominator", "risk"]).pad(label=(0, 1), constant_values=0)
    names = [*DENSE.label.values, "above"]
    wide = wide.assign_coords(label=names, parent=("label", ["above"] * 3 + [""] * (LABELS - 2)))
    assert calibrate(shuffled(to_sparse(wide))).fingerprint == calibrate(wide).fingerprint
    above = wide.copy(deep=True)
    above[7] = np.eye(LABELS + 1)[LABELS]
    fewer_labels = (DENSE[:, 1:] / DENSE[:, 1:].sum("label")).fillna(1 / (LABELS - 1))
    for name, wrong in (
        ("parents-named", above),
        ("labels-differ", fewer_labels),
        ("examples-differ", DENSE[1:]),
    ):
        with refused(name) as of_dense:
            calibrate(wrong)
        with refused(name, " ".join(str(of_dense.value).split())):
            calibrate(to_sparse(wrong))


def test_other_programs_read_the_arrays(tmp_path: Path) -> None:
    sparse = plausibly.aggregate(mentions("single-label", 6, 50), sparse=True)
    for name in ("lam.npz", "lam.nc"):
        plausibly.write_plausibilities(sparse, tmp_path / name)
    arrays = np.load(tmp_path / "lam.npz")
    assert set(arrays) == {"weight", "label", "examples", "labels", "denominator", "site", "about"}
    np.testing.assert_array_equal(arrays["label"], sparse["label"].values)
    with xr.open_dataset(tmp_path / "lam.nc", engine="scipy") as dataset:
        assert dataset["weight"].dims == ("example", "slot")


@pytest.mark.parametrize(
    ("name", "form", "labels", "sparse"),
    [
        ("a.npz", "sparse", 6, True),
        ("a.nc", "sparse", 6, True),
        ("a.npz", "wide", 45, False),
        ("a.csv", "wide", 45, False),
        ("a.csv", "long", 33, True),
        ("a.csv", "long", 32, False),
    ],
)
def test_the_form_that_takes_less(
    tmp_path: Path, name: str, form: str, labels: int, sparse: bool
) -> None:
    dense, path = plausibilities(20, labels), tmp_path / name
    inputs = to_sparse(dense) if form == "sparse" else dense
    write_plausibilities(inputs, path, form="long" if form == "long" else "wide")
    result = read_plausibilities(path, sparse=None)
    assert isinstance(result, xr.Dataset) == sparse
    as_dense = plausibly.to_dense(result) if isinstance(result, xr.Dataset) else result
    assert as_dense.equals(read_plausibilities(path))


# ---- measures


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


# Those of one alpha are in tests/evaluation/test_groups.py.
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
