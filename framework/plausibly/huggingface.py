"""What pipelines of Hugging Face put out, as predictions; nothing of theirs is imported."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, TypeGuard

import numpy as np
import xarray as xr

from plausibly.data import validate
from plausibly.data.names import (
    EXAMPLE,
    LABEL,
    NUMBERED,
    check_names,
    name_texts,
    near,
    not_among,
    quoted,
    several,
    text_array,
)
from plausibly.errors import InputError, listed

__all__ = ["predictions"]

Labels: TypeAlias = Sequence[str] | Mapping[int, str] | Mapping[str, str]
"""Names in order, or the ``id2label`` of a model's configuration, also as JSON has it."""

_WHOSE = "rows"
_EVERY = "pipeline(inputs, top_k=None), of images top_k=len(model.config.id2label)"
_WITHIN = 0.01


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
        One entry an example, read one by one: the list of ``{"label": ..., "score": ...}`` that
        classification of text and audio gives with ``top_k=None``, and of images with ``top_k`` as
        large as there are labels; or the mapping with ``"labels"`` and ``"scores"`` of zero-shot
        classification. Every row names every label.
    labels : sequence of str, or mapping of int to str, optional
        The labels in order, or ``model.config.id2label``. By default those of the first row,
        sorted.
    examples : sequence, optional
        Names of the examples, in the order of the rows; else they are ``"0"``, ``"1"``, …
    scale : {"probability", "independent", "logit"}
        What the scores are: of a softmax, of a sigmoid for each label
        (``function_to_apply="sigmoid"``, ``multi_label=True``), or neither
        (``function_to_apply="none"``).

    Returns
    -------
    DataArray, (example, label)
        float64, attribute ``scale``.

    Raises
    ------
    InputError
        ``rows-missing``, ``top-one``, ``row-unfit``, ``labels-missing``, ``label-unknown``,
        ``label-twice``, ``scores-not-finite``, ``scores-do-not-sum``, ``rows-differ``, and what
        `plausibly.data.validate.check_predictions` says.

    Examples
    --------
    >>> from plausibly.huggingface import predictions
    >>> rows = [[{"label": "joy", "score": 0.75}, {"label": "anger", "score": 0.25}]]
    >>> predictions(rows, labels={0: "anger", 1: "joy"}, examples=["tweet 1"]).values.tolist()
    [[0.25, 0.75]]
    """
    names = None if examples is None else name_texts(examples)
    order = None if labels is None else _ordered(labels)
    values: list[list[float]] = []
    for place, row in enumerate(rows):
        example = names[place] if names is not None and place < len(names) else str(place)
        scores = _scores(row, example)
        if order is None:
            order = sorted(scores)
        elif labels is None and set(scores) != set(order):
            raise _cut(scores, order, example)
        values.append(_in_order(scores, order, example, scale))
    if order is None or not values:
        raise InputError(
            "rows-missing",
            "there are no rows of a pipeline",
            expected="one entry an example",
            got="none",
            do=_EVERY,
            whose=_WHOSE,
        )
    numbered = {NUMBERED: 1} if names is None else {}
    if names is None:
        names = [str(place) for place in range(len(values))]
    elif len(names) != len(values):
        raise InputError(
            "rows-differ",
            f"rows are {len(values):,}, and examples are {len(names):,}",
            expected="one name a row",
            got=f"{len(names):,}",
            do="examples=[...], in the order in which the pipeline was given them",
            whose="examples",
        )
    check_names(names, EXAMPLE, whose="examples")
    check_names(order, LABEL, whose="labels")
    array = xr.DataArray(
        np.array(values, dtype=np.float64),
        dims=(EXAMPLE, LABEL),
        coords={EXAMPLE: (EXAMPLE, text_array(names)), LABEL: (LABEL, text_array(order))},
        name="predictions",
        attrs=numbered,
    )
    return validate.check_predictions(array, whose=_WHOSE, scale=scale)


def _ordered(labels: Labels) -> list[str]:
    """Return names in order; those of an ``id2label`` by their number."""
    if not isinstance(labels, Mapping):
        return name_texts(labels)
    try:
        places = {int(key): str(name) for key, name in labels.items()}
    except ValueError:
        raise InputError(
            "labels-unfit",
            "labels have keys that are no numbers",
            expected="model.config.id2label: a number to a name",
            got=listed(map(quoted, labels)),
            do="labels=model.config.id2label",
            whose="labels",
        ) from None
    return [places[place] for place in sorted(places)]


def _scores(row: object, example: str) -> dict[str, float]:
    """Return the score of each label that a row names."""
    found: dict[str, float] = {}
    for label, score in _pairs(row, example):
        if label in found:
            raise InputError(
                "label-twice",
                f"rows, example {example} names {quoted(label)} twice",
                expected="each label once",
                got=listed(map(quoted, found)),
                do="give the labels of the model different names: model.config.id2label",
                whose=_WHOSE,
                details={"example": example, "label": label},
            )
        if isinstance(score, bool) or not isinstance(score, numbers.Real):
            raise _unfit(row, example)
        found[label] = float(score)
    bad = [label for label, score in found.items() if not math.isfinite(score)]
    if bad:
        raise InputError(
            "scores-not-finite",
            f"rows, example {example} has a score that is not finite",
            expected="numbers",
            got=listed(f"{label} {found[label]}" for label in bad),
            do="look at what the model was given there, or leave it out",
            whose=_WHOSE,
            details={"example": example, "labels": bad},
        )
    return found


def _pairs(row: object, example: str) -> Iterator[tuple[str, object]]:
    if isinstance(row, Mapping):
        if "label" in row and "score" in row:
            raise InputError(
                "top-one",
                f"rows, example {example} has the score of one label",
                expected="a list with every label, or labels and scores of zero-shot pipelines",
                got=f"{row['label']} {row['score']}",
                do=f"{_EVERY}; of a single input predictions([rows])",
                whose=_WHOSE,
                details={"example": example},
            )
        labels, scores = row.get("labels"), row.get("scores")
        if not _is_list(labels) or not _is_list(scores) or len(labels) != len(scores):
            raise _unfit(row, example)
        yield from zip(name_texts(labels), scores, strict=True)
        return
    if not _is_list(row):
        raise _unfit(row, example)
    for one in row:
        if not isinstance(one, Mapping) or "label" not in one or "score" not in one:
            raise _unfit(row, example)
        yield str(one["label"]), one["score"]


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _unfit(row: object, example: str) -> InputError:
    shown = repr(row)
    return InputError(
        "row-unfit",
        f"rows, example {example} is no row of classification",
        expected='[{"label": ..., "score": ...}, ...], or {"labels": [...], "scores": [...]}',
        got=shown if len(shown) <= 60 else shown[:59] + "…",
        do="a pipeline for classification of texts, images or audio, or of zero-shot labels",
        whose=_WHOSE,
        details={"example": example},
    )


def _cut(scores: Mapping[str, float], order: Sequence[str], example: str) -> InputError:
    unlike = not_among(scores, order) or not_among(order, scores)
    return InputError(
        "labels-missing",
        f"rows, example {example} names other labels than the first row",
        expected="every label in every row",
        got=f"{listed(map(quoted, unlike))} in one of them",
        do=_EVERY,
        whose=_WHOSE,
        details={"example": example, "labels": unlike},
    )


def _in_order(
    scores: Mapping[str, float], order: Sequence[str], example: str, scale: str
) -> list[float]:
    unknown, lacking = not_among(scores, order), not_among(order, scores)
    if unknown:
        guess = near(unknown[0], order)
        raise InputError(
            "label-unknown",
            f"rows, example {example} names {quoted(unknown[0])}",
            expected=f"one of {several(len(order), 'label')}: {listed(map(quoted, order))}",
            got=listed(map(quoted, unknown)),
            do=f"did you mean {quoted(guess)}? mend labels=" if guess else "add it to labels=",
            whose=_WHOSE,
            details={"example": example, "labels": unknown},
        )
    if lacking:
        raise InputError(
            "labels-missing",
            f"rows, example {example} has no score of {listed(map(quoted, lacking))}",
            expected=f"all {several(len(order), 'label')}",
            got=f"the first {several(len(scores), 'label')}",
            do=_EVERY,
            whose=_WHOSE,
            details={"example": example, "labels": lacking},
        )
    values = [scores[label] for label in order]
    total = math.fsum(values)
    if scale == "probability" and abs(total - 1) > _WITHIN:
        raise InputError(
            "scores-do-not-sum",
            f"rows, example {example} has scores that sum to {total:.4g}",
            expected=f"1 within {_WITHIN}, as of a softmax",
            got=listed(f"{label} {scores[label]:.4g}" for label in order),
            do='top_k for every label; scale="independent" for a sigmoid (multi_label=True), '
            'scale="logit" for function_to_apply="none"',
            whose=_WHOSE,
            details={"example": example},
        )
    return values
