"""Numbers and archives that are large."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

import plausibly
from io_files import refusal, written


def test_a_count_of_5000_digits_is_none(tmp_path: Path) -> None:
    path = written(tmp_path, "c.csv", f"example,cat\na,1\nb,{'9' * 5_000}\n")
    assert refusal(lambda: plausibly.read_annotations(path, "counts")).name == "number-unreadable"


def test_every_member_of_a_zip_is_read(tmp_path: Path) -> None:
    """Also those beyond the 20 that decide which reader it is."""
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        for number in range(25):
            entry = {"id": 1, "text": "t", "label": ["x"]}
            archive.writestr(f"w{number:02}.jsonl", json.dumps(entry))
    table = plausibly.read_annotations(tmp_path / "z.zip")
    assert table["annotator"].values.tolist() == [f"w{number:02}" for number in range(25)]


@pytest.mark.parametrize(("members", "size"), [(10_001, 2), (1, 2**30 + 1)])
def test_a_zip_that_is_too_large_is_refused(tmp_path: Path, members: int, size: int) -> None:
    path = tmp_path / "z.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(members):
            archive.writestr(f"{number}.jsonl", "{}")
    data = bytearray(path.read_bytes())
    place = data.index(b"PK\x01\x02") + 24  # where the list of members has the size of the first
    data[place : place + 4] = size.to_bytes(4, "little")
    error = refusal(
        lambda: plausibly.read_annotations(written(tmp_path, "z.zip", bytes(data)), "doccano")
    )
    assert error.expected == "at most 10,000 files, 1,073,741,824 bytes"
