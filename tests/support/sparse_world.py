"""Made-up annotations and plausibilities of many labels, of which an example has a few."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.plugin import AnnotationTable, build_table
from tables import labelled


def label_names(labels: int) -> list[str]:
    """Return names that do not sort as they count."""
    return [f"label {code}" for code in range(labels)]


def mentions(kind: str, examples: int, labels: int, *, weighted: bool = False) -> AnnotationTable:
    """Return a table with five responses per example, or one with five labels."""
    rng = np.random.default_rng(0)
    # Labels near one another, so that the mentions of an example meet, and leave many labels out.
    first = rng.integers(0, labels, examples)
    near = rng.permuted(np.tile(np.arange(5), (examples, 1)), axis=1)
    single = kind == "single-label"
    if single:
        near //= 3
    every = np.arange(5 * examples)
    responses = every if single else np.arange(examples)
    optional: dict[str, NDArray[np.generic]] = {}
    if kind == "partial-ranking":
        optional["mention_block"] = np.tile([1, 2, 2, 3, 4], examples)
    if kind == "soft-label":
        optional["mention_weight"] = rng.uniform(0.1, 1, every.size)
    if weighted:
        optional["response_weight"] = rng.choice([0.5, 1 / 3, 2.0, 0.1], responses.size)
    sites = np.array([f"site {row % 3}" for row in range(examples)])
    return build_table(
        kind,
        examples=[f"case {row}" for row in range(examples)],
        annotators=[f"r{number}" for number in range(5)],
        labels=label_names(labels),
        response_example=responses // 5 if single else responses,
        response_annotator=responses % 5 if single else 0 * responses,
        mention_response=every if single else every // 5,
        mention_label=((first[:, None] + near * 7) % labels).ravel(),
        coordinates={"site": xr.Variable("example", sites)},
        **optional,  # type: ignore[arg-type]  # columns by name
    )


def plausibilities(
    examples: int, labels: int, *, dtype: str = "float64", counts: bool = True, start: int = 0
) -> xr.DataArray:
    """Return dense plausibilities with ties and many zeros; as counts they have denominators."""
    rng = np.random.default_rng(0)
    votes = np.zeros((examples, labels))
    for row in range(examples):
        part = rng.choice(labels, int(rng.integers(1, 6)), replace=False)
        answers = rng.integers(1, 4, part.size)
        votes[row, part] = answers if counts else rng.uniform(0.1, 1, part.size)
    total = votes.sum(axis=1)
    result = labelled(
        (votes / total[:, None]).astype(dtype),
        [f"case {start + row}" for row in range(examples)],
        label_names(labels),
        risk=("label", np.arange(labels) % 3 + 1.0),
        truth=[f"label {row % labels}" for row in range(examples)],
        name="plausibilities",
        attrs={"left_out": '{"skipped": 2}'},
    )
    if counts:
        result = result.assign_coords(denominator=("example", total.astype(np.int64)))
    return result


def predictions(examples: int, labels: int, *, start: int = 0) -> xr.DataArray:
    """Return predictions, coarse so that scores tie, with the patients."""
    rng = np.random.default_rng(start)
    weights = rng.integers(1, 9, (examples, labels)) ** 3
    values = weights / weights.sum(axis=1, keepdims=True)
    rows = range(start, start + examples)
    return labelled(
        values.astype(np.float32),
        [f"case {row}" for row in rows],
        label_names(labels),
        patient=[f"p{row // 3}" for row in rows],
    )


def shuffled(sparse: xr.Dataset) -> xr.Dataset:
    """Return sparse plausibilities with the examples in another order."""
    return sparse.isel(example=np.random.default_rng(0).permutation(sparse.sizes["example"]))
