"""Files that are not there, are something else, or cannot be read or written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import plausibly.io
from io_files import refusal, written
from plausibly.atomic import replacing
from plausibly.io.files import contents, existing, opening


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_missing_file_has_a_near_name(tmp_path: Path) -> None:
    written(tmp_path, "votes.csv", "a\n")
    written(tmp_path, "other.csv", "a\n")
    error = refusal(lambda: existing("votes.cvs", "annotations"))
    assert (error.name, error.found) == ("file-missing", "none")


def test_a_missing_file_without_a_near_name(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv", "c.csv", "d.csv"):
        written(tmp_path, name, "")
    written(tmp_path, ".hidden", "")
    error = refusal(lambda: contents("predictions.parquet", "predictions"))
    assert error.hint == "fix the path; . holds a.csv, b.csv, c.csv, … (4 in all)"
    error = refusal(lambda: opening("nowhere/p.csv", "predictions"))
    assert error.hint == "fix the path; there is nothing in nowhere either"
    error = refusal(lambda: existing("a.csv/p.csv", "predictions"))
    assert error.name == "file-missing"


def test_a_folder_instead_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "votes").mkdir()
    error = refusal(lambda: existing("votes", "annotations"))
    assert (error.found, error.hint) == ("an empty folder", "name a file")
    written(tmp_path / "votes", "a.csv", "")
    error = refusal(lambda: contents("votes", "annotations"))
    assert (error.name, error.found) == ("file-is-folder", "a folder with a.csv")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "votes.csv", "a\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    error = refusal(lambda: opening("votes.csv", "annotations"))
    assert (error.name, error.found) == ("file-unreadable", '"permission denied"')
    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert refusal(lambda: contents("votes.csv", "annotations")).name == "file-unreadable"
    monkeypatch.setattr(Path, "stat", refuse)
    assert refusal(lambda: existing("votes.csv", "annotations")).name == "file-unreadable"


@pytest.mark.parametrize("name", ["a\0b", "x" * 5_000])
def test_a_name_that_no_file_can_have(name: str) -> None:
    assert refusal(lambda: existing(name, "annotations")).name == "file-unreadable"


def test_contents_and_opening(tmp_path: Path) -> None:
    written(tmp_path, "votes.csv", "abcdef")
    assert contents("votes.csv", "annotations") == b"abcdef"
    assert opening("votes.csv", "annotations", 3) == b"abc"


# ---- the names of the folder


def test_nothing_is_imported_before_it_is_used() -> None:
    check = (
        "import sys, plausibly.io\n"
        "assert 'read_sets' in dir(plausibly.io)\n"
        "assert 'xarray' not in sys.modules\n"
        "assert plausibly.io.read_sets.__module__ == 'plausibly.io.sets'"
    )
    subprocess.run([sys.executable, "-c", check], check=True)


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'read_minds'"):
        getattr(plausibly.io, "read" + "_minds")


# ---- writing whole or not at all


def test_what_fails_leaves_the_old_file(tmp_path: Path) -> None:
    written(tmp_path, "sets.csv", "old")

    def fail() -> None:
        with replacing("sets.csv") as part:
            part.write_text("half")
            raise OSError(28, "No space left on device")

    error = refusal(fail)
    assert (error.name, error.found) == ("output-unwritable", '"no space left on device"')
    assert (tmp_path / "sets.csv").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["sets.csv"]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    def write() -> None:
        with replacing("results/sets.csv") as part:
            part.write_text("new")

    error = refusal(write)
    assert (error.name, error.found) == ("output-unwritable", '"no such file or directory"')
    assert not list(tmp_path.iterdir())
