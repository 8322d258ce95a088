"""The project's own code below the public calls: pools, p-values, combiners, thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np

from exact_bags import Bag, Outcome, PValuesOf, calibration_of
from exact_checks import Keeps
from exact_oracles import Calibration, Drawn, Rule
from plausibly.calibration.pvalues import Pools, PValues
from plausibly.calibration.scores import CalibrationScores
from plausibly.calibration.threshold import threshold
from plausibly.kernels.types import Floats
from plausibly.protocols import COMBINER, PValueCombiner
from plausibly.registry import resolve

RECOVERED = 10**6
"""Denominators of the small bags are far below this, so a double tells its fraction."""


def combiner(rule: Rule) -> PValueCombiner:
    table: dict[str, object] = {"name": rule.name}
    if rule.name in ("ecdf", "pac"):
        table["delta"] = float(rule.delta)
    if rule.name == "pac":
        table["bound"] = "held-out"
    if rule.name == "ecdf":
        table["band"] = "two-sided" if rule.two_sided else "one-sided"
    return resolve(COMBINER, table)


def pools_of(calibration: Calibration, dtype: type[np.floating] = np.float64) -> Pools:
    if isinstance(calibration, Drawn):
        return Pools(CalibrationScores(scores=np.array(calibration.scores, dtype=dtype)))
    scores = np.array([[score for score, _ in calibration.weighted]], dtype=dtype)
    atoms, n = scores.shape[1], calibration.n
    row = np.arange(atoms) // (atoms // n)
    # Each example has a denominator of its own, as examples with unlike numbers of votes do.
    masses = np.array([mass for _, mass in calibration.weighted], dtype=object)
    ones = [lcm(*(mass.denominator for mass in masses[row == i])) for i in range(n)]
    return Pools(
        CalibrationScores(
            scores=scores,
            units=np.array([int(mass * ones[i]) for mass, i in zip(masses, row, strict=True)]),
            row=row,
            denominator=np.array(ones),
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
    built_in = combiner(rule)

    def p_values_of(bag: Bag, outcome: Outcome) -> list[Fraction]:
        pools = pools_of(calibration_of(bag, outcome))
        values = p_values(built_in, pools, outcome.held, bag.scores[outcome.test])
        return [recovered(float(p)) for p in values]

    return p_values_of


def decide_by_p(
    calibration: Calibration, alpha: Fraction, scores: Sequence[float]
) -> Sequence[bool]:
    """Return which scores the averaged p-value keeps."""
    values = p_values(combiner(Rule("average")), pools_of(calibration), [], scores)
    kept: list[bool] = (values > float(alpha)).tolist()
    return kept


def decide_by_threshold(
    calibration: Calibration, alpha: Fraction, scores: Sequence[float]
) -> Sequence[bool]:
    """Return which scores reach the threshold."""
    tau = threshold_of(combiner(Rule("average")), pools_of(calibration), [], alpha)
    return [s >= tau for s in scores]


def decide_guaranteed(rule: Rule, pools: Pools) -> Keeps:
    """Return decisions given held-out scores, by p-value and, where few are held out, by tau."""
    built_in = combiner(rule)

    def keeps(
        held: Sequence[float], scores: Sequence[float], alphas: Sequence[Fraction]
    ) -> list[list[bool]]:
        values = p_values(built_in, pools, held, scores)
        decisions: list[list[bool]] = [(values > float(alpha)).tolist() for alpha in alphas]
        if len(held) < 4:
            for alpha, kept in zip(alphas, decisions, strict=True):
                tau = threshold_of(built_in, pools, held, alpha)
                assert kept == [s >= tau for s in scores], (held, alpha)
        return decisions

    return keeps
