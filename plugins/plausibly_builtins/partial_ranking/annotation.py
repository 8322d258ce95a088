"""Partial rankings: each annotator orders some labels, with ties."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    check_responses,
    label_text,
    refuse_responses,
    table_from_records,
)

_GAP = "a label in every rank: the numbers of the ranks are the weights"


@attrs.frozen(kw_only=True)
class PartialRanking(Annotation):
    """A list of rank blocks, the best first.

    An answer is a list whose entries are blocks: a label, or a list of labels that share the rank.
    ``[["eczema", "psoriasis"], "tinea"]`` ranks two labels first and one second. Labels that are
    not listed are excluded. None, empty text and the empty list are an empty answer: a skip, kept
    as a response without mention.
    """

    name: ClassVar[str] = "partial-ranking"

    def build(self, records: Iterable[Record], labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table of ``(example, annotator, blocks)`` records."""
        return table_from_records(self.name, records, labels, _mentions, blocks=True)

    def validate(self, table: xr.Dataset) -> None:
        """Refuse repeated labels, empty ranks, and annotators who answer twice."""
        rows = check_responses(table, self.name, labels_once=True)
        # blocks rise within a response: each starts at 1, or is one after, or at, the one before
        starts = np.ones(rows.response.size, bool)
        starts[1:] = rows.response[1:] != rows.response[:-1]
        before = np.where(starts, 0, np.roll(rows.block, 1))
        refuse_responses(
            rows,
            rows.with_mentions((rows.block - before > 1) | (starts & (rows.block != 1))),
            "ranking-gap",
            "leaves a rank empty",
            expected=_GAP,
            hint="close the gap, or drop the ranking",
        )


def _mentions(answer: object) -> Answer:
    if answer is None or answer == "":
        return ()
    if not isinstance(answer, (list, tuple)):
        raise AnswerRefused(
            "answer-invalid",
            f"gives a {type(answer).__name__}",
            expected='a list of blocks, such as [["eczema", "psoriasis"], "tinea"]',
            found=repr(answer),
            hint="split it into blocks, best first",
        )
    ranks: dict[str, int] = {}
    for rank, block in enumerate(answer, start=1):
        block = [block] if label_text(block) is not None else block
        labels = list(block) if isinstance(block, (list, tuple, set, frozenset)) else [None]
        names = [name for label in labels if (name := label_text(label))]
        if not labels or labels == [""]:
            raise AnswerRefused(
                "ranking-gap",
                f"leaves rank {rank} empty",
                expected=_GAP,
                hint="close the gap, or drop the ranking",
            )
        if len(names) < len(labels):
            raise AnswerRefused(
                "answer-invalid",
                f"has no label at a place in rank {rank}",
                expected="a label, or a list of labels",
                found=repr(block),
                hint="fix or drop it",
            )
        for label in names:
            if label in ranks:
                raise AnswerRefused(
                    "ranking-repeats",
                    f'ranks "{label}" twice',
                    expected="each label once",
                    found=f"ranks {ranks[label]} and {rank}",
                    hint="fix or drop it",
                )
            ranks[label] = rank
    return tuple((label, rank, 1.0) for label, rank in ranks.items())
