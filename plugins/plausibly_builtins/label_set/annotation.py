"""Label sets: each annotator names all labels that apply."""

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
    table_from_records,
)

_DROP = "drop"


@attrs.frozen(kw_only=True)
class LabelSet(Annotation):
    """A set of labels a response.

    An answer is a list, tuple or set of labels; a label named twice is named once. Whether an empty
    set is an answer is not ours to say: it is an error until `empty` says so.

    Attributes
    ----------
    empty : str or None
        What an empty set means: None = an error that names the examples (default); ``"drop"`` = no
        answer, kept as a response without mention and counted as such; any other text = the name
        of the label that it stands for, such as ``"none of these"``.
    """

    name: ClassVar[str] = "label-set"

    empty: str | None = None

    def build(self, records: Iterable[Record], labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table of ``(example, annotator, labels)`` records."""
        return table_from_records(self.name, records, labels, self._mentions)

    def validate(self, table: xr.Dataset) -> None:
        check_responses(table, self.name, labels_once=True)

    def _mentions(self, answer: object) -> Answer:
        if answer not in (None, ""):
            labels = answer if isinstance(answer, (list, tuple, set, frozenset)) else [None]
            label_names = [name for label in labels if (name := label_text(label)) is not None]
            if len(label_names) < len(labels) or "" in label_names:
                raise AnswerRefused(
                    "answer-invalid",
                    f"gives a {type(answer).__name__} that is no set of labels",
                    expected='a list of labels, such as ["sad", "angry"]',
                    found=repr(answer),
                    hint="split it into labels",
                )
            if label_names:
                return tuple((label, 1, 1.0) for label in set(label_names))
        if self.empty is None:
            raise AnswerRefused(
                "answer-empty",
                "names no label",
                expected="one label or more, or a word on what an empty set means",
                found="an empty set",
                hint='empty="drop", or the label that it stands for: empty="none of these"',
            )
        return () if self.empty == _DROP else ((self.empty, 1, 1.0),)
