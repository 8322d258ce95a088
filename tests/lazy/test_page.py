"""The page on arrays larger than memory, run on small ones: its Python, then its commands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

pytest.importorskip("dask")
pytest.importorskip("zarr")

import plausibly
from cli_world import run
from lazy_world import plausibilities, predictions

PAGE = Path(__file__).resolve().parents[2] / "docs" / "larger_than_memory.md"


def blocks(language: str) -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """The stores and files that the page names, and what its variables are."""
    monkeypatch.chdir(tmp_path)
    found: dict[str, object] = {}
    names = {
        "calibration": ("lam.nc", "plausibilities", "e"),
        "new": ("new_lam.nc", "new_plausibilities", "n"),
    }
    for store, (file, variable, prefix) in names.items():
        model = predictions(40, prefix=prefix)
        lam = plausibilities(model)
        model.to_dataset().to_zarr(f"{store}.zarr", zarr_format=2)
        plausibly.write_plausibilities(lam, file)
        found[variable] = lam
    return found


def test_the_page_runs(files: dict[str, object]) -> None:
    code, cluster = blocks("python")
    assert "Client(" in cluster  # run on a real cluster by the tests beside this one
    scope = dict(files)
    exec(compile(code, PAGE.name, "exec"), scope)  # what the page shows, from our own tree
    predictor = plausibly.calibrate(predictions(40), plausibilities(predictions(40)))
    found = scope["predictor"]
    assert isinstance(found, plausibly.ConformalPredictor)
    assert found.fingerprint == predictor.fingerprint
    install, commands = blocks("sh")
    assert install == 'pip install "plausibly[dask]"\n'
    for line in commands.splitlines():
        # Processes are started in test_cluster.py: here threads compute the same.
        words = shlex.split(line.replace(" --set compute.scheduler=local", ""))
        assert words.pop(0) == "plausibly"
        ran = run(*words)
        # Its Python wrote sets of another predictor there.
        replaced = "replaced  sets.zarr\n" if "-o sets.zarr" in line else ""
        assert (ran.code, ran.err) == (0, replaced), line
    assert plausibly.load_predictor("predictor.nc").fingerprint == predictor.fingerprint
