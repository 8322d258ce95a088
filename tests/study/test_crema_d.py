"""A study of real ratings, from files to figures that were measured independently."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from cli_world import run
from exact_realdata import load
from plausibly.protocols import Calibrator

pytestmark = pytest.mark.realdata

STUDY = """\
seed = 1
[annotations]
path = "votes.npz"
[predictions]
path = "model.npz"
[examples]
path = "actors.csv"
[[methods]]
name = "everyone"
[[methods]]
calibrator = "majority-vote"
[[methods]]
calibrator = { name = "monte-carlo", draws = 10 }
[splits]
count = 10
"""


@pytest.fixture
def folder(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    stored = np.load(shared / "data" / "crema_d" / "data.npz", allow_pickle=False)
    names = stored["file_name"]
    np.savez("votes.npz", counts=stored["counts"], examples=names, labels=stored["class_names"])
    np.savez("model.npz", predictions=stored["probs"], examples=names, labels=stored["class_names"])
    rows = [f"{name},{actor}" for name, actor in zip(names, stored["actor"], strict=True)]
    Path("actors.csv").write_text("\n".join(["example,actor", *rows]) + "\n")
    Path("study.toml").write_text(STUDY)
    return tmp_path


def test_crema_d(folder: Path, shared: Path) -> None:
    ran = run("run", "study.toml", "--json")
    assert ran.code == 0
    assert [one["what"] for one in ran.document["warnings"]] == [
        "91 actors are in calibration and in test",
        # The model knows an example by few votes: two clips can be the same to it.
        "117 of 7,442 examples have exactly the predictions of another, and splits part them",
    ]
    found = {one["name"]: one["results"][0] for one in ran.document["methods"]}
    # Measured on 100 halves of the same data, independently of this program.
    for name, coverage, size in (
        ("everyone", 0.900, 2.24),
        ("majority-vote", 0.756, 1.27),
        ("monte-carlo(draws=10)", 0.900, 2.24),
    ):
        assert found[name]["aggregated_coverage"] == pytest.approx(coverage, abs=0.004)
        assert found[name]["set_size"] == pytest.approx(size, abs=0.03)
    predictions, lam = load(shared, "crema_d")
    names = np.load(shared / "data" / "crema_d" / "data.npz")["file_name"]
    predictions, lam = (array.assign_coords(example=names) for array in (predictions, lam))
    methods: dict[str, dict[str, object] | Calibrator] = {
        "everyone": {},
        "majority-vote": {"calibrator": "majority-vote"},
        "monte-carlo(draws=10)": {"calibrator": "monte-carlo", "draws": 10},
    }
    expected = plausibly.compare(predictions, lam, methods, splits=10, seed=1).data
    stored = xr.load_dataset("plausibly-out/results.nc", engine="scipy")
    for measure in ("aggregated_coverage", "majority_vote_coverage", "set_size"):
        np.testing.assert_array_equal(stored[measure].values, expected[measure].values)
