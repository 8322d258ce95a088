"""Coverage by label, set size, range, coordinates and risk, against loops and evaluations.

At the end: properties of every further measure.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy.stats import entropy as reference

from call_files import each_call
from plausibly.data.plausibilities import to_sparse
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.evaluation import (
    ByCoordinate,
    ByLabel,
    ByRange,
    ByRisk,
    coverage_by,
    describe_coverage,
    entropy,
    evaluate,
    interval,
    largest,
    sorted_coverage,
    worst_slab_coverage,
)
from plausibly.evaluation.groups import LEVEL, SUBGROUP
from plausibly.evaluation.intervals import IntervalMethod
from plausibly.evaluation.result import decimal, ends, part_rows
from tables import labelled

from . import studies as oracle
from .studies import features, tagged as case

SETS, LAM = case()


def test_shares_of_labels_equal_their_fractions() -> None:
    result = coverage_by(SETS, LAM, by="label")
    for label in LAM["label"].values:
        inside = SETS.sel(label=label).values.tolist()
        said = [Fraction(p) for p in LAM.sel(label=label).values.tolist()]
        mass = sum(said, Fraction(0))
        covered = sum((p for p, held in zip(said, inside, strict=True) if held), Fraction(0))
        item = result.sel(label=label)
        assert float(item["mass"]) == pytest.approx(float(mass))
        assert float(item["covered_mean"]) == pytest.approx(float(covered / mass))
        assert item["examples"] == sum(p > 0 for p in said)
        assert float(item["in_sets_mean"]) == pytest.approx(sum(inside) / len(inside))
        alone = interval(np.array(inside, dtype=float), weights=LAM.sel(label=label).values)
        assert float(item["covered_low"]) == pytest.approx(alone.low)
        assert float(item["covered_high"]) == pytest.approx(alone.high)


def test_a_label_without_answers_has_no_share() -> None:
    rest = LAM[:, 1:].values + 0.1
    values = np.concatenate([np.zeros((120, 1)), rest / rest.sum(axis=1, keepdims=True)], axis=1)
    plausibilities = LAM.copy(data=values)
    together = coverage_by(SETS, plausibilities, by=ByLabel(simultaneous=True))
    result = together.sel(label="l0")
    assert (float(result["mass"]), int(result["examples"])) == (0, 0)
    assert np.isnan([result["covered_mean"], result["covered_low"]]).all()
    assert not np.isnan(result["in_sets_mean"])
    bonferroni = coverage_by(SETS, plausibilities, by="label", confidence=1 - 0.05 / 3)
    np.testing.assert_allclose(together["covered_low"], bonferroni["covered_low"])


def test_entropy_is_that_of_the_books() -> None:
    _, plausibilities = oracle.case(50, 5)
    result = entropy(plausibilities)
    assert (result.dims, result.name, str(result.dtype)) == (("example",), "entropy", "float64")
    np.testing.assert_allclose(result, reference(plausibilities.values, axis=1), atol=1e-12)
    assert (result >= 0).all()
    np.testing.assert_array_equal(largest(plausibilities), plausibilities.max("label"))


def test_entropy_of_predictions_follows_their_scale() -> None:
    logits = labelled([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]], attrs={"scale": "logit"})
    weights = xr.apply_ufunc(np.exp, logits).drop_attrs()
    shares = weights / weights.sum("label")
    np.testing.assert_allclose(entropy(logits), entropy(shares))
    rounded = labelled([[0.332, 0.332, 0.332], [0.5, 0.5, 0.005]], attrs={"scale": "probability"})
    assert entropy(rounded)[0] == pytest.approx(np.log(3))


SITE, SEX, SIZES = SETS["site"].values, SETS["sex"].values, SETS.sum("label").values
ENTROPY = reference(LAM.values, axis=1)
BY_ENTROPY = ByRange(entropy(LAM), edges=[0.6, 1.1])
BY_BOTH = ByCoordinate("site", "sex", at_least=1)
NORTH = {"site north": case(600)[0]["site"].values == "north"}
CROSSED = {
    "site north": SITE == "north",
    "sex m": SEX == "m",
    "site south, sex f": (SITE == "south") & (SEX == "f"),
}
STRATA = {
    "below 0.6": ENTROPY < 0.6,
    "0.6 to 1.1": (ENTROPY >= 0.6) & (ENTROPY < 1.1),
    "1.1 and more": ENTROPY >= 1.1,
}


@pytest.mark.parametrize(
    ("by", "size", "groups", "options"),
    [
        (BY_ENTROPY, 120, STRATA, {}),
        ("set-size", 120, {str(size): size == SIZES for size in range(5)}, {}),
        (BY_BOTH, 120, CROSSED, {"confidence": 1 - 0.05 / 8, "interval": "wilson"}),
        ("site", 600, NORTH, {"confidence": 0.975, "interval": "t"}),
    ],
    ids=["strata", "sizes", "crossed coordinates", "large groups"],
)
def test_groups_are_evaluations_of_their_members(
    by: str | ByRange | ByCoordinate,
    size: int,
    groups: dict[str, NDArray[np.bool_]],
    options: dict[str, Any],  # Any: of evaluate
) -> None:
    sets, plausibilities = case(size)
    result = coverage_by(sets, plausibilities, by=by, ties="fractional")
    (dim,) = result["aggregated_coverage_mean"].dims
    for name, mine in groups.items():
        group = result.sel({dim: name})
        assert group["count"] == mine.sum()
        if not mine.any():
            assert np.isnan(group["aggregated_coverage_mean"])
            continue
        alone = evaluate(sets[mine], plausibilities[mine], ties="fractional", **options)
        for quantity in ("aggregated_coverage", "majority_vote_coverage", "set_size"):
            for figure in (f"{quantity}_{end}" for end in ("mean", "low", "high")):
                if figure in group:
                    actual = float(group[figure])
                    assert actual == pytest.approx(float(alone[figure]), rel=1e-12)


@settings(max_examples=20)
@given(st.integers(2, 6), st.lists(st.integers(0, 5), min_size=120, max_size=120))
def test_quantiles_keep_equal_numbers_together(parts: int, numbers: list[int]) -> None:
    values = xr.DataArray(numbers, dims="example", coords={"example": SETS["example"]}, name="x")
    result = coverage_by(SETS, LAM, by=ByRange(values, quantiles=parts))
    assert int(result["count"].sum()) == 120
    assert (result["count"] > 0).all()
    for low, high, count in zip(
        result["stratum_from"].values,
        result["stratum_to"].values,
        result["count"].values,
        strict=True,
    ):
        assert count == sum(low <= number < high for number in numbers)


def test_many_labels_make_ranges_of_sizes() -> None:
    sets, plausibilities = oracle.case(40, 30)
    result = coverage_by(sets, plausibilities, by="set-size")
    assert result["size"].values.tolist() == ["0", "1", "2", "3", "4-5", "6-10", "11-20", "21-30"]
    sizes = sets.sum("label").values
    for row in range(result.sizes["size"]):
        item = result.isel(size=row)
        inside = (sizes >= int(item["size_from"])) & (sizes <= int(item["size_to"]))
        assert item["count"] == inside.sum()


HAIR = xr.DataArray(np.full(120, 0.1 + 0.7), dims="example", coords={"example": SETS["example"]})
OLD = SETS.assign_coords(old=("example", np.arange(120) % 2 == 0))


def levels(*of_labels: object, order: list[object] | None = None) -> list[object]:
    table = dict(zip(SETS["label"].values.tolist(), of_labels, strict=True))
    result = coverage_by(SETS, LAM, by=ByRisk(table, order=order))
    assert float(result["mass"].sum()) == pytest.approx(120)
    in_order: list[object] = result["level"].values.tolist()
    return in_order


NO_NAMES = xr.DataArray(np.zeros(120), dims="example", name="doubt")
SOME = xr.DataArray(np.zeros(119), dims="example", coords={"example": SETS["example"][1:]})
NAN = xr.DataArray(
    np.r_[np.nan, np.zeros(119)], dims="example", coords={"example": SETS["example"]}
)


def test_the_weakest_is_the_one_whose_interval_ends_lowest() -> None:
    sets = SETS.copy()
    few = SETS["patient"].values < 3
    sets[few] = False
    sets[(SETS["site"].values == "north") & ~few, :2] = False
    sets = sets.assign_coords(ward=("example", np.where(few, "small", "large")))
    result = coverage_by(sets, LAM, by=ByCoordinate("ward", "site", crossed=1, at_least=1))
    order = result["aggregated_coverage_high"].values
    assert result["weakest"].item() == result["subgroup"].values[int(np.argmin(order))]
    both = xr.concat(
        [sets, SETS.assign_coords(ward=sets["ward"])], xr.Variable("alpha", [0.1, 0.3])
    )
    together = coverage_by(both, LAM, by=ByCoordinate("ward", "site", crossed=1, at_least=1))
    assert together["weakest"].dims == ("alpha",)
    alone = coverage_by(both[1], LAM, by=ByCoordinate("ward", "site", crossed=1, at_least=1))
    assert together["weakest"].values.tolist() == [x["weakest"].item() for x in (result, alone)]


WORDS = {"l0": "low", "l1": "high", "l2": "medium", "l3": "low"}


def test_missed_shares_equal_their_sums() -> None:
    result = coverage_by(SETS, LAM, by=ByRisk())
    assert result["level"].values.tolist() == ["low", "medium", "high"]
    assert result["labels"].values.tolist() == [2, 1, 1]
    for level in result["level"].values:
        mine = [label for label, word in WORDS.items() if word == level]
        mass = missed = 0.0
        part = 0
        for row in range(120):
            here = [float(LAM.sel(label=label)[row]) for label in mine]
            out = [not bool(SETS.sel(label=label)[row]) for label in mine]
            mass += sum(here)
            missed += sum(p for p, lost in zip(here, out, strict=True) if lost)
            part += sum(here) > 0
        item = result.sel(level=level)
        assert float(item["mass"]) == pytest.approx(mass)
        assert float(item["missed_mean"]) == pytest.approx(missed / mass)
        assert item["examples"] == part
        assert item["missed_low"] <= item["missed_mean"] <= item["missed_high"]
    assert float(result["mass_share"].sum()) == pytest.approx(1)
    assert "risk_missed_mean" not in result


def test_all_intervals_hold_together_in_95_of_100_cases() -> None:
    """Forty groups of one coverage: intervals for each alone would miss in most cases."""
    rng = np.random.default_rng(0)
    plausibilities = labelled(np.tile([0.6, 0.4], (1200, 1)))
    held = 0
    for _ in range(40):
        values = rng.random((1200, 2)) < [0.9, 0.7]
        sets = plausibilities.copy(data=values).assign_coords(
            ward=("example", np.arange(1200) // 30)
        )
        result = coverage_by(sets, plausibilities, by="ward")
        low, high = (result[f"aggregated_coverage_{end}"] for end in ("low", "high"))
        held += bool(((low <= 0.82) & (high >= 0.82)).all())
    assert held >= 38


def test_numbers_ascend_and_have_a_mean_loss() -> None:
    result = coverage_by(SETS, LAM, by=ByRisk("cost"))
    assert result["level"].values.tolist() == [0, 1, 2]
    loss = ((LAM * SETS["cost"]) * ~SETS).sum("label").values
    alone = interval(loss, top=2.0)
    assert float(result["risk_missed_mean"]) == pytest.approx(float(loss.mean()))
    assert float(result["risk_missed_high"]) == pytest.approx(alone.high)
    mean = (result["missed_mean"] * result["mass_share"] * result["level"]).sum("level")
    assert float(mean) == pytest.approx(float(loss.mean()))


def test_levels_come_as_a_mapping_or_a_coordinate_of_either_side() -> None:
    named = coverage_by(SETS, LAM, by=ByRisk({**WORDS, "other": "low"}))
    other_side = LAM.assign_coords(risk=("label", list(WORDS.values())))
    of_labels = coverage_by(SETS.drop_vars("risk"), other_side, by=ByRisk())
    xr.testing.assert_equal(named, of_labels)


def test_many_labels_show_those_that_are_covered_least() -> None:
    sets, plausibilities = oracle.case(60, 20, votes=3)
    values = plausibilities.values.copy()
    values[:, 1] += values[:, 0]
    values[:, 0] = 0
    result = coverage_by(sets, plausibilities.copy(data=values), by="label")
    lines = describe_coverage(result)
    assert lines[0].startswith("by label: 12 of 19  ")
    assert len(lines) == 1 + 12 + 1
    assert lines[-1] == "  1 labels without an answer"
    order = np.argsort(result["covered_high"].values[1:], kind="stable")[:12] + 1
    assert [line.split()[0] for line in lines[1:-1]] == [f"l{place}" for place in order]


def test_the_mean_loss_is_printed_and_plain_data() -> None:
    result = coverage_by(SETS, LAM, by=ByRisk("cost"))
    last = describe_coverage(result)[-1]
    mean, low, high = (float(result[f"risk_missed_{end}"]) for end in ("mean", "low", "high"))
    assert last == f"mean risk per example: {decimal(mean)} ({ends(low, high)})"
    assert part_rows(result, LEVEL)[0]["risk_missed"] == {"mean": mean, "low": low, "high": high}


def test_rows_as_data() -> None:
    sets, plausibilities = case(alphas=(0.1, 0.3))
    result = coverage_by(sets, plausibilities, by="site")
    rows = part_rows(result, SUBGROUP)
    assert [(row["alpha"], row["subgroup"]) for row in rows] == [
        (0.1, "site north"),
        (0.1, "site south"),
        (0.3, "site north"),
        (0.3, "site south"),
    ]
    figures = rows[3]["aggregated_coverage"]
    assert isinstance(figures, dict)
    assert figures["low"] == float(result["aggregated_coverage_low"].sel(alpha=0.3)[1])
    assert rows[0]["weakest"] == result["weakest"].values[0]
    plain = xr.Dataset({"mean_age": 3.0, "x_mean": 2.0, "x_low": 1.0, "x_high": 4.0})
    assert part_rows(plain) == [{"mean_age": 3.0, "x": {"mean": 2.0, "low": 1.0, "high": 4.0}}]


test_each_call_gives_its_text = each_call(__file__, globals())


# ---- worst slabs


FEATURES = features(SETS)


@pytest.mark.parametrize("seed", range(12))
def test_the_worst_slab_of_one_feature_is_the_least_mean_of_all_runs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    plausibilities, sets = (
        labelled(rng.dirichlet([1, 1, 1], 40)),
        labelled(rng.random((40, 3)) < 0.6),
    )
    x = rng.integers(0, 3 + 2 * seed, (40, 1)) / 1.0
    features = labelled(x).rename(label="column")
    result = worst_slab_coverage(sets, plausibilities, features, directions=2, least=0.2)
    searched = result["searched"].values
    covered, place = (plausibilities * sets).sum("label").values[searched], x[searched, 0]
    runs = [(place >= a) & (place <= b) for a in place for b in place]
    least = min(covered[run].mean() for run in runs if run.sum() >= 0.2 * searched.sum())
    assert float(result["searched_coverage"]) == pytest.approx(least, abs=1e-12)


def weak(n: int, *, seed: int = 0, covered: float = 0.4) -> tuple[xr.DataArray, ...]:
    """Sets that cover less where x > 1; nothing else matters."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    chance = np.where(x[:, 0] > 1, covered, 0.95)
    held = rng.random(n) < chance
    sets = labelled(np.stack([held, ~held], axis=1))
    columns = labelled(x, labels="xy").rename(label="column")
    return sets, labelled(np.tile([1.0, 0.0], (n, 1))), columns


def test_a_weak_slab_is_found_and_its_figure_is_honest() -> None:
    sets, plausibilities, numbers = weak(4000)
    result = worst_slab_coverage(sets, plausibilities, numbers, directions=200)
    assert float(result["aggregated_coverage_low"]) < 0.5
    assert float(result["aggregated_coverage_high"]) > 0.4
    assert float(result["others_mean"]) > 0.9
    direction = result["direction"].sel(feature="x")
    assert abs(float(direction)) > 0.9
    assert 0.05 < float(result["slab_share"]) < 0.2


def test_worst_slab_is_not_significant_when_coverage_is_uniform() -> None:
    above = 0
    for seed in range(20):
        sets, plausibilities, numbers = weak(400, seed=seed, covered=0.95)
        result = worst_slab_coverage(sets, plausibilities, numbers, directions=100, seed=seed)
        assert float(result["searched_coverage"]) < 0.93
        above += bool(result["aggregated_coverage_high"] >= 0.95)
    assert above >= 17


def test_reported_figures_are_those_of_examples_in_the_slab() -> None:
    result = worst_slab_coverage(SETS, LAM, FEATURES, directions=30, least=0.2)
    table = FEATURES.sel(column=result["feature"].values)
    z = (table.values - table.values.mean(axis=0)) / table.values.std(axis=0)
    np.testing.assert_allclose(result["centre"], table.values.mean(axis=0))
    np.testing.assert_allclose(result["scale"], table.values.std(axis=0))
    place = z @ result["direction"].values
    assert np.linalg.norm(result["direction"]) == pytest.approx(1)
    low, high = float(result["slab_from"]), float(result["slab_to"])
    inside = (place >= low - 1e-9) & (place <= high + 1e-9)
    np.testing.assert_array_equal(result["in_slab"], inside)
    searched = result["searched"].values
    assert searched.sum() == 60
    assert (inside & searched).sum() >= 12
    covered = (LAM * SETS).sum("label").values
    mean = float(covered[inside & searched].mean())
    assert float(result["searched_coverage"]) == pytest.approx(mean)
    rest = interval(covered[inside & ~searched])
    assert float(result["aggregated_coverage_mean"]) == pytest.approx(rest.mean)
    assert float(result["aggregated_coverage_low"]) == pytest.approx(rest.low)
    assert int(result["count"]) == (inside & ~searched).sum()
    assert float(result["others_mean"]) == pytest.approx(covered[~inside & ~searched].mean())


@pytest.mark.parametrize(("values", "columns"), [(2, 2), (2, 6), (3, 3), (5, 4)])
def test_examples_on_the_border_of_a_slab_are_in_it(values: int, columns: int) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        plausibilities = labelled(rng.dirichlet([1, 1, 1], 80))
        sets = labelled(rng.random((80, 3)) < 0.7)
        few = labelled(rng.integers(0, values, (80, columns)) / 1.0).rename(label="column")
        result = worst_slab_coverage(sets, plausibilities, few, directions=30, seed=seed)
        inside, searched = result["in_slab"].values, result["searched"].values
        covered = (plausibilities * sets).sum("label").values
        assert (inside & searched).sum() >= 4
        mean = covered[inside & searched].mean()
        assert float(result["searched_coverage"]) == pytest.approx(mean, abs=1e-12)
        assert int(result["count"]) == (inside & ~searched).sum()
        # Examples with equal features are on one side of the border.
        _, alike = np.unique(few.values, axis=0, return_inverse=True)
        shares = np.bincount(alike.ravel(), inside) / np.bincount(alike.ravel())
        assert set(shares) <= {0.0, 1.0}


def test_units_order_and_constants_of_features_do_not_matter() -> None:
    first = worst_slab_coverage(SETS, LAM, FEATURES, directions=20)
    another = FEATURES.transpose()[::-1] * xr.DataArray([2.0, 1e3, 0.01], dims="column") + 7
    second = worst_slab_coverage(SETS, LAM, another, directions=20)
    np.testing.assert_array_equal(first["in_slab"], second["in_slab"])
    constant = FEATURES.isel(column=[0]).assign_coords(column=["constant"]) * 0 + 3
    third = worst_slab_coverage(SETS, LAM, xr.concat([FEATURES, constant], "column"))
    assert np.isinf(third["scale"].sel(feature="constant"))


def test_clusters_stay_on_one_side() -> None:
    result = worst_slab_coverage(SETS, LAM, FEATURES, directions=5, cluster="patient")
    sides = result["searched"].values.reshape(60, 2)
    np.testing.assert_array_equal(sides[:, 0], sides[:, 1])


UNNAMED = FEATURES.drop_vars("column")
GAPS = FEATURES.where(FEATURES["example"] != "e0003")


# ---- every further measure: names decide, rows and dims do not


Measure = Callable[[xr.DataArray, xr.DataArray], xr.Dataset]


def evaluated(
    sets: xr.DataArray, plausibilities: xr.DataArray, method: IntervalMethod
) -> xr.Dataset:
    """An evaluation with all that it can be asked for."""
    labels = [f"l{int(name[1:]) % 4}" for name in map(str, sets["example"].values)]
    order = [5 * int(name[1:]) % len(sets["label"]) for name in map(str, sets["label"].values)]
    return evaluate(
        sets.assign_coords(diagnosis=("example", labels), order=("label", order)),
        plausibilities,
        by="site",
        cluster="patient",
        ties="random",
        interval=method,
        true_label="diagnosis",
    ).data


MEASURES: dict[str, Measure] = {
    "evaluation": lambda sets, lam: evaluated(sets, lam, "auto"),
    "evaluation, betting": lambda sets, lam: evaluated(sets, lam, "betting"),
    "strata": lambda sets, lam: coverage_by(sets, lam, by=ByRange(entropy(lam), quantiles=3)),
    "strata of logits": lambda sets, lam: coverage_by(
        sets,
        lam,
        by=ByRange(entropy(features(sets).rename(column="label").assign_attrs(scale="logit"))),
        ties="any",
    ),
    "strata of a coordinate": lambda sets, lam: coverage_by(
        sets, lam, by=ByRange("age", edges=[2, 5])
    ),
    "size": lambda sets, lam: coverage_by(sets, lam, by="set-size", cluster="patient"),
    "label": lambda sets, lam: coverage_by(sets, lam, by="label", cluster="patient"),
    "risk": lambda sets, lam: coverage_by(sets, lam, by=ByRisk("cost")),
    "subgroups": lambda sets, lam: coverage_by(sets, lam, by=["site", "sex"]),
    "slab": lambda sets, lam: worst_slab_coverage(sets, lam, features(sets), directions=50),
    "sorted": lambda sets, lam: sorted_coverage(sets, lam),
    "betting": lambda sets, lam: coverage_by(sets, lam, by="label", interval="betting"),
}


@pytest.fixture(params=list(MEASURES))
def measure(request: pytest.FixtureRequest) -> Measure:
    result: Measure = MEASURES[request.param]
    return result


@pytest.mark.parametrize("alphas", [(), (0.1, 0.3)], ids=["one alpha", "two alphas"])
def test_nothing_depends_on_the_order_of_rows_labels_or_dims(
    measure: Measure, alphas: tuple[float, ...]
) -> None:
    """Not in the last bit: sums of sevenths are rounded. The first of tied votes has an order."""
    sets, plausibilities = case(labels=6, votes=7, alphas=alphas)
    rows, labels = np.random.default_rng(0).permutation(120), [3, 0, 5, 1, 4, 2]
    first = measure(sets, plausibilities)
    second = measure(
        sets[rows][:, labels].transpose(), plausibilities[rows[::-1]].transpose()[::-1]
    )
    for dim in {"example", "label"} & set(first.dims):
        second = second.sel({dim: first[dim]})
    if first.attrs.get("ties", "first") == "first":
        votes = [name for name in first if "majority_vote" in str(name)]
        first, second = first.drop_vars(votes), second.drop_vars(votes)
    xr.testing.assert_identical(first, second)


def test_each_alpha_is_measured_as_if_it_were_alone(measure: Measure) -> None:
    sets, plausibilities = case(alphas=(0.1, 0.3))
    together = measure(sets, plausibilities)
    for alpha in (0.1, 0.3):
        alone = measure(sets.sel(alpha=alpha), plausibilities)
        xr.testing.assert_allclose(together.sel(alpha=alpha), alone, rtol=1e-12)


def test_inputs_are_not_changed_and_may_be_read_only(measure: Measure) -> None:
    sets, plausibilities = case()
    before = (sets.copy(deep=True), plausibilities.copy(deep=True))
    for array in (sets, plausibilities):
        array.values.flags.writeable = False
    measure(sets, plausibilities)
    xr.testing.assert_identical(sets, before[0])
    xr.testing.assert_identical(plausibilities, before[1])


def test_sparse_plausibilities_are_the_same(measure: Measure) -> None:
    sets, plausibilities = case()
    first, second = measure(sets, plausibilities), measure(sets, to_sparse(plausibilities))  # type: ignore[arg-type]  # also
    xr.testing.assert_identical(first, second)


def test_the_warning_of_calibration_examples_names_the_line_of_the_caller(measure: Measure) -> None:
    sets, plausibilities = case()
    with pytest.warns(PlausiblyWarning, match="7 of 120 examples of the prediction sets") as caught:
        measure(sets.assign_attrs(calibration_overlap=7), plausibilities)
    assert [item.filename.rpartition("/")[2] for item in caught] == ["test_groups.py"]


def test_names_that_do_not_match_are_refused(measure: Measure) -> None:
    sets, plausibilities = case()
    with pytest.raises(InputError, match="examples-differ"):
        measure(sets[1:], plausibilities)
    with pytest.raises(InputError, match="labels-differ"):
        measure(sets, plausibilities.assign_coords(label=["l0", "l1", "l2", "other"]))
