"""The six real data sets that have single votes and a model: predictions and plausibilities."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr

from tables import labelled, shares

NOISE_110 = 2
VGG19 = "vgg19"

NAMES = ("crema_d", "imagenet16h", "sleep_dodh", "chaosnli_snli", "lidc_malignancy", "cifar10h")


def load(shared: Path, name: str) -> tuple[xr.DataArray, xr.DataArray]:
    """Return predictions and plausibilities (example, label) of a data set."""
    arrays = np.load(shared / "data" / name / "data.npz", allow_pickle=False)
    counts, probabilities = arrays["counts"], arrays["probs"]
    if name == "imagenet16h":
        model = list(arrays["model_names"]).index(VGG19)
        counts, probabilities = counts[NOISE_110], probabilities[NOISE_110, model]
    labels = [str(label) for label in arrays["class_names"]]
    predictions = labelled(probabilities, f"{name} ", labels)
    return predictions, shares(counts.astype(np.int64), f"{name} ", labels)
