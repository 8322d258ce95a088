"""docs/studies.md: the script, and the study that is interrupted; test_blocks.py runs the rest."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import cli_world
import plausibly
from plausibly.cli import run
from plausibly.evaluation.design import Design, Outcome
from readme_world import write_files

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def fences(project: Path) -> list[tuple[str, str]]:
    """Return language and text of each block, in order."""
    page = (project / "docs" / "studies.md").read_text(encoding="utf-8")
    return [(found[0], found[1]) for found in _FENCE.findall(page)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_script_runs_in_several_processes_and_again(project: Path, folder: Path) -> None:
    (script,) = (text for _, text in fences(project) if text.startswith("# compare.py"))
    (folder / "compare.py").write_text(script, encoding="utf-8")
    results = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "compare.py"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        results.append((folder / "study.nc").read_bytes())
    assert results[0] == results[1]
    study = plausibly.load_study("study.nc").data
    assert study["set_size"].shape == (2, 20, 1)
    assert len(list((folder / "kept").iterdir())) == 21


def test_the_study_file_runs_as_it_is_shown(
    project: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = fences(project)
    (file,) = (text for language, text in blocks if language == "toml")
    whole, stopped = (text for language, text in blocks if language == "console")
    (folder / "study.toml").write_text(file, encoding="utf-8")
    command, _, told = whole.partition("\n")
    words = command.removeprefix("$ plausibly ").split()
    ran = cli_world.run(*words)
    assert (ran.code, ran.out, ran.err) == (0, told, "")
    assert plausibly.load_study("out/results.nc").data.sizes["draws"] == 2
    files = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}

    compute = Design.run

    def stops(self: Design, number: int) -> Outcome:
        if number == 12:
            raise KeyboardInterrupt
        return compute(self, number)

    monkeypatch.setattr(run, "PATIENCE", 0.0)
    monkeypatch.setattr(Design, "run", stops)
    _, first, second = stopped.split(f"{command}\n")
    assert cli_world.run(*words).err == first
    monkeypatch.setattr(Design, "run", compute)
    ran = cli_world.run(*words)
    assert second in ran.out
    assert ran.out.replace(second, "") == told
    assert {path.name: path.read_bytes() for path in (folder / "out").iterdir()} == files
