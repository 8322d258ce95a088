"""The blocks that need public files, run on copies of these: they print what the page shows."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import numpy as np
import pytest

import run_pages
from site_pages import DOCS

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
