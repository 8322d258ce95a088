"""Weighted mean: the average of what annotators' soft labels say."""

from __future__ import annotations

from typing import ClassVar

import attrs
import xarray as xr

from plausibly.plugin import Aggregator, Floats, Keys, Rows, answered_rows, ordered_sum


@attrs.frozen(kw_only=True)
class WeightedMean(Aggregator):
    """Plausibility of a label = the mean over responses of its share in the response.

    ``lambda_ik = sum_b w_b s_bk / (sum_l s_bl) / sum_b w_b`` over the soft labels b of example i,
    s_bk the weight of label k in b and w_b the `response_weight`. Every response counts the same,
    whatever its weights sum to.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"soft-label"})

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label)."""
        rows = answered_rows(annotations, self.accepts)
        return rows.shares(_terms(rows), rows.votes)

    def aggregate_packed(self, annotations: xr.Dataset, keys: Keys) -> xr.Dataset:
        """Return the same in packed form, for thousands of labels."""
        rows = answered_rows(annotations, self.accepts)
        return rows.packed_shares(_terms(rows), rows.votes)


def _terms(rows: Rows) -> Floats:
    """Return the share of each mention in its response, times the weight of that: (mention,)."""
    total = ordered_sum(rows.response, rows.share, rows.example.size)
    return rows.weight[rows.response] * (rows.share / total[rows.response])
