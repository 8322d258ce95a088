"""The texts of what evaluation refuses."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from eval_said import check, said
from plausibly.errors import InputError
from plausibly.evaluation import evaluate
from plausibly.evaluation.design import Methods, read_methods

from . import studies as oracle

SETS, LAM = oracle.case(10, 3)
TAGGED = SETS.assign_coords(
    site=("example", ["a"] * 9 + [""]),
    patient=("example", np.r_[np.nan, np.arange(9)]),
    letter=("example", ["L1", *"bcdefghij"]),
    n=("example", ["x"] * 10),
)
SOME_TRUE = xr.DataArray(["l1"] * 8, dims="example", coords={"example": LAM["example"][:8]})


@said(__file__)
def test_the_text(call: str, text: str) -> None:
    check(call, text, globals())


def test_a_close_true_label_is_suggested() -> None:
    almost = SETS.assign_coords(grade=("example", ["l1"] * 9 + ["l11"]))
    with pytest.raises(InputError) as refused:
        evaluate(almost, LAM, true_label="grade")
    assert refused.value.hint.startswith('did you mean "l1"? ')
    assert refused.value.details == {"labels": ["l11"]}


def test_methods_are_named_after_their_components() -> None:
    methods: Methods = [
        "majority-vote",
        {},
        {"calibrator": {"name": "monte-carlo", "draws": 3}, "combiner": "average"},
        {"combiner": {"name": "ecdf", "delta": 0.01}, "calibrator": "monte-carlo"},
        {"calibrator": "monte-carlo", "score": "log-probability", "draws": 2},
        {"name": "mine", "calibrator": "monte-carlo"},
    ]
    found = read_methods(methods)
    assert list(found) == [
        "majority-vote",
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
    by_name = read_methods({"a": {}, "b": {"calibrator": "majority-vote"}, "c": "majority-vote"})
    assert list(by_name) == ["a", "b", "c"]
    assert by_name["b"] == by_name["c"]
