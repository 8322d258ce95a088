"""Thousands of labels: aggregated, drawn from and evaluated without an array over all of them.

Run it with ``python benchmarks/many_labels.py`` on a machine that does nothing else. ``--examples``
says how many examples there are; the goal is about 1,000,000. It needs the extra dask.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

import plausibly
from plausibly.data.plausibilities import Plausibilities
from plausibly.kernels.draws import draw_labels
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.sparse import Sparse
from plausibly.plugin import AnnotationTable, build_table
from turns import Row, in_turn, peak, ratio, seconds, show, versions

ROWS = 1_000
DRAWS = 10


def peak_of_process() -> float:
    """Return the most memory that this process has had at once, in GiB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**30 if sys.platform == "darwin" else 2**20)


def mentions(examples: int, labels: int, each: int, seed: int) -> AnnotationTable:
    """Return votes: each example has one by each of some annotators, of labels near one another."""
    generator = np.random.default_rng(seed)
    first = generator.integers(0, labels, examples, dtype=np.int32)
    label = (first[:, None] + generator.integers(0, 8, (examples, each), dtype=np.int32)) % labels
    return build_table(
        "single-label",
        examples=map(str, range(examples)),
        annotators=[f"r{number}" for number in range(each)],
        labels=[f"label {code}" for code in range(labels)],
        response_example=np.repeat(np.arange(examples, dtype=np.int32), each),
        response_annotator=np.tile(np.arange(each, dtype=np.int32), examples),
        mention_response=np.arange(examples * each, dtype=np.int32),
        mention_label=label.ravel(),
    )


def chunk_of_rows(
    block_info: Mapping[None, Mapping[str, Sequence[Sequence[int]]]], *, seed: int
) -> NDArray[np.float32]:
    """Return one chunk of predictions, made from its place when it is asked for."""
    (start, stop), (_, labels) = block_info[None]["array-location"]
    generator = np.random.default_rng((seed, start))
    return generator.random((stop - start, labels), dtype=np.float32)


def lazy_predictions(sparse: xr.Dataset, seed: int) -> xr.DataArray:
    """Return predictions of the examples in lazy chunks of rows; none of them is in memory."""
    import dask.array

    examples, labels = sparse.sizes["example"], sparse.sizes["label_name"]
    rows = tuple(min(ROWS, examples - start) for start in range(0, examples, ROWS))
    values = dask.array.map_blocks(  # type: ignore[no-untyped-call]  # dask has no types here
        chunk_of_rows, chunks=(rows, (labels,)), dtype=np.float32, seed=seed
    )
    return xr.DataArray(
        values,
        dims=("example", "label"),
        coords={"example": sparse.example.values, "label": sparse.label_name.values},
        attrs={"scale": "independent"},
    )


def evaluated(sparse: xr.Dataset, seed: int) -> xr.Dataset:
    """Return the measures of sets of all examples but the first ones, which calibrate."""
    first = min(10 * ROWS, sparse.sizes["example"] // 2)
    calibration = sparse.isel(example=slice(None, first))
    new = sparse.isel(example=slice(first, None))
    predictor = plausibly.calibrate(lazy_predictions(calibration, seed), calibration)
    sets = predictor.predict(lazy_predictions(new, seed + 1), 0.1)
    return plausibly.evaluate(sets, new).data


def stages(examples: int, labels: int, each: int, seed: int) -> None:
    """Print what each stage takes, and what the process has had in memory by then."""
    print(f"## {examples:,} examples, {labels:,} labels, {each} mentions each\n")
    print(f"A dense array would be {examples * labels * 8 / 2**30:,.0f} GiB.\n")
    print("| stage | seconds | peak of the process so far, GiB |\n|---|---|---|", flush=True)

    def timed(name: str, call: Callable[[], object]) -> object:
        start = time.perf_counter()
        found = call()
        took = time.perf_counter() - start
        print(f"| {name} | {took:.3g} | {peak_of_process():.2f} |", flush=True)
        return found

    table = mentions(examples, labels, each, seed)
    print(f"| the table of annotations | | {peak_of_process():.2f} |")
    found = timed("`aggregate(sparse=True)`", lambda: plausibly.aggregate(table, sparse=True))
    sparse = found if isinstance(found, xr.Dataset) else xr.Dataset()
    hashes = hash_names(sparse.indexes["example"])
    timed(
        f"{DRAWS} labels drawn for each example",
        lambda: draw_labels(Plausibilities.of(sparse).stored, Keys(seed).uniform(hashes, DRAWS)),
    )
    timed(
        f"`calibrate` with the first 10,000, `predict`, `evaluate`: lazy chunks of {ROWS:,} rows",
        lambda: evaluated(sparse, seed),
    )
    print(f"\nGoal: a peak below 2 GiB for 1,000,000 examples; here {peak_of_process():.2f}.\n")


def draws(examples: int, labels: int, rounds: int, seed: int) -> list[Row]:
    """Return the rows about draws from slots beside one read of the dense array."""
    generator = np.random.default_rng(seed)
    each = 5
    step = labels // each
    first = generator.integers(0, step, (examples, each))
    label = (first + step * np.arange(each)).astype(np.int32)
    weight = generator.random((examples, each))
    weight /= weight.sum(axis=1, keepdims=True)
    slots = Sparse(weight, label, labels)
    dense = slots.dense()
    hashes = hash_names(range(examples))
    uniforms = Keys(seed).uniform(hashes, DRAWS)
    calls: dict[str, Callable[[], object]] = {
        "read": dense.max,
        "given": lambda: draw_labels(slots, uniforms),
        "keyed": lambda: draw_labels(slots, Keys(seed).uniform(hashes, DRAWS)),
        "dense": lambda: draw_labels(dense, uniforms),
    }
    if not np.array_equal(draw_labels(slots, uniforms), draw_labels(dense, uniforms)):
        raise RuntimeError("the labels differ")
    taken = in_turn(calls, rounds)
    said = {
        "given": ("from slots, uniforms given", "at most 1.5"),
        "keyed": ("from slots, with the uniforms of the names", ""),
        "dense": ("from the dense array, uniforms given", "at most 4"),
    }
    return [
        Row(
            what=f"{DRAWS} draws {what}, n = {examples:,}, K = {labels}",
            beside=f"one read of the dense array ({seconds(taken, 'read')})",
            ratio=ratio(taken, name, "read"),
            goal=goal,
            note=peak(calls[name]),
        )
        for name, (what, goal) in said.items()
    ]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--labels", type=int, default=20_000)
    parser.add_argument("--each", type=int, default=5, help="mentions of an example")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    stages(asked.examples, asked.labels, asked.each, asked.seed)
    rows = draws(100_000, 419, asked.rounds, asked.seed)
    show("Draws from slots", rows, versions(["numpy", "xarray", "plausibly"]))


if __name__ == "__main__":
    main()
