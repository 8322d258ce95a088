"""Scores in chunks, of which only counts come together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from plausibly.arrays import Floats
from plausibly.errors import InputError
from plausibly.extras import require
from plausibly.kernels.radix import Counted, Histogram

if TYPE_CHECKING:
    import dask.array


def counted_in_chunks(scores: dask.array.Array) -> Counted:
    """Return a pass over all chunks, whose counts are added up in pairs where they are.

    Parameters
    ----------
    scores : Dask array, of any shape
        float32 or float64.
    """
    dask = require("dask", extra="dask", whose="an array in chunks")
    untyped: Any = scores  # Any: Dask says nothing of what this method returns
    chunks = untyped.to_delayed().ravel().tolist()

    def counted(empty: Histogram) -> Iterable[Histogram]:
        parts = [dask.delayed(_added)(empty, chunk) for chunk in chunks]
        while len(parts) > 1:
            pairs = [parts[place : place + 2] for place in range(0, len(parts), 2)]
            parts = [dask.delayed(Histogram.merge)(*two) if two[1:] else two[0] for two in pairs]
        return [parts[0].compute()]

    return counted


def _added(empty: Histogram, values: Floats) -> Histogram:
    if values.size and np.isnan(values.min()):
        raise InputError(
            "scores-malformed",
            "scores cannot be compared",
            expected="float32 or float64 without NaN, (example,) or (draw, example)",
            got="NaN",
            do="scores.astype(float), and leave out what has no score",
            whose="scores",
        )
    return empty.add(values)
