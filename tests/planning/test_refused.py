"""What `plausibly.plan` refuses, and warns of, word for word."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable

import numpy as np
import pytest
import xarray as xr

import plausibly
from eval_said import check, said
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.plugin import ANNOTATION, resolve
from refusals import refused

from . import pilots
from .pilots import PREDICTIONS, VOTES, planned

FLAT = PREDICTIONS.copy(data=np.full(PREDICTIONS.shape, 0.25))
NORTH = PREDICTIONS.assign_coords(site=("example", ["north"] * 300))
FEW, SAID = (
    PREDICTIONS[:12],
    plausibly.select_annotations(VOTES, example=PREDICTIONS["example"].values[:12]),
)
OTHER = PREDICTIONS.assign_coords(label=["a", "b", "c", "e"])


def text(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


def test_a_pilot_that_is_too_small() -> None:
    assert planned(FEW, SAID, alpha="0.084", resamples=0)


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


def test_a_pilot_without_disagreement() -> None:
    one = plausibly.select_annotations(VOTES, annotator="q0")
    with pytest.warns(PlausiblyWarning):
        found = planned(said=one)
    assert "responses" not in found.dims
    for m in (10, math.inf):
        np.testing.assert_allclose(found["spread"].sel(draws=m), found["spread"].sel(draws=1))


def test_draws_need_a_pilot() -> None:
    assert plausibly.plan(draws=[1])["draws"].values.tolist() == [1]


def test_responses_that_nobody_has() -> None:
    one = plausibly.select_annotations(VOTES, annotator="q0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        said = text(lambda: planned(said=one, responses=[2]))
    assert "leave responses out: a single response cannot be thinned" in said


def test_other_examples_and_labels_are_refused_by_name() -> None:
    found = planned(PREDICTIONS.isel(example=slice(250)), only_common=True)
    assert found.attrs["pilot_examples"] == 250


@said(__file__)
def test_the_text(call: str, text: str) -> None:
    check(call, text, {**vars(pilots), **globals()})


def test_the_alpha_of_a_small_pilot_can_be_typed() -> None:
    with refused("pilot-too-small", "alpha 0.084, or plan without a pilot"):
        plausibly.plan(FEW, SAID, alpha=0.05)
    plausibly.plan(FEW, SAID, alpha=0.084, resamples=2, n=[20])
