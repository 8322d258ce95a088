"""``plausibly demo`` as people, pipes and programs see it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli_world import Ran, run
from plausibly.demo import study

SPLITS = 3


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran_demo(*words: str) -> Ran:
    ran = run("demo", "--splits", str(SPLITS), "-o", "out", *words)
    assert ran.code == 0, ran.err
    assert "--json" in words or max(map(len, (ran.out + ran.err).splitlines())) <= 80
    return ran


def percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def row(method: dict[str, Any]) -> str:  # Any: a method of the document
    """Return a method's line of the table, from the document's numbers."""
    level = "none" if method["guarantee"]["target"] == "majority-vote" else "0.90"
    return (
        f"{method['name']:<31}{method['aggregated_coverage']:>11.3f}"
        f"{method['majority_vote_coverage']:>15.3f}{method['set_size']:>9.2f}{level:>11}"
    )


@pytest.mark.parametrize(
    ("data", "answers", "examples"),
    [("nodules", "the radiologists' answers", "nodules"), ("toy", "the answers", "points")],
)
def test_the_whole_of_it_and_what_comes_next(
    data: str, answers: str, examples: str, in_a_folder: Path
) -> None:
    ran, found = ran_demo("--data", data), ran_demo("--data", data, "--json").document
    assert found["command"] == "demo"
    assert (found["alpha"], found["splits"], found["seed"]) == (0.1, SPLITS, 1)
    assert (ran.err, found["warnings"]) == ("", [])
    # All of the table and the sentences below it are those of the document.
    shown = ran.out.splitlines()
    assert [line for line in map(row, found["methods"]) if line not in shown] == []
    expected, _, voted = found["methods"]
    missed, missed_of_all = (percent(1 - one["aggregated_coverage"]) for one in (voted, expected))
    more = f"{expected['set_size'] - voted['set_size']:.1f} more labels per set"
    assert (
        f"Sets calibrated on the majority vote miss {missed} of {answers}. Sets calibrated on all "
        f"answers miss {missed_of_all}, with {more}. "
    ) in ran.text
    assert f"on average over new {examples} that are exchangeable with these." in ran.text
    assert found["meaning"] in ran.text
    if data == "nodules":
        assert (found["examples"], found["clusters"], found["cluster"]) == (1378, 689, "patient")
        assert (found["methods"][1]["draws"], expected["true_coverage"]) == (10, None)
    else:
        hidden = " and ".join(percent(1 - one["true_coverage"]) for one in (voted, expected))
        assert f"Of the true labels, which real data hide, they miss {hidden}. " in ran.text
    # The study of the file is the study of the demo.
    assert found["next"] == "plausibly run out/study.toml"
    following = run("run", "out/study.toml", "--json").document
    for ours, theirs in zip(found["methods"], following["methods"], strict=True):
        assert ours["name"] == theirs["name"]
        for measure in ("aggregated_coverage", "set_size"):
            assert ours[measure] == pytest.approx(theirs["results"][0][measure])
    names = {Path(name).name for name in found["written"]}
    assert {path.name for path in (in_a_folder / "out").iterdir()} == {*names, "study"}


def test_every_method_has_a_row_of_the_study() -> None:
    found = ran_demo("--json", "--all").document
    assert [one["name"] for one in found["methods"]] == list(study.EVERY_ORDERED)
    assert [warning["name"] for warning in found["warnings"]] == ["guarantee-vacuous"]
    ran = ran_demo("--all")
    assert 'per "patient"' in ran.out
    assert "vacuous" in ran.out


def test_an_output_that_is_a_file_is_said_before_any_work() -> None:
    Path("taken").write_text("")
    ran = run("demo", "-o", "taken")
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("error output-unwritable: cannot write taken\n")
    assert Path("taken").read_text() == ""


BLOCKED = """\
import sys
for name in ("sklearn", "matplotlib", "pyarrow", "netCDF4", "zarr"):
    sys.modules[name] = None
from plausibly.cli.app import main
sys.argv = "plausibly demo --splits 1 -o out --data toy".split()
sys.exit(main())
"""


def test_the_toy_needs_no_extra(in_a_folder: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, encoding="utf-8")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "and data; no coverage.png without" in " ".join(ran.stdout.split())
    assert not (in_a_folder / "out" / "coverage.png").exists()


@pytest.mark.parametrize("missing", ["sklearn.linear_model", "matplotlib.figure"])
def test_the_nodules_say_what_they_need(
    missing: str, in_a_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    ran = run("demo", "-o", "out")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error extra-missing: ")
    hint = 'hint pip install "plausibly[demo]"; or plausibly demo --data toy, which needs no extra'
    assert hint in " ".join(ran.err.split())
    assert not (in_a_folder / "out").exists()
