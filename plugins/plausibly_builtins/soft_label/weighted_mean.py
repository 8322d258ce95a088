"""Weighted mean: the average of what annotators' soft labels say."""

from __future__ import annotations

from typing import ClassVar

import attrs

from plausibly.plugin import Rows, ordered_sum
from plausibly_builtins.aggregation import Shares, Terms


@attrs.frozen(kw_only=True)
class WeightedMean(Shares):
    """Plausibility of a label = the mean over responses of its share in the response.

    ``lambda_ik = sum_b w_b s_bk / (sum_l s_bl) / sum_b w_b`` over the soft labels b of example i,
    s_bk the weight of label k in b and w_b the `response_weight`. Every response counts the same,
    whatever its weights sum to.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"soft-label"})

    def _terms(self, rows: Rows) -> Terms:
        total = ordered_sum(rows.response, rows.share, rows.example.size)
        shares = rows.share / total[rows.response]
        return rows.weight[rows.response] * shares, rows.votes, None
