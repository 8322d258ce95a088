"""Soft labels: each annotator spreads weight over the labels; and their weighted mean."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import (
    Annotation,
    AnnotationTable,
    Answer,
    AnswerRefused,
    Record,
    Rows,
    an,
    check_responses,
    label_text,
    ordered_sum,
    refuse_responses,
    table_from_records,
)
from plausibly_builtins.aggregation import Shares, Terms


@attrs.frozen(kw_only=True)
class SoftLabel(Annotation):
    """A weight for each label of a response: confidences, points, or probabilities.

    An answer is a mapping of label to weight; weights are 0 or more, finite, and not all 0. They
    need not sum to 1. A weight of 0 declares its label. None is a skip: a response without mention.
    """

    name: ClassVar[str] = "soft-label"

    def build(self, records: Iterable[Record], labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table of ``(example, annotator, {label: weight})`` records."""
        return table_from_records(self.name, records, labels, _mentions, weights=True)

    def validate(self, table: xr.Dataset) -> None:
        """Refuse weights that are all 0, repeated labels, and annotators who answer twice."""
        rows = check_responses(table, self.name, labels_once=True)
        total = np.bincount(rows.response, weights=rows.share, minlength=rows.example.size)
        refuse_responses(
            rows,
            (rows.mentions > 0) & ~(total > 0),
            "weights-zero",
            "gives no label any weight",
            expected="a weight above 0",
            hint="drop the response, or leave it empty",
        )


def _mentions(answer: object) -> Answer:
    if answer is None:
        return ()
    if not isinstance(answer, Mapping):
        raise AnswerRefused(
            "answer-invalid",
            f"gives {an(type(answer).__name__)}",
            expected='a mapping of label to weight, such as {"benign": 0.8, "malignant": 0.2}',
            found=repr(answer),
            hint="pair each weight with its label",
        )
    weights: dict[str, float] = {}
    for label, weight in answer.items():
        name = label_text(label)
        if name is None or name in weights:
            raise AnswerRefused(
                "answer-invalid",
                f"names {label!r} where a new label should be",
                expected="each label once",
                found=repr(answer),
                hint="fix or drop it",
            )
        number = float(weight) if isinstance(weight, numbers.Real) else math.nan
        if not (math.isfinite(number) and number >= 0):
            raise AnswerRefused(
                "weights-invalid",
                f'gives "{name}" the weight {weight!r}',
                expected="a finite number, 0 or more",
                hint="fix or drop it",
            )
        weights[name] = number
    if not 0 < math.fsum(weights.values()) < math.inf:
        raise AnswerRefused(
            "weights-zero",
            "gives no label any weight",
            expected="a weight above 0",
            found=repr(answer),
            hint="drop the response, or None for a skip",
        )
    return tuple((label, 1, weight) for label, weight in weights.items())


@attrs.frozen(kw_only=True)
class WeightedMean(Shares):
    """Plausibility of a label = the mean over responses of its share in the response.

    ``lambda_ik = sum_b w_b s_bk / (sum_l s_bl) / sum_b w_b`` over the soft labels b of example i,
    s_bk the weight of label k in b and w_b the `response_weight`. Every response counts the same,
    whatever its weights sum to.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"soft-label"})

    def _terms(self, rows: Rows) -> Terms:
        total = ordered_sum(rows.response, rows.share, rows.example.size)
        shares = rows.share / total[rows.response]
        return rows.weight[rows.response] * shares, rows.votes, None
