"""Equal split: each annotator has one vote, shared by the labels of the set."""

from __future__ import annotations

import math
from typing import ClassVar

import attrs
import numpy as np

from plausibly.plugin import Ints, Rows
from plausibly_builtins.aggregation import Shares, Terms


@attrs.frozen(kw_only=True)
class EqualSplit(Shares):
    """Plausibility of a label = the mean over responses of 1/L, if it is one of the L named.

    ``lambda_ik = sum_b w_b 1[k in b] / |b| / sum_b w_b`` over the label sets b of example i that
    name a label, w_b their `response_weight`: the distribution of a label drawn at random from the
    set of a random annotator. A single label is a set of one. Where all weights are
    whole numbers the `denominator` of an example is its votes times the least common multiple of
    the sizes of its sets, and every share is the exact one, rounded once.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"label-set", "single-label"})

    def _terms(self, rows: Rows) -> Terms:
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
