"""Pages: links, menus and tables lead somewhere and are whole; public names have docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import pytest

import cut_docs
import draw_docs
import messages
import plausibly
from cli_world import make_views, run
from plausibly.conformal.aggregate import DEFAULT_AGGREGATORS
from plausibly.protocols import AGGREGATOR, CALIBRATOR, COMBINER, SCORE
from plausibly.registry import default
from readme_world import blocks, rows, tables, write_files

PROJECT = Path(__file__).resolve().parents[2]
DOCS = PROJECT / "docs"
_FENCE = re.compile(r"^( *)(`{3,})[^\n]*\n.*?^\1\2$", re.MULTILINE | re.DOTALL)
_MENU = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(([^()\s]*(?:\([^()\s]*\))?[^()\s]*)\)")


def pages() -> list[Path]:
    """Return every page of the site."""
    return sorted(path for path in DOCS.rglob("*.md") if not path.parts[-2].startswith("_"))


def name(page: Path) -> str:
    """Return what a menu calls a page."""
    return page.relative_to(DOCS).with_suffix("").as_posix()


def without_code(text: str) -> str:
    """Return a page without its blocks of code."""
    return _FENCE.sub("", text)


def links(text: str) -> list[str]:
    return _LINK.findall(re.sub(r"`[^`\n]*`", "`", without_code(text)))


def sections(text: str) -> set[str]:
    counts: dict[str, int] = {}
    anchors = set()
    for title in re.findall(r"^#{1,6} +(.+?) *#*$", without_code(text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        seen = counts.get(slug, 0)
        counts[slug] = seen + 1
        anchors.add(f"{slug}-{seen}" if seen else slug)
    return anchors


def menu() -> Iterator[str]:
    for body in _MENU.findall((DOCS / "index.md").read_text(encoding="utf-8")):
        lines = [line.strip() for line in body.splitlines() if line and not line.startswith(":")]
        entries = [re.sub(r"^.*<(.+)>$", r"\1", line) for line in lines]
        for entry in entries:
            if "*" not in entry:
                yield entry
                continue
            matching = (name(page) for page in sorted(DOCS.glob(f"{entry}.md")))
            yield from (page for page in matching if page not in entries)


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


def test_the_page_of_messages_lists_every_message_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert messages.messages().count("\n| `") == len(messages.causes()) > 230
    text = messages.CAUSES.read_text(encoding="utf-8")
    monkeypatch.setattr(messages, "CAUSES", tmp_path / "messages.toml")
    for old, new, problem in (
        ("alpha-range", "alpha-rage", "no cause of alpha-range"),
        ("[warning]", '[warning]\nno-such-message = "None."', "no code has the messages no-such-"),
    ):
        messages.CAUSES.write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(ValueError, match=problem):
            messages.messages()


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
    measured = {(r[0], r[1]): r[5] for r in tables(DOCS / "calibrators_measured.md")[0][1:]}
    for names, row in zip(method, table[1:], strict=True):
        calibrator, combiner = (*names, "")[:2]
        if row[4]:
            by_combiner = calibrator == "monte-carlo" or combiner == "pac"
            procedure = combiner if by_combiner else calibrator
            sizes = [measured[data, procedure] for data in ("crema_d", "imagenet16h")]
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
CLAIMS = {
    "majority-vote": "the majority vote",
    "mass": "holds 1 - t",
    "risk": "mean risk left out",
}


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_tables_of_methods_state_the_levels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of the README names a score too."""
    monkeypatch.chdir(tmp_path)
    make_views(tmp_path)
    examples = plausibly.read_examples("patients.csv")
    labels = plausibly.read_labels("risks.csv")
    model = plausibly.read_predictions("probabilities.csv", labels=labels)
    model = plausibly.io.with_coordinates(model, examples)
    views = plausibly.read_predictions("views.csv", augmentation="view")
    shares = plausibly.aggregate(plausibly.read_annotations("votes.csv"))
    alpha = Fraction(1, 10)
    readme = rows((PROJECT / "README.md").read_text(encoding="utf-8"), "calibrator")
    methods = [(f"{row[0]}, {row[1]}", row[2]) for row in readme]
    methods += [(row[0], row[1]) for row in tables(DOCS / "choosing.md")[0][1:]]
    for method, claim in methods:
        calibrator, combiner, score = (*re.findall(r"`([^`]+)`", method), "average", "")[:3]
        name, _, parameter = calibrator.rstrip(")").partition("(")
        by = {"by": "site"} if calibrator == "mondrian" else {}
        guarantee = plausibly.calibrate(
            views if name == "augmentation" else model,
            shares,
            calibrator={"name": name, **by, **PARAMETERS.get(parameter, {})},
            combiner=combiner,
            score={"name": score, "order": "columns"} if "score" in method else "probability",
        ).guarantee(alpha)
        exact = Fraction(9, 10) if combiner != "ecdf" else guarantee.level
        level = 1 - 2 * alpha if "separate" in parameter else exact
        assert guarantee.level == level, method
        assert CLAIMS.get(guarantee.target, "1 - ") in claim or combiner == "ecdf", method
        if combiner != "ecdf":
            assert (guarantee.target == "aggregated") == claim.startswith("1 - "), method
        assert (guarantee.per != "") is (name == "mondrian"), method
        assert (guarantee.confidence is not None) is ("with probability 1 - delta" in claim), method


def test_the_study_file_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "studies.md").read_text(encoding="utf-8")
    (text,) = blocks(page, "toml")
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    ran = run("config", "check", "study.toml")
    assert (ran.code, ran.err) == (0, "")
    assert "study.toml: 1 method, alpha 0.1" in ran.out
