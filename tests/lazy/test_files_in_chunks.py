"""Files read in chunks of examples hold what they hold when they are read whole; the page runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import cli_world
import plausibly
from cli_world import done, run
from plausibly.io import read_predictions, read_sets, write_plausibilities, write_sets
from refusals import refused
from tables import LABELS, world

CAL, ANSWERS = world(12)
NEW, NEW_ANSWERS = world(12, seed=2, start=100)


def written(name: str, folder: Path) -> Path:
    """Return predictions in a file: stored chunks of three, row groups of five."""
    path = folder / name
    if path.suffix == ".npy":
        np.save(path, CAL.values)
    elif path.suffix == ".parquet":
        frame = pd.DataFrame(CAL.values, columns=list(LABELS))
        frame.insert(0, "example", CAL["example"].values)
        frame.to_parquet(path, row_group_size=5)
    elif path.suffix == ".zarr":
        CAL.chunk(example=3).to_dataset(name="p").to_zarr(path, zarr_format=2)
    else:
        CAL.to_dataset(name="p").to_netcdf(path, engine="scipy" if "3" in name else "netcdf4")
    return path


@pytest.mark.parametrize(
    ("name", "item", "seven"),
    [
        ("p.zarr", (3,) * 4, (6, 6)),
        ("p3.nc", (1,) * 12, (7, 5)),
        ("p4.nc", (1,) * 12, (7, 5)),
        ("p.npy", (1,) * 12, (7, 5)),
        ("p.parquet", (5, 5, 2), (5, 7)),
    ],
)
def test_chunks_are_whole_stored_ones(
    name: str, item: tuple[int, ...], seven: tuple[int, ...], tmp_path: Path
) -> None:
    path = written(name, tmp_path)
    labels = list(LABELS) if name.endswith("npy") else None
    whole = read_predictions(path, labels=labels)
    for chunks, expected in ((1, item), (7, seven), (100, (12,))):
        lazy = read_predictions(path, labels=labels, chunks=chunks)
        assert lazy.variable.chunksizes["example"] == expected
        xr.testing.assert_identical(lazy.compute(), whole)


@pytest.mark.parametrize("alpha", [0.3, [0.2, 0.3]])
def test_sets_in_a_store(alpha: float | list[float], tmp_path: Path) -> None:
    predictor = plausibly.calibrate(CAL, ANSWERS)
    sets = predictor.predict(NEW, alpha)
    for inputs in (sets, predictor.predict(NEW.chunk(example=(5, 7)), alpha)):
        write_sets(inputs, tmp_path / "s.zarr")
        for chunks in (None, 7):
            result = read_sets(tmp_path / "s.zarr", chunks=chunks)
            assert (result.chunks is None) == (chunks is None)
            xr.testing.assert_identical(result.compute(), sets)


def test_files_that_are_only_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("example,cat,dog\na,0.5,0.5\n")
    with refused("option-unfit", "found .csv"):
        read_predictions(path, chunks=5)
    with refused("option-range", "chunks=0 is no number of examples"):
        read_predictions(path, chunks=0)
    with refused("option-unfit", "s.csv: chunks has no meaning here"):
        read_sets(tmp_path / "s.csv", chunks=5)
    with refused("sets-unknown", "p.zarr holds no prediction sets"):
        read_sets(written("p.zarr", tmp_path))


def test_commands_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written("p.zarr", tmp_path)
    NEW.to_dataset(name="p").to_zarr("new.zarr", zarr_format=2)
    write_plausibilities(ANSWERS, "lam.nc")
    write_plausibilities(NEW_ANSWERS, "new_lam.nc")
    files = "--plausibilities lam.nc -p p.zarr"
    done(f"calibrate {files} -o whole.nc")
    done(f"calibrate {files} -o p.nc --set compute.chunks=5 --set compute.scheduler=threads")
    assert Path("p.nc").read_bytes() == Path("whole.nc").read_bytes()
    for ending in ("zarr", "csv"):
        predict = "predict p.nc -p new.zarr --alpha 0.3 -o"
        done(f"{predict} whole.{ending}")
        done(f"{predict} cut.{ending} --chunks 5")
        assert read_sets(f"cut.{ending}").identical(read_sets(f"whole.{ending}"))
    assert Path("cut.csv").read_bytes() == Path("whole.csv").read_bytes()
    answers = "--plausibilities new_lam.nc"
    whole, cut, chunks = (
        done(f"evaluate {sets} {answers} --json").document["results"]
        for sets in ("whole.csv", "cut.zarr", "cut.zarr --set compute.chunks=5")
    )
    assert whole == cut == chunks
    line = f"evaluate cut.csv {answers} --set compute.chunks=5"
    cli_world.refused(line, "option-unfit", "chunks has no meaning")


def test_the_page_runs(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = project / "docs" / "files.md"
    marked = r"^<!-- cut: in chunks -->\n\n```(\w+)\n(.*?)^```$"
    blocks = dict(re.findall(marked, page.read_text(encoding="utf-8"), re.M | re.S))
    code, commands = blocks["python"], blocks["sh"]
    scope: dict[str, object] = {}
    for store, file, variable, start in (
        ("calibration.zarr", "lam.nc", "plausibilities", 0),
        ("new.zarr", "new_lam.nc", "new_plausibilities", 100),
    ):
        model, scope[variable] = answers = world(40, start=start)
        model.to_dataset(name="p").to_zarr(store, zarr_format=2)
        write_plausibilities(answers[1], file)
    exec(compile(code, page.name, "exec"), scope)  # what the page shows, from our own tree
    expected = plausibly.calibrate(*world(40))
    result = scope["predictor"]
    assert isinstance(result, plausibly.ConformalPredictor)
    assert result.fingerprint == expected.fingerprint
    for line in commands.splitlines():
        # Processes are started in test_cluster.py: here threads compute the same.
        words = shlex.split(line.replace(" --set compute.scheduler=local", ""))
        assert words.pop(0) == "plausibly"
        ran = run(*words)
        # Its Python wrote sets of another predictor there.
        replaced = "replaced  sets.zarr\n" if "-o sets.zarr" in line else ""
        assert (ran.code, ran.err) == (0, replaced), line
    assert plausibly.load_predictor("predictor.nc").fingerprint == expected.fingerprint
