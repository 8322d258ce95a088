"""Small predictions and plausibilities, in memory, to be put into chunks in any way."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from tables import labelled

LABELS = ("cat", "dog", "emu", "fox")


def predictions(n: int = 12, *, seed: int = 0, prefix: str = "e") -> xr.DataArray:
    """Return float32 predictions with a coordinate ``site``."""
    rng = np.random.default_rng(seed)
    return labelled(
        rng.dirichlet(np.ones(len(LABELS)), n).astype(np.float32),
        [f"{prefix}{place}" for place in range(n)],
        list(LABELS),
        site=[f"s{place % 2}" for place in range(n)],
        name="predictions",
    )


def plausibilities(of: xr.DataArray, *, seed: int = 1) -> xr.DataArray:
    """Return shares of five votes for the examples and labels of other predictions."""
    rng = np.random.default_rng(seed)
    n = of.sizes["example"]
    votes = rng.multinomial(5, rng.dirichlet(np.ones(len(LABELS)), n))
    return labelled(
        votes / 5,
        of["example"].values,
        list(LABELS),
        denominator=np.full(n, 5),
        name="plausibilities",
    )


def cuts(n: int) -> Iterator[tuple[int, ...]]:
    for size in range(1, n + 1):
        yield tuple(min(size, n - start) for start in range(0, n, size))
    for place in range(1, n):
        yield place, n - place
