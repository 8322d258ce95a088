"""Simulated validity: every new calibrator with every combiner that claims a level keeps it."""

from __future__ import annotations

import numpy as np
import pytest

import plausibly
import studies_claims as claims
from studies_claims import (
    ALONE,
    LONG,
    QUICK,
    STUDIES,
    VOTES,
    Effort,
    Study,
    claimed,
    excesses,
    kept,
)

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

MEANS = ["average", "twice-average"]
MASSES = [*MEANS, "smoothed"]
HELD_OUT = ["ecdf", "held-out-rank", "pac"]
MERGED = [
    "maximum",
    "bonferroni",
    "median",
    "geometric",
    "harmonic",
    "exchangeable-average",
    "exchangeable-median",
    "exchangeable-geometric",
]
EMPIRICAL = ["cauchy", "fisher", "stouffer"]

CLAIMED = {
    "mondrian": MASSES,
    "mondrian, drawn": [*MASSES, *MERGED, "e-value"],
    "mondrian, risk": MASSES,
    "mondrian, mass": MASSES,
    "systematic": [*MASSES, *MERGED, "e-value"],
    "weighted": MEANS,
    "weighted, drawn": [*MEANS, *MERGED],
    "weighted, risk": MEANS,
    "weighted, mass": MEANS,
    "clustered": MASSES,
    "grouped, drawn": [*MASSES, *MERGED],
    "grouped, risk": MASSES,
    "grouped, mass": MASSES,
    "augmentation, mean": MASSES,
    "augmentation, separate": [*MEANS, *MERGED],
    "augmentation, pooled": MASSES,
}
CLAIMED_ALONE = {
    "label": MASSES,
    "label, drawn": MASSES,
    "systematic": [*MASSES, *MERGED, *HELD_OUT, "e-value"],
    "augmentation, mean": [*MASSES, *HELD_OUT],
    "augmentation, separate": [*MEANS, *MERGED, *HELD_OUT],
    "augmentation, pooled": [*MASSES, *HELD_OUT],
}
CLAIMED_OF_VOTES = {
    "mondrian, voted": [*MASSES, *MERGED, *EMPIRICAL, "e-value"],
    "weighted, voted": [*MEANS, *MERGED, *EMPIRICAL],
    "grouped, voted": [*MASSES, *MERGED, *EMPIRICAL],
    "label, voted": MASSES,
}


@pytest.mark.parametrize(
    ("studies", "expected"),
    [(STUDIES, CLAIMED), (ALONE, CLAIMED_ALONE), (VOTES, CLAIMED_OF_VOTES)],
    ids=["apart", "alone", "votes"],
)
def test_pairs_that_claim_a_level(
    studies: dict[str, Study], expected: dict[str, list[str]]
) -> None:
    """What is measured below is all that is claimed: a new combiner or claim is met here."""
    assert {name: sorted(claimed(study)) for name, study in studies.items()} == {
        name: sorted(found) for name, found in expected.items()
    }


def beyond(
    study: Study, names: list[str], effort: Effort, *, n: int, ties: bool
) -> dict[str, list[list[float]]]:
    """Return the combiners with which more is left out than guaranteed, and by how much."""
    found = {name: excesses(study, name, effort, n=n, ties=ties) for name in names}
    return {
        name: excess.mean(axis=1).round(4).tolist()
        for name, excess in found.items()
        if not kept(excess)
    }


# The small form: averaged p-values, and 500 examples whose scores are distinct.
LONG_RULES = MASSES if claims.IN_CI else [*MASSES, *MERGED, *EMPIRICAL, "e-value"]
FIVE_HUNDRED = [(500, False)] if claims.IN_CI else [(500, False), (500, True)]


def sizes(quick: list[tuple[int, bool]], long: list[tuple[int, bool]]) -> list[object]:
    """Return numbers of examples, whether they tie, and the effort: the long ones are slow."""
    return [
        *(pytest.param(*size, QUICK) for size in quick),
        *(pytest.param(*size, LONG, marks=pytest.mark.slow) for size in (*long, *FIVE_HUNDRED)),
    ]


@pytest.mark.parametrize(
    ("n", "ties", "effort"), sizes([(10, False), (50, True)], [(10, True), (50, False)])
)
@pytest.mark.parametrize("name", STUDIES)
def test_levels_are_kept(name: str, n: int, ties: bool, effort: Effort) -> None:
    asked = [one for one in CLAIMED[name] if effort is QUICK or one in LONG_RULES]
    assert beyond(STUDIES[name], asked, effort, n=n, ties=ties) == {}


@pytest.mark.parametrize(
    ("n", "ties", "effort"), sizes([(10, True), (50, False)], [(10, False), (50, True)])
)
@pytest.mark.parametrize("name", ALONE)
def test_levels_are_kept_one_by_one(name: str, n: int, ties: bool, effort: Effort) -> None:
    """What is only calibrated by itself: the rest is measured in worlds apart."""
    asked = CLAIMED_ALONE[name] if name.startswith("label") else HELD_OUT
    assert beyond(ALONE[name], asked, effort, n=n, ties=ties) == {}


@pytest.mark.parametrize(
    "name", ["mondrian, drawn", "systematic", "clustered", "augmentation, mean"]
)
def test_worlds_apart_are_calibrations_of_their_own(name: str) -> None:
    """What the studies rest on: the sets of a world are those of its own calibration."""
    study = STUDIES[name]
    data = claims.simulated(study, 5, n=40, test=20, ties=False)
    together = claims.calibrated(study, data, {"name": "average"}, 3).predict(data.new, "0.3")
    whole = 0
    for world in set(data.known["world"].values.tolist()):
        own, new = data.known["world"] == world, data.new["world"] == world
        alone = plausibly.calibrate(
            data.known.isel(example=own.values),
            data.plausibilities.isel(example=own.values),
            calibrator=study.calibrator,
            seed=3,
        ).predict(data.new.isel(example=new.values), "0.3")
        np.testing.assert_array_equal(alone, together.isel(example=new.values))
        whole += int(alone.all())
    assert whole == 0
