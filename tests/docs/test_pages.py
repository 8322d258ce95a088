"""The pages for authors, run: every command, every block of Python, every file that they show."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import attrs
import pytest

import cli_world
import cut_docs
from cut_docs import PAGES
from readme_world import LABELS, write_files
from template_world import Environment, installed

__all__ = ["installed"]

NAMES = sorted(path.name for path in PAGES.glob("*.md"))
RUN = ["format.md", "index.md", "plugins.md"]

_FENCE = re.compile(r"(?:<!-- (\w+): ([^>]+) -->\n\n)?^```(\w*)\n(.*?)^```$", re.M | re.S)
_END = "\x1e"


@attrs.frozen
class Fence:
    """A block of a page: its mark, where it has one, its language and its text."""

    mark: str
    of: str
    language: str
    text: str


def fences(name: str) -> list[Fence]:
    """Return the blocks of a page, in order."""
    page = cut_docs.page(name)
    return [Fence(*(part or "" for part in found)) for found in _FENCE.findall(page)]


def commands(fence: Fence) -> list[tuple[list[str], str]]:
    """Return the words of each command of a console block, and the output that it shows."""
    found = []
    for part in re.split(r"^\$ ", fence.text.replace("\\\n", " "), flags=re.M)[1:]:
        command, _, shown = part.partition("\n")
        found.append((shlex.split(command), shown))
    return found


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of a user."""
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_shown(name: str, folder: Path) -> None:
    """Write the files that a page shows; comparisons go on for all scans."""
    for fence in fences(name):
        if fence.mark == "file" and "/" not in fence.of:
            (folder / fence.of).write_text(fence.text, encoding="utf-8")
    pairs = folder / "pairs.csv"
    if pairs.is_file():
        known = {line.split(",")[0] for line in pairs.read_text().splitlines()}
        scans = [line.split(",")[0] for line in (folder / "probabilities.csv").read_text().split()]
        with pairs.open("a", encoding="utf-8") as file:
            for number, scan in enumerate(scans[1:]):
                if scan not in known:
                    left, right = LABELS[number % 3], LABELS[(number + 1 + number // 3 % 2) % 3]
                    file.write(f"{scan},ana,{left},{'>=<'[number % 3]},{right}\n")


@pytest.mark.parametrize("name", RUN)
def test_the_commands_do_what_the_page_shows(name: str, data: Path, installed: Environment) -> None:
    write_shown(name, data)
    asked = [
        one for fence in fences(name) if fence.language == "console" for one in commands(fence)
    ]
    assert asked
    for words, shown in asked:
        assert words[0] == "plausibly"
        if words[1:3] == ["plugins", "new"]:  # where it is installed, its name is taken
            made = cli_world.run(*words[1:])
            code, out, err = made.code, made.out, made.err
        else:
            ran = installed.plausibly(*words[1:], cwd=data, code=None)
            code, out, err = ran.code, ran.out, ran.err
        assert (code, err) == (0, ""), (words, err)
        assert out
        assert shown in ("", out)


@pytest.mark.parametrize("name", RUN)
def test_the_blocks_of_python_print_what_the_page_shows(
    name: str, data: Path, installed: Environment
) -> None:
    found = fences(name)
    blocks = [place for place, f in enumerate(found) if f.language == "python" and not f.mark]
    if not blocks:
        assert name == "format.md"
        return
    script = "".join(f"{found[place].text}\nprint({_END!r}, end='')\n" for place in blocks)
    (data / "page.py").write_text(script, encoding="utf-8")
    ran = installed.python("-W", "error", "page.py", cwd=data)
    assert ran.err == ""
    *printed, rest = ran.out.split(_END)
    assert (len(printed), rest) == (len(blocks), "")
    for place, out in zip(blocks, printed, strict=True):
        after = found[place + 1] if place + 1 < len(found) else None
        if after is not None and after.language == "text":
            assert out == after.text
        else:
            assert (out == "") == ("print(" not in found[place].text)


@pytest.mark.parametrize("name", NAMES)
def test_blocks_are_cut_run_or_output(name: str) -> None:
    found = fences(name)
    for before, fence in zip([None, *found], found, strict=False):
        if fence.mark == "cut" or (fence.mark == "file" and name in RUN):
            continue
        assert fence.mark == ""
        assert name in RUN
        if fence.language == "text":
            assert before is not None
            assert before.language == "python"
        else:
            assert fence.language in ("python", "console")
