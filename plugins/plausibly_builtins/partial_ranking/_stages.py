"""Rankings taken apart: which labels of an example stand above which others, and how often.

In the model of Plackett and Luce a ranking is as likely as its stages together: each block above
all that is ranked below it. Equal stages of an example are counted as one with a weight, in an
order that belongs to names: so the order of rows, labels and annotators cannot matter, and neither
can it whether a response counts twice or stands there twice.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.plugin import (
    Bools,
    InputError,
    Ints,
    Keys,
    Rows,
    answered_rows,
    hash_names,
    listed,
    names,
    ragged_uniforms,
    several,
)
from plausibly_builtins.aggregation import example_names
from plausibly_builtins.rankings import Blocks, rankings, strongly_connected

Column = NDArray[np.float64]
Unmentioned = Literal["nothing", "together", "each"]
"""What happens to labels that no response of the example names."""

UNMENTIONED = attrs.validators.in_(("nothing", "together", "each"))

Stage = tuple[tuple[int, ...], tuple[int, ...], float]
"""Places of the block, places of what is below it, and how often it was said."""


@attrs.frozen(kw_only=True)
class Example:
    """What was said of one example: labels that a response names, the rest, and stages.

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
    def above(self) -> Bools:
        """Which places some stage puts above which."""
        found = np.zeros((self.size, self.size), bool)
        for block, below, _ in self.stages:
            found[np.ix_(block, below)] = True
        return found


@attrs.frozen(kw_only=True, eq=False)
class Said:
    rows: Rows
    unmentioned: Unmentioned
    examples: list[Example]

    @classmethod
    def of(cls, annotations: xr.Dataset, accepts: frozenset[str], unmentioned: Unmentioned) -> Said:
        rows = answered_rows(annotations, accepts)
        excluded = rows.table.attrs[names.UNLISTED] == "excluded"
        by_name = np.argsort(rows.table[names.LABEL].values, kind="stable")
        examples = [
            _example(responses, by_name, unmentioned, excluded=excluded)
            for responses in rankings(rows, np.argsort(by_name))
        ]
        return cls(rows=rows, unmentioned=unmentioned, examples=examples)

    def prior(self, example: Example, prior: float) -> Column:
        """Return the shape of the prior of each place: (place,)."""
        found = np.full(example.size, prior)
        if self.unmentioned == "each" and example.rest:
            found[-1] *= len(example.rest)
        return found

    def spread(self, values: Sequence[Column], split: Sequence[Column] | None = None) -> Column:
        """Return plausibilities (example, label) of the values of places."""
        found = np.zeros((self.rows.n, self.rows.labels))
        for i, (example, of) in enumerate(zip(self.examples, values, strict=True)):
            found[i, list(example.labels)] = of[: len(example.labels)]
            if example.rest:
                part = 1.0 / len(example.rest) if split is None else split[i]
                found[i, list(example.rest)] = of[-1] * part
        return found

    def drawn(self, draws: Sequence[Sequence[Column]], prior: float, keys: Keys) -> xr.DataArray:
        """Return plausibilities (draw, example, label) of the values of places, by draw."""
        size = np.array([len(example.rest) for example in self.examples], np.intp)
        hashes = hash_names(self.rows.table.indexes[names.EXAMPLE])
        found = np.empty((len(draws), self.rows.n, self.rows.labels))
        for at, values in enumerate(draws):
            split = None
            if self.unmentioned == "each" and size.any():
                uniform = ragged_uniforms(keys.child(f"rest-{at + 1}"), hashes, 2 * size)
                owner = np.repeat(np.arange(size.size), size)
                logs = log_gamma(np.full(owner.size, prior), uniform[::2], uniform[1::2])
                split = by_example(np.exp(log_normalised(logs, owner, size.size)), size)
            found[at] = self.spread(values, split)
        array = xr.DataArray(
            found,
            dims=(names.DRAW, names.EXAMPLE, names.LABEL),
            coords={names.DRAW: np.arange(1, len(draws) + 1)},
            name=names.PLAUSIBILITIES,
        )
        like = self.rows.plausibilities(found[0])
        return array.assign_coords(like.coords).assign_attrs(like.attrs)

    def named(self, which: Ints) -> list[str]:
        return example_names(self.rows, which)

    def check_two_sided(self) -> None:
        """Refuse examples of which no finite utilities are the most likely ones."""
        open_ended = [i for i, e in enumerate(self.examples) if not strongly_connected(e.above)]
        if not open_ended:
            return
        shown = self.named(np.array(open_ended))
        raise InputError(
            "ranking-one-sided",
            f"annotations: without a prior, the rankings of {several(len(shown), 'example')} "
            f"({listed(shown)}) fit infinite utilities best",
            expected="every group of labels beaten once by a label outside it",
            got="a group that never is, or is never compared",
            do="prior = 0.5, or another above 0",
            whose="annotations",
            details={"examples": shown},
        )


def by_example(values: Column, size: Ints) -> list[Column]:
    """Return flat values as one array an example, each of its size."""
    return np.split(values, np.cumsum(size)[:-1]) if size.size else []


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
        found = [sorted(place[rank] for rank in block) for block in blocks]
        below = everything if excluded else {at for block in found for at in block}
        for block in found:
            below = below - set(block)
            if below:
                counts[tuple(block), tuple(sorted(below))].append(weight)
    stages = [(*stage, math.fsum(weights)) for stage, weights in sorted(counts.items())]
    return Example(labels=tuple(by_name[ranks].tolist()), rest=rest, stages=tuple(stages))


HALF = 2.0**-54
"""Half the distance between two uniforms: added, none is 0."""


def log_gamma(shape: Column, first: Column, second: Column) -> Column:
    """Return logarithms of gamma variables of rate 1, of two uniforms each."""
    from scipy.special import gammaincinv

    found = np.log(second + HALF)
    other = np.flatnonzero(shape != 1.0)
    of = shape[other]
    found[other] = found[other] / of + np.log(gammaincinv(of + 1.0, first[other] + HALF))
    once = shape == 1.0  # an exponential variable, and the most frequent shape by far
    found[once] = np.log(-found[once])
    return found


def log_normalised(logs: Column, owner: NDArray[np.intp], size: int) -> Column:
    """Return logarithms of shares: of what each owner has, the sum of the shares is 1."""
    largest = np.full(size, -np.inf)
    np.maximum.at(largest, owner, logs)
    off = logs - largest[owner]
    found: Column = off - np.log(np.bincount(owner, np.exp(off), size)[owner])
    return found
