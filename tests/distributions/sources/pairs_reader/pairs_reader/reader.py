"""Tables of comparisons: one row each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import attrs

from plausibly.plugin import AnnotationTable, Reader
from plausibly.plugin.readers import first_row, read_table

from .annotation import Pairwise

_COLUMNS = ("example", "annotator", "better", "worse")


@attrs.frozen(kw_only=True)
class PairwiseTable(Reader):
    """Read a table with the columns example, annotator, better, worse."""

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the first row names the four columns."""
        return set(_COLUMNS) <= set(first_row(path, head))

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table; all rows of an annotator and example are one response."""
        table = read_table(path, role="annotations")
        table.need(_COLUMNS, hint="call the columns example, annotator, better, worse")
        answers: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
        columns = [table.column(name) for name in _COLUMNS]
        for example, annotator, better, worse in zip(*columns, strict=True):
            answers[example, annotator].append((better, worse))
        records = ((example, annotator, pairs) for (example, annotator), pairs in answers.items())
        return Pairwise().build(records, labels)
