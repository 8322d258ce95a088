"""Which readers recognise a file or folder; no two recognise the same published one."""

from __future__ import annotations

from pathlib import Path

import pytest

import cases_net
from cases_net import recognisers
from plausibly.io import files


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
    assert max(len(recognisers(path)) for path in folder.rglob("*")) == 1
