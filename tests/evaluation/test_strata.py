"""Strata of any number, and of the sizes of sets, against evaluations of their examples."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st
from scipy.stats import entropy as reference

from eval_said import check, said
from plausibly import evaluate, to_sparse
from plausibly.evaluation import ByRange, BySetSize, coverage_by, entropy, largest

from . import studies as oracle
from .parts import case

SETS, LAM = case()


def table(rows: list[list[float]], **attrs: str) -> xr.DataArray:
    coords = {"example": [f"e{i}" for i in range(len(rows))], "label": ["a", "b", "c"]}
    return xr.DataArray(rows, dims=("example", "label"), coords=coords, attrs=attrs)


def test_entropy_is_that_of_the_books() -> None:
    _, lam = oracle.case(50, 5)
    found = entropy(lam)
    assert (found.dims, found.name, str(found.dtype)) == (("example",), "entropy", "float64")
    np.testing.assert_allclose(found, reference(lam.values, axis=1), atol=1e-12)
    assert (found >= 0).all()
    np.testing.assert_array_equal(largest(lam), lam.max("label"))


def test_entropy_of_predictions_follows_their_scale() -> None:
    logits = table([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]], scale="logit")
    weights = xr.apply_ufunc(np.exp, logits).drop_attrs()
    shares = weights / weights.sum("label")
    np.testing.assert_allclose(entropy(logits), entropy(shares))
    rounded = table([[0.332, 0.332, 0.332], [0.5, 0.5, 0.005]], scale="probability")
    assert entropy(rounded)[0] == pytest.approx(np.log(3))
    np.testing.assert_allclose(entropy(rounded), entropy(rounded.drop_attrs()))


def test_strata_are_evaluations_of_their_examples() -> None:
    found = coverage_by(SETS, LAM, by=ByRange(entropy(LAM), edges=[0.6, 1.1]), ties="fractional")
    assert found["stratum"].values.tolist() == ["below 0.6", "0.6 to 1.1", "1.1 and more"]
    assert found["stratum_from"].values.tolist() == [-np.inf, 0.6, 1.1]
    assert found["stratum_to"].values.tolist() == [0.6, 1.1, np.inf]
    assert int(found["count"].sum()) == 120
    values = reference(LAM.values, axis=1)
    for place, mine in enumerate([values < 0.6, (values >= 0.6) & (values < 1.1), values >= 1.1]):
        alone = evaluate(SETS[mine], LAM[mine], ties="fractional").data
        one = found.isel(stratum=place)
        assert one["count"] == mine.sum() > 0
        for quantity in ("aggregated_coverage", "majority_vote_coverage", "set_size"):
            for end in ("mean", "low", "high"):
                assert float(one[f"{quantity}_{end}"]) == pytest.approx(
                    float(alone[f"{quantity}_{end}"]), rel=1e-12
                )
    assert (found.attrs["of"], found.attrs["n"]) == ("entropy", 120)


@settings(max_examples=20)
@given(st.integers(2, 6), st.lists(st.integers(0, 5), min_size=120, max_size=120))
def test_quantiles_keep_equal_numbers_together(parts: int, numbers: list[int]) -> None:
    values = xr.DataArray(numbers, dims="example", coords={"example": SETS["example"]}, name="x")
    found = coverage_by(SETS, LAM, by=ByRange(values, quantiles=parts))
    assert int(found["count"].sum()) == 120
    assert (found["count"] > 0).all()
    for low, high, count in zip(
        found["stratum_from"].values, found["stratum_to"].values, found["count"].values, strict=True
    ):
        assert count == sum(low <= number < high for number in numbers)


def test_halves_of_different_numbers_are_halves() -> None:
    found = coverage_by(SETS, LAM, by=ByRange("patient"))
    assert found["count"].values.tolist() == [60, 60]
    shares = coverage_by(SETS, LAM, by=ByRange("patient", quantiles=[0.25, 0.5]))
    assert shares["count"].values.tolist() == [30, 30, 60]


def test_a_number_a_hair_below_an_edge_is_on_it() -> None:
    values = xr.DataArray(
        np.full(120, 0.1 + 0.7), dims="example", coords={"example": SETS["example"]}
    )
    found = coverage_by(SETS, LAM, by=ByRange(values, edges=[0.8]))
    assert found["count"].values.tolist() == [0, 120]


def test_sizes_are_evaluations_of_their_sets() -> None:
    sets, lam = case(alphas=(0.1, 0.3))
    found = coverage_by(sets, lam, by="set-size")
    assert found["size"].values.tolist() == ["0", "1", "2", "3", "4"]
    assert found["count"].dims == ("size", "alpha")
    for alpha in (0.1, 0.3):
        plane = sets.sel(alpha=alpha)
        sizes = plane.sum("label")
        for size in range(5):
            mine = (sizes == size).values
            one = found.sel(size=str(size), alpha=alpha)
            assert one["count"] == mine.sum()
            if mine.any():
                alone = evaluate(plane[mine], lam[mine]).data
                for name in ("aggregated_coverage_low", "majority_vote_coverage_mean"):
                    assert float(one[name]) == pytest.approx(float(alone[name]), rel=1e-12)
            else:
                assert np.isnan(one["aggregated_coverage_mean"])


def test_many_labels_make_ranges_of_sizes() -> None:
    sets, lam = oracle.case(40, 30)
    found = coverage_by(sets, lam, by="set-size")
    assert found["size"].values.tolist() == ["0", "1", "2", "3", "4-5", "6-10", "11-20", "21-30"]
    sizes = sets.sum("label").values
    for row in range(found.sizes["size"]):
        one = found.isel(size=row)
        inside = (sizes >= int(one["size_from"])) & (sizes <= int(one["size_to"]))
        assert one["count"] == inside.sum()
    asked = coverage_by(sets, lam, by=BySetSize([1, 16]))
    assert asked["size"].values.tolist() == ["0", "1-15", "16-30"]


NO_NAMES = xr.DataArray(np.zeros(120), dims="example", name="doubt")
SOME = xr.DataArray(np.zeros(119), dims="example", coords={"example": SETS["example"][1:]})
NAN = xr.DataArray(
    np.r_[np.nan, np.zeros(119)], dims="example", coords={"example": SETS["example"]}
)


@said(__file__)
def test_the_text(call: str, text: str) -> None:
    check(call, text, globals())


def test_entropy_has_the_same_bits_for_labels_in_any_order() -> None:
    _, lam = case(labels=11, votes=7)
    logits = np.log(lam + 0.1).assign_attrs(scale="logit")
    order = [3, 0, 10, 1, 8, 2, 9, 5, 4, 7, 6]
    for array in (lam, logits):
        np.testing.assert_array_equal(entropy(array), entropy(array[:, order]))
    np.testing.assert_array_equal(entropy(lam), entropy(to_sparse(lam[:, order])))
