"""One calibration, any alpha: thresholds, p-values, sets, arrays."""

from __future__ import annotations

import json
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from kit_components import Mean, changed
from plausibly.calibration.threshold import warn_of_vacuous
from plausibly.io.sets import read_sets, write_sets
from refusals import refused, warned
from tables import LABELS, labelled, world

ALPHAS = [0.3, 0.1, 0.05]
PREDICTOR = plausibly.calibrate(*world(100))
NEW = world(70, seed=1, start=500)[0]


def test_sets_carry_coordinates_guarantees_and_the_overlap() -> None:
    sets = PREDICTOR.predict(NEW, ALPHAS)
    assert "patient" in sets.coords
    assert sets.dtype == bool
    stated = [plausibly.Guarantee.from_json(g) for g in json.loads(sets.attrs["guarantees"])]
    assert stated == [PREDICTOR.guarantee(alpha) for alpha in ALPHAS]
    assert [g.level for g in stated] == [Fraction(7, 10), Fraction(9, 10), Fraction(19, 20)]
    assert sets.attrs["fingerprint"] == PREDICTOR.fingerprint
    assert sets.attrs["calibration_overlap"] == 0
    both = xr.concat([NEW, world(100)[0][:7]], dim="example", join="outer")
    assert PREDICTOR.predict(both, 0.1).attrs["calibration_overlap"] == 7


def test_labels_and_scale_must_be_those_of_the_calibration() -> None:
    narrow = NEW[:, :3] / NEW[:, :3].sum("label")
    with refused("predictor-labels", "predictor's 4 labels by name found 3 of them"):
        PREDICTOR.predict(narrow, 0.1)
    with refused("predictor-labels", "found 3 of them and 1 others"):
        PREDICTOR.p_values(NEW.assign_coords(label=[*LABELS[:3], "none"]))
    with refused("scale-differs"):
        PREDICTOR.predict(NEW.assign_attrs(scale="logit"), 0.1)
    assert PREDICTOR.predict(NEW.assign_attrs(scale="probability"), 0.1).dtype == bool
    predictions, answers = world(20)
    with refused("scale-unsuitable"):
        plausibly.calibrate(predictions.assign_attrs(scale="any"), answers, score="log-probability")


def test_logits_that_underflow_as_probabilities_are_told_apart_in_log_space() -> None:
    values = [[0.0, -2000.0 - i, -3000.0] for i in range(19)]
    logits = labelled(values, attrs={"scale": "logit"})
    answers = labelled(np.tile([0.0, 1.0, 0.0], (19, 1)))
    sets = plausibly.calibrate(logits, answers, score="log-probability").predict(logits, 0.1)
    assert not sets.sel(label="c").any()
    # As probabilities both are zero, and ties stay together.
    assert plausibly.calibrate(logits, answers).predict(logits, 0.1).sel(label="c").all()


def test_a_warning_says_how_many_examples_are_missing() -> None:
    predictions, answers = world(12)
    p = plausibly.calibrate(predictions, answers)
    hint = "hint alpha=0.077, or annotate 7 more"
    with warned("guarantee-vacuous", "expected at least 19 calibration examples found 12", hint):
        assert p.predict(predictions, 0.05).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not p.predict(predictions, "0.077").all()
    alone = plausibly.calibrate(*world(1), combiner="twice-average")
    with warned("guarantee-vacuous", "found 1 hint annotate 18 more"):
        alone.predict(predictions, 0.1)


@pytest.mark.parametrize(
    ("unit", "hint"),
    [
        ("held-out examples", 'hint calibrate with combiner="average", which holds none out'),
        ("calibration examples", "hint a larger alpha, or another score"),
    ],
)
def test_enough_examples_and_still_vacuous(unit: str, hint: str) -> None:
    """Examples of the lowest rank, not the number of examples, are then to blame."""
    level = Fraction(9, 10)
    guarantee = plausibly.Guarantee(
        alpha=1 - level, level=level, reason="", vacuous=True, has=500, needed=496, unit=unit
    )
    with warned("guarantee-vacuous", f"found too many of 500 {unit} {hint}"):
        warn_of_vacuous(guarantee, "ecdf")


def test_majority_vote_coverage_breaks_ties_in_the_order_of_the_calibration(tmp_path: Path) -> None:
    """Reordered test labels, and a file between, change no figure."""
    p = plausibly.calibrate(*world(60))
    new, truth = world(80, seed=7, start=400, votes=2)
    straight = plausibly.evaluate(p.predict(new, 0.4), truth).data
    turned = p.predict(new.isel(label=[3, 1, 0, 2]), 0.4)
    write_sets(turned, tmp_path / "sets.csv")
    for sets in (turned, read_sets(tmp_path / "sets.csv")):
        again = plausibly.evaluate(sets, truth.isel(label=[1, 2, 3, 0])).data
        for name in (
            "majority_vote_coverage",
            "aggregated_coverage",
            "majority_vote_coverage_mean",
        ):
            np.testing.assert_array_equal(again[name], straight[name])


def test_scores_that_tie_at_minus_infinity_are_vacuous() -> None:
    """-inf is a score like any other: nothing lies below it."""
    predictions, answers = world(60, dtype="float64")
    wrong = np.argmin(answers.values, axis=1)
    certain = predictions.copy(data=np.where(np.arange(4) == wrong[:, None], 0.0, 1 / 3))
    voted = answers.copy(data=np.eye(4)[wrong]).drop_vars("denominator")
    p = plausibly.calibrate(certain, voted, score="log-probability")
    with warned("guarantee-vacuous"):
        assert p.predict(certain, 0.2).all()


def test_an_alpha_of_many_digits_never_gets_a_smaller_set() -> None:
    """Fraction(0.3) is a hair below three tenths: the label whose p is 0.3 stays in."""
    predictions = labelled(
        np.stack([np.arange(1.0, 10.0), np.zeros(9)], axis=1), attrs={"scale": "any"}
    )
    answers = labelled(np.tile([1.0, 0.0], (9, 1)))
    p = plausibly.calibrate(predictions, answers, calibrator="majority-vote")
    assert Fraction(0.3) < Fraction(3, 10)
    assert float(p.threshold(Fraction(0.3))) == 2.0
    assert float(p.threshold("0.3")) == float(p.threshold(Fraction(3, 10))) == 3.0


@pytest.mark.parametrize(
    "combiner",
    [
        changed(Mean, combine=lambda self, p, held_out: 1e-9 * p.mean()),
        changed(Mean, combine=lambda self, p, held_out: 1e-9 * p.each().max(axis=0), needs="each"),
    ],
)
def test_a_rule_that_lets_nothing_in_has_an_infinite_threshold(combiner: Mean) -> None:
    predictions, answers = world(30)
    p = plausibly.calibrate(predictions, answers, calibrator="monte-carlo", combiner=combiner)
    assert float(p.threshold(0.1)) == np.inf
    assert not p.predict(predictions, 0.1).any()
