"""The pages for authors: commands, blocks and files run, and no part of the code is missing."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import cli_world
import cut_docs
import run_pages
from cut_docs import PAGES
from plausibly import plugin
from plausibly.plugin import readers
from plausibly.protocols import KINDS
from readme_world import LABELS, write_files
from template_world import Environment, Ran, installed

__all__ = ["installed"]

NAMES = sorted(path.name for path in PAGES.glob("*.md"))
RUN = ["format.md", "index.md", "plugins.md"]

_END = "\x1e"


def blocks(name: str) -> list[run_pages.Block]:
    return run_pages.blocks(cut_docs.page(name))


def commands(block: run_pages.Block) -> list[tuple[list[str], str]]:
    """Return the words of each command of a console block, and the output that it shows."""
    found = []
    for part in re.split(r"^\$ ", block.body.replace("\\\n", " "), flags=re.M)[1:]:
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
    for block in blocks(name):
        if block.mark == "file" and "/" not in block.of:
            (folder / block.of).write_text(block.body, encoding="utf-8")
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
    shells = [block for block in blocks(name) if block.language == "console"]
    typed = [one for block in shells for one in commands(block)]
    assert typed
    for words, shown in typed:
        assert words[0] == "plausibly"
        ran: cli_world.Ran | Ran
        if words[1:3] == ["plugins", "new"]:  # where it is installed, its name is taken
            ran = cli_world.run(*words[1:])
        else:
            ran = installed.plausibly(*words[1:], cwd=data, code=None)
        assert (ran.code, ran.err) == (0, ""), (words, ran.err)
        assert ran.out
        assert shown in ("", ran.out)


@pytest.mark.parametrize("name", RUN)
def test_the_blocks_of_python_print_what_the_page_shows(
    name: str, data: Path, installed: Environment
) -> None:
    found = blocks(name)
    places = [place for place, f in enumerate(found) if f.language == "python" and not f.mark]
    if not places:
        assert name == "format.md"
        return
    script = "".join(f"{found[place].body}\nprint({_END!r}, end='')\n" for place in places)
    (data / "page.py").write_text(script, encoding="utf-8")
    ran = installed.python("-W", "error", "page.py", cwd=data)
    assert ran.err == ""
    *printed, rest = ran.out.split(_END)
    assert (len(printed), rest) == (len(places), "")
    for place, out in zip(places, printed, strict=True):
        after = found[place + 1] if place + 1 < len(found) else None
        if after is not None and after.language == "text":
            assert out == after.body
        else:
            assert (out == "") == ("print(" not in found[place].body)


PAGE = {path.stem: cut_docs.page(path.name) for path in sorted(PAGES.glob("*.md"))}
OF_KIND = {
    **dict.fromkeys(("annotation", "reader"), PAGE["format"]),
    **dict.fromkeys(("score", "calibrator", "combiner"), PAGE["methods"]),
    "aggregator": PAGE["aggregator"],
}
KIND_NAMES = [kind.name for kind in KINDS]


@pytest.mark.parametrize("page", PAGE)
def test_every_mark_is_filled(page: str) -> None:
    assert len(cut_docs.marks(PAGE[page])) == PAGE[page].count("<!-- cut: ")


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_a_page_has_all_its_parts(kind: str) -> None:
    marks = cut_docs.marks(OF_KIND[kind])
    assert {("protocol", kind), ("rules", kind), ("components", kind)} <= set(marks)
    name = next(name for name, of in cut_docs.NEW.items() if of == kind)
    module = name.replace("-", "_")
    assert ("file", f"{name}/{module}/{kind}.py") in marks
    assert ("file", f"{name}/tests/test_kit.py") in marks
    assert f"`plausibly plugins new {name} --kind {kind}`" in OF_KIND[kind]


def test_what_an_author_can_import_is_listed() -> None:
    table = PAGE["index"].partition("## What `plausibly.plugin` offers")[2]
    listed = set(re.findall(r"`(\w+)`", table))
    protocols = {kind.protocol.__name__ for kind in KINDS}
    assert {*dir(plugin), *dir(readers)} - listed == protocols


@pytest.mark.parametrize("name", NAMES)
def test_blocks_are_cut_run_or_output(name: str) -> None:
    found = blocks(name)
    for before, block in zip([None, *found], found, strict=False):
        if block.mark == "cut" or (block.mark == "file" and name in RUN):
            continue
        assert block.mark == ""
        assert name in RUN
        assert block.language in ("python", "console", "text")
        if block.language == "text":
            assert before is not None
            assert before.language == "python"
