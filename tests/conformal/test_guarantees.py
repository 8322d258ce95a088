"""Every pair states what it guarantees, of what, and what would make it say something."""

from __future__ import annotations

from fractions import Fraction

import attrs
import numpy as np
import pytest
import xarray as xr

import plausibly
from conformal_world import world
from plausibly.guarantee import (
    CalibrationSummary,
    Claim,
    Guarantee,
    bounded,
    rounded,
)
from plausibly.plugin import COMBINER, resolve
from refusals import warned

ALPHA = Fraction(1, 10)


def drawn(n: int, held_out: int) -> tuple[Claim, CalibrationSummary]:
    """Return a claim about ten labels drawn per example, and its numbers."""
    return Claim(covers="a label"), CalibrationSummary(n=n, m=10, n_held_out=held_out)


def test_json_keeps_fractions_exact() -> None:
    p = plausibly.calibrate(*world(40), combiner="pac")
    guarantee = p.guarantee("0.123456")
    assert guarantee.to_json()["level"] == "13696/15625"
    assert Guarantee.from_json(guarantee.to_json()) == guarantee


@pytest.mark.parametrize(
    ("calibrator", "reason"),
    [("expected", "conformal risk control"), ("majority-vote", "split conformal prediction")],
)
def test_the_average_says_why_it_holds(calibrator: str, reason: str) -> None:
    guarantee = plausibly.calibrate(*world(40), calibrator=calibrator).guarantee("0.1")
    assert guarantee.reason.startswith(reason)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Fraction(9, 10), "0.90"),
        (0.8999, "0.8999"),
        (1, "1.00"),
        (0.95, "0.95"),
        (0.12345, "0.1235"),
    ],
)
def test_shares_are_shown_with_two_to_four_decimals(value: float, shown: str) -> None:
    assert rounded(value) == shown


def test_no_alpha_is_advised_that_is_none() -> None:
    predictions, lam = world(6)
    predictor = plausibly.calibrate(predictions, lam, calibrator="monte-carlo", combiner="ecdf")
    with warned("guarantee-vacuous", "expected at least 496 held-out", "found 3"):
        predictor.predict(predictions, "0.1")


Component = str | dict[str, object]
LABELS, UNIFORMS = "drawn labels", "the uniforms of the score"
APS: Component = {"name": "aps", "randomised": True}
SEPARATE: Component = {"name": "augmentation", "scores": "separate"}


@pytest.mark.parametrize(
    ("calibrator", "combiner", "score", "random"),
    [
        ("expected", "average", "probability", []),
        ("expected", "average", APS, [UNIFORMS]),
        ("expected", {"name": "average", "smoothed": True}, "probability", ["the uniform that"]),
        ({"name": "monte-carlo", "draws": 1}, "average", "probability", [LABELS]),
        ({"name": "monte-carlo", "draws": 3}, "maximum", APS, [LABELS, UNIFORMS]),
        ("expected", "held-out-rank", "probability", [LABELS]),
        ("majority-vote", "held-out-rank", "probability", []),
        ("majority-vote", "held-out-rank", APS, [UNIFORMS]),
        ("monte-carlo", "pac", APS, [UNIFORMS]),
        (SEPARATE, "maximum", "probability", []),
        (SEPARATE, "held-out-rank", "probability", [LABELS]),
        (SEPARATE, "exchangeable-average", "probability", ["the order of the augmentations"]),
        (
            {"name": "clustered", "by": "patient", "inner": {"name": "monte-carlo", "draws": 1}},
            "average",
            "probability",
            [LABELS],
        ),
    ],
)
def test_over_names_what_is_random(
    calibrator: Component, combiner: Component, score: Component, random: list[str]
) -> None:
    predictions, lam = world(40)
    if calibrator is SEPARATE:
        again = predictions * 0.9 + 0.1 / predictions.sizes["label"]
        predictions = xr.concat([predictions, again], "augmentation").assign_coords(
            augmentation=["one", "two"]
        )
    p = plausibly.calibrate(predictions, lam, calibrator=calibrator, combiner=combiner, score=score)
    over = p.guarantee("0.3").on_average
    every = (LABELS, UNIFORMS, "the uniform that", "the order of the augmentations")
    assert [one for one in every if one in over] == random


def test_weights_need_independent_examples_and_a_ratio() -> None:
    predictions, lam = world(40)
    weight = np.random.default_rng(0).uniform(0.5, 2, 40)
    site = np.where(np.arange(40) % 4, "north", "south")
    predictions = predictions.assign_coords(w=("example", weight), site=("example", site))
    inside = {"name": "weighted", "by": "w"}
    alone = plausibly.calibrate(predictions, lam, calibrator=inside).guarantee("0.1")
    said = " ".join(alone.assumes)
    assert "exchangeable" not in said
    for needed in ("independent draws", "answers to an example", "cannot have", "other data"):
        assert needed in said
    outside = {"name": "mondrian", "by": "site", "inner": inside}
    guarantee = plausibly.calibrate(predictions, lam, calibrator=outside).guarantee("0.1")
    everything = "; ".join(alone.assumes[:-1])
    assert guarantee.assumes == (
        f'{everything}; all of this within each value of "site"',
        alone.assumes[-1],
    )
    for name, count in (("north", 30), ("south", 10)):
        own = weight[site == name]
        worth = own.sum() ** 2 / (own**2).sum()
        assert (
            f"{name}: the weights are worth {worth:,.4g} equal ones, of {count}" in guarantee.notes
        )


@pytest.mark.parametrize("seven", [1, 7])
@pytest.mark.parametrize("up", [False, True])
def test_a_bound_never_says_more_than_the_number(seven: int, up: bool) -> None:
    for power in range(1, 15):
        for far in (Fraction(1, seven * 10**power), Fraction(3, 11 * 10**power)):
            for value in (far, 1 - far):
                for typed in (False, True):
                    shown = Fraction(bounded(value, up=up, typed=typed))
                    assert (shown >= value) if up else (shown <= value)
                    assert abs(shown - value) <= max(Fraction(1, 10**4), far) / 5
                    assert 0 < shown < 1 or seven == 1
                    if typed and 10**12 % value.denominator == 0:
                        assert shown == value


@pytest.mark.parametrize(
    ("alpha", "statement"),
    [
        ("0.1", "P(Y in C(X)) >= 0.90"),
        ("0.00004", "P(Y in C(X)) >= 0.99996"),
        ("0.1234567", "P(Y in C(X)) >= 0.8765433"),
        (Fraction(1, 3), "P(Y in C(X)) >= 0.6666"),
        (Fraction(1, 3 * 10**6), "P(Y in C(X)) >= 0.99999966"),
    ],
)
def test_a_statement_says_the_level_or_less(alpha: Fraction, statement: str) -> None:
    guarantee = resolve(COMBINER, "average").guarantee(*drawn(10**8, 0), Fraction(alpha))
    assert guarantee.statement() == statement
    assert guarantee.shown_level() == statement.removeprefix("P(Y in C(X)) >= ")
    risk = attrs.evolve(guarantee, target="risk", event="risk left out")
    shown = Fraction(risk.statement().removeprefix("E[risk left out] <= "))
    assert shown >= Fraction(alpha)
    assert (shown == Fraction(alpha)) is isinstance(alpha, str)


def test_a_small_delta_is_no_certainty() -> None:
    table = {"name": "pac", "delta": 1e-5, "bound": "held-out"}
    guarantee = resolve(COMBINER, table).guarantee(*drawn(50, 400), ALPHA)
    assert guarantee.statement().endswith("with probability 0.99999 over the calibration")
    assert "too: 0.899991" not in guarantee.notes[0]
    assert "too: 0.8999" in guarantee.notes[0]
    band = resolve(COMBINER, {"name": "ecdf", "delta": 1e-5}).guarantee(*drawn(50, 4000), ALPHA)
    assert "coverage at least 0.90 with probability 0.99999 over" in band.notes[0]
