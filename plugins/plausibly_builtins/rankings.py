"""Rankings taken apart: which labels of an example stand above which others, and how often.

A ranking is as good as its stages: each block above all that is ranked below it. Equal stages of an
example are counted as one with a weight, in an order that belongs to names: so the order of rows,
labels and annotators cannot matter, and neither can it whether a response counts twice or stands
there twice.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.plugin import Ints, Keys, Rows, answered_rows, names
from plausibly_builtins.aggregation import Codes, Column, drawn_plausibilities

Unmentioned = Literal["nothing", "together", "each"]
"""What happens to labels that no response of the example names."""

Stage = tuple[tuple[int, ...], tuple[int, ...], float]
"""Places of the block, places of what is below it, and how often it was answered."""


Blocks: TypeAlias = list[tuple[float, list[list[int]]]]
"""Weight and blocks of each response to an example: labels by their rank among the names."""


@attrs.frozen(kw_only=True)
class Example:
    """Answers on one example: labels that a response names, the rest, and stages.

    A place is an index into the codes `labels`, in the order of their names; the place after the
    last stands for the `rest`, if they take part in the model. No stage has nothing below it.
    """

    labels: tuple[int, ...]
    rest: tuple[int, ...]
    stages: tuple[Stage, ...]

    @property
    def size(self) -> int:
        return len(self.labels) + bool(self.rest)

    @property
    def one_sided(self) -> bool:
        """True if some group of labels never loses to a label outside it, or never meets one."""
        above = np.eye(self.size, dtype=bool)
        for block, below, _ in self.stages:
            above[np.ix_(block, below)] = True
        for through in range(self.size):
            above |= above[:, through, None] & above[through]
        return not above.all()


def examples_of(rows: Rows, unmentioned: Unmentioned = "nothing") -> list[Example]:
    """Return the stages of each example of a table."""
    excluded = rows.table.attrs[names.UNLISTED] == "excluded"
    by_name = np.argsort(rows.table[names.LABEL].values, kind="stable")
    return [
        _example(responses, by_name, unmentioned, excluded=excluded)
        for responses in _rankings(rows, np.argsort(by_name))
    ]


def _example(
    responses: Blocks, by_name: Ints, unmentioned: Unmentioned, *, excluded: bool
) -> Example:
    ranks = sorted({rank for _, blocks in responses for block in blocks for rank in block})
    place = {rank: at for at, rank in enumerate(ranks)}
    rest = ()
    if unmentioned != "nothing":
        rest = tuple(by_name[np.setdiff1d(np.arange(by_name.size), ranks)].tolist())
    counts: dict[tuple[tuple[int, ...], tuple[int, ...]], list[float]] = defaultdict(list)
    everything = set(range(len(ranks) + bool(rest)))
    for weight, blocks in responses:
        places = [sorted(place[rank] for rank in block) for block in blocks]
        below = everything if excluded else {at for block in places for at in block}
        for block in places:
            below = below - set(block)
            if below:
                counts[tuple(block), tuple(sorted(below))].append(weight)
    stages = [(*stage, math.fsum(weights)) for stage, weights in sorted(counts.items())]
    return Example(labels=tuple(by_name[ranks].tolist()), rest=rest, stages=tuple(stages))


def _rankings(rows: Rows, rank: Ints) -> list[Blocks]:
    """Return weight and blocks, of ranks of label names, of each response, by example."""
    rankings: list[Blocks] = [[] for _ in range(rows.n)]
    ends = np.cumsum(rows.mentions).tolist()
    label, block = rank[rows.label].tolist(), rows.block.tolist()
    start = 0
    for example, weight, end in zip(rows.example.tolist(), rows.weight.tolist(), ends, strict=True):
        blocks: dict[int, list[int]] = {}
        for place in range(start, end):
            blocks.setdefault(block[place], []).append(label[place])
        if blocks and weight > 0:
            rankings[example].append((weight, list(blocks.values())))
        start = end
    return rankings


@attrs.frozen(kw_only=True, eq=False)
class Ranked:
    rows: Rows
    unmentioned: Unmentioned
    examples: list[Example]

    @classmethod
    def of(
        cls, annotations: xr.Dataset, accepts: frozenset[str], unmentioned: Unmentioned
    ) -> Ranked:
        rows = answered_rows(annotations, accepts)
        examples = examples_of(rows, unmentioned)
        return cls(rows=rows, unmentioned=unmentioned, examples=examples)

    def prior(self, example: Example, prior: float) -> Column:
        """Return the shape of the prior of each place: (place,)."""
        shape = np.full(example.size, prior)
        if self.unmentioned == "each" and example.rest:
            shape[-1] *= len(example.rest)
        return shape

    def spread(self, values: Sequence[Column], split: Sequence[Column] | None = None) -> Column:
        """Return plausibilities (example, label) of the values of places."""
        plausibilities = np.zeros((self.rows.n, self.rows.labels))
        for i, (example, of) in enumerate(zip(self.examples, values, strict=True)):
            plausibilities[i, list(example.labels)] = of[: len(example.labels)]
            if example.rest:
                part = 1.0 / len(example.rest) if split is None else split[i]
                plausibilities[i, list(example.rest)] = of[-1] * part
        return plausibilities

    def drawn(self, draws: Sequence[Sequence[Column]], prior: float, keys: Keys) -> xr.DataArray:
        """Return plausibilities (draw, example, label) of the values of places, by draw."""
        size = np.array([len(example.rest) for example in self.examples], np.intp)
        hashes = self.rows.hashes
        plausibilities = np.empty((len(draws), self.rows.n, self.rows.labels))
        for at, values in enumerate(draws):
            split = None
            if self.unmentioned == "each" and size.any():
                shape = np.full(int(size.sum()), prior)
                split = dirichlet(shape, size, keys.child(f"rest-{at + 1}"), hashes)
            plausibilities[at] = self.spread(values, split)
        return drawn_plausibilities(self.rows, plausibilities)


def dirichlet(shape: Column, size: Codes, keys: Keys, hashes: NDArray[np.uint64]) -> list[Column]:
    """Return a Dirichlet draw of the shapes of each example, of which it has `size`."""
    uniform = keys.ragged(hashes, 2 * size)
    owner = np.repeat(np.arange(size.size), size)
    logs = log_gamma(shape, uniform[::2], uniform[1::2])
    return by_example(np.exp(log_normalised(logs, owner, size.size)), size)


def by_example(values: Column, size: Codes) -> list[Column]:
    """Return flat values as one array per example, each of its size."""
    return np.split(values, np.cumsum(size)[:-1]) if size.size else []


HALF = 2.0**-54
"""Half the distance between two uniforms: added, none is 0."""


def log_gamma(shape: Column, first: Column, second: Column) -> Column:
    """Return logarithms of gamma variables of rate 1, of two uniforms each."""
    from scipy.special import gammaincinv

    logs = np.log(second + HALF)
    general = np.flatnonzero(shape != 1.0)
    of = shape[general]
    logs[general] = logs[general] / of + np.log(gammaincinv(of + 1.0, first[general] + HALF))
    once = shape == 1.0  # an exponential variable, and the most frequent shape by far
    logs[once] = np.log(-logs[once])
    return logs


def log_normalised(logs: Column, owner: Codes, size: int) -> Column:
    """Return logarithms of shares: of what each owner has, the sum of the shares is 1."""
    largest = np.full(size, -np.inf)
    np.maximum.at(largest, owner, logs)
    off = logs - largest[owner]
    log_shares: Column = off - np.log(np.bincount(owner, np.exp(off), size)[owner])
    return log_shares
