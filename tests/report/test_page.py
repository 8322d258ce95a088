"""The page about the report: every command and every block of it, run."""

from __future__ import annotations

import re
import shlex
import warnings
from pathlib import Path

import pytest

from cli_world import make, run
from methods_page import run_page
from plausibly.errors import PlausiblyWarning
from study_world import SMALLEST

_CONSOLE = re.compile(r"^```console\n\$ (.*?)^```$\n*", re.M | re.S)


def test_every_block_runs(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    world = make(tmp_path)
    world.write("study.toml", f'{SMALLEST}[splits]\ncount = 1\n[output]\nfolder = "out"\n')
    world.path("new_patients.csv").replace(world.path("patients.csv"))
    assert run("run", "study.toml", "--no-report").code == 0
    assert (
        run("calibrate", "-a", "votes.csv", "-p", "probabilities.csv", "-o", "predictor.nc").code
        == 0
    )
    text = (project / "docs" / "report.md").read_text(encoding="utf-8")
    commands = _CONSOLE.findall(text)
    assert len(commands) == 2
    for command in commands:
        told = run(*shlex.split(command.replace("\\\n", " "))[1:])
        assert told.code == 0, told.err
    page = world.write("page.md", _CONSOLE.sub("", text))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        blocks = run_page(page)
    assert blocks
    for printed, shown in blocks:
        assert printed == shown
