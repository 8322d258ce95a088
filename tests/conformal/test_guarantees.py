"""Guarantees in numbers and words, beside the nets of every pair."""

from __future__ import annotations

from fractions import Fraction

import attrs
import numpy as np
import pytest
import xarray as xr

import plausibly
from call_files import each_call
from plausibly.guarantee import CalibrationSummary, Claim, Guarantee, bounded
from plausibly.plugin import COMBINER, resolve
from refusals import warned
from tables import world

ALPHA = Fraction(1, 10)
PREDICTIONS, ANSWERS = world(40)


def stated(combiner: str | dict[str, object], n: int, held_out: int, alpha: Fraction) -> Guarantee:
    """Return the guarantee of a combiner about ten labels drawn per example."""
    summary = CalibrationSummary(n=n, m=10, n_held_out=held_out)
    return resolve(COMBINER, combiner).guarantee(Claim(covers="a label"), summary, alpha)


def test_no_alpha_is_advised_that_is_none() -> None:
    predictions, answers = world(6)
    predictor = plausibly.calibrate(predictions, answers, calibrator="monte-carlo", combiner="ecdf")
    with warned("guarantee-vacuous", "expected at least 496 held-out", "found 3"):
        predictor.predict(predictions, "0.1")


LABELS, UNIFORMS = "drawn labels", "the uniforms of the score"
EVERY = (LABELS, UNIFORMS, "the uniform that", "the order of the augmentations")


@pytest.mark.parametrize(
    ("calibrator", "combiner", "random"),
    [
        ("expected", "average", [UNIFORMS]),
        ("expected", {"name": "average", "smoothed": True}, [UNIFORMS, "the uniform that"]),
        ({"name": "monte-carlo", "draws": 3}, "maximum", [LABELS, UNIFORMS]),
        ("expected", "held-out-rank", [LABELS, UNIFORMS]),
        ("majority-vote", "held-out-rank", [UNIFORMS]),
        ("monte-carlo", "pac", [UNIFORMS]),
    ],
)
def test_what_is_random_is_named(
    calibrator: str | dict[str, object], combiner: str | dict[str, object], random: list[str]
) -> None:
    aps = {"name": "aps", "randomised": True}
    for score, expected in ((aps, random), ("probability", [r for r in random if r != UNIFORMS])):
        predictor = plausibly.calibrate(
            PREDICTIONS, ANSWERS, calibrator=calibrator, combiner=combiner, score=score
        )
        on_average = predictor.guarantee("0.3").on_average
        assert [part for part in EVERY if part in on_average] == expected


def test_the_worth_of_weights_is_noted_for_each_group() -> None:
    weight = np.random.default_rng(0).uniform(0.5, 2, 40)
    site = np.where(np.arange(40) % 4, "north", "south")
    model: xr.DataArray = PREDICTIONS.assign_coords(w=("example", weight), site=("example", site))
    inner = {"name": "weighted", "by": "w"}
    mondrian = {"name": "mondrian", "by": "site", "inner": inner}
    alone = plausibly.calibrate(model, ANSWERS, calibrator=inner).guarantee("0.1")
    guarantee = plausibly.calibrate(model, ANSWERS, calibrator=mondrian).guarantee("0.1")
    everything = "; ".join(alone.assumes[:-1])
    assert guarantee.assumes[0] == f'{everything}; all of this within each value of "site"'
    assert guarantee.assumes[1] == alone.assumes[-1]
    for name, count in (("north", 30), ("south", 10)):
        own = weight[site == name]
        worth = own.sum() ** 2 / (own**2).sum()
        note = f"{name}: the weights are worth {worth:,.4g} equal ones, of {count}"
        assert note in guarantee.notes


@pytest.mark.parametrize("seven", [1, 7])
@pytest.mark.parametrize("up", [False, True])
def test_a_bound_never_says_more_than_the_number(seven: int, up: bool) -> None:
    for power in range(1, 15):
        for far in (Fraction(1, seven * 10**power), Fraction(3, 11 * 10**power)):
            for value, typed in ((far, False), (1 - far, False), (far, True), (1 - far, True)):
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
    guarantee = stated("average", 10**8, 0, Fraction(alpha))
    assert guarantee.statement() == statement
    assert guarantee.shown_level() == statement.removeprefix("P(Y in C(X)) >= ")
    risk = attrs.evolve(guarantee, target="risk", event="risk left out")
    shown = Fraction(risk.statement().removeprefix("E[risk left out] <= "))
    assert shown >= Fraction(alpha)
    assert (shown == Fraction(alpha)) is isinstance(alpha, str)


def test_a_small_delta_is_no_certainty() -> None:
    guarantee = stated({"name": "pac", "delta": 1e-5, "bound": "held-out"}, 50, 400, ALPHA)
    assert guarantee.statement().endswith("with probability 0.99999 over the calibration")
    assert "too: 0.8999" in guarantee.notes[0]
    assert "too: 0.899991" not in guarantee.notes[0]
    band = stated({"name": "ecdf", "delta": 1e-5}, 50, 4000, ALPHA)
    assert "coverage at least 0.90 with probability 0.99999 over" in band.notes[0]


test_each_call_gives_its_text = each_call(__file__, globals())
