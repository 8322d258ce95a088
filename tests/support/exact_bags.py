"""Validity by enumeration: every test example, test label, draw and role of a small bag.

A fixed bag in random order is the extreme point of exchangeability: a bound that holds on every
bag holds for every exchangeable law. Probabilities are fractions, so that a rule that is off by
a hair is caught.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from random import Random

from exact_oracles import Calibration, Drawn, Rule, expected, vote


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
