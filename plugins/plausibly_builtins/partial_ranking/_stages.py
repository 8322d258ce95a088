"""Examples of the Plackett-Luce model: answers, priors, and plausibilities of places."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.plugin import Keys, Rows, answered_rows, names
from plausibly_builtins.rankings import Example, Unmentioned, examples_of

Column = NDArray[np.float64]
UNMENTIONED = attrs.validators.in_(("nothing", "together", "each"))


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
                uniform = keys.child(f"rest-{at + 1}").ragged(hashes, 2 * size)
                owner = np.repeat(np.arange(size.size), size)
                logs = log_gamma(np.full(owner.size, prior), uniform[::2], uniform[1::2])
                split = by_example(np.exp(log_normalised(logs, owner, size.size)), size)
            plausibilities[at] = self.spread(values, split)
        array = xr.DataArray(
            plausibilities,
            dims=(names.DRAW, names.EXAMPLE, names.LABEL),
            coords={names.DRAW: np.arange(1, len(draws) + 1)},
            name=names.PLAUSIBILITIES,
        )
        like = self.rows.plausibilities(plausibilities[0])
        return array.assign_coords(like.coords).assign_attrs(like.attrs)


def by_example(values: Column, size: NDArray[np.intp]) -> list[Column]:
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


def log_normalised(logs: Column, owner: NDArray[np.intp], size: int) -> Column:
    """Return logarithms of shares: of what each owner has, the sum of the shares is 1."""
    largest = np.full(size, -np.inf)
    np.maximum.at(largest, owner, logs)
    off = logs - largest[owner]
    log_shares: Column = off - np.log(np.bincount(owner, np.exp(off), size)[owner])
    return log_shares
