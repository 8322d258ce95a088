"""Validation of dense and sparse arrays: forms, dtypes and refusals."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import ArrayLike, DTypeLike, NDArray

from call_files import each_call
from plausibly.data.plausibilities import (
    check_plausibilities,
    check_sparse_form,
    to_dense,
    to_sparse,
)
from plausibly.data.validate import check_predictions
from refusals import refused, warned
from tables import labelled

Check = Callable[..., xr.DataArray]
BOTH = pytest.mark.parametrize("check", [check_predictions, check_plausibilities])


def array(values: ArrayLike, **coords: object) -> xr.DataArray:
    values = np.asarray(values)
    named = labelled(values, "c", [f"k{k}" for k in range(values.shape[1])])
    return named.assign_coords(coords)


@BOTH
@pytest.mark.parametrize(
    ("dtype", "kept"),
    [
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.float16, np.float64),
        (np.longdouble, np.float64),
        (np.int8, np.float64),
        (np.uint32, np.float64),
        (bool, np.float64),
        (">f4", np.float32),
        (">f8", np.float64),
    ],
)
def test_types(check: Check, dtype: DTypeLike, kept: DTypeLike) -> None:
    result = check(array(np.eye(3).astype(dtype)))
    assert result.dtype == np.dtype(kept)
    assert result.dtype.isnative
    assert result.values.tolist() == np.eye(3).tolist()


@BOTH
def test_dims_in_any_order_give_the_same_contiguous_rows(check: Check) -> None:
    values = np.random.default_rng(0).dirichlet(np.ones(7), size=9)
    straight = array(values)
    for another in (straight.transpose(), straight.copy(data=np.asfortranarray(values))):
        result = check(another)
        assert result.dims == ("example", "label")
        assert result.values.flags["C_CONTIGUOUS"]
        xr.testing.assert_identical(result, check(straight))


@BOTH
def test_the_array_of_the_caller_stays_theirs(check: Check) -> None:
    given = array(np.full((3, 4), 0.25), example=[3, 1, 2])
    given.values.flags.writeable = False
    before = given.copy(deep=True)
    assert check(given)["example"].values.tolist() == ["3", "1", "2"]
    xr.testing.assert_identical(given, before)
    assert given["example"].dtype.kind == "i"


@BOTH
@pytest.mark.parametrize(
    "labels", [[7, 8], ["7", "8"], np.array(["7", "8"], object), np.array([b"7", b"8"])]
)
def test_names_become_text_and_other_coordinates_stay(check: Check, labels: object) -> None:
    column = pd.Series(["p1", "p2"], dtype="string")
    given = array([[0.3, 0.7], [1.0, 0.0]], label=labels, patient=("example", column))
    given = given.assign_coords(risk=("label", [0, 2])).assign_attrs(left_out='{"x": 1}')
    result = check(given)
    assert result["label"].values.tolist() == ["7", "8"]
    assert result["label"].dtype.kind == "U"
    assert result.isel(example=[1])["patient"].values.tolist() == ["p2"]
    assert result["risk"].values.tolist() == [0, 2]
    assert result.attrs["left_out"] == '{"x": 1}'


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_predictions_that_are_not_finite(bad: float) -> None:
    values = np.full((9, 4), 0.25)
    values[2:6, 1] = bad
    values[2, 3] = np.nan
    where = "cnn.parquet: 4 of 9 rows hold NaN or infinite numbers (c2, c3, c4, … (4 in all))"
    with refused("numbers-not-finite", where, 'found 5 in "k1", "k3"', 'bad_rows="drop"') as caught:
        check_predictions(array(values), source="cnn.parquet")
    assert caught.value.details == {"examples": ["c2", "c3", "c4", "c5"]}
    with refused("numbers-not-finite"):
        check_predictions(array(values), scale="any")


EACH = array([[0.9, 0.8], [0.0, 0.1]])
EYE = array(np.eye(2))
LOGITS = array([[-3.0, 8.0], [1.0, 1.0]])


def on_scale(values: xr.DataArray, scale: str | None = None) -> xr.DataArray:
    rows = xr.concat([values, array([[0.5, 0.5]], example=["sound"])], "example")
    return check_predictions(rows, scale=scale, source="cnn.parquet")


def test_scales() -> None:
    assert check_predictions(LOGITS, scale="logit").attrs["scale"] == "logit"
    assert check_predictions(LOGITS.assign_attrs(scale="any")).attrs["scale"] == "any"
    assert check_predictions(EACH, scale="independent").attrs["scale"] == "independent"
    rounded = array([[0.491, 0.5], [0.509, 0.5], [0.5, 0.5]])
    assert check_predictions(rounded).attrs["scale"] == "probability"


def test_predictions_that_are_only_zero_and_one() -> None:
    values = np.eye(3)[np.arange(1000) % 3]
    values[:4] = 1 / 3
    pieces = ("99.6% of rows", "hint save the softmax, not its argmax")
    with warned("probabilities-hard", *pieces) as caught:
        check_predictions(array(values), source="cnn.parquet")
    assert caught[0].filename == __file__
    with warned("probabilities-hard", "all of rows"):
        check_predictions(array(values[4:]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_predictions(array(values[4:10]))  # too few to say
        check_predictions(array(values[4:]), scale="any")
        check_predictions(array(np.ones((100, 1))))  # one label is always 1


@pytest.mark.parametrize(
    ("row", "name", "piece"),
    [
        ([0.2, 0.2], "rows-do-not-sum", 'hint fix these rows, or lam / lam.sum("label"), if they'),
        ([0.5 + 2e-6, 0.5], "rows-do-not-sum", "1 of 5 rows"),
        ([-0.25, 1.25], "plausibilities-negative", "found -0.25"),
        ([np.nan, 1.25], "numbers-not-finite", 'found 1 in "k0"'),
    ],
)
def test_plausibilities_name_the_rows(row: list[float], name: str, piece: str) -> None:
    values = np.full((5, 2), 0.5)
    values[1, 0] += 9e-7
    check_plausibilities(array(values))
    check_plausibilities(array(np.full((1, 3), 1 / 3, np.float32)))
    values[3] = row
    with refused(name, piece, "c3"):
        check_plausibilities(array(values))


def denominated(values: ArrayLike, total: object) -> xr.DataArray:
    return array(values, denominator=("example", np.asarray(total)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_exact_denominator_stays(dtype: DTypeLike) -> None:
    values = np.array([[1 / 3, 2 / 3], [0.3, 0.7], [51 / 97, 46 / 97]]).astype(dtype)
    result = check_plausibilities(denominated(values, np.array([3, 10, 97], np.int32)))
    assert result["denominator"].values.tolist() == [3, 10, 97]
    assert result["denominator"].dtype == np.int64


@pytest.mark.parametrize(
    "given",
    [
        denominated([[0.25, 0.75]], [2]),  # not whole
        denominated([[0.5, 0.5]], [0]),
        denominated([[0.5, 0.5]], [-2]),
        denominated([[0.5, 0.5]], [2.0]),  # not an integer
        array([[0.5, 0.5]], denominator=2),
        (denominated([[1.0, 0.0]], [1]) + denominated([[0.0, 1.0]], [1])) / 2,  # kept by xarray
    ],
)
def test_a_denominator_that_does_not_hold_goes(given: xr.DataArray) -> None:
    assert "denominator" in given.coords
    assert "denominator" not in check_plausibilities(given).coords


def plausibilities(values: NDArray[np.floating]) -> xr.DataArray:
    n, labels = values.shape
    return labelled(
        values,
        "e",
        [f"k{k}" for k in range(labels)],
        denominator=np.arange(1, n + 1),
        risk=("label", np.arange(labels)),
        patient=[f"p{i // 2}" for i in range(n)],
        name="plausibilities",
        attrs={"left_out": '{"skipped": 2}'},
    )


DENSE = plausibilities(np.array([[0.5, 0, 0.5], [0, 1, 0], [0.25, 0.5, 0.25]]))
SPARSE = to_sparse(DENSE)


@given(
    hnp.arrays(
        st.sampled_from([np.float32, np.float64]),
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.sampled_from([0.0, 0.0, 0.25, 1.0, 1e-30]),
    )
)
def test_the_dense_form_comes_back_bit_by_bit(values: NDArray[np.floating]) -> None:
    dense = plausibilities(values)
    sparse = to_sparse(dense)
    back = to_dense(sparse)
    xr.testing.assert_identical(back, dense)
    assert back.dtype == sparse["weight"].dtype == dense.dtype
    xr.testing.assert_identical(to_sparse(back), sparse)
    assert sparse.sizes["slot"] == max(1, int((values > 0).sum(axis=1).max()))


def test_the_form_in_any_order() -> None:
    assert SPARSE["weight"].dims == SPARSE["label"].dims == ("example", "slot")
    assert SPARSE["label"].dtype == np.int32
    assert SPARSE["label"].values.tolist() == [[0, 2, -1], [1, -1, -1], [0, 1, 2]]
    assert SPARSE["weight"].values.tolist() == [[0.5, 0.5, 0], [1, 0, 0], [0.25, 0.5, 0.25]]
    assert SPARSE["label_name"].values.tolist() == ["k0", "k1", "k2"]
    assert SPARSE["denominator"].dims == ("example",)
    assert SPARSE["risk"].dims == ("label_name",)
    xr.testing.assert_identical(to_dense(SPARSE.transpose()), DENSE)
    xr.testing.assert_identical(to_sparse(DENSE.transpose()), SPARSE)
    xr.testing.assert_identical(check_sparse_form(SPARSE.transpose()), SPARSE)
    xr.testing.assert_identical(to_dense(SPARSE.isel(example=[2, 0])), DENSE.isel(example=[2, 0]))
    counted = DENSE.assign_coords(denominator=("example", [2, 1, 4]))
    xr.testing.assert_identical(check_plausibilities(to_sparse(counted)), counted)


def changed(name: str, place: tuple[int, int], value: float) -> Callable[[xr.Dataset], xr.Dataset]:
    def change(sparse: xr.Dataset) -> xr.Dataset:
        values = sparse[name].values.copy()
        values[place] = value
        return sparse.assign({name: (("example", "slot"), values)})

    return change


UNUSED = changed("label", (0, 0), -1), changed("weight", (0, 0), 0.0)


@pytest.mark.parametrize("bad", [-0.5, np.nan])
def test_what_cannot_be_sparse_is_refused(bad: float) -> None:
    with refused("sparse-invalid", "an entry is negative or not a number"):
        to_sparse(plausibilities(np.array([[1.5, bad]])))


test_each_call_gives_its_text = each_call(__file__, globals())
