"""A small made-up world of predictions and plausibilities for the tests of calibration."""

from __future__ import annotations

import numpy as np
import xarray as xr

from tables import labelled, shares

LABELS = ("benign", "unsure", "malign", "other")


def world(
    examples: int, *, seed: int = 0, votes: int = 5, start: int = 0, dtype: str = "float32"
) -> tuple[xr.DataArray, xr.DataArray]:
    """Return predictions and the plausibilities of votes drawn from them."""
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.ones(len(LABELS)), examples)
    counts = np.stack([rng.multinomial(votes, row) for row in probabilities])
    names = [f"case {start + number}" for number in range(examples)]
    patient = [f"p{number // 3}" for number in range(examples)]
    predictions = labelled(probabilities.astype(dtype), names, LABELS, patient=patient)
    return predictions, shares(counts, names, LABELS)
