"""Readers: annotation tables from files."""

from __future__ import annotations

from plausibly.plugin import READER, Registrar, hookimpl

_READERS = {
    "annotation-table": (
        "annotation_table:WrittenTable",
        "what plausibly wrote: rows, or arrays (CSV, Parquet, npz, netCDF)",
    ),
    "crowd-table": (
        "crowd_table:CrowdTable",
        "one row per vote: task, worker, label (CSV, TSV, Parquet)",
    ),
    "counts": ("counts:Counts", "votes counted by example and label (npy, npz, CSV, JSON Lines)"),
    "selectors": ("selectors:Selectors", "partial rankings as nested lists of indices (JSON)"),
    "wide-table": (
        "wide_table:WideTable",
        "one row per example, one column per annotator (CSV, TSV, Parquet)",
    ),
    "sagemaker": (
        "sagemaker:SageMaker",
        "merged labels of a manifest, or workers' answers (JSON Lines, JSON, folder)",
    ),
    "cvat": ("cvat:Cvat", "tags of images (CVAT XML 1.1; a folder: one file per annotator)"),
    "coco": ("coco:Coco", "categories of whole images (COCO JSON)"),
    "doccano": (
        "doccano:Doccano",
        "labels of texts and images (doccano JSONL, JSON, CSV, fastText; folder or zip)",
    ),
    "label-studio": (
        "label_studio:LabelStudio",
        "annotations of tasks (Label Studio JSON, a file or a folder)",
    ),
    "label-studio-min": (
        "label_studio:LabelStudioMin",
        "one record per annotation (Label Studio JSON-MIN)",
    ),
    "preflib": (
        "preflib:PrefLib",
        "ballots, one file per example: rankings, categories (PrefLib, a file or a folder)",
    ),
    "prodigy": ("prodigy:Prodigy", "answers to binary questions or choices (Prodigy JSON Lines)"),
    "argilla": (
        "argilla:Argilla",
        "responses to a question of records (Argilla JSON, JSON Lines; nested or flat)",
    ),
    "vote-lists": (
        "vote_lists:VoteLists",
        "votes listed by example, or annotators by label (JSON Lines)",
    ),
    "soft-labels": (
        "soft_labels:SoftLabels",
        "a weight for each label (CSV, TSV, Parquet, npy, npz, JSON Lines)",
    ),
}


@hookimpl
def register(registrar: Registrar) -> None:
    """Register the components of this family."""
    for name, (target, summary) in _READERS.items():
        registrar.add(READER, name, f"{__name__}.{target}", summary=summary)
