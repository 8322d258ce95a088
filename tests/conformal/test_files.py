"""Predictors as files: whole, versioned, without code; a file that claims what is not so is one
error, soon, and takes no more memory than it deserves.
"""

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
from kit_calibrators import Drawn
from kit_combiners import Mean
from memory import at_most
from plausibly import ConformalPredictor
from plausibly.calibration.pools import Pools
from plausibly.conformal import FORMAT
from plausibly.conformal.files import checksum
from plausibly.errors import ComponentError, InputError

CALIBRATED = plausibly.calibrate(*world(40), combiner="held-out-rank")
PREDICTIONS = world(40)[0]
Change = Callable[[xr.Dataset], xr.Dataset]
Component = str | dict[str, object]
Forge = Callable[[Path], object]


def saved(path: Path, predictor: ConformalPredictor = CALIBRATED) -> Path:
    predictor.save(path)
    return path


def refused(path: Path) -> None:
    """Check that reading is one error, within bounds of time and memory."""
    began = time.perf_counter()
    with at_most(128), refusals.refused("predictor-unreadable", path.name):
        plausibly.load_predictor(path)
    assert time.perf_counter() - began < 5


def test_the_file_is_netcdf_3_without_wide_integers(tmp_path: Path) -> None:
    path = saved(tmp_path / "p.nc")
    assert path.read_bytes()[:4] == b"CDF\x02"
    with xr.open_dataset(path, engine="scipy") as dataset:
        kinds = {name: str(dataset[name].dtype).lstrip(">") for name in dataset}
        assert {"score", "mass", "group", "row", "hash_low", "hash_high"} <= set(kinds)
        assert not [name for name, kind in kinds.items() if kind in ("int64", "i8", "u8")]
        assert json.loads(dataset.attrs["plausibly"])["format"] == FORMAT


def test_names_are_kept_as_hashes_and_can_be_left_out(tmp_path: Path) -> None:
    predictor = plausibly.calibrate(*world(40))
    for names, overlap in ((True, 40), (False, 0)):
        predictor.save(tmp_path / "p.nc", names=names)
        assert b"case 1" not in (tmp_path / "p.nc").read_bytes()
        sets = plausibly.load_predictor(tmp_path / "p.nc").predict(PREDICTIONS, 0.2)
        assert sets.attrs["calibration_overlap"] == overlap


def test_zarr(tmp_path: Path) -> None:
    for _ in range(2):  # the second replaces the first
        saved(tmp_path / "p.zarr")
    again = plausibly.load_predictor(tmp_path / "p.zarr")
    assert again.predict(PREDICTIONS, 0.2).identical(CALIBRATED.predict(PREDICTIONS, 0.2))
    assert [path.name for path in tmp_path.iterdir()] == ["p.zarr"]
    (tmp_path / "empty.zarr").mkdir()
    with refusals.refused("predictor-unreadable", "that is no Zarr store"):
        plausibly.load_predictor(tmp_path / "empty.zarr")


def test_nothing_is_half_written(tmp_path: Path) -> None:
    with refusals.refused("output-unwritable"):
        saved(tmp_path / "no" / "such" / "folder.nc")
    with pytest.raises(ComponentError, match="regist"):
        saved(tmp_path / "p.nc", plausibly.calibrate(*world(30), combiner=Mean()))
    assert list(tmp_path.iterdir()) == []
    kept = tmp_path / "p.nc" / "kept"
    kept.parent.mkdir()
    kept.write_text("kept")
    with pytest.raises(InputError):
        saved(tmp_path / "p.nc")
    assert [path.name for path in tmp_path.iterdir()] == ["p.nc"]
    assert kept.read_text() == "kept"


def test_a_calibrator_that_is_not_registered_is_not_needed_again(tmp_path: Path) -> None:
    predictor = plausibly.calibrate(*world(30), calibrator=Drawn())
    again = plausibly.load_predictor(saved(tmp_path / "p.nc", predictor))
    assert again.components["calibrator"] is None
    assert again.fingerprint == predictor.fingerprint


# ---- damaged files


def test_what_is_no_predictor_is_refused(tmp_path: Path) -> None:
    whole = saved(tmp_path / "p.nc").read_bytes()
    contents = {"empty.nc": b"", "text.nc": b"task,worker,label\n", "head.nc": whole[:60]}
    contents |= {f"cut{part}.nc": whole[: len(whole) * part // 10] for part in range(1, 10)}
    kinds = (b"CDF\x01", b"CDF\x05", b"\x89HDF")
    contents |= {f"kind{place}.nc": kind + whole[4:] for place, kind in enumerate(kinds)}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        refused(tmp_path / name)
    xr.Dataset({"x": ("y", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="scipy")
    refused(tmp_path / "other.nc")
    os.mkfifo(tmp_path / "pipe.nc")
    refused(tmp_path / "pipe.nc")
    with refusals.refused("file-missing"):
        plausibly.load_predictor(tmp_path / "none.nc")


def header(**changes: object) -> Forge:
    """Return a change of what the store says of an array."""

    def forge(path: Path) -> None:
        array = path / "score" / ".zarray"
        array.write_text(json.dumps({**json.loads(array.read_text()), **changes}))

    return forge


def chunk(content: Callable[[bytes], bytes]) -> Forge:
    def forge(path: Path) -> None:
        file = path / "mass" / "0"
        file.write_bytes(content(file.read_bytes()))

    return forge


def pipe(path: Path) -> None:
    (path / "mass" / "0").unlink()
    os.mkfifo(path / "mass" / "0")


STORES: list[Forge] = [
    header(shape=[1, 600_000_000], chunks=[1, 600_000_000]),
    header(shape=[1, 600_000_000]),
    header(shape=[1, 2_000_000], chunks=[1, 1]),
    header(shape=[600_000_000, 0], chunks=[600_000_000, 1]),
    header(shape=[-1, 5]),
    header(shape=[1e9, 1]),
    header(shape=[]),
    header(dtype="|O"),
    header(dtype="<f8" * 100),
    header(compressor={"id": "zlib", "level": 1}),
    chunk(lambda whole: b""),
    chunk(lambda whole: whole[:-1]),
    chunk(lambda whole: whole + b"\0"),
    lambda path: (path / "mass" / "0").unlink(),
    pipe,
    *(
        lambda path, name=name: (path / name / ".zarray").unlink()
        for name in ("score", "reference", "hash_low", "held_out_score")
    ),
]


@pytest.mark.parametrize("forge", STORES)
def test_a_store_that_claims_what_is_not_there(tmp_path: Path, forge: Forge) -> None:
    path = saved(tmp_path / "p.zarr")
    forge(path)
    refused(path)


def test_a_netcdf_header_that_claims_a_billion(tmp_path: Path) -> None:
    path = saved(tmp_path / "p.nc")
    whole = path.read_bytes()
    passed = 0
    for place in range(8, 3000, 20):
        path.write_bytes(whole[:place] + struct.pack(">i", 1_000_000_000) + whole[place + 4 :])
        try:
            assert plausibly.load_predictor(path).fingerprint == CALIBRATED.fingerprint
            passed += 1  # what is written of an array twice, and read once
        except InputError:
            refused(path)
    assert passed < 20


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
        *({"calibration__test_mass": m} for m in ("1e999999999", "1/0", "abc", "-1", "9" * 5000)),
        {"calibration__augmentation": "odd"},
        {"calibration__claim__by": "site"},
        *({"metadata__calibrated_on": n} for n in (-1, 1e400, True)),
        {"calibration__claim__share": "1e-99999999"},
        {"calibration__claim__target": "truth"},
        {"calibration__claim__conditions": "none"},
        {"calibration__claim__notes": ["another guarantee"]},
        {"calibration__claim__covers": "the true label"},
        {"metadata__seed": "0"},
        {"metadata__scale": "odd"},
        *({"format": number} for number in (1e400, "3")),
        {"fingerprint": "00000000"},
        {"metadata": {}},
        {"calibration": None},
        {"score": "probability"},
        *({"labels": labels} for labels in ([], ["a", "a", "b"], ["a"])),
        {"weighted": 1},
        *({"whole": text} for text in ("[" * 100_000, '{"a":' * 100_000, "9" * 100_000, "null")),
    ],
    ids=lambda changes: str(changes)[:60],
)
def test_a_description_that_says_something_else(
    tmp_path: Path,
    changes: dict[str, Any],  # Any: what JSON holds
) -> None:
    path = saved(tmp_path / "p.nc")
    rewrite(path, same, **changes)
    refused(path)


@pytest.mark.parametrize(
    ("name", "number", "found"),
    [
        ("file-newer", 9, "expected format 4 found format 9, written by plausibly 2.1"),
        ("predictor-unreadable", 2, "found format 2, of an earlier version"),
    ],
)
def test_another_format(tmp_path: Path, name: str, number: int, found: str) -> None:
    path = saved(tmp_path / "p.nc")
    rewrite(path, same, format=number, version="2.1")
    with refusals.refused(name, "p.nc", found):
        plausibly.load_predictor(path)


def unlike_denominators(dataset: xr.Dataset) -> xr.Dataset:
    """Return masses whose common denominator fits into no memory."""
    values = 2.0**52 + 1 + 2 * np.arange(dataset["denominator"].size)
    return dataset.assign(denominator=("calibration_example", values))


FAULTS: dict[str, tuple[Component, int, Change]] = {
    "denominators": ("average", 4000, unlike_denominators),
    **{
        name: ({"name": "pac", "bound": "binomial"}, 40, change)
        for name, change in {
            "a place twice": lambda d: d.assign(order=d["order"].where(d["order"] != 0, 1)),
            "a place beyond": lambda d: d.assign(order=d["order"].where(d["order"] != 0, 40)),
            "too short": lambda d: d.assign(order=("fewer", np.arange(39, dtype=np.int32))),
            "no order": lambda d: d.drop_vars("order"),
            "a uniform of 1": lambda d: d.assign(uniform=d["uniform"].where(d["order"] != 0, 1.0)),
            "no uniform": lambda d: d.drop_vars("uniform"),
        }.items()
    },
}


@pytest.mark.parametrize("fault", FAULTS)
def test_arrays_that_are_no_calibration(tmp_path: Path, fault: str) -> None:
    combiner, n, change = FAULTS[fault]
    predictor = plausibly.calibrate(*world(n), combiner=combiner)
    path = saved(tmp_path / "p.nc", predictor)
    rewrite(path, same)
    assert plausibly.load_predictor(path).fingerprint == predictor.fingerprint
    rewrite(path, change)
    refused(path)


@pytest.mark.parametrize("form", ["nc", "zarr"])
def test_a_changed_byte_is_one_error_or_changes_nothing(tmp_path: Path, form: str) -> None:
    path = saved(tmp_path / f"p.{form}")
    new = world(10, seed=8, start=1000)[0]
    known = CALIBRATED.predict(new, [0.2, 0.3])
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
            predictor = plausibly.load_predictor(path)
        except InputError:
            errors += 1
        else:
            assert predictor.fingerprint == CALIBRATED.fingerprint
            assert predictor.guarantee(0.3) == CALIBRATED.guarantee(0.3)
            assert predictor.predict(new, [0.2, 0.3]).identical(known)
        file.write_bytes(whole)
    assert errors > 20


def test_the_fingerprint_is_of_the_guarantee_and_the_reference_too() -> None:
    one, other = (
        plausibly.calibrate(*world(40), combiner={"name": "pac", "delta": delta})
        for delta in (0.2, 0.3)
    )
    assert len(one.fingerprint) == 32
    assert one.fingerprint != other.fingerprint
    assert one.reference is not None
    calibration = one.pools.calibration
    claim = attrs.evolve(calibration.claim, notes=("odd",))
    for changes in (
        {"pools": Pools(attrs.evolve(calibration, claim=claim))},
        {"reference": one.reference[:-1]},
        {"labels": one.labels[::-1]},
        {"components": {**one.components, "calibrator": {"name": "odd"}}},
    ):
        assert attrs.evolve(one, **changes).fingerprint != one.fingerprint
