"""The enumeration can fail: a calibrator or a rule with one slip in it goes red.

The checks are those that `test_levels.py`, `test_smoothed.py` and `test_augmented_held_out.py` put
the project to. `test_counterexamples.py` says by how much some of these slips fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import attrs
import numpy as np
import pytest

from calibrators_methods import Method, check
from calibrators_product import Change
from calibrators_smoothed import check_smoothed
from calibrators_tables import AUGMENTED, METHODS, PLAIN, drawing, mass, wrapped
from calibrators_worlds import worlds
from plausibly.calibration.pvalues import PValues
from plausibly.calibration.scores import CalibrationScores
from plausibly.kernels.types import Floats
from plausibly_builtins.combiners.average import Average

NAMED = {method.name: method for method in (*METHODS, *PLAIN, *AUGMENTED)}
THIRD, HALF = Fraction(1, 3), Fraction(1, 2)


def goes_red(method: Method, change: Change | None = None, *, breaks: bool = True) -> None:
    """The p-values are not those of the equations, and the level is not kept where it `breaks`."""
    for compared in [True, False] if breaks else [True]:
        every = worlds(50, 4, 2, 12, augmentations=1 if method.reads == "plain" else 2)
        with pytest.raises(AssertionError):
            check(method, every, ("average",), compared=compared, change=change)


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("weights: expected", {"name": "expected"}),
        ("weights: 2 draws", drawing(2)),
        ("group: 1 draws", drawing(1)),
        ("group: votes", {"name": "majority-vote"}),
        ("label: expected", {"name": "expected"}),
        ("patients: expected", {"name": "expected"}),
        ("patients: 2 draws", drawing(2)),
        ("mass: 1/10 left out", mass(HALF)),
        ("weights: mass: 1/3 left out", wrapped("weighted", "weight", mass(HALF))),
    ],
)
def test_what_a_calibrator_forgets(name: str, table: dict[str, object]) -> None:
    """Weights, groups, labels, how many examples a patient has, how much may be left out."""
    goes_red(replace(NAMED[name], table=table))


def of_the_next_group(found: CalibrationScores) -> CalibrationScores:
    """The atoms of one group or label are those of another."""
    assert found.group is not None
    return attrs.evolve(found, group=(found.group + 1) % len(found.groups))


def without_any_risk(found: CalibrationScores) -> CalibrationScores:
    """Examples whose labels have no risk are forgotten."""
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


@pytest.mark.parametrize(
    ("name", "change", "breaks"),
    [
        ("label: expected", lambda found: attrs.evolve(found, of_atoms=False), True),
        ("label: 2 draws", lambda found: attrs.evolve(found, test_mass=HALF), True),
        ("label: votes", of_the_next_group, True),
        ("group: votes", of_the_next_group, True),
        ("risk", lambda found: attrs.evolve(found, test_mass=Fraction(1)), True),
        ("risk", without_any_risk, False),
        ("separate", lambda found: attrs.evolve(found, scores=found.scores[[0, 0]]), False),
    ],
)
def test_what_it_counts_wrongly(name: str, change: Change, breaks: bool) -> None:
    goes_red(NAMED[name], change, breaks=breaks)


@attrs.frozen(kw_only=True)
class Smoothed(Average):
    """A smoothed mean with another own mass, or with the mass at the tie cut off at the total."""

    own: Callable[[PValues, Floats], Floats]
    capped: bool = False

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        assert p.scores is not None
        assert p.uniform is not None
        pool = p.pools.pooled
        uniform = np.broadcast_to(p.uniform, p.scores.shape).astype(np.float64)
        below = pool.below(p.scores).astype(np.float64)
        at_most = (
            pool.numerators(p.scores) - pool.test_mass if self.capped else pool.at_most(p.scores)
        )
        tied = at_most.astype(np.float64) - below
        values: Floats = (below + uniform * tied + self.own(p, uniform)) / float(pool.total)
        return values


WITHOUT_OTHERS = Smoothed(own=lambda p, uniform: uniform)
MEAN_OF_SMOOTHED = Smoothed(own=lambda p, uniform: uniform * p.pools.pooled.test_mass)
CAPPED = Smoothed(
    own=lambda p, uniform: np.full(uniform.shape, float(p.pools.pooled.test_mass)), capped=True
)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("2 draws", WITHOUT_OTHERS),
        ("2 draws", MEAN_OF_SMOOTHED),
        ("expected", MEAN_OF_SMOOTHED),
        ("label: expected", MEAN_OF_SMOOTHED),
        ("risk", CAPPED),
    ],
)
def test_a_slip_of_smoothing_goes_red(name: str, rule: Smoothed) -> None:
    for compared in (True, False):
        with pytest.raises(AssertionError):
            check_smoothed(NAMED[name], worlds(51, 4, 2, 20), compared=compared, rule=rule)
