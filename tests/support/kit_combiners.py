"""A small combiner that keeps every rule, and one that breaks each."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar, Literal

import attrs
import numpy as np

from kit_mutants import Mutant, after, changed, common
from plausibly.kernels.types import Floats
from plausibly.plugin import (
    CalibrationSummary,
    Claim,
    Guarantee,
    IncompatibleComponents,
    PValueCombiner,
    PValues,
)


@attrs.frozen(kw_only=True)
class Mean(PValueCombiner):
    """The mean of the p-values."""

    held_out: ClassVar[float] = 0.0
    needs: ClassVar[Literal["mean"]] = "mean"
    note: str = ""

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        return p.mean()

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        return summary.guarantee_of_rank(claim, alpha, reason="risk control", reference="the docs")


def _combine(change: Callable[[PValues], Floats], **members: object) -> object:
    return changed(Mean, combine=lambda self, p, held_out: change(p), **members)


def _guarantee(change: Callable[[Guarantee], Guarantee]) -> object:
    return after(Mean, "guarantee", lambda guarantee, *_: change(guarantee))


def _with_held_out(self: Mean, p: PValues, held_out: PValues | None) -> Floats:
    if held_out is None:
        raise IncompatibleComponents("held-out-missing", "no held-out examples")
    return p.mean()


def _needs(condition: Callable[[PValues], object]) -> Callable[[PValues], Floats]:
    def combine(p: PValues) -> Floats:
        if not condition(p):
            raise ValueError("not enough")
        return p.mean()

    return combine


def _changed_mean(change: Callable[[Floats], Floats]) -> object:
    return _combine(lambda p: change(p.mean()))


def _less_at_the_least(result: Guarantee) -> Guarantee:
    return attrs.evolve(result, level=Fraction(1, 2)) if result.alpha == Fraction(1, 20) else result


MUTANTS = {
    **common(Mean, "guarantee", lambda result: attrs.evolve(result, reason="fitted")),
    "held-out-share": Mutant(changed(Mean, held_out=1.0, combine=_with_held_out)),
    "p-values": Mutant(_combine(lambda p: p.mean().ravel() if p.size else p.mean())),
    "p-values/no queries": Mutant(_combine(_needs(lambda p: p.size))),
    "p-values/beyond 1": Mutant(_changed_mean(lambda mean: np.where(mean == 1, 1 + 1e-9, mean))),
    "query-alone": Mutant(_combine(lambda p: p.mean() * (1 - 1e-6 * p.size))),
    "monotone": Mutant(_changed_mean(lambda mean: np.where(mean > 0.8, 1.8 - mean, mean))),
    "held-out-needed": Mutant(changed(Mean, held_out=0.5)),
    "guarantee-stated": Mutant(_guarantee(lambda result: attrs.evolve(result, reason=" "))),
    "guarantee-falls": Mutant(_guarantee(_less_at_the_least)),
    "vacuity-stated": Mutant(_guarantee(lambda result: attrs.evolve(result, vacuous=False))),
    "super-uniform": Mutant(_combine(lambda p: p.each().min(axis=0), needs="each")),
}
