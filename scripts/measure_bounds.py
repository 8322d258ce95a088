"""Measure the bounds of the combiner `pac`: validity, and labels per set.

Prints the tables of docs/calibrators_measured.md, section pac::

    python scripts/measure_bounds.py validity
    python scripts/measure_bounds.py reach
    python scripts/measure_bounds.py real --data DIR
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from measured.data import load
from plausibly.paper.beyond import World, ordered
from plausibly.plugin import COMBINER, CalibrationScores, Floats, Pools, resolve

ALPHA = Fraction(1, 10)
WITHOUT_SPLIT = ("betting", "binomial", "hoeffding-bentkus")
SIZES, DELTAS = (50, 100, 300, 1000), (0.1, 0.01)
REPEATS, POPULATION, LARGE = 2000, 20_000, 40_000
ROUND = 50  # repeats between tables
PARTS = 1000  # of a plausibility, in worlds without votes

Numbers = NDArray[np.float64]
Key = tuple[str, float, int]
"""Bound, delta and number of examples."""


def pools(world: World, n: int, random: np.random.Generator) -> Pools:
    """Return the calibration scores of `n` examples, as calibrator expected makes them."""
    sample = world.sample(n, random)
    row, label = np.nonzero(sample.counts)
    return Pools(
        CalibrationScores(
            scores=sample.scores[row, label][None, :],
            units=sample.counts[row, label],
            row=row,
            denominator=sample.counts.sum(axis=1),
            separate=False,
            order=np.arange(n),
            uniform=random.random(n),
        )
    )


def edge(missed: Floats) -> World:
    """Return two labels, of which the worse one has these masses, in parts.

    Missing it exceeds alpha by very little, and there is no threshold between all and nothing.
    """
    parts = np.rint(missed * PARTS).astype(np.int64)
    scores = np.broadcast_to(np.array([0.0, 1.0]), (len(parts), 2))
    return World(scores, np.stack([parts, PARTS - parts], axis=1))


def worlds() -> Iterator[tuple[str, World]]:
    """Yield the twenty worlds by name."""
    for votes in (1, 2, 3, 5, 20):
        yield f"ordered, {votes} votes", ordered(np.random.default_rng(votes), votes=votes)
    for noise in (0.1, 1.0, 2.0):
        yield f"ordered, noise {noise}", ordered(np.random.default_rng(9), noise=noise)
    for labels in (2, 3, 12):
        yield f"ordered, {labels} labels", ordered(np.random.default_rng(8), labels=labels)
    exact = ordered(np.random.default_rng(7))
    yield "ordered, tenths", World(exact.scores.round(1), exact.counts)
    yield "ordered, one certain vote", ordered(np.random.default_rng(6), votes=1, noise=0.0)
    share: Numbers = (np.arange(POPULATION) + 0.5) / POPULATION
    yield "edge: all 0.101", edge(np.full(POPULATION, 0.101))
    yield "edge: 0 or 1", edge((share < 0.101).astype(np.float64))
    yield "edge: 0 or 1, 0.12", edge((share < 0.12).astype(np.float64))
    yield "edge: 0 or 0.5", edge(0.5 * (share < 0.202))
    yield "edge: 0, 0.1 or 1", edge(np.where(share < 0.05, 1.0, 0.1 * (share < 0.56)))
    yield "edge: uniform", edge(0.202 * share)
    yield "edge: skewed", edge(np.power(share, 8.8))


def failures(world: World, n: int, repeats: Iterable[int]) -> dict[Key, int]:
    """Return how many calibrations miss more than alpha on average, by bound and delta."""
    combiners = {
        (bound, delta, n): resolve(COMBINER, {"name": "pac", "bound": bound, "delta": delta})
        for bound in WITHOUT_SPLIT
        for delta in DELTAS
    }
    failed = dict.fromkeys(combiners, 0)
    for repeat in repeats:
        drawn = pools(world, n, np.random.default_rng([n, repeat]))
        for key, combiner in combiners.items():
            failed[key] += world.missed(combiner.threshold(drawn, ALPHA)) > float(ALPHA)
    return failed


def row(*cells: object) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def head(*cells: object) -> str:
    """Return the head of a table."""
    return f"{row(*cells)}\n{row(*['---'] * len(cells))}"


def validity(repeats: int) -> Iterator[str]:
    """Yield the largest and the mean share of failures over the worlds, as repeats add up."""
    every, total = dict(worlds()), dict[tuple[str, Key], int]()
    for start in range(0, repeats, ROUND):
        done = min(repeats, start + ROUND)
        for name, world in every.items():
            for n in SIZES:
                for key, count in failures(world, n, range(start, done)).items():
                    total[name, key] = total.get((name, key), 0) + count
        yield f"{done} repeats\n"
        yield head("bound", "delta", "allowed", *(f"n = {n}" for n in SIZES))
        for bound in WITHOUT_SPLIT:
            for delta in DELTAS:
                shares = [[total[name, (bound, delta, n)] / done for name in every] for n in SIZES]
                cells = [f"{max(one):.4f} ({sum(one) / len(one):.4f})" for one in shares]
                allowed = delta + 4 * (delta * (1 - delta) / done) ** 0.5
                over = " exceeded" if max(map(max, shares)) > allowed else ""
                yield row(bound, delta, f"{allowed:.4f}{over}", *cells)
        yield ""


def reach(repeats: int) -> Iterator[str]:
    """Yield labels per set and failures in the ordered world, with three votes."""
    large = ordered(np.random.default_rng(99), size=LARGE)
    for delta in DELTAS:
        yield head(f"bound, delta {delta}", *(f"n = {n}" for n in SIZES[1:]))
        for bound in ("held-out", *WITHOUT_SPLIT):
            cells = []
            for n in SIZES[1:]:
                taus = []
                for repeat in range(repeats):
                    sample = ordered(np.random.default_rng([n, repeat]), size=n)
                    taus.append(sample.threshold(bound, alpha=ALPHA, delta=delta, seed=repeat))
                sizes = [(large.scores >= tau).sum() / LARGE for tau in taus]
                failed = np.mean([large.missed(tau) > float(ALPHA) for tau in taus])
                cells.append(f"{np.mean(sizes):.2f}, {failed:.3f}")
            yield row(bound, *cells)
        yield ""


def real(folder: Path, repeats: int) -> Iterator[str]:
    """Yield labels per set on real data: calibrations of random examples, sets of all others."""
    yield head("data, n", "held-out", *WITHOUT_SPLIT)
    for name, sizes in (
        ("crema_d", (100, 300, 1000)),
        ("imagenet16h", (100, 300)),
        ("lidc_malignancy", (100, 300, 1000)),
    ):
        data = load(folder, name)
        scores = data.predictions.values.astype(np.float64)
        lam = data.plausibilities
        counts = np.rint(lam.values * lam["denominator"].values[:, None]).astype(np.int64)
        for n in sizes:
            cells = []
            for bound in ("held-out", *WITHOUT_SPLIT):
                found = []
                for repeat in range(repeats):
                    order = np.random.default_rng([n, repeat]).permutation(len(scores))
                    own, new = order[:n], order[n:]
                    sample = World(scores[own], counts[own])
                    tau = sample.threshold(bound, alpha=ALPHA, delta=0.1, seed=repeat)
                    found.append((scores[new] >= tau).sum(axis=1).mean())
                cells.append(f"{np.mean(found):.2f}")
            yield row(f"{name}, {n}", *cells)


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description="Measure the bounds of the combiner pac.")
    parser.add_argument("table", choices=("validity", "reach", "real"))
    parser.add_argument("--data", type=Path, help="folder of the real data sets")
    parser.add_argument("--repeats", type=int)
    options = parser.parse_args()
    if options.table == "real" and options.data is None:
        parser.error("real data need --data")
    tables: dict[str, Callable[[], Iterable[str]]] = {
        "validity": lambda: validity(options.repeats or REPEATS),
        "reach": lambda: reach(options.repeats or 200),
        "real": lambda: real(options.data, options.repeats or 100),
    }
    for line in tables[options.table]():
        print(line, flush=True)


if __name__ == "__main__":
    main()
