"""The project's own code below the public calls: pools, p-values, combiners, thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np

from exact_bags import Bag, Outcome, PValuesOf, calibration_of
from exact_oracles import Calibration, Drawn, Rule
from plausibly.arrays import Floats
from plausibly.conformal.evidence import Replicates
from plausibly.conformal.pools import Pools
from plausibly.conformal.pvalues import PValues
from plausibly.conformal.threshold import threshold
from plausibly.protocols import COMBINER, PValueCombiner
from plausibly.registry import resolve

DRAWN_RULES = ("average", "twice-average", "maximum", "ecdf", "held-out-rank", "pac")
EXPECTED_RULES = tuple(name for name in DRAWN_RULES if name != "maximum")

RECOVERED = 10**6
"""Denominators of the small bags are far below this, so a double tells its fraction."""


def combiner(rule: Rule) -> PValueCombiner:
    """Return the built-in combiner of a rule."""
    table: dict[str, object] = {"name": rule.name}
    if rule.name in ("ecdf", "pac"):
        table["delta"] = float(rule.delta)
    if rule.name == "ecdf":
        table["band"] = "two-sided" if rule.two_sided else "one-sided"
    return resolve(COMBINER, table)


def pools_of(calibration: Calibration, dtype: type[np.floating] = np.float64) -> Pools:
    """Return the project's form of a calibration."""
    if isinstance(calibration, Drawn):
        return Pools(Replicates(scores=np.array(calibration.scores, dtype=dtype)))
    scores = np.array([[score for score, _ in calibration.weighted]], dtype=dtype)
    one = lcm(*(mass.denominator for _, mass in calibration.weighted))
    atoms = scores.shape[1]
    return Pools(
        Replicates(
            scores=scores,
            units=np.array([int(mass * one) for _, mass in calibration.weighted]),
            row=np.arange(atoms) // (atoms // calibration.n),
            denominator=np.full(calibration.n, one),
            separate=False,
        )
    )


def p_values(
    rule: PValueCombiner, pools: Pools, held_out: Sequence[float], scores: Sequence[float]
) -> Floats:
    """Return the merged p-value of each score; `held_out` are scores, none where there are none."""
    aside = None
    if held_out:
        aside = PValues.of(pools, np.array(held_out, dtype=pools.dtype))
    return rule.combine(PValues.of(pools, np.array(scores, dtype=pools.dtype)), aside)


def threshold_of(
    rule: PValueCombiner, pools: Pools, held_out: Sequence[float], alpha: Fraction
) -> float:
    """Return tau as a Python float."""
    aside = None
    if held_out:
        aside = PValues.of(pools, np.array(held_out, dtype=pools.dtype))
    return float(threshold(pools, lambda p: rule.combine(p, aside), alpha))


def recovered(p: float) -> Fraction:
    """Return the fraction that the double stands for, which must be its nearest double."""
    fraction = Fraction(p).limit_denominator(RECOVERED)
    assert float(fraction) == p, f"{p!r} is not the double nearest to {fraction}"
    return fraction


def product_p(rule: Rule) -> PValuesOf:
    """Return the rule as the project computes it."""
    built_in = combiner(rule)

    def p_values_of(bag: Bag, outcome: Outcome) -> list[Fraction]:
        pools = pools_of(calibration_of(bag, outcome))
        values = p_values(built_in, pools, outcome.held, bag.scores[outcome.test])
        return [recovered(float(p)) for p in values]

    return p_values_of
