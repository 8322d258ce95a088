"""Files read as they did: each to its table, or refused with its message; large numbers."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import attrs
import pytest

import cases_net
import nets
import plausibly
from cases_net import recognisers
from io_files import refusal, written
from plausibly.io import files, read_annotations
from plausibly.io.responses import ResponseOptions
from plausibly.plugin import READER
from plausibly.registry import Registry, default
from plausibly.testing import check_reader

CASES = Path(__file__).parent / "cases"


@pytest.mark.parametrize(
    "path", sorted(CASES.rglob("*.toml")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_a_file_reads_as_it_did(path: Path, tmp_path: Path) -> None:
    reads = 0
    for file in cases_net.load(path):
        for case in file["read"]:
            folder = tmp_path / f"{reads}"
            folder.mkdir()
            result = cases_net.answer(cases_net.write(folder, cases_net.changed(file, case)), case)
            assert result == cases_net.expected(case)
            reads += 1
    assert reads


def test_every_reader_that_comes_with_plausibly_has_cases() -> None:
    entries = Registry(others=tuple).entries()
    readers = {item.name for item in entries if item.kind == "reader"}
    # What plausibly writes itself is read back in tests/io.
    assert readers - {path.name for path in CASES.iterdir()} == {"annotation-table"}


def report(path: Path) -> str:
    """Return the refusal of a file, or its kind and a digest of its table."""
    result = cases_net.answer(path, {})
    if "refused" in result:
        return f"refused {result['refused']['name']}"
    kind = str(result["kind"])
    return f"{kind} {cases_net.digest(result)}" if result["table"] else kind


@pytest.mark.realdata
@pytest.mark.parametrize(
    "file", cases_net.load(CASES.with_name("published.toml")), ids=lambda file: str(file["name"])
)
def test_a_published_file_is_read_with_options(shared: Path, file: cases_net.Spec) -> None:
    for case in file["read"]:
        result = cases_net.answer(shared / "cases" / "annotations" / file["name"], case)
        assert result == cases_net.expected(case)


@pytest.mark.realdata
def test_published_files_read_as_they_did(shared: Path) -> None:
    """Of files that are not ours only digests are kept."""
    folder = shared / "cases" / "annotations"
    result = [
        f"{path.relative_to(folder).as_posix()} {report(path)}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
    assert len(result) > 50
    nets.compare("published_files.txt", result)


def test_which_readers_recognise_a_beginning(tmp_path: Path) -> None:
    wrong = []
    for place, file in enumerate(cases_net.load(Path(__file__).with_name("recognition.toml"))):
        folder = tmp_path / f"{place}"
        folder.mkdir()
        if file.get("padded"):  # then no reader sees the end
            file["text"] += " " * files.HEAD
        result = recognisers(cases_net.write(folder, file), file.get("reader"))
        if result != file["readers"]:
            wrong.append((file, result))
    assert wrong == []


@pytest.mark.realdata
def test_at_most_one_reader_recognises_a_published_file(shared: Path) -> None:
    folder = shared / "cases" / "annotations"
    assert max(len(recognisers(path)) for path in folder.rglob("*")) == 1


@pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")
@pytest.mark.parametrize(
    ("file", "case"),
    [
        pytest.param(file, case, id=path.stem)
        for path in sorted(CASES.rglob("*.toml"))
        for file in cases_net.load(path)
        for case in file["read"]
        if "kit" in case
    ],
)
def test_every_rule_of_the_kit_holds(
    file: cases_net.Spec, case: cases_net.Spec, tmp_path: Path
) -> None:
    path = cases_net.write(tmp_path, cases_net.changed(file, case))
    for more in case["kit"]:
        options = case.get("options", {}) | more
        reader = default().create(READER, case.get("reader", case.get("recognised")), options)
        check_reader(reader, path=path, kind=case["kind"], labels=case.get("declared"))


SECTIONS = {
    "long-table": "Long tables",
    "wide-table": "Wide tables",
    "label-studio": "Label Studio",
    "sagemaker": "SageMaker Ground Truth",
    "cvat": "CVAT",
    "coco": "COCO",
    "argilla": "Argilla",
    "doccano": "doccano",
    "preflib": "Ballots (PrefLib)",
    "counts": "Counts",
    "vote-lists": "Lists of votes",
    "soft-labels": "Soft labels",
}
# Options of which another section tells.
ELSEWHERE = {("coco", "kind"), ("wide-table", "delimiter"), ("long-table", "delimiter")}


@pytest.mark.parametrize("reader", SECTIONS)
def test_every_option_is_on_the_page(project: Path, reader: str) -> None:
    page = (project / "docs" / "formats.md").read_text(encoding="utf-8")
    text = page.partition(f"## {SECTIONS[reader]}\n")[2].partition("\n## ")[0]
    component: Any = default().create(READER, reader)  # Any: its Protocol is no attrs class
    shared = {field.name for field in attrs.fields(ResponseOptions)}
    options = {field.name for field in attrs.fields(type(component))} - shared
    absent = {name for name in options if f"`{name}" not in text}
    assert {(reader, name) for name in absent} <= ELSEWHERE


def test_controls_of_a_repeater_are_read_as_the_hint_says(tmp_path: Path) -> None:
    case = CASES / "label-studio" / "report-22-controls-of-a-repeater.toml"
    path = cases_net.write(tmp_path, cases_net.load(case)[0])
    error = refusal(lambda: read_annotations(path, "label-studio"))
    _, _, options = error.hint.partition("; reader=")
    table = read_annotations(path, json.JSONDecoder().raw_decode(options)[0])
    assert table["example"].values.tolist() == ["1#0", "1#1", "2#0"]


# ---- numbers and archives that are large


def test_a_count_of_5000_digits_is_none(tmp_path: Path) -> None:
    path = written(tmp_path, "c.csv", f"example,cat\na,1\nb,{'9' * 5_000}\n")
    assert refusal(lambda: plausibly.read_annotations(path, "counts")).name == "number-unreadable"


def test_every_member_of_a_zip_is_read(tmp_path: Path) -> None:
    """Also those beyond the 20 that decide which reader it is."""
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        for number in range(25):
            entry = {"id": 1, "text": "t", "label": ["x"]}
            archive.writestr(f"w{number:02}.jsonl", json.dumps(entry))
    table = plausibly.read_annotations(tmp_path / "z.zip")
    assert table["annotator"].values.tolist() == [f"w{number:02}" for number in range(25)]


@pytest.mark.parametrize(("members", "size"), [(10_001, 2), (1, 2**30 + 1)])
def test_a_zip_that_is_too_large_is_refused(tmp_path: Path, members: int, size: int) -> None:
    path = tmp_path / "z.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(members):
            archive.writestr(f"{number}.jsonl", "{}")
    data = bytearray(path.read_bytes())
    place = data.index(b"PK\x01\x02") + 24  # where the list of members has the size of the first
    data[place : place + 4] = size.to_bytes(4, "little")
    error = refusal(
        lambda: plausibly.read_annotations(written(tmp_path, "z.zip", bytes(data)), "doccano")
    )
    assert error.expected == "at most 10,000 files, 1,073,741,824 bytes"
