"""Draws follow the plausibilities; floats are ordered as their integers."""

from __future__ import annotations

from fractions import Fraction
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given, strategies as st

from plausibly.kernels.draws import draw_labels
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.ranks import (
    from_ordered,
    least_true,
    order_statistic,
    to_ordered,
    weighted_rank,
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("labels", "filled"),
    [(3, 1.0), (32, 0.3), (33, 0.05), (33, 1.0), (419, 0.01), (419, 0.2), (1000, 0.9)],
)
def test_a_draw_is_the_first_label_whose_cumulative_mass_exceeds_the_uniform(
    labels: int, filled: float, dtype: type[np.float32] | type[np.float64]
) -> None:
    generator = np.random.default_rng(labels)
    lam = generator.random((900, labels)) * (generator.random((900, labels)) < filled)
    lam[np.arange(900), generator.integers(0, labels, 900)] += 0.25
    lam = (lam / lam.sum(axis=1, keepdims=True)).astype(dtype)
    uniforms = generator.random((900, 6))
    uniforms[:, 0], uniforms[:, 1] = 0.0, np.nextafter(1.0, 0.0)
    cumulative = np.cumsum(lam, axis=1, dtype=np.float64)
    scaled = uniforms * cumulative[:, -1:]
    expected = (scaled[:, :, None] >= cumulative[:, None, :]).sum(axis=2)
    last = labels - 1 - (lam[:, ::-1] > 0).argmax(axis=1)
    expected = np.minimum(expected, last[:, None]).T
    codes = draw_labels(lam, uniforms)
    assert (codes == expected).all()
    assert codes.dtype == np.int32
    alone = [draw_labels(lam[row : row + 1], uniforms[row : row + 1]) for row in range(9)]
    assert (np.concatenate(alone, axis=1) == codes[:, :9]).all()


@pytest.mark.parametrize("labels", [3, 32, 33, 70])
def test_a_product_that_rounds_up_to_the_total_stays_on_a_plausible_label(labels: int) -> None:
    # As it does only where the total is so small that numbers stand far apart.
    for plausible in (0, 1, labels - 2):
        lam = np.zeros((5, labels))
        lam[:, plausible] = lam[0, labels // 2 :] = 5e-324  # the first has many to draw from
        codes = draw_labels(lam, np.full((5, 2), 0.75))
        assert (codes[:, 1:] == plausible).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_the_order_of_floats_is_the_order_of_integers(
    dtype: type[np.float32] | type[np.float64], data: st.DataObject
) -> None:
    single = st.floats(allow_nan=False, width=32)
    floats = single if dtype is np.float32 else st.floats(allow_nan=False)
    first, second = dtype(data.draw(floats)), dtype(data.draw(floats))
    assert (to_ordered(first) < to_ordered(second)) == (first < second)
    assert from_ordered(to_ordered(first), np.dtype(dtype)) == first
    assert to_ordered(dtype(0.0)) == to_ordered(dtype(-0.0)) == 0
    step = from_ordered(to_ordered(first) + 1, np.dtype(dtype))
    with np.errstate(over="ignore"):  # past the largest float comes infinity
        assert first == np.inf or step == np.nextafter(first, dtype(np.inf))


@given(st.integers(-(2**63), 2**63), st.integers(1, 2**64))
def test_the_least_integer_of_a_monotone_condition(low: int, span: int) -> None:
    edge = low + 1 + span // 3
    assert least_true(lambda value: value >= edge, low, low + span + 1) == edge


def test_order_statistics_at_both_ends() -> None:
    ordered = np.array([0.25, 0.5, 0.5], dtype=np.float32)
    found = [order_statistic(ordered, rank) for rank in range(-1, 5)]
    assert [float(value) for value in found] == [-np.inf, -np.inf, 0.25, 0.5, 0.5, np.inf]
    assert all(value.dtype == np.float32 for value in found)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=10), st.integers(-3, 60))
def test_the_rank_at_which_a_mass_is_reached(masses: list[int], mass: int) -> None:
    cumulative = np.concatenate([[0], np.cumsum(masses)])
    rank = weighted_rank(cumulative, mass)
    if mass <= 0:
        assert rank == 0
    else:
        reached = [r for r in range(len(masses) + 1) if sum(masses[:r]) >= mass]
        assert rank == (reached[0] if reached else len(masses) + 1)


@given(st.integers(0, 2**32), st.lists(st.text(), min_size=1, max_size=20, unique=True))
def test_uniforms_belong_to_names(seed: int, names: list[str]) -> None:
    hashes = hash_names(names)
    keys = Keys(seed).child("stream")
    whole = keys.uniform(hashes, 7)
    assert np.all((whole >= 0) & (whole < 1))
    np.testing.assert_array_equal(keys.uniform(hashes[::-1], 3), whole[::-1, :3])
    for row in range(len(names)):
        np.testing.assert_array_equal(keys.uniform(hash_names([names[row]]), 7), whole[[row]])
    assert not np.array_equal(Keys(seed).child("other").uniform(hashes, 7), whole)
    assert not np.array_equal(Keys(seed + 1).child("stream").uniform(hashes, 7), whole)


def test_names_are_text_and_hashes_are_pinned() -> None:
    """blake2b of UTF-8, eight bytes, little end first: files rely on it."""
    assert hash_names([7])[0] == hash_names(["7"])[0] == 0x828F78CECA1750E7
    digest = blake2b("é".encode(), digest_size=8).digest()
    assert hash_names(["é"])[0] == int.from_bytes(digest, "little") == 0x2F19F3EF8BBF1ACB
    pinned = Keys(1, "/a").uniform(hash_names(["x"]), 2)[0]
    assert [value.hex() for value in pinned] == ["0x1.30e6050413f33p-1", "0x1.f457923cdb1a1p-1"]
    assert len(set(hash_names(range(10_000)).tolist())) == 10_000
    assert hash_names([]).shape == (0,)


def test_uniforms_are_uniform_and_uncorrelated() -> None:
    draws = Keys(0).uniform(hash_names(range(20_000)), 4)
    for column in draws.T:
        gaps = np.abs(np.sort(column) - (np.arange(20_000) + 0.5) / 20_000)
        # Kolmogorov-Smirnov at about one in a million.
        assert gaps.max() < 2.7 / np.sqrt(20_000)
    correlation = np.corrcoef(draws.T) - np.eye(4)
    assert np.abs(correlation).max() < 5 / np.sqrt(20_000)
    neighbours = np.corrcoef(draws[:-1, 0], draws[1:, 0])[0, 1]
    assert abs(neighbours) < 5 / np.sqrt(20_000)
    assert Fraction(float(draws.max())) < 1
