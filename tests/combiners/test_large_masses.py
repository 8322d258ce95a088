"""Combiners on masses that are large integers, and on p-values of 0."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

import plausibly
from plausibly import registry
from plausibly.calibration.pools import Pools
from plausibly.calibration.pvalues import PValues
from plausibly.calibration.scores import CalibrationScores
from plausibly.kernels.types import Floats
from plausibly.protocols import COMBINER
from plausibly_builtins.combiners.independent import Fisher
from plausibly_builtins.combiners.pac import Pac
from tables import labelled

ANY = ["harmonic", "bonferroni", "median", "geometric", "maximum", "twice-average"]
RULES = [*ANY, "average", "exchangeable-average", "exchangeable-median", "exchangeable-geometric"]


def votes(rng: np.random.Generator, shares: Floats, many: int) -> Floats:
    return np.stack([rng.multinomial(many, row) for row in shares]) / many


def test_two_equal_views_give_twice_the_p_value() -> None:
    """The harmonic mean of copies is the copy: products of numerators must not pass 64 bits."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(3), 200)
    lam = votes(rng, shares[:100], 3)
    views = np.stack([shares, shares])
    one = plausibly.calibrate(labelled(shares[:100]), labelled(lam))
    two = plausibly.calibrate(
        labelled(views[:, :100]),
        labelled(lam),
        calibrator={"name": "augmentation", "scores": "separate"},
        combiner="harmonic",
    )
    alone = one.p_values(labelled(shares[100:], "new ")).values
    doubled = two.p_values(labelled(views[:, 100:], "new ")).values
    assert two.pools.each[0].total > 2**40
    np.testing.assert_allclose(doubled, np.minimum(1.0, 2 * alone), rtol=1e-12)


@pytest.mark.parametrize("name", RULES)
def test_totals_near_the_limit_of_64_bits(name: str) -> None:
    """Eight replicates, apart, with masses whose sum over them passes 2^63."""
    rng, m, n = np.random.default_rng(1), 8, 40
    # Their least common multiple is next to 2^56.
    one = 2**28 - np.arange(n) % 2
    scores = rng.random((m, n))
    made = CalibrationScores(
        scores=scores, units=one, row=np.arange(n), denominator=one, augmentation="separate"
    )
    few = CalibrationScores(scores=scores)
    asked = rng.random((m, 25))
    component = registry.resolve(COMBINER, name)
    large, small = Pools(made), Pools(few)
    found = component.combine(PValues.of(large, asked), None)
    # The same scores with masses of one, each replicate compared with its own.
    p_values = [
        pool.numerators(row) / pool.total for pool, row in zip(small.each, asked, strict=True)
    ]
    mean = np.mean(p_values, axis=0)
    expected = {
        "average": mean,
        "twice-average": np.minimum(1, 2 * mean),
        "maximum": np.max(p_values, axis=0),
    }
    wanted = expected.get(name)
    if wanted is None:
        wanted = component.merge(np.stack(p_values))  # type: ignore[attr-defined]  # has it
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("name", [*RULES, "cauchy", "fisher", "stouffer"])
@pytest.mark.parametrize("draws", [1, 2, 5])
def test_a_new_example_of_weight_zero_has_p_values_of_zero(name: str, draws: int) -> None:
    """Below all atoms it is 0, and nothing is NaN or warned of."""
    rng = np.random.default_rng(2)
    shares = rng.dirichlet(np.ones(3), 60)
    weights = rng.uniform(0.5, 2, 60)
    model = labelled(shares).assign_coords(w=("example", weights))
    inner = {"name": "monte-carlo", "draws": draws}
    predictor = plausibly.calibrate(
        model,
        labelled(votes(rng, shares, 3)),
        calibrator={"name": "weighted", "by": "w", "inner": inner},
        combiner=name,
        allow_no_guarantee=True,
    )
    new = labelled(np.array([[0, 0, 1], [0, 0.5, 0.5]]), "new ").assign_coords(
        w=("example", [0.0, 1.0])
    )
    with np.errstate(all="raise"):
        p_values = predictor.p_values(new).values
    assert np.isfinite(p_values).all()
    assert p_values[0, 0] == 0 < p_values[1, 0]
    assert p_values[0, 2] == 1


def test_the_least_p_value_is_above_zero() -> None:
    """Also where the rule's own number is smaller than any double."""
    assert Fisher().merge(np.full((400, 1), 1e-5)).item() > 0


# ---- pac


def held_out(count: int, seed: int = 3) -> tuple[PValues, PValues]:
    """Return p-values of as many held-out scores, and queries that have 0, 1, ... of them below."""
    pools = Pools(CalibrationScores(scores=np.arange(count, dtype=np.float64)[None]))
    places = np.random.default_rng(seed).permutation(count)
    queries = np.arange(-1, count, dtype=np.float64)
    return PValues.of(pools, places.astype(np.float64)), PValues.of(pools, queries)


def test_pac_with_thousands_of_held_out_examples() -> None:
    """Each p-value is where the tail is delta; exact sums of fractions would take minutes."""
    trials, delta = 3000, 1e-4
    aside, queries = held_out(trials)
    found = Pac(delta=delta, bound="held-out").combine(queries, aside)
    below = np.arange(trials + 1)
    assert found[-1] == 1
    tail = scipy.stats.binom.cdf(below[:-1], trials, found[:-1])
    np.testing.assert_allclose(tail, delta, rtol=1e-6)


@pytest.mark.parametrize(
    ("alpha", "delta", "needed"),
    [("0.1", 0.729, 3), ("0.1", 0.7289, 4), ("0.1", 1e-4, 88), ("0.5", 0.125, 3), ("0.9", 0.5, 1)],
)
def test_pac_needs_the_least_number(alpha: str, delta: float, needed: int) -> None:
    share = Fraction(alpha)
    assert (1 - share) ** needed <= Fraction(str(delta)) < (1 - share) ** (needed - 1)
    predictor = plausibly.calibrate(
        labelled(np.random.default_rng(0).dirichlet(np.ones(3), 40)),
        labelled(np.full((40, 3), [0.5, 0.25, 0.25])),
        combiner={"name": "pac", "delta": delta, "bound": "held-out"},
    )
    summary = predictor.summary
    guarantee = predictor.combiner.guarantee(predictor.pools.calibration.claim, summary, share)
    assert guarantee.needed == needed
    assert guarantee.vacuous is (summary.n_held_out < needed)
