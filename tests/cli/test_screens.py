"""Screens, exit codes and ``--json`` of each command for a small made world."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import nets
from cli_world import World, make, make_views, run, typed
from plausibly.cli.app import SUMMARIES
from study_world import WHOLE

SCREENS = sorted((Path(__file__).parent / "screens").glob("*.txt"))
VARIES = {
    r"\d+(\.\d+)? [kM]?B\b": "SIZE",
    r"\b\d+\.\d+ s\b": "TIME",
    r"\b\d+\.\d+\.\d+\S*": "VERSION",
    r"environment\s+of\s+\S+": "environment of PYTHON",
}


def act(world: World, action: str, *words: str) -> list[str]:
    """Do what a line after ``@`` says, and return what it shows."""
    words = tuple(word.replace("\\n", "\n") for word in words)
    if action == "again":
        for path in world.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        make(world.folder)
    elif action == "show":
        return [*world.path(words[0]).read_text("utf-8").rstrip().splitlines(), ""]
    else:
        assert action in {"edit", "replace", "write"}
        getattr(world, action)(*words)
    return []


def files(world: World) -> dict[str, bytes]:
    """Return the files of the folder by their paths; a folder in it has no bytes."""
    every = world.folder.rglob("*")
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in every}


def screen(text: str, world: World) -> str:
    """Return a file of screens with its commands run again."""
    shown: list[str] = []
    for line in text.splitlines():
        if line.startswith("@ "):
            shown += [line, *act(world, *shlex.split(line[2:]))]
        elif line.startswith("# plausibly "):
            ran = typed(line.removeprefix("# plausibly "))
            assert ran.code == 0, ran.err
            shown.append(line)
        elif line.startswith("$ plausibly"):
            before = files(world)
            ran = typed(line.removeprefix("$ plausibly"))
            assert ran.width <= 80 or "--json" in line
            if ran.code == 2 or "--dry-run" in line:
                assert files(world) == before
            printed = ran.out + ran.err
            for pattern, name in VARIES.items():
                printed = re.sub(pattern, name, printed)
            code = [f"exit code {ran.code}"] if ran.code else []
            shown += [line, *code, *(item.rstrip() for item in printed.rstrip().splitlines()), ""]
    return "\n".join(shown).rstrip() + "\n"


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
@pytest.mark.parametrize("path", SCREENS, ids=lambda path: path.stem)
def test_screens_are_as_recorded(world: World, path: Path) -> None:
    if path.stem == "calibrators":
        make_views(world.folder)
    world.write("study.toml", WHOLE)
    recorded = path.read_text(encoding="utf-8")
    result = screen(recorded, world)
    if os.environ.get("PLAUSIBLY_WRITE_NETS"):
        path.write_text(result, encoding="utf-8")
    assert result.splitlines() == path.read_text(encoding="utf-8").splitlines()


def test_every_command_has_its_screens() -> None:
    names = {path.stem for path in SCREENS}
    assert SUMMARIES.keys() <= names


# ---- exit code and ``--json`` of every command, on one small study


STUDY = """\
seed = 1
alphas = [0.2]
[annotations]
path = "votes.csv"
[predictions]
path = "probabilities.csv"
[examples]
path = "patients.csv"
cluster = "patient"
[[methods]]
name = "all"
[[methods]]
calibrator = "majority-vote"
[[methods]]
calibrator = { name = "monte-carlo", draws = 4 }
combiner = "maximum"
[splits]
count = 5
[output]
folder = "out"
"""
TYPED = (
    "convert -a votes.csv -o table.csv",
    "aggregate -a votes.csv -o plausibilities.csv",
    "calibrate -a votes.csv -p probabilities.csv -o predictor.nc",
    "calibrate -a votes.csv -p probabilities.csv -e patients.csv --set examples.cluster=patient"
    " -o careful.nc --calibrator monte-carlo --combiner held-out-rank --seed 3",
    "calibrate -a votes.csv -p probabilities.csv --calibrator monte-carlo --combiner ecdf -o v.nc",
    "predict predictor.nc -p new.csv --alpha 0.1 --alpha 0.25 -o sets.csv",
    "evaluate sets.csv -a new_votes.csv",
    "evaluate sets.csv -a new_votes.csv -e new_patients.csv --by site --cluster patient",
    "evaluate sets.csv -a new_votes.csv -e new_patients.csv --true-label diagnosis"
    " --fail-under 0.99",
    "evaluate sets.csv -a votes.csv",
    "evaluate sets.csv -a new_votes.csv --by set-size --by label -p new.csv"
    " --predictor predictor.nc",
    "agreement -a votes.csv",
    "sensitivity -a votes.csv -p probabilities.csv --aggregator label-frequency"
    " --aggregator majority-vote --splits 4",
    "plan -a votes.csv -p probabilities.csv",
    "plan --alpha 0.05 --within 0.02",
    "report --predictor predictor.nc -p new.csv -a new_votes.csv -o report.html",
    "config check study.toml",
    "config show study.toml",
    "run study.toml",
    "report out -o study.html",
    "demo --data toy --splits 3 -o demo",
    "calibrate -a votes.csv -p new.csv -o none.nc",
    "calibrate -a missing.csv -p new.csv -o none.nc",
    "calibrate -a votes.csv -p probabilities.csv --calibrator expected --combiner maximum -o n.nc",
    "predict predictor.nc -p new.csv --alpha 90 -o none.csv",
    "nothing",
)
CHANGING = re.compile(
    r"seconds|version|fingerprint|digest|bytes|path$|python|written", re.IGNORECASE
)


def plain(value: object, folder: Path) -> object:
    """Return a JSON value without what differs from run to run; floats to nine digits."""
    if isinstance(value, dict):
        return {
            key: plain(item, folder) for key, item in value.items() if not CHANGING.search(str(key))
        }
    if isinstance(value, list):
        return [plain(item, folder) for item in value]
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, str):
        return value.replace(str(folder), "FOLDER")
    return value


def leaves(value: object, place: str = " ") -> Iterator[str]:
    """Yield each leaf of a JSON value with its place, lists of plain values in one line."""
    if isinstance(value, dict) and value:
        for key in sorted(value):
            yield from leaves(value[key], f"{place} {key}")
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        for number, item in enumerate(value):
            yield from leaves(item, f"{place} {number}")
    else:
        yield f"{place}: {json.dumps(value, ensure_ascii=False)}"


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_documents_of_every_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path).write("study.toml", STUDY)
    monkeypatch.chdir(tmp_path)
    lines = []
    for line in TYPED:
        ran = run(*line.split(), "--json")
        lines.append(f"$ plausibly {line}")
        lines.append(f"exit code {ran.code}")
        if ran.out.startswith("{"):
            lines += leaves(plain(json.loads(ran.out), tmp_path))
    nets.compare("commands.txt", lines)
