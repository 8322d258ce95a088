"""The made world of the command line as the current folder, with a study in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_world import World, make
from study_world import WHOLE


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    made = make(tmp_path)
    made.write("study.toml", WHOLE)
    return made
