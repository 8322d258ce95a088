"""Readers: annotation tables from files."""

from __future__ import annotations

from plausibly.plugin import READER, Registrar, hookimpl

_TEXT = (".csv", ".tsv", ".tab", ".txt", ".parquet")
_LINES = (".jsonl", ".ndjson")
_JSON = (".json", *_LINES)
_READERS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "annotation-table": (
        "long_table:WrittenTable",
        (".csv", ".parquet", ".npz", ".nc"),
        "tables written by plausibly (CSV, Parquet, npz, netCDF)",
    ),
    "long-table": (
        "long_table:LongTable",
        _TEXT,
        "one row per answer: example, annotator, label (CSV, TSV, Parquet)",
    ),
    "counts": (
        "label_columns:Counts",
        (".npz", *_LINES),  # whole numbers in a table may be anything
        "number of votes per example and label (npy, npz, CSV, JSON Lines)",
    ),
    "selectors": (
        "selectors:Selectors",
        (".json",),
        "partial rankings as nested lists of indices (JSON)",
    ),
    "wide-table": (
        "wide_table:WideTable",
        _TEXT,
        "one row per example, one column per annotator (CSV, TSV, Parquet)",
    ),
    "sagemaker": (
        "sagemaker:SageMaker",
        (".manifest", *_JSON),
        "consolidated labels or workers' answers of Ground Truth (manifest, JSON, folder)",
    ),
    "cvat": (
        "cvat:Cvat",
        (".xml",),
        "tags of images (CVAT XML 1.1; a folder: one file per annotator)",
    ),
    "coco": ("coco:Coco", (".json",), "categories of whole images (COCO JSON)"),
    "doccano": (
        "doccano:Doccano",
        (".txt", ".zip", *_JSON),
        "labels of texts and images (doccano JSONL, JSON, CSV, fastText; folder or zip)",
    ),
    "label-studio": (
        "label_studio:LabelStudio",
        (".json",),
        "annotations of tasks (Label Studio JSON, a file or a folder)",
    ),
    "label-studio-min": (
        "label_studio:LabelStudioMin",
        (".json",),
        "one record per annotation (Label Studio JSON-MIN)",
    ),
    "preflib": (
        "preflib:PrefLib",
        (".soc", ".soi", ".toc", ".toi", ".cat"),
        "ballots, one file per example: rankings, categories (PrefLib, a file or a folder)",
    ),
    "prodigy": (
        "prodigy:Prodigy",
        _LINES,
        "answers to binary questions or choices (Prodigy JSON Lines)",
    ),
    "argilla": (
        "argilla:Argilla",
        _JSON,
        "responses to a question of records (Argilla JSON, JSON Lines; nested or flat)",
    ),
    "vote-lists": (
        "vote_lists:VoteLists",
        _LINES,
        "lists of votes per example, or of annotators per label (JSON Lines)",
    ),
    "soft-labels": (
        "label_columns:SoftLabels",
        _LINES,  # in tables, weights look like predictions
        "one weight per label (CSV, TSV, Parquet, npy, npz, JSON Lines)",
    ),
}
"""Module and class of each reader, the endings of its files, and a line for lists."""


@hookimpl
def register(registrar: Registrar) -> None:
    """Register the components of this family."""
    for name, (target, suffixes, summary) in _READERS.items():
        place = f"{__name__}.{target}"
        registrar.add(READER, name, place, suffixes=suffixes, summary=summary)
