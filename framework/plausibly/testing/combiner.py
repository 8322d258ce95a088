"""Rules of combiners, tried on made-up p-values and on simulated nulls."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import attrs
import numpy as np

from plausibly.calibration.pvalues import Pools, PValues
from plausibly.calibration.scores import CalibrationScores
from plausibly.errors import IncompatibleComponents
from plausibly.guarantee import CalibrationSummary, Claim, Guarantee
from plausibly.kernels.random import Keys
from plausibly.kernels.types import Floats
from plausibly.protocols import COMBINER, PValueCombiner
from plausibly.testing import data
from plausibly.testing.calibrator import ALPHAS, demand_coverage, population
from plausibly.testing.rules import (
    Broken,
    DoesNotApply,
    RuleSet,
    demand,
    enter_common,
    farthest,
    refused,
)

_N, _M, _H = 11, 4, 40
_QUERIES = 25
_SIZES, _TRIALS, _DRAWS = (9, 29), 400, 6
_CLOSE = 1e-12
_ASSUMPTION = "an assumption that the calibrator states"
_LABEL = "a label that the calibrator drew"
_CLAIM = Claim(covers=_LABEL, conditions=(_ASSUMPTION,))


def _uniforms(stream: str, count: int) -> Floats:
    return data.uniforms(f"combiner/{stream}", count, 1)[:, 0]


def _atoms(n: int, m: int) -> Floats:
    return data.uniforms("combiner/atoms", m, n)


def _pools(atoms: Floats) -> Pools:
    """Return the pools of scores, with an order of their examples."""
    size = atoms.shape[1]
    uniform = _uniforms("losses", size)
    return Pools(CalibrationScores(scores=atoms, order=np.argsort(uniform), uniform=uniform))


@attrs.frozen
class Case:
    """Arguments of a combiner: p-values of test scores, and of held-out examples."""

    p: PValues
    held_out: PValues | None
    summary: CalibrationSummary


def _case(
    combiner: PValueCombiner,
    atoms: Floats | None = None,
    queries: Floats | None = None,
    held_out: Floats | None = None,
) -> Case:
    """Return p-values of these scores, by default of made-up ones."""
    atoms = _atoms(_N, _M) if atoms is None else atoms
    queries = _uniforms("queries", _QUERIES) if queries is None else queries
    held_out = _uniforms("held-out", _H) if held_out is None else held_out
    pools, aside = _pools(atoms), None
    if combiner.held_out > 0:
        aside = PValues.of(pools, held_out)
    m, n = atoms.shape
    summary = CalibrationSummary(n=n, m=m, n_held_out=0 if aside is None else held_out.size)
    return Case(PValues.of(pools, queries), aside, summary)


RULES: RuleSet[PValueCombiner, None] = RuleSet(COMBINER, lambda combiner: None)


def _combined(combiner: PValueCombiner, case: Case) -> Floats:
    """Return p-values; without any, the least alpha that was tried at which a label is left out."""
    if combiner.p_values_exist(case.summary):
        return np.asarray(combiner.combine(case.p, case.held_out))
    scores = np.asarray(case.p.scores)
    p_values = np.ones(scores.shape)
    for alpha in sorted(ALPHAS, reverse=True):
        p_values[scores < combiner.threshold(case.p.pools, alpha)] = float(alpha)
    return p_values


def _guaranteed(
    combiner: PValueCombiner, summary: CalibrationSummary, alpha: Fraction
) -> Guarantee:
    try:
        return combiner.guarantee(_CLAIM, summary, alpha)
    except IncompatibleComponents as error:
        raise DoesNotApply(f"it does not go with drawn labels: {error.what}") from error


def _behaves(combiner: PValueCombiner, _: None) -> object:
    case = _case(combiner)
    combined = _combined(combiner, case)
    try:
        return [combined, *(str(_guaranteed(combiner, case.summary, alpha)) for alpha in ALPHAS)]
    except DoesNotApply as reason:
        return [combined, str(reason)]


enter_common(RULES, _behaves)


@RULES.rule_alone
def held_out_share(combiner: PValueCombiner, _: None) -> None:
    """`held_out` is a share of the examples, less than all of them."""
    demand(0 <= combiner.held_out < 1, f"held_out is {combiner.held_out}")


@RULES.rule
def p_values(combiner: PValueCombiner, _: None) -> None:
    """It gives one number from 0 to 1 per query, in their shape; none for none."""
    flat = _uniforms("queries", 12)
    beyond = np.array([-np.inf, -1.0, 0.3, 0.5, 2.0, np.inf])
    for n, m in ((_N, _M), (1, 1), (_N, 1)):
        for queries in (flat.reshape(4, 3), flat[:1], np.zeros((0, 3)), beyond):
            combined = _combined(combiner, _case(combiner, _atoms(n, m), queries))
            kept = combined.shape == queries.shape and combined.dtype == np.float64
            demand(kept, f"for {queries.shape} it gives {combined.dtype} {combined.shape}")
            within = ((combined >= 0) & (combined <= 1)).all()
            demand(within, f"with n = {n} and m = {m} not all p-values are from 0 to 1")


@RULES.rule
def query_alone(combiner: PValueCombiner, _: None) -> None:
    """A query gets the same p-value alone as in a batch."""
    every = _combined(combiner, _case(combiner))
    queries = _uniforms("queries", _QUERIES)
    for place in range(_QUERIES):
        alone = _combined(combiner, _case(combiner, queries=queries[place : place + 1]))
        off = farthest(every[place : place + 1], alone)
        demand(off <= _CLOSE, f"alone, the p-value of a query changes by {off:.3g}")


@RULES.rule
def monotone(combiner: PValueCombiner, _: None) -> None:
    """The result does not fall if a p-value rises."""
    grid = np.linspace(-0.1, 1.1, 121)
    rising = np.diff(_combined(combiner, _case(combiner, queries=grid)))
    demand(rising.min() >= 0, f"a larger score lowers the p-value by {-rising.min():.3g}")
    before = _case(combiner, queries=grid)
    first = _combined(combiner, before)
    for replicate in range(_M):
        atoms = _atoms(_N, _M)
        # Half the atoms of one replicate fall below all queries: its p-values rise, others stay.
        atoms[replicate, : _N // 2] = -1.0
        after = _combined(combiner, attrs.evolve(before, p=_case(combiner, atoms, grid).p))
        fall = float((first - after).max())
        demand(fall <= 0, f"one replicate's p-value rises, and the result falls by {fall:.3g}")


@RULES.rule
def held_out_needed(combiner: PValueCombiner, _: None) -> None:
    """A combiner that ranks among held-out examples says so where there are none."""
    if combiner.held_out > 0:
        p = _case(combiner).p
        refused(lambda: combiner.combine(p, None), "without held-out examples")


@RULES.rule
def guarantee_stated(combiner: PValueCombiner, _: None) -> None:
    """The guarantee says at which level, of what, if what, and why."""
    summary = _case(combiner).summary
    for alpha in ALPHAS:
        guarantee = _guaranteed(combiner, summary, alpha)
        kept = _ASSUMPTION in guarantee.conditions and guarantee.assumption is not None
        again = Guarantee.from_json(guarantee.to_json())
        for holds, what in (
            (guarantee.alpha == alpha, f"at alpha {alpha} it guarantees for {guarantee.alpha}"),
            (guarantee.reason.strip(), "its guarantee has no reason"),
            (guarantee.covers == _LABEL, "it does not pass on what the calibrator covers"),
            (kept, "it drops an assumption of the calibrator"),
            (again == guarantee, "it does not survive a file"),
        ):
            demand(holds, what)
        shares: tuple[object, ...] = (guarantee.level, guarantee.confidence)
        for share in shares:
            exact = share is None or (isinstance(share, Fraction) and 0 <= share <= 1)
            demand(exact, f"it guarantees {share!r}")


@RULES.rule
def guarantee_falls(combiner: PValueCombiner, _: None) -> None:
    """A larger alpha never guarantees more."""
    summary = _case(combiner).summary
    levels = [_guaranteed(combiner, summary, alpha).level for alpha in ALPHAS]
    for (low, less), (high, more) in pairwise(zip(ALPHAS, levels, strict=True)):
        falls = more is None or (less is not None and more <= less)
        demand(falls, f"at alpha {high} it guarantees {more}, at {low} only {less}")


@RULES.rule
def vacuity_stated(combiner: PValueCombiner, _: None) -> None:
    """The guarantee is vacuous if every set contains all labels, and only then."""
    worst = np.array([-np.inf])
    for n, h in ((2, 3), (9, 12), (30, 40), (200, 200)):
        # Held-out scores above all others: the worst query stands alone at the bottom.
        case = _case(combiner, _atoms(n, _M), worst, np.full(h, 2.0))
        least = float(_combined(combiner, case)[0])
        for alpha in ALPHAS:
            guarantee = _guaranteed(combiner, case.summary, alpha)
            every = least > float(alpha)
            if guarantee.level is not None and guarantee.vacuous != every:
                raise Broken(
                    f"with {n} examples and {h} held out the least p-value is {least:.4g}, and at "
                    f"alpha {alpha} it says {'' if guarantee.vacuous else 'not '}vacuous"
                )


@RULES.rule
def super_uniform(combiner: PValueCombiner, _: None) -> None:
    """In simulated calibrations, the p-value of a new label exceeds alpha as often as it claims."""
    for n in _SIZES:
        aside = _H if combiner.held_out > 0 else 0
        summary = CalibrationSummary(n=n, m=_DRAWS, n_held_out=aside)
        size = n + aside + 1
        people = population("combiner/nulls", size * _TRIALS)
        p_values = np.zeros(_TRIALS)
        for trial in range(_TRIALS):
            start, new = trial * size, (trial + 1) * size - 1
            examples = people.data(slice(start, start + n))
            pools = _pools(examples.scores_at(examples.draw(_DRAWS, Keys(7, "kit"))))
            others = PValues.of(pools, people.own(slice(start + n, new))) if aside else None
            p = PValues.of(pools, people.own(slice(new, new + 1)))
            p_values[trial] = _combined(combiner, Case(p, others, summary))[0]
        stated = [_guaranteed(combiner, summary, alpha) for alpha in ALPHAS]
        # A guarantee for single calibrations holds for all but a share of them.
        levels = [each.level and each.level * (each.confidence or 1) for each in stated]
        demand_coverage(p_values, levels, _LABEL)
