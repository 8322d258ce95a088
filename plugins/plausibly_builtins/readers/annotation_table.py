"""Annotation tables that plausibly wrote."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import attrs

from plausibly.plugin import AnnotationTable, Reader
from plausibly.plugin.readers import is_annotation_file, read_annotation_file


@attrs.frozen(kw_only=True)
class WrittenTable(Reader):
    """Read what `plausibly.write_annotations` wrote: CSV, Parquet, npz or netCDF.

    Attributes
    ----------
    kind : str or None
        Read the rows of a CSV or Parquet file alone, as answers of this kind: where they were
        edited, or where a program took away what the file says of itself.
    """

    kind: str | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file is such a table."""
        return is_annotation_file(path, head)

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the file, exactly as it was."""
        return read_annotation_file(path, labels, kind=self.kind)
