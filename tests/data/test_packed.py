"""The sparse form: one for each array of plausibilities, and the same bits back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from plausibly.data.plausibilities import (
    check_plausibilities,
    check_sparse_form,
    to_dense,
    to_sparse,
)
from refusals import refused
from tables import labelled


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


@pytest.fixture
def sparse() -> xr.Dataset:
    return to_sparse(plausibilities(np.array([[0.5, 0, 0.5], [0, 1, 0], [0.25, 0.5, 0.25]])))


@given(
    hnp.arrays(
        st.sampled_from([np.float32, np.float64]),
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.sampled_from([0.0, 0.0, 0.25, 1.0, 1e-30]),
    )
)
def test_unpack_gives_the_same_bits_back(values: NDArray[np.floating]) -> None:
    dense = plausibilities(values)
    sparse = to_sparse(dense)
    back = to_dense(sparse)
    xr.testing.assert_identical(back, dense)
    assert back.dtype == dense.dtype
    assert sparse["weight"].dtype == dense.dtype
    xr.testing.assert_identical(to_sparse(back), sparse)
    assert sparse.sizes["slot"] == max(1, int((values > 0).sum(axis=1).max()))


def test_the_form(sparse: xr.Dataset) -> None:
    assert sparse["weight"].dims == sparse["label"].dims == ("example", "slot")
    assert sparse["label"].dtype == np.int32
    assert sparse["label"].values.tolist() == [[0, 2, -1], [1, -1, -1], [0, 1, 2]]
    assert sparse["weight"].values.tolist() == [[0.5, 0.5, 0], [1, 0, 0], [0.25, 0.5, 0.25]]
    assert sparse["label_name"].values.tolist() == ["k0", "k1", "k2"]
    assert sparse["denominator"].dims == ("example",)
    assert sparse["risk"].dims == ("label_name",)


def test_dims_and_examples_in_any_order(sparse: xr.Dataset) -> None:
    dense = to_dense(sparse)
    xr.testing.assert_identical(to_dense(sparse.transpose()), dense)
    xr.testing.assert_identical(to_sparse(dense.transpose()), sparse)
    xr.testing.assert_identical(check_sparse_form(sparse.transpose()), sparse)
    xr.testing.assert_identical(to_dense(sparse.isel(example=[2, 0])), dense.isel(example=[2, 0]))
    counted = dense.assign_coords(denominator=("example", [2, 1, 4]))
    xr.testing.assert_identical(check_plausibilities(to_sparse(counted)), counted)


def changed(sparse: xr.Dataset, name: str, place: tuple[int, int], value: float) -> xr.Dataset:
    values = sparse[name].values.copy()
    values[place] = value
    return sparse.assign({name: (("example", "slot"), values)})


@pytest.mark.parametrize(
    ("name", "place", "value", "what"),
    [
        ("label", (0, 1), 3, "codes out of range in 1 example (e0)"),
        ("label", (1, 1), -2, "codes out of range in 1 example (e1)"),
        ("weight", (0, 1), 0.0, "unfit weights in 1 example (e0)"),
        ("weight", (0, 1), np.nan, "unfit weights in 1 example (e0)"),
        ("weight", (1, 2), 0.5, "unfit weights in 1 example (e1)"),
        ("label", (2, 1), 0, "codes out of order in 1 example (e2)"),
        ("label", (2, 0), 2, "codes out of order in 1 example (e2)"),
    ],
)
def test_a_broken_form_is_refused(
    sparse: xr.Dataset, name: str, place: tuple[int, int], value: float, what: str
) -> None:
    with refused("sparse-invalid", f"sparse plausibilities: {what}"):
        check_sparse_form(changed(sparse, name, place, value))


@pytest.mark.parametrize(
    ("change", "name", "pieces"),
    [
        (
            lambda p: changed(changed(p, "label", (0, 0), -1), "weight", (0, 0), 0.0),
            "sparse-invalid",
            "hint plausibly.to_sparse(lam) makes them",
        ),
        (
            lambda p: p.drop_vars("label_name"),
            "sparse-invalid",
            "label_name is missing expected a variable label_name over label_name",
        ),
        (
            lambda p: p.rename(slot="place"),
            "sparse-invalid",
            "weight has other dims expected dims example, slot found example, place",
        ),
        (lambda p: p.assign(label=p["label"].astype(float)), "sparse-invalid", "the types differ"),
        (
            lambda p: p.assign_coords(label_name=["k0", "k0", "k1"]),
            "label-twice",
            'sparse plausibilities name "k0" in columns',
        ),
    ],
)
def test_another_form_is_refused(
    sparse: xr.Dataset, change: Callable[[xr.Dataset], xr.Dataset], name: str, pieces: str
) -> None:
    with refused(name, pieces):
        to_dense(change(sparse))


@pytest.mark.parametrize("bad", [-0.5, np.nan])
def test_what_cannot_be_sparse_is_refused(bad: float) -> None:
    with refused("sparse-invalid", "an entry is negative or not a number"):
        to_sparse(plausibilities(np.array([[1.5, bad]])))
