"""Simulated validity, and where example-level calibration falls short."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import attrs
import numpy as np
import pytest
from numpy.typing import NDArray

import plausibly
from calibrators_labelled import AUGMENTED, CALIBRATORS, POOLED, Table, inside
from measured import simulated, tables, worlds
from measured.simulated import Mean, margin
from measured.worlds import Examples
from plausibly.guarantee import Guarantee

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning"),
]

ALPHAS = ("0.1", "0.3")
CALIBRATIONS, TEST = 30, 100
LEVEL: Final = 0.9
MARGIN: Final = 4.0
"""Standard errors of the mean over independent calibrations."""
NORMAL_999: Final = 3.0902
"""The 99.9% point of the normal distribution."""

Numbers = NDArray[np.float64]
Maker = Callable[..., Examples]


def one_each(count: int, random: np.random.Generator, *, ties: bool) -> Examples:
    """Return one example of each new patient."""
    return worlds.one_each(worlds.patients(count, random, ties=ties, large=6), random)


def in_one_view(count: int, random: np.random.Generator, *, ties: bool) -> Examples:
    """Return examples of which one augmentation is seen."""
    made = worlds.augmented(count, random, ties=ties)
    return attrs.evolve(made, scores=made.scores[0])


PATIENTS = (partial(worlds.patients, large=6), one_each)
SHIFT = (partial(worlds.shifted, new=False), partial(worlds.shifted, new=True))
PLAIN, SITES, VIEWS = ((make, make) for make in (worlds.plain, worlds.sites, worlds.augmented))
UNLIKE = (SHIFT[1], SHIFT[1])
"""Labels that are not as frequent, nor as sure, as each other."""

SMOOTHED: Table = {"name": "average", "smoothed": True}
PAC: Table = {"name": "pac", "delta": 0.1}
PAC_APART: Table = {**PAC, "bound": "held-out"}
BAND: Table = {"name": "ecdf", "delta": 0.1}
VOTES: Table = {"name": "majority-vote"}
MASS = CALIBRATORS["mass"]
AVERAGE, RANK = "average", "held-out-rank"
STUDIES: list[tuple[str, Table, tuple[Maker, Maker], list[Table | str]]] = [
    ("group", CALIBRATORS["group"], SITES, [AVERAGE]),
    ("group of draws", CALIBRATORS["group of draws"], SITES, [SMOOTHED, "maximum", "e-value"]),
    ("label", CALIBRATORS["label"], UNLIKE, [SMOOTHED]),
    ("label of draws", CALIBRATORS["label of draws"], UNLIKE, [AVERAGE]),
    ("label of votes", inside("mondrian", "label", VOTES), UNLIKE, [AVERAGE]),
    ("draws", {"name": "monte-carlo", "draws": 4}, PLAIN, ["median", "exchangeable-average"]),
    (
        "systematic",
        CALIBRATORS["systematic"],
        PLAIN,
        [AVERAGE, "geometric", RANK, PAC, PAC_APART, BAND],
    ),
    ("votes", VOTES, PLAIN, [SMOOTHED, PAC]),
    ("weights", CALIBRATORS["weights"], SHIFT, [AVERAGE]),
    ("weights of draws", CALIBRATORS["weights of draws"], SHIFT, [AVERAGE, "harmonic"]),
    ("weights of risk", CALIBRATORS["weights of risk"], SHIFT, [AVERAGE]),
    ("patients", CALIBRATORS["patients"], PATIENTS, [AVERAGE]),
    ("patients of draws", CALIBRATORS["patients of draws"], PATIENTS, ["bonferroni"]),
    ("patients of mass", inside("clustered", "patient", MASS), PATIENTS, [SMOOTHED]),
    ("risk", CALIBRATORS["risk"], PLAIN, [AVERAGE, SMOOTHED]),
    ("mass", MASS, PLAIN, [AVERAGE]),
    ("mean", AUGMENTED["mean"], VIEWS, [AVERAGE, RANK]),
    (
        "separate",
        AUGMENTED["separate"],
        VIEWS,
        ["twice-average", "maximum", "exchangeable-median", RANK, PAC_APART],
    ),
    ("pooled", POOLED, (worlds.augmented, in_one_view), [AVERAGE, RANK, BAND]),
]


def left_out(
    answers: Numbers, risk: Numbers, sets: NDArray[np.bool_], guarantee: Guarantee
) -> Numbers:
    """Return the means of what a guarantee bounds, less its bound: one, or one per label."""
    assert guarantee.level is not None
    # A guarantee for this calibration holds with its confidence.
    bound = float(1 - guarantee.level * (guarantee.confidence or 1))
    if guarantee.target == "majority-vote":
        answers = np.eye(answers.shape[1])[answers.argmax(axis=1)]
    missing: Numbers = answers * ~sets
    if "label" in guarantee.per:
        return np.asarray((missing - bound * answers).mean(axis=0))
    if guarantee.target == "risk":
        missing = missing * risk
    left: Numbers = missing.sum(axis=1)
    if guarantee.target == "mass":
        left = np.where(left > float(1 - (guarantee.share or 0)) + 1e-9, 1.0, 0.0)
    return np.atleast_1d(left.mean() - bound)


@pytest.mark.parametrize("ties", [False, True], ids=["distinct", "tied"])
@pytest.mark.parametrize(
    ("calibrator", "makers", "combiners"),
    [study[1:] for study in STUDIES],
    ids=[name for name, *_ in STUDIES],
)
def test_levels_are_kept(
    calibrator: Table, makers: tuple[Maker, Maker], combiners: list[Table | str], ties: bool
) -> None:
    known, new = makers
    excess: dict[str, list[Numbers]] = {}
    for number in range(CALIBRATIONS):
        random = np.random.default_rng([number, ties])
        model, votes = known(10 if ties else 40, random, ties=ties).tables()
        test, answers = new(TEST, random, ties=ties).tables("new")
        for combiner in combiners:
            predictor = plausibly.calibrate(
                model, votes, calibrator=calibrator, combiner=combiner, seed=number
            )
            sets = predictor.predict(test, ALPHAS).transpose("alpha", "example", "label").values
            for alpha, kept in zip(ALPHAS, sets, strict=True):
                guarantee = predictor.guarantee(alpha)
                missed = left_out(answers.values, test["risk"].values, kept, guarantee)
                excess.setdefault(f"{combiner} at {alpha}", []).append(missed)
    for pair, means in excess.items():
        error = np.std(means, axis=0, ddof=1) / CALIBRATIONS**0.5
        assert (np.mean(means, axis=0) <= MARGIN * error + 1e-12).all(), pair


def keeps(result: Mean) -> bool:
    return result.mean + MARGIN * result.error >= LEVEL


def test_weights_restore_coverage_under_a_shift() -> None:
    pytest.importorskip("sklearn", reason="ratios are estimated by its logistic regression")
    result = simulated.shift(runs=10, n=400, test=400)
    plain = result["expected"]
    assert plain.mean + MARGIN * plain.error < LEVEL - 0.05
    for name in ("weighted", "weighted, estimated"):
        assert keeps(result[name]), name
        # Restored, and not by sets of every label.
        assert result[name].mean < LEVEL + 0.03, name


def test_an_example_of_a_new_patient_is_covered() -> None:
    result = simulated.new_patient(runs=25, test=200)
    plain, grouped = result["expected"], result["clustered"]
    assert plain.mean + MARGIN * plain.error < LEVEL - 0.05
    assert keeps(grouped)
    # Thirty patients: at most 2 / (G + 1) more than 1 - alpha.
    assert grouped.mean - MARGIN * grouped.error < LEVEL + 2 / 31


@pytest.mark.parametrize("runs", [25, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("delta", tables.PAC)
def test_calibrations_by_pac_fall_short_no_more_often_than_delta(delta: float, runs: int) -> None:
    n, held_out = tables.PAC[delta]
    short = simulated.violations(delta, runs, n=n, held_out=held_out, population=5000)
    assert short <= delta + margin(delta, runs, errors=NORMAL_999)


def test_smoothed_p_values_of_one_draw_are_uniform() -> None:
    """Scores in tenths: p-values of drawn labels have no atoms, and all deciles are as likely."""
    shares = []
    for run in range(30):
        random = np.random.default_rng([80, run])
        known, new = worlds.plain(30, random, ties=True), worlds.plain(200, random, ties=True)
        one_draw = {"name": "monte-carlo", "draws": 1}
        predictor = plausibly.calibrate(
            *known.tables(), calibrator=one_draw, combiner=SMOOTHED, seed=run
        )
        p = predictor.p_values(new.tables("new")[0]).values
        # Weighted by the plausibilities: the p-value of a label that an annotator gives.
        weights = new.votes / worlds.ANNOTATORS
        shares.append([(weights * (p <= d / 10)).sum(axis=1).mean() for d in range(1, 10)])
    result = np.array(shares)
    error = result.std(axis=0, ddof=1) / np.sqrt(len(result))
    assert (abs(result.mean(axis=0) - np.arange(1, 10) / 10) <= MARGIN * error).all()
