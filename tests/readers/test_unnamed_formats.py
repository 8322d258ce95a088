"""Files whose reader is not named: what is read, what is refused, and what then can be typed."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from io_files import refusal, warned, written
from plausibly.errors import InputError
from plausibly.io.text import write_columns

VOTES = "task,worker,label\nt1,ann,cat\nt1,bob,dog\nt2,ann,dog\n"
GRADES = "item,r1,r2,r3\nx1,1,2,1\nx2,0,2,1\n"


def read(path: Path, reader: object = None, **options: object) -> xr.Dataset:
    return plausibly.read_annotations(path, reader, **options)  # type: ignore[arg-type]  # by name


def typed(do: str, reader: str) -> str:
    """Return what a hint gives after --reader for a reader."""
    found: list[str] = re.findall(r"--reader '(\{.*?\})'", do)
    return next(part for part in found if f'"{reader}"' in part)


# ---- whole numbers


@pytest.mark.parametrize(
    ("text", "readers"),
    [
        (GRADES, ["counts", "wide-table"]),
        ("item,r1,r2\n1,2,2\n2,1,2\n", ["counts", "wide-table"]),
        ("example,cat,dog\nx1,3,1\nx2,0,4\n", ["counts", "wide-table"]),
        ("id,age,score\na,30,1\nb,40,2\n", ["counts", "wide-table"]),
        ("item,rater,grade\nx1,1,0\nx1,2,1\n", ["crowd-table", "counts"]),
        ("subject,rater,grade\ns1,1,0\ns2,1,1\n", ["crowd-table", "counts"]),
        ("item,a,b\nx1,-1,3\nx2,-1,2\n", ["counts", "wide-table"]),
    ],
)
def test_whole_numbers_are_never_guessed_to_be_counts(
    tmp_path: Path, text: str, readers: list[str]
) -> None:
    error = refusal(lambda: read(written(tmp_path, "v.csv", text)))
    assert (error.name, error.details["readers"]) == ("format-ambiguous", readers)
    assert all(f"--reader {r}" in error.do or f'"{r}"' in error.do for r in readers)


def test_whole_numbers_in_other_files(tmp_path: Path) -> None:
    header, *rows = [line.split(",") for line in GRADES.splitlines()]
    records = [dict(zip(header, [row[0], *map(int, row[1:])], strict=True)) for row in rows]
    names, *columns = [list(column) for column in zip(*(r.values() for r in records), strict=True)]
    values = np.array(columns).T
    write_columns(tmp_path / "v.parquet", header, [names, *values.T.copy()])
    written(tmp_path, "v.json", json.dumps(records))
    written(tmp_path, "v.jsonl", "".join(f"{json.dumps(record)}\n" for record in records))
    np.save(tmp_path / "v.npy", values)
    np.savez(tmp_path / "v.npz", grades=values)
    expected = read(written(tmp_path, "v.csv", GRADES), "wide-table", example="item")
    for path in sorted(tmp_path.glob("v.*")):
        error = refusal(lambda path=path: read(path))  # type: ignore[misc]  # a default binds it
        assert (error.name, error.details["readers"][0]) == ("format-ambiguous", "counts")  # type: ignore[index]  # a list
        if path.suffix not in (".npy", ".npz"):
            xr.testing.assert_equal(read(path, "wide-table", example="item"), expected)


def test_what_is_shown_reads_the_file_as_it_says(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", "item,r1,r2\n1,2,2\n2,1,2\n")
    error = refusal(lambda: read(path))
    assert typed(error.do, "counts") == '{name = "counts", example = "item"}'
    assert typed(error.do, "wide-table") == '{name = "wide-table", example = "item"}'
    counts, wide = (read(path, name, example="item") for name in ("counts", "wide-table"))
    assert (counts.sizes["annotator"], wide.sizes["annotator"]) == (0, 2)
    assert set(wide["example"].values) == {"1", "2"}


def test_labels_that_are_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", "example,1,2,3\nn1,0,1,2\nn2,3,0,1\n")
    error = refusal(lambda: read(path))
    assert error.name == "format-ambiguous"
    assert typed(error.do, "counts") == '{name = "counts", example = "example"}'
    assert list(read(path, "counts", example="example")["label"].values) == ["1", "2", "3"]


def test_a_column_of_sums_is_told(tmp_path: Path) -> None:
    total = written(tmp_path, "t.csv", "example,cat,dog,total\nx1,3,1,4\nx2,0,4,4\n")
    assert warned(lambda: read(total, "counts")).startswith(
        'warning column-of-sums: t.csv: column "to'
    )
    line = '{"uid": "x%d", "label_counter": {"cat": %d, "dog": 1, "total": %d}}\n'
    records = written(tmp_path, "t.jsonl", line % (1, 3, 4) + line % (2, 2, 3))
    assert "ignore" not in warned(lambda: read(records, "counts"))  # no option reads around it
    plain = written(tmp_path, "p.csv", "example,cat,dog\nx1,3,3\nx2,4,4\n")
    assert read(plain, "counts").sizes["label"] == 2


@pytest.mark.parametrize(
    ("cells", "lines"),
    [(["-1", "-1"], [2, 3]), (["0.5", "0.25"], [2, 3]), (['"0,5"', '"0,25"'], [2, 3])],
)
def test_a_fault_in_every_cell_is_no_column_to_ignore(
    tmp_path: Path, cells: list[str], lines: list[int]
) -> None:
    for name in ("example", "item"):
        text = f"{name},a,b\nx1,{cells[0]},3\nx2,{cells[1]},2\n"
        error = refusal(lambda text=text: read(written(tmp_path, "v.csv", text), "counts"))  # type: ignore[misc]  # a default binds it
        assert (error.name, error.details["lines"]) == ("count-unreadable", lines)
        assert "ignore" not in error.do


@pytest.mark.parametrize("cell", ["0,75", "75%", "75 %"])
def test_predictions_with_a_fault_in_every_cell(tmp_path: Path, cell: str) -> None:
    path = written(tmp_path, "p.csv", f"example;a;b\nx1;{cell};{cell}\n")
    error = refusal(lambda: plausibly.read_predictions(path))
    assert (error.name, error.details["lines"]) == ("number-unreadable", [2])


# ---- advice


@pytest.mark.parametrize(
    "text",
    ["item,a,b\nx1,0.7,0.3\nx2,0.5,0.5\n", "foo,bar,baz\nq,w,e\n", "low,high\n0.1,0.9\n0.2,0.8\n"],
)
def test_columns_are_not_advised_by_their_places(tmp_path: Path, text: str) -> None:
    error = refusal(lambda: read(written(tmp_path, "v.csv", text)))
    assert error.name == "format-unknown"
    assert "--columns" not in error.do


def test_a_column_of_numbers_is_not_advised_as_names(tmp_path: Path) -> None:
    for text, hint in (("low,high\n0.1,0.9\n0.2,0.8\n", False), ("it,low\nx1,0.1\n", True)):
        path = written(tmp_path, "p.csv", text)
        error = refusal(lambda path=path: plausibly.read_predictions(path))  # type: ignore[misc]  # a default binds it
        assert (error.name, "--example" in error.do) == ("columns-missing", hint)


def test_headers_are_trimmed_unless_quoted(tmp_path: Path) -> None:
    path = written(
        tmp_path, "v.csv", VOTES.replace("task,worker,label", "task, worker,\u00a0label ")
    )
    assert read(path).attrs["reader"] == "crowd-table"
    quoted = written(tmp_path, "p.csv", 'example, low," high"\nx,0.5,0.5\n')
    assert plausibly.read_predictions(quoted)["label"].values.tolist() == ["low", " high"]


# ---- what cannot be read


def zipped(**files: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/"), content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "message", "part"),
    [
        ("v.csv", "item,ann\nx1,caf\u00e9\n".encode("latin-1"), "text-encoding", "0xE9"),
        ("v.csv", VOTES.encode("utf-16"), "text-binary", "UTF-16"),
        ("v.csv", b"task,worker,label\nx,\0,cat\n", "text-binary", "line 2"),
        ("v.csv", b'task,worker,label\nx,"ann,cat\n', "quote-broken", "line 2"),
        ("v.csv", b"item,ann,bob\nx,a,b\ny,a,b\nz,a\n", "row-width", "line 4"),
        ("v.zip", zipped(**{"votes.csv": VOTES}), "text-binary", "votes.csv"),
        ("v.csv.gz", gzip.compress(VOTES.encode() * 9, mtime=0)[:-9], "file-truncated", "gzip"),
        ("v.xml", b"<a>\n<b", "xml-broken", "line 2"),
        ("v.json", b'[{"a": 1},\n{"b', "json-broken", "line 2"),
        (
            "v.xlsx",
            zipped(xl__workbook="", **{"xl/workbook.xml": '<sheets><sheet id="1" name="Votes"/>'}),
            "text-binary",
            "Votes",
        ),
    ],
)
def test_the_reason_is_said_not_the_first_bytes(
    tmp_path: Path, name: str, content: bytes, message: str, part: str
) -> None:
    error = refusal(lambda: read(written(tmp_path, name, content)))
    assert error.name == message
    assert part in f"{error.what} {error.got} {error.expected}"


# ---- what is read


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("v.tsv", VOTES),
        ("v.csv", "sep=;\r\n" + VOTES.replace(",", ";")),
        ("v.csv", VOTES.replace(",", "|")),
        ("v.csv.gz", VOTES),
        ("v.tsv.gz", VOTES.replace(",", "\t")),
    ],
)
def test_delimiters_and_packing(tmp_path: Path, name: str, text: str) -> None:
    data = text.encode()
    path = written(tmp_path, name, gzip.compress(data) if name.endswith("gz") else data)
    xr.testing.assert_equal(read(path), read(written(tmp_path, "plain.csv", VOTES)))


def test_lines_count_after_a_declared_delimiter(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", "sep=;\ntask;worker;label\nt1;ann;cat\nt1;ann\n")
    assert refusal(lambda: read(path)).details["lines"] == [4]


@pytest.mark.parametrize("name", ["v.jsonl", "v.json", "v.jsonl.gz"])
def test_json_records_are_a_table(tmp_path: Path, name: str) -> None:
    header, *rows = [line.split(",") for line in VOTES.splitlines()]
    records = [dict(zip(header, row, strict=True)) | {"more": [1]} for row in rows]
    lines = "".join(f"{json.dumps(record)}\n" for record in records)
    text = json.dumps(records) if name == "v.json" else lines
    data = text.encode()
    path = written(tmp_path, name, gzip.compress(data) if name.endswith("gz") else data)
    xr.testing.assert_equal(read(path), read(written(tmp_path, "plain.csv", VOTES)))
    assert refusal(lambda: read(path, columns={"label": "more"})).name == "column-nested"


def test_json_records_keep_what_is_written(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "v.jsonl",
        '{"task":"1","worker":2,"label":1.0}\n\n{"task":"2","worker":2,"label":true}\n'
        '{"task":"3","worker":null,"label":null}\n{"task":"3"}\n',
    )
    with pytest.warns(match="annotators-unnamed"):
        table = read(path)
    assert table["label"].values.tolist() == ["1.0", "true"]
    assert sorted(table["example"].values) == ["1", "2", "3"]
    written(tmp_path, "v.jsonl", '{"task":"1","worker":2,"label":1}\n7\n')
    with pytest.raises(InputError, match="line-unlike"):
        read(path, "crowd-table")


def test_counts_and_weights_in_flat_records(tmp_path: Path) -> None:
    counts = written(tmp_path, "c.jsonl", '{"example":"x","cat":3,"dog":1}\n')
    table = written(tmp_path, "c.csv", "example,cat,dog\nx,3,1\n")
    for reader in ("counts", "soft-labels"):
        xr.testing.assert_equal(read(counts, reader), read(table, reader))
    nested = written(tmp_path, "d.jsonl", '{"a":{"b":3}}\n')
    assert refusal(lambda: read(nested, "counts")).name == "key-missing"
