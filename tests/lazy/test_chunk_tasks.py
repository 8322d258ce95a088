"""What one chunk costs: one task that reads it and leaves little behind, and few bytes to ask."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
import xarray as xr

import plausibly
from lazy_world import plausibilities, predictions
from memory import MIB, at_most
from plausibly.conformal import chunks
from plausibly.conformal.chunked import Ask, Scoring
from plausibly.conformal.chunks import Chunk
from plausibly.conformal.predictor import Named, RowScores
from plausibly.data.names import names_of
from plausibly.io import read_predictions
from plausibly.kernels.coverage import row_blocks
from plausibly.kernels.random import Keys, Names, hash_names
from plausibly.kernels.types import Floats
from plausibly_builtins.scores.aps import Aps
from plausibly_builtins.scores.margin import Margin
from plausibly_builtins.scores.probability import Probability

Graphs = list[Any]  # Any: Dask arrays, whose attributes have no hints


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> Graphs:
    """Return a list that gets every array that is made chunk by chunk."""
    made: Graphs = []
    original = chunks.of_each

    def kept(*args: Any, **options: Any) -> da.Array:  # Any: whatever is given goes on
        found = original(*args, **options)
        made.append(found)
        return found

    monkeypatch.setattr(chunks, "of_each", kept)
    return made


def studied(cal: xr.DataArray, lam: xr.DataArray) -> xr.DataArray:
    """Return sets by p-values or thresholds after a calibration in chunks."""
    predictor = plausibly.calibrate(cal, lam, calibrator="monte-carlo")
    renamed = cal.assign_coords(example=[f"t{name[1:]}" for name in cal["example"].values])
    return predictor.predict(renamed, 0.3)


def stored(folder: Path, n: int) -> tuple[xr.DataArray, xr.DataArray]:
    """Return predictions in a store, in chunks of 50, and plausibilities."""
    model = predictions(n).assign_coords(example=[f"e{place:06d}" for place in range(n)])
    path = folder / f"{n}.zarr"
    model.to_dataset(name="predictions").drop_vars("site", errors="ignore").to_zarr(
        path, encoding={"predictions": {"chunks": (50, model.sizes["label"])}}, zarr_format=2
    )
    return read_predictions(path, chunks=50), plausibilities(model)


def test_a_chunk_is_read_by_the_task_that_uses_it(tmp_path: Path, graphs: Graphs) -> None:
    with dask.config.set(scheduler="synchronous"):
        studied(*stored(tmp_path, 200))
    assert len(graphs) == 2
    for made in graphs:
        layer = made.__dask_optimize__(made.__dask_graph__(), made.__dask_keys__())
        kinds = [type(task).__name__ for key, task in layer.items() if isinstance(key, tuple)]
        # Each under its own name and that of the chunk that it reads.
        assert sorted(kinds) == ["Alias"] * 4 + ["Task"] * 4


def test_tasks_do_not_grow_with_the_number_of_chunks(tmp_path: Path, graphs: Graphs) -> None:
    sizes = []
    for n in (200, 2000):
        graphs.clear()
        with dask.config.set(scheduler="synchronous"):
            studied(*stored(tmp_path, n))
        tasks = [made.dask.layers[made.name].values() for made in graphs]
        assert [len(each) for each in tasks] == [n // 50] * 2
        sizes.append([max(len(pickle.dumps(task)) for task in each) for each in tasks])
    few, many = np.array(sizes)
    assert (many <= few + 64).all()


def test_the_entries_of_a_chunk_are_not_copied() -> None:
    made, given = [], []

    def entries(block: Floats) -> Floats:
        values = block + 1
        made.append(values.ctypes.data)
        return values

    def kept(values: Floats, _: object) -> int:
        given.append(values.ctypes.data)
        return 0

    source = da.zeros((20, 3), chunks=(5, 3)).map_blocks(entries, meta=np.empty((0, 0)))
    array = xr.DataArray(source, dims=("example", "label"))
    with dask.config.set(scheduler="synchronous"):
        made.clear()
        list(chunks.reduced(kept, array, [(chunk, None) for chunk in chunks.chunks_of(array)]))
    assert given == made
    assert len(given) == 4


@pytest.mark.parametrize("score", [Probability(), Margin(), Aps(randomised=True)], ids=str)
def test_a_chunk_is_scored_in_the_room_of_a_few_rows(score: Any) -> None:  # Any: one of several
    examples, labels = 12_000, 400
    values = np.random.default_rng(1).random((examples, labels), dtype=np.float32)
    values /= values.sum(axis=1, keepdims=True)
    rows = RowScores(
        given=tuple(f"l{place}" for place in range(labels)),
        order=slice(None),
        dtype=values.dtype,
        scale="probability",
        score=score,
        called="score",
        keys=Keys(0),
    )
    names = Named("\0".join(f"e{place}" for place in range(examples)).encode(), "predictions")
    row = np.arange(examples)
    ask = Ask.of(names, np.tile(row, 2), np.tile(row % labels, 2), values.shape)
    scoring = Scoring(rows)
    scoring(values, ask)  # modules that are imported on the way are no arrays
    with at_most(values.nbytes / 2 / MIB):
        answer = scoring(values, ask)
    assert len(list(row_blocks(values.shape))) > 10
    whole = score.score(values.copy(), None) if not score.randomised else None
    if whole is not None:
        np.testing.assert_array_equal(answer.scores, np.tile(whole[row, row % labels], 2))
        np.testing.assert_array_equal(answer.largest, whole.max(axis=1))


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


NAMES = ["a", "", " b ", "ä", "\ud800", "x" * 40]


@pytest.mark.parametrize("examples", [1, 256, 257, 65_536, 65_537])
@pytest.mark.parametrize("labels", [1, 256, 257, 65_537])
def test_the_last_places_arrive(examples: int, labels: int) -> None:
    row, label = np.array([examples - 1, 0, examples - 1]), np.array([labels - 1, 0, 0])
    ask = Ask.of(Named(b"e", "predictions"), row, label, (examples, labels))
    came: Ask = pickle.loads(pickle.dumps(ask))  # of this test
    assert came.rows(examples).tolist() == row.tolist()
    assert came.label.tolist() == label.tolist()
    least = 1 if examples <= 256 else 2 if examples <= 65_536 else 4
    assert came.rows(examples).itemsize == least


def test_places_of_all_examples_in_turn_do_not_travel() -> None:
    for row, travels in (
        ([0, 1, 2, 0, 1, 2], False),
        ([], False),
        ([0, 1, 2, 0, 1], True),
        ([0, 2, 1, 0, 1, 2], True),
    ):
        places = np.array(row, dtype=np.intp)
        ask = Ask.of(Named(b"a\0b\0c", "predictions"), places, np.zeros_like(places), (3, 1))
        assert (ask.some is not None) == travels
        assert ask.rows(3).tolist() == row


def test_names_arrive_as_they_are() -> None:
    assert Named.of(Names(NAMES), Chunk(0, 0, len(NAMES)), "predictions").texts == NAMES
    some: Named = pickle.loads(
        pickle.dumps(Named.of(Names(NAMES), Chunk(1, 3, 5), "p"))
    )  # of this test
    assert some.texts == ["ä", "\ud800"]
    assert some.whose == "p, ä to \ud800"
    assert some.hashes.tolist() == hash_names(["ä", "\ud800"]).tolist()


@pytest.mark.parametrize("start", [0, 3])
def test_names_that_an_index_keeps_as_bytes_arrive_as_they_are(start: int) -> None:
    texts = [f"{'ä€𝄞x'[place % 4]}{place}" for place in range(2000)]
    array = xr.DataArray(np.zeros(2000), dims="example", coords={"example": texts})[start:]
    examples = names_of(array, "example")
    named = [Named.of(examples, Chunk(0, first, first + 1), "p") for first in (0, 5)]
    assert [one.texts for one in named] == [[texts[start]], [texts[start + 5]]]
    some = Named.of(examples, Chunk(1, 4, 1500), "p")
    assert some.texts == texts[start + 4 : start + 1500]
    assert some.whose == f"p, {texts[start + 4]} to {texts[start + 1499]}"
    assert examples.hashes.tolist() == hash_names(texts[start:]).tolist()
