"""Plackett-Luce: each label has a weight; ranks are drawn without replacement by weight."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import Floats, Keys, Rows, answered_rows


@attrs.frozen(kw_only=True)
class PlackettLuce:
    """Fit the weights of the labels of each example to its rankings.

    ``P(ranking) = prod_r w(label r) / sum of w over what is not yet ranked``, maximised by Hunter's
    MM steps. Labels that share a rank each count as chosen there.

    Attributes
    ----------
    rounds : int
        Steps.
    prior : float
        How often every label is thought to have been put first before anybody ranks.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"partial-ranking", "single-label"})

    rounds: int = attrs.field(default=50, validator=attrs.validators.ge(1))
    prior: float = attrs.field(default=0.5, validator=attrs.validators.gt(0.0))

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label)."""
        rows = answered_rows(annotations, self.accepts)
        fitted = np.zeros((rows.n, rows.labels))
        for example in range(rows.n):
            fitted[example] = self._fitted(rows, example)
        return rows.plausibilities(fitted)

    def _fitted(self, rows: Rows, example: int) -> Floats:
        stages = list(_stages(rows, example))
        won = np.full(rows.labels, self.prior)
        for chosen, _, times in stages:
            won[chosen] += times
        weight = np.full(rows.labels, 1.0 / rows.labels)
        for _ in range(self.rounds):
            lost = np.full(rows.labels, self.prior * rows.labels)
            for chosen, left, times in stages:
                lost += left * (times * chosen.sum() / weight[left].sum())
            weight = won / lost
            weight /= weight.sum()
        fitted: Floats = weight
        return fitted


def _stages(rows: Rows, example: int) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """Return which labels were chosen, among which, how often, for each rank of each ranking."""
    found = []
    for response in np.flatnonzero(rows.example == example):
        left = np.ones(rows.labels, bool)
        mine = rows.response == response
        for block in np.unique(rows.block[mine]):
            chosen = np.zeros(rows.labels, bool)
            chosen[rows.label[mine & (rows.block == block)]] = True
            found.append((chosen, left.copy(), float(rows.weight[response])))
            left &= ~chosen
    return found
