"""Made-up annotations and plausibilities of many labels, of which an example has a few."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.plugin import AnnotationTable, build_table
from tables import labelled


def label_names(labels: int) -> list[str]:
    """Return names that do not sort as they count."""
    return [f"label {code}" for code in range(labels)]


def mentions(
    kind: str,
    examples: int,
    labels: int,
    *,
    each: int = 5,
    seed: int = 0,
    weighted: bool = False,
    parents: Sequence[str] | None = None,
) -> AnnotationTable:
    """Return a table with five responses per example, or one with five labels."""
    rng = np.random.default_rng(seed)
    # Labels near one another, so that the mentions of an example meet, and leave many labels out.
    first = rng.integers(0, labels, examples)
    near = rng.permuted(np.tile(np.arange(each), (examples, 1)), axis=1)
    if kind == "single-label":
        near //= 3
    label = (first[:, None] + near * 7) % labels
    single = kind == "single-label"
    responses = examples * each if single else examples
    of_example = np.repeat(np.arange(examples), responses // max(examples, 1))
    of_response = np.arange(responses) if single else np.repeat(np.arange(responses), each)
    sites = np.array([f"site {row % 3}" for row in range(examples)])
    coordinates = {"site": xr.Variable("example", sites)}
    if parents is not None:
        coordinates["parent"] = xr.Variable("label", np.array(parents))
    optional: dict[str, NDArray[np.generic]] = {}
    if kind == "partial-ranking":
        optional["mention_block"] = np.tile(np.array([1, 2, 2, 3, 4])[:each], examples)
    if kind == "soft-label":
        optional["mention_weight"] = rng.uniform(0.1, 1, examples * each)
    if weighted:
        optional["response_weight"] = rng.choice([0.5, 1 / 3, 2.0, 0.1], responses)
    return build_table(
        kind,
        examples=[f"case {row}" for row in range(examples)],
        annotators=[f"r{number}" for number in range(each)],
        labels=label_names(labels),
        response_example=of_example,
        response_annotator=np.arange(responses) % (each if single else 1),
        mention_response=of_response,
        mention_label=label.ravel(),
        coordinates=coordinates,
        **optional,  # type: ignore[arg-type]  # columns by name
    )


def plausibilities(
    examples: int,
    labels: int,
    *,
    seed: int = 0,
    dtype: str = "float64",
    counts: bool = True,
    start: int = 0,
) -> xr.DataArray:
    """Return dense plausibilities with ties and many zeros; as counts they have denominators."""
    rng = np.random.default_rng(seed)
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


def predictions(
    examples: int, labels: int, *, seed: int = 1, dtype: str = "float32", start: int = 0
) -> xr.DataArray:
    """Return predictions, coarse so that scores tie, with a group, a weight and a patient."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 9, (examples, labels)) ** 3
    values = weights / weights.sum(axis=1, keepdims=True)
    rows = range(start, start + examples)
    return labelled(
        values.astype(dtype),
        [f"case {row}" for row in rows],
        label_names(labels),
        group=[f"g{row % 2}" for row in rows],
        patient=[f"p{row // 3}" for row in rows],
        odds=[1.0 + row % 3 for row in rows],
    )


def shuffled(sparse: xr.Dataset, seed: int = 0) -> xr.Dataset:
    """Return sparse plausibilities with the examples in another order."""
    order = np.random.default_rng(seed).permutation(sparse.sizes["example"])
    return sparse.isel(example=order)
