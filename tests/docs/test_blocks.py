"""Pages, run: every block of Python and every command shows what it prints."""

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
import cut_docs
import run_pages
from cut_docs import PAGES as AUTHORS
from plausibly import plugin
from plausibly.plugin import READER, readers, resolve
from plausibly.protocols import KINDS
from readme_world import LABELS, rows, write_files
from template_world import Environment, installed

DOCS = run_pages.DOCS
_STUDY = re.compile(r"^(?<!-->\n\n)```toml\n(.*?)^```$", re.M | re.S)


PAGES = {
    "guarantee": 3,
    "evaluation": 4,
    "figures": 4,
    "report": 2,
    "studies": 5,
    "planning": 3,
    "serving": 5,
    "agreement": 3,
    "crowd": 2,
    "files": 3,
    "formats": 11,
    "labels": 2,
    "likelihood-ratios": 1,
    "rankings": 4,
    "scores": 2,
    "regions": 2,
    "sklearn": 4,
    "networks#Hugging Face": 2,
    "networks#PyTorch": 2,
    "comparison": 1,
}
"""Number of blocks of each page, or of its section, that show what they print."""

LONG = (
    *("serving", "studies", "rankings"),
    *("report", "agreement", "planning", "scores"),
)
NEEDED = {
    **dict.fromkeys(("sklearn", "comparison", "likelihood-ratios"), "sklearn"),
    "networks#PyTorch": "torch",
}


def check(page: Path, count: int | None = None) -> None:
    """Run the blocks of a page in the current folder."""
    outputs = run_pages.run(page)
    for output in outputs:
        if not output.right:  # so that pytest shows where they differ
            assert re.sub(r" +$", "", output.block.body, flags=re.M) == output.printed, (
                "python scripts/run_pages.py --write"
            )
    assert count is None or len(outputs) == count


def without_study_file(name: str, folder: Path) -> Path:
    """Return a copy of a page or of its section, but for the study file that it shows."""
    name, _, section = name.partition("#")
    text = (DOCS / f"{name}.md").read_text("utf-8")
    if section:
        text = text.partition(f"## {section}\n")[2].partition("\n## ")[0]
    page = folder / "page.md"
    page.write_text(_STUDY.sub("", text), encoding="utf-8")
    return page


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in PAGES]
)
def test_blocks_show_what_they_print(name: str, tmp_path: Path) -> None:
    pytest.importorskip(NEEDED.get(name, "numpy"), reason="the page is about it")
    page = without_study_file(name, tmp_path)
    with run_pages.folder(tmp_path, page):
        check(page, PAGES[name])


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_calibrators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cli_world.make_views(tmp_path, risks="labels.csv")
    check(without_study_file("calibrators", tmp_path), 11)


@pytest.mark.slow
@pytest.mark.parametrize("page", run_pages.pages(), ids=lambda page: page.stem)
def test_start_and_tutorials_show_what_they_print(page: Path, tmp_path: Path) -> None:
    with run_pages.folder(tmp_path, page):
        check(page)
    for figure in run_pages.figures(page.read_text(encoding="utf-8")):
        drawn, kept = (path / figure for path in (tmp_path, run_pages.FIGURES))
        words = run_pages.words(drawn.read_text(encoding="utf-8"))
        assert words
        assert words == run_pages.words(kept.read_text(encoding="utf-8"))


def test_the_night_of_the_service_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (DOCS / "serving.md").read_text(encoding="utf-8")
    (night,) = (block.body for block in run_pages.blocks(page) if block.of == "nightly.sh")
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    first, *request, last = night.splitlines()
    assert first == "set -e"
    for line in request:
        name, *words = shlex.split(line.partition(" > ")[0])
        assert name == "plausibly"
        ran = cli_world.run(*words)
        assert (ran.code, ran.err) == (0, "")
    old, new = last.removeprefix("mv ").split()
    assert (tmp_path / old).is_file()
    assert new in page.partition("## The service")[0]


def test_readers_are_asked_for_by_names_and_options_that_they_have() -> None:
    page = (DOCS / "formats.md").read_text(encoding="utf-8")
    request = [
        shlex.split(match[1])[1]
        for *_, typed in rows(page, "your answers are in")
        if (match := re.search(r"`(--reader .+)`", typed))
    ]
    assert len(request) == 13
    for reader in request:
        like = tomllib.loads(f"it = {reader}")["it"] if reader.startswith("{") else reader
        resolve(READER, like)
    for reader in cli_world.run("plugins", "list", "--kind", "reader", "--json").document[
        "components"
    ]:
        name = reader["name"]
        assert any(name in typed for typed in request) or name in (
            "annotation-table",  # what convert writes: read without being asked for
            "long-table",  # recognised by its columns
            "selectors",  # of one public data set: in the tutorial on rankings
        )


PUBLIC = "with the public file"


def printed_and_shown(page: Path) -> list[tuple[str, str]]:
    """Return what the marked blocks of a page print in the current folder, and what they show."""
    marked = [b for b in run_pages.blocks(page.read_text(encoding="utf-8")) if b.of == PUBLIC]
    pieces = []
    for code, output in zip(marked[::2], marked[1::2], strict=True):
        assert (code.language, output.language) == ("python", "text")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code.body, page.name, "exec"), {})
        pieces.append((out.getvalue(), output.body))
    assert pieces
    return pieces


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["crowd", "rankings"])
def test_public_files(
    name: str, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shared / "data" / "derm_ddx" if name == "rankings" else tmp_path)
    if name == "crowd":
        with np.load(shared / "data" / "cifar10h" / "data.npz", allow_pickle=False) as data:
            np.save("cifar10h-counts.npy", data["counts"].astype(np.int64))
    for printed, shown in printed_and_shown(DOCS / "tutorials" / f"{name}.md"):
        assert printed == shown


__all__ = ["installed"]

NAMES = sorted(path.name for path in AUTHORS.glob("*.md"))
RUN = ["format.md", "index.md"]

_END = "\x1e"


def blocks(name: str) -> list[run_pages.Block]:
    return run_pages.blocks(cut_docs.page(name))


def commands(block: run_pages.Block) -> list[tuple[list[str], str]]:
    """Return the words of each command of a console block, and the output that it shows."""
    pieces = []
    for part in re.split(r"^\$ ", block.body.replace("\\\n", " "), flags=re.M)[1:]:
        command, _, shown = part.partition("\n")
        pieces.append((shlex.split(command), shown))
    return pieces


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
    typed = [command for block in shells for command in commands(block)]
    assert typed
    for words, shown in typed:
        assert words[0] == "plausibly"
        ran: cli_world.Ran
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
    pieces = blocks(name)
    places = [place for place, f in enumerate(pieces) if f.language == "python" and not f.mark]
    if not places:
        assert name == "format.md"
        return
    script = "".join(f"{pieces[place].body}\nprint({_END!r}, end='')\n" for place in places)
    (data / "page.py").write_text(script, encoding="utf-8")
    ran = installed.python("-W", "error", "page.py", cwd=data)
    assert ran.err == ""
    *printed, rest = ran.out.split(_END)
    assert (len(printed), rest) == (len(places), "")
    for place, out in zip(places, printed, strict=True):
        after = pieces[place + 1] if place + 1 < len(pieces) else None
        if after is not None and after.language == "text":
            assert out == after.body
        else:
            assert (out == "") == ("print(" not in pieces[place].body)


PAGE = {path.stem: cut_docs.page(path.name) for path in sorted(AUTHORS.glob("*.md"))}
OF_KIND = {
    **dict.fromkeys(("annotation", "reader"), PAGE["format"]),
    **dict.fromkeys(("aggregator", "score", "calibrator", "combiner"), PAGE["methods"]),
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
    pieces = blocks(name)
    for before, block in zip([None, *pieces], pieces, strict=False):
        if block.mark == "cut" or (block.mark == "file" and name in RUN):
            continue
        assert block.mark == ""
        assert name in RUN
        assert block.language in ("python", "console", "text")
        if block.language == "text":
            assert before is not None
            assert before.language == "python"
