"""The made world of the command line, as the current folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_world import CALIBRATE, PREDICT, World, done, make


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    return make(tmp_path)


@pytest.fixture
def sets(world: World) -> World:
    """With a predictor and its sets."""
    done(CALIBRATE)
    done(PREDICT)
    return world
