"""`evaluate` against fractions and loops, what it refuses, and what all five results print."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import plausibly
from call_files import each_call
from plausibly.annotators import Agreement
from plausibly.evaluation import Evaluation, Sensitivity, Study, evaluate, interval
from plausibly.evaluation.design import read_methods
from plausibly.guarantee import Guarantee
from plausibly.kernels import coverage
from plausibly.kernels.coverage import TIES, Ties
from plausibly.planning import Plan

from . import studies as oracle

AVERAGES = ("mean", "low", "high")


@pytest.mark.parametrize("ties", TIES)
def test_every_example_equals_its_fractions(ties: Ties) -> None:
    sets, plausibilities = oracle.case(60, 4, alphas=(0.1, 0.05))
    sets = sets.assign_coords(diagnosis=("example", np.resize(sets["label"], 60)))
    result = evaluate(sets, plausibilities, ties=ties, true_label="diagnosis", seed=3).data
    assert result["aggregated_coverage"].dims == ("example", "alpha")
    for alpha in (0.1, 0.05):
        for place, name in enumerate(plausibilities["example"].values):
            here = {"example": name, "alpha": alpha}
            inside, row = (
                sets.sel(here).values.tolist(),
                plausibilities.sel(example=name).values.tolist(),
            )
            item = result.sel(here)
            assert item["aggregated_coverage"] == float(oracle.aggregated(inside, row))
            assert item["set_size"] == sum(inside)
            assert item["true_coverage"] == inside[place % 4]
            if ties != "random":
                assert item["majority_vote_coverage"] == float(
                    oracle.majority_vote(inside, row, ties)
                )
            else:
                held = {inside[label] for label in oracle.tied_labels(row)}
                assert bool(item["majority_vote_coverage"]) in held
    tied = sum(len(oracle.tied_labels(row)) > 1 for row in plausibilities.values.tolist())
    assert result.attrs["tied_share"] == tied / 60 > 0
    assert (result.attrs["ties"], result.attrs["seed"], result.attrs["labels"]) == (ties, 3, 4)


def test_averages_and_shares() -> None:
    sets, plausibilities = oracle.case(101, 3)
    result = evaluate(sets, plausibilities)
    exact = Fraction(0)
    for inside, row in zip(sets.values.tolist(), plausibilities.values.tolist(), strict=True):
        exact += oracle.aggregated(inside, row) / 101
    assert float(result.coverage) == pytest.approx(float(exact), abs=1e-15)
    assert f"{result.coverage:.3f}" in str(result)
    sizes = sets.sum("label")
    assert result.set_size == pytest.approx(float(sizes.mean()))
    assert result["share_empty"] == float((sizes == 0).mean())
    assert result["share_singleton"] == float((sizes == 1).mean())
    assert result["n"] == 101
    voted = interval(result["majority_vote_coverage"].values)
    assert float(result["majority_vote_coverage_low"]) == pytest.approx(voted.low)
    size = interval(sizes.values.astype(float), top=3)
    assert float(result["set_size_high"]) == pytest.approx(size.high)


def test_groups_are_evaluations_of_their_examples() -> None:
    sets, plausibilities = oracle.tagged(90, alphas=(0.2,), seed=2)
    result = evaluate(sets, plausibilities, by="site", cluster="patient", ties="fractional").data
    assert result["group_aggregated_coverage_mean"].dims == ("site", "alpha")
    assert result["group_n"].values.tolist() == [30, 60]
    for site in ("north", "south"):
        mine = sets["site"].values == site
        # Intervals of two groups hold together, each with half the chance of missing.
        alone = evaluate(
            sets[mine],
            plausibilities[mine],
            cluster="patient",
            ties="fractional",
            interval="wilson",
            confidence=0.975,
        ).data
        for quantity in ("aggregated_coverage", "majority_vote_coverage", "set_size"):
            for end in AVERAGES:
                group = result[f"group_{quantity}_{end}"].sel(site=site).values
                np.testing.assert_allclose(group, alone[f"{quantity}_{end}"].values, rtol=1e-12)
        assert result["group_share_empty"].sel(site=site) == alone["share_empty"]
    assert (result.attrs["by"], result.attrs["cluster"], result.attrs["clusters"]) == (
        "site",
        "patient",
        45,
    )


def test_clusters_may_be_a_coordinate_of_the_plausibilities() -> None:
    sets, plausibilities = oracle.case(40, 3)
    plausibilities = plausibilities.assign_coords(patient=("example", np.arange(40) // 5))
    result = evaluate(sets, plausibilities, cluster="patient").data
    item = interval(result["aggregated_coverage"].values, clusters=np.arange(40) // 5)
    assert float(result["aggregated_coverage_low"]) == pytest.approx(item.low)
    of_sets = evaluate(
        sets.assign_coords(patient=plausibilities["patient"]), plausibilities, cluster="patient"
    ).data
    xr.testing.assert_identical(result, of_sets)


def test_true_labels_are_looked_up_by_name() -> None:
    sets, plausibilities = oracle.case(12, 3)
    names = ["unknown here", *plausibilities["example"].values[::-1]]
    labels = ["l0", *np.resize(["l2", "l0", "l1"], 12)]
    true = xr.DataArray(labels, dims="example", coords={"example": names})
    result = evaluate(sets, plausibilities, true_label=true).data
    for name in plausibilities["example"].values:
        held = bool(sets.sel(example=name, label=str(true.sel(example=name).item())))
        assert bool(result["true_coverage"].sel(example=name)) is held


def test_sets_carry_their_guarantee_into_the_result() -> None:
    sets, plausibilities = oracle.case(10, 3)
    guarantee = Guarantee(alpha=Fraction(1, 10), level=Fraction(9, 10), reason="because")
    sets = sets.assign_coords(alpha=0.1).assign_attrs(
        guarantees=json.dumps([guarantee.to_json()]),
        fingerprint="b1946ac9",
        calibration_overlap=0,
        left_out='{"without a response": 2}',
    )
    result = evaluate(sets, plausibilities).data
    assert result["alpha"] == 0.1
    assert json.loads(result.attrs["guarantees"])[0]["level"] == "9/10"
    assert result.attrs["fingerprint"] == "b1946ac9"
    assert json.loads(result.attrs["left_out"]) == {"without a response": 2}


SETS, LAM = oracle.case(10, 3)
TAGGED = SETS.assign_coords(
    site=("example", ["a"] * 9 + [""]),
    patient=("example", np.r_[np.nan, np.arange(9)]),
    letter=("example", ["L1", *"bcdefghij"]),
    n=("example", ["x"] * 10),
)
COORDS = {"example": list("abcdef"), "label": ["x", "y", "z"]}
ROWS = [[0.4, 0.3, 0.3], [0.5, 0.5, 0], [0.7 + 0.1, 0.2, 0], [0.1 + 0.7, 0.2, 0], [1, 0, 0]]
CLEAR = xr.DataArray([*ROWS, [0.79, 0.21, 0]], dims=("example", "label"), coords=COORDS)
EVERY = CLEAR.copy(data=np.ones((6, 3))).astype(bool)
TWO_VOTES = oracle.case(200, 3, votes=2)


def voted(seed: int) -> list[float]:
    result = evaluate(*TWO_VOTES, ties="random", seed=seed)
    covered: list[float] = result["majority_vote_coverage"].values.tolist()
    return covered


def named(*methods: dict[str, object] | str) -> list[str]:
    return list(read_methods(methods))


SOME_TRUE = xr.DataArray(["l1"] * 8, dims="example", coords={"example": LAM["example"][:8]})


def votes() -> xr.Dataset:
    rng = np.random.default_rng(3)
    rows = [(f"case {i}", f"w{k}", f"l{rng.integers(3)}") for i in range(60) for k in range(3)]
    return plausibly.build_annotations("single-label", rows, labels=["l0", "l1", "l2"])


def model() -> xr.DataArray:
    predictions, _ = oracle.world(60, labels=3)
    return predictions.assign_coords(ward=("example", [f"ward {i % 20}" for i in range(60)]))


def results(alphas: list[float]) -> list[Evaluation | Study | Plan | Agreement | Sensitivity]:
    predictions, table = model(), votes()
    predictor = plausibly.calibrate(predictions, table)
    methods = [
        {"calibrator": {"name": "monte-carlo", "draws": m}}
        for m in range(1, 30 if len(alphas) == 1 else 7)
    ]
    return [
        plausibly.evaluate(predictor.predict(predictions, alphas), table, by="ward"),
        plausibly.compare(predictions, table, methods, alphas=alphas, splits=2),
        plausibly.plan(predictions, table, alpha=alphas, n=list(range(20, 400, 10)), resamples=5),
        plausibly.agreement(table.assign_coords(ward=predictions["ward"]), by="ward", resamples=20),
        plausibly.sensitivity(
            predictions,
            table,
            [{"name": "dirichlet", "temperature": 1.0 + t} for t in range(7)],
            alphas=alphas,
            splits=2,
        ),
    ]


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
@pytest.mark.parametrize("alphas", [[0.2], [0.1, 0.2, 0.3, 0.4, 0.5]])
def test_a_result_prints_at_most_25_lines_of_80_columns(alphas: list[float]) -> None:
    for item in results(alphas):
        lines = str(item).splitlines()
        assert len(lines) <= 25, type(item).__name__
        assert max(map(len, [*lines, *item.lines()])) <= 80, type(item).__name__
        assert json.loads(json.dumps(item.to_json()))
        assert isinstance(item.data, xr.Dataset)


test_each_call_gives_its_text = each_call(__file__, globals())


# ---- kernels


TABLES = st.integers(1, 6).flatmap(
    lambda labels: st.lists(
        st.tuples(
            st.lists(st.integers(0, 3), min_size=labels, max_size=labels).filter(any),
            st.lists(st.booleans(), min_size=labels, max_size=labels),
            st.floats(0, 1, exclude_max=True),
        ),
        min_size=1,
        max_size=8,
    )
)


@settings(max_examples=50)
@given(TABLES, st.sampled_from([np.float32, np.float64]))
def test_every_row_equals_its_fractions(
    rows: list[tuple[list[int], list[bool], float]], dtype: type[np.float32 | np.float64]
) -> None:
    counts = np.array([row[0] for row in rows], dtype=dtype)
    plausibilities = counts / counts.sum(axis=1, keepdims=True)
    sets = np.array([row[1] for row in rows])
    uniform = np.array([row[2] for row in rows])
    measured = coverage.aggregated(sets, plausibilities)
    for place, (inside, row) in enumerate(zip(sets.tolist(), plausibilities.tolist(), strict=True)):
        exact = min(oracle.aggregated(inside, row), Fraction(1))
        assert abs(Fraction(float(measured[place])) - exact) <= Fraction(len(row), 2**53)
        assert coverage.sizes(sets)[place] == sum(inside)
        assert coverage.tie_counts(plausibilities)[place] == len(oracle.tied_labels(row))
        for ties in TIES:
            share = uniform if ties == "random" else None
            actual = coverage.majority_vote(sets, plausibilities, ties, share)[place]
            assert actual == float(oracle.majority_vote(inside, row, ties, float(uniform[place])))
