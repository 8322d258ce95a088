"""Files read in chunks of examples hold what they hold when they are read whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import cli_world
import plausibly
from cli_world import done, typed
from lazy_world import LABELS, plausibilities, predictions
from plausibly.errors import InputError
from plausibly.io import read_predictions, read_sets, write_plausibilities, write_sets
from refusals import refused

CAL, NEW = predictions(), predictions(seed=2, prefix="t")


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
        CAL.chunk(example=3).to_dataset().to_zarr(path, zarr_format=2)
    else:
        CAL.to_dataset().to_netcdf(path, engine="scipy" if "3" in name else "netcdf4")
    return path


@pytest.mark.parametrize(
    ("name", "cut"),
    [
        ("p.zarr", {1: (3,) * 4, 7: (6, 6), 100: (12,)}),
        ("p3.nc", {1: (1,) * 12, 7: (7, 5), 100: (12,)}),
        ("p4.nc", {1: (1,) * 12, 7: (7, 5), 100: (12,)}),
        ("p.npy", {1: (1,) * 12, 7: (7, 5), 100: (12,)}),
        ("p.parquet", {1: (5, 5, 2), 7: (5, 7), 100: (12,)}),
    ],
)
def test_chunks_are_whole_stored_ones(
    name: str, cut: dict[int, tuple[int, ...]], tmp_path: Path
) -> None:
    path = written(name, tmp_path)
    labels = list(LABELS) if name.endswith("npy") else None
    whole = read_predictions(path, labels=labels)
    for chunks, expected in cut.items():
        lazy = read_predictions(path, labels=labels, chunks=chunks)
        assert lazy.variable.chunksizes["example"] == expected
        xr.testing.assert_identical(lazy.compute(), whole)


@pytest.mark.parametrize("alpha", [0.3, [0.2, 0.3]])
def test_sets_in_a_store(alpha: float | list[float], tmp_path: Path) -> None:
    predictor = plausibly.calibrate(CAL, plausibilities(CAL))
    sets = predictor.predict(NEW, alpha)
    for given in (sets, predictor.predict(NEW.chunk(example=(5, 7)), alpha)):
        write_sets(given, tmp_path / "s.zarr")
        for chunks in (None, 7):
            found = read_sets(tmp_path / "s.zarr", chunks=chunks)
            assert (found.chunks is None) == (chunks is None)
            xr.testing.assert_identical(found.compute(), sets)


def test_files_that_are_only_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("example,cat,dog\na,0.5,0.5\n")
    with refused("option-unfit", "found .csv"):
        read_predictions(path, chunks=5)
    with pytest.raises(InputError, match="error option-range: chunks of 0 examples hold nothing"):
        read_predictions(path, chunks=0)
    with pytest.raises(InputError, match=r"error option-unfit: s\.csv: chunks has no meaning here"):
        read_sets(tmp_path / "s.csv", chunks=5)
    with refused("sets-unknown", "p.zarr holds no prediction sets"):
        read_sets(written("p.zarr", tmp_path))


def test_commands_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written("p.zarr", tmp_path)
    NEW.to_dataset().to_zarr("new.zarr", zarr_format=2)
    write_plausibilities(plausibilities(CAL), "lam.nc")
    write_plausibilities(plausibilities(NEW), "said.nc")
    calibrate = "calibrate --plausibilities lam.nc -p p.zarr"
    threads = "--set compute.scheduler=threads"
    done(f"{calibrate} -o whole.nc")
    done(f"{calibrate} -o made.nc --set compute.chunks=5 {threads}")
    assert Path("made.nc").read_bytes() == Path("whole.nc").read_bytes()
    for name in ("sets.zarr", "sets.csv"):
        done(f"predict made.nc -p new.zarr --alpha 0.3 --chunks 5 -o {name}")
    kept = read_sets("sets.zarr")
    assert kept.equals(read_sets("sets.csv").assign_coords(site=NEW["site"]))
    evaluate = "evaluate --plausibilities said.nc --json"
    shown = [
        done(f"{evaluate} {sets}").document
        for sets in ("sets.csv", "sets.zarr", "sets.zarr --set compute.chunks=5")
    ]
    assert shown[1] == shown[2]
    assert shown[0]["results"] == shown[1]["results"]
    unfit = typed(f"{evaluate} sets.csv --set compute.chunks=5")
    assert "sets.csv: chunks has no meaning here" in unfit.err
    unfit = typed(f"{calibrate} -o made.nc {threads}")
    assert "compute.scheduler has no meaning without chunks" in unfit.err


def test_no_scheduler_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    compute = "--set compute.chunks=5 --set compute.scheduler=pigeon://roof"
    line = f"calibrate -p p.zarr --plausibilities lam.nc -o made.nc {compute}"
    pieces = (
        "no Dask scheduler answers at pigeon://roof expected local, threads, or an address such as",
        "'pigeon'",
        "hint start one (dask scheduler), or --set compute.scheduler=local",
    )
    cli_world.refused(line, "scheduler-unreachable", *pieces)
    # Nor is it asked by what is computed later.
    assert CAL.chunk(example=15).identical(CAL.chunk(example=15).compute())
