"""The annotation table: order, types, files, and what it says of itself."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from numpy.typing import NDArray

import labelled_records as lr
from plausibly.data.annotations import AnnotationTable, build_table, check_table
from plausibly.data.records import Answer, table_from_records
from plausibly.errors import InputError
from refusals import refused

Engine = Literal["scipy", "netcdf4"]


def single(answer: object) -> Answer:
    return () if answer is None else ((str(answer), 1, 1.0),)


def small(**changes: object) -> AnnotationTable:
    columns: dict[str, object] = {
        "examples": ["c1", "c2"],
        "annotators": ["r"],
        "labels": ["a", "b"],
        "response_example": [0, 1],
        "response_annotator": [0, -1],
        "mention_response": [0, 1],
        "mention_label": [1, 0],
        **changes,
    }
    return build_table("single-label", **columns)  # type: ignore[arg-type]  # columns by name


def test_types_and_attributes(table: AnnotationTable) -> None:
    types = {str(name): str(table[name].dtype) for name in table.data_vars}
    assert types == {
        "response_example": "int32",
        "response_annotator": "int32",
        "response_weight": "float64",
        "mention_response": "int32",
        "mention_label": "int32",
        "mention_block": "int16",
        "mention_weight": "float64",
        "response_seconds": "float64",
        "mention_start": "int64",
        "skill": "float64",
        "page": "int64",
    }
    assert {table[dim].dtype.kind for dim in ("example", "label", "annotator")} == {"U"}
    assert table.attrs == {
        "source": "a test",
        "kind": "mine",
        "unlisted": "excluded",
        "labels_declared": 1,
        "left_out": '{"unfinished": 3}',
        "checksum": table.attrs["checksum"],
    }


@pytest.mark.parametrize(
    ("changes", "name", "found"),
    [
        ({"examples": [7, "7"]}, "example-twice", "found 1 row too many"),
        ({"labels": ["a", "b", "a", "a", "b"]}, "label-twice", "found 3 columns too many"),
        ({"annotators": ["", "r\0"]}, "annotator-unnamed", "found none at place 1, 2"),
        ({"response_example": [0, 2]}, "table-invalid", "expected 0 to 1 found 0 to 2"),
        ({"response_annotator": [-2, 0]}, "table-invalid", "expected -1 to 0 found -2 to 0"),
        ({"mention_label": [-1, 0]}, "table-invalid", "expected 0 to 1 found -1 to 0"),
        ({"mention_response": [0, 2]}, "table-invalid", "expected 0 to 1 found 0 to 2"),
        ({"mention_block": [0, 1]}, "table-invalid", "expected 1 to 32767 found 0 to 1"),
        ({"mention_block": [1, 40000]}, "table-invalid", "expected 1 to 32767 found 1 to 40000"),
        ({"mention_label": [0.0, 1.0]}, "table-invalid", "integers found 1 of float64"),
        ({"response_weight": [1.0, -1.0]}, "table-invalid", "0 or more found -1.0 to 1.0"),
        ({"mention_weight": [1.0, np.inf]}, "table-invalid", "0 or more found 1.0 to inf"),
        ({"response_weight": [1.0]}, "table-invalid", "expected 2 values over response found 1"),
        ({"response_state": [0, 9]}, "table-invalid", "found 0 to 9"),
        ({"mention_label": [0]}, "table-invalid", "expected 2 values over mention found 1"),
        ({"unlisted": "below"}, "table-invalid", "expected excluded or unknown found below"),
        ({"variables": {"skill": xr.Variable("annotator", [1, 2])}}, "table-invalid", "found 2"),
    ],
)
def test_columns_that_cannot_be_a_table_are_refused(
    changes: dict[str, object], name: str, found: str
) -> None:
    with refused(name, found):
        small(**changes)


def test_the_arrays_of_the_caller_stay_theirs() -> None:
    given_: dict[str, NDArray[np.generic]] = {
        "response_example": np.array([1, 0]),
        "response_annotator": np.array([-1, 0], np.int32),
        "mention_response": np.array([1, 0], np.int32),
        "mention_label": np.array([0, 1], np.int32),
        "mention_block": np.array([1, 1], np.int16),
        "response_weight": np.array([2.0, 3.0]),
    }
    before = {name: values.copy() for name, values in given_.items()}
    for values in given_.values():
        values.flags.writeable = False
    built = small(**given_)
    for name, values in given_.items():
        np.testing.assert_array_equal(values, before[name])
        assert not np.shares_memory(values, built[name].values)
    assert built["response_weight"].values.tolist() == [3.0, 2.0]


@pytest.mark.parametrize("engine", ["scipy", "netcdf4"])
def test_a_table_survives_a_file(table: AnnotationTable, tmp_path: Path, engine: Engine) -> None:
    path = tmp_path / "table.nc"
    table.drop_vars("mention_start").to_netcdf(path, engine=engine)
    with xr.open_dataset(path, engine=engine) as opened:
        read = opened.load()
    assert check_table(read) is read
    for name in ("response_example", "mention_label", "mention_block", "response_seconds"):
        assert read[name].dtype == table[name].dtype
        np.testing.assert_array_equal(read[name].values, table[name].values)
    assert read["patient"].values.tolist() == ["x", "y", "x"]
    empty = small(annotators=[], response_annotator=[-1, -1], mention_response=[], mention_label=[])
    empty.to_netcdf(tmp_path / "empty.nc", engine=engine)
    with xr.open_dataset(tmp_path / "empty.nc", engine=engine) as opened:
        assert check_table(opened.load()).sizes["annotator"] == 0


def test_a_table_survives_pickling_and_copies(table: AnnotationTable) -> None:
    for other in (pickle.loads(pickle.dumps(table)), table.copy(deep=True)):
        assert type(other) is AnnotationTable
        check_table(other)
        xr.testing.assert_identical(other, table)


@given(lr.records(lr.single_labels))
def test_records_come_back_as_they_were(records: lr.Records) -> None:
    built = table_from_records("single-label", records, None, single)
    example, annotator, label = (
        built[d].values.tolist() for d in ("example", "annotator", "label")
    )
    names = [*annotator, None]  # code -1 looks at the end
    codes = (built["response_example"], built["response_annotator"], built["mention_label"])
    back = [
        (example[e], names[q], label[k])
        for e, q, k in zip(*(column.values for column in codes), strict=True)
    ]
    assert sorted(map(repr, back)) == sorted(map(repr, records))
    for found in (example, annotator, label):
        assert found == sorted(found)


def test_declared_labels_keep_their_order_and_derived_ones_are_sorted() -> None:
    records: lr.Records = [("e", "r", "b"), ("e", "q", "a")]
    declared = table_from_records("single-label", records, ["z", "b", "a"], single)
    assert declared["label"].values.tolist() == ["z", "b", "a"]
    assert declared.attrs["labels_declared"] == 1
    derived = table_from_records("single-label", records, None, single)
    assert derived["label"].values.tolist() == ["a", "b"]
    assert derived.attrs["labels_declared"] == 0
    with pytest.raises(InputError, match=r'the declared labels name "b" in columns 1 and 2'):
        table_from_records("single-label", records, ["b", "b"], single)


@pytest.mark.parametrize(
    ("records", "name", "found"),
    [
        ([("e", "r", "a"), ("e", "r")], "record-invalid", "found ('e', 'r')"),
        ([(None, "r", "a")], "record-invalid", "found None"),
        (
            [("e", "r", None), ("f", "r", None)],
            "annotations-empty",
            "found 2 empty answers hint labels=",
        ),
    ],
)
def test_records_that_cannot_be_read_are_named(
    records: list[object], name: str, found: str
) -> None:
    with refused(name, found):
        table_from_records("single-label", records, None, single)  # type: ignore[arg-type]  # the point


FULL: lr.Records = [
    *((f"e{i}", f"r{q}", "a") for i in range(1000) for q in range(3)),
    *((f"e{i}", "r9", "b") for i in range(410)),
    *(("e0", f"s{q}", None) for q in range(214)),
]
MIXED: lr.Records = [("e", None, "a"), ("e", "r", "a"), ("f", "r", None)]


@pytest.mark.parametrize(
    ("records", "first"),
    [
        (FULL, "1,000 examples, 218 annotators, 3,410 answers (3 to 4 per example), 2 labels"),
        ([("e", "r", "a")], "1 example, 1 annotator, 1 answer (1 per example), 1 label"),
        ([("e", None, "a")], "1 example, annotators unknown, 1 answer (1 per example), 1 label"),
        (
            MIXED,
            "2 examples, 1 annotator and unknown ones, 2 answers (0 to 2 per example), 1 label",
        ),
    ],
)
def test_summary_of_a_table(records: lr.Records, first: str) -> None:
    built = table_from_records("single-label", records, None, single)
    text = " ".join(repr(built).split())
    assert text.startswith(f"annotations {first} ")
    more = "single-label; annotators disagree on 41% of the examples; not counted: 214 skipped"
    assert text.endswith(more) or records is not FULL


def test_summary_of_weights_and_of_no_answer(table: AnnotationTable) -> None:
    assert repr(table) == (
        "annotations  3 examples, 3 annotators and unknown ones, 6 answers (1 to 3 per\n"
        "             example), 3 labels\n"
        "  mine; annotators disagree on 67% of the examples; not counted: 1 skipped, 3\n"
        "  unfinished"
    )
    halved = " ".join(repr(small(response_weight=[0.5, 0.75])).split())
    assert "1.2 answers (0.5 to 0.8 per example)" in halved
    empty = " ".join(repr(small(mention_response=[], mention_label=[])).split())
    assert empty.endswith(
        "0 answers (0 per example), 2 labels single-label; not counted: 2 skipped"
    )


@pytest.mark.parametrize(
    ("first", "second", "disputed"),
    [
        ([("a", 1, 1.0), ("b", 2, 1.0)], [("a", 1, 1.0), ("b", 2, 1.0)], "0%"),
        ([("a", 1, 1.0), ("b", 2, 1.0)], [("a", 2, 1.0), ("b", 1, 1.0)], "100%"),
        ([("a", 1, 1.0)], [("a", 1, 1.0), ("b", 2, 1.0)], "100%"),
        ([("a", 1, 0.5), ("b", 1, 0.5)], [("a", 1, 0.5), ("b", 1, 0.25)], "100%"),
        ([("a", 1, 1.0)], [], "0%"),
    ],
)
def test_disputed_means_two_responses_that_differ(
    first: list[tuple[str, int, float]], second: list[tuple[str, int, float]], disputed: str
) -> None:
    def parse(answer: object) -> Answer:
        assert isinstance(answer, list)
        return tuple(answer)

    built = table_from_records(
        "mine", [("e", "p", first), ("e", "q", second)], None, parse, blocks=True, weights=True
    )
    assert f"annotators disagree on {disputed} of the examples" in repr(built)


@pytest.mark.parametrize(
    ("disputed", "share"), [(0, "0%"), (1, "under 1%"), (2, "1%"), (199, "over 99%")]
)
def test_only_none_is_no_per_cent(disputed: int, share: str) -> None:
    records: lr.Records = [(f"e{i}", "r", "a") for i in range(200)]
    records += [*((f"e{i}", "q", "b") for i in range(disputed)), ("e199", "s", "a")]
    built = table_from_records("single-label", records, None, single)
    assert f"; annotators disagree on {share} of the examples" in repr(built)


def test_html_is_escaped_and_keeps_the_variables() -> None:
    built = small(left_out={"<b>": np.int64(2)})
    assert json.loads(str(built.attrs["left_out"])) == {"<b>": 2}
    page = built._repr_html_()
    assert "<pre>annotations  2 examples" in page
    assert "2 &lt;b&gt;" in page
    assert "response_example" in page
