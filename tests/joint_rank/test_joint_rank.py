"""Joint ranks: the definition, validity by enumeration, and the design that breaks averages."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import product

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


@pytest.mark.parametrize("seed", range(60))
def test_no_bag_misses_more_than_alpha(seed: int) -> None:
    """Two labels by three votes each; every example is once the new one, with every label."""
    random = np.random.default_rng(seed)
    size, m = random.integers(3, 5), random.integers(2, 4)
    scores = random.integers(4, size=(size, 2, m)).astype(np.float64)
    votes = [(int(first), 3 - int(first)) for first in random.integers(4, size=size)]
    law: Counter[int] = Counter()  # how many of the choices of votes give a numerator of p
    for test, codes in product(range(size), product(range(2), repeat=int(size))):
        bag = np.roll(scores[np.arange(size), codes], -1 - test, axis=0).T
        numerator = int(rank_counts(bag[:, :-1], bag[:, -1:])[0])
        law[numerator] += math.prod(votes[i][k] for i, k in enumerate(codes))
    assert law.total() == size * 3**size
    for alpha in range(1, size):  # P(p <= alpha / size) <= alpha / size
        assert sum(law[numerator] for numerator in range(alpha + 1)) <= alpha * 3**size


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
