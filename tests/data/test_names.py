"""Names: of numbers, alignment by name, and hints about names that were meant or look alike."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from call_files import each_call
from io_files import written
from plausibly.calibration.data import group_names
from plausibly.data.align import match_examples, match_labels
from plausibly.data.labels import called
from plausibly.data.names import alike, name_texts, near, near_pairs
from plausibly.data.states import read_left_out, with_left_out
from plausibly.errors import PlausiblyWarning
from plausibly.kernels.random import hash_names, name_text
from refusals import refused
from tables import labelled


@given(st.lists(st.one_of(st.integers(-(2**53), 2**53), st.floats(allow_nan=False)), max_size=6))
def test_a_number_has_one_name_in_every_array(values: list[float]) -> None:
    alone, numbers = [name_text(value) for value in values], np.array(values, dtype=np.float64)
    for array in (numbers, np.array(values, dtype=object), pd.Index(values, dtype=np.float64)):
        assert name_texts(array) == alone
    assert group_names(numbers).tolist() == alone
    assert hash_names(numbers).tolist() == hash_names(alone).tolist()


def test_text_that_is_a_number_is_the_group_of_that_number() -> None:
    texts = np.array(["1.0", "0.50", "007", "north", "1e400"])
    assert group_names(texts).tolist() == ["1", "0.5", "007", "north", "1e400"]
    assert len(set(group_names(np.array([1e300, 1e299, np.inf])).tolist())) == 3


@pytest.mark.parametrize(
    ("doses", "dose", "text"),
    [
        (np.tile([0.5, 1.0, 2.0], 30), 1.0, "1.0"),
        (np.tile([0.5, 1.0, 2.0], 30), 1, "1.0"),
        (
            np.datetime64("2024-01-01") + np.arange(3).repeat(30),
            np.datetime64("2024-01-02"),
            "2024-01-02",
        ),
    ],
)
def test_a_group_is_known_again_without_its_neighbours(
    doses: np.ndarray, dose: object, text: str, recwarn: pytest.WarningsRecorder
) -> None:
    values = np.random.default_rng(0).dirichlet(np.ones(3), 90)
    model = labelled(values, "c", list("abc"), dose=doses)
    mondrian = {"name": "mondrian", "by": "dose"}
    predictor = plausibly.calibrate(model, labelled(values, "c"), calibrator=mondrian)

    def sets(*doses: object) -> list[bool]:
        new = labelled(values[: len(doses)], "n", list("abc"), dose=np.array(doses))
        kept: list[bool] = predictor.predict(new, 0.1).values[0].tolist()
        return kept

    assert sets(dose) == sets(text) == sets(dose, doses[0])
    assert not [w for w in recwarn if isinstance(w.message, PlausiblyWarning)]


def test_a_known_label_in_a_column_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "examples.csv"
    path.write_text("example,answer\nx0,1.0\nx1,2.0\n")
    answers = labelled(np.eye(2), ["x0", "x1"], ["1.0", "2.0"])
    known: xr.DataArray = plausibly.read_examples(path)["answer"]
    sets = (answers > 0).assign_coords(answer=("example", known.values))
    measured = plausibly.evaluate(sets, answers, true_label="answer")
    assert float(measured["true_coverage_mean"]) == 1.0


ORDERS = st.permutations(["a", "b", "c", "d"])


def array(examples: list[str], labels: list[str]) -> xr.DataArray:
    values = np.random.default_rng(len(examples)).random((len(examples), len(labels)))
    return labelled(values, examples, labels)


@given(ORDERS, ORDERS)
def test_labels_and_examples_are_put_in_order_by_name(one: list[str], other: list[str]) -> None:
    given_ = array(["x", "y"], ["a", "b", "c", "d"])
    turned = match_labels(given_, one, source="here", other="there")
    xr.testing.assert_identical(turned, given_.sel(label=one))
    assert turned.values.flags["C_CONTIGUOUS"]
    predictions, plausibilities = array(one, ["k"]), array(other, ["k", "l"])
    kept, matched = match_examples(predictions, plausibilities)
    assert kept is predictions
    xr.testing.assert_identical(matched, plausibilities.sel(example=one))


MELANOMA = ["a", "melanoma"]


@pytest.mark.parametrize(
    ("here", "there", "piece"),
    [
        (["a", "melanoma "], MELANOMA, 'and there "melanoma" hint strip=True, or'),
        (["a", "mellanoma"], MELANOMA, '"melanoma" hint rename={"mellanoma": "melanoma"}'),
        (["a", "melanoma", "x", "y"], MELANOMA, '"x", "y" hint declare every label for others'),
        (["a"], MELANOMA, 'predictions lack 1 label: "melanoma" expected the same 2 names'),
        (list("bcdqr"), MELANOMA, '"b", "c", "d", … (5 in all), without "a", "melanoma"'),
        (["A", "b ", "c\u200b", "D"], list("abcd"), r'{"A": "a", "b ": "b", "c\u200b": "c"}'),
        (["a", "a ", "b"], ["a", "b"], 'hint strip=True, or rename={"a ": "a"}'),
        (["a", "b"], ["a", "a ", "b"], 'hint strip=True, or rename={"a ": "a"}'),
    ],
)
def test_labels_that_differ(here: list[str], there: list[str], piece: str) -> None:
    with refused("labels-differ", piece) as caught:
        match_labels(array(["e"], here), there, source="predictions", other="others")
    assert caught.value.details == {
        "only_here": [name for name in here if name not in there],
        "only_there": [name for name in there if name not in here],
    }


KEEPS = "or only_common=True, which keeps 1"


def test_only_common_keeps_what_both_have_and_counts_the_rest() -> None:
    predictions = with_left_out(array(["x", "b", "a", "y"], ["k"]), {"bad rows": 3})
    kept, matched = match_examples(predictions, array(["a", "z", "b"], ["k"]), only_common=True)
    assert kept["example"].values.tolist() == matched["example"].values.tolist() == ["b", "a"]
    assert read_left_out(kept.attrs) == {"bad rows": 3, "not in plausibilities": 2}
    assert read_left_out(matched.attrs) == {"not in predictions": 1}
    assert read_left_out(predictions.attrs) == {"bad rows": 3}
    names = {"source": "cnn.parquet", "other": "votes.csv"}
    votes = array(["a", "z", "b"], ["k"])
    kept, matched = match_examples(array(["b", "a"], ["k"]), votes, only_common=True, **names)
    assert kept.attrs == {}
    assert read_left_out(matched.attrs) == {"not in cnn.parquet": 1}
    with refused("examples-differ", "found a, z, b only there, p, q only here"):
        match_examples(array(["p", "q"], ["k"]), votes, only_common=True, **names)
    once = with_left_out(array(["a"], ["k"]), {"skipped": 2, "none": 0})
    assert once.attrs == {"left_out": '{"skipped": 2}'}
    assert read_left_out(with_left_out(once, {"skipped": 3}).attrs) == {"skipped": 5}


@pytest.mark.parametrize(
    ("name", "another"),
    [
        ("img/scan_0007.png", "scan_7"),
        ("Scan 7", "scan-7"),
        ("7.0", "7"),
        ("mellanoma", "melanoma"),
        ("a", " a"),
        ("Melanoma", "melanoma"),
        ("e\u0301", "é"),
    ],
)
def test_near_names(name: str, another: str) -> None:
    assert near(name, ["zzz", another]) == another
    assert near_pairs(["qqqq", name], ["zzz", another])[0] == (name, another)
    assert near("cat", ["dog", "horse"]) is near("cat", []) is None
    assert near_pairs([], ["a"]) == []


# ---- names that look alike


@pytest.mark.parametrize(
    ("first", "second"),
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
def test_names_that_look_alike(first: str, second: str) -> None:
    assert alike(["x", first, "y", second]) == [(first, second)]
    # The first of them, but for one with spaces at its ends: that is never what others are to be.
    turned = (second, first) if second == second.strip() else (first, second)
    assert alike([second, first]) == [turned]


@given(st.lists(st.text("aAé \xa01.0", max_size=4), unique=True, max_size=8))
def test_looks_are_classes(names: list[str]) -> None:
    """A name that looks like the first of a look is listed whatever the order of the names."""
    pairs = {frozenset(pair) for pair in alike(names)}
    classes = {name for pair in pairs for name in pair}
    assert classes == {name for pair in alike(names[::-1]) for name in pair}
    assert all(alike(list(pair)) for pair in pairs)
    unlike = ["1", "10", "100", "1.5", "1.05", "0", "00x", "v1", "v01", "ß", "ss", "a", "b"]
    assert alike(unlike) == []


HEADER = "task,worker,label\n"


def read(path: Path, labels: object = None) -> tuple[xr.Dataset, list[dict[str, object]]]:
    """Return a table, and the details of warnings about names in it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = plausibly.read_annotations(path, "long-table", labels)  # type: ignore[arg-type]  # of any kind
    heard = [w.message for w in caught if isinstance(w.message, plausibly.PlausiblyWarning)]
    return table, [warning.details for warning in heard if warning.name == "names-alike"]


def test_each_kind_of_name_is_warned_of_once(tmp_path: Path) -> None:
    text = HEADER + "t1,ann,cat\nt1,ben,cat \nt2,ann ,Cat\nT1,ben,dog\n"
    table, details = read(written(tmp_path, "v.csv", text))
    assert name_texts(table["label"].values) == ["Cat", "cat", "cat ", "dog"]
    assert [(item["dim"], item["pairs"]) for item in details] == [
        ("example", [("T1", "t1")]),
        ("annotator", [("ann", "ann ")]),
        ("label", [("Cat", "cat"), ("Cat", "cat ")]),
    ]
    declared = ["Cat", "cat", "cat ", "dog"]
    details = read(tmp_path / "v.csv", declared)[1]
    assert [item["dim"] for item in details] == ["example", "annotator"]


def test_answers_under_two_names_of_one_label_are_merged(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", HEADER + "t1,a,cat\nt1,b,cat \nt2,a,dog\nt2,b,cat \n")
    merged = called(read(path)[0], ["cat", "cat", "dog"], source="v.csv")
    expected, _ = read(written(tmp_path, "w.csv", path.read_text().replace("cat ", "cat")))
    labels = written(tmp_path, "labels.csv", "label,alias\ncat,cat \ndog,\n")
    by_alias, _ = read(path, labels)
    for table in (merged, by_alias):
        xr.testing.assert_equal(plausibly.aggregate(table), plausibly.aggregate(expected))
        assert 'name: 2 (2 as "cat ")' in " ".join(str(table).split())
    swapped = plausibly.aggregate(called(expected, ["dog", "cat"], source="v.csv"))
    assert swapped.sel(example="t1", label="dog").item() == 1


test_each_call_gives_its_text = each_call(__file__, globals())
