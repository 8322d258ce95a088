"""``plausibly demo`` as people, pipes and programs see it."""

from __future__ import annotations

import shlex
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from cli_world import Ran, run
from plausibly.cli import demo
from plausibly.demo import subjects

SPLITS = 3
TABLE = """\
{head}, alpha 0.1
method                   all answers  spread  majority vote  set size  guarantee
{rows}
{verdict}

Aggregated coverage: the share of {share} that its set contains.
"""
VACUOUS = """\
warning guarantee-vacuous: ecdf gives every label at alpha 0.1
  expected  496 held-out values of "patient" or more; got {held}
  do        combiner average (no split), or alpha 0.17
"""
TAIL = {
    "nodules": """\
written  out/: coverage.png sets.csv sets.json study.toml + data: votes.csv
         probabilities.csv patients.csv
next     edit study.toml, then  plausibly run out/study.toml
""",
    "toy": """\
written  out/: coverage.png sets.csv sets.json study.toml + data:
         plausibilities.csv probabilities.csv
next     edit study.toml, then  plausibly run out/study.toml
""",
}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran_demo(*words: str) -> Ran:
    ran = run("demo", "--splits", str(SPLITS), "-o", "out", *words)
    assert ran.code == 0, ran.err
    assert "--json" in words or max(map(len, (ran.out + ran.err).splitlines())) <= 80
    return ran


def decimals(value: float) -> str:
    return f"{value:.3f}"


def percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def line(method: dict[str, Any]) -> str:  # Any: a method of the document
    """Return a method's line of the table, from the document's numbers."""
    promise = method["guarantee"]
    level = {"9/10": "0.90", "89991/100000": "0.8999"}[promise["level"]]
    if method["vacuous_splits"] == SPLITS:
        level += f",\n{'':71}vacuous"
    of_patients = promise.get("cluster") == "patient"
    name = method["name"] if len(method["name"]) <= 23 else f"{method['name'][:22]}…"
    row = (
        f"{name:<25}{decimals(method['aggregated_coverage']):>11}{decimals(method['spread']):>8}"
        f"{decimals(method['voted_coverage']):>15}{method['set_size']:>10.2f}  "
        f"{'none' if of_patients or method['calibrator'] == 'voted' else level}"
    )
    if not of_patients:
        return row
    title = '  per "patient"'
    return f"{row}\n{title:<25}{decimals(method['group_coverage']):>11}{'':35}{level}"


def verdict(document: dict[str, Any], least: str) -> str:  # Any: JSON
    """Return the verdict of the study, from the document's numbers; `least` covers least."""
    voted = document["methods"][0]
    (other,) = (one for one in document["methods"] if one["name"] == least)
    return textwrap.fill(
        f'Verdict: with "{voted["name"]}", sets cover '
        f"{100 * voted['aggregated_coverage']:.0f}% of the answers, without a guarantee; with "
        f'"{least}", {100 * other["aggregated_coverage"]:.0f}%.',
        80,
    )


def wrapped(title: str, text: str) -> str:
    return textwrap.fill(
        text,
        80,
        initial_indent=f"{title:<7}",
        subsequent_indent=" " * 7,
        break_on_hyphens=False,
    )


def whole(
    document: dict[str, Any],  # Any: JSON
    study: str,
    head: str,
    verdict: str,
    share: str,
    told: str,
    condition: str,
) -> str:
    """Return all that the demo prints."""
    rows = "\n".join(map(line, document["methods"]))
    paragraphs = (textwrap.fill(one, 80, break_on_hyphens=False) for one in (told, condition))
    data = f"{wrapped('data', document['about'])}\n{wrapped('study', study)}\n\n"
    table = TABLE.format(head=head, rows=rows, verdict=verdict, share=share)
    tail = TAIL["nodules" if document["group"] else "toy"]
    return f"{data}{table}{chr(10).join(paragraphs)}\n{tail}"


def meaning(document: dict[str, Any], said: str, everything: str, example: str) -> str:  # Any: JSON
    """Return the sentence about votes, from the document's numbers."""
    voted, expected = document["methods"][0], document["methods"][-1]
    more = expected["set_size"] - voted["set_size"]
    return (
        f"Calibrated on votes, 90% sets miss {percent(1 - voted['aggregated_coverage'])} of "
        f"{said}; on {everything} they miss {percent(1 - expected['aggregated_coverage'])}, for "
        f"{more:.1f} more labels a {example}."
    )


def test_the_whole_of_it_on_nodules() -> None:
    found = ran_demo("--json").document
    assert found["command"] == "demo"
    assert (found["examples"], found["groups"], found["group"]) == (1378, 689, "patient")
    assert (found["alpha"], found["splits"], found["seed"]) == (0.1, SPLITS, 1)
    assert [warning["name"] for warning in found["warnings"]] == ["guarantee-vacuous"]
    assert found["methods"][1]["draws"] == 10
    assert found["methods"][0]["true_coverage"] is None
    assert found["next"] == ("plausibly run out/study.toml")
    assert all((Path(found["folder"]) / name).is_file() for name in found["written"])
    ran = ran_demo()
    held = found["methods"][4]["guarantee"]["has"]
    assert ran.err == VACUOUS.format(held=held)
    patients = subjects.load_nodules().features.patient.to_series()
    several = int((patients.value_counts() > 1).sum())
    voted = meaning(found, "what radiologists said", "all ratings", "nodule")
    condition = (
        "Guaranteed: on average over new nodules, if nodules are exchangeable. "
        f"{several} of 689 patients have several, which may be alike: no patient is on two sides, "
        f"and with one nodule a patient expected covers {decimals(found['one_each'])}. The promise "
        "is for the models of the folds: one refitted to all nodules is another, to be calibrated "
        "on nodules that it has not seen."
    )
    study = "logistic regression, out of fold by patient; 3 random halves by patient, alpha 0.1, "
    head = "Study: 3 splits of 1,378 examples by patient"
    table = verdict(found, "expected (default)"), "a nodule's ratings"
    told = f"{voted} Start with expected."
    assert ran.out == whole(found, f"{study}10 draws, seed 1", head, *table, told, condition)


def test_the_whole_of_it_on_the_toy() -> None:
    found = ran_demo("--json", "--data", "toy").document
    ran = ran_demo("--data", "toy")
    assert ran.err == ""
    voted, expected = found["methods"][0], found["methods"][-1]
    told = (
        f"{meaning(found, 'the posterior', 'all of it', 'point')} Of the true labels, which real "
        f"data hide, they miss {percent(1 - voted['true_coverage'])} and "
        f"{percent(1 - expected['true_coverage'])}. Start with expected."
    )
    condition = (
        "Guaranteed: on average over new points, if points are exchangeable. Here they are: points "
        "are drawn independently."
    )
    study = "linear discriminant, fitted to 200 other points; 3 random halves, alpha 0.1, 10 draws"
    head = "Study: 3 splits of 3,000 examples"
    table = verdict(found, "monte-carlo, held-out-rank"), "a point's posterior"
    assert ran.out == whole(found, f"{study}, seed 1", head, *table, told, condition)


@pytest.mark.parametrize("data", ["nodules", "toy"])
def test_what_comes_next_works(data: str, in_a_folder: Path) -> None:
    ran = ran_demo("--data", data)
    typed = ran.out.partition(", then  ")[2].replace("\\\n", " ")
    words = shlex.split(typed)
    assert words[0] == "plausibly"
    following = run(*words[1:])
    assert following.code == 0, following.err
    # The study of the file is the study of the demo.
    ours, theirs = (text.out.partition("\nmethod ")[2] for text in (ran, following))
    rows = ours.partition("\nVerdict")[0].splitlines()[1:]
    # Two methods have a guarantee for a new patient, one of them on two lines.
    assert len(rows) == (9 if data == "nodules" else 6)
    assert sorted(rows) == sorted(theirs.partition("\nVerdict")[0].splitlines()[1:])
    written = ran.out.partition("\nwritten ")[2].partition("\nnext ")[0].replace("data:", "")
    names = [word for word in written.split() if "." in word]
    assert {path.name for path in (in_a_folder / "out").iterdir()} == {*names, "study"}


def test_quiet_is_silent_and_one_split_has_no_spread() -> None:
    words = ("demo", "--data", "toy", "--splits", "1", "-o", "out", "--quiet")
    ran = run(*words)
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert run(*words, "--json").document["methods"][0]["spread"] is None


def test_a_warning_fails_a_strict_demo() -> None:
    ran = run("demo", "--splits", "1", "-o", "out", "--strict", "--quiet")
    assert ran.code == 3
    assert "warnings-strict" in ran.err


def test_an_output_that_is_a_file_is_said_before_any_work() -> None:
    Path("taken").write_text("")
    ran = run("demo", "-o", "taken")
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("error output-unwritable: cannot write taken\n")
    assert Path("taken").read_text() == ""


def test_the_help_has_the_numbers_of_the_data() -> None:
    nodules = len(subjects.load_nodules().features)
    assert f"{nodules:,} lung nodules" in str(demo.demo.__doc__)


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
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    assert (
        "written  out/: sets.csv sets.json study.toml + data: plausibilities.csv\n"
        "         probabilities.csv; no coverage.png without matplotlib (the extra plots)\n"
    ) in ran.stdout
    assert not (in_a_folder / "out" / "coverage.png").exists()


@pytest.mark.parametrize("missing", ["sklearn.linear_model", "matplotlib.figure"])
def test_the_nodules_say_what_they_need(
    missing: str, in_a_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    ran = run("demo", "-o", "out")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"error extra-missing: plausibly demo needs {missing.partition('.')[0]}, which is not "
        "installed\n"
        '  expected  the extra "demo"\n'
        '  do        pip install "plausibly[demo]"; or plausibly demo --data toy, which\n'
        "            needs no extra\n"
    )
    assert not (in_a_folder / "out").exists()
