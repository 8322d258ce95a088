"""Draws follow the plausibilities; uniforms belong to names."""

from __future__ import annotations

import math
from fractions import Fraction
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given, strategies as st

from plausibly.kernels.coverage import majority_vote
from plausibly.kernels.draws import draw_labels
from plausibly.kernels.random import Keys, hash_names


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("labels", "filled"),
    [(3, 1.0), (32, 0.3), (33, 0.05), (33, 1.0), (419, 0.01), (419, 0.2), (1000, 0.9)],
)
def test_a_draw_is_the_first_label_whose_cumulative_mass_exceeds_the_uniform(
    labels: int, filled: float, dtype: type[np.float32] | type[np.float64]
) -> None:
    generator = np.random.default_rng(labels)
    masses = generator.random((900, labels)) * (generator.random((900, labels)) < filled)
    masses[np.arange(900), generator.integers(0, labels, 900)] += 0.25
    masses = (masses / masses.sum(axis=1, keepdims=True)).astype(dtype)
    uniforms = generator.random((900, 6))
    uniforms[:, 0], uniforms[:, 1] = 0.0, np.nextafter(1.0, 0.0)
    cumulative = np.cumsum(masses, axis=1, dtype=np.float64)
    middle = cumulative[:, labels // 2] / cumulative[:, -1]  # where sums in float32 would differ
    uniforms[:, 2] = np.minimum(middle, uniforms[:, 1])
    scaled = uniforms * cumulative[:, -1:]
    expected = (scaled[:, :, None] >= cumulative[:, None, :]).sum(axis=2)
    last = labels - 1 - (masses[:, ::-1] > 0).argmax(axis=1)
    codes = draw_labels(masses, uniforms)
    assert (codes == np.minimum(expected, last[:, None]).T).all()
    assert codes.dtype == np.int32
    alone = [draw_labels(masses[row : row + 1], uniforms[row : row + 1]) for row in range(9)]
    assert (np.concatenate(alone, axis=1) == codes[:, :9]).all()


@pytest.mark.parametrize("labels", [3, 32, 33, 70])
def test_a_product_that_rounds_up_to_the_total_stays_on_a_plausible_label(labels: int) -> None:
    # As it does only where the total is so small that numbers stand far apart.
    for plausible in (0, 1, labels - 2):
        masses = np.zeros((5, labels))
        masses[:, plausible] = masses[0, labels // 2 :] = 5e-324  # the first has many to draw from
        codes = draw_labels(masses, np.full((5, 2), 0.75))
        assert (codes[:, 1:] == plausible).all()


@given(st.integers(0, 2**32), st.lists(st.text(), min_size=1, max_size=20, unique=True))
def test_uniforms_belong_to_names(seed: int, names: list[str]) -> None:
    hashes = hash_names(names)
    keys = Keys(seed).child("stream")
    whole = keys.uniform(hashes, 7)
    assert np.all((whole >= 0) & (whole < 1))
    np.testing.assert_array_equal(keys.uniform(hashes[::-1], 3), whole[::-1, :3])
    for row, name in enumerate(names):
        np.testing.assert_array_equal(keys.uniform(hash_names([name]), 7), whole[[row]])
    for another in (Keys(seed).child("other"), Keys(seed + 1).child("stream")):
        assert not np.array_equal(another.uniform(hashes, 7), whole)


@pytest.mark.parametrize("seed", [None, 1.0, "1", np.random.default_rng(1)])
def test_a_seed_is_a_whole_number(seed: int) -> None:
    with pytest.raises(TypeError, match="seed"):
        Keys(seed)
    assert Keys(np.int64(3)) == Keys(3)


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
    neighbours = np.corrcoef(draws[:-1, 0], draws[1:, 0])[0, 1]
    assert max(np.abs(correlation).max(), abs(neighbours)) < 5 / np.sqrt(20_000)


@given(count=st.integers(2, 40), data=st.data())
def test_a_uniform_picks_among_tied_labels_exactly(count: int, data: st.DataObject) -> None:
    """Also next to k / count, where a product of doubles is rounded up to k."""
    border = data.draw(st.integers(1, count - 1)) / count
    below = math.nextafter(border, 0)
    uniform = data.draw(st.sampled_from([below, border]) | st.floats(0, 1, exclude_max=True))
    chosen = np.arange(count) == math.floor(Fraction(uniform) * count)
    tied = np.full((1, count), 1 / count)
    assert majority_vote(chosen[None], tied, "random", np.array([uniform])) == 1
