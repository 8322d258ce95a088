"""Reports on parts of the real data: votes on clips and pictures, rankings of skin conditions."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray

import plausibly
from exact_realdata import NOISE_110, VGG19


def crema_d(shared: Path, folder: Path, *, examples: int = 300) -> Path:
    """Emotions of acted clips, by the emotion that was asked for."""
    data = np.load(shared / "data" / "crema_d" / "data.npz", allow_pickle=False)
    rows = np.random.default_rng(1).permutation(len(data["counts"]))[:examples]
    labels = [str(label) for label in data["class_names"]]
    names = [str(name) for name in data["file_name"][rows]]
    asked = ("example", [labels[k] for k in data["intended"][rows]])
    return written(
        folder,
        names,
        labels,
        data["counts"][rows],
        data["probs"][rows],
        known=xr.Dataset(coords={"example": names, "asked for": asked}),
        words={"example": "clip", "annotator": "rater"},
    )


def imagenet16h(shared: Path, folder: Path, *, examples: int = 300) -> Path:
    """Pictures with much noise, in sixteen categories."""
    data = np.load(shared / "data" / "imagenet16h" / "data.npz", allow_pickle=False)
    model = list(data["model_names"]).index(VGG19)
    labels = [str(label) for label in data["class_names"]]
    rows = np.random.default_rng(1).permutation(data["counts"].shape[1])[:examples]
    counts = data["counts"][NOISE_110][rows]
    names = [f"picture {row}" for row in rows]
    known = xr.Dataset(coords={"example": names})
    return written(
        folder,
        names,
        labels,
        counts,
        data["probs"][NOISE_110, model][rows],
        known=known,
        words={"example": "picture", "annotator": "viewer"},
    )


def written(
    folder: Path,
    names: list[str],
    labels: list[str],
    counts: NDArray[np.integer],
    probabilities: NDArray[np.floating],
    *,
    known: xr.Dataset,
    words: dict[str, str],
) -> Path:
    """Calibrate on one half, and report on the other."""
    with (folder / "votes.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["task", "worker", "label"])
        for name, row in zip(names, counts, strict=True):
            said = np.repeat(labels, row)
            writer.writerows([name, f"r{i:02d}", label] for i, label in enumerate(said))
    votes = plausibly.read_annotations(folder / "votes.csv", labels=labels)
    predictions = xr.DataArray(
        probabilities, dims=("example", "label"), coords={"example": names, "label": labels}
    )
    half = len(names) // 2
    predictor = plausibly.calibrate(
        predictions[:half], plausibly.select_annotations(votes, example=names[:half])
    )
    report = plausibly.write_report(
        predictor,
        folder / "report.html",
        predictions=predictions[half:],
        annotations=plausibly.select_annotations(votes, example=names[half:]),
        examples=known.isel(example=slice(half, None)),
        alphas=("0.1", "0.05"),
        words=words,
    )
    return report.path


def dermatology(shared: Path, folder: Path, *, examples: int = 200) -> Path:
    """Rankings of 419 conditions; the model is a blurred half of what dermatologists say."""
    source = shared / "data" / "derm_ddx"
    conditions = source / "dermatology_conditions.txt"
    every = plausibly.read_annotations(source / "dermatology_selectors.json", labels=conditions)
    names = [str(name) for name in every["example"].values[:examples]]
    rankings = plausibly.select_annotations(every, example=names)
    said = plausibly.aggregate(rankings)
    blurred = said.values + np.random.default_rng(1).random(said.shape) ** 30 * 0.5
    predictions = said.copy(data=blurred / blurred.sum(axis=1, keepdims=True)).drop_vars(
        "denominator", errors="ignore"
    )
    levels = (source / "dermatology_risks.txt").read_text("utf-8").split()
    risk = xr.Dataset(
        coords={
            "label": said["label"].values,
            "risk": ("label", [int(level) for level in levels]),
        }
    )
    half = examples // 2
    predictor = plausibly.calibrate(
        predictions[:half], plausibly.select_annotations(rankings, example=names[:half])
    )
    report = plausibly.write_report(
        predictor,
        folder / "report.html",
        predictions=predictions[half:],
        annotations=plausibly.select_annotations(rankings, example=names[half:]),
        labels=risk,
        words={"example": "case", "annotator": "dermatologist"},
    )
    return report.path
