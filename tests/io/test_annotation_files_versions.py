"""The text of version 1 of the format, and arrays that other programs wrote."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import xarray as xr

import plausibly
from io_annotation_tables import same as same_table
from io_files import csv_text, written
from io_plausibilities import same
from plausibly.data.annotations import build_table
from plausibly.io.annotation_files import read_annotation_file


def entry(name: str, dim: str, type_: str, *values: object) -> dict[str, object]:
    """What is said of a coordinate: its values, or that rows have them."""
    held = {"shape": [len(values)], "values": values} if values else {"key": name}
    about = {"name": name, "dims": [dim], "coordinate": True, "attributes": {"mapping": {}}}
    return {**about, "array": {"type": type_, **held}}


ABOUT_TABLE = {
    "plausibly": "annotation table",
    "version": 1,
    "attributes": {
        "mapping": {
            "kind": "single-label",
            "unlisted": "excluded",
            "labels_declared": 1,
            "left_out": "{}",
            "checksum": "193f037bd2e1208b970544d72fc19720",
        }
    },
    "variables": [
        entry("risk", "label", "<i8", 1, 2),
        entry("example", "example", "<U3"),
        entry("label", "label", "<U6", "x", "unused"),
        entry("annotator", "annotator", "<U4", "None"),
    ],
}
ABOUT_LONG = {
    "plausibly": "plausibilities",
    "version": 1,
    "form": "long",
    "type": "<f4",
    "attributes": {"mapping": {"left_out": "{}"}},
    "variables": [
        entry("example", "example", "<U3", "007", "b"),
        entry("label", "label", "<U1", "x", "y", "z"),
    ],
}


def test_annotations_of_version_1(tmp_path: Path) -> None:
    rows = [
        ["response", "example", "annotator", "label", "state", "about"],
        ["0", "007", "None", "x", "answered", f"1/1 {json.dumps(ABOUT_TABLE)}"],
        ["1", "b", "", "", "skipped", ""],
    ]
    wanted = build_table(
        "single-label",
        examples=["007", "b"],
        annotators=["None"],
        labels=["x", "unused"],
        response_example=[0, 1],
        response_annotator=[0, -1],
        mention_response=[0],
        mention_label=[0],
        response_state=[0, 2],
        coordinates={"risk": xr.Variable("label", [1, 2])},
    )
    same_table(read_annotation_file(written(tmp_path, "votes.csv", csv_text(rows))), wanted)
    plausibly.write_annotations(wanted, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text(encoding="utf-8") == csv_text(rows)


def test_long_plausibilities_of_version_1(tmp_path: Path) -> None:
    rows = [
        ["example", "label", "plausibility", "about"],
        ["007", "x", "0.5", f"1/1 {json.dumps(ABOUT_LONG)}"],
        ["007", "z", "0.5", ""],
        ["b", "y", "1.0", ""],
    ]
    wanted = xr.DataArray(
        np.array([[0.5, 0, 0.5], [0, 1, 0]], np.float32),
        dims=("example", "label"),
        coords={"example": ["007", "b"], "label": ["x", "y", "z"]},
        name="plausibilities",
        attrs={"left_out": "{}"},
    )
    path = written(tmp_path, "lam.csv", csv_text(rows))
    same(plausibly.read_plausibilities(path), wanted)


def test_plausibilities_as_numpy_and_xarray_write_them(tmp_path: Path) -> None:
    lam = xr.DataArray(
        [[0.5, 0.5]],
        dims=("example", "label"),
        coords={"example": ["a"], "label": ["x", "y"], "denominator": ("example", [2])},
        name="plausibilities",
        attrs={"joint": "dawid-skene"},
    )
    np.savez(
        tmp_path / "lam.npz",
        plausibilities=lam.values,
        examples=["a"],
        labels=["x", "y"],
        denominator=[2],
    )
    lam.to_dataset().to_netcdf(tmp_path / "lam.nc", engine="scipy", format="NETCDF3_64BIT")
    same(plausibly.read_plausibilities(tmp_path / "lam.npz"), lam.drop_attrs())
    same(plausibly.read_plausibilities(tmp_path / "lam.nc"), lam)
