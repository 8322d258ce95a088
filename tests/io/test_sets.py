"""Prediction sets, the guarantee beside them, and files that replace only what was written here."""

from __future__ import annotations

import functools
import json
import os
import platform
import stat
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import plausibly
from io_files import GUARANTEES, prediction_sets, refusal, written
from plausibly.atomic import noting_replaced
from plausibly.errors import InputError
from plausibly.io.sets import read_sets, write_sets
from tables import world

ENDINGS = (".csv", ".parquet")


def simple(**more: object) -> xr.DataArray:
    return xr.DataArray(
        [[True, False], [True, True], [False, False]],
        dims=("example", "label"),
        coords={"example": ["a", "b", "c"], "label": ["neutral", "sad"], "alpha": 0.1},
        attrs={"guarantees": GUARANTEES, "fingerprint": "b1946ac9", "calibration_overlap": 0}
        | more,
    )


@pytest.mark.parametrize("ending", ENDINGS)
@given(sets=prediction_sets(), escape=st.booleans())
@settings(max_examples=40)
def test_everything_comes_back(folder: Path, ending: str, sets: xr.DataArray, escape: bool) -> None:
    path = folder / f"sets{ending}"
    before = sets.copy(deep=True)
    write_sets(sets, path, escape=escape)
    xr.testing.assert_identical(sets, before)
    xr.testing.assert_identical(read_sets(path), sets)


def test_the_files_hold_sets_and_guarantee(tmp_path: Path) -> None:
    write_sets(simple(left_out='{"bad rows": 1}', seed=np.int64(3)), tmp_path / "sets.csv")
    assert (tmp_path / "sets.csv").read_text() == (
        "example,alpha,size,labels,neutral,sad\n"
        "a,0.1,1,neutral,1,0\n"
        "b,0.1,2,neutral | sad,1,1\n"
        "c,0.1,0,,0,0\n"
    )
    facts = json.loads((tmp_path / "sets.json").read_text())
    python = platform.python_version()
    versions = {"plausibly": plausibly.__version__, "numpy": np.__version__, "python": python}
    assert facts.pop("versions") == versions
    assert facts.pop("table") == "sets.csv"
    assert len(facts.pop("table_digest")) == 32
    assert facts.pop("table_escaped") is False
    assert facts == {
        "about": "what the prediction sets in the table of the same name guarantee",
        "alphas": [0.1],
        "dims": ["example", "label"],
        "examples": 3,
        "labels": ["neutral", "sad"],
        "guarantees": [{"alpha": "1/10", "level": "9/10"}],
        "fingerprint": "b1946ac9",
        "calibration_overlap": 0,
        "left_out": {"bad rows": 1},
        "seed": 3,
    }


def test_escaped_cells_are_no_formulas(tmp_path: Path) -> None:
    labels = ["=1+1", "@sum"]
    sets = simple().assign_coords(label=labels, example=["+a", "-b", "'c"])
    write_sets(sets, tmp_path / "sets.csv", escape=True)
    cells = (tmp_path / "sets.csv").read_text().replace("\n", ",").split(",")
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    xr.testing.assert_identical(read_sets(tmp_path / "sets.csv"), sets)


def test_sets_without_their_json_guarantee_nothing(tmp_path: Path) -> None:
    """Several alphas are then a dim."""
    two = xr.concat([simple(), simple().assign_coords(alpha=0.05)], "alpha")
    for sets in (simple(), two.transpose("example", "label", "alpha")):
        write_sets(sets, tmp_path / "sets.csv")
        (tmp_path / "sets.json").unlink()
        with pytest.warns(UserWarning, match="guarantee-missing: sets.csv has no sets.json"):
            read = read_sets(tmp_path / "sets.csv")
        xr.testing.assert_identical(read, sets.drop_attrs())


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ("{\n oops", "file-damaged"),
        ("[" * 100_000, "file-damaged"),
        ("[1]", "file-damaged"),
        ({"alphas": [0.2]}, "sets-mismatch"),
        ({"table_digest": None}, "sets-mismatch"),
    ],
)
def test_a_json_that_is_broken_or_of_other_sets(
    tmp_path: Path, change: str | dict[str, object], name: str
) -> None:
    write_sets(simple(), tmp_path / "sets.csv")
    facts = json.loads((tmp_path / "sets.json").read_text())
    text = change if isinstance(change, str) else json.dumps(facts | change)
    written(tmp_path, "sets.json", text)
    assert refusal(lambda: read_sets(tmp_path / "sets.csv")).name == name


def test_arrays_that_are_no_sets(tmp_path: Path) -> None:
    for wrong in (simple().astype(int), simple().drop_vars("alpha"), simple().isel(label=0)):
        error = refusal(lambda array=wrong: write_sets(array, tmp_path / "sets.csv"))  # type: ignore[misc]  # bound now
        assert error.name == "sets-unfit"
    assert refusal(lambda: write_sets(simple(), tmp_path / "sets.json")).name == "ending-unknown"
    assert not list(tmp_path.iterdir())


ALPHAS = {"old": "0.2", "new": "0.4"}


@functools.cache
def predictor(which: str) -> plausibly.ConformalPredictor:
    return plausibly.calibrate(*world(30), seed=int(which == "new"))


@functools.cache
def sets(which: str) -> xr.DataArray:
    return predictor(which).predict(world(8, seed=3, start=500)[0], ALPHAS[which])


def _save(path: Path, which: str) -> None:
    predictor(which).save(path)


def _fingerprint(path: Path) -> str:
    return plausibly.load_predictor(path).fingerprint


def _write(path: Path, which: str) -> None:
    write_sets(sets(which), path)


def _alphas(path: Path) -> list[str]:
    return [item["alpha"] for item in json.loads(read_sets(path).attrs["guarantees"])]


STORES: dict[str, tuple[Callable[[Path, str], None], Callable[[Path], object]]] = {
    "p.nc": (_save, _fingerprint),
    "p.zarr": (_save, _fingerprint),
    "sets.zarr": (_write, _alphas),
    "sets.csv": (_write, _alphas),
}


def _path_replace(monkeypatch: pytest.MonkeyPatch, fail: Callable[[], object]) -> None:
    """Let the move of what was newly written to its place fail, of two files that of the second."""
    replace = Path.replace

    def moved(self: Path, target: Path) -> Path:
        if self.parent.name == "new" and self.name != "sets.csv":
            fail()
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", moved)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.parametrize("name", ["p.nc", "p.zarr", "sets.zarr"])
def test_reading_after_the_writer_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = tmp_path / name
    write, read = STORES[name]
    write(path, "old")
    known = read(path)
    child = os.fork()
    if not child:
        _path_replace(monkeypatch, lambda: os._exit(9))
        write(path, "new")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert path.exists() == path.is_file()  # a folder was moved aside
    assert read(path) == known


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("name", ["p.nc", "p.zarr", "sets.zarr", "sets.csv"])
def test_a_write_that_fails_at_its_end_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, failure: BaseException
) -> None:
    path = tmp_path / name
    write, read = STORES[name]
    write(path, "old")
    known, names = read(path), sorted(tmp_path.iterdir())
    with monkeypatch.context() as patch:
        _path_replace(patch, Mock(side_effect=failure))
        with pytest.raises((InputError, KeyboardInterrupt)) as caught:
            write(path, "new")
    if isinstance(caught.value, InputError):
        assert caught.value.name == "output-unwritable"
        assert caught.value.found == '"no space left on device"'
        assert caught.value.hint.endswith("is as it was")
    assert read(path) == known
    assert sorted(tmp_path.iterdir()) == names


def test_a_link_and_a_mode_are_kept(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    target, link = there / "real.nc", tmp_path / "link.nc"
    predictor("old").save(target)
    target.chmod(0o600)
    link.symlink_to(target)
    predictor("new").save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert plausibly.load_predictor(target).fingerprint == predictor("new").fingerprint
    assert [path.name for path in there.iterdir()] == ["real.nc"]


def test_files_of_other_kinds_are_not_replaced(tmp_path: Path) -> None:
    """Nor folders of the user, a JSON of the same stem, and stores with a guest."""
    item, part, (new, plausibilities) = predictor("old"), sets("old"), world(8, start=500)
    (tmp_path / "mine.zarr").mkdir()
    (tmp_path / "mine.zarr" / "thesis.txt").write_text("years of work")
    item.save(tmp_path / "p.zarr")
    write_sets(part, tmp_path / "sets.zarr")
    item.save(tmp_path / "guest.zarr")
    (tmp_path / "guest.zarr" / "thesis.txt").write_text("years of work")
    write_sets(part, tmp_path / "also.zarr")
    (tmp_path / "also.zarr" / "label" / "notes.txt").write_text("years of work")
    xr.Dataset({"x": ("y", [1.0])}).to_netcdf(tmp_path / "x.nc", engine="scipy")
    (tmp_path / "votes.csv").write_text("example,annotator,label\n")
    (tmp_path / "report.html").write_text("<html></html>")
    exports = {"tasks": '{"tasks": []}', "list": "[1]", "text": "no json"}
    for name, content in exports.items():
        (tmp_path / f"{name}.json").write_text(content)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for name in ("mine.zarr", "sets.zarr", "guest.zarr", "x.nc"):
        assert refusal(functools.partial(item.save, tmp_path / name)).name == "output-occupied"
    beside = [f"{name}.csv" for name in exports]  # whose guarantee would replace the JSON
    for name in ("mine.zarr", "p.zarr", "also.zarr", "votes.csv", *beside):
        error = refusal(functools.partial(write_sets, part, tmp_path / name))
        assert error.name == "output-occupied"
    place = tmp_path / "report.html"
    error = refusal(
        lambda: plausibly.write_report(item, place, predictions=new, plausibilities=plausibilities)
    )
    assert error.name == "output-occupied"
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_replaced_files_are_noted(tmp_path: Path) -> None:
    with noting_replaced() as noted:
        write_sets(sets("old"), tmp_path / "sets.csv")
        assert noted == []
        write_sets(sets("new"), tmp_path / "sets.csv")
        assert noted == []  # written in this block
    with noting_replaced() as noted:
        write_sets(sets("new"), tmp_path / "sets.csv")
        assert noted == []
        write_sets(sets("old"), tmp_path / "sets.csv")
    assert sorted(path.name for path in noted) == ["sets.csv", "sets.json"]


def test_sets_beside_the_guarantee_of_others_are_refused(tmp_path: Path) -> None:
    """The same names and alpha, so that only the digest can tell."""
    part = sets("old")
    write_sets(part, tmp_path / "sets.csv")
    kept = (tmp_path / "sets.json").read_bytes()
    write_sets(~part, tmp_path / "sets.csv")
    (tmp_path / "sets.json").write_bytes(kept)
    error = refusal(lambda: read_sets(tmp_path / "sets.csv"))
    assert error.name == "sets-mismatch"
    assert "table_digest" in error.found


def test_a_chunk_of_sets_that_is_missing_is_no_empty_set(tmp_path: Path) -> None:
    part = sets("old")
    for name, values in (("some", part), ("none", xr.zeros_like(part))):
        write_sets(values, tmp_path / f"{name}.zarr")
        assert read_sets(tmp_path / f"{name}.zarr").equals(values)
        (tmp_path / f"{name}.zarr" / "prediction_sets" / "0.0").unlink()
        assert (
            refusal(functools.partial(read_sets, tmp_path / f"{name}.zarr")).name == "file-damaged"
        )
