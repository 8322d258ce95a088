"""A small made crowd with predictions, for the comparison of aggregators."""

from __future__ import annotations

import numpy as np
import xarray as xr

from plausibly.plugin import ANNOTATION, resolve

LABELS = ["benign", "unsure", "malignant"]


def crowd(examples: int = 120) -> tuple[xr.DataArray, xr.Dataset]:
    """Return predictions, and single labels by four annotators, of whom one says one thing."""
    rng = np.random.default_rng(5)
    true = rng.dirichlet(np.full(3, 0.7), size=examples)
    named = [f"e{place:03}" for place in range(examples)]
    votes = [
        (name, who, LABELS[1] if who == "dan" else LABELS[rng.choice(3, p=row)])
        for name, row in zip(named, true, strict=True)
        for who in ("ann", "bob", "cat", "dan")
    ]
    noisy = true * rng.uniform(0.4, 1.6, size=true.shape)
    predictions = xr.DataArray(
        noisy / noisy.sum(axis=1, keepdims=True),
        dims=("example", "label"),
        coords={
            "example": named,
            "label": LABELS,
            "patient": ("example", [f"p{place // 3}" for place in range(examples)]),
        },
    )
    return predictions, resolve(ANNOTATION, "single-label").build(votes, LABELS)
