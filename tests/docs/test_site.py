"""Pages: links, menus and tables lead somewhere and are whole; public names have docstrings."""

from __future__ import annotations

import inspect
import re
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import pytest

import cut_docs
import draw_docs
import plausibly
from cli_calibrators import make
from cli_world import run
from plausibly.conformal.aggregate import DEFAULT_AGGREGATORS
from plausibly.protocols import AGGREGATOR, CALIBRATOR, COMBINER, SCORE
from plausibly.registry import default
from readme_world import blocks, tables, write_files

from .pages import DOCS, PROJECT, links, menu, name, pages, sections

NAMES = [name(page) for page in pages()]
BESIDE = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md"]


@pytest.mark.parametrize("page", [*pages(), *BESIDE], ids=lambda page: page.stem)
def test_links_lead_to_pages_and_sections(page: Path) -> None:
    for link in links(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            assert link.startswith("https://")
            continue
        path, _, section = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if section:
            assert section in sections(target.read_text(encoding="utf-8")), link


def test_every_page_is_in_one_menu() -> None:
    entries = list(menu())
    assert len(entries) == len(set(entries))
    assert {*entries, "index"} == set(NAMES)


@pytest.mark.parametrize("page", cut_docs.REFERENCE)
def test_every_table_of_the_program_is_put_in(page: str) -> None:
    text = cut_docs.cut((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    assert text.count("<!-- cut: ") == len(re.findall(r"<!-- cut: .*-->\n\n\S", text)) > 0


@pytest.mark.parametrize("picture", draw_docs.DRAWN)
def test_pictures_are_those_of_their_sources(picture: str) -> None:
    path = draw_docs.PICTURES / f"{picture}.svg"
    drawn = path.read_text(encoding="utf-8")
    assert drawn == draw_docs.DRAWN[picture](), "python scripts/draw_docs.py --write"
    assert "http://www.w3.org/2000/svg" in drawn
    assert drawn.count("http") == 1  # nothing from elsewhere


MODULES = (
    "plausibly",
    "plausibly.annotators",
    "plausibly.evaluation",
    "plausibly.huggingface",
    "plausibly.io",
    "plausibly.planning",
    "plausibly.plots",
    "plausibly.plugin",
    "plausibly.plugin.readers",
    "plausibly.sklearn",
    "plausibly.testing",
    "plausibly.torch",
)


def test_every_public_name_has_a_docstring() -> None:
    """A method may inherit the docstring of the one that it overrides."""
    seen, missing = 0, []
    for module in map(import_module, MODULES):
        for public in (each for each in dir(module) if not each.startswith("_")):
            value = getattr(module, public)
            ours = getattr(value, "__module__", "").startswith("plausibly")
            if not ours or not (inspect.isfunction(value) or inspect.isclass(value)):
                continue
            seen += 1
            documented = {public: value.__doc__}
            for member, part in vars(value).items() if inspect.isclass(value) else ():
                if inspect.isfunction(getattr(part, "fget", part)) and not member.startswith("_"):
                    documented[f"{public}.{member}"] = inspect.getdoc(getattr(value, member))
            missing += [f"{module.__name__}: {each}" for each, doc in documented.items() if not doc]
    assert seen > 200
    assert missing == []


_NAME = "[a-z]+(?:-[a-z]+)+|usage"
_RAISES = (
    "InputError|ComponentError|IncompatibleComponents|MissingExtra|CheckFailed|NotConformalized"
    "|AnswerRefused|PlausiblyWarning|warn|_Fault|refuse_rows|refused|cls|__init__|message|_unjoined"
)
"""Functions whose first argument is the name of a message."""


def test_the_page_of_messages_lists_every_message_and_no_other() -> None:
    page = (DOCS / "messages.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\S+)` \| (?:error|warning) \| .+ \|$", page, re.MULTILINE)
    assert listed == sorted(set(listed))
    folders = (PROJECT / "framework", PROJECT / "plugins")
    paths = (path for folder in folders for path in folder.rglob("*.py"))
    code = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    call = rf'\b(?:{_RAISES})\(\s*(?:name=)?"({_NAME})"(?:\s+if [^,]+?\s+else "({_NAME})")?,'
    raised = {each for pair in re.findall(call, code) for each in pair if each}
    assert len(raised) > 230
    assert sorted(raised - set(listed)) == []
    texts = set(re.findall(r'"([a-z-]+)"', code))
    ends = tuple(re.findall(r'f"\{[^{}]+\}([a-z]*-[a-z-]+)"', code))
    starts = tuple(re.findall(r'f"([a-z-]+-)\{', code))
    for known in set(listed) - texts:
        assert known.endswith(ends) or known.startswith(starts), f"{known}: no code has this name"


def test_every_public_name_is_in_the_reference() -> None:
    pages = "".join(p.read_text(encoding="utf-8") for p in (DOCS / "reference").glob("*.md"))
    only: dict[str, list[str]] = {}
    for module, names in re.findall(r"public-names:: (\S+)\n(?:   :only: (.+)\n)?", pages):
        only.setdefault(module, []).extend(names.split())
    elsewhere = {"__version__", "errors", "plots"}
    assert sorted(only["plausibly"]) == sorted(set(dir(plausibly)) - elsewhere)
    for module in ("evaluation", "huggingface", "plots", "plugin", "sklearn", "testing", "torch"):
        assert f"plausibly.{module}" in only


def test_the_table_of_methods_is_whole_and_measured() -> None:
    table, aggregators, scores = tables(DOCS / "choosing.md")
    method = [re.findall(r"`([^`]+)`", row[0]) for row in table[1:]]
    known = {entry.name for entry in default().entries(CALIBRATOR)}
    assert {names[0].partition("(")[0] for names in method} == known
    assert {names[1] for names in method if len(names) > 1} <= {
        entry.name for entry in default().entries(COMBINER)
    }
    assert method[0] == ["expected", "average"]
    assert re.fullmatch(r"\*\*.*: start here\*\*", table[1][0])
    rows = {(r[0], r[1]): r[5] for r in tables(DOCS / "calibrators_measured.md")[0][1:]}
    for names, row in zip(method, table[1:], strict=True):
        calibrator, combiner = (*names, "")[:2]
        if row[4]:
            by_combiner = calibrator == "monte-carlo" or combiner == "pac"
            procedure = combiner if by_combiner else calibrator
            sizes = [rows[data, procedure] for data in ("crema_d", "imagenet16h")]
            assert row[4] == ", ".join(f"{float(size):.2f}" for size in sizes)
    assert {row[0].strip("`") for row in scores[1:]} == {
        entry.name for entry in default().entries(SCORE)
    }
    offered = {entry.name for entry in default().entries(AGGREGATOR)}
    kinds = ("single-label", "partial-ranking", "label-set", "soft-label")
    for kind, row in zip(kinds, aggregators[1:5], strict=True):
        assert row[1] == f"`{DEFAULT_AGGREGATORS[kind]}`"
    for row in aggregators[1:]:
        assert {name.rpartition(":")[2] for name in re.findall(r"`([a-z:-]+)`", row[1])} <= offered


PARAMETERS: dict[str, dict[str, object]] = {
    "by=GROUP": {"by": "site"},
    'by="label"': {"by": "label"},
    "by=WEIGHT": {"by": "weight"},
    "by=PATIENT": {"by": "patient"},
    "by=RISK": {"by": "risk"},
    "leave_out=t": {"leave_out": 0.1},
    **{f'"{scores}"': {"scores": scores} for scores in ("mean", "pooled", "separate")},
}


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_the_table_of_methods_states_the_levels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path)
    examples = plausibly.read_examples("patients.csv")
    labels = plausibly.read_labels("risks.csv")
    model = plausibly.read_predictions("probabilities.csv", labels=labels)
    model = plausibly.io.with_coordinates(model, examples)
    views = plausibly.read_predictions("views.csv", augmentation="view")
    shares = plausibly.aggregate(plausibly.read_annotations("votes.csv"))
    alpha = Fraction(1, 10)
    words = {
        "majority-vote": "the majority vote",
        "mass": "holds 1 - t",
        "risk": "mean risk left out",
    }
    for row in tables(DOCS / "choosing.md")[0][1:]:
        calibrator, combiner = (*re.findall(r"`([^`]+)`", row[0]), "average")[:2]
        name, _, parameter = calibrator.rstrip(")").partition("(")
        like = {"name": name, **PARAMETERS.get(parameter, {})}
        used = views if name == "augmentation" else model
        guarantee = plausibly.calibrate(used, shares, calibrator=like, combiner=combiner).guarantee(
            alpha
        )
        exact = Fraction(9, 10) if combiner != "ecdf" else guarantee.level
        level = 1 - 2 * alpha if "separate" in parameter else exact
        assert guarantee.level == level, calibrator
        assert words.get(guarantee.target, "1 - ") in row[1] or combiner == "ecdf"
        assert (guarantee.per != "") is (name == "mondrian")
        assert (guarantee.confidence is not None) is (combiner == "pac")


def test_the_study_file_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "studies.md").read_text(encoding="utf-8")
    (text,) = blocks(page, "toml")
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    ran = run("config", "check", "study.toml")
    assert (ran.code, ran.err) == (0, "")
    assert "study.toml: 1 method, alpha 0.1" in ran.out
