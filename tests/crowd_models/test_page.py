"""docs/crowd.md, run: every block of Python prints what the page shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from plausibly.plugin import AGGREGATOR
from plausibly.registry import default

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
SAID = {"ann": "YNYNN", "bob": "YNYNN", "cat": "YNYYN", "dan": "YYYYY", "eve": "NYNYY"}


def test_the_blocks(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        f"scan_{scan},{who},{'tumour' if answer == 'Y' else 'none'}"
        for who, answers in SAID.items()
        for scan, answer in enumerate(answers, start=1)
    ]
    text = "\n".join(["task,worker,label", *rows, ""])
    (tmp_path / "votes.csv").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    page = (project / "docs" / "crowd.md").read_text(encoding="utf-8")
    blocks = _FENCE.findall(page)
    assert [language for language, _ in blocks] == ["python", "text"] * 5
    names: dict[str, object] = {}
    for (_, code), (_, shown) in zip(blocks[::2], blocks[1::2], strict=True):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, "crowd.md", "exec"), names)  # the page's own blocks
        assert out.getvalue() == shown


def test_every_aggregator_of_the_family_is_on_the_page(project: Path) -> None:
    page = (project / "docs" / "crowd.md").read_text(encoding="utf-8")
    ours = [e for e in default().entries() if e.source.plugin == "crowd-models"]
    assert len(ours) == 5
    for entry in ours:
        assert f"| `{entry.name}` |" in page
        if default().create(AGGREGATOR, entry.name).joint:
            assert page.count(f"| `{entry.name}` |") == 3


def test_every_component_of_crowd_kit_is_on_the_page(project: Path) -> None:
    page = (project / "docs" / "crowd.md").read_text(encoding="utf-8")
    theirs = [e for e in default().entries() if e.source.plugin == "crowd-kit"]
    assert len(theirs) == 8
    for entry in theirs:
        assert f"| `{entry.qualified}` |" in page
