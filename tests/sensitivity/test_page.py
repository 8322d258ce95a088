"""docs/sensitivity.md, run: every block of Python prints what the page shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

import plausibly
from sensitivity_world import crowd

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Votes and probabilities as files."""
    predictions, votes = crowd()
    frame = plausibly.to_frame(votes)
    rows = zip(frame["example"], frame["annotator"], frame["label"], strict=True)
    lines = ["task,worker,label", *(",".join(row) for row in rows)]
    (tmp_path / "votes.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    labels = predictions["label"].values.tolist()
    lines = [",".join(["example", *labels])]
    for name, values in zip(predictions["example"].values, predictions.values, strict=True):
        lines.append(",".join([str(name), *(repr(float(value)) for value in values)]))
    (tmp_path / "probabilities.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_blocks(folder: Path, project: Path) -> None:
    page = (project / "docs" / "sensitivity.md").read_text(encoding="utf-8")
    blocks = _FENCE.findall(page)
    assert [language for language, _ in blocks] == [
        *("python", "text"),
        "console",
        "text",  # on real data: test_realdata.py
        *("python", "text"),
    ]
    names: dict[str, object] = {}
    for code, shown in ((blocks[0][1], blocks[1][1]), (blocks[4][1], blocks[5][1])):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, "sensitivity.md", "exec"), names)  # the page's own blocks
        assert out.getvalue() == shown
