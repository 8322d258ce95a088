"""Nets: small text files of what the product answers today, compared line by line."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import xarray as xr

import plausibly

NETS = Path(__file__).resolve().parents[1] / "nets"
LABELS = ("a", "b", "c")
ALPHAS = ("0.3", "0.12")


def compare(name: str, lines: Iterable[str]) -> None:
    """Assert that the lines are those of the net; a change that is meant is written by hand."""
    results = list(lines)
    path = NETS / name
    if os.environ.get("PLAUSIBLY_WRITE_NETS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in results), "utf-8")
    assert results == path.read_text("utf-8").splitlines()


def hexadecimal(values: object) -> str:
    return " ".join(float(item).hex() for item in np.asarray(values, float).ravel())


def twelve_digits(values: object) -> str:
    return " ".join(f"{item:.12g}" for item in np.asarray(values, float).ravel())


def votes(count: int = 24, prefix: str = "old") -> xr.Dataset:
    """Return annotations with 2 to 4 answers per example, some of them tied."""
    records = []
    for row in range(count):
        for vote in range(2 + row % 3):
            label = LABELS[(row * (vote + 1) + vote * vote) % 3]
            records.append((f"{prefix}_{row:02}", f"rater_{vote}", label))
    return plausibly.build_annotations("single-label", records, labels=list(LABELS))


def predictions(count: int = 24, prefix: str = "old", views: int = 0) -> xr.DataArray:
    """Return probabilities that are multiples of 1/32, with ties, and coordinates of examples."""
    rows = np.arange(count)
    planes = []
    for view in range(max(1, views)):
        first = 1 + (7 * rows + 3 * view) % 16
        second = 1 + (5 * rows + view) % 8
        planes.append(np.stack([first, second, 32 - first - second], axis=1) / 32)
    values = np.stack(planes) if views else planes[0]
    dims = ["augmentation", "example", "label"] if views else ["example", "label"]
    return xr.DataArray(
        values,
        dims=dims,
        coords={
            "example": [f"{prefix}_{row:02}" for row in rows],
            "label": list(LABELS),
            "site": ("example", np.where(rows % 3 == 0, "north", "south")),
            "patient": ("example", [f"{prefix}_p{row * 5 // 8:02}" for row in rows]),
            "weight": ("example", 0.5 + (rows * 3 % 7) / 3),
            "risk": ("label", [1.0, 0.5, 3.0]),
        },
    )
