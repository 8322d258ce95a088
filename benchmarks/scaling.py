"""What twice as many examples cost, stage by stage: the time at 2n over the time at n.

Run it with ``python benchmarks/scaling.py``; ``--large`` goes from 100,000 examples to 1,600,000.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import xarray as xr

import plausibly
from kernels import softmax
from turns import Row, show, versions

ALPHA = 0.1
LABELS = 10
PER_EXAMPLE = 3


def stages(examples: int, folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the stages of a study over some examples; each uses what the one before made."""
    generator = np.random.default_rng(examples)
    labels = [f"label {code}" for code in range(LABELS)]
    said = generator.integers(0, LABELS, (examples, PER_EXAMPLE)).tolist()
    votes = [
        (f"example {number}", f"annotator {place}", labels[code])
        for number, row in enumerate(said)
        for place, code in enumerate(row)
    ]
    names = [f"example {number}" for number in range(examples)]
    model = xr.DataArray(
        softmax(generator, (examples, LABELS)),
        dims=("example", "label"),
        coords={"example": names, "label": labels},
        attrs={"scale": "probability"},
    )
    table = plausibly.build_annotations("single-label", votes, labels=labels)
    lam = plausibly.aggregate(table)
    predictor = plausibly.calibrate(model, lam)
    drawn = plausibly.calibrate(model, lam, calibrator="monte-carlo")
    sets = predictor.predict(model, ALPHA)
    path = folder / "predictor.nc"
    yield "build annotations", lambda: plausibly.build_annotations("single-label", votes)
    yield "aggregate", lambda: plausibly.aggregate(table)
    yield "calibrate, expected", lambda: plausibly.calibrate(model, lam).threshold(ALPHA)
    yield (
        "calibrate, monte-carlo",
        lambda: plausibly.calibrate(model, lam, calibrator="monte-carlo").threshold(ALPHA),
    )
    yield "predict", lambda: predictor.predict(model, ALPHA)
    yield "p-values", lambda: drawn.p_values(model)
    yield "evaluate", lambda: plausibly.evaluate(sets, lam)

    def save_and_load() -> object:
        predictor.save(path)
        return plausibly.load_predictor(path)

    yield "save and load", save_and_load


def least(call: Callable[[], object], rounds: int) -> float:
    """Return the least time of some calls: what the machine did besides is the rest."""
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return min(taken)


def measured(sizes: list[int], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each stage, one a size."""
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            for name, call in stages(size, Path(folder)):
                found.setdefault(name, []).append(least(call, rounds))
    return found


def rows(seconds: Mapping[str, list[float]], sizes: list[int]) -> Iterator[Row]:
    """Yield a row a stage."""
    for name, taken in seconds.items():
        ratios = [after / before for before, after in pairwise(taken)]
        yield Row(
            what=f"{name}, {LABELS} labels",
            beside="half as many examples",
            ratio=f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
            goal="at most 2.3",
            note=f"{taken[-1]:.3g} s at {sizes[-1]:,} examples",
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--large", action="store_true", help="to 1,600,000 examples")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    sizes = [100_000 << step for step in range(5)] if asked.large else [12_500, 25_000, 50_000]
    found = measured(sizes, asked.rounds)
    show("Cost against the number of examples", rows(found, sizes), versions(["numpy", "xarray"]))


if __name__ == "__main__":
    main()
