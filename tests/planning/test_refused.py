"""What `plausibly.plan` refuses, and warns of, word for word."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest
import xarray as xr

import plausibly
from planning_world import pilot
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.plugin import ANNOTATION, resolve

Argument: TypeAlias = Any  # of plausibly.plan, which checks it
PREDICTIONS, VOTES = pilot(300, 5)
LAM = plausibly.aggregate(VOTES)
QUICK: dict[str, Argument] = {"resamples": 10, "n": [100, 300]}


def planned(
    predictions: xr.DataArray = PREDICTIONS, said: Argument = VOTES, **more: Argument
) -> xr.Dataset:
    return plausibly.plan(predictions, said, **{**QUICK, **more})


def text(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


def test_a_pilot_that_is_too_small() -> None:
    few = [f"e{number:04}" for number in range(12)]
    said = plausibly.select(VOTES, example=few)
    assert text(lambda: planned(PREDICTIONS.sel(example=few), said, alpha=0.05)) == (
        "error pilot-too-small: a pilot of 12 examples says nothing at alpha 0.05\n"
        "  expected  20 examples or more; got 12\n"
        "  do        annotate 8 more, alpha 0.084, or plan without a pilot: one draw,\n"
        "            exactly"
    )
    assert planned(PREDICTIONS.sel(example=few), said, alpha="0.084", resamples=0)


def test_responses_that_would_leave_no_variation_are_left_out() -> None:
    """Below a tie there is one label, which one of five annotators named."""
    kind = resolve(ANNOTATION, "single-label")
    votes = [
        (f"e{e}", f"q{q}", "b" if q < (1 if e == 0 else 2) else "a")
        for e, q in itertools.product(range(10), range(5))
    ]
    said = kind.build(votes, ["a", "b"])
    scores = np.where(np.arange(10) == 0, 0.01, 0.3)
    predictions = xr.DataArray(
        np.stack([1 - scores, scores], axis=1),
        dims=("example", "label"),
        coords={"example": [f"e{e}" for e in range(10)], "label": ["a", "b"]},
    )
    found = planned(predictions, said)
    assert float(found["between"]) == pytest.approx(0.2**2 / 10)
    assert "responses" not in found.dims
    assert "pilot-flat" in text(lambda: planned(predictions, said, responses=[1]))


def test_a_pilot_without_variation() -> None:
    flat = PREDICTIONS.copy(data=np.full(PREDICTIONS.shape, 0.25))
    assert text(lambda: planned(flat)) == (
        "error pilot-flat: at alpha 0.1 the sets of the pilot miss nothing\n"
        "  expected  scores that tell labels apart; got too many of 300 examples at the\n"
        "            least score\n"
        "  do        another score, a larger alpha, or plan without a pilot: one draw,\n"
        "            exactly"
    )


def test_a_pilot_without_disagreement() -> None:
    one = plausibly.select(VOTES, annotator="q0")
    with pytest.warns(PlausiblyWarning) as heard:
        found = planned(said=one)
    assert str(heard[0].message) == (
        "warning pilot-certain: each of the 300 examples of the pilot has one certain\n"
        "  label\n"
        "  expected  several responses an example, which may differ; got one label each:\n"
        "            what more draws or annotators gain cannot be seen\n"
        "  do        ask two or more annotators about each, and pass every response (-a);\n"
        "            until then plan for one draw"
    )
    assert "responses" not in found.dims
    for m in (10, math.inf):
        np.testing.assert_allclose(found["spread"].sel(draws=m), found["spread"].sel(draws=1))


def test_half_a_pilot() -> None:
    assert text(lambda: plausibly.plan(PREDICTIONS)) == (
        "error pilot-half: the pilot has no annotations\n"
        "  expected  predictions and annotations (or plausibilities) of the same\n"
        "            examples; got predictions alone\n"
        "  do        pass annotations too (-a), or neither, for one draw without a pilot"
    )
    assert text(lambda: plausibly.plan(None, LAM)).startswith(
        "error pilot-half: the pilot has no predictions\n"
    )


def test_draws_need_a_pilot() -> None:
    assert text(lambda: plausibly.plan(draws=[1, 10])) == (
        "error pilot-missing: what several draws gain depends on how experts disagree\n"
        "  expected  a pilot: predictions and annotations; got neither\n"
        "  do        pass a pilot (-p and -a), or plan for one draw: draws=[1] (--draws\n"
        "            1)"
    )
    assert plausibly.plan(draws=[1])["draws"].values.tolist() == [1]


def test_one_cluster_is_none() -> None:
    alone = PREDICTIONS.assign_coords(site=("example", ["north"] * 300))
    assert text(lambda: planned(alone, cluster="site")) == (
        'error clusters-few: all examples of the pilot are of one "site"\n'
        "  expected  two or more, to see how alike their examples are; got north alone\n"
        "  do        leave cluster out, or a pilot of several"
    )
    assert "coordinate-missing" in text(lambda: planned(cluster="hospital"))


def test_responses_that_nobody_has() -> None:
    assert text(lambda: planned(responses=[1, 6])) == (
        "error responses-range: no example of the pilot has 6 responses\n"
        "  expected  1 to 5, which e0000 has; got 6\n"
        "  do        responses=[1, 5] (--responses 1 --responses 5)"
    )
    assert text(lambda: planned(said=LAM, responses=[1])) == (
        "error responses-unknown: the pilot has no single responses to take out\n"
        "  expected  an annotation table whose responses count whole numbers of times;\n"
        "            got plausibilities\n"
        "  do        pass every response (-a), or leave responses out"
    )
    one = plausibly.select(VOTES, annotator="q0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        said = text(lambda: planned(said=one, responses=[2]))
    assert "leave responses out: a single response cannot be thinned" in said


@pytest.mark.parametrize(
    ("more", "name", "do"),
    [
        ({"within": 0.9}, "within-range", "within=0.02 (--within 0.02)"),
        ({"within": 0}, "within-range", "within=0.02 (--within 0.02)"),
        ({"within": "x"}, "within-range", "within=0.02 (--within 0.02)"),
        ({"within": 0.93, "alpha": [0.01, 0.1]}, "within-range", "within=0.002 (--within 0.002)"),
        ({"confidence": 1}, "confidence-range", "confidence=0.9 for 9 of 10 calibrations"),
        ({"delta": 0}, "delta-range", "delta=0.01 (--delta 0.01)"),
        ({"n": [0]}, "n-range", "n=[100, 1000] (--n 100 --n 1000)"),
        ({"n": [2.5]}, "n-range", "n=[100, 1000] (--n 100 --n 1000)"),
        ({"n": True}, "n-range", "n=[100, 1000] (--n 100 --n 1000)"),
        ({"n": 10**10}, "n-range", "n=[100, 1000] (--n 100 --n 1000)"),
        (
            {"draws": [0]},
            "draws-range",
            'draws=[1, 10, "expected"] (--draws 1 --draws 10 --draws expected)',
        ),
        (
            {"draws": ["ten"]},
            "draws-range",
            'draws=[1, 10, "expected"] (--draws 1 --draws 10 --draws expected)',
        ),
        ({"resamples": 1}, "resamples-range", "resamples=200 (--resamples 200)"),
        ({"resamples": -1}, "resamples-range", "resamples=200 (--resamples 200)"),
        ({"alpha": 0}, "alpha-range", "alpha=0.1 (--alpha 0.1) for 90 % sets"),
    ],
)
def test_options_out_of_range(more: dict[str, Argument], name: str, do: str) -> None:
    with pytest.raises(InputError) as caught:
        plausibly.plan(**more)
    assert (caught.value.name, caught.value.do) == (name, do)


def test_other_examples_and_labels_are_refused_by_name() -> None:
    assert "examples-differ" in text(lambda: planned(PREDICTIONS.isel(example=slice(250))))
    found = planned(PREDICTIONS.isel(example=slice(250)), only_common=True)
    assert found.attrs["pilot_examples"] == 250
    other = PREDICTIONS.assign_coords(label=["a", "b", "c", "e"])
    assert "labels-differ" in text(lambda: planned(other))
