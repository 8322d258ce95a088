"""The checks can fail: every listed mutant does, and so does the project's code with a slip in it.

`exact_checks` holds the checks that `test_bags.py` puts the project to. Here the same checks meet
wrong rules, then the project's own code with one line replaced. A slip's check names the test that
goes red: `check_average` and `check_expected` are `test_decisions_at_the_boundaries`, `check_drawn`
`test_average_keeps_one_minus_alpha`, `check_split` `test_held_out_rank_keeps_one_minus_alpha`,
`check_guarantee` `test_guarantees_for_one_calibration`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from exact_checks import check_average, check_drawn, check_expected, check_guarantee, check_split
from exact_oracles import Drawn, Rule
from exact_product import decide_by_p, decide_by_threshold, decide_guaranteed, pools_of, product_p
from plausibly.calibration import pvalues as pools
from plausibly.calibration.pvalues import PValues
from plausibly.kernels import ranks
from plausibly.kernels.types import Floats
from plausibly_builtins.combiners.held_out import HeldOutRank

from .mutants import DELTA, MUTANTS, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: str(mutant.name))
def test_a_mutant_goes_red(mutant: Mutant) -> None:
    with pytest.raises(AssertionError):
        mutant.run()


@dataclass(frozen=True)
class Slip:
    """One place in the project's code, what it becomes, and the check that must fail."""

    place: str
    becomes: object
    check: Callable[[], None]
    name: str


def average_by_p() -> None:
    check_average(decide_by_p)


def average_by_threshold() -> None:
    check_average(decide_by_threshold)


def expected_by_p() -> None:
    check_expected(decide_by_p)


def expected_by_threshold() -> None:
    check_expected(decide_by_threshold)


def average_in_bags() -> None:
    check_drawn(product_p(Rule("average")))


def ranks_in_bags() -> None:
    check_split(product_p(Rule("held-out-rank")))


def guarantee(name: str) -> Callable[[], None]:
    bag = Drawn(((0.5, 2.5, 4.5), (1.5, 6.5, 8.5), (3.5, 5.5, 7.5)))
    return lambda: check_guarantee(decide_guaranteed(Rule(name, DELTA), pools_of(bag)), DELTA)


def share_of_ranks(self: HeldOutRank, p: PValues, held_out: PValues | None) -> Floats:
    assert held_out is not None
    shares: Floats = held_out.at_most(p) / held_out.size
    return shares


counting = pools._counting
statistic = ranks.order_statistic
rank = ranks.weighted_rank
searched = np.searchsorted

SLIPS = (
    Slip(
        "plausibly.calibration.pvalues._counting",
        lambda scores, test_mass: counting(scores, 1),
        average_by_p,
        "own mass 1: decisions",
    ),
    Slip(
        "plausibly.calibration.pvalues._counting",
        lambda scores, test_mass: counting(scores, 1),
        average_in_bags,
        "own mass 1: enumeration",
    ),
    Slip(
        "plausibly.calibration.pvalues.Pool.numerators",
        lambda self, scores: (
            self.cumulative[searched(self.ordered, scores, side="left")] + self.test_mass
        ),
        average_by_p,
        "ties of scores not counted: decisions",
    ),
    Slip(
        "plausibly.calibration.threshold.exceed",
        lambda combined, alpha: combined >= float(alpha),
        average_by_threshold,
        "p >= alpha: decisions",
    ),
    Slip(
        "plausibly.calibration.threshold.exceed",
        lambda combined, alpha: combined >= float(alpha),
        expected_by_threshold,
        "p >= alpha, expected: decisions",
    ),
    Slip(
        "plausibly.calibration.threshold.order_statistic",
        lambda ordered, k: statistic(ordered, k + 1),
        average_by_threshold,
        "k + 1: decisions",
    ),
    Slip(
        "plausibly.calibration.threshold.order_statistic",
        lambda ordered, k: statistic(ordered, k - 1),
        average_by_threshold,
        "k - 1: decisions",
    ),
    Slip(
        "plausibly.calibration.threshold.weighted_rank",
        lambda cumulative, mass: rank(cumulative, mass + 1),
        expected_by_threshold,
        "one unit of mass more: decisions",
    ),
    Slip(
        "plausibly.calibration.pvalues.common_masses",
        lambda units, row, denominator, **_: (units.astype(np.int64), int(denominator.max())),
        expected_by_p,
        "no common denominator: decisions",
    ),
    Slip(
        "plausibly_builtins.combiners.held_out.HeldOutRank.combine",
        share_of_ranks,
        ranks_in_bags,
        "held-out share without + 1: enumeration",
    ),
    Slip(
        "plausibly_builtins.combiners.held_out._band",
        lambda delta, sides, count: 0,
        guarantee("ecdf"),
        "no band: guarantee",
    ),
    Slip(
        "scipy.special.bdtri",
        lambda counts, trials, delta: (counts + 1) / (trials + 1),
        guarantee("pac"),
        "plain rank for Clopper-Pearson: guarantee",
    ),
)


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: str(slip.name))
def test_a_slip_in_the_code_goes_red(slip: Slip, monkeypatch: pytest.MonkeyPatch) -> None:
    # A place that does not exist is an error here, so no slip outlives what it slips in.
    monkeypatch.setattr(slip.place, slip.becomes)
    with pytest.raises(AssertionError):
        slip.check()
