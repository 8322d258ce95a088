"""Single labels: each annotator picks one label; and plausibilities from votes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import (
    Aggregator,
    Annotation,
    AnnotationTable,
    Answer,
    AnswerRefused,
    Bools,
    Ints,
    Keys,
    Record,
    Rows,
    an,
    answered_rows,
    check_responses,
    label_text,
    names,
    refuse_responses,
    table_from_records,
)
from plausibly_builtins.aggregation import Shares, Terms, most_voted


@attrs.frozen(kw_only=True)
class SingleLabel(Annotation):
    """One label per response.

    An answer is a name: text or a number. None, NaN and empty text are a skip: a response without
    mention.
    """

    name: ClassVar[str] = "single-label"

    def build(self, records: Iterable[Record], labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table of ``(example, annotator, label)`` records."""
        return table_from_records(self.name, records, labels, _mentions)

    def validate(self, table: xr.Dataset) -> None:
        """Refuse responses with several labels, and annotators who answer twice."""
        rows = check_responses(table, self.name)
        refuse_responses(
            rows,
            rows.mentions > 1,
            "answer-invalid",
            "names several labels",
            expected="one label, or none",
            hint='kind "label-set", if several labels can be right',
        )


def _mentions(answer: object) -> Answer:
    if answer is None:
        return ()
    label = label_text(answer)
    if label is None:
        raise AnswerRefused(
            "answer-invalid",
            f"gives {an(type(answer).__name__)}",
            expected="one label",
            found=repr(answer),
            hint="kind label-set for several labels, partial-ranking for ranks",
        )
    return ((label, 1, 1.0),) if label else ()


@attrs.frozen(kw_only=True)
class LabelFrequency(Shares):
    """Plausibility of a label = votes for it / votes.

    ``lambda_ik = sum_b w_b 1[b = k] / sum_b w_b`` over the responses b of example i that name a
    label, w_b their `response_weight` (1 where the table has none). Where all weights are whole
    numbers, the votes of each example are its `denominator`, and every share is the exact one,
    rounded once.

    References
    ----------
    Stutz et al., *Conformal prediction under ambiguous ground truth*, TMLR 2023, section 2.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})

    def _terms(self, rows: Rows) -> Terms:
        votes = rows.votes
        weight = rows.weight[rows.response]
        return weight, votes, votes.astype(np.int64) if rows.counts else None


@attrs.frozen(kw_only=True)
class MajorityVote(Aggregator):
    """All plausibility on the label with the most votes.

    Calibrating on it covers the vote, not what annotators say. It is here to compare with.

    Attributes
    ----------
    ties : {"first", "random", "fractional"}
        Who wins among L labels with the most votes: the first in the order of the table; one drawn
        by the name of the example; or each of them 1/L (default). Votes are compared exactly where
        all response weights are whole numbers, else to 12 digits.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})

    ties: Literal["first", "random", "fractional"] = "fractional"

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label): 1 on the winner, or 1/L on each of L."""
        rows = answered_rows(annotations, self.accepts)
        tied = most_voted(rows, rows.by_label(rows.weight[rows.response]), axis=1)
        if self.ties == "random":
            tied = _one_of(tied, rows, keys)
        elif self.ties == "first":
            tied = _only(tied.argmax(axis=1), tied.shape[1])
        winners = tied.sum(axis=1)
        return rows.plausibilities(tied / winners[:, None], denominator=winners)


def _only(place: Ints, labels: int) -> Bools:
    chosen: Bools = np.arange(labels) == place[:, None]
    return chosen


def _one_of(tied: Bools, rows: Rows, keys: Keys) -> Bools:
    """Return one of the tied labels of each example; the order of the labels does not matter."""
    by_name = np.argsort(rows.table.indexes[names.LABEL])
    hashes = rows.hashes
    uniform = keys.child("ties").uniform(hashes)[:, 0]
    wanted = np.floor(uniform * tied.sum(axis=1)) + 1
    reached = np.cumsum(tied[:, by_name], axis=1) == wanted[:, None]
    return _only(by_name[reached.argmax(axis=1)], tied.shape[1])
