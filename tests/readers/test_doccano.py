"""doccano: files of members, merged exports, and what they do not say."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path

import attrs
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from io_files import refusal, result_or_refusal, said, warned, written
from plausibly.data.annotations import not_counted
from plausibly.testing import check_reader
from plausibly_builtins.readers import doccano
from plausibly_builtins.readers.doccano import Doccano
from readers_votes import once, voted, votes

UNLABELLED = "records without a label (not labelled, or of no label)"
merged = pytest.mark.filterwarnings("ignore:warning annotators-unnamed")
numbered = pytest.mark.filterwarnings("ignore:warning examples-numbered")


def record(name: object, *labels: object) -> dict[str, object]:
    return {"id": name, "text": f"text {name}", "label": list(labels), "Comments": []}


def lines(*records: object) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in records)


def members(folder: Path, **of: Iterable[object]) -> Path:
    folder.mkdir()
    for name, records in of.items():
        written(folder, f"{name}.jsonl", lines(*records))
    return folder


def zipped(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def read(path: Path, labels: list[str] | None = None, **options: object) -> xr.Dataset:
    return plausibly.read_annotations(path, "doccano", labels, **options)


ANN = [record(1, "A"), record(2, "A", "C"), record(3)]
BOB = [record(1, "B"), record(4, "C"), record(3)]
BOTH = once(
    ("1", "ann", ("A",)), ("1", "bob", ("B",)), ("2", "ann", ("A", "C")), ("4", "bob", ("C",))
)


# ---- who said what


def test_report_25_files_of_members_are_put_together(tmp_path: Path) -> None:
    folder = members(tmp_path / "export", ann=ANN, bob=BOB)
    written(folder, "README.md", "notes")
    table = plausibly.read_annotations(folder)
    assert (table.attrs["reader"], table.attrs["kind"]) == ("doccano", "label-set")
    assert votes(table) == BOTH
    assert table["example"].values.tolist() == ["1", "2", "3", "4"]
    assert not_counted(table) == {UNLABELLED: 2}


def test_members_who_labelled_nothing_have_an_empty_file(tmp_path: Path) -> None:
    folder = members(tmp_path / "export", abe=[], ann=ANN, bob=BOB)
    table = plausibly.read_annotations(folder)
    assert votes(table) == BOTH
    assert table["annotator"].values.tolist() == ["abe", "ann", "bob"]
    (folder / "ann.jsonl").unlink()
    (folder / "bob.jsonl").unlink()
    assert refusal(lambda: read(folder)).name == "annotations-empty"
    assert not Doccano().recognises(folder, b"")
    path = written(tmp_path, "x.jsonl", "\n")
    assert said(lambda: read(path)) == (
        "error file-empty: x.jsonl is empty expected an export of doccano; got nothing "
        "do export it again, or remove the file"
    )


@merged
def test_report_26_nobody_is_known_in_a_merged_export(tmp_path: Path) -> None:
    path = written(tmp_path, "x.jsonl", lines(*ANN))
    assert warned(lambda: read(path)).startswith(
        "warning annotators-unnamed: x.jsonl does not say who gave 2 responses"
    )
    assert votes(read(path)) == once(("1", None, ("A",)), ("2", None, ("A", "C")))
    assert votes(read(path, annotator="ann"))[("1", "ann", ("A",))] == 1
    table = read(members(tmp_path / "export", all=ANN[:1]), kind="single-label")
    assert votes(table) == once(("1", None, ("A",)))
    assert table.sizes["annotator"] == 0
    assert warned(lambda: plausibly.aggregate(table, "dawid-skene")).startswith(
        "warning annotators-anonymous: dawid-skene takes 1 of 1 response of unknown annotators as "
        "one annotator's"
    )
    error = refusal(lambda: plausibly.aggregate(table, "dawid-skene", unknown="error"))
    assert error.whose == "annotations"


def test_report_27_a_zip_is_read_where_it_is(tmp_path: Path) -> None:
    files = {"ann.jsonl": lines(*ANN), "bob.jsonl": lines(*BOB), "__MACOSX/._ann.jsonl": "x"}
    path = zipped(tmp_path / "export.zip", files)
    table = plausibly.read_annotations(path)
    assert (table.attrs["reader"], votes(table)) == ("doccano", BOTH)
    assert list(tmp_path.iterdir()) == [path]


@merged
def test_report_28_numbers_need_names(tmp_path: Path) -> None:
    old = {"id": 5, "text": "t", "annotations": [{"label": 7, "user": 1}, {"label": 9, "user": 2}]}
    path = written(tmp_path, "old.jsonl", lines(old))
    assert said(lambda: plausibly.read_annotations(path)) == (
        "error labels-numbered: old.jsonl line 1 has the number 7 for a label "
        "expected names of labels; a number is an id of the database, or a measurement; "
        "got 7, whose name is in no file "
        'do --reader \'{name = "doccano", label_names = {"7" = "NAME"}}\', '
        "with a name for each number"
    )
    table = read(path, label_names={"7": "good", "9": "bad"})
    assert votes(table) == once(("5", "1", ("good",)), ("5", "2", ("bad",)))
    assert said(lambda: read(path, label_names={"7": "a", "9": "b"}, annotator="x")) == (
        "error annotator-unfit: old.jsonl is an export whose annotations name their user "
        'expected an annotator only where the export names none; got "x" do leave annotator out'
    )


def test_report_29_the_order_of_clicks_says_nothing(tmp_path: Path) -> None:
    folder = members(tmp_path / "e", ann=[record(1, "A", "B")], bob=[record(1, "B", "A", "B")])
    assert votes(read(folder)) == once(("1", "ann", ("A", "B")), ("1", "bob", ("A", "B")))


def test_report_30_measurements_are_no_labels(tmp_path: Path) -> None:
    of = {name: [record(1, value)] for name, value in (("a", 0.3), ("b", 0.5), ("c", 0.4))}
    folder = members(tmp_path / "e", **of)
    error = refusal(lambda: read(folder))
    assert (error.name, error.what) == (
        "labels-numbered",
        "e/a.jsonl line 1 has the number 0.3 for a label",
    )
    table = read(folder, label_names={"0.3": "low", "0.4": "low", "0.5": "high"})
    assert votes(table)[("1", "c", ("low",))] == 1


def test_no_label_is_not_assigned_unless_said(tmp_path: Path) -> None:
    path = written(tmp_path, "x.jsonl", lines(*ANN))
    table = read(path, annotator="a", unlabelled="empty", states={"empty": "label:none"})
    assert votes(table)[("3", "a", ("none",))] == 1
    error = refusal(lambda: read(path, annotator="a", unlabelled="empty"))
    assert (error.name, error.what) == (
        "answer-empty",
        "x.jsonl line 3: a on example 3: names no label",
    )


def test_one_label(tmp_path: Path) -> None:
    path = written(tmp_path, "x.jsonl", lines(record(1, "A", "A"), {**record(2), "label": "B#"}))
    table = read(path, kind="single-label", annotator="a")
    assert table.attrs["kind"] == "single-label"
    assert votes(table) == once(("1", "a", ("A",)), ("2", "a", ("B#",)))
    path = written(tmp_path, "x.jsonl", lines(record(1, "B", "A")))
    assert said(lambda: read(path, kind="single-label")) == (
        "error labels-several: x.jsonl line 1 names 2 labels "
        'expected one, as kind = single-label says; got "A", "B" '
        'do --reader \'{name = "doccano", kind = "label-set"}\'; or export one file a member'
    )


def test_the_same_example_twice_in_a_file(tmp_path: Path) -> None:
    path = written(tmp_path, "x.jsonl", lines(record(1, "A"), record(1, "B")))
    assert refusal(lambda: read(path, annotator="a")).name == "response-twice"


# ---- syntaxes


@merged
@numbered
def test_syntaxes(tmp_path: Path) -> None:
    wanted = once(("0", None, ("A", "b c")), ("1", None, ("A",)))
    table = 'text,label\n"one,\ntwo",A#b c\n\nx,A\ny,\n'
    found = read(written(tmp_path, "x.csv", table))
    assert votes(found) == wanted
    assert not_counted(found) == {UNLABELLED: 1}
    rows = [{"text": "x", "label": ["b c", "A"]}, {"text": "y", "label": "A"}]
    assert votes(read(written(tmp_path, "x.json", json.dumps(rows, indent=1)))) == wanted
    fast = read(written(tmp_path, "x.txt", "__label__A __label__B some text\nno label\n"))
    assert votes(fast) == once(("0", None, ("A", "B")))
    assert fast["example"].values.tolist() == ["0", "1"]
    image = written(tmp_path, "i.jsonl", lines({"filename": "a.png", "label": ["cat"]}))
    assert votes(read(image)) == once(("a.png", None, ("cat",)))


@merged
def test_places_are_names_and_that_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, "x.jsonl", lines({"text": "t", "label": ["A"]}))
    assert warned(lambda: read(path, annotator="a")) == (
        "warning examples-numbered: x.jsonl: 1 example without id are called by their place "
        "expected an id; predictions must name the examples 0, 1, … in this order "
        'do --reader \'{name = "doccano", example = "text"}\' takes another key'
    )
    assert votes(read(path, example="text")) == once(("t", None, ("A",)))
    folder = members(
        tmp_path / "e", a=[{"text": "t", "label": ["A"]}], b=[{"text": "t", "label": ["B"]}]
    )
    assert said(lambda: read(folder)) == (
        "error example-unnamed: e: no record has an id "
        "expected an id, by which records of several files are the same example; got text, label "
        'do --reader \'{name = "doccano", example = "text"}\''
    )


# ---- what is refused


@pytest.mark.parametrize(
    ("entry", "name", "what"),
    [
        (
            {"id": 1, "text": "t", "label": [[0, 2, "A"]]},
            "spans-unfit",
            "labels a part of its text",
        ),
        (
            {"id": 1, "annotations": [{"label": 1, "start_offset": 0, "end_offset": 2}]},
            "spans-unfit",
            "labels a part of its text",
        ),
        ({"id": 1, "text": "t"}, "key-missing", "has no labels"),
        ({"id": 1, "label": [True]}, "label-unfit", "has a label that is no text"),
        ({"id": "", "label": ["A"]}, "example-unnamed", "does not name its example"),
        ([1], "record-unlike", "is no record"),
    ],
)
def test_records_that_are_refused(tmp_path: Path, entry: object, name: str, what: str) -> None:
    path = written(tmp_path, "x.jsonl", lines(record(0, "A"), entry))
    error = refusal(lambda: read(path, annotator="a"))
    assert (error.name, error.what) == (name, f"x.jsonl line 2 {what}")


def test_ids_of_two_projects_are_no_ids_of_one(tmp_path: Path) -> None:
    other = {**record(1, "B"), "text": "else"}
    assert said(lambda: read(members(tmp_path / "e", a=[record(1, "A")], b=[other]))) == (
        "error example-differs: e/b.jsonl line 1: example 1 is another one elsewhere "
        'expected what it is elsewhere: "text 1"; got "else" '
        'do read each project by itself; or --reader \'{name = "doccano", example = "text"}\''
    )


@pytest.mark.parametrize(
    ("names", "what"),
    [
        ([], "e holds no export"),
        (["a.jsonl", "b.csv"], "e holds files of several kinds"),
        (["a.jsonl", "all.jsonl"], "e has all labels twice: merged in all, and by member"),
    ],
)
def test_folders_that_are_unclear(tmp_path: Path, names: list[str], what: str) -> None:
    folder = members(tmp_path / "e")
    for name in names:
        written(folder, name, lines(record(1, "A")))
    error = refusal(lambda: read(folder))
    assert (error.name, error.what) == ("export-unclear", what)
    assert not Doccano().recognises(folder, b"")


def test_zips_that_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    twice = zipped(tmp_path / "t.zip", {"a/x.jsonl": "{}", "b/x.jsonl": "{}"})
    assert refusal(lambda: read(twice)).what == "t.zip has two files of one member"
    path = zipped(tmp_path / "z.zip", {"a.jsonl": lines(*ANN)})
    data = path.read_bytes()
    half = written(tmp_path, "h.zip", data[:60])
    assert refusal(lambda: read(half)).what == "h.zip cannot be unpacked"
    monkeypatch.setattr(doccano, "MOST_BYTES", 10)
    error = refusal(lambda: read(path))
    assert (error.name, error.what) == ("zip-unfit", "z.zip is too large to read at once")
    assert error.expected == "at most 10,000 files, 10 bytes"


@pytest.mark.parametrize(
    ("text", "line"), [("text,label\nx,A,B\n", 2), ("text,text\n", 1), ('text,label\n"x,A\n', 2)]
)
def test_broken_tables(tmp_path: Path, text: str, line: int) -> None:
    error = refusal(lambda: read(written(tmp_path, "x.csv", text)))
    assert (error.name, error.what) == ("csv-broken", f"x.csv line {line} is no row of the table")


# ---- recognition, and anything


@pytest.mark.parametrize(
    ("head", "recognised"),
    [
        (lines(record(1, "A")), True),
        (lines({"text": "t", "label": []}), True),
        (lines({"text": "t", "cats": ["x"], "entities": []}), True),
        ("__label__A text", True),
        ("id,text,label,Comments\n", True),
        ("text,label\n", False),
        (lines({"text": "t", "label": "A"}), False),
        (lines({"text": "t", "label": [0.2, 0.8]}), False),
        (lines({"text": "t", "label": [[0, 1, "A"]]}), False),
        (lines({"text": "t", "annotations": [{"result": []}]}), False),
        ("PK\x03\x04 no zip", False),
        ("", False),
    ],
)
def test_recognition(tmp_path: Path, head: str, recognised: bool) -> None:
    path = written(tmp_path, "x.bin", head)
    assert Doccano().recognises(path, head.encode()) is recognised


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=4)


@given(
    said_of=st.dictionaries(NAMES, st.lists(NAMES, max_size=3), min_size=1, max_size=4),
    encoding=st.sampled_from(["utf-8", "utf-8-sig"]),
    end=st.sampled_from(["\n", "\r\n"]),
    whole=st.booleans(),
)
def test_any_labels_come_back(
    tmp_path_factory: pytest.TempPathFactory,
    said_of: dict[str, list[str]],
    encoding: str,
    end: str,
    whole: bool,
) -> None:
    found = [record(name, *labels) for name, labels in said_of.items()]
    text = json.dumps(found, ensure_ascii=False, indent=1) if whole else lines(*found)
    path = written(tmp_path_factory.mktemp("d"), "x.x", text.replace("\n", end).encode(encoding))
    table = read(
        path,
        ["-", *sorted({label for v in said_of.values() for label in v} - {"-"})],
        annotator="a",
    )
    wanted = [(n, "a", tuple(sorted(set(v)))) for n, v in said_of.items() if v]
    assert votes(table) == once(*wanted)
    assert table["example"].values.tolist() == sorted(said_of)


JSONL = lines(*ANN).encode()
TABLE = b'id,text,label,Comments\n1,"a\nb",A#B,\n2,c,B,\n'


@given(
    whole=st.sampled_from([JSONL, TABLE]),
    at=st.integers(0, 200),
    new=st.none() | st.binary(max_size=3),
)
@pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, whole: bytes, at: int, new: bytes | None
) -> None:
    content = whole[:at] if new is None else whole[:at] + new + whole[at + 1 :]
    path = written(tmp_path_factory.mktemp("any"), "v.x", content)
    Doccano().recognises(path, content)
    result_or_refusal(lambda: read(path), path.name)


@given(at=st.integers(0, 400), new=st.none() | st.binary(max_size=3))
@pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")
def test_any_zip_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, at: int, new: bytes | None
) -> None:
    folder = tmp_path_factory.mktemp("zip")
    whole = zipped(folder / "w.zip", {"a.jsonl": lines(*ANN), "b.jsonl": "{}"}).read_bytes()
    content = whole[:at] if new is None else whole[:at] + new + whole[at + 1 :]
    path = written(folder, "v.zip", content)
    Doccano().recognises(path, content)
    result_or_refusal(lambda: read(path), path.name)


def test_long_labels(tmp_path: Path) -> None:
    long = "x" * 100_000
    path = written(tmp_path, "a.csv", f"id,text,label\n1,t,{long}\n")
    assert read(path, annotator="a")["label"].values.tolist() == [long]


def test_every_rule_of_the_kit(tmp_path: Path) -> None:
    check_reader(Doccano(), path=members(tmp_path / "e", ann=ANN, bob=BOB))
    path = zipped(tmp_path / "e.zip", {"ann.jsonl": lines(*ANN), "bob.jsonl": lines(*BOB)})
    check_reader(Doccano(), path=path)


def test_the_page_names_every_option(project: Path) -> None:
    text = (project / "docs" / "formats.md").read_text(encoding="utf-8")
    section = text.partition("## doccano\n")[2].partition("\n## ")[0]
    own = {f.name for f in attrs.fields(Doccano)} - {"states", "duplicates", "none_of_these"}
    assert all(f"| `{name}` |" in section for name in own)


# ---- real files

SENTIMENT = once(("0", None, ("negative",)), ("1", None, ("positive",)), ("2", None, ("positive",)))


@pytest.mark.realdata
@merged
@numbered
def test_real_files(shared: Path) -> None:
    folder = shared / "cases" / "annotations" / "doccano"
    for ending in ("jsonl", "json", "csv", "txt"):
        assert votes(read(folder / f"text_classification_export.{ending}")) == SENTIMENT
    template = folder / "text_classification_import_template.jsonl"
    assert refusal(lambda: read(template)).name == "key-missing"
    assert votes(read(template, field="column_label")) == SENTIMENT
    images = read(folder / "image_classification_export.jsonl")
    assert votes(images) == once(*((f"{n}.png", None, (n,)) for n in ("cat", "dog", "pig")))
    intents = read(folder / "intent_detection_export.jsonl")
    assert votes(intents) == once(("0", None, ("flight",)), ("1", None, ("airport",)))
    assert not_counted(intents) == {"spans of text beside the labels": 3}


@pytest.mark.realdata
def test_real_members(shared: Path) -> None:
    folder = shared / "cases" / "annotations" / "constructed" / "doccano_individual"
    table = plausibly.read_annotations(folder)
    assert voted(table) == [
        (("1", "annotator1", ("A",)), "answered"),
        (("1", "annotator2", ("B",)), "answered"),
        (("2", "annotator1", ("A", "C")), "answered"),
        (("2", "annotator2", ("A",)), "answered"),
    ]
    assert table["example"].values.tolist() == ["1", "2", "3"]
    assert not_counted(table) == {UNLABELLED: 2}
