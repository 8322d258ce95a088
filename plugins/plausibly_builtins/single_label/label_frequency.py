"""Label frequency: the share of annotators who said each label."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import Aggregator, Ints, Keys, Rows, answered_rows


@attrs.frozen(kw_only=True)
class LabelFrequency(Aggregator):
    """Plausibility of a label = votes for it / votes.

    ``lambda_ik = sum_b w_b 1[b = k] / sum_b w_b`` over the responses b of example i that name a
    label, w_b their `response_weight` (1 where the table has none). Where all weights are whole
    numbers, the votes of each example are its `denominator`, and every share is the exact one,
    rounded once.

    References
    ----------
    Stutz et al., *Conformal prediction under ambiguous ground truth*, TMLR 2023, section 2.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label)."""
        rows = answered_rows(annotations, self.accepts)
        return rows.shares(rows.of_mention(rows.weight), rows.votes, denominator=_votes(rows))

    def aggregate_packed(self, annotations: xr.Dataset, keys: Keys) -> xr.Dataset:
        """Return the same in packed form, for thousands of labels."""
        rows = answered_rows(annotations, self.accepts)
        terms = rows.of_mention(rows.weight)
        return rows.packed_shares(terms, rows.votes, denominator=_votes(rows))


def _votes(rows: Rows) -> Ints | None:
    """Return the votes of each example, where they are whole."""
    return rows.votes.astype(np.int64) if rows.counts else None
