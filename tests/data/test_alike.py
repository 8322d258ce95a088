"""Names that look alike: which they are, that it is said once, and what merges them."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from io_files import refusal, written
from plausibly.data.align import match_examples, match_labels
from plausibly.data.labels import called
from plausibly.data.names import alike, name_texts
from plausibly.errors import InputError
from tables import labelled

HEADER = "task,worker,label\n"


def array(labels: list[str], examples: list[str] | None = None) -> xr.DataArray:
    examples = examples or ["e"]
    values = np.ones((len(examples), len(labels)))
    return labelled(values, examples, labels)


def read(path: Path, labels: object = None) -> tuple[xr.Dataset, list[dict[str, object]]]:
    """Return a table, and the details of warnings about names in it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = plausibly.read_annotations(path, "long-table", labels)  # type: ignore[arg-type]  # of any kind
    heard = [one.message for one in caught if isinstance(one.message, plausibly.PlausiblyWarning)]
    return table, [one.details for one in heard if one.name == "names-alike"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cat", "cat "),
        ("cat", "\tcat"),
        ("a b", "a\xa0b"),
        ("a b", "a  b"),
        ("cat", "c\u200bat"),
        ("cat", "Cat"),
        ("é", "e\u0301"),
        ("1", "1.0"),
        ("1", "01"),
        ("1.5", "01.50"),
        ("0", "0.0"),
    ],
)
def test_names_that_look_alike(one: str, other: str) -> None:
    assert alike(["x", one, "y", other]) == [(one, other)]
    # The first of them, but for one with spaces at its ends: that is never what others are to be.
    turned = (other, one) if other == other.strip() else (one, other)
    assert alike([other, one]) == [turned]


def test_names_that_differ() -> None:
    assert (
        alike(["1", "10", "100", "1.5", "1.05", "0", "00x", "v1", "v01", "ß", "ss", "a", "b"]) == []
    )


@given(st.lists(st.text("aAé \xa01.0", max_size=4), unique=True, max_size=8))
def test_looks_are_classes(names: list[str]) -> None:
    """Who looks like the first of a look is told of whatever the order of the names."""
    shown = {frozenset(pair) for pair in alike(names)}
    classes = {name for pair in shown for name in pair}
    assert classes == {name for pair in alike(names[::-1]) for name in pair}
    assert all(alike(list(pair)) for pair in shown)


def test_each_kind_of_name_is_said_once(tmp_path: Path) -> None:
    text = HEADER + "t1,ann,cat\nt1,ben,cat \nt2,ann ,Cat\nT1,ben,dog\n"
    table, said = read(written(tmp_path, "v.csv", text))
    assert name_texts(table["label"].values) == ["Cat", "cat", "cat ", "dog"]
    assert [(one["dim"], one["pairs"]) for one in said] == [
        ("example", [("T1", "t1")]),
        ("annotator", [("ann", "ann ")]),
        ("label", [("Cat", "cat"), ("Cat", "cat ")]),
    ]
    declared = ["Cat", "cat", "cat ", "dog"]
    assert [one["dim"] for one in read(tmp_path / "v.csv", declared)[1]] == ["example", "annotator"]


def test_answers_under_two_names_of_one_label_are_merged(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", HEADER + "t1,a,cat\nt1,b,cat \nt2,a,dog\nt2,b,cat \n")
    table, _ = read(path)
    merged = called(table, ["cat", "cat", "dog"], source="v.csv")
    expected, _ = read(written(tmp_path, "w.csv", path.read_text().replace("cat ", "cat")))
    xr.testing.assert_identical(
        plausibly.aggregate(merged).drop_attrs(), plausibly.aggregate(expected).drop_attrs()
    )
    assert 'name: 2 (2 as "cat ")' in " ".join(str(merged).split())
    swapped = plausibly.aggregate(called(expected, ["dog", "cat"], source="v.csv"))
    assert swapped.sel(example="t1", label="dog").item() == 1
    labels = written(tmp_path, "labels.csv", "label,alias\ncat,cat \ndog,\n")
    by_alias, _ = read(path, labels)
    xr.testing.assert_equal(plausibly.aggregate(by_alias), plausibly.aggregate(merged))
    assert 'name: 2 (2 as "cat ")' in " ".join(str(by_alias).split())


def test_up_to_three_pairs_are_told_where_names_differ() -> None:
    with pytest.raises(InputError) as caught:
        match_labels(
            array(["A", "b ", "c\u200b", "D"]), ["a", "b", "c", "d"], source="p.csv", other="v.csv"
        )
    for old, new in (("A", "a"), ("b ", "b"), ("c\u200b", "c")):
        assert f'"{old}": "{new}"' in caught.value.hint
    with pytest.raises(InputError) as caught:
        match_examples(array(["a"], ["T1", "t2 "]), array(["a"], ["t1", "t2"]))
    assert '"T1" here and "t1" there' in caught.value.found
    assert '"t2 " here and "t2" there' in caught.value.found


@pytest.mark.parametrize(
    ("here", "there"), [(["a", "a ", "b"], ["a", "b"]), (["a", "b"], ["a", "a ", "b"])]
)
def test_one_side_may_have_a_label_under_two_names(here: list[str], there: list[str]) -> None:
    error = refusal(lambda: match_labels(array(here), there, source="v", other="p"))
    assert error.hint == 'strip=True, or rename={"a ": "a"}'
