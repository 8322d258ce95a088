"""The reproduction: its command, its page, and its pictures."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from pathlib import Path

import pytest

import plausibly
from cli_world import make, run
from plausibly.errors import InputError, MissingExtra
from plausibly.paper import figure
from plausibly.paper.run import Reproduced, reproduce
from plausibly.plots import style
from plots_world import laid_out, outside, overlapping, panels
from readme_world import blocks, commands, rows

from .runs import PLAIN, made, skin_folder


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_python_returns_the_numbers_and_writes_nothing(folder: Path) -> None:
    told: list[Reproduced] = []
    steps: list[tuple[str, int, int]] = []
    found = plausibly.reproduce(
        ["naive-quantile"],
        splits=2,
        told=told.append,
        progress=lambda *step: steps.append(step),
    )
    assert found == told
    assert steps == [("naive-quantile", 1, 2), ("naive-quantile", 2, 2)]
    assert found[0].written == ()
    assert repr(found[0]).startswith("Reproduced naive-quantile: held: ")
    assert not list(folder.iterdir())


@pytest.mark.parametrize("options", [{"predictions": 1}, {"cluster": "patient"}])
def test_half_of_own_data_is_refused(options: dict[str, object]) -> None:
    call = plausibly.reproduce
    with pytest.raises(InputError) as caught:
        call("ecdf", **options)  # type: ignore[arg-type]  # wrong on purpose
    assert caught.value.name == "figure-data"


def test_the_skin_case_on_the_command_line(folder: Path) -> None:
    derm = skin_folder(folder, model=False)
    ran = run("reproduce", "derm-realised", "--derm", derm, "-o", "out")
    assert (ran.code, "derm-file-missing" in ran.err) == (2, True)
    assert not (folder / "out").exists()
    ran = run(
        *("reproduce", "derm-realised", "--derm", derm, "--simulate", "--splits", "2"),
        *("-o", "out", "--json"),
    )
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["simulate"] is True


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


@pytest.mark.parametrize("name", PLAIN)
def test_a_picture_has_names_of_axes_a_foot_and_no_text_on_another(name: str) -> None:
    figure = laid_out(made(name).draw())
    shown = [panel for panel in panels(figure) if panel.axison and not panel.images]
    assert shown
    # Panels that share an axis name it once, at the edge.
    for panel in shown:
        column = [p for p in shown if p is panel or p.get_shared_x_axes().joined(p, panel)]
        row = [p for p in shown if p is panel or p.get_shared_y_axes().joined(p, panel)]
        assert any(p.get_xlabel() for p in column)
        assert any(p.get_ylabel() for p in row) or not list(panel.get_yticks())
    assert not overlapping(figure)
    assert not outside(figure)
    foot = figure._supxlabel.get_text()
    assert str(made(name).numbers.attrs["about"]) in foot
    assert "seed 1" in foot
    assert "SIMULATED" not in figure._suptitle.get_text()


@pytest.mark.parametrize("form", ["png", "svg"])
def test_the_same_numbers_give_the_same_file(form: figure.Form) -> None:
    first, second = (style.picture(made("ecdf").draw(), form) for _ in range(2))
    assert first == second
    assert first.startswith(b"\x89PNG" if form == "png" else b"<?xml")
    assert not re.search(rb"matplotlib v|dc:date", first.lower())


def test_without_matplotlib_nothing_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    with pytest.raises(MissingExtra) as caught:
        reproduce("ecdf", tmp_path / "out")
    assert (caught.value.name, caught.value.hint) == (
        "extra-missing",
        'pip install "plausibly[demo]"',
    )
    assert not (tmp_path / "out").exists()
