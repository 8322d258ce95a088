"""Several views of each example: from every format, checked each, and what is said about them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from io_files import csv_text, warned, written
from plausibly.data.text_table import TextTable
from plausibly.data.validate import seen_in_one
from plausibly.io.arrays import stacked
from plausibly.io.datasets import write_rows
from plausibly.kernels.random import Keys

LABELS = ["a", "b, or c"]
VIEWS = ["original", "flipped"]
EXAMPLES = ["007", "é", "x"]
VALUES = np.array(
    [[[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]], [[0.75, 0.25], [0.0, 1.0], [0.125, 0.875]]]
)


def expected(dtype: type[np.floating] = np.float64) -> xr.DataArray:
    return xr.DataArray(
        VALUES.astype(dtype),
        dims=("augmentation", "example", "label"),
        coords={"augmentation": VIEWS, "example": EXAMPLES, "label": LABELS},
        name="predictions",
        attrs={"scale": "probability"},
    )


def rows() -> list[list[object]]:
    return [
        [example, view, *VALUES[v, e].tolist()]
        for e, example in enumerate(EXAMPLES)
        for v, view in enumerate(VIEWS)
    ]


def csv(folder: Path, body: list[list[object]], name: str = "p.csv") -> Path:
    return written(folder, name, csv_text([["example", "view", *LABELS], *body]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["csv", "parquet", "npz", "nc"])
def test_every_format_gives_the_same(tmp_path: Path, kind: str, dtype: type[np.floating]) -> None:
    path = tmp_path / f"p.{kind}"
    view = None
    if kind == "csv":
        csv(tmp_path, rows())
        view = "view"
    elif kind == "parquet":
        examples, views, *columns = zip(*rows(), strict=True)
        arrays = [np.array(column, dtype=dtype) for column in columns]
        write_rows(path, ["example", "view", *LABELS], [list(examples), list(views), *arrays])
        view = "view"
    elif kind == "npz":
        values = VALUES.astype(dtype)
        np.savez(path, probs=values, augmentations=VIEWS, examples=EXAMPLES, labels=LABELS)
    else:
        array = expected(dtype).transpose("label", "augmentation", "example")
        array.drop_vars("augmentation").to_netcdf(path, engine="scipy")
        assert plausibly.read_predictions(path)["augmentation"].values.tolist() == ["0", "1"]
        array.to_netcdf(path, engine="scipy")
    found = plausibly.read_predictions(path, augmentation=view)
    xr.testing.assert_identical(found, expected(np.float64 if kind == "csv" else dtype))
    assert found.dtype == (np.float64 if kind == "csv" else dtype)


def test_a_table_of_two_dims_with_an_array_called_views_is_read_as_ever(tmp_path: Path) -> None:
    np.savez(tmp_path / "p.npz", probs=VALUES[0], views=VIEWS, examples=EXAMPLES, labels=LABELS)
    assert plausibly.read_predictions(tmp_path / "p.npz").dims == ("example", "label")


@given(st.permutations(range(6)))
def test_rows_in_any_order_are_the_same_numbers(order: list[int]) -> None:
    values = np.arange(12.0).reshape(6, 2)
    examples, views = list("aabbcc"), list("uvuvuv")
    columns = ([examples[row] for row in order], [views[row] for row in order])
    table = TextTable(
        source="p.csv", header=("example", "view"), columns=columns, lines=range(2, 8)
    )
    found, named, seen = stacked(values[order], table, "example", "view")
    # As first seen, and each number under its names.
    assert named == list(dict.fromkeys(examples[row] for row in order))
    assert seen == list(dict.fromkeys(views[row] for row in order))
    for v, view in enumerate(seen):
        for e, example in enumerate(named):
            row = list(zip(examples, views, strict=True)).index((example, view))
            assert found[v, e].tolist() == values[row].tolist()


def test_bad_rows_go_with_all_views_of_their_example(tmp_path: Path) -> None:
    body = rows()
    body[3][2] = "nan"
    found = plausibly.read_predictions(csv(tmp_path, body), augmentation="view", bad_rows="drop")
    xr.testing.assert_equal(found, expected().sel(example=["007", "x"]))
    assert "1" in str(found.attrs["left_out"])


def test_options_hold_for_every_view(tmp_path: Path) -> None:
    path = csv(tmp_path, [[e, v, 3 * p, 3 * q] for e, v, p, q in rows()])  # type: ignore[operator]  # numbers
    found = plausibly.read_predictions(
        path, augmentation="view", normalise=True, rename={"a": "A"}, labels=["b, or c", "A"]
    )
    assert found["label"].values.tolist() == ["b, or c", "A"]
    np.testing.assert_allclose(found.sel(label="A"), VALUES[..., 0])


def test_hard_probabilities_are_warned_of(tmp_path: Path) -> None:
    body: list[list[object]] = [[f"e{n}", "v", n % 2, 1 - n % 2] for n in range(30)]
    path = csv(tmp_path, body)
    assert warned(lambda: plausibly.read_predictions(path, augmentation="view")).startswith(
        "warning probabilities-hard: p.csv, all of rows are only 0 and 1"
    )


def test_an_example_seen_in_one_view_is_seen_in_the_same_one_in_any_order() -> None:
    names = [f"e{n}" for n in range(400)]
    planes = np.broadcast_to(np.arange(4.0)[:, None, None], (4, 400, 2))
    every = xr.DataArray(
        planes,
        dims=("augmentation", "example", "label"),
        coords={"augmentation": list("abcd"), "example": names, "label": ["x", "y"]},
    )
    keys = Keys(1)
    one = seen_in_one(every, keys)
    assert one.dims == ("example", "label")
    turned = seen_in_one(every.isel(example=slice(None, None, -1)), keys)
    xr.testing.assert_equal(one, turned.sel(example=names))
    counts = np.bincount(one.values[:, 0].astype(int), minlength=4)
    assert counts.min() > 60
    assert (seen_in_one(every, Keys(2)).values != one.values).any()
