"""Real annotations with a model, as labelled arrays with what is known of the examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

import plausibly
from plausibly.kernels.random import hash_names
from plausibly.plugin import build_table

MULTI_LABEL = ("multilabel_emotions", "multilabel_scene", "multilabel_yeast")

# Of the four noise levels and five models of imagenet16h.
_NOISE_110 = 2
_VGG19 = "vgg19"

_GROUPS = {"crema_d": "actor", "lidc_malignancy": "patient", "sleep_dodh": "record"}


@attrs.frozen(eq=False)
class Real:
    """One data set.

    Attributes
    ----------
    name : str
    predictions : DataArray, (example, label)
        With the coordinates ``half`` of the examples, whether the entropy of the prediction is
        above its median, ``group``, such as the patient, where there is one, and ``risk`` of the
        labels: ``(1 + position mod 3) / 3``.
    plausibilities : DataArray, (example, label)
    """

    name: str
    predictions: xr.DataArray
    plausibilities: xr.DataArray

    @property
    def names(self) -> list[str]:
        """Names of the examples."""
        return [str(name) for name in self.predictions["example"].values]

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """Hashes of the names, by which splits are made."""
        return hash_names(self.names)

    def values(self, coordinate: str) -> NDArray[np.str_]:
        """Return a coordinate of the examples as text."""
        return np.asarray(self.predictions[coordinate].values).astype(np.str_)


def load(folder: Path, name: str) -> Real:
    """Return a data set of the folder, in which each has a folder with a file ``data.npz``."""
    arrays = np.load(folder / name / "data.npz", allow_pickle=False)
    if name in MULTI_LABEL:
        return _multi_label(name, arrays)
    counts, probabilities = arrays["counts"], arrays["probs"]
    if name == "imagenet16h":
        model = list(arrays["model_names"]).index(_VGG19)
        counts, probabilities = counts[_NOISE_110], probabilities[_NOISE_110, model]
    totals = counts.sum(axis=1, dtype=np.int64)
    predictions = _predictions(name, probabilities, arrays["class_names"], scale="probability")
    if name in _GROUPS:
        group = arrays[_GROUPS[name]].astype(np.str_)
        predictions = predictions.assign_coords(group=("example", group))
    lam = xr.DataArray(
        counts / totals[:, None],
        dims=("example", "label"),
        coords={
            "example": predictions["example"].values,
            "label": predictions["label"].values,
            "denominator": ("example", totals),
        },
    )
    return Real(name, predictions, lam)


def _predictions(
    name: str,
    values: NDArray[np.floating[Any]],  # Any: float32 or float64
    labels: NDArray[np.str_],
    *,
    scale: str,
) -> xr.DataArray:
    shares = np.where(values > 0, values, 1.0)
    entropy = -(values * np.log(shares)).sum(axis=1)
    count = values.shape[1]
    return xr.DataArray(
        values,
        dims=("example", "label"),
        coords={
            "example": [f"{name} {place}" for place in range(len(values))],
            "label": [str(label) for label in labels],
            "half": ("example", np.where(entropy > np.median(entropy), "less sure", "surer")),
            "risk": ("label", (1 + np.arange(count) % 3) / 3),
        },
        attrs={"scale": scale},
    )


def _multi_label(name: str, arrays: Any) -> Real:  # Any: numpy's archives have no type
    """Return a set whose examples have several labels at once, through label-set annotations."""
    has: NDArray[np.uint8] = arrays["labels"]
    predictions = _predictions(
        name, arrays["probs_ovr"], arrays["class_names"], scale="independent"
    )
    row, label = np.nonzero(has)
    everyone = np.arange(len(has))
    table = build_table(
        "label-set",
        examples=predictions["example"].values,
        annotators=["the data set"],
        labels=predictions["label"].values,
        response_example=everyone,
        response_annotator=np.zeros(len(has), dtype=np.int64),
        mention_response=row,
        mention_label=label,
    )
    return Real(name, predictions, plausibly.aggregate(table))
