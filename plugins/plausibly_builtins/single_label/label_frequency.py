"""Label frequency: the share of annotators who said each label."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from plausibly.plugin import Rows
from plausibly_builtins.aggregation import Shares, Terms


@attrs.frozen(kw_only=True)
class LabelFrequency(Shares):
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

    def _terms(self, rows: Rows) -> Terms:
        votes = rows.votes
        return rows.of_mention(rows.weight), votes, votes.astype(np.int64) if rows.counts else None
