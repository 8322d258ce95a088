"""Hypothesis strategies: annotation tables and predictions; they need the extra ``testing``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.data.names import EXAMPLE, LABEL
from plausibly.data.records import Record
from plausibly.errors import InputError
from plausibly.extras import require
from plausibly.kernels.types import Floats
from plausibly.protocols import ANNOTATION, Annotation, ComponentLike
from plausibly.testing import data

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

Answers = Callable[[Sequence[str]], "SearchStrategy[object]"]
"""From the declared labels to a strategy of answers."""


def _st() -> Any:  # Any: the module hypothesis.strategies, which may not be installed
    return require("hypothesis.strategies", extra="testing", source="plausibly.testing.strategies")


def _answers(kind: str, labels: Sequence[str]) -> SearchStrategy[object]:
    """Return a strategy of answers of a kind that comes with plausibly, which name these labels."""
    st = _st()
    label = st.sampled_from(list(labels))
    label_set = st.lists(label, min_size=1, max_size=min(4, len(labels)), unique=True)
    strategies: dict[str, SearchStrategy[object]] = {
        "single-label": label,
        "label-set": label_set,
        "soft-label": st.dictionaries(label, st.floats(1e-3, 1e3), min_size=1, max_size=4),
        "partial-ranking": st.builds(_ranking, label_set, st.integers(0, 15)),
    }
    if kind not in strategies:
        raise InputError(
            "kit-data-missing",
            f"there is no strategy of answers of kind {kind}",
            expected=" | ".join(strategies),
            hint="annotation_tables(kind, answers=lambda labels: a strategy of answers)",
            source="plausibly.testing.strategies",
        )
    return strategies[kind]


def _ranking(labels: list[str], joins: int) -> list[list[str]]:
    """Return the labels in blocks: each joins the block before it, or starts one, bit by bit."""
    blocks: list[list[str]] = []
    for place, label in enumerate(labels):
        if not (blocks and joins >> place & 1):
            blocks.append([])
        blocks[-1].append(label)
    return blocks


def annotation_tables(
    kind: ComponentLike[Annotation] = "single-label",
    *,
    answers: Answers | None = None,
    max_examples: int = 5,
    max_annotators: int = 4,
    max_labels: int = 4,
    unknown: bool = True,
) -> SearchStrategy[xr.Dataset]:
    """Return a strategy of annotation tables in which every example is answered.

    `answers`, from the labels to a strategy of answers, is needed for kinds that do not come with
    plausibly. With `unknown` there may be responses of unknown annotators.
    """
    st = _st()
    annotation = registry.resolve(ANNOTATION, kind)

    def table(draw: DrawFn) -> xr.Dataset:
        labels = data.some_labels(draw(st.integers(1, max_labels)))
        examples = data.numbered("case", draw(st.integers(1, max_examples)))
        annotators = data.numbered("r", draw(st.integers(1, max_annotators)))
        strategy = _answers(annotation.name, labels) if answers is None else answers(labels)
        records: list[Record] = []
        for example in examples:
            by = draw(st.lists(st.sampled_from(annotators), min_size=1, unique=True))
            records += [(example, annotator, draw(strategy)) for annotator in by]
            if unknown:
                more = draw(st.lists(strategy, max_size=2))
                records += [(example, None, answer) for answer in more]
        return annotation.build(draw(st.permutations(records)), labels)

    tables: SearchStrategy[xr.Dataset] = st.composite(table)()
    return tables


def predictions(
    *,
    max_examples: int = 6,
    max_labels: int = 5,
    scale: Literal["probability", "logit"] = "probability",
    dtype: Literal["float32", "float64"] | None = None,
) -> SearchStrategy[xr.DataArray]:
    """Return a strategy of predictions (example, label), with ties and zeros among them.

    `dtype` None draws one of the two.
    """
    st = _st()
    number = st.integers(-8, 8) | st.floats(-8, 8)

    def table(draw: DrawFn) -> xr.DataArray:
        wanted = dtype or draw(st.sampled_from(["float32", "float64"]))
        shape = draw(st.integers(1, max_examples)), draw(st.integers(1, max_labels))
        count = shape[0] * shape[1]
        logits = np.array(draw(st.lists(number, min_size=count, max_size=count))).reshape(shape)
        values: Floats = logits.astype(np.float64)
        if scale == "probability":
            # The least logit stands for no probability at all.
            weights = np.where(logits <= -8, 0.0, np.exp(values))
            weights[:, 0] += weights.sum(axis=1) == 0
            values = weights / weights.sum(axis=1, keepdims=True)
        coords = {EXAMPLE: data.numbered("case", shape[0]), LABEL: data.some_labels(shape[1])}
        return xr.DataArray(values.astype(wanted), coords, list(coords), attrs={"scale": scale})

    tables: SearchStrategy[xr.DataArray] = st.composite(table)()
    return tables
