"""Readers: annotation tables from files."""

from __future__ import annotations

from plausibly.plugin import READER, Registrar, hookimpl


@hookimpl
def register(registrar: Registrar) -> None:
    """Register the components of this family."""
    registrar.add(
        READER,
        "crowd-table",
        "plausibly_builtins.readers.crowd_table:CrowdTable",
        summary="one row a vote: task, worker, label (CSV, TSV, Parquet)",
    )
    registrar.add(
        READER,
        "counts",
        "plausibly_builtins.readers.counts:Counts",
        summary="votes counted by example and label (npy, npz, CSV)",
    )
    registrar.add(
        READER,
        "selectors",
        "plausibly_builtins.readers.selectors:Selectors",
        summary="partial rankings as nested lists of indices (JSON)",
    )
    registrar.add(
        READER,
        "wide-table",
        "plausibly_builtins.readers.wide_table:WideTable",
        summary="one row an example, one column an annotator (CSV, TSV, Parquet)",
    )
