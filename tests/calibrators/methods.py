"""Calibrators that claim a guarantee: their equation, and what the guarantee is given and about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product as pairs
from typing import Literal, TypeAlias

from exact_bags import Law, excess

from .oracles import MERGING, Oracle, Own, Part, one, said
from .product import Product, combiner
from .worlds import (
    Case,
    Given,
    Target,
    World,
    add,
    cases,
    conditioned,
    events,
    spaced_cases,
)

Reads: TypeAlias = Literal["plain", "mean", "single", "separate"]

NONE = (Fraction(0),) * 3
ROUNDING = Fraction(1, 10**12)
"""Of rules whose p-values are doubles; a wrong rule is off by far more."""

MEAN = ("average", "twice-average")
APART = (
    *MERGING,
    *("bonferroni", "median", "exchangeable-average", "exchangeable-median"),
    *("geometric", "harmonic", "exchangeable-geometric"),
)
"""Rules for replicates with p-values of their own."""


@dataclass(frozen=True)
class View:
    """The augmentation in which the new example is seen, or the order of its augmentations."""

    seen: int
    order: tuple[int, ...]


@dataclass(frozen=True)
class Method:
    """A calibrator as a table, its equation (its `part` and `own` mass too), and its guarantee."""

    name: str
    table: dict[str, object]
    oracle: Oracle
    m: int | None = None
    part: Part = said
    own: Own = one
    shifted: bool = False
    by_patient: bool = False
    given: Given = ""
    target: Target = "label"
    leave_out: Fraction = Fraction(0)
    apart: bool = False
    spaced: bool = False
    reads: Reads = "plain"
    counts: bool = False

    def __str__(self) -> str:
        return self.name

    @property
    def combiners(self) -> tuple[str, ...]:
        if not self.apart:
            return MEAN
        return (*APART, "e-value") if self.counts else APART

    def cases(self, world: World) -> Iterable[Case]:
        if self.spaced:
            return spaced_cases(world, self.m or 1)
        return cases(world, self.m, shifted=self.shifted, by_patient=self.by_patient)

    def views(self, world: World) -> list[View]:
        """Return how the new example can be seen, each as probable."""
        if self.reads == "single":
            return [View(a, ()) for a in range(world.augmentations)]
        if self.reads == "separate":
            return [View(0, order) for order in permutations(range(world.augmentations))]
        return [View(0, ())]

    def want(self, world: World, case: Case, rule: str, view: View) -> list[Fraction]:
        """Return the combined p-value of each label by the equations."""
        found = []
        for k in range(world.labels):
            s = [row[k] for row in world.scores[case.new]]
            s = [s[view.seen]] if self.reads == "single" else s
            draws = [None] if rule in MEAN else view.order or range(self.m or 1)
            found.append(MERGING[rule]([self.oracle(world, case, k, s, j) for j in draws]))
        return found

    def laws(
        self,
        world: World,
        rules: Sequence[str],
    ) -> dict[str, list[Law]]:
        """Return for each combiner the laws of p-values, one for each thing that is given.

        Every p-value of the project is the double nearest to what the equations say.
        """
        product = Product(self.table, world)
        combiners = {rule: combiner(rule) for rule in rules}
        laws: dict[str, dict[object, Law]] = {rule: {} for rule in rules}
        views = self.views(world)
        for case in self.cases(world):
            pools = product.pools(case)
            for view, (rule, built_in) in pairs(views, combiners.items()):
                queries = product.queries(pools, case.new, seen=view.seen, order=view.order or None)
                got = product.p_values(pools, queries, built_in)
                p = [Fraction(value) for value in got]
                if rule in MERGING:
                    p = self.want(world, case, rule, view)
                    assert got == [float(value) for value in p], (world, case, rule)
                for k, value, cost in events(world, case.new, p, self.target, self.leave_out):
                    given = {"": "", "group": world.group[case.new], "label": k}[self.given]
                    chance = case.chance * cost / len(views)
                    add(laws[rule].setdefault(given, {}), value, chance)
        return {rule: conditioned(found, self.odds(world)) for rule, found in laws.items()}

    def level(self, rule: str) -> Fraction:
        """Return the factor c of the guarantee P(p <= alpha) <= c alpha."""
        if self.reads == "separate":
            return Fraction(2 if rule == "average" else 1)
        return Fraction(1, 2) if rule == "twice-average" else Fraction(1)

    def odds(self, world: World) -> dict[object, Fraction]:
        """Return the probability of each thing that is given."""
        found: dict[object, Fraction] = {}
        for case in cases(world, None, shifted=self.shifted, by_patient=self.by_patient):
            if self.given != "label":
                name = world.group[case.new] if self.given else ""
                found[name] = found.get(name, Fraction(0)) + case.chance
                continue
            for k, _, cost in events(world, case.new, NONE, self.target, self.leave_out):
                found[k] = found.get(k, Fraction(0)) + case.chance * cost
        return found

    def smoothed_ends(
        self, world: World, case: Case, view: View
    ) -> list[tuple[Fraction, Fraction]]:
        """Return each label's smoothed p-value at U = 0 and at U = 1, between which it is linear.

        Atoms below s count, of those at s the share U; so does the new example's own mass, but for
        counted draws, of which one is the tie itself. Scores are whole numbers.
        """
        ends = []
        for k in range(world.labels):
            s = [row[k] for row in world.scores[case.new]]
            s = [s[view.seen]] if self.reads == "single" else s
            at_most = self.oracle(world, case, k, s, None)
            below = self.oracle(world, case, k, [s[0] - 1, *s[1:]], None)
            ends.append((below - self.tie(world, case), at_most))
        return ends

    def tie(self, world: World, case: Case) -> Fraction:
        """Return the mass of one counted draw of the new example, over the total."""
        if not self.counts:
            return Fraction(0)
        group = world.group[case.new]
        n = sum(not self.given or world.group[i] == group for i in case.rows)
        return Fraction(1, (self.m or 1) * (n + 1)) if n else Fraction(0)


def check(
    method: Method,
    worlds: Iterable[World],
    rules: Sequence[str] | None = None,
) -> None:
    """The guarantee holds at every attained alpha, of every group or label where it says so."""
    rules = method.combiners if rules is None else rules
    for world in worlds:
        laws = method.laws(world, rules)
        for rule, found in laws.items():
            slack = Fraction(0) if rule in MERGING else ROUNDING
            for law in found:
                assert excess(law, method.level(rule)) <= slack, (method.name, rule, world)
