"""Environments in which strangers' plugins are installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from .environments import PROJECT, Environment, build, sources

GOOD = ("thesis-pl", "pairs-reader")


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel of this project and of every plugin."""
    folder = tmp_path_factory.mktemp("wheels")
    build(folder, PROJECT, *sources().values())
    return folder


@pytest.fixture(scope="session")
def good(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """plausibly and two plugins that work."""
    made = Environment.made(tmp_path_factory.mktemp("good"))
    made.install(wheels, *GOOD)
    return made
