"""Readers: annotation tables from files."""

from __future__ import annotations

from plausibly.plugin import READER, Registrar, hookimpl


@hookimpl
def register(registrar: Registrar) -> None:
    """Register the components of this family."""
    registrar.add(
        READER,
        "annotation-table",
        "plausibly_builtins.readers.annotation_table:WrittenTable",
        summary="what plausibly wrote: rows, or arrays (CSV, Parquet, npz, netCDF)",
    )
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
        summary="votes counted by example and label (npy, npz, CSV, JSON Lines)",
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
    registrar.add(
        READER,
        "sagemaker",
        "plausibly_builtins.readers.sagemaker:SageMaker",
        summary="merged labels of a manifest, or workers' answers (JSON Lines, JSON, folder)",
    )
    registrar.add(
        READER,
        "cvat",
        "plausibly_builtins.readers.cvat:Cvat",
        summary="tags of images (CVAT XML 1.1; a folder: a file an annotator)",
    )
    registrar.add(
        READER,
        "coco",
        "plausibly_builtins.readers.coco:Coco",
        summary="categories of whole images (COCO JSON)",
    )
    registrar.add(
        READER,
        "doccano",
        "plausibly_builtins.readers.doccano:Doccano",
        summary="labels of texts and images (doccano JSONL, JSON, CSV, fastText; folder or zip)",
    )
    registrar.add(
        READER,
        "label-studio",
        "plausibly_builtins.readers.label_studio:LabelStudio",
        summary="annotations of tasks (Label Studio JSON, a file or a folder)",
    )
    registrar.add(
        READER,
        "label-studio-min",
        "plausibly_builtins.readers.label_studio:LabelStudioMin",
        summary="one record an annotation (Label Studio JSON-MIN)",
    )
    registrar.add(
        READER,
        "preflib",
        "plausibly_builtins.readers.preflib:PrefLib",
        summary="ballots, a file an example: rankings, categories (PrefLib, a file or a folder)",
    )
    registrar.add(
        READER,
        "prodigy",
        "plausibly_builtins.readers.prodigy:Prodigy",
        summary="answers to binary questions or choices (Prodigy JSON Lines)",
    )
    registrar.add(
        READER,
        "argilla",
        "plausibly_builtins.readers.argilla:Argilla",
        summary="responses to a question of records (Argilla JSON, JSON Lines; nested or flat)",
    )
    registrar.add(
        READER,
        "vote-lists",
        "plausibly_builtins.readers.vote_lists:VoteLists",
        summary="votes listed by example, or annotators by label (JSON Lines)",
    )
    registrar.add(
        READER,
        "soft-labels",
        "plausibly_builtins.readers.soft_labels:SoftLabels",
        summary="a weight for each label (CSV, TSV, Parquet, npy, npz, JSON Lines)",
    )
