"""The numeric core beside plain numpy: p-values, sets, draws, coverage.

Run it with ``python benchmarks/kernels.py`` on a machine that does nothing else; ``--large`` takes
the sizes of the goals (some gigabytes and minutes), without it they are a tenth.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from plausibly.kernels import coverage
from plausibly.kernels.draws import draw_labels
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.ranks import Ranks
from turns import Row, in_turn, peak, ratio, seconds, show, versions

ALPHA = 0.1


def softmax(generator: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float32]:
    """Return probabilities, skewed as those of a model that has learned something."""
    logits = generator.normal(size=shape).astype(np.float32) * 3
    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return logits


def ranks(generator: np.random.Generator, pool: int, examples: int, labels: int) -> Row:
    """Return the averaged p-values of a batch beside a sort and a search in numpy."""
    atoms = softmax(generator, (pool // 10 + 1, 10)).ravel()[:pool].copy()
    queries = softmax(generator, (examples, labels))

    def ours() -> object:
        return Ranks(np.sort(atoms)).of(queries, "right")

    def plain() -> object:
        return np.searchsorted(np.sort(atoms), queries, side="right")

    taken = in_turn({"ours": ours, "plain": plain}, 5)
    return Row(
        what=f"ranks of {queries.size:,} scores in a pool of {pool:,}",
        beside=f"`sort` and `searchsorted` ({seconds(taken, 'plain')})",
        ratio=ratio(taken, "ours", "plain"),
        goal="at most 1.2" if pool < 10**6 else "at most 0.33",
    )


def by_threshold(generator: np.random.Generator, queries: int) -> Row:
    """Return sets by one comparison beside sets by p-values."""
    pool = np.sort(softmax(generator, (10_000, 10)).ravel())
    scores = softmax(generator, (queries // 1000, 1000))
    table, total = Ranks(pool), pool.size
    rank = int(np.floor(ALPHA * (total + 10))) - 10 + 1
    tau = pool[rank - 1]
    sets = np.empty(scores.shape, bool)

    def ours() -> object:
        return np.greater_equal(scores, tau, out=sets)

    def by_p() -> NDArray[np.bool_]:
        return (table.of(scores, "right") + 10) / (total + 10) > ALPHA

    taken = in_turn({"ours": ours, "p": by_p, "read": lambda: scores.max()}, 5)
    if not np.array_equal(sets, by_p()):
        raise RuntimeError("the sets differ")
    return Row(
        what=f"sets by p-values, {queries:,} scores",
        beside=f"sets by threshold ({seconds(taken, 'ours')})",
        ratio=ratio(taken, "p", "ours"),
        note=f"equal sets; the comparison takes {ratio(taken, 'ours', 'read')} of one read",
    )


def draws(generator: np.random.Generator, examples: int, labels: int, dense: bool) -> Iterator[Row]:
    """Yield draws beside their uniforms, a read, and numpy's own choice in a loop."""
    lam = some_plausibilities(generator, examples, labels, dense)
    hashes = hash_names([f"example {number}" for number in range(examples)])
    keys = Keys(0)

    def uniforms() -> NDArray[np.float64]:
        return keys.uniform(hashes, 10)

    known = uniforms()
    calls = {
        "uniforms": uniforms,
        "drawn": lambda: draw_labels(lam, known),
        "both": lambda: draw_labels(lam, uniforms()),
        "read": lambda: lam.max(),
    }
    taken = in_turn(calls, 5)
    size = f"{examples:,} examples, {labels} labels, 10 draws"
    if dense:
        yield Row(
            what=f"draws, {size}",
            beside=f"their keyed uniforms alone ({seconds(taken, 'uniforms')})",
            ratio=ratio(taken, "both", "uniforms"),
            goal="at most 3",
            note=peak(calls["both"]),
        )
        some = 10_000
        rows = np.arange(labels)

        def loop() -> object:
            return [generator.choice(rows, size=10, p=row) for row in lam[:some]]

        part = in_turn(
            {
                "loop": loop,
                "both": lambda: draw_labels(lam[:some], keys.uniform(hashes[:some], 10)),
            },
            5,
        )
        yield Row(
            what=f"`Generator.choice` in a loop, {some:,} examples",
            beside=f"the same draws ({seconds(part, 'both')})",
            ratio=ratio(part, "loop", "both"),
            goal="at least 60",
        )
    else:
        yield Row(
            what=f"draws with given uniforms, {size}, 1% of the plausibilities above zero",
            beside=f"one read of the plausibilities ({seconds(taken, 'read')})",
            ratio=ratio(taken, "drawn", "read"),
            goal="at most 4",
            note=peak(calls["drawn"]),
        )


def some_plausibilities(
    generator: np.random.Generator, examples: int, labels: int, dense: bool
) -> NDArray[np.float64]:
    """Return rows that sum to one: all labels above zero, or one in a hundred."""
    if dense:
        lam = generator.random((examples, labels))
        lam /= lam.sum(axis=1, keepdims=True)
        return lam
    lam = np.zeros((examples, labels))
    slots = max(2, labels // 100)
    rows = np.arange(examples)[:, None]
    lam[rows, generator.integers(0, labels, (examples, slots))] = 1 / slots
    lam /= lam.sum(axis=1, keepdims=True)
    return lam


def covered(generator: np.random.Generator, examples: int, labels: int) -> Row:
    """Return coverage and size beside one read of both arrays."""
    scores = softmax(generator, (examples, labels))
    lam = some_plausibilities(generator, examples, labels, dense=False).astype(np.float32)
    sets = scores >= np.float32(0.01)

    def ours() -> object:
        return coverage.aggregated(sets, lam), coverage.sizes(sets)

    def read() -> object:
        return scores.max(), lam.max()

    taken = in_turn({"ours": ours, "read": read}, 7)
    return Row(
        what=f"coverage and size, {examples:,} examples, {labels} labels",
        beside=f"one read of scores and plausibilities ({seconds(taken, 'read')})",
        ratio=ratio(taken, "ours", "read"),
        goal="at most 2.5",
        note=f"{peak(ours)}; goal under 4 MiB",
    )


def rows(large: bool) -> Iterator[Row]:
    """Yield the rows of the table."""
    part = 1 if large else 10
    generator = np.random.default_rng(0)
    yield ranks(generator, 100_000, 10_000, 10)
    yield ranks(generator, 10_000, 1_000, 419)
    yield ranks(generator, 10**6, 10_000 // part, 1_000)
    yield by_threshold(generator, 10**7 // part)
    yield from draws(generator, 10**6 // part, 10, dense=True)
    yield from draws(generator, 10**5 // part, 419, dense=False)
    yield covered(generator, 10**5 // part, 419)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--large", action="store_true", help="the sizes of the goals")
    asked = parser.parse_args()
    show("Kernels", rows(asked.large), versions(["numpy"]))


if __name__ == "__main__":
    main()
