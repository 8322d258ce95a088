"""Plugins that pip installed, one with a format of its own: in Python, commands, a study file."""

from __future__ import annotations

import contextlib
import importlib.metadata as metadata
import re
import tomllib
from pathlib import Path

import pytest

from cli_world import LABELS, Ran, make
from template_world import FORMAT, PROJECT, Environment, build, write_plugins

pytestmark = pytest.mark.timeout(900)
PLUGINS = (FORMAT, "many-draws")
"""The format of the page for authors with its reader, and a calibrator with a parameter."""


def needed() -> set[str]:
    """Return the names of all that plausibly needs, and of what that needs."""
    with (PROJECT / "pyproject.toml").open("rb") as file:
        left = list(tomllib.load(file)["project"]["dependencies"])
    result: set[str] = set()
    while left:
        line = left.pop()
        name = re.split(r"[^A-Za-z0-9._-]", line)[0].lower()
        if name in result or "extra ==" in line:
            continue
        with contextlib.suppress(metadata.PackageNotFoundError):  # for another platform or Python
            left += metadata.requires(name) or ()
            result.add(name)
    return result


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with plugins, plausibly, and what all need: no extra, no test tool."""
    wheels = tmp_path_factory.mktemp("distributions") / "wheels"
    sources = tmp_path_factory.mktemp("sources")
    write_plugins(sources)
    build(wheels, PROJECT, *(sources / name for name in PLUGINS))
    environment = Environment.made(wheels.with_name("environment"))
    for name in needed():  # those of the environment of the tests
        distribution = metadata.distribution(name)
        tops = {Path(str(file)).parts[0] for file in distribution.files or ()}
        for top in tops - {"..", "__pycache__"}:
            link = environment.place("purelib") / top
            if not link.exists():
                link.symlink_to(Path(str(distribution.locate_file(top))))
    environment.install("--find-links", wheels, *PLUGINS)
    return environment


def plausibly(environment: Environment, *words: str, cwd: Path) -> Ran:
    """Run the command, warnings of Python being errors."""
    return environment.python("-W", "error", "-m", "plausibly", *words, cwd=cwd)


def test_components_are_checked(installed: Environment, tmp_path: Path) -> None:
    ran = plausibly(installed, "plugins", "check", cwd=tmp_path)
    assert ran.err == ""
    assert [re.sub(r" +", " ", line) for line in ran.out.splitlines()] == [
        "ok many-draws 0.1.0 calibrator many-draws:many-draws",
        "ok versus 0.1.0 aggregator versus:versus",
        "ok versus 0.1.0 annotation versus:versus",
        "ok versus 0.1.0 reader versus:versus",
        "ok 70 of plausibly's components",
        'EXTRA 8 of plausibly\'s components pip install "plausibly[crowd]"',
        'EXTRA 5 of plausibly\'s components pip install "plausibly[ranking]"',
        "plugins 14, 0 failed",
    ]


def test_components_keep_the_rules_of_the_kit(installed: Environment, tmp_path: Path) -> None:
    ran = plausibly(installed, "plugins", "check", "versus", "--rules", cwd=tmp_path)
    assert ran.err == ""
    assert "aggregator versus:versus: 18 of 19 rules hold, not run: 1 (a table of" in ran.text
    assert "annotation versus:versus: 18 of 18 rules hold" in ran.text
    assert "reader versus:versus: 5 of 13 rules hold, not run: 8 (there is no file" in ran.text


LAZY = """
import sys
from plausibly.cli.start import main
sys.argv = ["plausibly", "--help"]
assert main() == 0
assert not {"numpy", "plausibly_builtins", "versus"} & set(sys.modules)
from plausibly import registry
from plausibly.plugin import AGGREGATOR, SCORE
registry.resolve(SCORE, "probability")
assert "versus" not in sys.modules
registry.resolve(AGGREGATOR, "versus")
assert "versus.aggregator" in sys.modules
assert "versus.reader" not in sys.modules
"""


def test_plugins_are_imported_when_they_are_first_used(
    installed: Environment, tmp_path: Path
) -> None:
    installed.python("-W", "error", "-c", LAZY, cwd=tmp_path)


STUDY = """
alphas = [0.2]

[annotations]
path = "pairs.csv"
aggregator = "versus"

[predictions]
path = "probabilities.csv"

[[methods]]
calibrator = { name = "many-draws", draws = 4 }

[splits]
count = 3
"""


def test_a_study_file_names_components_of_plugins(installed: Environment, tmp_path: Path) -> None:
    world = make(tmp_path)
    rows = ["task,worker,left,sign,right"]
    for vote in world.path("votes.csv").read_text("utf-8").splitlines()[1:]:
        task, worker, label = vote.split(",")
        rows += [f"{task},{worker},{label},>,{another}" for another in LABELS if another != label]
    world.write("pairs.csv", "\n".join(rows) + "\n")
    world.write("study.toml", STUDY)
    ran = plausibly(installed, "run", "study.toml", cwd=tmp_path)
    assert "pairs.csv (versus:versus, versus): 30 examples" in ran.text
    assert "aggregator versus:versus" in ran.text
    resolved = tomllib.loads(world.path("plausibly-out/resolved.toml").read_text("utf-8"))
    assert resolved["annotations"]["aggregator"] == {"name": "versus:versus"}
    assert resolved["methods"][0]["calibrator"] == {"name": "many-draws:many-draws", "draws": 4}
    plausibly(installed, "run", "plausibly-out/resolved.toml", "-o", "again", cwd=tmp_path)
    first, second = world.path("plausibly-out/sets.csv"), world.path("again/sets.csv")
    assert first.read_bytes() == second.read_bytes()
