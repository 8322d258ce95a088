"""Predictions from the output of Hugging Face pipelines, of which nothing is imported."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Literal, TypeAlias

import numpy as np
import xarray as xr

from plausibly.data import validate
from plausibly.data.names import NUMBERED, name_texts, not_among, quoted, several
from plausibly.errors import InputError, listed
from plausibly.io.json import shortened
from plausibly.io.label_tables import named_predictions

__all__ = ["predictions"]

Labels: TypeAlias = Sequence[str] | Mapping[int, str] | Mapping[str, str]
"""Names in order, or the ``id2label`` of a model's configuration, also as JSON has it."""

_ROWS = "rows"
_EVERY = "pipeline(inputs, top_k=None), of images top_k=len(model.config.id2label)"


def predictions(
    rows: Iterable[object],
    *,
    labels: Labels | None = None,
    examples: Sequence[object] | None = None,
    scale: Literal["probability", "independent", "logit"] = "probability",
) -> xr.DataArray:
    """Return the predictions in the output rows of a pipeline.

    Parameters
    ----------
    rows : iterable
        One entry per example, read one by one, with a score of every label: the list of
        ``{"label": ..., "score": ...}`` of a classification, or the mapping with ``"labels"`` and
        ``"scores"`` of a zero-shot classification.
    labels : sequence of str, or mapping of int to str, optional
        The labels in order, or ``model.config.id2label``; by default those of the first row.
    examples : sequence, optional
        Names of the examples, in the order of the rows; by default ``"0"``, ``"1"``, …
    scale : {"probability", "independent", "logit"}
        Origin of the scores: a softmax, a sigmoid for each label, or neither.

    Returns
    -------
    DataArray, (example, label)
        float64, attribute ``scale``.

    Raises
    ------
    InputError
        ``row-unfit``, ``labels-unfit``, ``labels-missing``, ``rows-differ``,
        and those of predictions: ``array-empty``, ``rows-do-not-sum``.

    Examples
    --------
    >>> from plausibly.huggingface import predictions
    >>> rows = [[{"label": "joy", "score": 0.75}, {"label": "anger", "score": 0.25}]]
    >>> predictions(rows, labels={0: "anger", 1: "joy"}, examples=["tweet 1"]).values.tolist()
    [[0.25, 0.75]]
    """
    names = None if examples is None else name_texts(examples)
    order = name_texts(labels) if isinstance(labels, Sequence) else None
    if isinstance(labels, Mapping):
        try:
            places = {int(key): str(name) for key, name in labels.items()}
        except ValueError:
            raise InputError(
                "labels-unfit",
                "labels have keys that are no numbers",
                expected="model.config.id2label: a number to a name",
                found=listed(map(quoted, labels)),
                hint="labels=model.config.id2label",
                source="labels",
            ) from None
        order = [places[place] for place in sorted(places)]
    values: list[list[float]] = []
    for place, row in enumerate(rows):
        example = names[place] if names is not None and place < len(names) else str(place)
        scores = _scores(row, example)
        order = sorted(scores) if order is None else order
        lacking, unknown = not_among(order, scores), not_among(scores, order)
        if lacking or unknown:
            what = f"has no score of {listed(map(quoted, lacking))}"
            raise InputError(
                "labels-missing",
                f"rows, example {example} {what if lacking else 'names other labels'}",
                expected=f"all {several(len(order), 'label')} in every row",
                found=listed(map(quoted, scores)),
                hint=_EVERY if lacking else "labels=model.config.id2label",
                source=_ROWS,
            )
        values.append([scores[label] for label in order])
    if names is not None and len(names) != len(values):
        raise InputError(
            "rows-differ",
            f"rows are {len(values):,}, and examples are {len(names):,}",
            expected="one name per row",
            found=f"{len(names):,}",
            hint="examples=[...], in the order of the inputs of the pipeline",
            source="examples",
        )
    numbered = {NUMBERED: 1} if names is None else {}
    names = names or [str(place) for place in range(len(values))]
    numbers = np.array(values, dtype=np.float64).reshape(len(values), len(order or ()))
    array = named_predictions(numbers, names, order or (), numbered)
    return validate.check_predictions(array, source=_ROWS, scale=scale)


def _scores(row: object, example: str) -> dict[str, float]:
    """Return the score of each label that a row names, each once."""
    pairs: list[tuple[str, object]] = []
    match row:
        case {"labels": [*labels], "scores": [*values]} if len(labels) == len(values):
            pairs = list(zip(name_texts(labels), values, strict=True))
        case [*entries]:
            for entry in entries:
                match entry:
                    case {"label": label, "score": score}:
                        pairs.append((str(label), score))
                    case _:
                        pairs.append(("", None))
    scores = {
        label: float(score)
        for label, score in pairs
        if not isinstance(score, bool) and isinstance(score, Real) and math.isfinite(score)
    }
    if not pairs or len(scores) < len(pairs):
        raise InputError(
            "row-unfit",
            f"rows, example {example} is no row of classification, with one finite score per label",
            expected='[{"label": ..., "score": ...}, ...], or {"labels": [...], "scores": [...]}',
            found=shortened(repr(row), 60),
            hint=f"{_EVERY}; of a single input predictions([rows])",
            source=_ROWS,
        )
    return scores
