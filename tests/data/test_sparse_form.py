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


@pytest.mark.parametrize(
    ("change", "name", "piece"),
    [
        *(
            (changed(*where), "sparse-invalid", f"sparse plausibilities: {what}")
            for where, what in (
                (("label", (0, 1), 3), "codes out of range in 1 example (e0)"),
                (("label", (1, 1), -2), "codes out of range in 1 example (e1)"),
                (("weight", (0, 1), 0.0), "unfit weights in 1 example (e0)"),
                (("weight", (0, 1), np.nan), "unfit weights in 1 example (e0)"),
                (("weight", (1, 2), 0.5), "unfit weights in 1 example (e1)"),
                (("label", (2, 1), 0), "codes out of order in 1 example (e2)"),
                (("label", (2, 0), 2), "codes out of order in 1 example (e2)"),
            )
        ),
        (
            lambda s: changed("weight", (0, 0), 0.0)(changed("label", (0, 0), -1)(s)),
            "sparse-invalid",
            "hint plausibly.to_sparse(lam) makes them",
        ),
        (
            lambda s: s.drop_vars("label_name"),
            "sparse-invalid",
            "label_name is missing expected a variable label_name over label_name",
        ),
        (
            lambda s: s.rename(slot="place"),
            "sparse-invalid",
            "weight has other dims expected dims example, slot found example, place",
        ),
        (lambda s: s.assign(label=s["label"].astype(float)), "sparse-invalid", "the types differ"),
        (
            lambda s: s.assign_coords(label_name=["k0", "k0", "k1"]),
            "label-twice",
            'sparse plausibilities name "k0" in columns',
        ),
    ],
)
def test_another_form_is_refused(
    change: Callable[[xr.Dataset], xr.Dataset], name: str, piece: str
) -> None:
    for read in (to_dense, check_sparse_form):
        with refused(name, piece):
            read(change(SPARSE))


@pytest.mark.parametrize("bad", [-0.5, np.nan])
def test_what_cannot_be_sparse_is_refused(bad: float) -> None:
    with refused("sparse-invalid", "an entry is negative or not a number"):
        to_sparse(plausibilities(np.array([[1.5, bad]])))
