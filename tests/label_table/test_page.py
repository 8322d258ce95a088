"""docs/labels.md, run: every block prints what the page shows, every policy is in its table."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import tomllib
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from cli_world import run
from plausibly.config.draft import draft
from plausibly_builtins.label_set.spread import Spread
from readme_world import links

_FENCE = re.compile(r"(?:<!-- file: (\S+) -->\n\n)?^```(\w+)\n(.*?)^```$", re.M | re.S)


@pytest.fixture
def page(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page, in a folder with the files that it shows."""
    monkeypatch.chdir(tmp_path)
    path = project / "docs" / "labels.md"
    for name, _, text in fences(path):
        if name:
            (tmp_path / name).write_text(text, encoding="utf-8")
    return path


def fences(page: Path) -> list[tuple[str, str, str]]:
    """Return file, language and text of each block."""
    return _FENCE.findall(page.read_text(encoding="utf-8"))


def test_blocks_print_what_the_page_shows(page: Path) -> None:
    names: dict[str, object] = {}
    shown = [one for one in fences(page) if one[1] in ("python", "text")]
    assert [language for _, language, _ in shown] == ["python", "text"] * (len(shown) // 2)
    assert shown
    for (_, _, code), (_, _, text) in zip(shown[::2], shown[1::2], strict=True):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page.name, "exec"), names)  # the page's own blocks
        assert printed.getvalue() == text


def test_commands_show_what_the_page_shows(page: Path) -> None:
    commands = [text for _, language, text in fences(page) if language == "console"]
    assert commands
    for text in commands:
        line, _, shown = text.partition("\n")
        dollar, command, *words = shlex.split(line)
        assert (dollar, command) == ("$", "plausibly")
        ran = run(*words)
        assert (ran.code, ran.err, ran.out) == (0, "", shown)


def test_the_study_is_right(page: Path) -> None:
    (text,) = (text for _, language, text in fences(page) if language == "toml")
    parts = draft(tomllib.loads(text)).parts
    spread = parts["aggregator"]
    assert isinstance(spread, Spread)
    assert (spread.parents, type(spread.inner).__name__) == ("frequency", "InverseRank")


def test_every_policy_is_in_the_table(page: Path) -> None:
    rows = re.findall(r'^\| `"(\w+)"`', page.read_text(encoding="utf-8"), re.M)
    assert set(rows) == set(get_args(get_type_hints(Spread)["parents"]))


def test_links_lead_to_pages(page: Path) -> None:
    for link in links(page.read_text(encoding="utf-8")):
        assert (page.parent / link.partition("#")[0]).is_file(), link
