"""Offers the aggregator dowdall, as another distribution does."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import AGGREGATOR, Aggregator, Keys, Registrar, answered_rows, hookimpl


@attrs.frozen(kw_only=True)
class Dowdall(Aggregator):
    """Points that fall with the rank, to the power of `power`."""

    accepts: ClassVar[frozenset[str]] = frozenset({"partial-ranking"})

    power: float = 1.0

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label)."""
        rows = answered_rows(annotations, self.accepts)
        points = rows.by_label((rows.labels - rows.block.astype(np.float64) + 1.0) ** self.power)
        return rows.plausibilities(points / points.sum(axis=1, keepdims=True))


@hookimpl
def register(registrar: Registrar) -> None:
    """Register the aggregator."""
    registrar.add(AGGREGATOR, "dowdall", Dowdall)
