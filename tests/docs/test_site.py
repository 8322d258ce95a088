"""Pages: links, menus and tables lead somewhere and are whole; public names have docstrings."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest

import cut_docs
import draw_docs
import plausibly
from cli_calibrators import make
from cli_world import run
from methods_page import tables
from plausibly.conformal.aggregate import DEFAULT_AGGREGATORS
from plausibly.protocols import AGGREGATOR, CALIBRATOR, COMBINER, SCORE
from plausibly.registry import default
from readme_world import blocks, write_files

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


def undocumented(value: type | FunctionType) -> list[str]:
    """Return what lacks a docstring; a method may inherit that of the one that it overrides."""
    lacking = [] if value.__doc__ else [value.__qualname__]
    for member, part in vars(value).items() if inspect.isclass(value) else ():
        code = inspect.isfunction(getattr(part, "fget", part))
        if code and not member.startswith("_") and not inspect.getdoc(getattr(value, member)):
            lacking.append(f"{value.__qualname__}.{member}")
    return lacking


def test_every_public_name_has_a_docstring() -> None:
    seen, missing = 0, []
    for module in map(import_module, MODULES):
        for public in (each for each in dir(module) if not each.startswith("_")):
            value = getattr(module, public)
            ours = getattr(value, "__module__", "").startswith("plausibly")
            if ours and (inspect.isfunction(value) or inspect.isclass(value)):
                seen += 1
                missing += [f"{module.__name__}: {one}" for one in undocumented(value)]
    assert seen > 200
    assert missing == []


RAISES = {
    *("InputError", "ComponentError", "IncompatibleComponents", "MissingExtra", "CheckFailed"),
    *("NotConformalized", "AnswerRefused", "PlausiblyWarning", "warn", "_Fault", "refuse_rows"),
    *("refused", "cls", "__init__", "message", "_unjoined"),
}
"""What takes the name of a message first."""

_NAME = re.compile(r"[a-z]+(?:-[a-z]+)+|usage")


def parts(node: ast.expr | None) -> Iterator[str]:
    """Yield the names that an argument can be: a text, either of two, or a pattern."""
    if isinstance(node, ast.IfExp):
        yield from parts(node.body)
        yield from parts(node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(
            str(part.value) if isinstance(part, ast.Constant) else "*" for part in node.values
        )


@pytest.fixture(scope="module")
def names() -> tuple[set[str], set[str], set[str]]:
    """Every name that a message is given, patterns of others, and every text of the program."""
    given: set[str] = set()
    texts: set[str] = set()
    folders = (PROJECT / "framework", PROJECT / "plugins")
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
            if isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func
                called = called.id if isinstance(called, ast.Name) else called
                if called in RAISES:
                    named = [k.value for k in node.keywords if k.arg == "name"]
                    given.update(parts(next(iter([*node.args[:1], *named]), None)))
    patterns = {one for one in given if re.fullmatch(r"\*?[a-z-]+\*?", one) and "*" in one}
    return {one for one in given if _NAME.fullmatch(one)}, patterns, texts


@pytest.fixture(scope="module")
def messages() -> dict[str, str]:
    page = (DOCS / "messages.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| `(\S+)` \| (?:error|warning) \| (.+) \|$", page, re.MULTILINE)
    assert len(found) == len(dict(found))
    assert [name for name, _ in found] == sorted(name for name, _ in found)
    return dict(found)


def test_every_message_is_on_the_page(
    names: tuple[set[str], set[str], set[str]], messages: dict[str, str]
) -> None:
    given, patterns, _ = names
    assert len(given) > 260
    assert sorted(given - set(messages)) == []
    for pattern in patterns:
        likely = re.compile(pattern.replace("*", r"[a-z-]+"))
        assert any(likely.fullmatch(name) for name in messages), pattern


def test_every_message_of_the_page_is_one(
    names: tuple[set[str], set[str], set[str]], messages: dict[str, str]
) -> None:
    given, patterns, texts = names
    made = [re.compile(pattern.replace("*", r"[a-z-]+")) for pattern in patterns]
    for known in set(messages) - given - texts:
        assert any(one.fullmatch(known) for one in made), f"{known}: nothing says this any more"


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
    table, _, aggregators, scores, _ = tables(DOCS / "choosing.md")
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
    lam = plausibly.aggregate(plausibly.read_annotations("votes.csv"))
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
        guarantee = plausibly.calibrate(used, lam, calibrator=like, combiner=combiner).guarantee(
            alpha
        )
        exact = Fraction(9, 10) if combiner != "ecdf" else guarantee.level
        level = 1 - 2 * alpha if "separate" in parameter else exact
        assert guarantee.level == level, calibrator
        assert words.get(guarantee.target, "1 - ") in row[1] or combiner == "ecdf"
        assert (guarantee.per != "") is (name == "mondrian")
        assert (guarantee.confidence is not None) is (combiner == "pac")


def test_the_study_of_the_reference_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "reference" / "study-file.md").read_text(encoding="utf-8")
    (text,) = blocks(page, "toml")
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    ran = run("config", "check", "study.toml")
    assert (ran.code, ran.err) == (0, "")
    assert "study.toml: 1 method, alpha 0.1, 0.05" in ran.out
