"""Files read as they did: each to its table, or refused with its message.

``cases/<format>/<behaviour>.toml`` holds files, how each is read, and what comes of it:

- ``[[file]]`` is one file: its ``name`` and ``text``; or ``files`` (a folder, or a zip), ``array``,
  ``arrays``, ``columns`` (Parquet); ``encoding``, and ``cut``, bytes that are missing at the end.
- ``[[file.read]]`` is one call: ``reader``, ``declared`` labels and ``options``; with ``replace``
  the file has other words in place of some.
- What comes of it is ``refused`` with the name of the message and what it found, or ``table``, one
  row per label of each response, with ``kind``, ``labels`` and what else does not go without
  saying: the reader that ``recognised`` the file, ``examples`` and ``annotators`` without
  response, what is ``not_counted``, ``values`` of predictions. Every message that is ``warned`` is
  there, and in some cases the ``shares`` of the labels that `plausibly.aggregate` makes.
- With ``kit`` every rule of the author's kit holds too (`test_rules`), with more options.

``published.toml`` says the same of files that people published; ``digest`` stands for long tables.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest

import cases_net
import nets
from cases_net import recognisers
from io_files import refusal
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
