"""Files that claim what is not so: one error, soon, and no more memory than the file deserves."""

from __future__ import annotations

import json
import os
import random
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
import xarray as xr

import plausibly
import refusals
from conformal_world import world
from memory import at_most
from plausibly import ConformalPredictor
from plausibly.calibration.pools import Pools
from plausibly.conformal.files import checksum
from plausibly.errors import InputError


@pytest.fixture(scope="module")
def calibrated() -> ConformalPredictor:
    return plausibly.calibrate(*world(40), combiner="held-out-rank")


def refused(path: Path) -> None:
    """Assert that reading is one error, within bounds of time and memory."""
    began = time.perf_counter()
    with at_most(128), refusals.refused("predictor-unreadable"):
        plausibly.load_predictor(path)
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    "changes",
    [
        {"shape": [1, 600_000_000], "chunks": [1, 600_000_000]},
        {"shape": [1, 600_000_000]},
        {"shape": [1, 2_000_000], "chunks": [1, 1]},
        {"shape": [600_000_000, 0], "chunks": [600_000_000, 1]},
        {"shape": [-1, 5]},
        {"shape": [1e9, 1]},
        {"shape": []},
        {"dtype": "|O"},
        {"dtype": "<f8" * 100},
        {"compressor": {"id": "zlib", "level": 1}},
    ],
)
def test_a_zarr_array_that_claims_more(
    tmp_path: Path, calibrated: ConformalPredictor, changes: dict[str, object]
) -> None:
    calibrated.save(tmp_path / "p.zarr")
    header = tmp_path / "p.zarr" / "score" / ".zarray"
    header.write_text(json.dumps({**json.loads(header.read_text()), **changes}))
    refused(tmp_path / "p.zarr")


def test_a_chunk_that_is_missing_short_long_or_a_pipe(
    tmp_path: Path, calibrated: ConformalPredictor
) -> None:
    path = tmp_path / "p.zarr"
    calibrated.save(path)
    chunk = path / "mass" / "0"
    whole = chunk.read_bytes()
    for content in (b"", whole[:-1], whole + b"\0"):
        chunk.write_bytes(content)
        refused(path)
    chunk.unlink()
    refused(path)
    os.mkfifo(chunk)
    refused(path)
    os.mkfifo(tmp_path / "pipe.nc")
    refused(tmp_path / "pipe.nc")


def test_a_store_without_one_of_its_arrays(tmp_path: Path, calibrated: ConformalPredictor) -> None:
    for name in ("score", "reference", "hash_low", "held_out_score"):
        calibrated.save(tmp_path / f"{name}.zarr")
        (tmp_path / f"{name}.zarr" / name / ".zarray").unlink()
        refused(tmp_path / f"{name}.zarr")


def test_a_netcdf_header_that_claims_a_billion(
    tmp_path: Path, calibrated: ConformalPredictor
) -> None:
    path = tmp_path / "p.nc"
    calibrated.save(path)
    whole = path.read_bytes()
    passed = 0
    for place in range(8, 3000, 20):
        path.write_bytes(whole[:place] + struct.pack(">i", 1_000_000_000) + whole[place + 4 :])
        try:
            assert plausibly.load_predictor(path).fingerprint == calibrated.fingerprint
            passed += 1  # what is said of an array twice, and read once
        except InputError:
            refused(path)
    assert passed < 20
    for kind in (b"CDF\x01", b"CDF\x05", b"\x89HDF"):
        path.write_bytes(kind + whole[4:])
        refused(path)


Change = Callable[[xr.Dataset], xr.Dataset]


def rewrite(path: Path, change: Change, **about: Any) -> None:  # Any: what JSON holds
    """Change the arrays and the description of a file, under a checksum that is right."""
    dataset = change(xr.load_dataset(path, engine="scipy"))
    table = json.loads(dataset.attrs["plausibly"])
    for name, value in about.items():
        *parts, last = name.split("__")
        place = table
        for part in parts:
            place = place[part]
        place[last] = value
    text = about["whole"] if "whole" in about else json.dumps(table)
    arrays = {str(name): values.values for name, values in dataset.items()}
    dataset.attrs = {"plausibly": text, "checksum": checksum(arrays, text)}
    dataset.to_netcdf(path, engine="scipy", format="NETCDF3_64BIT")


def same(dataset: xr.Dataset) -> xr.Dataset:
    return dataset


@pytest.mark.parametrize(
    "changes",
    [
        {"calibration__test_mass": "1e999999999"},
        {"calibration__test_mass": "1/0"},
        {"calibration__test_mass": "abc"},
        {"calibration__test_mass": "-1"},
        {"calibration__test_mass": "9" * 5000},
        {"calibration__augmentation": "odd"},
        {"calibration__claim__by": "site"},
        {"metadata__calibrated_on": -1},
        {"metadata__calibrated_on": 1e400},
        {"metadata__calibrated_on": True},
        {"calibration__claim__share": "1e-99999999"},
        {"calibration__claim__target": "truth"},
        {"calibration__claim__conditions": "none"},
        {"calibration__claim__notes": ["another guarantee"]},
        {"calibration__claim__covers": "the true label"},
        {"metadata__seed": "0"},
        {"metadata__scale": "odd"},
        {"format": 1e400},
        {"format": "3"},
        {"fingerprint": "00000000"},
        {"metadata": {}},
        {"calibration": None},
        {"score": "probability"},
        {"labels": []},
        {"labels": ["a", "a", "b"]},
        {"labels": ["a"]},
        {"weighted": 1},
        {"whole": "[" * 100_000},
        {"whole": '{"a":' * 100_000},
        {"whole": "9" * 100_000},
        {"whole": "null"},
    ],
    ids=str,
)
def test_a_description_that_says_something_else(
    tmp_path: Path,
    calibrated: ConformalPredictor,
    changes: dict[str, Any],  # Any: what JSON holds
) -> None:
    calibrated.save(tmp_path / "p.nc")
    rewrite(tmp_path / "p.nc", same, **changes)
    refused(tmp_path / "p.nc")


@pytest.mark.parametrize(
    ("name", "number", "found"),
    [
        ("file-newer", 9, "expected format 4 found format 9, written by plausibly 2.1"),
        ("predictor-unreadable", 2, "found format 2, of an earlier version"),
    ],
)
def test_another_format(
    tmp_path: Path, calibrated: ConformalPredictor, name: str, number: int, found: str
) -> None:
    calibrated.save(tmp_path / "p.nc")
    rewrite(tmp_path / "p.nc", same, format=number, version="2.1")
    with refusals.refused(name, "p.nc", found):
        plausibly.load_predictor(tmp_path / "p.nc")


def test_masses_whose_common_denominator_no_memory_holds(tmp_path: Path) -> None:
    path = tmp_path / "p.nc"
    plausibly.calibrate(*world(4000)).save(path)

    def odd(dataset: xr.Dataset) -> xr.Dataset:
        values = 2.0**52 + 1 + 2 * np.arange(dataset["denominator"].size)
        return dataset.assign(denominator=("calibration_example", values))

    rewrite(path, odd)
    refused(path)


@pytest.mark.parametrize("form", ["nc", "zarr"])
def test_a_changed_byte_is_one_error_or_changes_nothing(
    tmp_path: Path, calibrated: ConformalPredictor, form: str
) -> None:
    path = tmp_path / f"p.{form}"
    calibrated.save(path)
    test = world(10, seed=8, start=1000)[0]
    known = calibrated.predict(test, [0.2, 0.3])
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    draw = random.Random(7)
    errors = 0
    for _ in range(75):
        file = draw.choice(files)
        whole = file.read_bytes()
        changed = bytearray(whole)
        changed[draw.randrange(len(whole))] ^= draw.randrange(1, 256)
        file.write_bytes(changed)
        try:
            found = plausibly.load_predictor(path)
        except InputError:
            errors += 1
        else:
            assert found.fingerprint == calibrated.fingerprint
            assert found.guarantee(0.3) == calibrated.guarantee(0.3)
            assert found.predict(test, [0.2, 0.3]).identical(known)
        file.write_bytes(whole)
    assert errors > 20


def test_the_fingerprint_is_of_the_guarantee_and_the_reference_too() -> None:
    predictions, lam = world(40)
    one = plausibly.calibrate(predictions, lam, combiner={"name": "pac", "delta": 0.2})
    other = plausibly.calibrate(predictions, lam, combiner={"name": "pac", "delta": 0.3})
    assert len(one.fingerprint) == 32
    assert one.fingerprint != other.fingerprint
    calibration = one.pools.calibration
    claim = attrs.evolve(calibration.claim, notes=("odd",))
    for changes in (
        {"pools": Pools(attrs.evolve(calibration, claim=claim))},
        {"reference": one.reference[:-1] if one.reference is not None else None},
        {"labels": one.labels[::-1]},
        {"components": {**one.components, "calibrator": {"name": "odd"}}},
    ):
        assert attrs.evolve(one, **changes).fingerprint != one.fingerprint


FAULTS: dict[str, Change] = {
    "a place twice": lambda d: d.assign(order=d["order"].where(d["order"] != 0, 1)),
    "a place beyond": lambda d: d.assign(order=d["order"].where(d["order"] != 0, 40)),
    "too short": lambda d: d.assign(order=("fewer", np.arange(39, dtype=np.int32))),
    "no order": lambda d: d.drop_vars("order"),
    "a uniform of 1": lambda d: d.assign(uniform=d["uniform"].where(d["order"] != 0, 1.0)),
    "no uniform": lambda d: d.drop_vars("uniform"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_an_order_that_is_none(tmp_path: Path, fault: Callable[[xr.Dataset], xr.Dataset]) -> None:
    path = tmp_path / "p.nc"
    predictor = plausibly.calibrate(*world(40), combiner={"name": "pac", "bound": "binomial"})
    predictor.save(path)
    rewrite(path, same)
    assert plausibly.load_predictor(path).fingerprint == predictor.fingerprint
    rewrite(path, fault)
    refused(path)
