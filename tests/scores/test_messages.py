"""Scores that cannot be made or used are refused by name."""

from __future__ import annotations

import numpy as np
import pytest

import plausibly
from conformal_world import world
from plausibly import registry
from plausibly.errors import IncompatibleComponents
from plausibly.kernels.types import Floats
from plausibly.plugin import SCORE
from refusals import refused

SUMMING = ["aps", "raps", "saps"]
ROWS = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])


@pytest.mark.parametrize(
    ("name", "parameter", "value", "text"),
    [
        ("raps", "penalty", -0.5, "must be >= 0.0, found -0.5"),
        ("raps", "penalty", float("nan"), "must be >= 0.0, found nan"),
        ("raps", "penalty", float("inf"), "must be < inf, found inf"),
        ("raps", "free_rank", -1, "must be >= 0, found -1"),
        ("raps", "free_rank", 1.5, "expected an integer, found 1.5"),
        ("raps", "randomised", 1, "expected true or false, found 1"),
        ("saps", "weight", 0, "must be > 0.0, found 0.0"),
        ("saps", "weight", float("inf"), "must be < inf, found inf"),
        ("aps", "randomised", "yes", 'expected true or false, found the text "yes"'),
        ("aps", "penalty", 0.1, "no such parameter; raps has"),
    ],
)
def test_parameters(name: str, parameter: str, value: object, text: str) -> None:
    with refused("component-parameter", f'score "{name}", {parameter}: {text}'):
        registry.resolve(SCORE, {"name": name, parameter: value})


@pytest.mark.parametrize("name", SUMMING)
def test_numbers_below_zero_are_no_probabilities(name: str) -> None:
    predictions, lam = world(20, dtype="float64")
    scores = (predictions - 0.5).assign_attrs(scale="any")
    scores[3, 1] = -1.25
    pieces = (f"score {name} adds", "expected scale probability", "found -1.25", "scale='logit'")
    with refused("scale-unsuitable", *pieces, kind=IncompatibleComponents):
        plausibly.calibrate(scores, lam, score=name)


@pytest.mark.parametrize("name", SUMMING)
@pytest.mark.parametrize("scale", ["any", "independent"])
def test_other_numbers_are_taken(name: str, scale: str) -> None:
    predictions, lam = world(20, dtype="float64")
    scores = (predictions * 0.9).assign_attrs(scale=scale)
    sets = plausibly.calibrate(scores, lam, score=name).predict(scores, 0.2)
    assert sets.any("label").all()


@pytest.mark.parametrize(
    ("uniform", "found"),
    [
        (np.array([0.5, 0.5]), "shape (2,)"),
        (np.full((2, 3), 0.5), "shape (2, 3)"),
        (np.full((1, 1), 0.5), "shape (1, 1)"),
        (np.array([[0.5], [1.5]]), "1.5"),
        (np.array([[-0.25], [0.5]]), "-0.25"),
        (np.array([[np.nan], [0.5]]), "nan"),
    ],
)
@pytest.mark.parametrize("name", SUMMING)
def test_uniforms_that_cannot_be_used(name: str, uniform: Floats, found: str) -> None:
    score = registry.resolve(SCORE, {"name": name, "randomised": True})
    with refused("uniform-malformed", f"score {name}", "shape (2, 1)", f"found {found} hint"):
        score.score(ROWS, uniform)
    with refused("uniform-missing", f"score {name}", "shape (2, 1)", "hint uniform="):
        score.score(ROWS, None)
