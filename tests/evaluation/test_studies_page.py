"""docs/studies.md: the script, and the study that is interrupted; test_blocks.py runs the rest."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import cli_world
import plausibly
from readme_world import write_files

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def fences(project: Path) -> list[tuple[str, str]]:
    """Return language and text of each block, in order."""
    page = (project / "docs" / "studies.md").read_text(encoding="utf-8")
    return [(result[0], result[1]) for result in _FENCE.findall(page)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_script_runs_in_several_processes(project: Path, folder: Path) -> None:
    (script,) = (text for _, text in fences(project) if text.startswith("# compare.py"))
    (folder / "compare.py").write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "compare.py"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    study = plausibly.load_study("study.nc").data
    assert study["set_size"].shape == (2, 20, 1)
    assert len(list((folder / "kept").iterdir())) == 21


def test_the_study_file_runs_as_it_is_shown(project: Path, folder: Path) -> None:
    blocks = fences(project)
    (file,) = (text for language, text in blocks if language == "toml")
    whole, _ = (text for language, text in blocks if language == "console")
    (folder / "study.toml").write_text(file, encoding="utf-8")
    command, _, shown = whole.partition("\n")
    ran = cli_world.run(*command.removeprefix("$ plausibly ").split())
    assert (ran.code, ran.out, ran.err) == (0, shown, "")
    assert plausibly.load_study("out/results.nc").data.sizes["draws"] == 2
