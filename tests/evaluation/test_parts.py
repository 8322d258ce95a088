"""Properties of every further measure: names decide, rows and dims do not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import xarray as xr

from plausibly.data.plausibilities import to_sparse
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.evaluation import (
    ByRange,
    ByRisk,
    coverage_by,
    entropy,
    evaluate,
    sorted_coverage,
    worst_slab_coverage,
)
from plausibly.evaluation.intervals import IntervalMethod

from .studies import features, tagged as case

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
ALPHAS = pytest.mark.parametrize("alphas", [(), (0.1, 0.3)], ids=["one alpha", "two alphas"])


@pytest.fixture(params=list(MEASURES))
def measure(request: pytest.FixtureRequest) -> Measure:
    result: Measure = MEASURES[request.param]
    return result


@ALPHAS
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


@ALPHAS
def test_each_alpha_is_measured_as_if_it_were_alone(
    measure: Measure, alphas: tuple[float, ...]
) -> None:
    sets, plausibilities = case(alphas=alphas)
    together = measure(sets, plausibilities)
    for alpha in alphas:
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
    assert [item.filename.rpartition("/")[2] for item in caught] == ["test_parts.py"]


def test_names_that_do_not_match_are_refused(measure: Measure) -> None:
    sets, plausibilities = case()
    with pytest.raises(InputError, match="examples-differ"):
        measure(sets[1:], plausibilities)
    with pytest.raises(InputError, match="labels-differ"):
        measure(sets, plausibilities.assign_coords(label=["l0", "l1", "l2", "other"]))
