"""The packed form: one for each array of plausibilities, and the same bits back."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from plausibly.data.plausibilities import check_packed, check_plausibilities, pack, unpack
from plausibly.errors import InputError
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
def packed() -> xr.Dataset:
    return pack(plausibilities(np.array([[0.5, 0, 0.5], [0, 1, 0], [0.25, 0.5, 0.25]])))


@given(
    hnp.arrays(
        st.sampled_from([np.float32, np.float64]),
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.sampled_from([0.0, 0.0, 0.25, 1.0, 1e-30]),
    )
)
def test_unpack_gives_the_same_bits_back(values: NDArray[np.floating]) -> None:
    dense = plausibilities(values)
    packed = pack(dense)
    back = unpack(packed)
    xr.testing.assert_identical(back, dense)
    assert back.dtype == dense.dtype
    assert packed["weight"].dtype == dense.dtype
    xr.testing.assert_identical(pack(back), packed)
    assert packed.sizes["slot"] == max(1, int((values > 0).sum(axis=1).max()))


def test_the_form(packed: xr.Dataset) -> None:
    assert packed["weight"].dims == packed["label"].dims == ("example", "slot")
    assert packed["label"].dtype == np.int32
    assert packed["label"].values.tolist() == [[0, 2, -1], [1, -1, -1], [0, 1, 2]]
    assert packed["weight"].values.tolist() == [[0.5, 0.5, 0], [1, 0, 0], [0.25, 0.5, 0.25]]
    assert packed["label_name"].values.tolist() == ["k0", "k1", "k2"]
    assert packed["denominator"].dims == ("example",)
    assert packed["risk"].dims == ("label_name",)


def test_dims_in_any_order(packed: xr.Dataset) -> None:
    xr.testing.assert_identical(unpack(packed.transpose()), unpack(packed))
    xr.testing.assert_identical(pack(unpack(packed).transpose()), packed)
    xr.testing.assert_identical(check_packed(packed.transpose()), packed)


def test_plausibilities_may_come_packed(packed: xr.Dataset) -> None:
    dense = unpack(packed).assign_coords(denominator=("example", [2, 1, 4]))
    xr.testing.assert_identical(check_plausibilities(pack(dense)), dense)


def test_cutting_examples_keeps_the_form(packed: xr.Dataset) -> None:
    part = packed.isel(example=[2, 0])
    xr.testing.assert_identical(unpack(part), unpack(packed).isel(example=[2, 0]))


def changed(packed: xr.Dataset, name: str, place: tuple[int, int], value: float) -> xr.Dataset:
    values = packed[name].values.copy()
    values[place] = value
    return packed.assign({name: (("example", "slot"), values)})


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
    packed: xr.Dataset, name: str, place: tuple[int, int], value: float, what: str
) -> None:
    with refused("packed-invalid", f"packed plausibilities: {what}"):
        check_packed(changed(packed, name, place, value))


def test_padding_comes_last(packed: xr.Dataset) -> None:
    hole = changed(changed(packed, "label", (0, 0), -1), "weight", (0, 0), 0.0)
    with refused("packed-invalid", "do plausibly.pack(lam) makes them"):
        unpack(hole)


@pytest.mark.parametrize(
    ("change", "what", "expected"),
    [
        ({"drop": "label_name"}, "label_name is missing", "a variable label_name over label_name"),
        ({"rename": {}}, "weight has other dims", "dims example, slot found example, place"),
    ],
)
def test_missing_parts_are_named(
    packed: xr.Dataset, change: dict[str, object], what: str, expected: str
) -> None:
    other = packed.drop_vars("label_name") if "drop" in change else packed.rename(slot="place")
    with refused("packed-invalid", f"packed plausibilities: {what} expected {expected}"):
        check_packed(other)


def test_types_are_checked(packed: xr.Dataset) -> None:
    with pytest.raises(InputError, match="the types differ"):
        check_packed(packed.assign(label=packed["label"].astype(float)))


def test_names_are_checked(packed: xr.Dataset) -> None:
    with pytest.raises(InputError, match='label-twice: packed plausibilities name "k0" in columns'):
        check_packed(packed.assign_coords(label_name=["k0", "k0", "k1"]))


@pytest.mark.parametrize("bad", [-0.5, np.nan])
def test_what_cannot_be_packed_is_refused(bad: float) -> None:
    with refused("packed-invalid", "an entry is negative or not a number"):
        pack(plausibilities(np.array([[1.5, bad]])))
