"""Environments in which strangers' plugins are installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from .environments import PROJECT, Environment, build, copied, sources

GOOD = ("thesis-pl", "pairs-reader")
MANY = 20


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


@pytest.fixture(scope="session")
def many(good: Environment, wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder, to be put on the path, into which twenty plugins were installed."""
    sources_, made, folder = (tmp_path_factory.mktemp(name) for name in ("copies", "made", "many"))
    copies = []
    for number in range(MANY):
        words = {"lazy_heavy": f"lazy_{number:02d}", "lazy-heavy": f"lazy-{number:02d}"}
        copies.append(copied(sources()["lazy_heavy"], sources_ / str(number), words))
    names = [wheel.name.partition("-")[0] for wheel in build(made, *copies)]
    good.install(made, "--no-deps", "--target", folder, *names)
    return folder


@pytest.fixture(scope="session")
def older(good: Environment, wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder, to be put on the path, with an older version of a plugin that is installed."""
    source, made, folder = (tmp_path_factory.mktemp(name) for name in ("source", "wheel", "older"))
    words = {'version = "0.2"': 'version = "0.1"', "fitted to all rankings": "of the first version"}
    build(made, copied(sources()["thesis_pl"], source, words))
    good.install(made, "--no-deps", "--target", folder, "thesis-pl")
    return folder
