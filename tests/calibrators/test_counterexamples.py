"""Rules that fail, each in a world where it does, by how much; and what the project does there.

The worlds are small, or made of ranks, so that every figure is a fraction. What is "ours" is the
project's own p-value in the same world.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import comb, factorial, floor

import numpy as np
import pytest
import xarray as xr

import plausibly
from calibrators_methods import Method, check
from calibrators_oracles import of_label, weighted
from calibrators_product import GivenKeys, Product, combiner, hash_of
from calibrators_tables import wrapped
from calibrators_worlds import Case, World, add, cases
from exact_bags import Law, excess
from plausibly.calibration.pools import Pools
from plausibly.calibration.pvalues import PValues
from plausibly.calibration.scores import CalibrationScores
from plausibly.kernels.random import Keys
from tables import labelled

ONE = Fraction(1)
HALF = Fraction(1, 2)
TENTH = Fraction(1, 10)


def world_of(
    scores: Sequence[Sequence[Sequence[int]]],
    masses: Sequence[Sequence[Fraction]] | None = None,
    *,
    weight: Sequence[int] = (),
    patient: Sequence[str] = (),
) -> World:
    """Return a world; without masses every example has one label."""
    n = len(scores)
    return World(
        scores=tuple(tuple(tuple(row) for row in every) for every in scores),
        masses=tuple(tuple(row) for row in masses or [[ONE]] * n),
        group=("a",) * n,
        weight=tuple(Fraction(w) for w in weight or [1] * n),
        patient=tuple(patient or [f"{i}" for i in range(n)]),
        risk=(ONE, ONE),
    )


def p_of(product: Product, case: Case, rule: str = "average", seen: int = 0) -> list[float]:
    pools = product.pools(case)
    return product.p_values(pools, product.queries(pools, case.new, seen=seen), combiner(rule))


# Augmentations: an average of p-values of unlike scores


def mirrored(size: int, alpha: Fraction) -> tuple[World, int]:
    """Return examples whose ranks in two augmentations add up to the same, as many as miss."""
    low = floor(2 * alpha * size - 1)
    rows = [[[r], [low + 1 - r]] for r in range(1, low + 1)]
    return world_of([*rows, *([[r], [r]] for r in range(low + 1, size + 1))]), low


def share_missed(world: World, scores: str, rule: str, alpha: Fraction, upto: int) -> Fraction:
    """Return how often the one label is missed; examples from `upto` on never are."""
    product = Product({"name": "augmentation", "scores": scores}, world)
    views = range(world.augmentations) if scores == "pooled" else [0]
    missed = 0
    for new in range(upto):
        case = Case(ONE, tuple(i for i in range(world.size) if i != new), new)
        missed += sum(p_of(product, case, rule, seen)[0] <= float(alpha) for seen in views)
    return Fraction(missed, world.size * len(views))


@pytest.mark.parametrize(
    ("size", "alpha", "figure"), [(10, "0.2", 0.3), (101, "0.1", 0.188), (1001, "0.1", 0.1988)]
)
def test_an_average_over_augmentations_misses_twice_alpha(
    size: int, alpha: str, figure: float
) -> None:
    world, low = mirrored(size, Fraction(alpha))
    missed = share_missed(world, "separate", "average", Fraction(alpha), low + 1)
    assert missed == Fraction(low, size)
    assert round(float(missed), 4 if size == 1001 else 3) == figure
    assert missed <= 2 * Fraction(alpha)


@pytest.mark.parametrize(
    ("scores", "rule"),
    [
        ("mean", "average"),
        ("pooled", "average"),
        ("separate", "maximum"),
        ("separate", "twice-average"),
        ("separate", "bonferroni"),
        ("separate", "median"),
    ],
)
def test_there_the_others_keep_it(scores: str, rule: str) -> None:
    world, _ = mirrored(101, TENTH)
    assert share_missed(world, scores, rule, TENTH, 101) <= TENTH


def test_the_average_says_that_it_keeps_less() -> None:
    names = [f"{i}" for i in range(30)]
    predictions = labelled(np.full((2, 30, 2), 0.5), names, ["a", "b"])
    lam = predictions.isel(augmentation=0, drop=True)
    predictor = plausibly.calibrate(
        predictions, lam, calibrator={"name": "augmentation", "scores": "separate"}
    )
    assert predictor.guarantee("0.1").level == Fraction(4, 5)


# Weights


def test_one_instead_of_the_new_weight() -> None:
    """Two examples of weight 499: half the time the lower is new, and gets 1/500."""
    world = world_of([[[1]], [[2]]], weight=[499, 499])
    wrong: Law = {}
    for case in cases(world, None, shifted=True):
        below = sum((world.weight[i] for i in case.rows if i < case.new), Fraction(0))
        total = sum((world.weight[i] for i in case.rows), Fraction(0))
        add(wrong, (below + 1) / (total + 1), case.chance)
    assert excess(wrong) == Fraction("0.498")
    check(Method("weights", wrapped("weighted", "weight"), weighted(), shifted=True), [world])


# Ties split by uniforms

BOTTOM = [(0, 1), (0, 2)]
"""Scores of two examples of even odds: both have the lowest score, then each one of its own."""


def bottom(size: int) -> World:
    """Return two examples of even odds below `size - 2` others that have one label."""
    scores = [[list(one)] for one in BOTTOM] + [[[9 + i, 99]] for i in range(size - 2)]
    return world_of(scores, [[HALF, HALF]] * 2 + [[ONE, Fraction(0)]] * (size - 2))


Split = Callable[[Fraction, Fraction], tuple[Fraction, Fraction]]
"""Masses below and at a score to the numerators at U = 0 and U = 1."""


def mean_of_smoothed(below: Fraction, tied: Fraction) -> tuple[Fraction, Fraction]:
    """``below + U (tied + 1)``: the mean of smoothed p-values of infinitely many draws."""
    return below, below + tied + 1


def ours(below: Fraction, tied: Fraction) -> tuple[Fraction, Fraction]:
    """``below + U tied + 1``."""
    return below + 1, below + tied + 1


def missed_at(world: World, split: Split, alpha: Fraction) -> Fraction:
    """Return P(p <= alpha), exactly."""
    total = Fraction(0)
    for case in cases(world, None):
        for k, mass in enumerate(world.masses[case.new]):
            s = world.scores[case.new][0][k]
            atoms = [
                (world.scores[i][0][one], world.masses[i][one]) for i in case.rows for one in (0, 1)
            ]
            low, high = split(
                sum((m for a, m in atoms if a < s), Fraction(0)),
                sum((m for a, m in atoms if a == s), Fraction(0)),
            )
            low, high = low / world.size, high / world.size
            inside = Fraction(low <= alpha)
            if high > low:
                inside = min(ONE, max(Fraction(0), (alpha - low) / (high - low)))
            total += case.chance * mass * inside
    return total


@pytest.mark.parametrize(
    ("size", "alpha", "figure"), [(2, "0.75", Fraction(7, 8)), (10, "0.15", Fraction("0.175"))]
)
def test_a_mean_of_smoothed_p_values(size: int, alpha: str, figure: Fraction) -> None:
    world, limit = bottom(size), Fraction(alpha)
    assert missed_at(world, mean_of_smoothed, limit) == figure > limit
    assert missed_at(world, ours, limit) <= limit
    # What is ours is what the project computes.
    product = Product({"name": "expected"}, world)
    case = next(iter(cases(world, None)))
    pools = product.pools(case)
    queries = product.queries(pools, case.new, uniform=0.5)
    got = product.p_values(pools, queries, combiner({"name": "average", "smoothed": True}))
    assert got[0] == float((HALF * HALF + 1) / size)


def irwin_hall(x: Fraction, m: int) -> Fraction:
    """Return the probability that m uniforms add up to at most x."""
    terms = ((-1) ** k * comb(m, k) * (x - k) ** m for k in range(min(floor(x), m) + 1))
    return min(ONE, sum(terms, Fraction(0)) / factorial(m))


def test_a_uniform_for_each_draw() -> None:
    """The lowest score has mass 0.15, n = 99, one label an example, so that all 10 draws agree."""
    n, m, low = 99, 10, Fraction("0.15")
    wrong = right = Fraction(0)
    for tied in range(n + 1):
        chance = low * comb(n, tied) * low**tied * (1 - low) ** (n - tied)
        wrong += chance * irwin_hall(min(Fraction(m), m * TENTH * (n + 1) / (tied + 1)), m)
        # (U m tied + m - 1 + U) / (m (n + 1)) <= alpha
        right += chance * min(ONE, (TENTH * m * (n + 1) - m + 1) / (m * tied + 1))
    assert round(float(wrong), 3) == 0.123
    assert right <= TENTH
    scores = np.tile(np.repeat([0.0, 1.0], [20, n - 20]), (m, 1))
    p = PValues.of(
        Pools(CalibrationScores(scores=scores)), np.zeros((1, 1)), uniform=np.array([[0.25]])
    )
    assert p.smoothed_mean()[0, 0] == (0.25 * m * 20 + m - 1 + 0.25) / (m * (n + 1))


# Patients, and examples with unlike numbers of draws


def test_a_flat_pool_of_patients() -> None:
    """One patient with one low example, one with six: half the time the first is new."""
    patient = ["small"] + ["large"] * 6
    world = world_of([[[i + 1]] for i in range(7)], patient=patient)
    flat: Law = {}
    product = Product(wrapped("grouped", "patient"), world)
    right: Law = {}
    for case in cases(world, None, by_patient=True):
        below = sum(i < case.new for i in case.rows)
        add(flat, Fraction(below + 1, len(case.rows) + 1), case.chance)
        add(right, Fraction(p_of(product, case)[0]), case.chance)
    assert excess(flat) == HALF - Fraction(1, 7) > Fraction("0.34")
    assert excess(right) <= 0


def test_a_flat_pool_of_thirty_patients() -> None:
    """Patients of 1 or 20 examples, large ones easier: one of a new patient is missed at 0.19."""
    random = np.random.default_rng(7)
    tables: dict[str, dict[str, object]] = {
        "flat": {"name": "expected"},
        "grouped": wrapped("grouped", "patient"),
    }
    missed = dict.fromkeys(tables, 0.0)
    runs = 25
    for _ in range(runs):
        sizes = random.choice([1, 20], size=30)
        patient = np.repeat(np.arange(30), sizes)
        large = np.repeat(sizes > 1, sizes)
        u = random.random(len(patient))
        scores = np.where(large, u, u**2)
        names = [f"{i}" for i in range(len(scores))]
        predictions = labelled(
            scores[:, None], names, ["a"], patient=patient, attrs={"scale": "any"}
        )
        lam = xr.ones_like(predictions).drop_vars("patient").drop_attrs()
        for name, table in tables.items():
            tau = plausibly.calibrate(predictions, lam, calibrator=table).threshold("0.1").item()
            tau = max(tau, 0.0)
            missed[name] += (tau + np.sqrt(tau)) / 2 / runs
    assert 0.17 < missed["flat"] < 0.22
    assert missed["grouped"] <= 0.1


def test_unlike_numbers_of_draws() -> None:
    """An example with one draw, one with two: a pool that forgets whose draws are whose."""
    scores, of = [1.0, 2.0, 3.0], [0, 1, 1]
    flat: Law = {}
    right: Law = {}
    for new in (0, 1):
        row = [place for place, i in enumerate(of) if i != new]
        atoms = np.array([[scores[place] for place in row]])
        pools = Pools(
            CalibrationScores(
                scores=atoms,
                units=np.ones(len(row), dtype=np.int64),
                row=np.zeros(len(row), dtype=np.int64),
                denominator=np.array([len(row)]),
                separate=False,
            )
        )
        drawn = [s for s, i in zip(scores, of, strict=True) if i == new]
        for s in drawn:
            chance = Fraction(1, 2 * len(drawn))
            add(flat, Fraction(int((atoms <= s).sum()) + 1, len(row) + 1), chance)
            add(right, Fraction(float(PValues.of(pools, np.array(s)).mean())), chance)
    assert excess(flat) == Fraction(1, 6) > Fraction(1, 9)
    assert excess(right) <= 0


# Draws that are not independent between examples


def test_one_uniform_for_every_example() -> None:
    """Even odds, n = 99, alpha 0.1: a shared uniform draws the same label of everyone."""
    size = 100
    world = world_of([[[size + i, i]] for i in range(1, size + 1)], [[HALF, HALF]] * size)
    product = Product({"name": "monte-carlo", "draws": 1}, world)

    def missed(keys: Keys) -> float:
        found = 0
        for new in range(size):
            case = Case(ONE, tuple(i for i in range(size) if i != new), new)
            pools = Pools(product.calibrator.calibrate(product.data(case.rows), keys))
            p = product.p_values(pools, product.queries(pools, new), combiner("average"))
            found += sum(one <= 0.1 for one in p)
        return found / (2 * size)

    shared = [
        missed(GivenKeys(uniforms={("", hash_of(i)): [u] for i in range(size)}))
        for u in (0.25, 0.75)
    ]
    # 0.3 on average, three times alpha.
    assert shared == [0.55, 0.05]
    assert np.mean([missed(Keys(seed)) for seed in range(6)]) < 0.12


# By label


def label_law(world: World, p: Callable[[Case], Fraction]) -> Law:
    """Return the law of a p-value of the first label, given that it is the label."""
    total = sum((row[0] for row in world.masses), Fraction(0))
    law: Law = {}
    for new in range(world.size):
        case = Case(ONE, tuple(i for i in range(world.size) if i != new), new)
        if world.masses[new][0]:
            add(law, p(case), world.masses[new][0] / total)
    return law


def test_label_cells_with_own_mass_one_for_all_draws() -> None:
    world = world_of([[[1]], [[2]]])
    draws = 4

    def wrong(case: Case) -> Fraction:
        counted = [draws for i in case.rows if i < case.new]
        return Fraction(sum(counted) + 1, draws * len(case.rows) + 1)

    product = Product(wrapped("mondrian", "label", {"name": "monte-carlo", "draws": draws}), world)

    def right(case: Case) -> Fraction:
        drawn = Case(ONE, case.rows, case.new, ((0,),) * draws)
        return Fraction(p_of(product, drawn)[0])

    assert excess(label_law(world, wrong)) == Fraction("0.3")
    assert excess(label_law(world, right)) <= 0


def test_a_mean_of_the_draws_p_values_of_a_label() -> None:
    """Masses 0.5, 1, 1, 1 at scores 1 to 4: the second example gets 5/12, and 3/7 are no higher."""
    masses = [[HALF, HALF], *([[ONE, Fraction(0)]] * 3)]
    world = world_of([[[i, 9]] for i in range(1, 5)], masses)

    def limit(case: Case) -> Fraction:
        """Return the p-value of a draw on average: of infinitely many draws, their mean."""
        return (
            sum(
                (
                    one.chance * of_label(world, one, 0, world.scores[one.new][0][:1], None)
                    for one in cases(world, 1)
                    if one.new == case.new
                ),
                Fraction(0),
            )
            * world.size
        )

    law = label_law(world, limit)
    assert sorted(law)[1] == Fraction(5, 12)
    assert sum(chance for p, chance in law.items() if p <= Fraction(5, 12)) == Fraction(3, 7)
    product = Product(wrapped("mondrian", "label"), world)
    right = label_law(world, lambda case: Fraction(p_of(product, case)[0]).limit_denominator(99))
    assert Fraction(3, 7) in right
    assert excess(right) <= 0


# Held-out examples with several labels


def test_held_out_labels_that_are_counted_apart() -> None:
    """Ten labels of each of 19 held-out examples and still + 1: the lowest of 20 gets 1/191."""
    wrong: Law = {}
    right: Law = {}
    pools = Pools(CalibrationScores(scores=np.arange(20.0)[None, :]))
    for new in range(20):
        held = [float(i) for i in range(20) if i != new]
        below = sum(s < new for s in held)
        add(wrong, Fraction(10 * below + 1, 191), Fraction(1, 20))
        aside = PValues.of(pools, np.array(held))
        p = combiner("held-out-rank").combine(PValues.of(pools, np.array([float(new)])), aside)
        add(right, Fraction(float(p[0])).limit_denominator(999), Fraction(1, 20))
    alpha = Fraction("0.02")
    assert sum(chance for p, chance in wrong.items() if p <= alpha) == Fraction("0.05")
    assert excess(right) <= 0
