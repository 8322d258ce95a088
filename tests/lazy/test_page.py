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


def test_the_page_runs(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = project / "docs" / "larger_than_memory.md"
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    code, cluster = (text for language, text in blocks if language == "python")
    install, commands = (text for language, text in blocks if language == "sh")
    scope: dict[str, object] = {}
    for store, file, variable, prefix in (
        ("calibration.zarr", "lam.nc", "plausibilities", "e"),
        ("new.zarr", "new_lam.nc", "new_plausibilities", "n"),
    ):
        model = predictions(40, prefix=prefix)
        model.to_dataset().to_zarr(store, zarr_format=2)
        scope[variable] = answers = plausibilities(model)
        plausibly.write_plausibilities(answers, file)
    assert "Client(" in cluster  # run on a real cluster by the tests beside this one
    exec(compile(code, page.name, "exec"), scope)  # what the page shows, from our own tree
    expected = plausibly.calibrate(predictions(40), plausibilities(predictions(40)))
    result = scope["predictor"]
    assert isinstance(result, plausibly.ConformalPredictor)
    assert result.fingerprint == expected.fingerprint
    assert install == 'pip install "plausibly[dask]"\n'
    for line in commands.splitlines():
        # Processes are started in test_cluster.py: here threads compute the same.
        words = shlex.split(line.replace(" --set compute.scheduler=local", ""))
        assert words.pop(0) == "plausibly"
        ran = run(*words)
        # Its Python wrote sets of another predictor there.
        replaced = "replaced  sets.zarr\n" if "-o sets.zarr" in line else ""
        assert (ran.code, ran.err) == (0, replaced), line
    assert plausibly.load_predictor("predictor.nc").fingerprint == expected.fingerprint
