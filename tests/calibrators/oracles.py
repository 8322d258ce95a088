"""p-values of every calibrator from its equation, by loops over fractions.

`case.rows` calibrate, `case.new` is new. `s` are the new example's scores of label k, one an
augmentation. `j` is a draw, or an augmentation that is read apart; None means all of them at once.
Nothing here imports the project.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

from exact_oracles import vote

from .worlds import Case, World

ONE = Fraction(1)
ZERO = Fraction(0)

Scores: TypeAlias = Sequence[int]
Oracle: TypeAlias = Callable[[World, Case, int, Scores, int | None], Fraction]
"""World, case, label k, the new example's scores of it, and j."""

Part: TypeAlias = Callable[[World, Case, int, Scores, int | None], Fraction]
"""How much of calibration example i lies at or below the new scores: between 0 and 1."""

Own: TypeAlias = Callable[[World], Fraction]
"""The mass of the new example itself."""


def one(world: World) -> Fraction:
    return ONE


def said(world: World, case: Case, i: int, s: Scores, j: int | None) -> Fraction:
    """Return ``sum_k lambda_ik 1[E_ik <= s]``, or the share of the draws at or below s."""
    return sum(
        (amount for k, amount in enumerate(amounts(world, case, i, j)) if at(world, i, k) <= s[0]),
        ZERO,
    )


def amounts(world: World, case: Case, i: int, j: int | None) -> Sequence[Fraction]:
    """Return how much of example i each label has: its plausibility, or its share of the draws."""
    if case.drawn is None:
        return world.masses[i]
    draws = range(len(case.drawn)) if j is None else [j]
    labels = [case.label(one, i) for one in draws]
    return [Fraction(labels.count(k), len(labels)) for k in range(world.labels)]


def at(world: World, i: int, k: int, a: int = 0) -> int:
    """Return the score of a label in one augmentation."""
    return world.scores[i][a][k]


def voted(world: World, case: Case, i: int, s: Scores, j: int | None) -> Fraction:
    return Fraction(at(world, i, vote(world.masses[i])) <= s[0])


def seen_once(world: World, case: Case, i: int, s: Scores, j: int | None) -> Fraction:
    """Return the share of all augmentations at or below one score."""
    below = [
        mass
        for a in range(world.augmentations)
        for k, mass in enumerate(world.masses[i])
        if at(world, i, k, a) <= s[0]
    ]
    return sum(below, ZERO) / world.augmentations


def seen_apart(world: World, case: Case, i: int, s: Scores, j: int | None) -> Fraction:
    """Return the plausibilities at or below the score in augmentation j, or on average over j."""
    found = [
        sum((m for k, m in enumerate(world.masses[i]) if at(world, i, k, a) <= s[a]), ZERO)
        for a in (range(world.augmentations) if j is None else [j])
    ]
    return sum(found, ZERO) / len(found)


def seen_on_average(world: World, case: Case, i: int, s: Scores, j: int | None) -> Fraction:
    """Return the plausibilities whose scores add up to at most those of the new example."""
    return sum(
        (
            mass
            for k, mass in enumerate(world.masses[i])
            if sum(at(world, i, k, a) for a in range(world.augmentations)) <= sum(s)
        ),
        ZERO,
    )


def lost(world: World, case: Case, i: int, s: Scores, j: int | None) -> Fraction:
    """Return ``sum_k r_k lambda_ik 1[E_ik <= s]``."""
    return sum(
        (world.risk[k] * mass for k, mass in enumerate(world.masses[i]) if at(world, i, k) <= s[0]),
        ZERO,
    )


def held(leave_out: Fraction) -> Part:
    """Return whether the largest threshold that leaves out so much at most is at or below s."""

    def part(world: World, case: Case, i: int, s: Scores, j: int | None) -> Fraction:
        fine = [
            tau
            for tau in world.scores[i][0]
            if sum(m for k, m in enumerate(world.masses[i]) if at(world, i, k) < tau) <= leave_out
        ]
        return Fraction(max(fine) <= s[0])

    return part


# Whole p-values: which examples count, and how much


def plain(part: Part = said, own: Own = one) -> Oracle:
    """Return ``(sum_i part_i(s) + own) / (n + 1)``, which a risk can take past 1."""

    def p(world: World, case: Case, k: int, s: Scores, j: int | None) -> Fraction:
        below = sum((part(world, case, i, s, j) for i in case.rows), ZERO)
        return (below + own(world)) / (len(case.rows) + 1)

    return p


def in_group(inner: Oracle) -> Oracle:
    """Return the inner p-value among the rows of the new example's group."""

    def p(world: World, case: Case, k: int, s: Scores, j: int | None) -> Fraction:
        places = [
            place for place, i in enumerate(case.rows) if world.group[i] == world.group[case.new]
        ]
        if not places:
            return ONE
        drawn = case.drawn
        if drawn is not None:
            drawn = tuple(tuple(row[place] for place in places) for row in drawn)
        rows = tuple(case.rows[place] for place in places)
        return inner(world, Case(case.chance, rows, case.new, drawn), k, s, j)

    return p


def weighted(part: Part = said, own: Own = one) -> Oracle:
    """Return ``(sum_i w_i part_i(s) + w own) / (sum_i w_i + w)``."""

    def p(world: World, case: Case, k: int, s: Scores, j: int | None) -> Fraction:
        w = world.weight[case.new]
        below = sum((world.weight[i] * part(world, case, i, s, j) for i in case.rows), ZERO)
        total = sum((world.weight[i] for i in case.rows), ZERO) + w
        return (below + w * own(world)) / total if total else ONE

    return p


def grouped(part: Part = said, own: Own = one) -> Oracle:
    """Return ``(sum_g (1 / n_g) sum_(i in g) part_i(s) + own) / (G + 1)``."""

    def p(world: World, case: Case, k: int, s: Scores, j: int | None) -> Fraction:
        patients = sorted({world.patient[i] for i in case.rows})
        below = ZERO
        for one in patients:
            members = [i for i in case.rows if world.patient[i] == one]
            below += sum((part(world, case, i, s, j) for i in members), ZERO) / len(members)
        return (below + own(world)) / (len(patients) + 1)

    return p


def of_label(world: World, case: Case, k: int, s: Scores, j: int | None) -> Fraction:
    """Return ``(sum_i a_ik 1[E_ik <= s] + 1) / (sum_i a_ik + 1)``, a_ik as in `amounts`."""
    mass = {i: amounts(world, case, i, j)[k] for i in case.rows}
    below = sum((mass[i] for i in case.rows if at(world, i, k) <= s[0]), ZERO)
    return (below + 1) / (sum(mass.values(), ZERO) + 1)


def of_vote(world: World, case: Case, k: int, s: Scores, j: int | None) -> Fraction:
    """Return the rank among the examples of the same vote."""
    members = [i for i in case.rows if vote(world.masses[i]) == k]
    below = sum(at(world, i, k) <= s[0] for i in members)
    return Fraction(below + 1, len(members) + 1)


# Rules that are checked by the equation; others by their level, and in tests/combiners

MERGING: dict[str, Callable[[Sequence[Fraction]], Fraction]] = {
    "average": lambda p: min(ONE, sum(p, ZERO) / len(p)),
    "twice-average": lambda p: min(ONE, 2 * sum(p, ZERO) / len(p)),
    "maximum": max,
}
