"""What takes long to import."""

from __future__ import annotations

from typing import ClassVar, Literal

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import Floats, Keys, answered_rows


@attrs.frozen(kw_only=True)
class Votes:
    """Share of the votes."""

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label)."""
        rows = answered_rows(annotations, self.accepts)
        votes = rows.by_label(rows.weight[rows.response])
        return rows.plausibilities(votes / votes.sum(axis=1, keepdims=True))


@attrs.frozen(kw_only=True)
class Identity:
    """The probability as it comes."""

    randomised: ClassVar[bool] = False
    reads: ClassVar[Literal["probability"]] = "probability"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        """Return the probabilities."""
        found: Floats = np.asarray(probabilities)
        return found
