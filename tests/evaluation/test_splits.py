"""Splits follow names and groups, never rows, and the number of splits changes none."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from eval_said import check, said
from plausibly.evaluation.splits import nested, split, split_keys, split_seed
from plausibly.kernels.random import Keys, hash_names

NAMES = [f"case {i}" for i in range(101)]
HASHES = hash_names(NAMES)


@given(st.integers(2, 99), st.integers(0, 5))
def test_the_share_is_the_decimal_that_was_typed(percent: int, number: int) -> None:
    share = percent / 100
    hundred = HASHES[:100]
    assert split(hundred, split_keys(0, number), test=share).sum() == percent
    assert split(HASHES, split_keys(0, number), test=share).sum() == int(
        Fraction(percent, 100) * 101
    )


def test_splits_follow_names_not_rows() -> None:
    order = np.random.default_rng(1).permutation(101)
    groups = np.arange(101) // 7
    for given_groups in (None, groups):
        first = split(HASHES, split_keys(3, 0), groups=given_groups)
        moved = None if given_groups is None else given_groups[order]
        assert np.array_equal(split(HASHES[order], split_keys(3, 0), groups=moved), first[order])


def test_splits_differ_between_numbers_and_seeds() -> None:
    result = [split(HASHES, split_keys(seed, number)) for seed in (0, 1) for number in range(4)]
    assert len({one.tobytes() for one in result}) == 8
    seeds = {split_seed(seed, number) for seed in (0, 1) for number in range(4)}
    assert len(seeds) == 8
    assert all(seed >= 0 for seed in seeds)
    assert split_keys(0, 3) == Keys(0).child("split-3")


def test_every_example_is_tested_as_often_as_any_other() -> None:
    tested = sum(split(HASHES, split_keys(0, number)).astype(int) for number in range(400))
    assert abs(np.mean(tested) - 400 * 50 / 101) < 1e-9
    assert np.abs(tested - 198).max() < 5 * np.sqrt(400 / 4)


@given(st.lists(st.integers(0, 9), min_size=20, max_size=60), st.integers(0, 9))
def test_groups_stay_whole_and_their_number_is_the_share(groups: list[int], number: int) -> None:
    codes, hashes = np.array(groups), HASHES[: len(groups)]
    assume(len(set(groups)) > 1)
    chosen = split(hashes, split_keys(0, number), groups=codes)
    assert not set(codes[chosen]) & set(codes[~chosen])
    assert len(set(codes[chosen])) == len(set(groups)) // 2


def uneven() -> tuple[np.ndarray, np.ndarray]:
    """Names of 60 patients with one example and 2 with 30, and whose each is."""
    patients = np.concatenate([np.arange(60), np.repeat([60, 61], 30)])
    return hash_names([f"e{row}" for row in range(120)]), patients


@pytest.mark.parametrize("strata", [None, np.zeros(120)])
def test_a_large_group_is_tested_as_often_as_a_small_one(strata: np.ndarray | None) -> None:
    hashes, patients = uneven()
    splits = 600
    chosen = [
        split(hashes, split_keys(0, k), test=0.3, groups=patients, strata=strata)
        for k in range(splits)
    ]
    tested = np.sum(chosen, axis=0)
    margin = 4 * np.sqrt(0.3 * 0.7 / splits)
    assert abs(tested[60] / splits - 18 / 62) < margin
    assert abs(tested[90] / splits - 18 / 62) < margin
    assert abs(tested[:60].mean() / splits - 18 / 62) < margin


@pytest.mark.parametrize("strata", [None, np.zeros(120)])
def test_a_size_takes_large_groups_as_often_as_small_ones(strata: np.ndarray | None) -> None:
    hashes, patients = uneven()
    sizes = 400
    chosen = [
        nested(hashes, split_keys(1, k), [40], groups=patients, strata=strata)[0]
        for k in range(sizes)
    ]
    taken = np.sum(chosen, axis=0)
    margin = 4 * np.sqrt(0.25 / sizes)
    assert abs(taken[60] / sizes - 20 / 62) < margin
    assert abs(taken[:60].mean() / sizes - 20 / 62) < margin
    assert abs(taken.sum() / sizes - 40) < 4


@said(__file__)
def test_each_call_gives_its_text(call: str, text: str) -> None:
    check(call, text, globals())
