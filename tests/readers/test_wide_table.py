"""Wide tables: one row an example, one column an annotator."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from io_files import csv_text, refusal, result_or_refusal, said, warned, written
from plausibly.errors import PlausiblyWarning
from plausibly.io.text import write_columns
from plausibly.testing import check_reader
from plausibly_builtins.readers.wide_table import WideTable
from readers_votes import once, votes

TABLE = "item,ann1,ann2,ann3\nx1,cat,,dog\nx2,dog,dog,\n"


def read(path: Path, labels: list[str] | None = None, **options: object) -> xr.Dataset:
    return plausibly.read_annotations(path, "wide-table", labels, **options)


# ---- what is read


def test_votes_are_read(tmp_path: Path) -> None:
    table = read(written(tmp_path, "w.csv", TABLE), example="item")
    assert table.attrs["kind"] == "single-label"
    assert votes(table) == once(
        ("x1", "ann1", ("cat",)),
        ("x1", "ann3", ("dog",)),
        ("x2", "ann1", ("dog",)),
        ("x2", "ann2", ("dog",)),
    )
    assert table["label"].values.tolist() == ["cat", "dog"]


@pytest.mark.parametrize("name", ["example", "task", ""])
def test_the_column_of_names_is_found_by_its_name(tmp_path: Path, name: str) -> None:
    found = read(written(tmp_path, "w.csv", TABLE.replace("item", name)))
    assert found["example"].values.tolist() == ["x1", "x2"]
    assert found["annotator"].values.tolist() == ["ann1", "ann2", "ann3"]


def test_annotators_or_what_to_ignore(tmp_path: Path) -> None:
    path = written(tmp_path, "w.csv", "task,note,a,b\n1,long,cat,dog\n2,text,,dog\n")
    assert read(path, annotators=["a"])["annotator"].values.tolist() == ["a"]
    assert read(path, annotators=["a"])["example"].values.tolist() == ["1", "2"]
    assert votes(read(path, ignore=["note"])) == votes(read(path, annotators=["a", "b"]))
    assert votes(read(path, annotators=["b"], example="note")) == once(
        ("long", "b", ("dog",)), ("text", "b", ("dog",))
    )


def test_without_header_and_names_rows_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "w.csv", "cat,,dog\n,,\n,dog,\n")
    table = read(path, header=False)
    assert table["example"].values.tolist() == ["0", "1", "2"]  # row 1 has no response, and stays
    assert votes(table) == once(("0", "1", ("cat",)), ("0", "3", ("dog",)), ("2", "2", ("dog",)))
    path = written(tmp_path, "n.csv", "x1,cat,dog\nx2,dog,\n")
    assert votes(read(path, header=False, example="1")) == once(
        ("x1", "2", ("cat",)), ("x1", "3", ("dog",)), ("x2", "2", ("dog",))
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_inside_cells_do_not_move_the_names(tmp_path: Path, end: str) -> None:
    rows = [["a", "b"], ["cat", f"d{end}og"], ["cat", ""], ["", "cat"]]
    table = read(written(tmp_path, "w.csv", csv_text(rows, end=end)))
    assert table["example"].values.tolist() == ["0", "1", "2"]
    assert f"d{end}og" in table["label"].values.tolist()


def test_label_sets_by_a_separator(tmp_path: Path) -> None:
    path = written(tmp_path, "w.csv", "task,a,b\n1,cat;dog,dog\n2,,cat;cat\n")
    table = read(path, separator=";", delimiter=",")
    assert table.attrs["kind"] == "label-set"
    assert votes(table) == once(
        ("1", "a", ("cat", "dog")), ("1", "b", ("dog",)), ("2", "b", ("cat",))
    )
    error = refusal(lambda: read(written(tmp_path, "e.csv", "task,a\n1,cat;\n"), separator=";"))
    assert error.name == "answer-invalid"
    assert error.what.startswith("e.csv line 2, column a: ")


def test_parquet_and_tabs_give_the_same(tmp_path: Path) -> None:
    path = written(tmp_path, "w.tsv", TABLE.replace(",", "\t"))
    columns = [["x1", "x2"], ["cat", "dog"], ["", "dog"], ["dog", ""]]
    write_columns(tmp_path / "w.parquet", ["item", "ann1", "ann2", "ann3"], columns)
    one, other = read(path, example="item"), read(tmp_path / "w.parquet", example="item")
    xr.testing.assert_equal(one, other)


def test_report_8_an_annotator_without_a_vote_stays(tmp_path: Path) -> None:
    path = written(tmp_path, "w.csv", "task,a,b,nobody\n1,cat,dog,\n2,cat,cat,\n")
    table = read(path)
    assert table["annotator"].values.tolist() == ["a", "b", "nobody"]
    assert np.bincount(table["response_annotator"].values, minlength=3).tolist() == [2, 2, 0]
    found = plausibly.reliability(table, "worker-agreement")
    assert found["responses"].values.tolist() == [2, 2, 0]
    assert np.isnan(found["weight"].sel(annotator="nobody"))


def test_report_9_a_declared_label_that_nobody_voted_for(tmp_path: Path) -> None:
    path = written(tmp_path, "w.csv", "task,a,b\n1,0,2\n2,2,\n")
    lam = plausibly.aggregate(read(path, ["0", "1", "2"]))
    assert lam["label"].values.tolist() == ["0", "1", "2"]
    assert lam.sel(label="1").values.tolist() == [0.0, 0.0]


def test_report_10_only_blank_is_missing(tmp_path: Path) -> None:
    path = written(tmp_path, "w.csv", "task,a,b\n1,nan,cat\n2,,nan\n")
    assert votes(read(path, ["nan", "cat"])) == once(
        ("1", "a", ("nan",)), ("1", "b", ("cat",)), ("2", "b", ("nan",))
    )
    assert votes(read(path, missing=["nan"])) == once(("1", "b", ("cat",)))


@pytest.mark.parametrize("rows", [("2,1,,0", "1,0,2,"), ("1,0,2,", "2,1,,0")])
def test_report_11_no_agreement_whatever_the_order(tmp_path: Path, rows: tuple[str, str]) -> None:
    path = written(tmp_path, "w.csv", "\n".join(["a,b,c,d", *rows, ""]))
    found = plausibly.agreement(read(path), resamples=0)
    assert float(found["value"].sel(measure="percent")) == 0.0


def test_report_12_annotators_with_few_votes_or_one_label(tmp_path: Path) -> None:
    rows = [[str(i), "x", "" if i else "y", "x" if i % 2 else "y"] for i in range(10)]
    path = written(tmp_path, "w.csv", csv_text([["task", "one", "few", "all"], *rows]))
    table = read(path)
    for aggregator in ("worker-agreement", "dawid-skene"):
        found = plausibly.reliability(table, aggregator)
        assert dict(zip(found["annotator"].values, found["responses"].values, strict=True)) == {
            "all": 10,
            "few": 1,
            "one": 10,
        }
        assert np.isfinite(found["weight"].values).all()


@pytest.mark.realdata
def test_real_file(shared: Path) -> None:
    path = shared / "cases" / "annotations" / "wide" / "temp_wide_noheader.csv"
    table = read(path, header=False)
    assert table.sizes["example"] == 462
    assert table.sizes["annotator"] == 76
    assert table.sizes["response"] == table.sizes["mention"] == 4_620
    found = plausibly.agreement(table, resamples=0)
    assert float(found["value"].sel(measure="krippendorff-nominal")) == pytest.approx(
        0.223413, abs=5e-7
    )
    lam = plausibly.aggregate(table).values
    assert (lam[:, 0] == lam[:, 1]).sum() == 17
    assert (lam[:, 1] >= lam[:, 0]).sum() == 255  # before, with its ties
    assert refusal(lambda: plausibly.read_annotations(path)).name == "format-unknown"


# ---- what is said


def test_a_first_row_that_is_no_header(tmp_path: Path) -> None:
    path = written(tmp_path, "w.csv", "cat,cat,dog\ncat,dog,dog\n")
    assert said(lambda: read(path)) == (
        'error columns-repeat: w.csv names "cat" 2 times in its first row '
        "expected one column an annotator, each with a name of its own; got cat, cat, dog "
        "do --reader '{name = \"wide-table\", header = false}', if that row is no header"
    )
    path = written(tmp_path, "w.csv", "task,cat,\n1,cat,dog\n")
    assert said(lambda: read(path)) == (
        "error columns-unnamed: w.csv has 1 column without a name (3) "
        "expected the name of an annotator above each column; got an empty cell "
        "do name them in the first row, or "
        "--reader '{name = \"wide-table\", header = false}', if that row is no header"
    )
    path = written(tmp_path, "w.csv", "task,a,\n1,cat,\n")  # what spreadsheets leave
    assert read(path)["annotator"].values.tolist() == ["a"]


def test_annotators_who_are_called_as_labels(tmp_path: Path) -> None:
    path = written(tmp_path, "w.csv", "cat,dog\ncat,cat\n,dog\n")
    assert said(lambda: read(path)) == (
        "error header-unclear: w.csv: every column is called as a label that its rows name "
        'expected names of annotators in the first row; got "cat", "dog" '
        "do --reader '{name = \"wide-table\", header = false}', if that row is no header; "
        'annotators = ["cat", "dog"], if it is'
    )
    assert read(path, header=False).sizes["response"] == 5
    assert read(path, annotators=["cat", "dog"]).sizes["response"] == 3


def test_a_column_that_names_or_describes(tmp_path: Path) -> None:
    path = written(tmp_path, "w.csv", "item,ann1,ann2\nx1,cat,dog\nx1,cat,cat\n")
    assert said(lambda: read(path)) == (
        'error columns-unclear: w.csv: column "item" repeats itself, or what others say '
        'expected labels, one column an annotator; got "x1", "x1" '
        'do --reader \'{name = "wide-table", example = "item"}\', if it names the examples; '
        'ignore = ["item"], if it is of no annotator'
    )
    assert refusal(lambda: read(path, ["cat", "dog"])).name == "columns-unclear"
    rows = [f"x{at},text {at},cat,dog" for at in range(4)]
    path = written(tmp_path, "n.csv", "\n".join(["task,note,ann1,ann2", *rows, ""]))
    error = refusal(lambda: read(path))
    assert error.what.startswith('n.csv: column "note" says something else in every row')
    assert error.do == (
        '--reader \'{name = "wide-table", ignore = ["note"]}\', if it is of no annotator'
    )
    path = written(tmp_path, "w.csv", TABLE)
    assert len(votes(read(path, annotators=["ann1", "ann2"]))) == 3


def test_columns_that_are_not_there(tmp_path: Path) -> None:
    path = written(tmp_path, "w.csv", TABLE)
    assert said(lambda: read(path, example="id")) == (
        'error columns-missing: w.csv has no column "id" '
        "expected that column; got item, ann1, ann2, … (4 in all) "
        'do --reader \'{name = "wide-table", example = "COLUMN"}\', with names of columns that '
        "are there"
    )
    assert said(lambda: read(path, example="item", ignore=["ann1", "ann2", "ann3"])) == (
        "error columns-missing: w.csv has no column of an annotator "
        "expected one column an annotator, besides the names of the examples; "
        "got item, ann1, ann2, … (4 in all) "
        "do --reader wide-table on another file, or ignore fewer columns"
    )


def test_rows_without_a_name_or_before_the_first(tmp_path: Path) -> None:
    path = written(tmp_path, "w.csv", "task,a\n1,cat\n,dog\n")
    assert said(lambda: read(path)) == (
        "error example-unnamed: w.csv names no example in line 3 "
        "expected the name of an example; got an empty cell do name it, or remove the row"
    )
    path = written(tmp_path, "w.csv", "a,b\n,\ncat,cat\n")
    assert said(lambda: read(path)) == (
        "error rows-blank: w.csv has blank rows before line 3 "
        "expected examples from the first row on, since nothing names them; got 1 blank row "
        "do remove them, or name the examples in a column: "
        '--reader \'{name = "wide-table", example = "COLUMN"}\''
    )


def test_labels_that_may_be_none(tmp_path: Path) -> None:
    path = written(tmp_path, "w.csv", "task,a,b\n1,NA,cat\n2,?,NA\n")
    assert warned(lambda: read(path)) == (
        'warning labels-like-missing: w.csv: 3 labels "NA", "?" are kept as text '
        'expected a label name (text stays as written); is it "no answer"? '
        "do --missing NA,?, if it is"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert votes(read(path, missing=["NA", "?"])) == once(("1", "b", ("cat",)))
        read(path, ["NA", "cat", "?"])


def test_whole_numbers_that_became_decimals(tmp_path: Path) -> None:
    path = written(tmp_path, "w.csv", "task,a,b\n1,1.0,\n2,2.0,1.0\n")
    assert warned(lambda: read(path)) == (
        'warning labels-like-decimals: w.csv: 3 labels "1.0", "2.0" are kept as text '
        "expected label names (text stays as written); are they whole numbers, which empty cells "
        "turned into decimals? "
        "do --reader '{name = \"wide-table\", integers = true}', if they are"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(path, integers=True)["label"].values.tolist() == ["1", "2"]


def test_what_the_core_says(tmp_path: Path) -> None:
    path = written(tmp_path, "w.csv", "task,a,b\n1,cat,cat\n2,cat,dgo\n1,dog,\n")
    error = refusal(lambda: read(path))
    assert error.name == "response-twice"
    assert error.what == (
        "w.csv: a answered 1 example again (1), first in line 2, column a, line 4, column a"
    )
    assert votes(read(path, duplicates="all"))[("1", "a", ("dog",))] == 1
    error = refusal(lambda: read(path, ["cat", "dog"], duplicates="all"))
    assert error.what.startswith('w.csv line 3, column b: example 2, annotator b says "dgo"')


# ---- recognition


@pytest.mark.parametrize(
    ("text", "options", "recognised"),
    [
        ("task,ann1,ann2\n1,cat,dog\n", {}, True),
        ("case,reader a,reader b\n1,cat,dog\n", {}, True),
        ("rater_1,rater_2\ncat,dog\n", {}, True),
        ("task,worker,label\n1,a,cat\n", {}, False),
        ("task,user_id,user_name\n1,a,cat\n", {}, False),
        ("x,y,ann1,ann2\n1,2,cat,dog\n", {}, False),
        ("example,cat,dog\n1,0.5,0.5\n", {}, False),
        ("task,ann1,ann2\n1,cat\n", {}, False),
        ("x,y,z\n1,cat,dog\n", {"annotators": ("y", "z")}, True),
        ("x,y,z\n1,cat,dog\n", {"annotators": ("y", "q")}, False),
        ("1,cat,dog\n2,cat,dog\n", {"header": False, "annotators": ("2", "3")}, True),
        ("1,cat,dog\n2,cat,dog\n", {"header": False}, False),
    ],
)
def test_recognition(
    tmp_path: Path, text: str, options: dict[str, object], recognised: bool
) -> None:
    make: type[WideTable] = WideTable
    reader = make(**options)  # type: ignore[arg-type]  # options by name
    assert reader.recognises(tmp_path / "w.csv", text.encode()) is recognised


def test_whole_numbers_in_columns_of_annotators_are_answers(tmp_path: Path) -> None:
    path = written(tmp_path, "w.csv", "example,ann1,ann2\nx1,0,1\nx2,1,1\n")
    assert plausibly.read_annotations(path).attrs["reader"] == "wide-table"


@pytest.mark.parametrize("name", ["item", "image", "called"])
def test_a_first_column_of_names_is_taken_and_said(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, "w.csv", f"{name},ann,bob\nx1,cat,dog\nx2,cat,cat\n")
    with pytest.warns(PlausiblyWarning) as said:
        table = read(path)
    assert [(w.message.name, w.message.details) for w in said] == [  # type: ignore[union-attr]  # ours
        ("example-column", {"column": name})
    ]
    xr.testing.assert_equal(table, read(path, example=name))


@pytest.mark.parametrize(
    ("text", "annotators"),
    [
        ("ann,bob\ncat,cat\ndog,cat\n", 2),  # what bob says too is a label
        ("ann,bob\ncat,dog\ndog,cat\n", 2),
        ("item,ann,bob\n1,2,2\n2,1,2\n", None),  # ids that are grades as well
        ("cyd,ann,bob\nx,cat,dog\ny,owl,fox\n", None),  # each could name the examples
    ],
)
def test_a_first_column_is_not_guessed_to_be_names(
    tmp_path: Path, text: str, annotators: int | None
) -> None:
    path = written(tmp_path, "w.csv", text)
    if annotators is None:
        assert refusal(lambda: read(path)).name == "columns-unclear"
    else:
        assert read(path).sizes["annotator"] == annotators


# ---- anything


@st.composite
def tables(draw: st.DrawFn) -> list[list[str]]:
    width = draw(st.integers(2, 4))
    cell = st.sampled_from(["", "", "cat", "a, b", 'say "x"', "NA", "007", "1.0", "ä", "l\nm"])
    rows = draw(st.lists(st.lists(cell, min_size=width, max_size=width), min_size=1, max_size=6))
    return [
        ["task", *(f"w {at}" for at in range(width))],
        *([str(n), *r] for n, r in enumerate(rows)),
    ]


@given(
    rows=tables(),
    delimiter=st.sampled_from([",", ";", "\t"]),
    end=st.sampled_from(["\n", "\r\n"]),
    mark=st.booleans(),
)
def test_any_table_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[list[str]],
    delimiter: str,
    end: str,
    mark: bool,
) -> None:
    data = (b"\xef\xbb\xbf" if mark else b"") + csv_text(rows, delimiter, end).encode()
    path = written(tmp_path_factory.mktemp("w"), "w.csv", data)
    wanted = once(
        *(
            (row[0], name, (cell,))
            for row in rows[1:]
            for name, cell in zip(rows[0][1:], row[1:], strict=True)
            if cell
        )
    )
    labels = sorted({vote[2][0] for vote in wanted}) or ["cat"]
    table = read(path, labels, delimiter=delimiter)
    assert votes(table) == wanted
    assert table["example"].values.tolist() == sorted(row[0] for row in rows[1:])
    # By way of single responses, as where answers have to be settled, it is the same to the bit.
    settled = read(path, labels, delimiter=delimiter, none_of_these=["said by nobody"])
    xr.testing.assert_identical(table, settled)


PIECES = st.sampled_from(["task,a,b\n", ",", "\n", '"', "cat", "\r\n", "NA", "\0", "\t", ";", "ä"])


@given(
    content=st.one_of(
        st.binary(max_size=60),
        st.lists(PIECES, max_size=20).map(lambda parts: "".join(parts).encode()),
        st.lists(PIECES, max_size=9).map(lambda parts: "".join(parts).encode("utf-16")),
    ),
    header=st.booleans(),
)
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, header: bool
) -> None:
    path = written(tmp_path_factory.mktemp("any"), "v.csv", content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", plausibly.PlausiblyWarning)
        result_or_refusal(lambda: read(path, header=header), path.name)


def test_a_label_of_a_hundred_thousand_letters(tmp_path: Path) -> None:
    path = written(tmp_path, "w.csv", f"task,a\n1,{'x' * 100_000}\n")
    assert read(path)["label"].values.tolist() == ["x" * 100_000]


@pytest.mark.parametrize("options", [{}, {"annotators": ("ann1", "ann2"), "example": "item"}])
def test_every_rule_of_the_kit(tmp_path: Path, options: dict[str, object]) -> None:
    make: type[WideTable] = WideTable
    name = "example" if not options else "item"
    path = written(tmp_path, "w.csv", TABLE.replace("item", name).replace(",dog\n", ",dog\n", 1))
    check_reader(make(**options), path=path)  # type: ignore[arg-type]  # options by name
