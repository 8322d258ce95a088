"""A million votes: read and aggregated, beside pandas; Dawid-Skene beside crowd-kit.

Run it with ``python benchmarks/crowd.py`` on a machine that does nothing else. Every figure is a
ratio of times that were taken in turn, in one process; the table that is printed is in Markdown.
crowd-kit is an extra (``pip install "plausibly[crowd]"``); without it its rows are left out.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import statistics
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

import plausibly

LABELS = 50
ANNOTATORS = 1_000
PER_EXAMPLE = 10


def votes(examples: int, seed: int) -> pd.DataFrame:
    """Return votes in no order: a truth an example, which each annotator says at a rate of theirs.

    Parameters
    ----------
    examples : int
        Each gets ten votes by ten different annotators.
    seed : int
    """
    generator = np.random.default_rng(seed)
    example = np.repeat(np.arange(examples), PER_EXAMPLE)
    first = generator.integers(0, ANNOTATORS, examples)
    worker = (np.repeat(first, PER_EXAMPLE) + np.tile(np.arange(PER_EXAMPLE) * 97, examples)) % (
        ANNOTATORS
    )
    truth = generator.integers(0, LABELS, examples)[example]
    right = generator.random(example.size) < generator.uniform(0.5, 0.95, ANNOTATORS)[worker]
    label = np.where(right, truth, generator.integers(0, LABELS, example.size))
    order = generator.permutation(example.size)
    columns = {"example": example, "annotator": worker, "label": label}
    return pd.DataFrame(
        {name: name[0] + pd.Series(codes[order]).astype(str) for name, codes in columns.items()}
    )


def in_turn(calls: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Return the seconds that each call took, one round after the other."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            taken[name].append(time.perf_counter() - start)
    return taken


def ratio(taken: Mapping[str, list[float]], name: str, to: str) -> str:
    """Return the median of the ratios of a round, with the least and the largest."""
    ratios = [one / other for one, other in zip(taken[name], taken[to], strict=True)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def peak(call: Callable[[], object]) -> float:
    """Return the most that was allocated at once, in MiB."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 2**20


def read_and_aggregate(path: Path) -> xr.DataArray:
    """Return label frequencies of a long table."""
    return plausibly.aggregate(plausibly.read_annotations(path, "long-table"))


def reading(folder: Path, frame: pd.DataFrame, rounds: int) -> list[tuple[str, str, str, str]]:
    """Return the rows about reading."""
    csv, parquet = folder / "votes.csv", folder / "votes.parquet"
    frame.to_csv(csv, index=False)
    calls: dict[str, Callable[[], object]] = {
        "pandas": lambda: pd.read_csv(csv),
        "pandas, low_memory=False": lambda: pd.read_csv(csv, low_memory=False),
        "pandas, dtype=object": lambda: pd.read_csv(csv, dtype=object, na_filter=False),
        "csv": lambda: read_and_aggregate(csv),
    }
    if importlib.util.find_spec("pyarrow") is not None:
        frame.to_parquet(parquet)
        calls["parquet"] = lambda: read_and_aggregate(parquet)
        calls["pandas parquet"] = lambda: pd.read_parquet(parquet)
    taken = in_turn(calls, rounds)
    most = f"{peak(calls['csv']):.0f} MiB"
    rows = [
        (
            "CSV read and aggregated by label frequency",
            f"`read_csv` of {name} ({statistics.median(taken[name]):.3f} s)",
            ratio(taken, "csv", name),
            most,
        )
        for name in ("pandas", "pandas, low_memory=False", "pandas, dtype=object")
    ]
    if "parquet" in calls:
        rows.append(
            (
                "Parquet read and aggregated by label frequency",
                f"`read_parquet` of pandas ({statistics.median(taken['pandas parquet']):.3f} s)",
                ratio(taken, "parquet", "pandas parquet"),
                f"{peak(calls['parquet']):.0f} MiB",
            )
        )
    return rows


def dawid_skene(frame: pd.DataFrame, rounds: int) -> list[tuple[str, str, str, str]]:
    """Return the row about Dawid-Skene, as many iterations on both sides."""
    if importlib.util.find_spec("crowdkit") is None:
        return []
    theirs_module = importlib.import_module("crowdkit.aggregation")

    table = plausibly.build_annotations(
        "single-label", frame[["task", "worker", "label"]].itertuples(index=False, name=None)
    )
    iterations = 10

    def ours() -> xr.DataArray:
        return plausibly.aggregate(
            table, "dawid-skene", iterations=iterations, tolerance=0.0, smoothing=0.0
        )

    def theirs() -> object:
        return theirs_module.DawidSkene(n_iter=iterations, tol=0.0).fit_predict_proba(frame)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        taken = in_turn({"ours": ours, "crowd-kit": theirs}, rounds)
        most = peak(ours)
    seconds = f"{statistics.median(taken['crowd-kit']):.1f} s"
    return [
        (
            f"Dawid-Skene, at most {iterations} iterations on both sides",
            f"crowd-kit {version('crowd-kit')} ({seconds})",
            ratio(taken, "ours", "crowd-kit"),
            f"{most:.0f} MiB",
        )
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    frame = votes(asked.examples, asked.seed)
    with tempfile.TemporaryDirectory() as folder:
        rows = reading(Path(folder), frame, asked.rounds)
    rows += dawid_skene(frame, asked.rounds)
    print(
        f"## A long table\n\n{len(frame):,} votes, {asked.examples:,} examples, "
        f"{ANNOTATORS:,} annotators, {LABELS} "
        f"labels; medians of ratios over rounds (least to largest); Python "
        f"{sys.version.partition(' ')[0]}, numpy {np.__version__}, pandas {pd.__version__}\n"
    )
    print("| what | beside | ratio of times | most allocated at once |\n|---|---|---|---|")
    for row in rows:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
