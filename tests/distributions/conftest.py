"""Environments in which strangers' plugins are installed."""

from __future__ import annotations

import pytest

from .environments import PROJECT, SOURCES, Environment, build


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    wheels = tmp_path_factory.mktemp("wheels")
    build(wheels, PROJECT, SOURCES / "pairs_reader")
    made = Environment.made(tmp_path_factory.mktemp("good"))
    made.install(wheels, "pairs-reader")
    return made
