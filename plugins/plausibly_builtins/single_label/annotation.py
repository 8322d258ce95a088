"""Single labels: each annotator picks one label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import attrs
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


@attrs.frozen(kw_only=True)
class SingleLabel(Annotation):
    """One label a response.

    An answer is a name: text, a number, whatever `str` writes. None, NaN and empty text are an
    empty answer: the annotator skipped the example, which is kept as a response without mention.
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
            f"gives a {type(answer).__name__}",
            expected="one label",
            found=repr(answer),
            hint="kind label-set for several labels, partial-ranking for ranks",
        )
    return ((label, 1, 1.0),) if label else ()
