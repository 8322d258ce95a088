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
from readme_world import indented, rows, write_files
from site_pages import DOCS, PROJECT, name, without_code


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


def test_no_figure_is_left_over() -> None:
    shown = {
        figure
        for page in run_pages.pages()
        for figure in run_pages.figures(page.read_text(encoding="utf-8"))
    }
    kept = {path.name: path for path in run_pages.FIGURES.iterdir()}
    assert set(kept) == shown
    assert all(path.stat().st_size < 80_000 for path in kept.values())


@pytest.mark.parametrize("page", run_pages.pages(), ids=name)
def test_a_page_is_short_and_asks_for_extras_that_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    prose = [line for line in without_code(text).splitlines() if not line.startswith("|")]
    assert len(" ".join(prose).split()) < 900
    assert not [line for line in prose if len(line) > 110 and "](" not in line]
    known = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = known["project"]["optional-dependencies"]
    for asked in re.findall(r'pip install "?\.\[([\w,]+)\]', text):
        assert set(asked.split(",")) <= set(extras)


def test_the_start_shows_the_table_of_the_first_screen() -> None:
    page = (DOCS / "start" / "five_minutes.md").read_text(encoding="utf-8")
    (shown,) = (block.body for block in run_pages.blocks(page) if block.of == "README")
    first_screen = (PROJECT / "README.md").read_text(encoding="utf-8").partition("\n## ")[0]
    assert shown.strip() in indented(first_screen)


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


def test_a_block_that_nothing_runs_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```toml\nx = 1\n```\n", encoding="utf-8")
    with pytest.raises(ValueError, match="a block of toml that nothing runs"):
        run_pages.run(page)
    page.write_text("```console\n$ plausibly nonsense\n```\n", encoding="utf-8")
    with pytest.raises(ValueError, match="plausibly nonsense ended with 2"):
        run_pages.run(page)


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
