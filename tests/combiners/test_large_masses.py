"""Combiners on masses that are large integers, and on p-values of 0."""

from __future__ import annotations

import numpy as np
import pytest

import plausibly
from plausibly.calibration.pools import Pools
from plausibly.calibration.pvalues import PValues
from plausibly.calibration.scores import CalibrationScores
from plausibly_builtins.combiners.independent import Fisher
from tables import labelled, shares

from .designs import MERGING, NONE, combiner

RULES = [*MERGING, "average", "twice-average", "maximum"]


def test_two_equal_views_give_twice_the_p_value() -> None:
    """The harmonic mean of copies is the copy: products of numerators must not pass 64 bits."""
    rng = np.random.default_rng(0)
    values = rng.dirichlet(np.ones(3), 200)
    answers = labelled(rng.multinomial(3, values[:100]) / 3)
    views = np.stack([values, values])
    one = plausibly.calibrate(labelled(values[:100]), answers)
    two = plausibly.calibrate(
        labelled(views[:, :100]),
        answers,
        calibrator={"name": "augmentation", "scores": "separate"},
        combiner="harmonic",
    )
    alone = one.p_values(labelled(values[100:], "new ")).values
    doubled = two.p_values(labelled(views[:, 100:], "new ")).values
    assert two.pools.each[0].total > 2**40
    np.testing.assert_allclose(doubled, np.minimum(1.0, 2 * alone), rtol=1e-12)


@pytest.mark.parametrize("name", RULES)
def test_totals_near_the_limit_of_64_bits(name: str) -> None:
    """Eight replicates, apart, with masses whose sum over them passes 2^63."""
    rng, m, n = np.random.default_rng(1), 8, 40
    # Their least common multiple is next to 2^56.
    units = 2**28 - np.arange(n) % 2
    scores, new = rng.random((m, n)), rng.random((m, 25))
    masses = {"units": units, "row": np.arange(n), "denominator": units}
    large = Pools(CalibrationScores(scores=scores, augmentation="separate", **masses))
    component = combiner(name)
    result = component.combine(PValues.of(large, new), None)
    # The same scores with masses of one, each replicate compared with its own.
    small = Pools(CalibrationScores(scores=scores))
    p_values = np.stack(
        [pool.numerators(row) / pool.total for pool, row in zip(small.each, new, strict=True)]
    )
    mean = p_values.mean(axis=0)
    expected = {
        "average": mean,
        "twice-average": np.minimum(1, 2 * mean),
        "maximum": p_values.max(axis=0),
    }.get(name)
    if expected is None:
        expected = component.merge(p_values)  # type: ignore[attr-defined]  # has it
    np.testing.assert_allclose(result, expected, rtol=1e-12)


@pytest.mark.parametrize("name", [*RULES, *NONE])
@pytest.mark.parametrize("draws", [1, 2, 5])
def test_a_new_example_of_weight_zero_has_p_values_of_zero(name: str, draws: int) -> None:
    """Below all atoms it is 0, and nothing is NaN or warned of."""
    rng = np.random.default_rng(2)
    values = rng.dirichlet(np.ones(3), 60)
    inner = {"name": "monte-carlo", "draws": draws}
    predictor = plausibly.calibrate(
        labelled(values, w=rng.uniform(0.5, 2, 60)),
        shares(rng.multinomial(3, values), counted=False),
        calibrator={"name": "weighted", "by": "w", "inner": inner},
        combiner=name,
        allow_no_guarantee=True,
    )
    with np.errstate(all="raise"):
        new = labelled([[0, 0, 1], [0, 0.5, 0.5]], "new ", w=[0.0, 1.0])
        p_values = predictor.p_values(new).values
    assert np.isfinite(p_values).all()
    assert p_values[0, 0] == 0 < p_values[1, 0]
    assert p_values[0, 2] == 1


def test_the_least_p_value_is_above_zero() -> None:
    """Also where the rule's own number is smaller than any double."""
    assert Fisher().merge(np.full((400, 1), 1e-5)).item() > 0
