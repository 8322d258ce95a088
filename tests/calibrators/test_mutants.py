"""The enumeration can fail: the project's code with one slip in it goes red.

Each slip replaces one thing of the calibrators or of the p-values that they are made into; the
check beside it is one of those that `test_levels.py`, `test_smoothed.py` and
`test_augmented_held_out.py` put the project to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import attrs
import numpy as np
import pytest
from numpy.typing import NDArray

from calibrators_methods import Method, check
from calibrators_smoothed import check_smoothed
from calibrators_tables import (
    AUGMENTED,
    BY_GROUP,
    BY_LABEL,
    GROUPED,
    LOST,
    PLAIN,
    SPACED,
    WEIGHTED,
)
from calibrators_worlds import worlds
from plausibly.calibration.data import CalibrationData
from plausibly.calibration.pools import Pool, Pools
from plausibly.calibration.pvalues import PValues
from plausibly.calibration.scores import Replicates
from plausibly.kernels.random import Keys
from plausibly.kernels.types import Floats, Ints, Masses
from plausibly_builtins.calibrators import risk
from plausibly_builtins.calibrators.grouped import Grouped
from plausibly_builtins.calibrators.mondrian import Mondrian


@dataclass(frozen=True)
class Slip:
    """One place in the project's code, what it becomes, and the method that must fail.

    `breaks` says that the level is not kept, and not only that sets are others.
    """

    name: str
    place: str
    becomes: object
    method: Method
    augmentations: int = 1
    breaks: bool = True

    def __str__(self) -> str:
        return self.name


def method(family: tuple[Method, ...], name: str) -> Method:
    (found,) = (one for one in family if one.name == name)
    return found


ratios = Pool.ratios
by_label = Mondrian._by_label
by_group = Mondrian._by_group
grouped = Grouped.replicates
risked = risk.Risk.replicates
p_values_of = PValues.of


def weight_one(
    self: Pool, scores: Floats, weight: Floats, *, times: int = 1
) -> tuple[Masses, Masses]:
    """The new example counts for 1, and not for its weight."""
    return ratios(self, scores, np.ones_like(weight), times=times)


def weight_twice(
    self: Pool, scores: Floats, weight: Floats, *, times: int = 1
) -> tuple[Masses, Masses]:
    """The new example counts in the total, and for nothing in the numerator."""
    above, totals = ratios(self, scores, weight, times=times)
    alone, _ = ratios(self, np.full_like(scores, -np.inf), weight, times=times)
    return above - alone, totals


def examples_of_a_label(self: Mondrian, data: CalibrationData, keys: Keys) -> Replicates:
    """The total of a label counts examples, and not plausibilities."""
    return attrs.evolve(by_label(self, data, keys), of_atoms=False)


def own_mass_of_one_draw(self: Mondrian, data: CalibrationData, keys: Keys) -> Replicates:
    """The new example counts for one draw, and not for as many as the others."""
    found = by_label(self, data, keys)
    draws = max(1, round(found.scores.shape[1] / len(data)))
    return attrs.evolve(found, own=Fraction(1, draws))


def neighbouring_cell(self: Mondrian, data: CalibrationData, keys: Keys) -> Replicates:
    """The atoms of one group are those of another."""
    found = by_group(self, data, keys)
    assert found.cell is not None
    return attrs.evolve(found, cell=(found.cell + 1) % len(found.cells))


def one_cell(self: Replicates, code: int) -> Replicates:
    """Every group is compared with all atoms."""
    return attrs.evolve(self, by="", cell=None, cells=())


def of_next_label(self: Mondrian, data: CalibrationData, keys: Keys) -> Replicates:
    """The atoms of one label are those of another."""
    found = by_label(self, data, keys)
    assert found.cell is not None
    return attrs.evolve(found, cell=(found.cell + 1) % len(found.cells))


def without_largest_risk(self: risk.Risk, data: CalibrationData, keys: Keys) -> Replicates:
    """The new example risks 1 at most."""
    return attrs.evolve(risked(self, data, keys), own=Fraction(1))


def without_any_risk(self: risk.Risk, data: CalibrationData, keys: Keys) -> Replicates:
    """Examples whose labels have no risk are forgotten."""
    found = risked(self, data, keys)
    assert found.units is not None
    assert found.row is not None
    assert found.denominator is not None
    kept = found.units > 0
    rows, row = np.unique(found.row[kept], return_inverse=True)
    return attrs.evolve(
        found,
        scores=found.scores[:, kept],
        units=found.units[kept],
        row=row,
        denominator=found.denominator[rows],
    )


def at_least_so_much(data: CalibrationData, share: Fraction) -> Floats:
    """A threshold that leaves out exactly t counts as leaving out more."""
    return _left_out(data, share, strict=False)


def one_label_too_far(data: CalibrationData, share: Fraction) -> Floats:
    """The label that passes t may go too."""
    return _left_out(data, share, strict=True, further=1)


def _left_out(data: CalibrationData, share: Fraction, *, strict: bool, further: int = 0) -> Floats:
    units, denominator = data.units()
    order = np.argsort(data.scores, axis=1, kind="stable")
    found = np.empty(len(data))
    for i in range(len(data)):
        cumulated = np.cumsum(units[i][order[i]])
        limit = share * int(denominator[i])
        passed = [c > limit if strict else c >= limit for c in cumulated.tolist()]
        first = min(passed.index(True) + further, len(passed) - 1)
        found[i] = data.scores[i, order[i][first]]
    return found


def flat_pool(self: Grouped, data: CalibrationData, keys: Keys) -> Replicates:
    """Every example counts for one, and patients do not: no 1/n_g."""
    inner = self.inner.replicates(data, keys)
    units, denominator = inner.masses()
    found = grouped(self, data, keys)
    return attrs.evolve(found, units=units, row=inner.rows(), denominator=denominator)


def first_score(
    cls: type[PValues],
    pools: Pools,
    scores: Floats,
    *,
    weight: Floats | None = None,
    uniform: Floats | None = None,
    order: Ints | None = None,
) -> PValues:
    """Every replicate is compared with the new example's first augmentation."""
    if scores.ndim == 3:
        scores = np.broadcast_to(scores[:1], scores.shape)
    return p_values_of(pools, scores, weight=weight, uniform=uniform, order=order)


def shared_offset(data: CalibrationData, draws: int, keys: Keys) -> NDArray[np.float64]:
    """The first draws of all examples lie in the same stretch, in order."""
    steps = (np.arange(draws) + 0.5) / draws
    return np.broadcast_to(steps, (len(data), draws)).copy()


def smoothed(
    own: Callable[[PValues, Floats], Floats], *, capped: bool = False
) -> Callable[[PValues], Floats]:
    """Return a smoothed mean with another own mass, or with the mass at the tie cut off."""

    def mean(self: PValues) -> Floats:
        assert self.scores is not None
        assert self.uniform is not None
        pool = self.pools.pooled
        uniform = np.broadcast_to(self.uniform, self.scores.shape).astype(np.float64)
        below = pool.below(self.scores).astype(np.float64)
        at_most = pool.numerators(self.scores) - pool.own if capped else pool.at_most(self.scores)
        tied = at_most.astype(np.float64) - below
        values: Floats = (below + uniform * tied + own(self, uniform)) / float(pool.total)
        return values

    return mean


MONDRIAN = "plausibly_builtins.calibrators.mondrian.Mondrian."
POOL = "plausibly.calibration.pools.Pool."
MASS = "plausibly_builtins.calibrators.mass_coverage._largest_thresholds"
RISK = "plausibly_builtins.calibrators.risk.Risk.replicates"
TENTH = method(LOST, "mass: 1/10 left out")
HALF = method(LOST, "mass: 1/2 left out")

SLIPS = (
    Slip("own weight 1", POOL + "ratios", weight_one, method(WEIGHTED, "weights: expected")),
    Slip("own weight 1, draws", POOL + "ratios", weight_one, method(WEIGHTED, "weights: 2 draws")),
    Slip("no own weight", POOL + "ratios", weight_twice, method(WEIGHTED, "weights: expected")),
    Slip(
        "examples for the mass of a label",
        MONDRIAN + "_by_label",
        examples_of_a_label,
        method(BY_LABEL, "label: expected"),
    ),
    Slip(
        "own mass of one draw of a label",
        MONDRIAN + "_by_label",
        own_mass_of_one_draw,
        method(BY_LABEL, "label: 2 draws"),
    ),
    Slip(
        "labels mixed up", MONDRIAN + "_by_label", of_next_label, method(BY_LABEL, "label: votes")
    ),
    Slip(
        "groups mixed up",
        MONDRIAN + "_by_group",
        neighbouring_cell,
        method(BY_GROUP, "group: votes"),
    ),
    Slip(
        "groups together",
        "plausibly.calibration.scores.Replicates.of_cell",
        one_cell,
        method(BY_GROUP, "group: 1 draws"),
    ),
    Slip("own risk 1", RISK, without_largest_risk, method(LOST, "risk")),
    Slip(
        "examples without risk forgotten",
        RISK,
        without_any_risk,
        method(BY_GROUP, "group: risk"),
        breaks=False,
    ),
    Slip(">= for > in what is left out", MASS, at_least_so_much, HALF, breaks=False),
    Slip("one label too far", MASS, one_label_too_far, TENTH),
    Slip(
        "patients by their size",
        "plausibly_builtins.calibrators.grouped.Grouped.replicates",
        flat_pool,
        method(GROUPED, "patients: expected"),
    ),
    Slip(
        "patients by their size, draws",
        "plausibly_builtins.calibrators.grouped.Grouped.replicates",
        flat_pool,
        method(GROUPED, "patients: 2 draws"),
    ),
    Slip(
        "first augmentation for all",
        "plausibly.calibration.pvalues.PValues.of",
        classmethod(first_score),
        method(AUGMENTED, "separate"),
        augmentations=2,
        breaks=False,
    ),
    Slip(
        "one offset for every example",
        "plausibly_builtins.calibrators.monte_carlo._spaced",
        shared_offset,
        method(SPACED, "spaced: 2 draws"),
        breaks=False,
    ),
)


@pytest.mark.parametrize("slip", SLIPS, ids=str)
def test_a_slip_goes_red(slip: Slip, monkeypatch: pytest.MonkeyPatch) -> None:
    # A place that does not exist is an error here, so no slip outlives what it slips in.
    monkeypatch.setattr(slip.place, slip.becomes)
    for compared in [True, False] if slip.breaks else [True]:
        every = worlds(50, 4, 2, 12, augmentations=slip.augmentations)
        with pytest.raises(AssertionError):
            check(slip.method, every, ("average",), compared=compared)


def with_u(p: PValues, uniform: Floats) -> Floats:
    """One own draw at the tie, and no others below it."""
    return uniform


def split(p: PValues, uniform: Floats) -> Floats:
    """The mean of smoothed p-values: all of the own mass is at the tie."""
    return uniform * p.pools.pooled.own


def whole(p: PValues, uniform: Floats) -> Floats:
    return np.full(uniform.shape, float(p.pools.pooled.own))


SMOOTHED_SLIPS = (
    ("without m - 1", smoothed(with_u), method(PLAIN, "2 draws")),
    ("mean of smoothed p-values, draws", smoothed(split), method(PLAIN, "2 draws")),
    ("mean of smoothed p-values", smoothed(split), method(PLAIN, "expected")),
    ("mean of smoothed p-values of a label", smoothed(split), method(BY_LABEL, "label: expected")),
    ("risks cut off at the total", smoothed(whole, capped=True), method(LOST, "risk")),
)


@pytest.mark.parametrize(("name", "becomes", "method"), SMOOTHED_SLIPS)
def test_a_slip_of_smoothing_goes_red(
    name: str, becomes: object, method: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plausibly.calibration.pvalues.PValues.smoothed_mean", becomes)
    for compared in (True, False):
        with pytest.raises(AssertionError):
            check_smoothed(method, worlds(51, 4, 2, 20), compared=compared)
