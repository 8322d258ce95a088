"""Equal split: each annotator has one vote, shared by the labels of the set."""

from __future__ import annotations

import math
from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import Aggregator, Floats, Ints, Keys, Rows, answered_rows


@attrs.frozen(kw_only=True)
class EqualSplit(Aggregator):
    """Plausibility of a label = the mean over responses of 1/L, if it is one of the L named.

    ``lambda_ik = sum_b w_b 1[k in b] / |b| / sum_b w_b`` over the label sets b of example i that
    name a label, w_b their `response_weight`: the distribution of a label drawn at random from the
    set of a random annotator. A single label is a set of one. Where all weights are
    whole numbers the `denominator` of an example is its votes times the least common multiple of
    the sizes of its sets, and every share is the exact one, rounded once.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"label-set", "single-label"})

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label)."""
        rows = answered_rows(annotations, self.accepts)
        terms, total, counts = _parts(rows)
        return rows.shares(terms, total, denominator=counts)

    def aggregate_packed(self, annotations: xr.Dataset, keys: Keys) -> xr.Dataset:
        """Return the same in packed form, for thousands of labels."""
        rows = answered_rows(annotations, self.accepts)
        terms, total, counts = _parts(rows)
        return rows.packed_shares(terms, total, denominator=counts)


def _parts(rows: Rows) -> tuple[Floats, Floats, Ints | None]:
    """Return what mentions add, what examples have, and their denominators where there are any."""
    size = rows.mentions[rows.response]
    weight = rows.weight[rows.response]
    votes = rows.votes
    unit = math.lcm(*np.unique(size).tolist())
    if not (rows.counts and float(votes.max(initial=0)) * unit < 2.0**53):
        return weight / size, votes, None
    denominator = votes.astype(np.int64) * _multiple(rows)
    return weight * (unit // size), votes * unit, denominator


def _multiple(rows: Rows) -> Ints:
    """Return the least common multiple of the sizes of each example's sets: int64, (example,)."""
    size = rows.mentions
    multiple = np.ones(rows.n, np.int64)
    for each in np.unique(size[size > 1]):
        has = np.zeros(rows.n, bool)
        has[rows.example[size == each]] = True
        multiple[has] = np.lcm(multiple[has], each)
    return multiple
