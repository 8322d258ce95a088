"""The texts of what evaluation refuses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import xarray as xr

import eval_oracles as oracle
from plausibly.errors import InputError
from plausibly.evaluation import evaluate
from plausibly.evaluation.design import Methods, read_methods

SETS, LAM = oracle.case(10, 3)
TAGGED = SETS.assign_coords(
    site=("example", ["a"] * 9 + [""]),
    patient=("example", np.r_[np.nan, np.arange(9)]),
    letter=("example", ["L1", *"bcdefghij"]),
    n=("example", ["x"] * 10),
)
SOME_TRUE = xr.DataArray(["l1"] * 8, dims="example", coords={"example": LAM["example"][:8]})
MALFORMED = (
    "error sets-malformed: the prediction sets: no true or false for each example and\n"
    "  label by name\n"
    "  expected  a boolean array over example and label, and alpha where there are\n"
    "            several; got {got}\n"
    "  do        pass what predict returned"
)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: evaluate(SETS, LAM, by="site"),
            'error coordinate-missing: the examples have no coordinate "site"\n'
            "  expected  a coordinate over example; got none\n"
            "  do        assign_coords, or an example table (-e)",
        ),
        (
            lambda: evaluate(TAGGED, LAM, cluster="patients"),
            'error coordinate-missing: the examples have no coordinate "patients"\n'
            "  expected  a coordinate over example; got letter, n, patient, … (4 in all)\n"
            '  do        did you mean "patient"?',
        ),
        (
            lambda: evaluate(TAGGED, LAM, cluster=TAGGED["patient"]),  # type: ignore[arg-type]  # a mistake that users make
            "error coordinate-missing: a coordinate of the examples is asked for by its name\n"
            "  expected  text; got DataArray\n"
            '  do        sets.assign_coords({"site": ("example", values)}), and then "site"',
        ),
        (
            lambda: evaluate(TAGGED, LAM, by="site"),
            'error coordinate-empty: 1 of 10 examples have no "site"\n'
            "  expected  a value for each example; got none for e0009\n"
            '  do        fill "site" in, or leave these examples out with sel(example=...)',
        ),
        (
            lambda: evaluate(TAGGED, LAM, cluster="patient"),
            'error coordinate-empty: 1 of 10 examples have no "patient"\n'
            "  expected  a value for each example; got none for e0000\n"
            '  do        fill "patient" in, or leave these examples out with sel(example=...)',
        ),
        (
            lambda: evaluate(TAGGED, LAM, by="n"),
            'error coordinate-reserved: the result has a variable of its own called "n"\n'
            "  expected  a coordinate with another name; got n\n"
            '  do        rename it: assign_coords({"example_n": ...})',
        ),
        (
            lambda: evaluate(SETS, LAM, ties="frist"),  # type: ignore[arg-type]  # a typing error
            'error ties-unknown: no tie policy "frist"\n'
            "  expected  one of first, random, fractional, any, all\n"
            '  do        ties="first", the first of the tied labels in label order',
        ),
        (
            lambda: evaluate(TAGGED, LAM, true="letter"),
            'error label-unknown: 10 examples have a "letter" that the sets do not know\n'
            '  expected  one of 3 labels: l0, l1, l2; got "L1", "b", "c", … (10 in all)\n'
            "  do        mend it, or leave these examples out with sel(example=...)",
        ),
        (
            lambda: evaluate(SETS, LAM, true=SOME_TRUE),
            "error true-missing: 2 of 10 examples have no true label\n"
            "  expected  one for each example of the sets; got none for e0008, e0009\n"
            "  do        add them, or leave these examples out with sel(example=...)",
        ),
        (
            lambda: evaluate(SETS, LAM, true=SOME_TRUE.drop_vars("example")),
            "error true-malformed: the true labels are not named by example\n"
            "  expected  a DataArray over example, with names, or the name of a coordinate;\n"
            "            got dims example\n"
            '  do        true="COLUMN" of an example table, or name the examples',
        ),
        (
            lambda: evaluate(SETS.astype(int), LAM),
            MALFORMED.format(got="entries of type int64"),
        ),
        (
            lambda: evaluate(SETS.values, LAM),  # type: ignore[arg-type]  # what users may pass
            MALFORMED.format(got="a ndarray without names"),
        ),
        (
            lambda: evaluate(SETS.drop_vars("label"), LAM),
            MALFORMED.format(got="no names along label"),
        ),
        (
            lambda: evaluate(SETS.rename(label="class"), LAM),
            MALFORMED.format(got="dims example, class"),
        ),
        (
            lambda: read_methods([]),
            "error method-malformed: the methods of the study are not tables\n"
            "  expected  a list of tables with calibrator, score, combiner, or a mapping of\n"
            "            names to them; got []\n"
            '  do        methods=[{"calibrator": "voted"}, {"calibrator": "expected"}]',
        ),
        (
            lambda: read_methods([{"calibrator": "voted", "combinr": "average"}]),
            'error method-key: method "voted" has the unknown key "combinr"\n'
            "  expected  some of calibrator, score, combiner, draws, allow_no_guarantee; got\n"
            "            combinr\n"
            '  do        did you mean "combiner"?',
        ),
        (
            lambda: read_methods(["expected", {"calibrator": "expected"}]),
            'error method-twice: two methods of the study are called "expected"\n'
            "  expected  different names; got expected\n"
            '  do        name them: {"name": "...", "calibrator": ...}',
        ),
    ],
)
def test_the_text(call: Callable[[], object], text: str) -> None:
    with pytest.raises(InputError) as refused:
        call()
    assert str(refused.value) == text


def test_a_close_true_label_is_suggested() -> None:
    almost = SETS.assign_coords(grade=("example", ["l1"] * 9 + ["l11"]))
    with pytest.raises(InputError) as refused:
        evaluate(almost, LAM, true="grade")
    assert refused.value.do.startswith('did you mean "l1"? ')
    assert refused.value.details == {"labels": ["l11"]}


@pytest.mark.parametrize("methods", ["expected", {"calibrator": "expected"}, [3]])
def test_methods_that_are_not_tables(methods: object) -> None:
    with pytest.raises(InputError) as refused:
        read_methods(methods)  # type: ignore[arg-type]  # what users may pass
    assert refused.value.name == "method-malformed"


def test_methods_are_named_after_their_components() -> None:
    methods: Methods = [
        "voted",
        {},
        {"calibrator": {"name": "monte-carlo", "draws": 3}, "combiner": "average"},
        {"combiner": {"name": "ecdf", "delta": 0.01}, "calibrator": "monte-carlo"},
        {"calibrator": "monte-carlo", "score": "log-probability", "draws": 2},
        {"name": "mine", "calibrator": "monte-carlo"},
    ]
    found = read_methods(methods)
    assert list(found) == [
        "voted",
        "expected",
        "monte-carlo(draws=3), average",
        "monte-carlo, ecdf(delta=0.01)",
        "monte-carlo, log-probability",
        "mine",
    ]
    assert found["monte-carlo, log-probability"].table() == {
        "calibrator": "monte-carlo",
        "score": "log-probability",
        "combiner": "average",
        "draws": 2,
    }
    assert list(read_methods({"a": {}, "b": {"calibrator": "voted"}})) == ["a", "b"]
