"""Files that are not there, are something else, or cannot be read or written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from io_files import refusal, written
from plausibly.atomic import replacing
from plausibly.io.files import existing, opening
from refusals import refused


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_missing_file(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv", "c.csv", "d.csv", ".hidden"):
        written(tmp_path, name, "")
    error = refusal(lambda: opening("predictions.parquet", "predictions"))
    assert error.hint == "fix the path; . holds a.csv, b.csv, c.csv, … (4 in all)"
    error = refusal(lambda: opening("nowhere/p.csv", "predictions"))
    assert error.hint == "fix the path; nowhere holds no file"
    for path in ("a.cvs", "a.csv/p.csv"):
        error = refusal(lambda path=path: existing(path, "predictions"))  # type: ignore[misc]  # bound now
        assert error.name == "file-missing"


def test_a_folder_instead_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "votes").mkdir()
    assert refusal(lambda: existing("votes", "annotations")).found == "a folder with no file"
    written(tmp_path / "votes", "a.csv", "abcdef")
    error = refusal(lambda: opening("votes", "annotations"))
    assert (error.name, error.found) == ("file-is-folder", "a folder with a.csv")
    assert opening("votes/a.csv", "annotations", 3) == b"abc"


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "votes.csv", "a\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    error = refusal(lambda: opening("votes.csv", "annotations"))
    assert (error.name, error.found) == ("file-unreadable", '"permission denied"')
    monkeypatch.setattr(Path, "stat", refuse)
    assert refusal(lambda: existing("votes.csv", "annotations")).name == "file-unreadable"


@pytest.mark.parametrize("name", ["a\0b", "x" * 5_000])
def test_a_name_that_no_file_can_have(name: str) -> None:
    assert refusal(lambda: existing(name, "annotations")).name == "file-unreadable"


def test_what_a_killed_process_moved_aside_is_put_back(tmp_path: Path) -> None:
    stops = (
        "import os, pathlib, sys\n"
        "from plausibly.atomic import replacing\n"
        "with replacing('sets.zarr') as part:\n"
        "    aside = part.parent.parent / 'old-sets.zarr'\n"
        "    aside.mkdir()\n"
        "    (aside / 'data').write_text('old')\n"
        "    print('waits', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", stops], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline().strip() == b"waits"
        (hidden,) = tmp_path.glob(".plausibly-part-*")
        for survives in (True, False):
            with replacing("another.csv") as part:
                part.write_text("new")
            assert hidden.exists() == survives
            writer.kill()
            writer.wait()
    assert (tmp_path / "sets.zarr" / "data").read_text() == "old"


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("sets.csv", 'found "no space left on device"'),
        ("results/sets.csv", 'found "no such file or directory"'),
    ],
)
def test_a_failed_write_leaves_the_old_file(tmp_path: Path, place: str, found: str) -> None:
    written(tmp_path, "sets.csv", "old")
    with refused("output-unwritable", found), replacing(place) as part:
        part.write_text("half")
        raise OSError(28, "No space left on device")
    assert (tmp_path / "sets.csv").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["sets.csv"]
