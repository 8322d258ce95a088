"""Bradley-Terry: the chance of being preferred is the share of a label in the weight of two."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import Floats, Keys, answered_rows


@attrs.frozen(kw_only=True)
class BradleyTerry:
    """Fit the weights of the labels of each example to its comparisons, by MM steps.

    Attributes
    ----------
    rounds : int
        Steps.
    prior : float
        How often every label is thought to have won and lost against every other.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"pairwise"})

    rounds: int = attrs.field(default=100, validator=attrs.validators.ge(1))
    prior: float = attrs.field(default=0.1, validator=attrs.validators.gt(0.0))

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label)."""
        rows = answered_rows(annotations, self.accepts)
        won = np.full((rows.n, rows.labels, rows.labels), self.prior)
        won[:, range(rows.labels), range(rows.labels)] = 0.0
        better = rows.block % 2 == 1
        np.add.at(
            won,
            (rows.example[rows.response[better]], rows.label[better], rows.label[~better]),
            rows.weight[rows.response[better]],
        )
        return rows.plausibilities(self._fitted(won))

    def _fitted(self, won: Floats) -> Floats:
        met = won + won.swapaxes(1, 2)
        weight = np.full(won.shape[:2], 1.0 / won.shape[1])
        for _ in range(self.rounds):
            both = weight[:, :, None] + weight[:, None, :]
            weight = won.sum(axis=2) / (met / both).sum(axis=2)
            weight /= weight.sum(axis=1, keepdims=True)
        fitted: Floats = weight
        return fitted
