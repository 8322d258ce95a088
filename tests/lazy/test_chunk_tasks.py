"""What one chunk costs: little travels to it, and little is in hand at once."""

from __future__ import annotations

import pickle
from importlib import import_module
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest

import plausibly
from lazy_world import plausibilities, predictions
from memory import MIB, at_most
from plausibly.conformal import chunks
from plausibly.conformal.array_predictor import Scoring
from plausibly.conformal.chunked import Ask, scored
from plausibly.conformal.chunks import Part
from plausibly.data.names import Names
from plausibly.io import read_predictions
from plausibly.kernels.blocks import row_blocks
from plausibly_builtins.scores.adaptive import Aps
from plausibly_builtins.scores.simple import Margin, Probability


def test_what_travels_does_not_grow_with_the_number_of_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks: list[list[object]] = []
    original = chunks.each_chunk

    # Any: whatever is given goes on
    def kept(work: Any, arrays: Any, asks: Any, *more: Any) -> Any:
        tasks.append([one for _, one in asks])
        return original(work, arrays, asks, *more)

    monkeypatch.setattr(chunks, "each_chunk", kept)
    sizes = []
    for n in (200, 2000):
        tasks.clear()
        whole = predictions(n).assign_coords(example=[f"e{place:06d}" for place in range(n)])
        encoding = {"predictions": {"chunks": (50, whole.sizes["label"])}}
        whole.to_dataset(name="predictions").drop_vars("site").to_zarr(
            tmp_path / f"{n}.zarr", encoding=encoding, zarr_format=2
        )
        model = read_predictions(tmp_path / f"{n}.zarr", chunks=50)
        with dask.config.set(scheduler="synchronous"):
            predictor = plausibly.calibrate(model, plausibilities(whole), calibrator="monte-carlo")
            renamed = [f"t{name[1:]}" for name in model["example"].values]
            sets = predictor.predict(model.assign_coords(example=renamed), 0.3)
        assert [len(each) for each in tasks] == [n // 50]
        cloudpickle = import_module("cloudpickle")
        graph = dict(sets.data.__dask_graph__())
        later = [task for key, task in graph.items() if str(key).startswith("('of_chunk")]
        assert len(later) == n // 50
        travelling = [map(pickle.dumps, tasks[0]), map(cloudpickle.dumps, later)]
        sizes.append([max(map(len, each)) for each in travelling])
    few, many = np.array(sizes)
    assert (many <= few + 64).all()


@pytest.mark.parametrize("score", [Probability(), Margin(), Aps(randomised=True)], ids=str)
def test_a_chunk_is_scored_in_the_room_of_a_few_rows(score: Any) -> None:  # Any: one of several
    examples, labels = 12_000, 400
    values = np.random.default_rng(1).random((examples, labels), dtype=np.float32)
    values /= values.sum(axis=1, keepdims=True)
    scoring = Scoring(component=score, called="score", scale="probability", seed=0)
    texts = tuple(f"l{place}" for place in range(labels))
    row = np.arange(examples)
    names = Part(Names.of([f"e{place}" for place in row]), "predictions")
    ask = Ask(names, np.tile(row, 2), np.tile(row % labels, 2))
    scored(values, ask, labels=texts, scoring=scoring)  # imports modules, which are no arrays
    with at_most(values.nbytes / 2 / MIB):
        scores, largest, _ = scored(values, ask, labels=texts, scoring=scoring)
    assert len(list(row_blocks(values.shape))) > 10
    if not score.randomised:
        whole = score.score(values.copy(), None)
        np.testing.assert_array_equal(scores, np.tile(whole[row, row % labels], 2))
        np.testing.assert_array_equal(largest, whole.max(axis=1))


@pytest.mark.parametrize("score", ["probability", {"name": "aps", "randomised": True}], ids=str)
def test_chunks_of_several_blocks_have_the_bits_of_memory(score: str | dict[str, object]) -> None:
    n = 40_000  # of four labels, more than are scored at once
    cal = predictions(n)
    lam = plausibilities(cal)
    cal[3], lam[3] = [0.5, -0.0, 0.5, 0.0], [0, 1, 0, 0]
    whole = plausibly.calibrate(cal, lam, calibrator="monte-carlo", score=score)
    made = plausibly.calibrate(cal.chunk(example=-1), lam, calibrator="monte-carlo", score=score)
    assert made.fingerprint == whole.fingerprint
    assert made.reference is not None
    assert whole.reference is not None
    assert made.reference.tobytes() == whole.reference.tobytes()
    new = predictions(n, seed=2, prefix="t").isel(label=[2, 0, 3, 1])
    sets = made.predict(new.chunk(example=-1), 0.3)
    assert sets.compute().identical(whole.predict(new, 0.3))
