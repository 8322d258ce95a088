"""Properties of every figure: axes in and out, nothing global, legible; its example runs."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st
from matplotlib.figure import Figure

import plausibly
from plausibly import plots
from plausibly.errors import MissingExtra
from plausibly.plots import reading, style
from plausibly.plots.style import shown_name, shown_names
from plots_world import FIGURES, draw, laid_out, made, outside, overlapping, parts, texts, world
from refusals import quiet, refused

ALL = pytest.mark.parametrize(("figure", "kind"), FIGURES)


@ALL
def test_a_figure_of_its_own_is_legible(figure: str, kind: str) -> None:
    before = made(kind).copy(deep=True)
    axes = laid_out(draw(figure, kind))
    assert isinstance(axes.figure, Figure)
    assert axes.has_data()
    assert not outside(axes)
    assert not overlapping(axes)
    assert made(kind).identical(before)
    title, *notes = axes.get_title("left").split("\n")
    assert title
    assert any(character.isdigit() for line in notes for character in line), "n or interval"
    assert axes.get_xlabel()


@ALL
def test_axes_of_a_user_are_drawn_into_and_returned(figure: str, kind: str) -> None:
    page = Figure()
    grid = page.add_gridspec(1, 2)
    left, right = (page.add_subfigure(grid[place]).subplots() for place in (0, 1))
    assert draw(figure, kind, axes=right) is right
    assert right.has_data()
    assert not left.has_data()
    assert len(right.figure.axes) == 1


def test_axes_show_themselves_in_a_notebook() -> None:
    assert draw("coverage", "evaluation")._repr_png_().startswith(b"\x89PNG")


def test_nothing_global_is_touched_and_nothing_heavy_is_imported() -> None:
    code = (
        "import sys, plausibly; from plausibly import plots;"
        "print(*{'numpy', 'xarray', 'matplotlib'} & set(sys.modules));"
        "import matplotlib, numpy as np, xarray as xr; known = matplotlib.rcParams;"
        "before = {key: known[key] for key in known if key != 'backend'};"
        "taus = xr.DataArray([0.1, 0.2], dims='alpha', coords={'alpha': [0.1, 0.2]});"
        "plots.threshold(taus).figure.draw_without_rendering();"
        "print('matplotlib.pyplot' in sys.modules, all(known[k] == before[k] for k in before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\nFalse True\n"


def test_marks_differ_without_colour_and_colours_to_any_eye() -> None:
    # Okabe and Ito, 2008.
    palette = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"}
    assert {look.colour for look in style.OTHERS} == palette
    looks = list(style.MEASURES.values())
    assert len({look.marker for look in looks}) == len(looks)
    assert len({(look.line, look.hatch) for look in looks}) == len(looks)
    assert len({look.marker for look in style.OTHERS}) == len(style.OTHERS)


def test_the_chosen_alpha_is_drawn() -> None:
    assert "alpha 0.2\n" in draw("coverage", "evaluation").get_title("left")
    assert "alpha 0.1\n" in draw("coverage", "evaluation", alpha=0.1).get_title("left")
    single = made("evaluation").isel(alpha=1)
    assert "alpha 0.1\n" in plots.coverage(single).get_title("left")
    with refused("figure-alpha", "alpha=0.2, or predict and evaluate at 0.3"):
        draw("coverage", "evaluation", alpha=0.3)


@pytest.mark.parametrize("figure", reading.FIGURES)
def test_other_results_are_refused(figure: str) -> None:
    for wrong in (xr.Dataset(), parts()[1]):
        with refused("figure-unsuitable", "expected the result of plausibly."):
            getattr(plots, figure)(wrong)


def test_a_refusal_names_the_call_and_the_figures_of_the_result() -> None:
    with refused(
        "figure-unsuitable",
        "by=ByRange(...)",
        "which has the figure uniformity, p_values",
        "hint plausibly.plots.strata(plausibly.evaluate(sets, plausibilities))",
    ):
        plots.strata(made("uniformity"))


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    with refused("extra-missing", 'pip install "plausibly[plots]"', kind=MissingExtra):
        draw("sizes", "evaluation")


def test_names_are_no_markup() -> None:
    axes = laid_out(draw("coverage", "study"))
    assert any("$a$" in text for text, _ in texts(axes))
    legend = laid_out(draw("alphas", "study")).get_legend().get_texts()
    assert [text.get_text() for text in legend] == ["_votes $a$", "expected <b>", "as wanted"]
    assert np.array([not text.get_parse_math() for text in legend]).all()


@given(st.text(max_size=400))
def test_every_name_fits(name: str) -> None:
    shown = shown_name(name, width=20, lines=2)
    assert shown
    lines = shown.split("\n")
    assert len(lines) <= 2
    assert all(len(line) <= 20 for line in lines)


def test_a_shortened_name_shows_its_ends() -> None:
    shown = shown_name("a finding of the left lower lobe that takes very many words to say")
    assert "…" in shown
    assert shown.startswith("a finding of the")
    assert shown.endswith("to say")
    assert "…" not in shown_name("a name of two lines, nothing of which is cut")
    assert shown_name("line\nbreak\ttab") == "line break tab"
    assert shown_name("\u202etxt.exe\x00") == "�txt.exe�"
    assert shown_name(" ") == '""'
    assert shown_name(7) == "7"


def test_names_that_look_alike_once_cut_are_numbered() -> None:
    long = ["a" * 100 + middle + "b" * 100 for middle in "xyz"]
    shown = shown_names([*long, "c"])
    assert len(set(shown)) == 4
    assert shown[0].endswith("#1")
    assert shown[3] == "c"


def test_the_table_lists_every_figure_with_what_it_is_of(project: Path) -> None:
    page = (project / "docs" / "figures.md").read_text(encoding="utf-8")
    rows = [row.split(" | ") for row in page.splitlines() if row.startswith("| `")]
    listed = {name: row[1] for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    assert sorted(listed) == sorted(dir(plots))
    for figure, kinds in reading.FIGURES.items():
        for kind in kinds:
            maker = reading.KINDS[kind][0].partition("(")[0].rpartition(".")[2]
            assert maker in listed[figure], figure


# ---- examples


LABELS = ("benign", "unsure", "malignant")


@pytest.fixture(scope="module")
def known() -> dict[str, object]:
    predictions, plausibilities = world(120, LABELS)
    predictions = (predictions + 0.001) / 1.003
    predictor = plausibly.calibrate(predictions[:60], plausibilities[:60])
    names, drawn = predictions.example.values[60:].tolist(), np.random.default_rng(0)
    votes = [(name, who, str(drawn.choice(LABELS))) for name in names for who in ("ana", "ben")]
    annotations = plausibly.build_annotations("single-label", votes, LABELS)
    return {
        "plausibly": plausibly,
        "plots": plots,
        "predictor": predictor,
        "predictions": predictions[60:],
        "plausibilities": plausibilities[60:],
        "annotations": annotations,
        "sets": predictor.predict(predictions[60:], [0.2, 0.1]),
        "risk": dict(zip(LABELS, ("low", "low", "high"), strict=True)),
    }


@pytest.mark.parametrize("figure", dir(plots))
def test_the_example_runs(
    figure: str, known: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = doctest.DocTestFinder(recurse=False).find(
        getattr(plots, figure), figure, globs=dict(known)
    )
    assert example.examples
    with quiet():
        assert doctest.DocTestRunner().run(example).failed == 0
