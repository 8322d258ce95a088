"""What docs/calibrators.md shows: its blocks run, its commands work, its table is complete."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from fractions import Fraction
from pathlib import Path

import pytest

import plausibly
from cli_calibrators import make
from cli_world import run
from methods_page import tables
from plausibly.protocols import CALIBRATOR
from plausibly.registry import default
from readme_world import links

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


@pytest.fixture
def page(project: Path) -> Path:
    return project / "docs" / "calibrators.md"


def fences(page: Path) -> list[tuple[str, str]]:
    """Return language and text of each block."""
    return _FENCE.findall(page.read_text(encoding="utf-8"))


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_blocks_print_what_the_page_shows(page: Path) -> None:
    names: dict[str, object] = {}
    found = [one for one in fences(page) if one[0] != "console"]
    assert [language for language, _ in found] == ["python", "text"] * (len(found) // 2)
    for (_, code), (_, shown) in zip(found[::2], found[1::2], strict=True):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page.name, "exec"), names)
        assert printed.getvalue() == shown


def test_commands_work(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path, risks="labels.csv")
    blocks = [text.replace("\\\n", " ") for language, text in fences(page) if language == "console"]
    lines = [line for text in blocks for line in text.splitlines()]
    assert len(lines) > 10
    for line in lines:
        dollar, command, *words = shlex.split(line)
        assert (dollar, command) == ("$", "plausibly")
        ran = run(*words)
        assert ran.code == 0, (line, ran.err)


def test_every_calibrator_is_in_the_table(page: Path) -> None:
    first = [row[0].strip("`") for row in tables(page)[0][1:]]
    assert {name.partition("(")[0] for name in first} == {
        entry.name for entry in default().entries(CALIBRATOR)
    }


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_the_table_states_the_levels(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path)
    examples = plausibly.read_examples("patients.csv")
    labels = plausibly.read_labels("risks.csv")
    model = plausibly.read_predictions("probabilities.csv", labels=labels)
    model = plausibly.io.with_coordinates(model, examples)
    views = plausibly.read_predictions("views.csv", view="view")
    lam = plausibly.aggregate(plausibly.read_annotations("votes.csv"))
    parameters: dict[str, dict[str, object]] = {
        "by=GROUP": {"by": "site"},
        'by="label"': {"by": "label"},
        "by=WEIGHT": {"by": "weight"},
        "by=PATIENT": {"by": "patient"},
        "by=RISK": {"by": "risk"},
        "leave_out=t": {"leave_out": 0.1},
        **{f'"{scores}"': {"scores": scores} for scores in ("mean", "pooled", "separate")},
    }
    alpha = Fraction(1, 10)
    for row in tables(page)[0][1:]:
        name, _, asked = row[0].strip("`").rstrip(")").partition("(")
        like = {"name": name, **(parameters[asked] if asked else {})}
        used = views if name == "augmentation" else model
        promise = plausibly.calibrate(used, lam, calibrator=like).guarantee(alpha)
        level = 1 - 2 * alpha if "separate" in asked else 1 - alpha
        assert promise.level == level, name
        words = {"voted": "voted label", "mass": "holds 1 - t", "risk": "mean risk left out"}
        said = words.get(promise.target, "1 - ")
        assert said in row[1] or row[1] == "the same"
        assert (promise.each != "") is (name == "mondrian")


def test_links_lead_to_pages(page: Path) -> None:
    for link in links(page.read_text(encoding="utf-8")):
        path, _, _ = link.partition("#")
        assert (page.parent / path).is_file(), link


def test_lines_of_prose_are_short(page: Path) -> None:
    prose = re.sub(_FENCE, "", page.read_text(encoding="utf-8"))
    long = [line for line in prose.splitlines() if len(line) > 110 and not line.startswith("|")]
    assert not long
