"""Results of studies in files: the same values, types and attributes when they are read again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly.errors import InputError
from plausibly.evaluation import Study

from .studies import quiet, sites


@pytest.mark.parametrize("seed", [3, -(10**30)])
@pytest.mark.parametrize("more", [{}, {"draws": [1, 20], "sizes": [5, 20], "cluster": "patient"}])
def test_a_study_is_read_as_it_was_written(
    tmp_path: Path, seed: int, more: dict[str, object]
) -> None:
    predictions, lam = sites(60)
    methods = {
        "Stimmen, gezählt": {"calibrator": "majority-vote"},
        "b": {"calibrator": "monte-carlo"},
    }
    study = quiet(
        predictions,
        lam,
        methods,
        alphas=["0.1", "1/3"],
        splits=2,
        seed=seed,
        stratify="site",
        **more,
    )
    file = tmp_path / "study.nc"
    Study(study).save(file)
    assert file.read_bytes()[:3] == b"CDF"
    again = plausibly.load_study(str(file)).data
    xr.testing.assert_identical(again, study)
    assert {n: v.dtype for n, v in again.variables.items()} == {
        n: v.dtype for n, v in study.variables.items()
    }
    assert {n: type(v) for n, v in again.attrs.items()} == {
        n: type(v) for n, v in study.attrs.items()
    }


def test_the_attributes_are_the_settings(tmp_path: Path) -> None:
    predictions, lam = sites(60)
    study = quiet(
        predictions, lam, ["majority-vote"], alphas=["0.10", 0.2], splits=1, stratify="site"
    )
    assert study.attrs["alphas"] == '["0.10", "0.2"]'
    assert study.attrs["version"] == plausibly.__version__
    assert set(study.attrs) == {
        *("n", "labels", "seed", "test", "ties", "alphas", "methods", "guarantees", "version"),
        *("stratify", "strata"),
    }


def test_files_and_datasets_that_hold_no_study(tmp_path: Path) -> None:
    predictions, _ = sites(10)
    other = predictions.to_dataset(name="predictions")
    with pytest.raises(InputError) as unsaved:
        Study(other).save(tmp_path / "study.nc")
    assert str(unsaved.value) == (
        "error study-unknown: this Dataset is no result of a study\n"
        "  expected  aggregated_coverage over method, split and alpha\n"
        "  found     predictions over example, label\n"
        "  hint      pass what plausibly.compare returns, or results.nc of plausibly run"
    )
    assert not list(tmp_path.iterdir())
    xr.Dataset({"x": ("i", np.zeros(2))}).to_netcdf(tmp_path / "x.nc", engine="scipy")
    with pytest.raises(InputError) as unread:
        plausibly.load_study(tmp_path / "x.nc")
    assert (unread.value.what, unread.value.found) == ("x.nc is no result of a study", "x over i")
    with pytest.raises(InputError) as missing:
        plausibly.load_study(tmp_path / "y.nc")
    assert missing.value.name == "file-missing"
    assert missing.value.what.startswith('study "')
