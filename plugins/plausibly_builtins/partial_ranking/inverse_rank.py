"""Inverse rank normalisation: a label's plausibility falls with its rank."""

from __future__ import annotations

import math
from typing import ClassVar

import attrs
import numpy as np

from plausibly.plugin import Floats, Ints, Rows, whole
from plausibly_builtins.aggregation import Shares, Terms


@attrs.frozen(kw_only=True)
class InverseRank(Shares):
    """Plausibility of a label = the sum of its inverse ranks, normalised.

    ``alpha_iy = sum_b w_b sum_r 1[y in block r of ranking b] / (r |block r|)`` over the partial
    rankings b of example i, w_b their `response_weight`; ``lambda_iy = alpha_iy / sum_k alpha_ik``.
    Blocks count from 1; labels that are not ranked get nothing.

    A block shares its weight: a label tied in the first block can weigh less than one that stands
    alone in the second. ``{a, b, c} > d`` gives a, b and c 2/9 each, and d 1/3. A skipped rank is
    refused when the table is built, since the numbers of the blocks are the weights.

    A single label counts as a ranking of one. Values are the exact ones, rounded once, unless the
    least common multiple of all ``r |block r|`` times the total weight passes 2^53 (rankings of
    thirty labels and more).

    References
    ----------
    Stutz et al., *Conformal prediction under ambiguous ground truth*, TMLR 2023, inverse rank
    normalisation. The code published with the paper leaves out ``|block|``; the paper has it.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"partial-ranking", "single-label"})

    def _terms(self, rows: Rows) -> Terms:
        terms = _inverse_ranks(rows)
        return terms, rows.by_example(terms), None


def _inverse_ranks(rows: Rows) -> Floats:
    """Return what each mention adds to its label, (mention,), in whole units where they fit."""
    divisor = rows.block.astype(np.int64) * _block_sizes(rows)
    weight = rows.weight[rows.response]
    unit = math.lcm(*np.unique(divisor).tolist())
    if unit < 2**53:
        units = weight * (unit // divisor)
        if whole(units):
            return units
    return weight / divisor


def _block_sizes(rows: Rows) -> Ints:
    """Return the number of labels in the block of each mention: ndarray of int, (mention,)."""
    starts = np.ones(rows.response.size, bool)
    starts[1:] = (rows.response[1:] != rows.response[:-1]) | (rows.block[1:] != rows.block[:-1])
    block = np.cumsum(starts) - 1
    size: Ints = np.bincount(block)[block]
    return size
