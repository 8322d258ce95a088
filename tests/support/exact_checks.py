"""Validity by enumeration of small bags, and checks that the project passes and mutants fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, product
from math import comb, inf, lcm
from random import Random
from typing import TypeAlias

import numpy as np

from exact_oracles import Calibration, Drawn, Rule, expected, vote
from plausibly.calibration.pvalues import Pools, PValues
from plausibly.calibration.scores import CalibrationScores
from plausibly.calibration.threshold import threshold
from plausibly.kernels.types import Floats
from plausibly.protocols import COMBINER, PValueCombiner
from plausibly.registry import resolve

# ---- every test example, test label, draw and role of a small bag


@dataclass(frozen=True)
class Bag:
    """`scores[i][k]` and `masses[i][k]` of N examples; masses of an example sum to 1."""

    scores: tuple[tuple[int, ...], ...]
    masses: tuple[tuple[Fraction, ...], ...]

    @property
    def size(self) -> int:
        return len(self.scores)

    @property
    def labels(self) -> int:
        return len(self.scores[0])

    def choices(self, i: int) -> list[tuple[Fraction, int]]:
        """Return probability and score of each label that example i can get."""
        return [(m, s) for m, s in zip(self.masses[i], self.scores[i], strict=True) if m > 0]


@dataclass(frozen=True)
class Outcome:
    """One way the randomness can fall out."""

    chance: Fraction
    test: int
    first: tuple[int, ...]
    drawn: tuple[tuple[int, ...], ...] | None
    held: tuple[int, ...]


PValuesOf = Callable[[Bag, Outcome], Sequence[Fraction]]
"""A rule: the p-values of all labels of the test example in one outcome."""

Law = dict[Fraction, Fraction]
"""Probability of each p-value."""


def random_bag(
    random: Random, size: int, labels: int, values: int, annotators: Sequence[int] = (2, 3)
) -> Bag:
    """Return a bag with scores in 0..values-1, and shares of one of so many votes."""
    one_hot = random.random() < 1 / 5
    scores, masses = [], []
    for _ in range(size):
        scores.append(tuple(random.randrange(values) for _ in range(labels)))
        count = 1 if one_hot else random.choice(annotators)
        votes = [random.randrange(labels) for _ in range(count)]
        masses.append(tuple(Fraction(votes.count(k), len(votes)) for k in range(labels)))
    return Bag(tuple(scores), tuple(masses))


def outcomes(bag: Bag, m: int | None, held: int = 0) -> Iterator[Outcome]:
    """Return every outcome with its probability, but for the test label."""
    for test in range(bag.size):
        others = [i for i in range(bag.size) if i != test]
        roles = list(combinations(others, held))
        for aside in roles:
            first = tuple(i for i in others if i not in aside)
            start = Fraction(1, bag.size * len(roles))
            slots = [bag.choices(i) for i in first for _ in range(m or 0)]
            slots += [bag.choices(i) for i in aside]
            for drawing in product(*slots):
                chance = start
                for probability, _ in drawing:
                    chance *= probability
                scores = [score for _, score in drawing]
                rest = scores[len(scores) - held :]
                rows = None
                if m is not None:
                    rows = tuple(tuple(scores[j : len(first) * m : m]) for j in range(m))
                yield Outcome(chance, test, first, rows, tuple(rest))


def law_of(bag: Bag, p_values: PValuesOf, m: int | None, held: int = 0) -> Law:
    """Return the law of the p-value of a label drawn from the test example's plausibilities."""
    law: Law = {}
    for outcome in outcomes(bag, m, held):
        for mass, p in zip(bag.masses[outcome.test], p_values(bag, outcome), strict=True):
            if mass > 0:
                law[p] = law.get(p, Fraction(0)) + outcome.chance * mass
    return law


def excess(law: Law, level: Fraction = Fraction(1)) -> Fraction:
    """Return the largest P(p <= alpha) - level * alpha over the attained alphas below 1."""
    total, worst = Fraction(0), Fraction(-1)
    for p in sorted(law):
        total += law[p]
        if p < 1:
            worst = max(worst, total - level * p)
    return worst


def calibration_of(bag: Bag, outcome: Outcome) -> Calibration:
    if outcome.drawn is not None:
        return Drawn(tuple(tuple(float(s) for s in row) for row in outcome.drawn))
    return expected([bag.scores[i] for i in outcome.first], [bag.masses[i] for i in outcome.first])


def oracle_p(rule: Rule) -> PValuesOf:
    def p_values(bag: Bag, outcome: Outcome) -> list[Fraction]:
        calibration = calibration_of(bag, outcome)
        rhos = [calibration.mean(s) for s in outcome.held]
        return [rule.p(calibration, rhos, s) for s in bag.scores[outcome.test]]

    return p_values


def voted_outcomes(bag: Bag) -> Iterator[tuple[Fraction, Drawn, int]]:
    """Return probability, calibration on votes, and the test example's voted score."""
    for test in range(bag.size):
        scores = tuple(
            float(bag.scores[i][vote(bag.masses[i])]) for i in range(bag.size) if i != test
        )
        yield Fraction(1, bag.size), Drawn((scores,)), bag.scores[test][vote(bag.masses[test])]


# ---- the project's own code below the public calls


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


# ---- checks that any implementation of a rule can be put to


Decide = Callable[[Calibration, Fraction, Sequence[float]], Sequence[bool]]

Answer: TypeAlias = tuple[Calibration, Fraction, list[float], list[bool]]
"""Calibration, alpha, test scores, and whether each stays in the set."""

AVERAGE = Rule("average")

# n, m, alpha: where alpha m (n + 1) is whole, and floats often miss it.
BOUNDARIES = (
    (9, 1, "0.1"),
    (8, 1, "0.1"),
    (9, 3, "0.1"),
    (9, 3, "0.7"),
    (19, 5, "0.05"),
    (49, 10, "0.1"),
    (99, 1, "0.29"),
    (99, 2, "0.57"),
    (10, 3, "0.95"),
)

SHAPES = ((2, 3, 3), (3, 2, 3), (3, 3, 2), (4, 2, 2), (5, 2, 1), (6, 2, 1))
"""Examples, labels and draws of bags that are enumerated in an instant."""

SPLIT_SHAPES = ((4, 1, 2), (4, 2, 1), (5, 2, 1), (5, 3, 1))
"""Examples, held-out examples and draws of bags with random roles (two labels)."""


def queries(calibration: Calibration) -> list[float]:
    """Return scores at, between and beyond the atoms."""
    atoms = calibration.atoms
    between = [(a + b) / 2 for a, b in pairwise(atoms)]
    return [-inf, *atoms, *between, inf]


def boundary_calibrations() -> Iterator[tuple[Drawn, Fraction]]:
    """Return calibrations without and with heavy ties at the boundaries."""
    random = Random(11)
    for n, m, text in BOUNDARIES:
        for values in (10**6, 3):
            rows = tuple(tuple(float(random.randrange(values)) for _ in range(n)) for _ in range(m))
            yield Drawn(rows), Fraction(text)


@cache
def boundary_answers() -> list[Answer]:
    """Return calibration, alpha, test scores and right decisions at the boundaries."""
    return [
        (calibration, alpha, scores, [AVERAGE.keeps(calibration, [], s, alpha) for s in scores])
        for calibration, alpha in boundary_calibrations()
        for scores in [queries(calibration)]
    ]


@cache
def vote_answers() -> list[Answer]:
    """Return the same for expected calibration on votes, where alpha N is whole."""
    random, alpha = Random(12), Fraction(1, 10)
    answers: list[Answer] = []
    for _ in range(200):
        n = random.choice([9, 19, 29])
        votes = random.choice([3, 5, 6, 7, 10])
        bag = random_bag(random, n, labels=3, values=10**6, annotators=[votes])
        calibration = expected(bag.scores, bag.masses)
        # The decision turns where about a tenth of the mass is reached.
        scores = [-inf, *calibration.atoms[: n // 2], inf]
        want = [AVERAGE.keeps(calibration, [], s, alpha) for s in scores]
        answers.append((calibration, alpha, scores, want))
    return answers


def check_average(decide: Decide) -> None:
    """The averaged p-value decides as fractions do, at every boundary."""
    for calibration, alpha, scores, want in boundary_answers():
        assert [bool(kept) for kept in decide(calibration, alpha, scores)] == want, alpha


def check_expected(decide: Decide) -> None:
    """Plausibilities that are counts decide as fractions do."""
    for calibration, alpha, scores, want in vote_answers():
        assert [bool(kept) for kept in decide(calibration, alpha, scores)] == want


def bags(shape: tuple[int, int, int], count: int) -> Iterator[Bag]:
    """Return `count` bags of a shape: examples, labels, seed."""
    size, labels, seed = shape
    random = Random(seed)
    for _ in range(count):
        yield random_bag(random, size, labels, values=4)


def check_drawn(p_values: PValuesOf, level: Fraction = Fraction(1), count: int = 25) -> None:
    """P(p <= alpha) <= level * alpha at every attained alpha, every draw enumerated."""
    for size, labels, m in SHAPES:
        for bag in bags((size, labels, 21), count):
            assert excess(law_of(bag, p_values, m), level) <= 0, (bag, m)


def check_masses(p_values: PValuesOf, level: Fraction = Fraction(1), count: int = 60) -> None:
    """The same for expected masses, where nothing is drawn."""
    for size in (2, 3, 4, 5, 6):
        for bag in bags((size, 3, 22), count):
            assert excess(law_of(bag, p_values, None), level) <= 0, bag


def check_split(p_values: PValuesOf, count: int = 3, *, masses: bool = False) -> None:
    """The same over random roles: every held-out part, its labels and every draw."""
    for size, held, m in SPLIT_SHAPES:
        for bag in bags((size, 2, 23), count):
            law = law_of(bag, p_values, None if masses else m, held)
            assert excess(law) <= 0, (bag, held)


Keeps = Callable[[Sequence[float], Sequence[float], Sequence[Fraction]], Sequence[Sequence[bool]]]
"""Held-out scores, test scores, alphas: for each alpha which test scores stay in the set."""

PROMISED = (Fraction(1, 5), Fraction(2, 5), Fraction(3, 5), Fraction(7, 8))


def held_outs(
    scores: Sequence[float], chances: Sequence[Fraction], h: int
) -> Iterator[tuple[Fraction, list[float]]]:
    """Return each multiset of h independent scores with its probability."""
    if len(scores) == 1:
        yield chances[0] ** h, [scores[0]] * h
        return
    for count in range(h + 1):
        chance = comb(h, count) * chances[0] ** count
        for rest, values in held_outs(scores[1:], chances[1:], h - count):
            yield chance * rest, [scores[0]] * count + values


def check_guarantee(keeps: Keeps, delta: Fraction) -> None:
    scores = [float(value) for value in range(10)]
    chances = [Fraction(1, 10)] * 10
    covered_all = True
    for h in (3, 5):
        broken = dict.fromkeys(PROMISED, Fraction(0))
        for chance, held in held_outs(scores, chances, h):
            for alpha, kept in zip(PROMISED, keeps(held, scores, PROMISED), strict=True):
                covered = Fraction(sum(kept), 10)
                covered_all &= covered == 1
                if covered < 1 - alpha:
                    broken[alpha] += chance
        assert max(broken.values()) <= delta, (h, broken)
    assert not covered_all, "a rule that keeps every label guarantees nothing"
