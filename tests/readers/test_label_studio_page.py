"""docs/formats.md, the sections about annotation tools: run, and Label Studio's complete."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import attrs
import pytest

from plausibly_builtins.readers.label_studio import NAMING, NUMBERS, LabelStudio

_FENCE = re.compile(r"(?:<!-- file: (\S+) -->\n\n)?^```(\w+)\n(.*?)^```$", re.M | re.S)


@pytest.fixture
def page(project: Path) -> str:
    """Return the sections from Label Studio to doccano."""
    text = (project / "docs" / "formats.md").read_text(encoding="utf-8")
    return text.partition("## Label Studio\n")[2].partition("\n## Wide tables\n")[0]


def test_blocks_print_what_the_page_shows(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed = ""
    shown = 0
    for file, language, text in _FENCE.findall(page):
        if file:
            (tmp_path / file).write_text(text, encoding="utf-8")
        elif language == "python":
            stream = io.StringIO()
            with contextlib.redirect_stdout(stream):
                exec(compile(text, "formats.md", "exec"), names)  # the page's own blocks
            printed = stream.getvalue()
        elif language == "text":
            assert printed == text
            shown += 1
    assert shown == 3


def test_every_option_and_type_is_told_of(page: str) -> None:
    own = {field.name for field in attrs.fields(LabelStudio)} - {"states", "none_of_these"}
    assert {name for name in (*own, *NAMING, *NUMBERS) if f"`{name}" not in page} == set()
