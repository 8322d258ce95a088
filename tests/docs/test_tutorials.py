"""The first five minutes, tutorials and how-tos: every block runs and shows what it prints."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import tomllib
from pathlib import Path

import numpy as np
import pytest

import cli_world
import run_pages
from plausibly.plugin import READER, resolve
from readme_world import rows, write_files

from .pages import DOCS, name


@pytest.mark.slow
@pytest.mark.parametrize("page", run_pages.pages(), ids=name)
def test_every_block_shows_what_it_prints(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    with run_pages.folder(tmp_path, page):
        for shown in run_pages.run(page):
            if not shown.right:  # so that pytest shows where they differ
                assert shown.block.body == shown.printed, "python scripts/run_pages.py --write"
    for figure in run_pages.figures(text):
        drawn, kept = (path / figure for path in (tmp_path, run_pages.FIGURES))
        found = run_pages.words(drawn.read_text(encoding="utf-8"))
        assert found
        assert found == run_pages.words(kept.read_text(encoding="utf-8"))


def test_the_night_of_the_service_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (DOCS / "tutorials" / "service.md").read_text(encoding="utf-8")
    (night,) = (block.body for block in run_pages.blocks(page) if block.of == "nightly.sh")
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    first, *asked, last = night.splitlines()
    assert first == "set -e"
    for line in asked:
        name, *words = shlex.split(line.partition(" > ")[0])
        assert name == "plausibly"
        ran = cli_world.run(*words)
        assert (ran.code, ran.err) == (0, "")
    old, new = last.removeprefix("mv ").split()
    assert (tmp_path / old).is_file()
    assert new in page.partition("## The service")[0]


def test_readers_are_asked_for_by_names_and_options_that_they_have() -> None:
    page = (DOCS / "formats.md").read_text(encoding="utf-8")
    asked = [
        shlex.split(found[1])[1]
        for *_, typed in rows(page, "your answers are in")
        if (found := re.search(r"`(--reader .+)`", typed))
    ]
    assert len(asked) == 13
    for reader in asked:
        given = tomllib.loads(f"it = {reader}")["it"] if reader.startswith("{") else reader
        resolve(READER, given)
    for reader in cli_world.run("plugins", "list", "--kind", "reader", "--json").document[
        "components"
    ]:
        name = reader["name"]
        assert any(name in one for one in asked) or name in (
            "annotation-table",  # what convert writes: read without being asked for
            "long-table",  # recognised by its columns
            "selectors",  # of one public data set: in the tutorial on rankings
        )


def test_what_is_printed_takes_the_place_of_what_was_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- file: a.txt -->\n\n```text\nhello\n```\n\n```console\n$ cat a.txt\n?\n```\n\n"
        "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    found = run_pages.run(page)
    assert [one.right for one in found] == [False, False]
    new = run_pages.renewed(page.read_text(encoding="utf-8"), found)
    assert "$ cat a.txt\nhello\n```" in new
    assert new.endswith("```text\n2\n```\n")


pytestmark = pytest.mark.realdata

PUBLIC = "with the public file"


def printed_and_shown(page: Path) -> list[tuple[str, str]]:
    """Return what the marked blocks of a page print in the current folder, and what they show."""
    marked = [b for b in run_pages.blocks(page.read_text(encoding="utf-8")) if b.of == PUBLIC]
    found = []
    for code, output in zip(marked[::2], marked[1::2], strict=True):
        assert (code.language, output.language) == ("python", "text")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code.body, page.name, "exec"), {})
        found.append((out.getvalue(), output.body))
    assert found
    return found


def test_a_public_crowd(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with np.load(shared / "data" / "cifar10h" / "data.npz", allow_pickle=False) as data:
        np.save("cifar10h-counts.npy", data["counts"].astype(np.int64))
    for printed, shown in printed_and_shown(DOCS / "tutorials" / "crowd.md"):
        assert printed == shown


def test_the_public_rankings(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shared / "data" / "derm_ddx")
    for printed, shown in printed_and_shown(DOCS / "tutorials" / "rankings.md"):
        assert printed == shown
