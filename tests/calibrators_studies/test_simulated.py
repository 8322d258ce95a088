"""Where example-level calibration falls short, and what holds there instead; simulated."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest

import plausibly
from measured import simulated, worlds
from measured.simulated import Mean, margin
from measured.tables import PAC

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

LEVEL: Final = 0.9
MARGIN: Final = 4.0
"""Standard errors of a mean."""
NORMAL_999: Final = 3.0902
"""The 99.9% point of the normal distribution."""


def keeps(found: Mean, level: float = LEVEL) -> bool:
    return found.mean + MARGIN * found.error >= level


def test_weights_restore_coverage_under_a_shift() -> None:
    pytest.importorskip("sklearn", reason="ratios are estimated by its logistic regression")
    found = simulated.shift(runs=10, n=400, test=400)
    plain = found["expected"]
    assert plain.mean + MARGIN * plain.error < LEVEL - 0.05
    for name in ("weighted", "weighted, estimated"):
        assert keeps(found[name]), name
        # Restored, and not by sets of every label.
        assert found[name].mean < LEVEL + 0.03, name


def test_an_example_of_a_new_patient_is_covered() -> None:
    found = simulated.new_patient(runs=25, test=200)
    plain, grouped = found["expected"], found["clustered"]
    assert plain.mean + MARGIN * plain.error < LEVEL - 0.05
    assert keeps(grouped)
    # Thirty patients: at most 2 / (G + 1) more than 1 - alpha.
    assert grouped.mean - MARGIN * grouped.error < LEVEL + 2 / 31


@pytest.mark.parametrize("runs", [25, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("delta", PAC)
def test_calibrations_by_pac_fall_short_no_more_often_than_delta(delta: float, runs: int) -> None:
    n, held_out = PAC[delta]
    short = simulated.violations(delta, runs, n=n, held_out=held_out, population=5000)
    assert short <= delta + margin(delta, runs, errors=NORMAL_999)


def test_smoothed_p_values_of_one_draw_are_uniform() -> None:
    """Scores in tenths: p-values of drawn labels have no atoms, and all deciles are as likely."""
    shares = []
    for run in range(30):
        random = np.random.default_rng([80, run])
        known, new = worlds.plain(30, random, ties=True), worlds.plain(200, random, ties=True)
        predictions, lam = known.tables()
        asked, _ = new.tables("new")
        predictor = plausibly.calibrate(
            predictions,
            lam,
            calibrator="monte-carlo",
            draws=1,
            combiner={"name": "average", "smoothed": True},
            seed=run,
        )
        p = predictor.p_values(asked).values
        # Weighted by the plausibilities: the p-value of a label that an annotator gives.
        weights = new.votes / worlds.ANNOTATORS
        shares.append(
            [(weights * (p <= decile / 10)).sum(axis=1).mean() for decile in range(1, 10)]
        )
    found = np.array(shares)
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (abs(found.mean(axis=0) - np.arange(1, 10) / 10) <= MARGIN * error).all()
