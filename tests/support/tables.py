"""Arrays under the names of examples and labels, and a small world of predictions and votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dask.array as da
import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

LABELS = ("benign", "unsure", "malign", "other")


def labelled(
    values: ArrayLike,
    examples: str | Sequence[Any] | np.ndarray = "e",  # Any: names of any type
    labels: Sequence[Any] | np.ndarray = "abcdefgh",  # Any: as above
    *,
    name: str | None = None,
    attrs: Mapping[str, object] | None = None,
    **coords: object,
) -> xr.DataArray:
    """Return an array over examples and labels, behind augmentations where it has these."""
    array = values if isinstance(values, da.Array) else np.asarray(values)
    n, k = array.shape[-2:]
    named: dict[str, object] = {
        item: value if isinstance(value, tuple) else ("example", value)
        for item, value in coords.items()
    }
    named["example"] = (
        [f"{examples}{place}" for place in range(n)] if isinstance(examples, str) else examples
    )
    named["label"] = list(labels[:k])
    dims = ("augmentation", "example", "label")[-array.ndim :]
    return xr.DataArray(array, dims=dims, coords=named, name=name, attrs=attrs)


def shares(
    votes: np.ndarray,
    examples: str | Sequence[Any] | np.ndarray = "e",  # Any: as above
    labels: Sequence[Any] | np.ndarray = "abcdefgh",  # Any: as above
    *,
    counted: bool = True,
) -> xr.DataArray:
    """Return the plausibilities of counts of votes; `counted` says of how many each."""
    totals = votes.sum(axis=1)
    coords = {"denominator": totals} if counted else {}
    return labelled(votes / totals[:, None], examples, labels, **coords)


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
