"""Kernels in threads: the bits of one thread, from sizes on where threads pay."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from plausibly.kernels import blocks, coverage, draws, ranks
from plausibly.kernels.coverage import aggregated, sizes
from plausibly.kernels.draws import draw_labels
from plausibly.kernels.ranks import at_least
from plausibly.kernels.sparse import Slots, packed_pairs
from plausibly.kernels.types import Floats

EXAMPLES = 331
CORES = [2, 3, 7]


def made(labels: int, share: float, dtype: type[np.float32] = np.float32) -> Floats:
    """Return plausibilities of which a share is above zero, and at least one of a row."""
    generator = np.random.default_rng(labels)
    found = generator.random((EXAMPLES, labels)) * (generator.random((EXAMPLES, labels)) < share)
    found[np.arange(EXAMPLES), generator.integers(0, labels, EXAMPLES)] = 0.3
    rows: Floats = (found / found.sum(axis=1, keepdims=True)).astype(dtype)
    return rows


def packed(dense: Floats) -> Slots:
    example, label = np.nonzero(dense)
    return packed_pairs(example, label, dense[example, label], (len(dense), dense.shape[1]))


def same_bits(
    module: ModuleType, found: Callable[[], NDArray[np.generic]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that threads change no bit, and that they are asked."""
    whole, asked = found(), []
    divided = blocks.parts

    def parts(size: int, least: int) -> list[slice]:
        asked.append(divided(size, least))
        return asked[-1]

    monkeypatch.setattr(module, "_WORTH", 32)
    monkeypatch.setattr(module, "parts", parts)
    for number in CORES:
        monkeypatch.setattr(blocks, "cores", lambda number=number: number)
        again = found()
        assert (again.tobytes(), again.dtype, again.shape) == (
            whole.tobytes(),
            whole.dtype,
            whole.shape,
        )
        assert len(asked[-1]) == number


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("labels", "share"), [(3, 1.0), (10, 0.4), (257, 0.01), (257, 0.9)])
def test_coverage_sizes_and_draws(
    labels: int, share: float, dtype: type[np.float32], monkeypatch: pytest.MonkeyPatch
) -> None:
    lam = made(labels, share, dtype)
    sets = np.random.default_rng(1).random(lam.shape) < 0.4
    uniforms = np.random.default_rng(2).random((EXAMPLES, 5))
    same_bits(coverage, lambda: aggregated(sets, lam), monkeypatch)
    same_bits(coverage, lambda: sizes(sets), monkeypatch)
    same_bits(draws, lambda: draw_labels(lam, uniforms), monkeypatch)
    same_bits(draws, lambda: draw_labels(packed(lam), uniforms), monkeypatch)


@pytest.mark.parametrize("labels", [1, 10, 257])
@pytest.mark.parametrize("written", ["by rows", "by columns"])
def test_sets_by_thresholds_of_any_form(
    labels: int, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = made(labels, 1.0)
    if written == "by columns":
        scores = np.asfortranarray(scores)
    generator = np.random.default_rng(3)
    each_label = generator.random(labels).astype(np.float32) / labels
    each_example = generator.random((EXAMPLES, 1)).astype(np.float32) / labels
    for taus in (np.float32(0.1), each_label[:1], each_label, each_example):
        same_bits(ranks, partial(at_least, scores, taus), monkeypatch)
        found = at_least(scores, taus)
        assert np.array_equal(found, scores >= taus)
        assert found.flags.f_contiguous == (scores >= taus).flags.f_contiguous
        monkeypatch.undo()


def test_sets_are_written_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, out = made(10, 1.0), np.empty((EXAMPLES, 10), dtype=bool)
    for least in (ranks._WORTH, 64):
        monkeypatch.setattr(ranks, "_WORTH", least)
        out[:] = False
        assert at_least(scores, scores.dtype.type(0.1), out) is out
        assert np.array_equal(out, scores >= np.float32(0.1))


@pytest.mark.parametrize("labels", [1, 255, 256, 257])
def test_sets_of_all_labels_are_as_large_as_there_are_labels(labels: int) -> None:
    assert sizes(np.ones((2, labels), dtype=bool)).tolist() == [labels, labels]


def test_no_examples_at_all() -> None:
    none = np.empty((0, 5))
    assert aggregated(none > 0, none).shape == sizes(none > 0).shape == (0,)
    assert draw_labels(none, np.empty((0, 3))).shape == (3, 0)
    assert at_least(none, np.float64(0.1)).shape == (0, 5)
