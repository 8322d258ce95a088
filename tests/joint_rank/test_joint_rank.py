"""Joint ranks: the definition, validity by enumeration, and the design that breaks averages."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from random import Random

import attrs
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st
from numpy.typing import NDArray

import plausibly
from plausibly.conformal.joint_rank import rank_counts
from plausibly.guarantee import Guarantee
from plausibly.kernels import blocks
from refusals import refused, warned
from tables import world

Array = NDArray[np.float64]


def augmented(
    examples: int, *, count: int = 3, seed: int = 0, start: int = 0
) -> tuple[xr.DataArray, xr.DataArray]:
    """Return predictions of augmentations, noisy copies of the first, and plausibilities."""
    predictions, plausibilities = world(examples, seed=seed, start=start, dtype="float64")
    rng = np.random.default_rng(seed + 77)
    parts = [predictions]
    for _ in range(count - 1):
        noisy = predictions * np.exp(rng.normal(0, 0.5, predictions.shape))
        parts.append(noisy / noisy.sum("label"))
    whole = xr.concat(parts, dim="augmentation")
    return whole.assign_coords(augmentation=[f"view {j}" for j in range(count)]), plausibilities


def counted(bag: Array) -> int:
    """Return the numerator of the p-value of the last column, by the definition."""
    sums = [int(sum((row <= row[i]).sum() for row in bag)) for i in range(bag.shape[1])]
    return sum(value <= sums[-1] for value in sums)


@given(st.data())
def test_counts_follow_the_definition(data: st.DataObject) -> None:
    m, n, queries = (data.draw(st.integers(1, high)) for high in (4, 8, 3))
    values = st.integers(0, 4)
    whole = data.draw(st.lists(values, min_size=m * (n + queries), max_size=m * (n + queries)))
    scores = np.array(whole, dtype=np.float64).reshape(m, n + queries)
    result = rank_counts(scores[:, :n], scores[:, n:])
    for place in range(queries):
        bag = np.column_stack([scores[:, :n], scores[:, n + place]])
        assert result[place] == counted(bag)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    predictions, plausibilities = augmented(20)
    new, _ = augmented(15, seed=1, start=900)
    score = {"name": "aps", "randomised": True}
    whole = plausibly.joint_rank(predictions, plausibilities, new, score=score)
    monkeypatch.setattr(blocks, "_CELLS", 3)  # 96 cells in a block of sums: 4 of 60 candidates
    in_blocks = plausibly.joint_rank(predictions, plausibilities, new, score=score)
    xr.testing.assert_identical(in_blocks, whole)


def test_one_augmentation_is_split_conformal_prediction_on_drawn_labels() -> None:
    predictions, plausibilities = augmented(40, count=1)
    new, _ = augmented(15, count=1, seed=1, start=900)
    p = plausibly.joint_rank(predictions, plausibilities, new)
    draws = plausibly.joint_rank(predictions, plausibilities, new, seed=1)
    assert not draws.equals(p)
    one_hot = plausibilities.copy(data=np.eye(4)[plausibilities.values.argmax(axis=1)]).drop_vars(
        "denominator"
    )
    alone = plausibly.joint_rank(predictions, one_hot, new)
    scores = predictions.values[0][np.arange(40), one_hot.values.argmax(axis=1)]
    expected = ((scores[:, None, None] <= new.values[0]).sum(axis=0) + 1) / 41
    np.testing.assert_array_equal(alone.values, expected)


@attrs.frozen
class Bag:
    """`scores[i][k][j]` and `masses[i][k]` of N examples."""

    scores: tuple[tuple[tuple[int, ...], ...], ...]
    masses: tuple[tuple[Fraction, ...], ...]

    def excess(self) -> Fraction:
        """Return the largest P(p <= alpha) - alpha, every example once the new one."""
        law: dict[Fraction, Fraction] = {}
        n = len(self.scores) - 1
        for test in range(n + 1):
            order = [i for i in range(n + 1) if i != test] + [test]
            choices = [[k for k, mass in enumerate(self.masses[i]) if mass] for i in order]
            for codes in product(*choices):
                chance = Fraction(1, n + 1)
                for i, k in zip(order, codes, strict=True):
                    chance *= self.masses[i][k]
                bag = np.array([self.scores[i][k] for i, k in zip(order, codes, strict=True)]).T
                p = Fraction(int(rank_counts(bag[:, :-1] * 1.0, bag[:, -1:] * 1.0)[0]), n + 1)
                law[p] = law.get(p, Fraction(0)) + chance
        total, worst = Fraction(0), Fraction(-1)
        for p in sorted(law):
            total += law[p]
            worst = max(worst, total - p) if p < 1 else worst
        return worst


def random_bag(random: Random) -> Bag:
    size, labels, m = random.choice((3, 4)), 2, random.choice((2, 3))
    scores, masses = [], []
    for _ in range(size):
        scores.append(tuple(tuple(random.randrange(4) for _ in range(m)) for _ in range(labels)))
        votes = random.choice((0, 1, 2, 3))
        masses.append((Fraction(votes, 3), Fraction(3 - votes, 3)))
    return Bag(tuple(scores), tuple(masses))


def test_no_bag_misses_more_than_alpha() -> None:
    assert max(random_bag(Random(seed)).excess() for seed in range(60)) <= 0


def test_simulated_coverage_keeps_the_level() -> None:
    predictions, plausibilities = augmented(600)
    new, vectors = augmented(600, seed=3, start=5_000)
    sets = plausibly.joint_rank(predictions, plausibilities, new, [0.1, 0.3])
    covered = (sets * vectors).sum("label").mean("example")
    assert abs(float(covered.sel(alpha=0.1)) - 0.9) < 0.04
    assert abs(float(covered.sel(alpha=0.3)) - 0.7) < 0.06


def test_sets_are_p_values_above_alpha_and_carry_their_guarantee() -> None:
    predictions, plausibilities = augmented(50)
    new, _ = augmented(9, seed=1, start=900)
    p = plausibly.joint_rank(predictions, plausibilities, new)
    assert p.dims == ("example", "label")
    assert p.attrs == {
        "guarantee": "labels with p > alpha: P(Y in C(X)) >= 1 - alpha, if examples are "
        "exchangeable",
        "calibration_overlap": 0,
    }
    sets = plausibly.joint_rank(predictions, plausibilities, new, [0.1, 0.25])
    for alpha in (0.1, 0.25):
        np.testing.assert_array_equal(sets.sel(alpha=alpha).values, (p > alpha).values)
    item = plausibly.joint_rank(predictions, plausibilities, new, 0.1)
    assert float(item["alpha"]) == 0.1
    (guarantee,) = (Guarantee.from_json(g) for g in json.loads(item.attrs["guarantees"]))
    assert guarantee.statement() == "P(Y in C(X)) >= 0.90"
    assert guarantee.assumes[0] == (
        "calibration and new examples are exchangeable, each with all its augmentations"
    )
    assert (
        item.attrs["fingerprint"]
        != plausibly.joint_rank(predictions, plausibilities, new, 0.1, seed=1).attrs["fingerprint"]
    )
    again = plausibly.joint_rank(predictions, plausibilities, predictions)
    assert again.attrs["calibration_overlap"] == 50


def test_order_of_rows_labels_and_views_changes_nothing() -> None:
    predictions, plausibilities = augmented(30)
    new, _ = augmented(8, seed=1, start=900)
    score = {"name": "aps", "randomised": True}
    p = plausibly.joint_rank(predictions, plausibilities, new, score=score)
    turned = plausibly.joint_rank(
        predictions[[2, 0, 1], ::-1], plausibilities[::-1, ::-1], new[[1, 2, 0], ::-1], score=score
    )
    xr.testing.assert_equal(turned, p[::-1])
    alone = plausibly.joint_rank(predictions, plausibilities, new[:, [3], ::-1], score=score)
    xr.testing.assert_equal(alone, p[[3], ::-1])
    for array in (predictions, plausibilities, new):
        array.values.flags.writeable = False
    xr.testing.assert_equal(plausibly.joint_rank(predictions, plausibilities, new, score=score), p)


def test_too_few_examples_are_warned_of() -> None:
    predictions, plausibilities = augmented(8)
    new, _ = augmented(3, seed=1, start=900)
    with warned("guarantee-vacuous", "every set contains all labels"):
        sets = plausibly.joint_rank(predictions, plausibilities, new, 0.1)
    assert sets.all()


def test_predictions_without_augmentations_are_refused() -> None:
    predictions, plausibilities = augmented(8)
    with refused("augmentations-expected", "found no dim augmentation"):
        plausibly.joint_rank(predictions[0], plausibilities, predictions)
    with refused("augmentations-expected", "augmentations-expected: new"):
        plausibly.joint_rank(predictions, plausibilities, predictions[0])
    with refused("augmentations-differ"):
        plausibly.joint_rank(predictions, plausibilities, predictions[:2])
