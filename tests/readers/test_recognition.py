"""Which readers recognise a file or folder; no two recognise the same published one."""

from __future__ import annotations

from pathlib import Path

import pytest

import cases_net
from cases_net import recognisers
from plausibly.io import files

PUBLISHED = {
    "constructed/argilla_records_flat.json": "argilla",
    "constructed/argilla_records_nested.json": "argilla",
    "coco/image_level_labels.json": "coco",
    "coco/instances_val.json": "coco",
    "constructed/cvat_tags.xml": "cvat",
    "constructed/sagemaker_custom_all_workers.jsonl": "sagemaker",
    "cvat/cvat_for_images_1_1.xml": "cvat",
    "constructed/doccano_individual": "doccano",
    "constructed/label_studio_json_min.json": "label-studio-min",
    "constructed/label_studio_multi_annotator.json": "label-studio",
    "doccano": None,
    "doccano/text_classification_export.csv": None,
    "doccano/text_classification_export.jsonl": "doccano",
    "constructed/prodigy_choice_multi_annotator.jsonl": "prodigy",
    "prodigy/textcat_binary_accept_reject_ignore.jsonl": "prodigy",
    "sagemaker/output.manifest": "sagemaker",
    "wide/temp_wide_noheader.csv": None,
}


def test_which_readers_recognise_a_beginning(tmp_path: Path) -> None:
    wrong = []
    for place, file in enumerate(cases_net.load(Path(__file__).with_name("recognition.toml"))):
        folder = tmp_path / f"{place}"
        folder.mkdir()
        if file.get("padded"):  # then no reader sees the end
            file["text"] += " " * files.HEAD
        found = recognisers(cases_net.write(folder, file), file.get("reader"))
        if found != file["readers"]:
            wrong.append((file, found))
    assert wrong == []


@pytest.mark.realdata
def test_at_most_one_reader_recognises_a_published_file(shared: Path) -> None:
    folder = shared / "cases" / "annotations"
    found = {
        path.relative_to(folder).as_posix(): recognisers(path)
        for path in [*folder.rglob("*"), folder / "doccano"]
    }
    assert max(map(len, found.values())) == 1
    for name, reader in PUBLISHED.items():
        assert found[name] == ([] if reader is None else [reader]), name
    own = {name for name in found if name.startswith("label_studio")}
    own.add("constructed/label_studio_multi_annotator.json")
    assert {name for name, readers in found.items() if readers == ["label-studio"]} == own
