"""How far a missed answer is from its set, and sets with holes, along ordered labels."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import cast

import dask
import numpy as np
import pytest
import xarray as xr

import plausibly
from ordinal_oracles import has_hole
from plausibly.evaluation import Interval, coverage_by, interval
from plausibly.kernels.types import Bools, Ints
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


def expected(sets: xr.DataArray, lam: xr.DataArray) -> list[float]:
    order = np.argsort(ORDER)
    votes = np.rint(lam.values * lam["denominator"].values[:, None]).astype(np.int64)
    result = by_hand(sets.values[:, order], votes[:, order])
    return [math.nan if one is None else float(one) for one in result]


@pytest.mark.parametrize("seed", range(5))
def test_figures_are_those_by_hand(seed: int) -> None:
    sets, lam = made(60, seed)
    result = figures(plausibly.evaluate(with_order(sets), lam))
    np.testing.assert_allclose(result, expected(sets, lam), rtol=1e-14)
    assert result[1] > 0


def test_a_row_by_hand() -> None:
    """Grades 1 to 5, a set of 2 and 4, answers 1, 1, 3 and 5: one step each, and a hole."""
    sets = labelled(np.array([[False, True, False, True, False], [False] * 5]))
    lam = shares(np.array([[2, 0, 1, 0, 1], [0, 0, 1, 1, 2]]))
    result = plausibly.evaluate(sets.assign_coords(order=("label", range(5))), lam)
    assert figures(result) == [1.0, 0.5, 0.5]
    text = " ".join(" ".join(result.lines()).split())
    assert "50% of the sets have holes; a missed answer is 1.00 steps from the set" in text
    assert "not counting 50% of the missed" in text


def test_chunks_give_the_same_bits() -> None:
    sets, lam = made(200, 7)
    sets = with_order(sets)
    with dask.config.set(scheduler="synchronous"):
        for some, answers in ((sets.chunk(example=37), lam), (sets, lam.chunk(example=41))):
            result = figures(plausibly.evaluate(some, answers))
            assert result == figures(plausibly.evaluate(sets, lam))


def test_the_interval_of_the_distance_is_that_of_a_ratio() -> None:
    """Weights are what a set that is not empty misses, and patients count, not examples."""
    sets, lam = made(60, 5)
    sets = with_order(sets).assign_coords(patient=("example", np.arange(60) // 2))
    order = np.argsort(ORDER)
    inside, masses = sets.values[:, order], lam.values[:, order]
    weights = (masses * ~inside).sum(axis=1) * inside.any(axis=1)
    far = [
        sum(mass * steps(row, label) for label, mass in enumerate(some))
        for row, some in zip(inside.tolist(), masses.tolist(), strict=True)
    ]
    values = np.divide(far, weights, out=np.zeros(60), where=weights > 0)
    for patient in (None, "patient"):
        result = plausibly.evaluate(sets, lam, cluster=patient)
        clusters = None if patient is None else np.arange(60) // 2
        one = interval(values - 1, weights=weights, clusters=clusters, top=3.0)
        one = Interval(1 + one.mean, 1 + one.low, 1 + one.high)
        ends = {end: float(result[f"ordinal_gap_{end}"]) for end in ("mean", "low", "high")}
        assert list(ends.values()) == pytest.approx([one.mean, one.low, one.high], abs=1e-12)
        assert results(result)[0]["ordinal_gap"] == ends
        between = f"{math.floor(100 * one.low) / 100:.2f} to {math.ceil(100 * one.high) / 100:.2f}"
        assert f"from the set on average ({between})" in " ".join(" ".join(result.lines()).split())


def test_nothing_missed_has_no_distance() -> None:
    sets, lam = made(20, 1)
    result = plausibly.evaluate(with_order(xr.ones_like(sets)), lam)
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
    sets, lam = made(20, 1)
    if order is not None:
        sets = sets.assign_coords(order=("label", order))
    result = plausibly.evaluate(sets, lam)
    assert not {*MEASURED} & {*result.data.variables}
    assert "ordinal_gap" not in results(result)[0]
    assert "\norder " not in "\n".join(result.lines())


def test_the_order_of_a_score_is_the_order_of_its_sets() -> None:
    """Without a coordinate, sets of `ordinal` say along which order they are intervals."""
    _, lam = made(80, 4)
    model = labelled(np.random.default_rng(5).dirichlet(np.ones(5), 80))
    listed = {"name": "ordinal", "order": "columns"}
    sets = plausibly.calibrate(model[:40], lam[:40], score=listed).predict(model[40:], "0.3")
    result = plausibly.evaluate(sets, lam[40:])
    order = sets.assign_coords(order=("label", range(5))).drop_attrs()
    assert figures(result) == figures(plausibly.evaluate(order, lam[40:]))
    assert figures(result)[2] == 0.0
    some = shares(np.eye(3, dtype=np.int64), list(sets["example"].values[:3]), "abd")
    cut = plausibly.evaluate(sets[:3].sel(label=list("dab")), some)
    assert "ordinal_gap_mean" in cut.data
    renamed = sets[:3].sel(label=list("dab")).assign_coords(label=list("xyz"))
    some = some.assign_coords(label=list("zyx"))
    assert "ordinal_gap_mean" not in plausibly.evaluate(renamed, some).data


def test_coverage_by_label_is_in_the_order_of_the_labels() -> None:
    sets, lam = made(40, 2)
    result, plain = (coverage_by(one, lam, by="label") for one in (with_order(sets), sets))
    assert result["label"].values.tolist() == ["d", "b", "c", "a", "e"]
    xr.testing.assert_equal(result.sortby("label"), plain)


def test_a_study_has_the_figures_of_each_split() -> None:
    _, lam = made(80, 4)
    model = labelled(np.random.default_rng(5).dirichlet(np.ones(5), 80))
    methods = {"plain": {}, "ordinal": {"score": {"name": "ordinal", "order": "columns"}}}
    result = plausibly.compare(model, lam, methods, splits=3).data
    assert (result["share_with_holes"].sel({"method": "ordinal"}) == 0).all()
    assert (result["share_with_holes"].sel({"method": "plain"}) > 0).any()
    assert (result["ordinal_gap"] >= 1).all()
    named = model.assign_coords(order=("label", range(5)))
    again = plausibly.compare(named, lam, {"plain": {}}, splits=3).data
    for name in NAMES:
        one = result[name].sel({"method": ["plain"]})
        np.testing.assert_array_equal(again[name].values, one.values)
    bare = plausibly.compare(model, lam, {"plain": {}}, splits=3).data
    assert not {*NAMES} & {*bare.variables}
