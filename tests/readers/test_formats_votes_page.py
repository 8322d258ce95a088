"""docs/formats.md, the sections about ballots, counts, lists of votes and soft labels."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import attrs
import pytest

from plausibly.data.responses import ResponseOptions
from plausibly_builtins.readers.counts import Counts
from plausibly_builtins.readers.preflib import PrefLib
from plausibly_builtins.readers.soft_labels import SoftLabels
from plausibly_builtins.readers.vote_lists import VoteLists

READERS: dict[str, type[attrs.AttrsInstance]] = {
    "Ballots (PrefLib)": PrefLib,
    "Counts": Counts,
    "Lists of votes": VoteLists,
    "Soft labels": SoftLabels,
}
_FENCE = re.compile(r"(?:<!-- file: (\S+) -->\n\n)?^```(\w+)\n(.*?)^```$", re.M | re.S)


def section(project: Path, title: str) -> str:
    """Return the text of a section of the page."""
    page = (project / "docs" / "formats.md").read_text(encoding="utf-8")
    return re.split(r"^## ", page.partition(f"## {title}\n")[2], maxsplit=1, flags=re.M)[0]


@pytest.mark.parametrize("title", READERS)
def test_every_option_is_told_of(project: Path, title: str) -> None:
    shared = {field.name for field in attrs.fields(ResponseOptions)}
    own = {field.name for field in attrs.fields(READERS[title])} - shared
    text = section(project, title)
    assert {name for name in own if f"| `{name}` |" not in text} == set()


def test_blocks_print_what_the_page_shows(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    shown = 0
    for title in READERS:
        printed = ""
        for file, language, text in _FENCE.findall(section(project, title)):
            if file:
                (tmp_path / file).write_text(text, encoding="utf-8")
            elif language == "python":
                stream = io.StringIO()
                with contextlib.redirect_stdout(stream):
                    exec(compile(text, title, "exec"), names)  # the page's own blocks
                printed = stream.getvalue()
            else:
                assert printed == text
                shown += 1
    assert shown == len(READERS)
