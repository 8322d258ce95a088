"""Real annotations: what calibrators keep over half splits, and what they cost.

Everyday forms take few splits and margins of four standard errors of their mean; the long ones
take a hundred.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from measured import real
from measured.data import MULTI_LABEL, load
from measured.real import Measured
from measured.tables import FOUR
from studies_claims import IN_CI, MARGIN

pytestmark = pytest.mark.realdata

LEVEL = 0.9
NEAR = 0.01
MANY = 6 if IN_CI else 100
FEW = 3 if IN_CI else 40


def near(found: Measured, level: float, within: float = NEAR) -> bool:
    """Return whether a mean may be that near to its level: certain splits are one draw of many."""
    return abs(found.mean - level) <= within + MARGIN * found.error


HALVES: Mapping[str, Mapping[str, float]] = {
    "chaosnli_snli": {"surer": 0.836, "less sure": 0.976},
    "cifar10h": {"surer": 0.980, "less sure": 0.830},
}
"""Coverage of the halves of predicted entropy, calibrated together, as a study found it."""


@pytest.mark.parametrize(
    ("splits", "slack"),
    [
        (4, MARGIN),
        pytest.param(6 if IN_CI else 40, MARGIN if IN_CI else 0, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("name", HALVES)
def test_mondrian_equalises_the_halves_of_predicted_entropy(
    shared: Path, name: str, splits: int, slack: float
) -> None:
    found = real.by_group(load(shared / "data", name), "half", splits)
    means = {group: one["together"].mean for group, one in found.items()}
    assert means == pytest.approx(HALVES[name], abs=0.015)
    assert abs(means["surer"] - means["less sure"]) >= 0.05
    for group, one in found.items():
        assert abs(one["apart"].mean - LEVEL) <= 0.015 + slack * one["apart"].error, (name, group)
        # Better for each half, not only on average.
        assert abs(one["apart"].mean - LEVEL) < abs(one["together"].mean - LEVEL), (name, group)


@pytest.mark.slow
def test_mondrian_equalises_nights(shared: Path) -> None:
    """25 nights of sleep whose epochs are split at random: every night is known."""
    found = real.by_group(load(shared / "data", "sleep_dodh"), "group", FEW)
    assert len(found) == 25
    together = [one["together"].mean for one in found.values()]
    assert min(together) < 0.80
    assert max(together) > 0.95
    for night, one in found.items():
        # Each night is a data set of its own of about 500 test epochs.
        assert near(one["apart"], LEVEL, within=0.015), night
    assert near(
        real.by_group(load(shared / "data", "sleep_dodh"), "half", 4)["surer"]["apart"], 0.9
    )


def test_mondrian_by_label_covers_what_experts_call_sad(shared: Path) -> None:
    found = real.by_label(load(shared / "data", "crema_d"), 8)
    together = {label: one["together"].mean for label, one in found.items()}
    assert together["sad"] == pytest.approx(0.831, abs=0.015)
    assert together["happy"] == pytest.approx(0.967, abs=0.015)
    for label, one in found.items():
        assert near(one["apart"], LEVEL), label
    sizes = next(iter(found.values()))
    assert sizes["together"].size == pytest.approx(2.24, abs=0.05)
    assert sizes["apart"].size == pytest.approx(2.36, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUR)
def test_mass_and_risk_are_at_their_level(shared: Path, name: str) -> None:
    """Share of sets that hold 0.9 of the plausibilities, and mean risk left out, at alpha 0.1."""
    found = real.levels(load(shared / "data", name), MANY)
    slack = MARGIN if IN_CI else 0
    for method, level in (("mass-coverage", 0.9), ("risk", 0.1)):
        one = found[method]
        assert abs(one.mean - level) <= NEAR + slack * one.error, method
    # The average says nothing of either.
    assert found["expected, share held"].mean < 0.8
    assert found["expected, risk"].mean < 0.08
    assert found["mass-coverage"].size > found["expected, share held"].size
    assert found["risk"].size < found["expected, risk"].size


@pytest.mark.slow
def test_grouped_covers_a_nodule_of_a_new_patient(shared: Path) -> None:
    """Patients of several nodules are easier: by nodule, a random patient is covered less."""
    found = real.of_a_new_group(load(shared / "data", "lidc_malignancy"), MANY)
    assert near(found["grouped"], LEVEL)
    assert found["grouped"].mean > found["expected"].mean + 0.005
    assert found["grouped"].size > found["expected"].size


@pytest.mark.slow
def test_what_grouped_costs_where_groups_are_alike(shared: Path) -> None:
    """91 actors with 82 clips each: 46 of them calibrate, and 2 / 47 more may be covered."""
    found = real.of_a_new_group(load(shared / "data", "crema_d"), FEW)
    assert near(found["expected"], LEVEL)
    assert LEVEL - NEAR <= found["grouped"].mean <= LEVEL + 2 / 46 + NEAR
    assert found["grouped"].size == pytest.approx(2.5, abs=0.1)


@pytest.mark.parametrize("name", MULTI_LABEL)
def test_examples_with_several_labels(shared: Path, name: str) -> None:
    found = real.of_all_labels(load(shared / "data", name), 8)
    assert near(found["expected"], LEVEL)
    assert near(found["mass-coverage"], LEVEL)
    # Nine labels in ten are not all labels of nine examples in ten.
    assert found["expected, all"].mean < found["mass-coverage"].mean


# Standard deviation of coverage over drawn labels of one calibration set: crema_d, 400 examples.
SPREADS = {5: (0.0049, 0.0025), 10: (0.0034, 0.0008), 20: (0.0023, 0.0004)}


@pytest.mark.slow
@pytest.mark.parametrize("draws", SPREADS)
def test_systematic_draws_spread_less(shared: Path, draws: int) -> None:
    crema = load(shared / "data", "crema_d")
    sets, seeds = (5, 8) if IN_CI else (20, 40)
    independent, systematic = (
        real.spreads_of_draws(
            crema,
            {"calibrator": {"name": "monte-carlo", "draws": draws, "systematic": spaced}},
            examples=400,
            seeds=seeds,
            sets=sets,
        )
        for spaced in (False, True)
    )
    for found, one in zip((independent, systematic), SPREADS[draws], strict=True):
        # Sets differ by a factor of two and more; the figure is of one of them.
        assert found.min() < one < found.max()
    gain = SPREADS[draws][1] / SPREADS[draws][0]
    assert systematic.mean() / independent.mean() == pytest.approx(gain, rel=0.5 if IN_CI else 0.25)
