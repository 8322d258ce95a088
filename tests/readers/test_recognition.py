"""Over all published files no two readers recognise the same one."""

from __future__ import annotations

from pathlib import Path

import pytest

from plausibly.io import files
from plausibly.plugin import READER, Reader
from plausibly.registry import default

pytestmark = pytest.mark.realdata

EXPECTED = {
    "constructed/argilla_records_flat.json": "argilla",
    "constructed/argilla_records_nested.json": "argilla",
    "coco/image_level_labels.json": "coco",
    "coco/instances_val.json": "coco",
    "constructed/cvat_tags.xml": "cvat",
    "constructed/sagemaker_custom_all_workers.jsonl": "sagemaker",
    "cvat/cvat_for_images_1_1.xml": "cvat",
    "constructed/doccano_individual": "doccano",
    "doccano": None,
    "doccano/text_classification_export.csv": None,
    "doccano/text_classification_export.jsonl": "doccano",
    "constructed/prodigy_choice_multi_annotator.jsonl": "prodigy",
    "prodigy/textcat_binary_accept_reject_ignore.jsonl": "prodigy",
    "sagemaker/output.manifest": "sagemaker",
    "wide/temp_wide_noheader.csv": None,
}


def recognisers(path: Path) -> list[str]:
    """Return the names of our readers that recognise a file or folder."""
    head = b"" if path.is_dir() else files.opening(path, "annotations")
    found: list[str] = []
    for entry in default().entries(READER):
        if entry.source.builtin:
            reader: Reader = default().create(READER, entry.name)
            if reader.recognises(path, head):
                found.append(entry.name)
    return found


def test_at_most_one_reader_recognises_a_file(shared: Path) -> None:
    folder = shared / "cases" / "annotations"
    several = {
        path.relative_to(folder).as_posix(): found
        for path in sorted(folder.rglob("*"))
        if len(found := recognisers(path)) > 1
    }
    assert several == {}


@pytest.mark.parametrize(("name", "reader"), EXPECTED.items())
def test_the_reader_that_does(shared: Path, name: str, reader: str | None) -> None:
    found = recognisers(shared / "cases" / "annotations" / name)
    assert found == ([] if reader is None else [reader])
