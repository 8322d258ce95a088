"""Which reader reads a file, and what is said where none or several do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import attrs
import numpy as np
import pytest
import xarray as xr

import plausibly
from io_files import refusal, said, warned, written
from plausibly import registry
from plausibly.config.hints import as_options
from plausibly.data.annotations import AnnotationTable
from plausibly.errors import listed
from plausibly.io.hints import columns_hint, guessed, has_header
from plausibly.plugin import READER, InputError, Reader, Record, build_table, table_from_records

VOTES = "task,worker,label\nt1,a,cat\nt1,b,dog\nt2,a,dog\n"


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> registry.Registry:
    """Our readers, and those that a test registers."""
    fresh = registry.Registry(others=tuple)
    monkeypatch.setattr(registry, "default", lambda: fresh)
    return fresh


@attrs.frozen(kw_only=True)
class Lines(Reader):
    """Read one vote a line: example, who, what, parted by a bar."""

    ending: str = ".bar"

    def recognises(self, path: Path, head: bytes) -> bool:
        return path.suffix == self.ending

    def read(self, path: Path, labels: Sequence[str] | None) -> xr.Dataset:
        records: list[Record] = []
        for line in path.read_text().splitlines():
            about, who, said = line.split("|")
            records.append((about, who, said))
        table = table_from_records(
            "single-label",
            records,
            labels,
            lambda said: ((str(said), 1, 1.0),),
        )
        return xr.Dataset(table.variables, attrs=table.attrs)


@attrs.frozen(kw_only=True)
class Broken(Lines):
    """Cannot even tell whether it reads a file."""

    def recognises(self, path: Path, head: bytes) -> bool:
        raise ZeroDivisionError("of course")


def test_the_only_reader_that_recognises_a_file_reads_it(tmp_path: Path) -> None:
    table = plausibly.read_annotations(written(tmp_path, "votes.csv", VOTES))
    assert isinstance(table, AnnotationTable)
    assert table.attrs["reader"] == "long-table"
    assert table.attrs["source"] == "votes.csv"
    wide = written(tmp_path, "wide.csv", "example,ann1,ann2\nt1,1,1\n")
    assert plausibly.read_annotations(str(wide)).attrs["reader"] == "wide-table"
    rankings = written(tmp_path, "r.json", "[[[[0],[1]]]]")
    read = plausibly.read_annotations(rankings, labels=["cat", "dog"])
    assert (read.attrs["reader"], read.attrs["kind"]) == ("selectors", "partial-ranking")


@pytest.mark.parametrize("name", ["votes.json", "votes.xml", "votes.soc", "votes", "votes.CSV"])
def test_a_name_that_misleads_changes_no_result(tmp_path: Path, name: str) -> None:
    table = plausibly.read_annotations(written(tmp_path, name, VOTES))
    assert table.attrs["reader"] == "long-table"


def test_of_a_file_without_a_known_ending_every_reader_is_asked(
    tmp_path: Path, own: registry.Registry
) -> None:
    own.register(READER, "lines", Lines)
    path = written(tmp_path, "votes.bar", VOTES)
    error = refusal(lambda: plausibly.read_annotations(path))
    assert (error.name, error.details["readers"]) == ("format-ambiguous", ["long-table", "lines"])


def test_a_reader_is_a_name_a_table_or_an_object(tmp_path: Path, own: registry.Registry) -> None:
    own.register(READER, "lines", Lines)
    path = written(tmp_path, "votes.bar", "t1|a|cat\nt1|b|dog\n")
    for reader in ("lines", {"name": "lines", "ending": ".x"}, Lines()):
        table = plausibly.read_annotations(path, reader)
        assert isinstance(table, AnnotationTable)
        assert table.attrs["reader"] == "lines"
        assert table["label"].values.tolist() == ["cat", "dog"]
    assert plausibly.read_annotations(path).attrs["reader"] == "lines"


def test_an_object_of_a_class_without_a_name(tmp_path: Path) -> None:
    path = written(tmp_path, "votes.bar", "t1|a|cat\nt1|b|dog\n")
    assert plausibly.read_annotations(path, Lines()).attrs["reader"] == "Lines"


def test_declared_labels_come_from_names_files_and_tables(tmp_path: Path) -> None:
    path = written(tmp_path, "votes.csv", VOTES)
    labels = written(tmp_path, "labels.csv", "label,risk\nfox,0\ndog,2\ncat,1\n")
    table = plausibly.read_annotations(path, labels=labels)
    assert table["label"].values.tolist() == ["fox", "dog", "cat"]
    assert table["risk"].values.tolist() == [0, 2, 1]
    lam = plausibly.aggregate(table)
    assert lam["risk"].values.tolist() == [0, 2, 1]
    assert lam.sel(example="t1").values.tolist() == [0.0, 0.5, 0.5]
    for source in (["fox", "dog", "cat"], plausibly.read_labels(labels), str(labels)):
        xr.testing.assert_equal(
            plausibly.read_annotations(path, labels=source).drop_vars("risk", errors="ignore"),
            table.drop_vars("risk"),
        )


def test_options_find_the_reader_that_takes_them(tmp_path: Path) -> None:
    path = written(tmp_path, "crowd.csv", "item,who,answer\nt1,a,cat\nt2,a,dog\n")
    columns = {"example": "item", "annotator": "who", "label": "answer"}
    assert plausibly.read_annotations(path, columns=columns).attrs["reader"] == "long-table"
    with pytest.raises(InputError, match="component-parameter"):
        plausibly.read_annotations(path, "counts", columns=columns)


# ---- what is said


def in_flags(hint: str) -> str:
    return as_options(hint, {"--reader", "--columns"})


def test_no_reader_recognises_a_table(tmp_path: Path, own: registry.Registry) -> None:
    path = written(tmp_path, "export.txt", "id;who;dx\nt1;a;cat\n")
    readers = [entry.name for entry in own.entries(READER)]
    assert said(lambda: plausibly.read_annotations(path)) == (
        "error format-unknown: no reader recognises export.txt "
        f"expected one of {len(readers)} formats ({listed(readers)}) "
        'found text, first line "id;who;dx" '
        'hint reader="long-table", columns={"example": "id", "annotator": "who", "label": "dx"}'
    )


def test_no_reader_recognises_other_files(tmp_path: Path, own: registry.Registry) -> None:
    path = written(tmp_path, "export.bin", b"\x00\x01\x02")
    assert refusal(lambda: plausibly.read_annotations(path)).name == "text-binary"
    path = written(tmp_path, "export.nc", b"CDF\x01\x02")
    error = refusal(lambda: plausibly.read_annotations(path))
    assert error.found == r"first bytes b'CDF\x01\x02'"
    assert error.hint == 'plausibly plugins list --kind reader; name one: reader="NAME"'
    path = written(tmp_path, "wide.csv", f"a,b,c,d,{'e' * 50}\nv,w,x,y,z\n")
    error = refusal(lambda: plausibly.read_annotations(path))
    assert error.found == f'text, first line "a,b,c,d,{"e" * 31}…"'
    assert error.hint == (
        'plausibly plugins list --kind reader; name one: reader="NAME" '
        "(wide-table, if each column is of an annotator)"
    )
    path = written(tmp_path, "n.csv", "id,user_name,dx,time\nt1,a,cat,1\n")
    assert in_flags(refusal(lambda: plausibly.read_annotations(path)).hint) == (
        "--reader long-table --columns example=id,annotator=user_name,label=dx"
    )


def test_parquet_that_no_reader_recognises(tmp_path: Path) -> None:
    from plausibly.io.datasets import write_rows

    write_rows(tmp_path / "v.parquet", ["item", "user", "answer"], [["a"], ["b"], ["c"]])
    error = refusal(lambda: plausibly.read_annotations(tmp_path / "v.parquet"))
    assert error.found == "Parquet with item, user, answer"
    assert (
        in_flags(error.hint)
        == "--reader long-table --columns example=item,annotator=user,label=answer"
    )


def test_several_readers_recognise_a_file(tmp_path: Path, own: registry.Registry) -> None:
    own.register(READER, "lines", Lines)
    own.register(READER, "bars", type("Bars", (Lines,), {}))
    path = written(tmp_path, "votes.bar", "t1|a|cat\n")
    error = refusal(lambda: plausibly.read_annotations(path))
    assert (error.name, error.found) == ("format-ambiguous", "2")


def test_a_reader_that_fails_stops_nobody(tmp_path: Path, own: registry.Registry) -> None:
    own.register(READER, "broken", Broken)
    path = written(tmp_path, "votes.csv", VOTES)
    assert warned(lambda: plausibly.read_annotations(path)) == (
        "warning reader-failed: reader broken cannot tell whether it reads votes.csv "
        "expected yes or no found ZeroDivisionError: of course "
        "hint fix its recognises; the other readers were asked"
    )


def test_options_that_no_reader_takes(tmp_path: Path, own: registry.Registry) -> None:
    path = written(tmp_path, "votes.csv", VOTES)
    error = refusal(lambda: plausibly.read_annotations(path, colunms={"task": "item"}))
    assert error.name == "options-unfit"
    assert error.what == 'votes.csv: no reader takes "colunms" as given'
    assert error.found.startswith("long-table: ")
    assert "columns" in error.found
    assert error.hint == "name the reader, reader=..., to see what it takes"


@pytest.mark.parametrize("reader", [None, "long-table", "counts", "selectors"])
def test_files_that_are_missing_empty_or_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "votes.csv", "")
    (tmp_path / "folder").mkdir()
    labels = ["a", "b"]
    error = refusal(lambda: plausibly.read_annotations("votes.cvs", reader, labels))
    assert (error.name, error.hint) == ("file-missing", "did you mean votes.csv?")
    error = refusal(lambda: plausibly.read_annotations("votes.csv", reader, labels))
    assert error.name == "file-empty"
    error = refusal(lambda: plausibly.read_annotations("folder", reader, labels))
    assert error.name == "file-is-folder"


def test_a_table_that_is_none_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "votes.bar", "t1|a|cat\n")

    class Nothing(Lines):
        def read(self, path: Path, labels: Sequence[str] | None) -> xr.Dataset:
            return xr.Dataset({"x": ("y", np.zeros(2))})

    error = refusal(lambda: plausibly.read_annotations(path, Nothing()))
    assert error.name == "table-unknown"
    assert error.what == "votes.bar: reader Nothing: this is no annotation table"


# ---- hints


@pytest.mark.parametrize(
    ("header", "hint"),
    [
        (["item", "rater", "answer"], "--columns example=item,annotator=rater,label=answer"),
        (["id", "who", "dx"], "--columns example=id,annotator=who,label=dx"),
        (["INPUT:image", "OUTPUT:result", "ASSIGNMENT:worker_id"],
         "--columns example=INPUT:image,annotator=ASSIGNMENT:worker_id,label=OUTPUT:result"),
        (["a", "b", "c"], "--columns "
        "example=EXAMPLE_COLUMN,annotator=ANNOTATOR_COLUMN,label=LABEL_COLUMN"),
        (["item", "rater", "confidence"], "--columns "
        "example=item,annotator=rater,label=confidence"),
        (["Image name", "user", "vote"], '--columns "example=Image '
        'name,annotator=user,label=vote"'),
    ],
)  # fmt: skip
def test_which_column_could_be_which(header: list[str], hint: str) -> None:
    assert in_flags(columns_hint([header])) == hint


def test_only_what_is_missing_is_guessed() -> None:
    assert columns_hint([["task", "worker", "dx"]], ["label"]) == 'columns={"label": "dx"}'
    assert guessed(["worker", "task"], ["label"]) == {}


def test_a_first_row_that_is_repeated_is_no_header() -> None:
    rows = [["w1", "t1", "cat"], ["w1", "t2", "dog"]]
    assert not has_header(rows)
    assert not has_header([])
    assert in_flags(columns_hint(rows)) == (
        "--columns example=1,annotator=2,label=3, with the positions of this file"
    )


@attrs.frozen(kw_only=True)
class TwoAnswers(Reader):
    """A reader that builds a table from codes, in which one annotator answers twice."""

    def recognises(self, path: Path, head: bytes) -> bool:
        return False

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


def test_what_a_reader_built_past_its_kind_is_validated(tmp_path: Path) -> None:
    (tmp_path / "votes.txt").write_text("any")
    with pytest.raises(InputError) as refused:
        plausibly.read_annotations(tmp_path / "votes.txt", TwoAnswers())
    assert refused.value.name == "response-twice"
