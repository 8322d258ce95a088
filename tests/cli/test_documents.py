"""Exit code and ``--json`` of every command, on one small study."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import nets
from cli_world import make, run

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
    for typed in TYPED:
        ran = run(*typed.split(), "--json")
        lines.append(f"$ plausibly {typed}")
        lines.append(f"exit code {ran.code}")
        if ran.out.startswith("{"):
            lines += leaves(plain(json.loads(ran.out), tmp_path))
    nets.compare("commands.txt", lines)
