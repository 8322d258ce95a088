"""From CSV files of real ratings to an evaluation, by commands alone."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

import plausibly
from cli_world import run, typed
from plausibly.io import read_sets


def _write(path: Path, header: list[str], rows: list[list[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def _votes(path: Path, names: list[str], labels: list[str], counts: NDArray[np.uint8]) -> None:
    rows: list[list[object]] = []
    for name, row in zip(names, counts, strict=True):
        said = [label for label, count in zip(labels, row, strict=True) for _ in range(count)]
        rows += [[name, f"r{number:02d}", label] for number, label in enumerate(said)]
    _write(path, ["task", "worker", "label"], rows)


@pytest.mark.realdata
def test_crema_d_on_csv_files(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = np.load(shared / "data" / "crema_d" / "data.npz", allow_pickle=False)
    labels = [str(label) for label in data["class_names"]]
    counts, values = data["counts"], data["probs"]
    names = [str(name) for name in data["file_name"]]
    order = np.random.default_rng(1).permutation(len(names))
    halves = {"cal": order[: len(names) // 2], "new": order[len(names) // 2 :]}
    for part, rows in halves.items():
        chosen = [names[row] for row in rows]
        _votes(tmp_path / f"{part}_votes.csv", chosen, labels, counts[rows])
        table: list[list[object]] = [
            [name, *map(float, row)] for name, row in zip(chosen, values[rows], strict=True)
        ]
        _write(tmp_path / f"{part}.csv", ["example", *labels], table)

    ran = typed("calibrate -a cal_votes.csv -p cal.csv -o predictor.nc --json")
    assert ran.code == 0, ran.err
    assert ran.document["n"] == len(halves["cal"])
    words = "predict predictor.nc -p new.csv --alpha 0.1 --alpha 0.05 -o sets.csv"
    assert typed(words).code == 0
    ran = run(*["evaluate", "sets.csv", "-a", "new_votes.csv", "--fail-under", "0.88", "--json"])
    assert ran.code == 0, ran.err

    def half(rows: NDArray[np.int64]) -> tuple[xr.DataArray, xr.DataArray]:
        coords = {"example": [names[row] for row in rows], "label": labels}
        totals = counts[rows].sum(axis=1, dtype=np.int64)
        lam = xr.DataArray(
            counts[rows] / totals[:, None],
            dims=("example", "label"),
            coords={**coords, "denominator": ("example", totals)},
        )
        return xr.DataArray(values[rows].astype(float), lam.coords, dims=lam.dims), lam

    predictor = plausibly.calibrate(*half(halves["cal"]))
    predictions, lam = half(halves["new"])
    sets = predictor.predict(predictions, ["0.1", "0.05"])
    found = read_sets("sets.csv")
    np.testing.assert_array_equal(found.values, sets.transpose(*found.dims).values)
    evaluation = plausibly.evaluate(sets, lam).data
    for result, alpha in zip(ran.document["results"], (0.1, 0.05), strict=True):
        coverage = result["aggregated_coverage"]["mean"]
        expected = float(evaluation["aggregated_coverage_mean"].sel(alpha=alpha))
        assert coverage == pytest.approx(expected, abs=1e-12)
        # One split: three times the spread over splits of DESIGN's table.
        assert coverage == pytest.approx(1 - alpha, abs=0.01)
