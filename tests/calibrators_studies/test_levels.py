"""Simulated validity: sets leave out of new examples no more than is guaranteed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import attrs
import numpy as np
import pytest
from numpy.typing import NDArray

import plausibly
from measured import worlds
from measured.worlds import Examples
from plausibly.guarantee import Guarantee

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

ALPHAS = ("0.1", "0.3")
CALIBRATIONS, TEST = 30, 100
MARGIN = 4.0
"""Standard errors of the mean over independent calibrations."""

Numbers = NDArray[np.float64]
Maker = Callable[..., Examples]
# Any: tables of components hold names, numbers and other tables.
Component = Mapping[str, Any]


def inside(name: str, by: str, inner: Component | str = "expected") -> Component:
    return {"name": name, "by": by, "inner": inner}


def one_each(count: int, random: np.random.Generator, *, ties: bool) -> Examples:
    """Return one example of each new patient."""
    return worlds.one_each(worlds.patients(count, random, ties=ties, large=6), random)


def in_one_view(count: int, random: np.random.Generator, *, ties: bool) -> Examples:
    """Return examples of which one augmentation is seen."""
    made = worlds.augmented(count, random, ties=ties)
    return attrs.evolve(made, scores=made.scores[0])


DRAWN: Component = {"name": "monte-carlo", "draws": 4}
EVEN: Component = {**DRAWN, "systematic": True}
RISK: Component = {"name": "risk", "by": "risk"}
MASS: Component = {"name": "mass-coverage", "leave_out": 0.1}
PATIENTS = (partial(worlds.patients, large=6), one_each)
SHIFT = (partial(worlds.shifted, new=False), partial(worlds.shifted, new=True))
PLAIN, SITES, VIEWS = ((make, make) for make in (worlds.plain, worlds.sites, worlds.augmented))
UNLIKE = (SHIFT[1], SHIFT[1])
"""Labels that are not as frequent, nor as sure, as each other."""

SMOOTHED: Component = {"name": "average", "smoothed": True}
PAC: Component = {"name": "pac", "delta": 0.1}
PAC_APART: Component = {**PAC, "bound": "held-out"}
BAND: Component = {"name": "ecdf", "delta": 0.1}
AVERAGE, RANK = "average", "held-out-rank"
STUDIES: dict[str, tuple[Component, tuple[Maker, Maker], list[Component | str]]] = {
    "group": (inside("mondrian", "site"), SITES, [AVERAGE]),
    "group, drawn": (inside("mondrian", "site", DRAWN), SITES, [SMOOTHED, "maximum", "e-value"]),
    "label": (inside("mondrian", "label"), UNLIKE, [SMOOTHED]),
    "label, drawn": (inside("mondrian", "label", DRAWN), UNLIKE, [AVERAGE]),
    "label, votes": (inside("mondrian", "label", "majority-vote"), UNLIKE, [AVERAGE]),
    "drawn": (DRAWN, PLAIN, ["median", "exchangeable-average"]),
    "systematic": (EVEN, PLAIN, [AVERAGE, "geometric", RANK, PAC, PAC_APART, BAND]),
    "votes": ({"name": "majority-vote"}, PLAIN, [SMOOTHED, PAC]),
    "weights": (inside("weighted", "weight"), SHIFT, [AVERAGE]),
    "weights, drawn": (inside("weighted", "weight", DRAWN), SHIFT, [AVERAGE, "harmonic"]),
    "weights, risk": (inside("weighted", "weight", RISK), SHIFT, [AVERAGE]),
    "patients": (inside("clustered", "patient"), PATIENTS, [AVERAGE]),
    "patients, drawn": (inside("clustered", "patient", DRAWN), PATIENTS, ["bonferroni"]),
    "patients, mass": (inside("clustered", "patient", MASS), PATIENTS, [SMOOTHED]),
    "risk": (RISK, PLAIN, [AVERAGE, SMOOTHED]),
    "mass": (MASS, PLAIN, [AVERAGE]),
    "views, mean": ({"name": "augmentation", "scores": "mean"}, VIEWS, [AVERAGE, RANK]),
    "views, separate": (
        {"name": "augmentation", "scores": "separate"},
        VIEWS,
        ["twice-average", "maximum", "exchangeable-median", RANK, PAC_APART],
    ),
    "views, pooled": (
        {"name": "augmentation", "scores": "pooled"},
        (worlds.augmented, in_one_view),
        [AVERAGE, RANK, BAND],
    ),
}


def left_out(
    lam: Numbers, risk: Numbers, sets: NDArray[np.bool_], guarantee: Guarantee
) -> NDArray[np.float64]:
    """Return the means of what a guarantee bounds, less its bound: one, or one per label."""
    assert guarantee.level is not None
    # A guarantee for this calibration holds with its confidence.
    bound = float(1 - guarantee.level * (guarantee.confidence or 1))
    if guarantee.target == "majority-vote":
        lam = np.eye(lam.shape[1])[lam.argmax(axis=1)]
    missing: Numbers = lam * ~sets
    if "label" in guarantee.per:
        return np.asarray((missing - bound * lam).mean(axis=0))
    if guarantee.target == "risk":
        missing = missing * risk
    left: Numbers = missing.sum(axis=1)
    if guarantee.target == "mass":
        left = np.where(left > 0.1 + 1e-9, 1.0, 0.0)
    return np.atleast_1d(left.mean() - bound)


@pytest.mark.parametrize("ties", [False, True], ids=["distinct", "tied"])
@pytest.mark.parametrize("name", STUDIES)
def test_levels_are_kept(name: str, ties: bool) -> None:
    calibrator, (known, new), combiners = STUDIES[name]
    n = 10 if ties else 40
    excess: dict[str, list[Numbers]] = {}
    for number in range(CALIBRATIONS):
        random = np.random.default_rng([number, ties])
        model, lam = known(n, random, ties=ties).tables()
        test, answers = new(TEST, random, ties=ties).tables("new")
        for combiner in combiners:
            predictor = plausibly.calibrate(
                model, lam, calibrator=calibrator, combiner=combiner, seed=number
            )
            for alpha in ALPHAS:
                found = left_out(
                    answers.values,
                    test["risk"].values,
                    predictor.predict(test, alpha).transpose("example", "label").values,
                    predictor.guarantee(alpha),
                )
                excess.setdefault(f"{combiner} at {alpha}", []).append(found)
    for pair, one in excess.items():
        error = np.std(one, axis=0, ddof=1) / CALIBRATIONS**0.5
        assert (np.mean(one, axis=0) <= MARGIN * error + 1e-12).all(), pair
