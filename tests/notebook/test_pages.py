"""docs/figures.md and docs/notebooks.md, run: every block, the table of figures, the links."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

import cli_world
from plausibly import plots
from plausibly.plots import reading

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a user who has calibrated a predictor."""
    path = tmp_path_factory.mktemp("pages")
    cli_world.make(path)
    with contextlib.chdir(path):
        words = "calibrate -a votes.csv -p probabilities.csv -o predictor.nc"
        assert cli_world.run(*words.split()).code == 0
    return path


@pytest.mark.parametrize("name", ["figures.md", "notebooks.md"])
def test_the_blocks_print_what_the_page_shows(
    name: str, project: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    page = (project / "docs" / name).read_text(encoding="utf-8")
    blocks = [(found[0], found[1]) for found in _FENCE.findall(page)]
    names: dict[str, object] = {}
    for (language, text), after in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, name, "exec"), names)  # the page's own blocks
            assert after == ("text", out.getvalue())
    assert sum(language == "python" for language, _ in blocks) > 2


def test_the_table_lists_every_figure_with_what_it_is_of(project: Path) -> None:
    page = (project / "docs" / "figures.md").read_text(encoding="utf-8")
    rows = [row.split(" | ") for row in page.splitlines() if row.startswith("| `")]
    listed = {name: row[1] for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    assert sorted(listed) == sorted(dir(plots))
    for figure, kinds in reading.FIGURES.items():
        for kind in kinds:
            maker = reading.KINDS[kind].made_by.partition("(")[0].rpartition(".")[2]
            assert maker in listed[figure], figure
