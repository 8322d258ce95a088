"""Text tables: what is read, and what is said of those that cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from io_files import csv_text, refusal, written
from plausibly.data.text_table import TextTable
from plausibly.io.text import first_row, first_rows, read_table, sniff

HEADER = "task,worker,label\n"


def read(path: Path, **options: object) -> TextTable:
    return read_table(path, role="annotations", **options)  # type: ignore[arg-type]  # by name


def test_values_are_text_exactly_as_written(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", HEADER + "007,None,NA\n1.0, x ,nan\n,,0\n")
    table = read(path)
    assert table.header == ("task", "worker", "label")
    assert table.columns == (["007", "1.0", ""], ["None", " x ", ""], ["NA", "nan", "0"])
    assert list(table.lines) == [2, 3, 4]
    assert len(read(written(tmp_path, "v.csv", HEADER))) == 0
    path = written(tmp_path, "v.csv", "a,b;c,b;c\n1,2;3,4;5\n")
    assert read(path, delimiter=";").header == ("a,b", "c,b", "c")
    assert read(path, delimiter=",", unique=False).header == ("a", "b;c", "b;c")


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_marks_line_ends_and_delimiters_change_nothing(
    tmp_path: Path, mark: bytes, end: str, delimiter: str
) -> None:
    rows = [["task", "worker", "label"], ["t1", "é", 'say "yes"'], ["t2", "w", "a, b; c\td\ne"]]
    path = written(tmp_path, "v.csv", mark + csv_text(rows, delimiter, end).encode())
    table = read(path)
    assert [list(row) for row in zip(*table.columns, strict=True)] == rows[1:]


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    text = HEADER + '\nt1,w,"two\nlines"\n\n\nt2,w,b\n,,\n"t3",w,c'
    table = read(written(tmp_path, "v.csv", text))
    assert list(table.lines) == [3, 7, 9]
    assert table.place(1) == "v.csv line 7"
    assert table.places([0, 1, 2]) == "lines 3, 7, 9"
    assert table.places([1]) == "line 7"


def test_files_without_header_have_positions_for_names(tmp_path: Path) -> None:
    path = written(tmp_path, "v.tsv", "w1\tt1\ta\nw1\tt2\tb\n")
    table = read(path, header=False)
    assert (table.header, table.named) == (("1", "2", "3"), False)
    assert table.column("2") == ["t1", "t2"]
    assert list(table.lines) == [1, 2]
    assert read(path, header=lambda first: "t1" not in first).header == ("1", "2", "3")


fields = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@given(
    rows=st.lists(st.lists(fields, min_size=3, max_size=3), min_size=1, max_size=8),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_any_text_round_trips(folder: Path, rows: list[list[str]], end: str) -> None:
    path = written(folder, "v.csv", csv_text([["task", "worker", "label"], *rows], end=end))
    table = read(path, delimiter=",")
    # A row without any text is what spreadsheets leave below a table.
    assert [list(row) for row in zip(*table.columns, strict=True)] == [r for r in rows if any(r)]


@pytest.mark.parametrize(
    ("text", "suffix", "delimiter"),
    [
        ("a,b\n1,2\n", ".csv", ","),
        ("a;b\n1,5;2\n", ".csv", ";"),
        ("example;a;b\nx;0,5;0,5\ny;0,25;0,75\n", ".csv", ";"),
        ("a\tb\n1,2\t3\n", ".csv", "\t"),
        ("a,b\n", ".tsv", ","),
        ("a\tb,c\nd,e\n", ".TAB", "\t"),
        ("a\n", ".tsv", "\t"),
        ("sep=;\na,b;c\n", ".csv", ";"),
        ("a|b\nc|d\n", ".csv", "|"),
        ("example,a;b,c;d\nx,1,2\n", ".csv", ","),
        ("a;b;c\n1;2\n", ".csv", ";"),
        ("\n\na;b\n", ".csv", ";"),
        ("label\nx\n", ".csv", ","),
        ("", ".csv", ","),
        ("a,b\n" + "1,2\n" * 30_000 + "1", ".csv", ","),
    ],
)
def test_delimiters_are_found(text: str, suffix: str, delimiter: str) -> None:
    assert sniff(text, suffix) == delimiter


def test_the_first_rows_are_read_from_the_head_alone(tmp_path: Path) -> None:
    head = ("a,b\n" + "1,2\n" * 20_000).encode()[:65_536]
    assert first_row(tmp_path / "v.csv", head) == ("a", "b")
    assert len(first_rows(tmp_path / "v.csv", head, most=5)) == 5
    assert first_rows(tmp_path / "v.csv", b"\xff\xfe") == []
    assert first_row(tmp_path / "v.csv", b"") == ()


def test_places_in_a_long_file(tmp_path: Path) -> None:
    text = HEADER + "".join(f"t{row},w,a\n" for row in range(2_308)) + "t9,w3,a,b\n"
    error = refusal(lambda: read(written(tmp_path, "votes.csv", text)))
    assert (error.name, error.details["lines"]) == ("row-width", [2_310])


def test_missing_columns(tmp_path: Path) -> None:
    bare = read(written(tmp_path, "votes.csv", "item,rater,answer\n"), header=False)
    assert refusal(lambda: bare.need(["4"], hint="")).found == "3 columns without names"
