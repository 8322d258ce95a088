"""Alignment by name, and the hint about the name that was probably meant."""

from __future__ import annotations

import time

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

from plausibly.data.align import match_examples, match_labels
from plausibly.data.names import difference, near, near_pairs
from plausibly.data.states import read_left_out, with_left_out
from refusals import refused
from tables import labelled


def array(examples: list[str], labels: list[str]) -> xr.DataArray:
    values = np.random.default_rng(len(examples)).random((len(examples), len(labels)))
    return labelled(values, examples, labels)


@given(st.permutations(["a", "b", "c", "d"]))
def test_labels_are_put_in_order_by_name(order: list[str]) -> None:
    given_ = array(["x", "y"], ["a", "b", "c", "d"])
    found = match_labels(given_, order, source="here", other="there")
    assert found["label"].values.tolist() == order
    xr.testing.assert_identical(found, given_.sel(label=order))
    assert found.values.flags["C_CONTIGUOUS"]


LABELS_DIFFER = [
    (
        ["a", "melanoma "],
        'found "melanoma " (a space at the end) hint strip=True, or rename={"melanoma "',
    ),
    (["a", "Melanoma"], 'found "Melanoma" (capital letters) hint rename={"Melanoma": "melanoma"}'),
    (["a", "mellanoma"], 'and there "melanoma" hint rename={"mellanoma": "melanoma"}'),
    (
        ["a", "melanoma", "x", "y"],
        'found "x", "y" hint declare every label for others: labels=',
    ),
    (["a"], 'predictions lack the label "melanoma" expected the same 2 names found 1 of them'),
    (["b", "c", "d", "q", "r"], 'found "b", "c", "d", … (5 in all), without "a", "melanoma"'),
]


@pytest.mark.parametrize(("here", "piece"), LABELS_DIFFER)
def test_labels_that_differ(here: list[str], piece: str) -> None:
    with refused("labels-differ", piece) as caught:
        match_labels(array(["e"], here), ["a", "melanoma"], source="predictions", other="others")
    assert caught.value.details == {
        "only_here": [name for name in here if name not in ("a", "melanoma")],
        "only_there": [name for name in ("a", "melanoma") if name not in here],
    }


@given(st.permutations(["a", "b", "c", "d"]), st.permutations(["a", "b", "c", "d"]))
def test_examples_follow_the_predictions(one: list[str], other: list[str]) -> None:
    predictions, plausibilities = array(one, ["k"]), array(other, ["k", "l"])
    found, matched = match_examples(predictions, plausibilities)
    assert found is predictions
    xr.testing.assert_identical(matched, plausibilities.sel(example=one))


EXAMPLES_DIFFER = [
    (
        ["scan_0007", "b"],
        ["scan_7", "b", "c"],
        ["predictions lack 2 examples of plausibilities", '"scan_0007" here and "scan_7" there'],
    ),
    (
        ["a", "b", "c", "d", "e"],
        ["a"],
        ["plausibilities lack 4 examples", "found b, c, d, … (4 in all) only here"],
    ),
    (["a", "xx"], ["a", "b", "c"], ["found b, c only there, xx only here"]),
]


@pytest.mark.parametrize(("here", "there", "pieces"), EXAMPLES_DIFFER)
def test_examples_that_differ(here: list[str], there: list[str], pieces: list[str]) -> None:
    keeps = "only_common=True, which keeps 1"
    with refused("examples-differ", *pieces, f"hint fix the names, or {keeps}"):
        match_examples(array(here, ["k"]), array(there, ["k"]))


def test_only_common_keeps_what_both_have_and_counts_the_rest() -> None:
    predictions = with_left_out(array(["x", "b", "a", "y"], ["k"]), {"bad rows": 3})
    found, matched = match_examples(predictions, array(["a", "z", "b"], ["k"]), only_common=True)
    assert found["example"].values.tolist() == matched["example"].values.tolist() == ["b", "a"]
    assert read_left_out(found.attrs) == {"bad rows": 3, "not in plausibilities": 2}
    assert read_left_out(matched.attrs) == {"not in predictions": 1}
    assert read_left_out(predictions.attrs) == {"bad rows": 3}


def test_only_common_with_one_side_complete() -> None:
    names = {"source": "cnn.parquet", "other": "votes.csv"}
    votes = array(["a", "z", "b"], ["k"])
    found, matched = match_examples(array(["b", "a"], ["k"]), votes, only_common=True, **names)
    assert found.attrs == {}
    assert read_left_out(matched.attrs) == {"not in cnn.parquet": 1}
    with refused("examples-differ", "found a, z, b only there, p, q only here"):
        match_examples(array(["p", "q"], ["k"]), votes, only_common=True, **names)


@pytest.mark.parametrize(
    ("name", "other", "words"),
    [
        ("scan_0007", "scan_7", ""),
        ("img/scan_7.png", "scan_7", ""),
        ("Scan 7", "scan-7", ""),
        ("7.0", "7", ""),
        ("mellanoma", "melanoma", ""),
        ("a ", "a", "a space at the end"),
        (" a", "a", "a space at the start"),
        ("Melanoma", "melanoma", "capital letters"),
        ("e\u0301", "é", "the same letters, other Unicode"),
    ],
)
def test_near_names_and_how_they_differ(name: str, other: str, words: str) -> None:
    assert near(name, ["zzz", other]) == other
    assert near_pairs(["qqqq", name], ["zzz", other])[0] == (name, other)
    assert difference(name, other) == words
    assert difference("a", " a") == "a space at the start"
    assert near("cat", ["dog", "horse"]) is near("cat", []) is None
    assert near_pairs([], ["a"]) == []


def test_hints_among_very_many_names_stay_cheap() -> None:
    here = [f"left-{i}" for i in range(200_000)]
    there = [f"right:{i:x}" for i in range(200_000)]
    start = time.process_time()
    near_pairs(here, there)
    assert time.process_time() - start < 5


def test_left_out_counts() -> None:
    once = with_left_out(array(["a"], ["k"]), {"skipped": 2, "none": 0})
    assert once.attrs == {"left_out": '{"skipped": 2}'}
    assert read_left_out(with_left_out(once, {"skipped": 3}).attrs) == {"skipped": 5}
    assert with_left_out(array(["a"], ["k"]), {"none": 0}).attrs == {}
