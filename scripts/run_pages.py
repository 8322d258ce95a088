"""Run the blocks of the start and the tutorials: ``--write`` pastes what they print, with figures.

A page is read from above; every block is of one of these:

==================  ============================================================================
``python``          runs, with the names of the blocks before it; the ``text`` block behind it,
                    if there is one, is what it prints
``console``         lines with ``$`` run; the lines below are what the command prints, or nothing
                    at all, where the page does not show it
``file: NAME``      this mark above a block writes the block into a file of that name
``cut: WHAT``       this mark says that a test of its own knows where the block comes from
``sh``              is for installing, and does not run
==================  ============================================================================

A picture of ``_static/tutorials`` is a figure that the page saves under the same name.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import attrs

PROJECT = Path(__file__).resolve().parents[1]
DOCS = PROJECT / "docs"
FIGURES = DOCS / "_static" / "tutorials"
FOLDERS = ("start", "tutorials")

_FENCE = re.compile(
    r"(?:^<!-- (?P<mark>\w+): (?P<of>[^>]+) -->\n\n)?^```(?P<language>\w*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_FIGURE = re.compile(r"!\[[^\]]+\]\(\.\./_static/tutorials/([\w-]+\.svg)\)")


_SIZE = re.compile(r"[\d.]+ [kM]?B\b")


@attrs.frozen
class Block:
    """A block of a page: its mark, its language, its text, and where the text stands."""

    mark: str
    of: str
    language: str
    body: str
    start: int
    end: int


@attrs.frozen
class Shown:
    """What a page shows of one block, and what was printed."""

    block: Block
    printed: str

    @property
    def right(self) -> bool:
        """True if the page shows what was printed, but for the sizes of files."""
        return _SIZE.sub("", self.block.body) == _SIZE.sub("", self.printed)


def pages() -> list[Path]:
    """Return the pages whose blocks run, in the order of their names."""
    return sorted(page for folder in FOLDERS for page in (DOCS / folder).glob("*.md"))


def blocks(text: str) -> list[Block]:
    """Return the blocks of a page, in order."""
    return [
        Block(
            found["mark"] or "",
            found["of"] or "",
            found["language"],
            found["body"],
            *found.span("body"),
        )
        for found in _FENCE.finditer(text)
    ]


def figures(text: str) -> list[str]:
    """Return the names of the figures that a page shows."""
    return _FIGURE.findall(text)


def words(drawing: str) -> list[str]:
    """Return what is written in a figure, in order: the same wherever it was drawn."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawing)


def run(page: Path) -> list[Shown]:
    """Run the blocks of a page in the current folder; return what those that show output printed.

    Raises
    ------
    ValueError
        For a block that is none of those above, or a command that failed where none was expected.
    """
    names: dict[str, object] = {"__name__": "page"}
    found: list[Shown] = []
    printed: str | None = None
    for block in blocks(page.read_text(encoding="utf-8")):
        before, printed = printed, None
        if block.mark == "file":
            Path(block.of).write_text(block.body, encoding="utf-8")
        elif block.mark == "cut" or block.language == "sh":
            pass
        elif block.language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block.body, page.name, "exec"), names)
            printed = _plain(out.getvalue())
        elif block.language == "text" and before is not None:
            found.append(Shown(block, before))
        elif block.language == "console":
            found.append(Shown(block, "".join(_console(block, page.name))))
        else:
            msg = f"{page.name}: a block of {block.language or 'nothing'} that nothing runs"
            raise ValueError(msg)
    return found


def _console(block: Block, page: str) -> Iterator[str]:
    for part in filter(None, re.split(r"^(?=\$ )", block.body, flags=re.MULTILINE)):
        typed = re.match(r"\$ (?:.*\\\n)*.*\n", part)
        if typed is None:
            msg = f"{page}: a console block that does not start with $"
            raise ValueError(msg)
        shown = part[typed.end() :]
        code, out = _command(shlex.split(typed[0][2:].replace("\\\n", " ")))
        if code != 0 and not shown.startswith("error"):
            msg = f"{page}: {typed[0].strip()} ended with {code}\n{out}"
            raise ValueError(msg)
        yield typed[0]
        yield out if shown else ""


def _command(asked: list[str]) -> tuple[int, str]:
    from typer.testing import CliRunner

    from plausibly.cli.app import app

    name, *rest = asked
    if name == "cat":
        return 0, "".join(Path(file).read_text(encoding="utf-8") for file in rest)
    if name != "plausibly":
        return 127, f"{name}: not among the commands of a page\n"
    result = CliRunner().invoke(app, rest, prog_name="plausibly")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, _plain(result.output)


def _plain(printed: str) -> str:
    """Return what was printed without blanks at the ends of lines."""
    return re.sub(r" +$", "", printed, flags=re.MULTILINE)


def renewed(text: str, shown: list[Shown]) -> str:
    """Return a page with what was printed in the place of what it showed."""
    for one in reversed(shown):
        if one.right:
            continue
        text = text[: one.block.start] + one.printed + text[one.block.end :]
    return text


@contextlib.contextmanager
def folder(where: Path, page: Path) -> Iterator[None]:
    """Work in a folder with files of a user, unless the page writes them; draw without a screen."""
    import matplotlib

    from readme_world import write_files

    old = Path.cwd()
    if "$ plausibly example" not in page.read_text(encoding="utf-8"):
        write_files(where)
    os.chdir(where)
    try:
        with matplotlib.rc_context(
            {"backend": "agg", "svg.fonttype": "none", "svg.hashsalt": "plausibly"}
        ):
            yield
    finally:
        os.chdir(old)


def main(arguments: list[str] | None = None) -> int:
    """Say which pages show something else than what is printed, or write them anew."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, help="pages [default: all]")
    parser.add_argument("--write", action="store_true", help="paste what is printed")
    asked = parser.parse_args(arguments)
    wrong = 0
    for page in [given.resolve() for given in asked.pages] or pages():
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as where, folder(Path(where), page):
            shown = run(page)
            drawn = {name: Path(name).read_text(encoding="utf-8") for name in figures(text)}
        new = renewed(text, shown)
        wrong += new != text
        print("renewed" if new != text else "as it was", page.relative_to(PROJECT))
        if asked.write:
            page.write_text(new, encoding="utf-8")
            FIGURES.mkdir(exist_ok=True)
            for name, drawing in drawn.items():
                kept = FIGURES / name
                if not kept.exists() or words(kept.read_text(encoding="utf-8")) != words(drawing):
                    kept.write_text(drawing, encoding="utf-8")
    return 0 if asked.write else int(wrong > 0)


if __name__ == "__main__":
    sys.path.insert(0, str(PROJECT / "tests" / "support"))
    sys.exit(main())
