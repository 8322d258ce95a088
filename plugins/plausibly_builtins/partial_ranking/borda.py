"""Borda: points for places."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.plugin import Ints, Rows, names, whole
from plausibly_builtins.aggregation import Shares, Terms


@attrs.frozen(kw_only=True)
class Borda(Shares):
    """Plausibility of a label = its points, summed over the rankings and normalised.

    ``alpha_iy = sum_b w_b (m_b + 1 - place_b(y))`` over the partial rankings b of example i that
    name y, w_b their `response_weight`; ``lambda_iy = alpha_iy / sum_k alpha_ik``. The first place
    is 1. Labels that are tied share their places: a block after c labels has places c + 1 to
    c + |B|, and each of it the mean of them.

    m_b is how many labels there are places for. Where `unlisted` of the table is ``excluded``, it
    is the number of labels that any response of the example names: a ranking that is short still
    puts its labels above all others. Where it is ``unknown``, it is the number of labels that b
    itself names, since nothing is known of others (the modified Borda count). In both cases a
    ranking gives nothing to labels that it does not name, and labels that nobody names get nothing.

    Points fall in equal steps, so plausibilities are flatter than inverse ranks: one ranking
    a > b > c gives 1/2, 1/3, 1/6, and 6/11, 3/11, 2/11 by inverse rank. Single labels give label
    frequency.

    References
    ----------
    Emerson, The original Borda count and partial voting, Social Choice and Welfare 40 (2013),
    353-358. Ties: Black, Partial justification of the Borda count, Public Choice 28 (1976), 1-15.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"partial-ranking", "single-label"})

    def _terms(self, rows: Rows) -> Terms:
        # In halves of a point: a mean of places may be one.
        if rows.table.attrs[names.UNLISTED] == "excluded":
            places: Ints = _named(rows)[rows.example[rows.response]]
        else:
            places = rows.mentions[rows.response]
        halves = rows.weight[rows.response] * (2 * (places + 1) - _twice_place(rows))
        total = rows.by_example(halves)
        return halves, total, total.astype(np.int64) if whole(halves) else None


def _named(rows: Rows) -> NDArray[np.int64]:
    """Return how many labels responses that count name: (example,)."""
    counts = rows.weight[rows.response] > 0
    example = rows.example[rows.response[counts]].astype(np.int64)
    once = np.unique(example * rows.labels + rows.label[counts])
    return np.bincount(once // max(rows.labels, 1), minlength=rows.n)


def _twice_place(rows: Rows) -> NDArray[np.int64]:
    """Return twice the mean place of the block of each mention: (mention,)."""
    at = np.arange(rows.response.size)
    begins = np.ones(at.size, bool)
    begins[1:] = rows.response[1:] != rows.response[:-1]
    new_block = begins.copy()
    new_block[1:] |= rows.block[1:] != rows.block[:-1]
    block = np.cumsum(new_block) - 1
    before = at[new_block][block] - at[begins][np.cumsum(begins) - 1]
    size = np.bincount(block)[block]
    found: NDArray[np.int64] = 2 * before + 1 + size
    return found
