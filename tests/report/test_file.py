"""The file: the same bytes for the same data, whole or as it was; and its command."""

from __future__ import annotations

import base64
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import attrs
import numpy as np
import pytest

import plausibly
from cli_world import World, make, run
from plausibly.errors import InputError
from plausibly.report.write import Report, render
from report_world import METHODS, Made, compared, embedded, of_new, table, world
from study_world import WHOLE

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


@pytest.fixture(scope="module")
def page(made: Made, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a report, which is one file."""
    folder = tmp_path_factory.mktemp("report")
    found = written(made, folder / "report.html").path.read_text("utf-8")
    assert len(list(folder.iterdir())) == 1
    return found


def test_without_scripts_figures_are_images_in_the_page(page: str) -> None:
    image = r'<img class="drawn" alt="([^"]+)" src="data:image/svg\+xml;base64,([^"]+)">'
    found = re.findall(image, page)
    titles = ["What the sets cover", "How large the sets are", "What sets cover of each example"]
    for (alt, source), title in zip(found, titles, strict=True):
        assert alt
        root = ElementTree.fromstring(base64.b64decode(source).decode("utf-8"))
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        texts = " ".join(filter(None, (one.text for one in root.iter())))
        assert f"{title}, alpha 0.2" in texts.replace("\n", " ")
    assert '"static_figures"' not in page  # not in the data a second time


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


@pytest.fixture(scope="module")
def hostile() -> Made:
    return world(
        40,
        labels=HOSTILE[:4],
        examples=[f"{HOSTILE[at % len(HOSTILE)]} {at}" for at in range(40)],
        annotators=HOSTILE[:3],
    )


def test_every_text_is_text(hostile: Made) -> None:
    data = of_new(hostile)
    page = render(data)
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    shown = embedded(page)
    assert shown["cases"]["names"] == list(data.cases.names)
    assert [label["name"] for label in shown["labels"]] == list(HOSTILE[:4])
    text = data.to_text()
    assert not set("<>&\u2028\u2029") & set(text)


def test_an_anonymous_report_has_no_names_and_no_mapping(
    made: Made, page: str, tmp_path: Path
) -> None:
    known = made.predictions["example"].values.tolist()
    named = embedded(page)
    page = written(made, tmp_path / "anonymous.html", anonymous=True).path.read_text("utf-8")
    shown = embedded(page)
    cases = shown["cases"]
    assert cases["annotators"] == ["annotator 1", "annotator 2", "annotator 3"]
    assert cases["names"] == [f"example {number:02}" for number in range(1, 31)]
    for name in (*known, '"ann"', '"bob"', '"cyd"'):
        assert name not in page
    assert "are replaced by numbers" in page.partition("<footer")[2]
    # The order of the numbers is not that of the names; all figures are the same.
    number_of = {answers: n for n, answers in enumerate(map(str, cases["plausibility"]))}
    assert list(map(str, named["cases"]["plausibility"])) != list(number_of)
    for view, other in zip(named["views"], shown["views"], strict=True):
        for name in ("vote", "weak", "sizes", "realised"):
            assert view[name] == other[name]
    assert sorted(map(str, named["cases"]["p"][0])) == sorted(map(str, cases["p"][0]))


PIXEL = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00"
    b"\x1f\x15\xc4\x89"
)


def test_texts_and_pictures(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.png").write_bytes(PIXEL)
    names = made.predictions["example"].values
    rows = [f"{name},{'w' * 600},{'one.png' if at else ''}" for at, name in enumerate(names)]
    Path("more.csv").write_text("\n".join(["example,words,picture", *rows]) + "\n")
    written(made, Path("report.html"), examples="more.csv", text="words", thumbnail="picture")
    cases = embedded(Path("report.html").read_text("utf-8"))["cases"]
    assert set(cases["text"]) == {"w" * 499 + "…"}
    assert cases["thumbnail"][-1].startswith("data:image/png;base64,iVBORw0KGgo")


def test_pictures_that_cannot_be_put_in(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("large").write_bytes(b"GIF89a" + bytes(70_000))
    Path("other").write_bytes(b"<svg onload=alert(1)>")
    for file, found in (
        ("large", "70,006 bytes"),
        ("other", "bytes that begin b'<svg onl'"),
        ("missing", "no such file or directory"),
    ):
        predictions = made.predictions.assign_coords(picture=("example", [file] * 60))
        with pytest.raises(InputError) as caught:
            written(attrs.evolve(made, predictions=predictions), Path("r"), thumbnail="picture")
        assert (caught.value.name, caught.value.found) == ("thumbnail-unreadable", found)


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
        with pytest.raises(InputError) as caught:
            plausibly.write_report(source, tmp_path / "report.html", **options)
        assert caught.value.name == name
        assert hint in caught.value.hint
    assert not list(tmp_path.iterdir())


KEYS = """
[report]
title = "Animals & others"
words = { example = "picture" }
text = "diagnosis"
anonymous = false
"""

ON_NEW = "--predictor predictor.nc -p new.csv -a new_votes.csv -e new_patients.csv"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    desk = make(tmp_path)
    desk.write("study.toml", WHOLE.replace("count = 6", "count = 1") + KEYS)
    return desk


@pytest.fixture
def predictor(desk: World) -> Path:
    done = run("calibrate", "-a", "votes.csv", "-p", "probabilities.csv", "-o", "predictor.nc")
    assert done.code == 0
    return desk.path("predictor.nc")


def test_a_study_ends_with_its_report_and_gives_it_again(desk: World) -> None:
    told = run("run", "study.toml", "--json")
    assert told.code == 0
    report = told.document["report"]
    assert report["path"] == "out/report.html"
    assert report["title"] == "Animals & others"
    assert [view["method"] for view in report["views"]][:2] == ["everyone", "everyone"]
    severities = {one["severity"] for view in report["views"] for one in view["findings"]}
    assert severities <= {"broken", "vacuous", "weak", "kept"}
    first = desk.path("out/report.html").read_bytes()
    for source in ("out", "study.toml"):
        again = run("report", source, "-o", "again.html")
        assert (again.code, again.err) == (0, "")
        assert desk.path("again.html").read_bytes() == first
    # The study in the page is the one that gives it.
    data = embedded(first.decode())
    assert data["provenance"]["command"] == "plausibly run resolved.toml"
    assert data["provenance"]["study"] == desk.path("out/resolved.toml").read_text()
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
    page = desk.path("study.html").read_text("utf-8")
    known = ("probabilities.csv", "votes.csv", '"c00"', '"w0"')
    assert not [name for name in known if name in page]


def test_what_changed_since_is_not_reported(desk: World) -> None:
    unfinished = run("report", "study.toml").err
    assert unfinished.startswith("error study-unfinished: ")
    assert unfinished.endswith("  hint      plausibly run study.toml\n")
    assert run("run", "study.toml", "--no-report").code == 0
    assert not desk.path("out/report.html").exists()
    desk.edit("study.toml", "seed = 1", "seed = 2")
    other = run("report", "study.toml").err
    assert other.startswith("error study-changed: the results in out are of another study\n")
    assert "  hint      plausibly run study.toml, " in other
    desk.edit("votes.csv", "c00,w0,cat", "c00,w0,fox")
    changed = run("report", "out")
    assert changed.code == 2
    assert changed.err.startswith("error study-changed: the results in out are of other data\n")
    assert not desk.path("report.html").exists()


def test_without_the_extra_a_study_runs_and_a_report_says_what_to_install(
    desk: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    ran = run("run", "study.toml")
    assert ran.code == 0
    assert "warning report-none: the study has no report: the report needs jinja2" in ran.err
    assert not desk.path("out/report.html").exists()
    refused = run("report", "out")
    assert refused.code == 2
    assert "error extra-missing: the report needs jinja2, which is not installed" in refused.err


def test_a_report_that_fails_undoes_no_study(desk: World) -> None:
    desk.edit("study.toml", 'text = "diagnosis"', 'thumbnail = "diagnosis"')
    told = run("run", "study.toml", "--json")
    assert told.code == 0
    assert told.document["report"] is None
    (warning,) = [one for one in told.document["warnings"] if one["name"] == "report-none"]
    assert warning["what"] == 'the study has no report: no picture can be read from "cat"'
    assert desk.path("out/results.nc").exists()


def test_a_predictor_on_new_examples(desk: World, predictor: Path) -> None:
    told = run("report", *ON_NEW.split(), "--alpha", "0.25", "-o", "new.html")
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith("verdict  The sets contain ")
    assert told.out.endswith("next     open new.html\n")
    data = embedded(desk.path("new.html").read_text("utf-8"))
    assert data["provenance"]["command"] == (
        "plausibly report --predictor predictor.nc -o new.html -a new_votes.csv -p new.csv "
        "-e new_patients.csv --alpha 0.25"
    )
    sets = plausibly.load_predictor(predictor).predict(plausibly.read_predictions("new.csv"), 0.25)
    lam = plausibly.aggregate(plausibly.read_annotations("new_votes.csv"))
    found = plausibly.evaluate(sets, lam).data
    mean = data["views"][0]["vote"]["aggregated"]["mean"]
    assert mean == pytest.approx(float(found["aggregated_coverage_mean"]), abs=5e-6)
    # The command that the page names gives it again.
    again = run(*data["provenance"]["command"].split()[1:])
    assert again.code == 0
    assert embedded(desk.path("new.html").read_text("utf-8")) == data
