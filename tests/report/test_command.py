"""``plausibly report``, and the report at the end of ``plausibly run``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import plausibly
from cli_world import World, make, run
from report_world import embedded
from study_world import WHOLE

KEYS = """
[report]
title = "Animals & others"
words = { example = "picture" }
text = "diagnosis"
anonymous = false
"""

ON_NEW = "--predictor predictor.nc -p new.csv -a new_votes.csv -e new_patients.csv"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    world = make(tmp_path)
    world.write("study.toml", WHOLE.replace("count = 6", "count = 1") + KEYS)
    return world


@pytest.fixture
def predictor(world: World) -> Path:
    done = run("calibrate", "-a", "votes.csv", "-p", "probabilities.csv", "-o", "predictor.nc")
    assert done.code == 0
    return world.path("predictor.nc")


def test_a_study_ends_with_its_report_and_gives_it_again(world: World) -> None:
    ran = run("run", "study.toml", "--json")
    assert ran.code == 0
    report = ran.document["report"]
    assert report["path"] == "out/report.html"
    assert report["title"] == "Animals & others"
    assert [view["method"] for view in report["views"]][:2] == ["everyone", "everyone"]
    severities = {finding["severity"] for view in report["views"] for finding in view["findings"]}
    assert severities <= {"broken", "vacuous", "weak", "kept"}
    first = world.path("out/report.html").read_bytes()
    for source in ("out", "study.toml"):
        again = run("report", source, "-o", "again.html")
        assert (again.code, again.err) == (0, "")
        assert world.path("again.html").read_bytes() == first
    # The study in the page is the one that gives it.
    data = embedded(first.decode())
    assert data["provenance"]["command"] == "plausibly run resolved.toml"
    assert data["provenance"]["study"] == world.path("out/resolved.toml").read_text()
    assert data["words"]["examples"] == "pictures"
    assert data["cases"]["text"][0] == "cat"
    assert data["cases"]["annotators"] == ["w0", "w1", "w2"]
    assert [column["name"] for column in data["groups"]] == ["site"]
    # Sets of the first split's test half are those of sets.csv.
    sets = plausibly.io.read_sets("out/sets.csv")
    names = data["cases"]["names"]
    labels = [label["name"] for label in data["labels"]]
    for example in sets["example"].values:
        at = names.index(str(example))
        bits, listed = data["cases"]["sets"][0][at], data["cases"]["listed"][at]
        inside = {labels[label] for j, label in enumerate(listed) if bits >> j & 1}
        row = sets.isel(alpha=0).sel(example=example)
        assert inside == {str(label) for label in row["label"].values[row.values]}
    assert run("report", "out", "-o", "study.html", "--anonymous").code == 0
    page = world.path("study.html").read_text("utf-8")
    known = ("probabilities.csv", "votes.csv", '"c00"', '"w0"')
    assert not [name for name in known if name in page]


def test_without_the_extra_a_study_runs_and_a_report_says_what_to_install(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    ran = run("run", "study.toml")
    assert ran.code == 0
    assert 'pip install "plausibly[report]"' in ran.err
    assert not world.path("out/report.html").exists()
    refused = run("report", "out")
    assert refused.code == 2
    assert "error extra-missing: the report needs jinja2, which is not installed" in refused.err


def test_a_report_that_fails_undoes_no_study(world: World) -> None:
    world.edit("study.toml", 'text = "diagnosis"', 'thumbnail = "diagnosis"')
    ran = run("run", "study.toml", "--json")
    assert ran.code == 0
    assert ran.document["report"] is None
    (warning,) = [w for w in ran.document["warnings"] if w["name"] == "report-none"]
    assert warning["what"] == 'the study has no report: no picture can be read from "cat"'
    assert world.path("out/results.nc").exists()


def test_a_predictor_on_new_examples(world: World, predictor: Path) -> None:
    ran = run("report", *ON_NEW.split(), "--alpha", "0.25", "-o", "new.html")
    assert (ran.code, ran.err) == (0, "")
    data = embedded(world.path("new.html").read_text("utf-8"))
    command = data["provenance"]["command"]
    assert command == (
        "plausibly report --predictor predictor.nc -o new.html -a new_votes.csv -p new.csv "
        "-e new_patients.csv --alpha 0.25"
    )
    # The command that the page names gives it again.
    assert run(*command.split()[1:]).code == 0
    assert embedded(world.path("new.html").read_text("utf-8")) == data
    world.write("mine.toml", "alphas = [0.25]\n")
    assert run("report", *ON_NEW.split(), "--config", "mine.toml", "-o", "mine.html").code == 0
    command = embedded(world.path("mine.html").read_text("utf-8"))["provenance"]["command"]
    assert "--config mine.toml" in command
    assert run("report", *ON_NEW.split(), "-o", "anonymous.html", "--anonymous").code == 0
    page = world.path("anonymous.html").read_text("utf-8")
    assert not [name for name in ("new.csv", "votes.csv", "predictor.nc") if name in page]
    assert embedded(page)["provenance"]["command"] == ""
