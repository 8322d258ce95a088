"""The file: the same bytes for the same data, whole or as it was, and never more than text."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

import attrs
import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly.report.write import PAGE, Report, render
from refusals import refused
from report_world import LABELS, METHODS, Made, compared, embedded, of_new, table, world

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "\"quoted\" & 'single'",
    "naïve 🦊 émoji",
    "\u202eright to left\u202c עברית",
    "x" * 300,
    "line\u2028separator",
)


@pytest.fixture(scope="module")
def made() -> Made:
    return world(60)


def written(made: Made, path: Path, **options: object) -> Report:
    """Write the report of a predictor that half of the examples calibrated."""
    predictor = plausibly.calibrate(made.predictions[:30], made.plausibilities[:30])
    return plausibly.write_report(
        predictor,
        path,
        predictions=made.predictions[30:],
        annotations=plausibly.select_annotations(
            made.annotations, example=made.predictions["example"].values[30:].tolist()
        ),
        alphas=0.2,
        **options,  # type: ignore[arg-type]  # each test names those that there are
    )


def test_a_report_prints_its_file_and_size(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    report = written(made, path, words={"example": "scan"})
    size = path.stat().st_size
    assert repr(report) == f"{path}  {size / 1e6:.1f} MB, 30 scans, opens offline"
    assert (report.path, report.size) == (path, size)


def test_the_same_data_give_the_same_bytes_in_any_order(made: Made, tmp_path: Path) -> None:
    study = compared(made)
    order = np.random.default_rng(1).permutation(60)
    votes = [made.votes[at] for at in np.random.default_rng(2).permutation(len(made.votes))]
    shuffled = table(votes, ["cat", "dog", "fox", "owl"])
    for name, model, answers in (
        ("one.html", made.predictions, made.annotations),
        ("two.html", made.predictions[order], shuffled),
    ):
        plausibly.write_report(
            study, tmp_path / name, predictions=model, annotations=answers, methods=METHODS
        )
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_every_name_is_text_and_the_page_says_that_there_are_names(tmp_path: Path) -> None:
    hostile = world(
        40,
        labels=HOSTILE[:4],
        examples=[f"{HOSTILE[at % len(HOSTILE)]} {at}" for at in range(40)],
        annotators=HOSTILE[:3],
    )
    report = written(hostile, tmp_path / "report.html")
    assert not set("<>&\u2028\u2029") & set(report.data.to_text())
    page = report.path.read_text("utf-8")
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    shown = embedded(page)
    assert shown["cases"]["names"] == list(report.data.cases.names)
    assert [label["name"] for label in shown["labels"]] == list(HOSTILE[:4])
    assert shown["cases"]["annotators"] == sorted(HOSTILE[:3])
    assert {row["name"] for row in shown["disagreement"]["annotators"]} == {*HOSTILE[:3]}
    # What stands on the page without scripts.
    still, _, _ = page.partition('<script type="application/json"')
    assert escape(shown["views"][0]["realised"]["sentence"]) in still
    assert "Agreement with the others is " in still
    note = "This page contains the names of examples, annotators and files"
    assert shown["provenance"]["names"].startswith(note)
    assert note in page.partition("<footer")[2]


def test_an_anonymous_report_has_no_names_and_no_mapping(made: Made, tmp_path: Path) -> None:
    known = made.predictions["example"].values.tolist()
    named = embedded(written(made, tmp_path / "named.html").path.read_text("utf-8"))
    page = written(made, tmp_path / "anonymous.html", anonymous=True).path.read_text("utf-8")
    shown = embedded(page)
    cases = shown["cases"]
    assert cases["annotators"] == ["annotator 1", "annotator 2", "annotator 3"]
    assert cases["names"] == [f"example {number:02}" for number in range(1, 31)]
    for name in (*known, '"ann"', '"bob"', '"cyd"'):
        assert name not in page
    assert "are replaced by numbers" in page.partition("<footer")[2]
    # The order of the numbers is not that of the names; all figures are the same.
    bars = [list(map(str, data["cases"]["plausibility"])) for data in (named, shown)]
    assert bars[0] != bars[1]
    assert sorted(bars[0]) == sorted(bars[1])
    for view, another in zip(named["views"], shown["views"], strict=True):
        for name in ("vote", "weak", "sizes", "realised"):
            assert view[name] == another[name]


def test_risk_is_shown_with_the_highest_that_a_set_leaves_out(made: Made, tmp_path: Path) -> None:
    risks = ["low", "high", "medium", "low"]
    table = xr.Dataset(coords={"label": list(LABELS), "risk": ("label", risks)})
    report = written(made, tmp_path / "report.html", labels=table).data
    severity = [0, 2, 1, 0]
    assert [(label.risk, label.severity) for label in report.labels] == [
        *zip(risks, severity, strict=True)
    ]
    shares, cases = made.plausibilities.values[30:], report.cases
    for at, (listed, bits) in enumerate(zip(cases.listed, cases.sets[0], strict=True)):
        inside = {label for j, label in enumerate(listed) if bits >> j & 1}
        left = [severity[k] for k in range(4) if shares[at, k] > 0 and k not in inside]
        assert cases.severity_missed[0][at] == max(left, default=-1)


PIXEL = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00"
    b"\x1f\x15\xc4\x89"
)


@pytest.mark.parametrize(("file", "kind"), [("one.png", "png"), ("one.WEBP", "webp")])
def test_texts_and_pictures(
    file: str, kind: str, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mimetypes.guess_type", lambda _: (None, None))
    Path(file).write_bytes(PIXEL)
    names = made.predictions["example"].values
    rows = [f"{name},{'w' * 600},{file if at else ''}" for at, name in enumerate(names)]
    Path("more.csv").write_text("\n".join(["example,words,picture", *rows]) + "\n")
    written(made, Path("report.html"), examples="more.csv", text="words", thumbnail="picture")
    cases = embedded(Path("report.html").read_text("utf-8"))["cases"]
    assert set(cases["text"]) == {"w" * 600}
    assert cases["thumbnail"][-1].startswith(f"data:image/{kind};base64,iVBORw0KGgo")


@pytest.mark.parametrize("file", ["large.gif", "other.svg", "missing.png"])
def test_pictures_that_cannot_be_put_in(
    file: str, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("large.gif").write_bytes(b"GIF89a" + bytes(70_000))
    Path("other.svg").write_bytes(b"<svg onload=alert(1)>")
    predictions = made.predictions.assign_coords(picture=("example", [file] * 60))
    with refused("thumbnail-unreadable"):
        written(attrs.evolve(made, predictions=predictions), Path("r"), thumbnail="picture")


def test_arguments_that_mean_nothing_are_refused(made: Made, tmp_path: Path) -> None:
    study = compared(made)
    data = {"predictions": made.predictions, "annotations": made.annotations}
    known = {**data, "methods": METHODS}
    for source, options, name, hint in (
        (study, {}, "report-argument", "predictions=..., annotations=..."),
        (study, data, "report-argument", "methods=methods"),
        (study, {**known, "cluster": "site"}, "report-argument", "leave cluster out"),
        (study, {**data, "methods": ["majority-vote"]}, "report-argument", "pass the methods that"),
        (study, {**known, "words": {"exmaple": "scan"}}, "option-unknown", "words={"),
        (made.annotations, data, "report-source", "plausibly run wrote"),
    ):
        with refused(name, hint):
            plausibly.write_report(source, tmp_path / "report.html", **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", sorted(PAGE.glob("*.js")), ids=lambda path: path.name)
def test_no_text_is_read_as_html(path: Path) -> None:
    ways = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(")
    text = path.read_text("utf-8")
    assert [way for way in ways if way in text] == []
    assert not re.search(r"\{[{%#]", text), "Jinja would read it"


def test_the_page_asks_for_nothing_and_holds_every_script_and_style(made: Made) -> None:
    page = render(of_new(made))
    assert "default-src 'none'" in page
    assert re.findall(r"<(?:link|script|img|iframe)[^>]*(?:src|href)=[\"'](?!data:)", page) == []
    addresses = set(re.findall(r"https?://[^\s\"'<)]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, not an address to load
    for path in PAGE.iterdir():
        if path.is_file() and path.suffix != ".j2":
            assert path.read_text("utf-8").strip() in page
