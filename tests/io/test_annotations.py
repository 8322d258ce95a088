"""Choosing the reader of a file, and the hints where none or several recognise it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import attrs
import numpy as np
import pytest
import xarray as xr

import plausibly
from io_files import refusal, warned, written
from plausibly import registry
from plausibly.config.hints import as_options
from plausibly.data.annotations import AnnotationTable
from plausibly.io.hints import columns_hint, guessed, has_header
from plausibly.plugin import READER, Reader, Record, build_table, table_from_records

VOTES = "task,worker,label\nt1,a,cat\nt1,b,dog\nt2,a,dog\n"
BARS = "t1|a|cat\nt1|b|dog\n"


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> registry.Registry:
    """A registry of the built-in readers, and of those that a test registers."""
    fresh = registry.Registry(others=tuple)
    monkeypatch.setattr(registry, "default", lambda: fresh)
    return fresh


@attrs.frozen(kw_only=True)
class Lines(Reader):
    """Read one vote per line: example, annotator, label, separated by a bar."""

    ending: str = ".bar"

    def recognises(self, path: Path, head: bytes) -> bool:
        return path.suffix == self.ending

    def read(self, path: Path, labels: Sequence[str] | None) -> xr.Dataset:
        records: list[Record] = []
        for line in path.read_text().splitlines():
            example, annotator, label = line.split("|")
            records.append((example, annotator, label))
        table = table_from_records(
            "single-label", records, labels, lambda label: ((str(label), 1, 1.0),)
        )
        return xr.Dataset(table.variables, attrs=table.attrs)


class Broken(Lines):
    """Fails to recognise."""

    def recognises(self, path: Path, head: bytes) -> bool:
        raise ZeroDivisionError("of course")


class Nothing(Lines):
    """Reads no annotation table."""

    def read(self, path: Path, labels: Sequence[str] | None) -> xr.Dataset:
        return xr.Dataset({"x": ("y", np.zeros(2))})


class TwoAnswers(Lines):
    """Builds a table from codes, in which one annotator answers twice."""

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        return build_table(
            "single-label",
            examples=["e"],
            annotators=["r"],
            labels=["a", "b"],
            response_example=np.array([0, 0]),
            response_annotator=np.array([0, 0]),
            mention_response=np.array([0, 1]),
            mention_label=np.array([0, 1]),
        )


@pytest.mark.parametrize("name", ["votes.csv", "votes.json", "votes.soc", "votes", "votes.CSV"])
def test_content_decides_and_not_the_name(tmp_path: Path, name: str) -> None:
    table = plausibly.read_annotations(str(written(tmp_path, name, VOTES)))
    assert isinstance(table, AnnotationTable)
    assert (table.attrs["reader"], table.attrs["source"]) == ("long-table", name)


def test_a_registered_reader_is_a_name_a_table_or_an_object(
    tmp_path: Path, own: registry.Registry
) -> None:
    path = written(tmp_path, "votes.bar", BARS)
    assert plausibly.read_annotations(path, Lines()).attrs["reader"] == "Lines"
    own.register(READER, "lines", Lines)
    for reader in ("lines", {"name": "lines", "ending": ".x"}, Lines(), None):
        table = plausibly.read_annotations(path, reader)
        assert isinstance(table, AnnotationTable)
        assert table.attrs["reader"] == "lines"
        assert table["label"].values.tolist() == ["cat", "dog"]
    for content in (VOTES, BARS):
        written(tmp_path, "votes.bar", content)
        if content == BARS:
            own.register(READER, "bars", type("Bars", (Lines,), {}))
        error = refusal(lambda: plausibly.read_annotations(tmp_path / "votes.bar"))
        names = ["long-table", "lines"] if content == VOTES else ["lines", "bars"]
        assert (error.name, error.details["readers"]) == ("format-ambiguous", names)


def test_a_reader_that_fails_to_recognise_stops_no_other(
    tmp_path: Path, own: registry.Registry
) -> None:
    own.register(READER, "broken", Broken)
    path = written(tmp_path, "votes.csv", VOTES)
    assert warned(lambda: plausibly.read_annotations(path)).startswith(
        "warning reader-failed: reader broken cannot tell whether it reads votes.csv"
    )


@pytest.mark.parametrize(
    ("reader", "name", "where"),
    [
        (Nothing(), "table-unknown", "v.bar: reader Nothing"),
        (TwoAnswers(), "response-twice", ""),
    ],
)
def test_the_table_of_a_reader_is_validated(
    tmp_path: Path, reader: Reader, name: str, where: str
) -> None:
    error = refusal(lambda: plausibly.read_annotations(written(tmp_path, "v.bar", BARS), reader))
    assert (error.name, error.what[: len(where)]) == (name, where)


def test_declared_labels_come_from_names_files_and_tables(tmp_path: Path) -> None:
    path = written(tmp_path, "votes.csv", VOTES)
    labels = written(tmp_path, "labels.csv", "label,risk\nfox,0\ndog,2\ncat,1\n")
    table = plausibly.read_annotations(path, labels=labels)
    assert table["label"].values.tolist() == ["fox", "dog", "cat"]
    lam = plausibly.aggregate(table)
    assert lam["risk"].values.tolist() == table["risk"].values.tolist() == [0, 2, 1]
    assert lam.sel(example="t1").values.tolist() == [0.0, 0.5, 0.5]
    for source in (["fox", "dog", "cat"], plausibly.read_labels(labels), str(labels)):
        found = plausibly.read_annotations(path, labels=source)
        xr.testing.assert_equal(found.drop_vars("risk", errors="ignore"), table.drop_vars("risk"))


def test_options_find_the_reader_that_takes_them(tmp_path: Path) -> None:
    path = written(tmp_path, "crowd.csv", "item,who,answer\nt1,a,cat\nt2,a,dog\n")
    columns = {"example": "item", "annotator": "who", "label": "answer"}
    assert plausibly.read_annotations(path, columns=columns).attrs["reader"] == "long-table"


@pytest.mark.parametrize("reader", [None, "long-table", "counts", "selectors"])
def test_files_that_are_missing_empty_or_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "votes.csv", "")
    (tmp_path / "folder").mkdir()
    names = [
        refusal(lambda file=file: plausibly.read_annotations(file, reader, ["a", "b"])).name  # type: ignore[misc]  # bound now
        for file in ("votes.cvs", "votes.csv", "folder")
    ]
    assert names == ["file-missing", "file-empty", "file-is-folder"]


@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        ([["item", "rater", "answer"]], "example=item,annotator=rater,label=answer"),
        ([["id", "who", "dx"]], "example=id,annotator=who,label=dx"),
        (
            [["INPUT:image", "OUTPUT:result", "ASSIGNMENT:worker_id"]],
            "example=INPUT:image,annotator=ASSIGNMENT:worker_id,label=OUTPUT:result",
        ),
        (
            [["a", "b", "c"]],
            "example=EXAMPLE_COLUMN,annotator=ANNOTATOR_COLUMN,label=LABEL_COLUMN",
        ),
        ([["item", "rater", "confidence"]], "example=item,annotator=rater,label=confidence"),
        ([["Image name", "user", "vote"]], '"example=Image name,annotator=user,label=vote"'),
        (
            [["w1", "t1", "cat"], ["w1", "t2", "dog"]],
            "example=1,annotator=2,label=3, with the positions of this file",
        ),
    ],
)
def test_the_hint_guesses_columns(rows: list[list[str]], hint: str) -> None:
    assert as_options(columns_hint(rows), {"--reader", "--columns"}) == f"--columns {hint}"


def test_only_missing_columns_are_guessed() -> None:
    assert columns_hint([["task", "worker", "dx"]], ["label"]) == 'columns={"label": "dx"}'
    assert guessed(["worker", "task"], ["label"]) == {}
    assert not has_header([])
