"""Files read in chunks of examples hold what they hold when they are read whole."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import plausibly
from lazy_world import LABELS, plausibilities, predictions
from plausibly.errors import InputError
from plausibly.io import read_predictions, read_sets, write_sets
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


def test_the_command_line_in_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from plausibly.cli.start import main
    from plausibly.io import write_plausibilities

    monkeypatch.chdir(tmp_path)
    written("p.zarr", tmp_path)
    NEW.to_dataset().to_zarr("new.zarr", zarr_format=2)
    write_plausibilities(plausibilities(CAL), "lam.nc")

    def run(*words: str) -> int:
        monkeypatch.setattr("sys.argv", ["plausibly", *words])
        with pytest.raises(SystemExit) as left:
            raise SystemExit(main())
        return int(left.value.code or 0)

    given = ("calibrate", "--plausibilities", "lam.nc", "-p", "p.zarr")
    assert run(*given, "-o", "whole.nc") == 0
    assert (
        run(
            *given,
            "-o",
            "made.nc",
            "--set",
            "compute.chunks=5",
            "--set",
            "compute.scheduler=threads",
        )
        == 0
    )
    assert Path("made.nc").read_bytes() == Path("whole.nc").read_bytes()
    asked = ("-p", "new.zarr", "--alpha", "0.3", "--chunks", "5", "-o")
    assert run("predict", "made.nc", *asked, "sets.zarr") == 0
    assert run("predict", "made.nc", *asked, "sets.csv") == 0
    kept = read_sets("sets.zarr")
    assert kept.equals(read_sets("sets.csv").assign_coords(site=NEW["site"]))
    write_plausibilities(plausibilities(NEW), "said.nc")
    judged = ("evaluate", "--plausibilities", "said.nc", "--json")
    capsys.readouterr()
    shown = []
    for words in (("sets.csv",), ("sets.zarr",), ("sets.zarr", "--set", "compute.chunks=5")):
        assert run(judged[0], *words, *judged[1:]) == 0
        shown.append(json.loads(capsys.readouterr().out))
    assert shown[1] == shown[2]
    assert shown[0]["results"] == shown[1]["results"]
    assert run("evaluate", "sets.csv", *judged[1:], "--set", "compute.chunks=5") == 2
    assert "sets.csv: chunks has no meaning here" in capsys.readouterr().err
    assert run(*given, "-o", "made.nc", "--set", "compute.scheduler=threads") == 2
    assert "compute.scheduler has no meaning without chunks" in capsys.readouterr().err


def test_no_scheduler_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed")
    from plausibly.cli.start import main

    monkeypatch.chdir(tmp_path)
    asked = ("--set", "compute.scheduler=pigeon://roof")
    words = ("calibrate", "-p", "p.zarr", "--plausibilities", "lam.nc", "-o", "made.nc")
    monkeypatch.setattr("sys.argv", ["plausibly", *words, "--set", "compute.chunks=5", *asked])
    assert main() == 2
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith(
        "error scheduler-unreachable: no Dask scheduler answers at pigeon://roof expected local, "
        "threads, or an address such as tcp://127.0.0.1:8786 found "
    )
    assert "'pigeon'" in said
    assert said.endswith("hint start one (dask scheduler), or --set compute.scheduler=local")
    assert not list(tmp_path.iterdir())
    # Nor is it asked by what is computed later.
    assert CAL.chunk(example=15).identical(CAL.chunk(example=15).compute())
