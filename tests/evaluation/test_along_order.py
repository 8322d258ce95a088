"""Distances of missed answers from their sets, and sets with holes, along ordered labels."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import cast

import dask
import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly.evaluation import Interval, coverage_by, interval
from plausibly.kernels.types import Bools, Ints
from scores_oracles import has_hole
from tables import labelled, shares

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

NAMES = ("ordinal_gap", "share_missed_by_empty", "share_with_holes")
MEASURED = ("ordinal_gap_mean", *NAMES[1:])
ORDER = [3, 1, 2, 0, 4]
"""Places of the labels a to e in their order."""


def steps(row: list[bool], label: int) -> int:
    """Return how many steps a label is from the nearest one of a set, 0 where it is empty."""
    return min((abs(place - label) for place, inside in enumerate(row) if inside), default=0)


def by_hand(sets: Bools, votes: Ints) -> tuple[Fraction | None, Fraction | None, Fraction]:
    """Return the three figures of sets whose labels are in order, in fractions."""
    far = near = lost = Fraction(0)
    for row, counts in zip(sets.tolist(), votes.tolist(), strict=True):
        for label, count in enumerate(counts):
            mass = Fraction(count, sum(counts))
            if not row[label] and any(row):
                far += mass * steps(row, label)
                near += mass
            elif not row[label]:
                lost += mass
    holes = Fraction(sum(map(has_hole, sets.tolist())), len(sets))
    return far / near if near else None, lost / (near + lost) if near + lost else None, holes


def made(examples: int, seed: int) -> tuple[xr.DataArray, xr.DataArray]:
    random = np.random.default_rng(seed)
    inside = random.random((examples, 5)) < 0.4
    votes = random.multinomial(4, random.dirichlet(np.ones(5)), examples)
    return labelled(inside), shares(votes)


def with_order(sets: xr.DataArray) -> xr.DataArray:
    return sets.assign_coords(order=("label", ORDER))


def figures(result: plausibly.evaluation.Evaluation) -> list[float]:
    return [float(result[name]) for name in MEASURED]


def results(result: plausibly.evaluation.Evaluation) -> list[dict[str, object]]:
    return cast("list[dict[str, object]]", result.to_json()["results"])


def expected(sets: xr.DataArray, plausibilities: xr.DataArray) -> list[float]:
    order = np.argsort(ORDER)
    votes = np.rint(plausibilities.values * plausibilities["denominator"].values[:, None]).astype(
        np.int64
    )
    result = by_hand(sets.values[:, order], votes[:, order])
    return [math.nan if item is None else float(item) for item in result]


@pytest.mark.parametrize("seed", range(5))
def test_figures_are_those_by_hand(seed: int) -> None:
    sets, plausibilities = made(60, seed)
    result = figures(plausibly.evaluate(with_order(sets), plausibilities))
    np.testing.assert_allclose(result, expected(sets, plausibilities), rtol=1e-14)
    assert result[1] > 0


def test_a_row_by_hand() -> None:
    """Grades 1 to 5, a set of 2 and 4, answers 1, 1, 3 and 5: one step each, and a hole."""
    sets = labelled(np.array([[False, True, False, True, False], [False] * 5]))
    plausibilities = shares(np.array([[2, 0, 1, 0, 1], [0, 0, 1, 1, 2]]))
    result = plausibly.evaluate(sets.assign_coords(order=("label", range(5))), plausibilities)
    assert figures(result) == [1.0, 0.5, 0.5]
    text = " ".join(" ".join(result.lines()).split())
    assert "50% of the sets have holes; a missed answer is 1.00 steps from the set" in text
    assert "not counting 50% of the missed" in text


def test_chunks_give_the_same_bits() -> None:
    sets, plausibilities = made(200, 7)
    sets = with_order(sets)
    with dask.config.set(scheduler="synchronous"):
        for part, answers in (
            (sets.chunk(example=37), plausibilities),
            (sets, plausibilities.chunk(example=41)),
        ):
            result = figures(plausibly.evaluate(part, answers))
            assert result == figures(plausibly.evaluate(sets, plausibilities))


def test_the_interval_of_the_distance_is_that_of_a_ratio() -> None:
    """Weights are what a set that is not empty misses, and patients count, not examples."""
    sets, plausibilities = made(60, 5)
    sets = with_order(sets).assign_coords(patient=("example", np.arange(60) // 2))
    order = np.argsort(ORDER)
    inside, masses = sets.values[:, order], plausibilities.values[:, order]
    weights = (masses * ~inside).sum(axis=1) * inside.any(axis=1)
    far = [
        sum(mass * steps(row, label) for label, mass in enumerate(part))
        for row, part in zip(inside.tolist(), masses.tolist(), strict=True)
    ]
    values = np.divide(far, weights, out=np.zeros(60), where=weights > 0)
    for patient in (None, "patient"):
        result = plausibly.evaluate(sets, plausibilities, cluster=patient)
        clusters = None if patient is None else np.arange(60) // 2
        item = interval(values - 1, weights=weights, clusters=clusters, top=3.0)
        item = Interval(1 + item.mean, 1 + item.low, 1 + item.high)
        ends = {end: float(result[f"ordinal_gap_{end}"]) for end in ("mean", "low", "high")}
        assert list(ends.values()) == pytest.approx([item.mean, item.low, item.high], abs=1e-12)
        assert results(result)[0]["ordinal_gap"] == ends
        between = (
            f"{math.floor(100 * item.low) / 100:.2f} to {math.ceil(100 * item.high) / 100:.2f}"
        )
        assert f"from the set on average ({between})" in " ".join(" ".join(result.lines()).split())


def test_nothing_missed_has_no_distance() -> None:
    sets, plausibilities = made(20, 1)
    result = plausibly.evaluate(with_order(xr.ones_like(sets)), plausibilities)
    assert figures(result)[2] == 0.0
    assert np.isnan(figures(result)[:2]).all()
    assert results(result)[0]["ordinal_gap"] == dict.fromkeys(("mean", "low", "high"))
    assert "order        no set has a hole\n" in "\n".join(result.lines())


@pytest.mark.parametrize(
    "order",
    [None, [1, 2, 2, 3, 4], [1.0, 2.0, 3.0, 4.0, np.nan], list("vwxyz")],
    ids=["none", "tied", "partial", "text"],
)
def test_without_an_order_there_are_no_figures(order: list[object] | None) -> None:
    sets, plausibilities = made(20, 1)
    if order is not None:
        sets = sets.assign_coords(order=("label", order))
    result = plausibly.evaluate(sets, plausibilities)
    assert not {*MEASURED} & {*result.data.variables}
    assert "ordinal_gap" not in results(result)[0]
    assert "\norder " not in "\n".join(result.lines())


def test_the_order_of_a_score_is_the_order_of_its_sets() -> None:
    """Without a coordinate, sets of `ordinal` say along which order they are intervals."""
    _, plausibilities = made(80, 4)
    model = labelled(np.random.default_rng(5).dirichlet(np.ones(5), 80))
    listed = {"name": "ordinal", "order": "columns"}
    sets = plausibly.calibrate(model[:40], plausibilities[:40], score=listed).predict(
        model[40:], "0.3"
    )
    result = plausibly.evaluate(sets, plausibilities[40:])
    order = sets.assign_coords(order=("label", range(5))).drop_attrs()
    assert figures(result) == figures(plausibly.evaluate(order, plausibilities[40:]))
    assert figures(result)[2] == 0.0
    part = shares(np.eye(3, dtype=np.int64), list(sets["example"].values[:3]), "abd")
    cut = plausibly.evaluate(sets[:3].sel(label=list("dab")), part)
    assert "ordinal_gap_mean" in cut.data
    renamed = sets[:3].sel(label=list("dab")).assign_coords(label=list("xyz"))
    part = part.assign_coords(label=list("zyx"))
    assert "ordinal_gap_mean" not in plausibly.evaluate(renamed, part).data


def test_coverage_by_label_is_in_the_order_of_the_labels() -> None:
    sets, plausibilities = made(40, 2)
    result, plain = (
        coverage_by(item, plausibilities, by="label") for item in (with_order(sets), sets)
    )
    assert result["label"].values.tolist() == ["d", "b", "c", "a", "e"]
    xr.testing.assert_equal(result.sortby("label"), plain)


def test_a_study_has_the_figures_of_each_split() -> None:
    _, plausibilities = made(80, 4)
    model = labelled(np.random.default_rng(5).dirichlet(np.ones(5), 80))
    methods = {"plain": {}, "ordinal": {"score": {"name": "ordinal", "order": "columns"}}}
    result = plausibly.compare(model, plausibilities, methods, splits=3).data
    assert (result["share_with_holes"].sel({"method": "ordinal"}) == 0).all()
    assert (result["share_with_holes"].sel({"method": "plain"}) > 0).any()
    assert (result["ordinal_gap"] >= 1).all()
    named = model.assign_coords(order=("label", range(5)))
    again = plausibly.compare(named, plausibilities, {"plain": {}}, splits=3).data
    for name in NAMES:
        item = result[name].sel({"method": ["plain"]})
        np.testing.assert_array_equal(again[name].values, item.values)
    bare = plausibly.compare(model, plausibilities, {"plain": {}}, splits=3).data
    assert not {*NAMES} & {*bare.variables}
