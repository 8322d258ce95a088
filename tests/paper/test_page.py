"""``docs/reproduce.md``: its commands and its Python run, and its verdicts are those measured."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest

from cli_world import make, run
from plausibly.paper.run import reproduce
from readme_world import blocks, commands, rows

from .runs import PLAIN, made


@pytest.fixture
def page(project: Path) -> str:
    return (project / "docs" / "reproduce.md").read_text(encoding="utf-8")


def test_commands_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path)
    typed = commands(page)
    assert len(typed) == 3
    for words in typed:
        if "--splits" in words:
            words[words.index("--splits") + 1] = "1"
        # Thirty examples are few: vacuous guarantees warn, and are no error.
        assert run(*words).code == 0, words


def test_python_prints_what_the_page_shows(page: str) -> None:
    (code,), (shown,) = blocks(page, "python"), blocks(page, "text")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "reproduce.md", "exec"), {})
    assert printed.getvalue() == shown


# What a handful of splits cannot decide: see test_claims.
MORE_SPLITS = {
    **dict.fromkeys(["variability", "ecdf-coverage", "coverage", "augmentation", "procedures"], 8),
    "naive-quantile": 30,
}


@pytest.mark.slow
def test_the_page_has_the_verdict_of_every_figure(page: str) -> None:
    verdicts = {row[0].strip("`"): row[3] for row in rows(page, "figure")}
    assert sorted(verdicts) == sorted(PLAIN)
    for name, verdict in verdicts.items():
        splits = MORE_SPLITS.get(name)
        one = made(name) if splits is None else reproduce(name, splits=splits)[0]
        assert verdict == ("yes" if one.claim.held else "no"), name
