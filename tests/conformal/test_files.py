"""Predictors as files: whole, versioned, without code; a damaged file is one error."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path
from typing import Any

import attrs
import pytest
import xarray as xr

import plausibly
import refusals
from kit_components import Drawn, Mean
from memory import at_most
from plausibly import ConformalPredictor
from plausibly.calibration.pvalues import Pools
from plausibly.conformal import FORMAT
from plausibly.conformal.files import checksum
from plausibly.errors import ComponentError, InputError
from tables import world

CALIBRATED = plausibly.calibrate(*world(40), combiner="held-out-rank")
PREDICTIONS = world(40)[0]


def saved(path: Path, predictor: ConformalPredictor = CALIBRATED) -> Path:
    predictor.save(path)
    return path


def refused(path: Path) -> None:
    with at_most(128), refusals.refused("predictor-unreadable", path.name):
        plausibly.load_predictor(path)


def test_the_file_is_netcdf_3_without_wide_integers(tmp_path: Path) -> None:
    path = saved(tmp_path / "p.nc")
    assert path.read_bytes()[:4] == b"CDF\x02"
    with xr.open_dataset(path, engine="scipy") as dataset:
        kinds = {name: str(dataset[name].dtype).lstrip(">") for name in dataset}
        assert {"score", "mass", "group", "row", "hash_low", "hash_high"} <= set(kinds)
        assert not [name for name, kind in kinds.items() if kind in ("int64", "i8", "u8")]
        assert json.loads(dataset.attrs["plausibly"])["format"] == FORMAT


@pytest.mark.parametrize("combiner", ["held-out-rank", {"name": "pac", "bound": "binomial"}])
@pytest.mark.parametrize("form", ["nc", "zarr"])
def test_a_predictor_comes_back_equal(
    tmp_path: Path, form: str, combiner: str | dict[str, object]
) -> None:
    predictor = plausibly.calibrate(*world(60), combiner=combiner)
    for _ in range(2):  # the second replaces the first
        again = plausibly.load_predictor(saved(tmp_path / f"p.{form}", predictor))
    assert again.fingerprint == predictor.fingerprint
    assert again.predict(PREDICTIONS, 0.4).identical(predictor.predict(PREDICTIONS, 0.4))
    assert [path.name for path in tmp_path.iterdir()] == [f"p.{form}"]


def test_names_are_kept_as_hashes_and_can_be_left_out(tmp_path: Path) -> None:
    predictor = plausibly.calibrate(*world(40))
    for names, overlap in ((True, 40), (False, 0)):
        predictor.save(tmp_path / "p.nc", names=names)
        assert b"case 1" not in (tmp_path / "p.nc").read_bytes()
        sets = plausibly.load_predictor(tmp_path / "p.nc").predict(PREDICTIONS, 0.2)
        assert sets.attrs["calibration_overlap"] == overlap


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
    (tmp_path / "empty.zarr").mkdir()
    refused(tmp_path / "empty.zarr")
    with refusals.refused("file-missing"):
        plausibly.load_predictor(tmp_path / "none.nc")


@pytest.mark.parametrize(
    "changes",
    [
        {"shape": [1, 600_000_000], "chunks": [1, 600_000_000]},
        {"shape": [1, 600_000_000]},
        {"shape": [1, 2_000_000], "chunks": [1, 1]},
        {"shape": []},
        {"dtype": "|O"},
    ],
)
def test_a_store_that_claims_what_is_not_there(tmp_path: Path, changes: dict[str, object]) -> None:
    path = saved(tmp_path / "p.zarr")
    for file, prefix in ((path / "score" / ".zarray", None), (path / ".zmetadata", "metadata")):
        about = json.loads(file.read_text())
        (about if prefix is None else about[prefix]["score/.zarray"]).update(changes)
        file.write_text(json.dumps(about))
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


def rewrite(path: Path, **about: Any) -> None:  # Any: what JSON holds
    """Change the description of a file, under a checksum that is right."""
    dataset = xr.load_dataset(path, engine="scipy")
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
        {"metadata__scale": "odd"},
        *({"format": number} for number in (1e400, "3")),
        {"fingerprint": "00000000"},
        {"metadata": {}},
        {"calibration": None},
        {"score": "probability"},
        *({"labels": labels} for labels in ([], ["a", "a", "b"], ["a"])),
        *({"whole": text} for text in ("[" * 100_000, '{"a":' * 100_000, "9" * 100_000, "null")),
    ],
    ids=lambda changes: str(changes)[:60],
)
def test_a_description_that_says_something_else(
    tmp_path: Path,
    changes: dict[str, Any],  # Any: what JSON holds
) -> None:
    path = saved(tmp_path / "p.nc")
    rewrite(path, **changes)
    refused(path)


@pytest.mark.parametrize(
    ("name", "number", "result"),
    [
        ("file-newer", 9, "expected format 4 found format 9, written by plausibly 2.1"),
        ("predictor-unreadable", 2, "found format 2, of an earlier version"),
    ],
)
def test_another_format(tmp_path: Path, name: str, number: int, result: str) -> None:
    path = saved(tmp_path / "p.nc")
    rewrite(path, format=number, version="2.1")
    with refusals.refused(name, "p.nc", result):
        plausibly.load_predictor(path)


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
    first, second = (
        plausibly.calibrate(*world(40), combiner={"name": "pac", "delta": delta})
        for delta in (0.2, 0.3)
    )
    assert len(first.fingerprint) == 32
    assert first.fingerprint != second.fingerprint
    assert first.reference is not None
    calibration = first.pools.calibration
    claim = attrs.evolve(calibration.claim, notes=("odd",))
    for changes in (
        {"pools": Pools(attrs.evolve(calibration, claim=claim))},
        {"reference": first.reference[:-1]},
        {"labels": first.labels[::-1]},
        {"components": {**first.components, "calibrator": {"name": "odd"}}},
    ):
        assert attrs.evolve(first, **changes).fingerprint != first.fingerprint
