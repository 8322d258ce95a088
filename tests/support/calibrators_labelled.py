"""Labelled predictions and plausibilities for the public calls, with heavy ties."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from tables import labelled, shares

LABELS = ("low", "middle", "high")
SITES = ("north", "south")
RISKS = (0.0, 1.0, 2.5)

Table = dict[str, object]


def predictions(
    count: int,
    *,
    prefix: str = "case",
    seed: int = 0,
    augmentations: int = 0,
    dtype: str = "float64",
    values: int = 6,
    weight: float | NDArray[np.float64] | None = None,
) -> xr.DataArray:
    """Return predictions with sites, patients, weights, and risks of the labels."""
    random = np.random.default_rng([seed, count])
    shape = (*((augmentations,) if augmentations else ()), count, len(LABELS))
    several = 1.0 + random.integers(8, size=count)
    return labelled(
        # Tenths are not doubles, and their float32 differ from their float64.
        (random.integers(1, values, size=shape) / 10).astype(dtype),
        f"{prefix} ",
        LABELS,
        site=random.choice(SITES, size=count),
        patient=random.integers(count // 2 + 1, size=count).astype(str),
        alone=[f"patient of {i}" for i in range(count)],
        same=["all"] * count,
        weight=several if weight is None else np.full(count, weight),
        risk=("label", list(RISKS)),
        ones=("label", [1.0] * len(LABELS)),
        attrs={"scale": "any"},
    )


def plausibilities(
    count: int, *, prefix: str = "case", seed: int = 0, one_hot: bool = False, counted: bool = True
) -> xr.DataArray:
    """Return shares of one to six votes; `counted` says of how many."""
    random = np.random.default_rng([seed, count, 1])
    totals = random.integers(1, 7, size=count)
    if one_hot:
        totals = np.ones_like(totals)
    odds = random.dirichlet(np.ones(len(LABELS)), size=count)
    votes = np.array([random.multinomial(n, row) for n, row in zip(totals, odds, strict=True)])
    return shares(votes, f"{prefix} ", LABELS, counted=counted)


def inside(name: str, by: str, inner: Table | str = "expected", **more: object) -> Table:
    return {"name": name, "by": by, "inner": inner, **more}


def shuffled(array: xr.DataArray, dims: Sequence[str] = ("example", "label")) -> xr.DataArray:
    random = np.random.default_rng(3)
    return array.isel({dim: random.permutation(array.sizes[dim]) for dim in dims})


CALIBRATORS: dict[str, Table] = {
    "group": inside("mondrian", "site"),
    "group of draws": inside("mondrian", "site", {"name": "monte-carlo", "draws": 3}),
    "label": inside("mondrian", "label"),
    "label of draws": inside("mondrian", "label", {"name": "monte-carlo", "draws": 3}),
    "weights": inside("weighted", "weight"),
    "weights of draws": inside("weighted", "weight", {"name": "monte-carlo", "draws": 3}),
    "group of weights": inside("mondrian", "site", inside("weighted", "weight")),
    "patients": inside("clustered", "patient"),
    "patients of draws": inside("clustered", "patient", {"name": "monte-carlo", "draws": 3}),
    "group of patients": inside("mondrian", "site", inside("clustered", "patient")),
    "risk": {"name": "risk", "by": "risk"},
    "group of risk": inside("mondrian", "site", {"name": "risk", "by": "risk"}),
    "weights of risk": inside("weighted", "weight", {"name": "risk", "by": "risk"}),
    "patients of risk": inside("clustered", "patient", {"name": "risk", "by": "risk"}),
    "mass": {"name": "mass-coverage", "leave_out": 0.2},
    "systematic": {"name": "monte-carlo", "draws": 4, "systematic": True},
}
"""Calibrators that read one row per example."""

AUGMENTED: dict[str, Table] = {
    "mean": {"name": "augmentation", "scores": "mean"},
    "separate": {"name": "augmentation", "scores": "separate"},
    "group of separate": inside("mondrian", "site", {"name": "augmentation", "scores": "separate"}),
    "weights of separate": inside(
        "weighted", "weight", {"name": "augmentation", "scores": "separate"}
    ),
}
"""Calibrators that read every augmentation of an example; `pooled` reads one of a new example."""

POOLED: Table = {"name": "augmentation", "scores": "pooled"}
