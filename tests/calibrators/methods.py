"""Every calibrator that claims a guarantee: its equation by loops over fractions, and its claim.

`case.rows` calibrate, `case.new` is new. `s` are the new example's scores of label k, one per
augmentation. `j` is a draw, or an augmentation that is read apart; None means all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations, product as pairs
from typing import Literal, TypeAlias

from calibrators_labelled import Table, inside
from exact_checks import Law
from exact_oracles import vote

from .worlds import Case, Product, World, cases, combiner, spaced_cases

ONE, ZERO = Fraction(1), Fraction(0)
TENTH, THIRD, HALF = Fraction(1, 10), Fraction(1, 3), Fraction(1, 2)
ROUNDING = Fraction(1, 10**12)
"""Of rules whose p-values are doubles; a wrong rule is off by far more."""

Scores: TypeAlias = Sequence[int]
Part: TypeAlias = Callable[[World, Case, int, Scores, int | None], Fraction]
"""How much of calibration example i lies at or below the new scores: between 0 and 1."""
Worth: TypeAlias = Callable[[World, Case], tuple[list[Fraction], Fraction]]
"""What each calibration example counts for, and the new one."""

MERGING: dict[str, Callable[[Sequence[Fraction]], Fraction]] = {
    "average": lambda p: min(ONE, sum(p, ZERO) / len(p)),
    "twice-average": lambda p: min(ONE, 2 * sum(p, ZERO) / len(p)),
    "maximum": max,
}
"""Rules that are checked by the equation; others by their level, and in tests/combiners."""
MEAN = ("average", "twice-average")
APART = (
    *MERGING,
    *("bonferroni", "median", "exchangeable-average", "exchangeable-median"),
    *("geometric", "harmonic", "exchangeable-geometric"),
)
"""Rules for replicates with p-values of their own."""


# ---- parts


def at_most(s: int, scores: Iterable[int], masses: Iterable[Fraction]) -> Fraction:
    return sum((m for score, m in zip(scores, masses, strict=True) if score <= s), ZERO)


def amounts(world: World, case: Case, i: int, j: int | None) -> Sequence[Fraction]:
    """Return how much of example i each label has: its plausibility, or its share of the draws."""
    if case.drawn is None:
        return world.masses[i]
    labels = [case.label(draw, i) for draw in (range(len(case.drawn)) if j is None else [j])]
    return [Fraction(labels.count(k), len(labels)) for k in range(world.labels)]


def answered(world: World, case: Case, i: int, s: Scores, j: int | None) -> Fraction:
    """Return ``sum_k lambda_ik 1[E_ik <= s]``, or the share of the draws at or below s."""
    return at_most(s[0], world.scores[i][0], amounts(world, case, i, j))


def voted(world: World, case: Case, i: int, s: Scores, j: int | None) -> Fraction:
    return Fraction(world.scores[i][0][vote(world.masses[i])] <= s[0])


def lost(world: World, case: Case, i: int, s: Scores, j: int | None) -> Fraction:
    """Return ``sum_k r_k lambda_ik 1[E_ik <= s]``."""
    risks = [risk * mass for risk, mass in zip(world.risk, world.masses[i], strict=True)]
    return at_most(s[0], world.scores[i][0], risks)


def seen_once(world: World, case: Case, i: int, s: Scores, j: int | None) -> Fraction:
    """Return the share of all augmentations at or below one score."""
    below = [at_most(s[0], scores, world.masses[i]) for scores in world.scores[i]]
    return sum(below, ZERO) / len(below)


def seen_apart(world: World, case: Case, i: int, s: Scores, j: int | None) -> Fraction:
    """Return the plausibilities at or below the score in augmentation j, or on average over j."""
    views = range(world.augmentations) if j is None else [j]
    below = [at_most(s[a], world.scores[i][a], world.masses[i]) for a in views]
    return sum(below, ZERO) / len(below)


def seen_on_average(world: World, case: Case, i: int, s: Scores, j: int | None) -> Fraction:
    """Return the plausibilities whose scores add up to at most those of the new example."""
    return at_most(sum(s), map(sum, zip(*world.scores[i], strict=True)), world.masses[i])


def held(leave_out: Fraction) -> Part:
    """Return whether the largest threshold that leaves out so much at most is at or below s."""

    def part(world: World, case: Case, i: int, s: Scores, j: int | None) -> Fraction:
        scores, masses = world.scores[i][0], world.masses[i]
        fine = [tau for tau in scores if at_most(tau - 1, scores, masses) <= leave_out]
        return Fraction(max(fine) <= s[0])

    return part


# ---- what examples count for


def alike(world: World, case: Case) -> tuple[list[Fraction], Fraction]:
    return [ONE] * len(case.rows), ONE


def by_ratio(world: World, case: Case) -> tuple[list[Fraction], Fraction]:
    return [world.weight[i] for i in case.rows], world.weight[case.new]


def by_share(world: World, case: Case) -> tuple[list[Fraction], Fraction]:
    """Return 1 for each patient, divided among its examples."""
    patients = [world.patient[i] for i in case.rows]
    return [Fraction(1, patients.count(patient)) for patient in patients], ONE


@dataclass(frozen=True)
class View:
    """The augmentation in which the new example is seen, or the order of its augmentations."""

    seen: int
    order: tuple[int, ...]


@dataclass(frozen=True)
class Method:
    """A calibrator as a table, its equation and its guarantee."""

    name: str
    table: Table
    m: int | None = None
    part: Part = answered
    own: Callable[[World], Fraction] = lambda world: ONE
    worth: Worth = alike
    per: Literal["", "group", "label"] = ""
    target: Literal["label", "vote", "risk", "mass"] = "label"
    leave_out: Fraction = ZERO
    apart: bool = False
    spaced: bool = False
    reads: Literal["plain", "mean", "single", "separate"] = "plain"
    counts: bool = False

    def __str__(self) -> str:
        return self.name

    @property
    def combiners(self) -> tuple[str, ...]:
        if not self.apart:
            return MEAN
        return (*APART, "e-value") if self.counts else APART

    @property
    def shifted(self) -> bool:
        return self.worth is by_ratio

    def cases(self, world: World, m: int | None) -> Iterator[Case]:
        if self.spaced and m is not None:
            return spaced_cases(world, m)
        return cases(world, m, shifted=self.shifted, by_patient=self.worth is by_share)

    def views(self, world: World) -> list[View]:
        """Return how the new example can be seen, each as probable."""
        if self.reads == "single":
            return [View(a, ()) for a in range(world.augmentations)]
        if self.reads == "separate":
            return [View(0, order) for order in permutations(range(world.augmentations))]
        return [View(0, ())]

    def scores(self, world: World, new: int, k: int, view: View) -> list[int]:
        s = [row[k] for row in world.scores[new]]
        return [s[view.seen]] if self.reads == "single" else s

    def p(self, world: World, case: Case, k: int, s: Scores, j: int | None) -> Fraction:
        """Return ``(sum_i v_i part_i(s) + v own) / (sum_i v_i + v)``."""
        if self.per == "group":
            group = world.group[case.new]
            case = case.among([i for i in case.rows if world.group[i] == group])
        if self.per == "label":
            each, new = [amounts(world, case, i, j)[k] for i in case.rows], ONE
            if self.target == "vote":
                each = [Fraction(vote(world.masses[i]) == k) for i in case.rows]
            parts = [Fraction(world.scores[i][0][k] <= s[0]) for i in case.rows]
        else:
            each, new = self.worth(world, case)
            parts = [self.part(world, case, i, s, j) for i in case.rows]
        total = sum(each, ZERO) + new
        if not case.rows or not total:
            return ONE
        below = sum((v * part for v, part in zip(each, parts, strict=True)), ZERO)
        return (below + new * self.own(world)) / total

    def expected(self, world: World, case: Case, rule: str, view: View) -> list[Fraction]:
        """Return the combined p-value of each label by the equations."""
        draws = [None] if rule in MEAN else view.order or range(self.m or 1)
        return [
            MERGING[rule](
                [self.p(world, case, k, self.scores(world, case.new, k, view), j) for j in draws]
            )
            for k in range(world.labels)
        ]

    def events(
        self, world: World, new: int, p: Sequence[Fraction]
    ) -> Iterator[tuple[int, Fraction, Fraction]]:
        """Return labels, p-values, and what is lost of the new example from that alpha on.

        Of a label: its plausibility, the chance that it is the answer. Of a risk: plausibility
        times risk. Of a share of plausibilities: 1, at the least alpha at which more is left out.
        """
        masses = world.masses[new]
        if self.target == "vote":
            yield vote(masses), p[vote(masses)], ONE
        elif self.target == "mass":
            for value in sorted(set(p)):
                if (
                    sum(m for m, own in zip(masses, p, strict=True) if own <= value)
                    > self.leave_out
                ):
                    yield 0, value, ONE
                    return
        else:
            for k, mass in enumerate(masses):
                cost = mass * (world.risk[k] if self.target == "risk" else 1)
                if cost:
                    yield k, p[k], cost

    def condition(self, world: World, new: int, k: int) -> object:
        return {"": "", "group": world.group[new], "label": k}[self.per]

    def odds(self, world: World) -> dict[object, Fraction]:
        """Return the probability of each condition."""
        odds: dict[object, Fraction] = {}
        for case in self.cases(world, None):
            if self.per != "label":
                key = self.condition(world, case.new, 0)
                odds[key] = odds.get(key, ZERO) + case.chance
                continue
            for k, _, cost in self.events(world, case.new, [ZERO] * world.labels):
                odds[k] = odds.get(k, ZERO) + case.chance * cost
        return odds

    def laws(self, world: World, rules: Sequence[str]) -> dict[str, list[Law]]:
        """Return for each combiner the laws of p-values, one for each condition.

        Every p-value of the project is the double nearest to what the equations say.
        """
        product, odds = Product(self.table, world), self.odds(world)
        combiners = {rule: combiner(rule) for rule in rules}
        laws: dict[str, dict[object, Law]] = {rule: {} for rule in rules}
        views = self.views(world)
        for case in self.cases(world, self.m):
            pools = product.pools(case)
            for view, (rule, built_in) in pairs(views, combiners.items()):
                queries = product.queries(pools, case.new, seen=view.seen, order=view.order or None)
                values = product.p_values(pools, queries, built_in)
                p = [Fraction(value) for value in values]
                if rule in MERGING:
                    p = self.expected(world, case, rule, view)
                    assert values == [float(value) for value in p], (world, case, rule)
                for k, value, cost in self.events(world, case.new, p):
                    key = self.condition(world, case.new, k)
                    law = laws[rule].setdefault(key, {})
                    chance = case.chance * cost / len(views) / odds[key]
                    law[value] = law.get(value, ZERO) + chance
        return {rule: [*law.values()] for rule, law in laws.items()}

    def level(self, rule: str) -> Fraction:
        """Return the factor c of the guarantee P(p <= alpha) <= c alpha."""
        if self.reads == "separate":
            return Fraction(2 if rule == "average" else 1)
        return HALF if rule == "twice-average" else ONE

    def smoothed_ends(
        self, world: World, case: Case, view: View
    ) -> list[tuple[Fraction, Fraction]]:
        """Return each label's smoothed p-value at U = 0 and at U = 1, between which it is linear.

        Atoms below s count, of those at s the share U; so does the new example's own mass, but for
        counted draws, of which one is the tie itself. Scores are whole numbers.
        """
        group = world.group[case.new]
        n = sum(not self.per or world.group[i] == group for i in case.rows)
        tie = Fraction(1, (self.m or 1) * (n + 1)) if self.counts and n else ZERO
        ends = []
        for k in range(world.labels):
            s = self.scores(world, case.new, k, view)
            below = self.p(world, case, k, [s[0] - 1, *s[1:]], None)
            ends.append((below - tie, self.p(world, case, k, s, None)))
        return ends


# ---- every method


def drawing(m: int, **more: object) -> Table:
    return {"name": "monte-carlo", "draws": m, **more}


def by_group(inner: Method) -> Method:
    table = inside("mondrian", "group", inner.table)
    return replace(inner, name=f"group: {inner.name}", table=table, per="group")


def by_weight(inner: Method) -> Method:
    table = inside("weighted", "weight", inner.table)
    name = f"weights: {inner.name}"
    return replace(inner, name=name, table=table, worth=by_ratio, counts=False)


def by_patient(inner: Method) -> Method:
    table = inside("clustered", "patient", inner.table)
    name = f"patients: {inner.name}"
    return replace(inner, name=name, table=table, worth=by_share, counts=False)


def holding(leave_out: Fraction) -> Method:
    return Method(
        f"mass: {leave_out} left out",
        {"name": "mass-coverage", "leave_out": float(leave_out)},
        part=held(Fraction(str(float(leave_out)))),
        target="mass",
        leave_out=leave_out,
        counts=True,
    )


EXPECTED = Method("expected", {"name": "expected"})
DRAWN = [Method(f"{m} draws", drawing(m), m, apart=True, counts=True) for m in (1, 2)]
VOTES: Table = {"name": "majority-vote"}
VOTED = Method("votes", VOTES, part=voted, target="vote", apart=True, counts=True)
RISK = Method(
    "risk",
    {"name": "risk", "by": "risk"},
    part=lost,
    own=lambda world: max(world.risk),
    target="risk",
)
PLAIN = (EXPECTED, *DRAWN, VOTED)
BY_GROUP = tuple(map(by_group, (*PLAIN, RISK, holding(TENTH))))
BY_LABEL = (
    Method("label: expected", inside("mondrian", "label"), per="label"),
    *(
        Method(f"label: {m} draws", inside("mondrian", "label", drawing(m)), m, per="label")
        for m in (1, 2, 3)
    ),
    Method("label: votes", inside("mondrian", "label", VOTES), per="label", target="vote"),
)
WEIGHTED = (
    *map(by_weight, (*PLAIN, RISK, holding(THIRD))),
    by_group(by_weight(EXPECTED)),
    by_group(by_weight(DRAWN[1])),
)
CLUSTERED = tuple(map(by_patient, (*PLAIN, RISK, holding(ZERO))))
LOST = (RISK, *map(holding, (ZERO, TENTH, HALF, THIRD)))
SPACED = tuple(
    Method(
        f"spaced: {m} draws", drawing(m, systematic=True), m, apart=m == 2, spaced=True, counts=True
    )
    for m in (1, 2, 3)
)
METHODS = (*BY_GROUP, *BY_LABEL, *WEIGHTED, *CLUSTERED, *LOST, *SPACED)


VIEWS = (
    Method("mean", {"name": "augmentation", "scores": "mean"}, part=seen_on_average, reads="mean"),
    Method("single", {"name": "augmentation", "scores": "pooled"}, part=seen_once, reads="single"),
    Method(
        "separate",
        {"name": "augmentation", "scores": "separate"},
        part=seen_apart,
        apart=True,
        reads="separate",
    ),
)
AUGMENTED = tuple(
    wrapper(view)
    for view in VIEWS
    for wrapper in (lambda view: view, by_group, by_weight, by_patient)
)
SMOOTHED = (
    *(*PLAIN, *BY_GROUP, *BY_LABEL, *CLUSTERED, *LOST, *SPACED),
    *(method for method in AUGMENTED if method.reads != "separate" and not method.shifted),
)
"""Calibrators whose ties can be split: equal weights, one score."""
