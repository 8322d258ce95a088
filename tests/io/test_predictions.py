"""Predictions from every format and from exports, and the options of reading them."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import cases_net
import plausibly
from call_files import each_call
from io_files import csv_text, damaged, refusal, result_or_refusal, written
from plausibly.data.validate import seen_in_one
from plausibly.io.predictions import NamedPrediction, from_named
from plausibly.kernels.random import Keys

LABELS = ["melanoma", "naevus, other", 'say "x"']
VALUES = np.array([[0.5, 0.25, 0.25], [0.0, 0.125, 0.875]])
EXAMPLES = ["007", "é"]
VIEWS = ["original", "flipped"]
CASES: dict[str, cases_net.Spec] = tomllib.loads(
    Path(__file__).with_name("predictions.toml").read_text("utf-8")
)


def expected(dtype: type[np.floating] = np.float64, *, views: bool = False) -> xr.DataArray:
    coords = {"augmentation": VIEWS} if views else {}
    coords |= {"example": EXAMPLES, "label": LABELS}
    values = np.stack([VALUES, VALUES[::-1]]) if views else VALUES
    attrs = {"scale": "probability"}
    return xr.DataArray(values.astype(dtype), coords, tuple(coords), "predictions", attrs)


def in_format(folder: Path, ending: str, array: xr.DataArray) -> Path:
    path = folder / f"p{ending}"
    if ending == ".npy":
        np.save(path, array.values)
    elif ending == ".npz":
        more = {"augmentations": VIEWS} if "augmentation" in array.dims else {}
        np.savez(path, probs=array.values, class_names=LABELS, names=EXAMPLES, **more)  # type: ignore[arg-type]  # names
    elif ending in (".csv", ".tsv", ".parquet"):
        frame = plausibly.to_frame(array).reset_index().rename(columns={"augmentation": "view"})
        if ending == ".parquet":
            frame.to_parquet(path, index=False)
        else:
            frame.to_csv(path, sep="," if ending == ".csv" else "\t", index=False)
    else:
        engine = "scipy" if ending == ".nc" else "netcdf4"
        bare = array.transpose("label", ...).drop_attrs()
        bare.to_netcdf(path, engine=engine)  # type: ignore[call-overload]  # chosen above
    return path


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("ending", "views"),
    [
        *((e, False) for e in (".npy", ".npz", ".csv", ".tsv", ".parquet", ".nc", ".nc4")),
        *((e, True) for e in (".npz", ".csv", ".parquet", ".nc")),
    ],
)
def test_every_format_gives_the_same(
    tmp_path: Path, ending: str, views: bool, dtype: type[np.floating]
) -> None:
    path = in_format(tmp_path, ending, expected(dtype, views=views))
    names = {"labels": LABELS, "examples": EXAMPLES} if ending == ".npy" else {}
    column = "view" if views and ending in (".csv", ".parquet") else None
    read = plausibly.read_predictions(path, augmentation=column, **names)  # type: ignore[arg-type]  # by name
    dtype = np.float64 if ending in (".csv", ".tsv") else dtype  # text has no types
    xr.testing.assert_identical(read, expected(dtype, views=views))
    assert read.dtype == dtype


def test_augmentations_of_netcdf_may_have_no_names(tmp_path: Path) -> None:
    bare = expected(views=True).drop_vars("augmentation")
    read = plausibly.read_predictions(in_format(tmp_path, ".nc", bare))
    assert read["augmentation"].values.tolist() == ["0", "1"]


@given(st.permutations(range(6)))
def test_rows_in_any_order_are_the_same_numbers(order: list[int]) -> None:
    columns = {"example": [*"aabbcc"], "view": [*"uvuvuv"], "x": range(6), "y": range(6, 12)}
    frame = pd.DataFrame(columns).iloc[order]
    outcome = plausibly.read_predictions(frame, augmentation="view", scale="any")
    for dim, column in (("example", "example"), ("augmentation", "view")):
        assert outcome[dim].values.tolist() == list(dict.fromkeys(frame[column]))
    for example, view, *numbers in frame.itertuples(index=False):
        assert outcome.sel(augmentation=view, example=example).values.tolist() == numbers


def test_options_hold_for_every_augmentation(tmp_path: Path) -> None:
    array = expected(views=True)
    path, another = in_format(tmp_path, ".csv", 3 * array), [*LABELS[1:], "M"]
    outcome = plausibly.read_predictions(
        path, augmentation="view", normalise=True, rename={"melanoma": "M"}, labels=another
    )
    assert outcome["label"].values.tolist() == another
    np.testing.assert_allclose(outcome.sel(label="M"), array.sel(label="melanoma"))
    array[1, 0, 2] = np.nan  # an example goes with all its augmentations
    path = in_format(tmp_path, ".csv", array)
    outcome = plausibly.read_predictions(path, augmentation="view", bad_rows="drop")
    xr.testing.assert_equal(outcome, array.sel(example=["é"]))
    assert "1" in str(outcome.attrs["left_out"])


def test_an_example_seen_in_one_view_is_seen_in_the_same_one_in_any_order() -> None:
    names = [f"e{n}" for n in range(400)]
    planes = np.broadcast_to(np.arange(4.0)[:, None, None], (4, 400, 2))
    coords = {"augmentation": list("abcd"), "example": names, "label": ["x", "y"]}
    every = xr.DataArray(planes, coords, tuple(coords))
    item = seen_in_one(every, Keys(1))
    assert item.dims == ("example", "label")
    turned = seen_in_one(every.isel(example=slice(None, None, -1)), Keys(1))
    xr.testing.assert_equal(item, turned.sel(example=names))
    counts = np.bincount(item.values[:, 0].astype(int), minlength=4)
    assert counts.min() > 60
    assert (seen_in_one(every, Keys(2)).values != item.values).any()


@pytest.mark.parametrize("ending", [".npy", ".npz", ".csv", ".parquet", ".nc"])
@given(data=st.data())
@settings(max_examples=30)
def test_a_damaged_file_is_read_or_refused(folder: Path, ending: str, data: st.DataObject) -> None:
    path = damaged(data, in_format(folder, ending, expected()))
    result_or_refusal(lambda: plausibly.read_predictions(path, labels=LABELS), path.name)


def test_numbers_of_other_layouts(tmp_path: Path) -> None:
    """Big-endian, netCDF with 64-bit offsets, and scaled integers give the same numbers."""
    path = tmp_path / "p.npy"
    np.save(path, VALUES.astype(">f4"))
    read = plausibly.read_predictions(path, labels=LABELS, examples=EXAMPLES)
    xr.testing.assert_identical(read, expected(np.float32))
    assert read.dtype.isnative
    array = expected().drop_attrs()
    path = tmp_path / "p.nc"
    array.to_netcdf(path, "w", "NETCDF3_64BIT_DATA", engine="netcdf4")  # type: ignore[call-overload]  # xarray's hints lack it
    assert path.read_bytes()[:4] == b"CDF\x05"
    xr.testing.assert_identical(plausibly.read_predictions(path), expected())
    array.encoding = {"dtype": "u1", "scale_factor": 1 / 8, "_FillValue": 0}
    array.to_netcdf(path, engine="netcdf4")
    np.testing.assert_array_equal(plausibly.read_predictions(path).values, VALUES)


def test_names_may_come_from_files_with_coordinates(tmp_path: Path) -> None:
    np.save(tmp_path / "p.npy", VALUES)
    labels, examples = tmp_path / "l.csv", tmp_path / "e.csv"
    pd.DataFrame({"label": LABELS, "risk": [2, 0, 1]}).to_csv(labels, index=False)
    pd.DataFrame({"example": EXAMPLES, "site": ["n", "s"]}).to_csv(examples, index=False)
    read = plausibly.read_predictions(tmp_path / "p.npy", labels=labels, examples=examples)
    assert read["risk"].values.tolist() == [2, 0, 1]
    assert read["site"].values.tolist() == ["n", "s"]
    xr.testing.assert_identical(read.drop_vars(["risk", "site"]), expected())


def test_one_of_several_netcdf_variables(tmp_path: Path) -> None:
    array = expected().assign_coords(site=("example", ["n", "s"]), risk=("label", [1, 2, 3]))
    xr.Dataset({"a": array, "b": array * 0 + 1 / 3, "c": ("example", [1.0, 2.0])}).to_netcdf(
        tmp_path / "p.nc", engine="scipy"
    )
    read = plausibly.read_predictions(tmp_path / "p.nc", variable="a")
    xr.testing.assert_identical(read, array)
    error = refusal(lambda: plausibly.read_predictions(tmp_path / "p.nc"))
    assert (error.name, error.hint) == ("variable-missing", 'variable="a"')
    error = refusal(lambda: plausibly.read_predictions(tmp_path / "p.nc", variable="c"))
    assert error.what == "p.nc has no c over example and label"


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_a_small_file_is_read(tmp_path: Path, case: cases_net.Spec) -> None:
    path = cases_net.write(tmp_path, case)
    outcome = plausibly.read_predictions(path, **case.get("options", {}))
    wanted = xr.DataArray(
        case["values"],
        dims=("example", "label"),
        coords={"example": case["examples"], "label": case["labels"]},
        name="predictions",
        attrs={"scale": "probability", **case.get("attributes", {})},
    )
    xr.testing.assert_identical(outcome, wanted)


@given(
    values=st.lists(
        st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=2), min_size=1, max_size=5
    )
)
def test_csv_numbers_are_read_to_the_last_bit(folder: Path, values: list[list[float]]) -> None:
    rows: list[list[object]] = [["example", "a", "b"]]
    rows += [[f"x{i}", *row] for i, row in enumerate(values)]
    path = written(folder, "p.csv", csv_text(rows))
    assert plausibly.read_predictions(path, scale="any").values.tolist() == values


@pytest.mark.parametrize("kind", ["nc", "nc4", "zarr"])
@pytest.mark.parametrize("chunks", [None, 1])
def test_a_stored_zero_is_zero_whatever_the_fill_value(
    tmp_path: Path, kind: str, chunks: int | None, recwarn: pytest.WarningsRecorder
) -> None:
    array = expected().drop_attrs()
    array.encoding = {"_FillValue": 0.0} | ({} if kind == "zarr" else {"missing_value": 0.0})
    path = tmp_path / f"p.{kind}"
    if kind == "zarr":
        array.to_dataset().to_zarr(path, zarr_format=2, consolidated=False)
    else:
        engine = "scipy" if kind == "nc" else "netcdf4"
        array.to_netcdf(path, engine=engine)  # type: ignore[call-overload]  # chosen above
    recwarn.clear()
    read = plausibly.read_predictions(path, chunks=chunks)
    np.testing.assert_array_equal(read.values, VALUES)
    assert not recwarn.list


def test_rows_are_divided_by_their_sum(tmp_path: Path) -> None:
    """In double precision for whole and half-precision numbers."""
    path = tmp_path / "p.npz"
    np.savez(path, probs=(VALUES * 4).astype(np.float32), labels=LABELS, examples=EXAMPLES)
    assert refusal(lambda: plausibly.read_predictions(path)).name == "rows-do-not-sum"
    xr.testing.assert_identical(
        plausibly.read_predictions(path, normalise=True),
        expected(np.float32).assign_attrs(normalised=1),
    )
    shares = np.random.default_rng(0).dirichlet(np.ones(10), 50).astype(np.float16)
    for values in (np.array([[1, 3]]), shares):
        np.savez(path, probs=values, labels=[f"l{column}" for column in range(values.shape[1])])
        read = plausibly.read_predictions(path, normalise=True)
        exact = values.astype(np.float64)
        np.testing.assert_allclose(read, exact / exact.sum(1, keepdims=True), rtol=1e-15)
        assert read.dtype == np.float64


@pytest.mark.parametrize("scale", ["probability", "logit"])
def test_the_index_of_a_data_frame_is_no_label(tmp_path: Path, scale: str) -> None:
    frame = pd.DataFrame({"example": ["x", "y"], "a": [0.5, 1], "b": [0.5, 0]})
    frame.to_csv(tmp_path / "p.csv")
    pd.read_csv(tmp_path / "p.csv").to_csv(tmp_path / "again.csv", index=False)
    for name in ("p.csv", "again.csv"):
        error = refusal(
            lambda name=name: plausibly.read_predictions(tmp_path / name, scale=scale)  # type: ignore[misc]  # bound now
        )
        assert error.name == "index-column"
        assert "index=False" in error.hint
    frame.set_index("example").rename_axis(None).to_csv(tmp_path / "names.csv")
    error = refusal(lambda: plausibly.read_predictions(tmp_path / "names.csv", scale=scale))
    assert (error.name, error.hint[:10]) == ("index-column", 'example=""')
    read = plausibly.read_predictions(tmp_path / "names.csv", example="", scale=scale)
    assert read.values.tolist() == [[0.5, 0.5], [1, 0]]


def test_labels_of_netcdf_under_another_word_are_not_overridden(tmp_path: Path) -> None:
    data = {"p": (("example", "label"), VALUES), "classes": ("label", LABELS)}
    xr.Dataset(data).to_netcdf(tmp_path / "p.nc", engine="scipy")
    error = refusal(lambda: plausibly.read_predictions(tmp_path / "p.nc", labels=LABELS))
    assert (error.name, LABELS[0] in error.found) == ("array-missing", True)
    assert 'labels=data["classes"]' in error.hint


def test_netcdf4_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = in_format(tmp_path, ".nc4", expected())
    monkeypatch.setitem(sys.modules, "netCDF4", None)
    assert refusal(lambda: plausibly.read_predictions(path)).name == "extra-missing"


Option: TypeAlias = Any  # of a reader, by its name


def named(
    example: str, *scores: tuple[str, str | float | None], model: str = "m"
) -> NamedPrediction:
    return NamedPrediction(example=example, model=model, scores=scores, place=f"row {example}")


def array(
    *text: NamedPrediction, labels: Sequence[str] | None = None, **more: Option
) -> xr.DataArray:
    return from_named(text, labels, source="f.json", **more)


@given(
    rows=st.dictionaries(
        st.text("xyz", min_size=1, max_size=3),
        st.dictionaries(st.sampled_from("abcd"), st.floats(-9, 9), min_size=1),
        min_size=1,
    ),
    data=st.data(),
)
def test_any_scores_come_back_whatever_their_order(
    rows: dict[str, dict[str, float]], data: st.DataObject
) -> None:
    text = [named(example, *scores.items()) for example, scores in rows.items()]
    copies = data.draw(st.lists(st.sampled_from(text), max_size=2))
    result = array(*data.draw(st.permutations(text + copies)), labels=list("dcba"))
    back = {
        str(example): {
            str(label): float(score)
            for label, score in zip(result["label"].values, row, strict=True)
            if label in rows[str(example)]
        }
        for example, row in zip(result["example"].values, result.values, strict=True)
    }
    assert back == rows
    assert (result.values != 0).sum() == sum(s != 0 for row in rows.values() for s in row.values())


ONE = named("x", ("a", 1))


test_each_call_gives_its_text = each_call(__file__, globals())
