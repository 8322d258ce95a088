"""Calibrate and predict from a Zarr store larger than the workers may keep, beside a bare read.

python benchmarks/out_of_core.py --examples 20000 --labels 1000 --folder DIR
Prints wall times and the peak of a worker, each beside those of a bare Dask read (before and
after), and whether a part of the store gives the same bits in memory. 2,000,000 examples of 1,000
labels are 7.5 GiB. Linux only: the peak of a process is read where Linux keeps it.
"""

from __future__ import annotations

import argparse
import importlib
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import dask.array as da
import numpy as np
import xarray as xr
from numpy.typing import NDArray

import plausibly
from plausibly.data.plausibilities import sparse_dataset
from plausibly.io import read_predictions
from plausibly.kernels.sparse import Sparse

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")


def write_store(path: Path, examples: int, labels: int, chunk: int) -> None:
    """Write random float32 predictions, uncompressed, chunk by chunk."""

    def rows(
        block: NDArray[np.float32],
        block_info: dict[int, Any] | None = None,  # Any: what Dask says of a block
    ) -> NDArray[np.float32]:
        place = block_info[0]["chunk-location"][0] if block_info else 0
        values = np.random.default_rng(place).random(block.shape, dtype=np.float32) ** 8
        values /= np.maximum(values.sum(axis=1, keepdims=True), 1e-30)
        return values

    empty = da.zeros((examples, labels), dtype=np.float32, chunks=(chunk, labels))
    xr.Dataset(
        {"predictions": (("example", "label"), empty.map_blocks(rows, dtype=np.float32))},
        coords={
            "example": [f"e{place}" for place in range(examples)],
            "label": [f"l{place}" for place in range(labels)],
        },
    ).to_zarr(path, zarr_format=2, encoding={"predictions": {"compressors": None}}, mode="w")


def opinions(examples: xr.DataArray, labels: xr.DataArray, slots: int = 4) -> xr.Dataset:
    """Return sparse plausibilities of a few labels per example."""
    rng = np.random.default_rng(1)
    n, k = examples.size, labels.size
    first = rng.integers(0, k - slots, n)[:, None]
    weight = np.full((n, slots), 1 / slots)
    about = xr.Dataset(coords={"example": examples.values, "label": labels.values})
    return sparse_dataset(Sparse(weight, (first + np.arange(slots)).astype(np.int32), k), about, {})


def forget_peak() -> None:
    """Let the peak of this process begin anew."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_mib() -> float:
    """Return the largest resident size of this process since `forget_peak`, in MiB.

    That of the program itself: what `resource` knows is at least the peak that the process which
    started this one had by then.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    found = next(line for line in lines if line.startswith("VmHWM:"))
    return int(found.split()[1]) / 1024


@attrs.frozen
class Took:
    """What a step took.

    Attributes
    ----------
    seconds : float
    main, workers : float
        Seconds of processor, of this process and of all workers.
    peak : float
        Largest resident size of a worker, in MiB.
    """

    seconds: float
    main: float
    workers: float
    peak: float

    def row(self, what: str, bare: Took) -> str:
        """Return a row of the table."""
        ratio = f"{self.seconds / bare.seconds:.2f}" if self is not bare else "1"
        spent = f"{self.main:.1f} + {self.workers:.1f}"
        return f"| {what} | {self.seconds:.2f} | {ratio} | {spent} | {self.peak:.0f} |"

    def middle(self, other: Took) -> Took:
        """Return the mean of two times that the same took."""
        both = self.and_then(other)
        return Took(both.seconds / 2, both.main / 2, both.workers / 2, both.peak)

    def and_then(self, other: Took) -> Took:
        """Return what both took, one after the other."""
        peak = max(self.peak, other.peak)
        return Took(
            self.seconds + other.seconds, self.main + other.main, self.workers + other.workers, peak
        )


def timed(client: Client, what: Callable[[], T]) -> tuple[Took, T]:
    """Return what a step took, and what came out."""
    client.run(forget_peak)
    before = sum(client.run(time.process_time).values())
    own, start = time.process_time(), time.perf_counter()
    found = what()
    seconds, own = time.perf_counter() - start, time.process_time() - own
    spent = sum(client.run(time.process_time).values()) - before
    return Took(seconds, own, spent, max(client.run(peak_mib).values())), found


def main() -> None:
    """Run once and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--examples", type=int, default=20_000)
    parser.add_argument("--labels", type=int, default=1_000)
    parser.add_argument("--chunk", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, default=None)
    asked = parser.parse_args()
    distributed: Any = importlib.import_module("distributed")  # Any: its calls have no hints
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        store = Path(folder) / "predictions.zarr"
        write_store(store, asked.examples, asked.labels, asked.chunk)
        with (
            distributed.LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                memory_limit="2GiB",
                dashboard_address="127.0.0.1:0",
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            measure(client, store, asked)


def measure(client: Client, store: Path, asked: argparse.Namespace) -> None:
    """Print what one run took."""
    whole = read_predictions(store, chunks=asked.chunk)
    half = asked.examples // 2 // asked.chunk * asked.chunk or asked.examples // 2
    cal, new = whole[:half], whole[half:]
    cal_lam = opinions(cal["example"], cal["label"])
    new_lam = opinions(new["example"], new["label"])
    float(whole[: asked.chunk].max())  # modules that are imported on the way
    first, _ = timed(client, lambda: float(whole.max()))
    made, predictor = timed(
        client, lambda: plausibly.calibrate(cal, cal_lam, calibrator="monte-carlo", draws=10)
    )
    judged, result = timed(client, lambda: plausibly.evaluate(predictor.predict(new, 0.1), new_lam))
    last, _ = timed(client, lambda: float(whole.max()))
    bare = first.middle(last)
    gib = asked.examples * asked.labels * 4 / 2**30
    few = cal[: min(half, 20_000)]
    lam = cal_lam.isel(example=slice(few.sizes["example"]))
    same = (
        plausibly.calibrate(few, lam, calibrator="monte-carlo").fingerprint
        == plausibly.calibrate(few.load(), lam, calibrator="monte-carlo").fingerprint
    )
    both = made.and_then(judged)
    print(f"## Larger than memory: {gib:.2f} GiB, {asked.examples:,} x {asked.labels:,}\n")
    print("Half calibrates, half is predicted; two worker processes of 2 GiB.\n")
    print(
        "| what | seconds | ratio to the read | processor: here + worker processes "
        "| worker peak, MiB |"
    )
    print("|---|---|---|---|---|")
    print(bare.row("bare Dask read and max, mean of before and after", bare))
    print(made.row("calibrate", bare))
    print(judged.row("predict and evaluate", bare))
    print(both.row("both", bare))
    print(f"\nWorker peak {both.peak:.0f} MiB of 2,048; same bits as in memory: {same}.")
    print(f"Aggregated coverage {float(result['aggregated_coverage_mean']):.4f} at alpha 0.1.")


if __name__ == "__main__":
    main()
