"""What holds of every figure, and everything that is drawn, as recorded in ``drawn.txt``."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st
from matplotlib.figure import Figure

import plausibly
from plausibly import plots
from plausibly.annotators import label_disagreement
from plausibly.errors import InputError, MissingExtra, PlausiblyWarning
from plausibly.evaluation import ByLabel, coverage_by
from plausibly.plots import reading, style
from plausibly.plots.style import shown_name, shown_names
from plots_world import (
    FIGURES,
    LABELS,
    Axes,
    answers,
    draw,
    laid_out,
    made,
    outside,
    overlapping,
    parts,
    texts,
    world,
)
from refusals import refused

ALL = pytest.mark.parametrize(("figure", "kind"), FIGURES)


def test_every_figure_is_tried_with_every_kind_that_has_it() -> None:
    tried = {(figure, kind) for figure, kind in FIGURES}
    renamed = {"grouped": "evaluation", "confusion": "reliability"}
    asked = {(f, renamed.get(k, k)) for f, kinds in reading.FIGURES.items() for k in kinds}
    assert tried == asked
    others = {"example", "region", "threshold"}  # of arrays
    assert {figure for figure, _ in FIGURES} | others == set(dir(plots))


@ALL
def test_a_figure_of_its_own_is_legible(figure: str, kind: str) -> None:
    before = made(kind).copy(deep=True)
    axes = laid_out(draw(figure, kind))
    assert isinstance(axes.figure, Figure)
    assert axes.has_data()
    assert not outside(axes)
    assert not overlapping(axes)
    assert made(kind).identical(before)
    title, *said = axes.get_title("left").split("\n")
    assert title
    assert any(character.isdigit() for line in said for character in line), "n or interval"
    assert axes.get_xlabel()


@ALL
def test_given_axes_are_drawn_into_and_returned(figure: str, kind: str) -> None:
    left, right = Figure().subplots(1, 2)
    assert draw(figure, kind, axes=right) is right
    assert right.has_data()
    assert not left.has_data()
    assert len(right.figure.axes) == 2


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


def test_the_alpha_that_is_asked_for() -> None:
    one = made("evaluation").isel(alpha=1)
    assert "alpha 0.1\n" in plots.coverage(one).get_title("left")
    with pytest.raises(InputError) as caught:
        draw("coverage", "evaluation", alpha=0.3)
    assert (caught.value.name, caught.value.hint) == (
        "figure-alpha",
        "alpha=0.2, or predict and evaluate at 0.3",
    )


@pytest.mark.parametrize("figure", reading.FIGURES)
def test_other_results_are_refused_with_what_has_the_figure(figure: str) -> None:
    for wrong in (xr.Dataset({"x": 1}), xr.Dataset(), parts()[1]):
        with pytest.raises(InputError) as caught:
            getattr(plots, figure)(wrong)
        assert caught.value.name == "figure-unsuitable"
        assert "plausibly." in caught.value.expected


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    with pytest.raises(MissingExtra) as caught:
        draw("sizes", "evaluation")
    assert (caught.value.name, caught.value.hint) == (
        "extra-missing",
        'pip install "plausibly[plots]"',
    )


def test_names_are_no_markup() -> None:
    axes = laid_out(draw("coverage", "study"))
    assert any("$a$" in text for text, _ in texts(axes))
    legend = laid_out(draw("alphas", "study")).get_legend().get_texts()
    assert [one.get_text() for one in legend] == ["_votes $a$", "expected <b>", "as wanted"]
    assert np.array([not one.get_parse_math() for one in legend]).all()


@given(st.text(max_size=400))
def test_a_name_fits_whatever_it_is(name: str) -> None:
    shown = shown_name(name, width=20, lines=2)
    assert shown
    lines = shown.split("\n")
    assert len(lines) <= 2
    assert all(len(line) <= 20 for line in lines)


def test_what_is_cut_is_seen_to_be_cut() -> None:
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


GRADED = ("benign", "unsure", "malignant")


@pytest.fixture(scope="module")
def known() -> dict[str, object]:
    predictions, plausibilities = world(120, GRADED)
    predictions = (predictions + 0.001) / 1.003
    predictor = plausibly.calibrate(predictions[:60], plausibilities[:60])
    names, drawn = predictions.example.values[60:].tolist(), np.random.default_rng(0)
    votes = [(name, who, str(drawn.choice(GRADED))) for name in names for who in ("ana", "ben")]
    annotations = plausibly.build_annotations("single-label", votes, GRADED)
    return {
        "plausibly": plausibly,
        "plots": plots,
        "predictor": predictor,
        "predictions": predictions[60:],
        "plausibilities": plausibilities[60:],
        "annotations": annotations,
        "sets": predictor.predict(predictions[60:], [0.2, 0.1]),
        "risk": dict(zip(GRADED, ("low", "low", "high"), strict=True)),
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        assert doctest.DocTestRunner().run(example).failed == 0


RECORDED = Path(__file__).with_name("drawn.txt")
OPTIONS: dict[tuple[str, str], tuple[dict[str, object], ...]] = {
    ("coverage", "evaluation"): ({"alpha": 0.1},),
    ("groups", "evaluation"): ({"most": 2},),
    ("labels", "labels"): ({"most": 2},),
    ("p_values", "uniformity"): ({"bins": 10},),
    ("annotators", "reliability"): ({"most": 3},),
    ("disagreement", "disagreement"): ({"most": 2},),
    ("confusion", "reliability"): ({"annotator": "_r2"},),
}
"""Options with which figures are drawn once more."""


def numbers(values: object) -> str:
    flat: list[float] = np.ma.asarray(values).filled(np.nan).ravel().tolist()
    return " ".join(f"{value:.6g}" for value in flat)


def described(axes: Axes) -> Iterator[str]:
    """Yield all numbers and texts of a figure."""
    yield " / ".join([*axes.get_title("left").split("\n"), axes.get_xlabel(), axes.get_ylabel()])
    for ticks in (axes.get_xticklabels(), axes.get_yticklabels()):
        named = [tick.get_text() for tick in ticks if any(map(str.isalpha, tick.get_text()))]
        yield " | ".join(named).replace("\n", " / ")
    for line in axes.lines:
        label = "" if line.get_label().startswith("_child") else f"{line.get_label()}, "
        look = f"{line.get_marker()} {line.get_linestyle()} {line.get_drawstyle()}"
        data = (numbers(line.get_xdata()), numbers(line.get_ydata()))
        yield f"line {label}{line.get_color()} {look}: {'; '.join(data)}"
    for patch in axes.patches:
        if hasattr(patch, "get_data"):
            yield f"stairs {numbers(patch.get_data().values)}"
        else:
            yield f"patch {numbers(patch.get_extents().transformed(axes.transData.inverted()))}"
    for dots in axes.collections:
        yield f"dots {numbers(dots.get_offsets())}"
    for image in axes.images:
        yield f"image {numbers(image.get_array())}"
    yield " | ".join(text.get_text() for text in axes.texts)
    legend = axes.get_legend()
    yield " | ".join(text.get_text() for text in legend.get_texts()) if legend else "no legend"


def figures() -> Iterator[tuple[str, Axes]]:
    for figure, kind in FIGURES:
        for options in ({}, *OPTIONS.get((figure, kind), ())):
            yield f"{figure} of {kind} {options or ''}".rstrip(), draw(figure, kind, **options)
    predictor, new, lam, sets = parts()
    with pytest.warns(PlausiblyWarning, match="every set contains all labels at alpha 0.01"):
        taus = predictor.threshold([0.3, 0.01, 0.1])
    yield "threshold", plots.threshold(taus)
    several = xr.concat([taus + k for k in range(8)], "label").assign_coords(label=list("abcdefgh"))
    yield "threshold of 8 labels", plots.threshold(several)
    yield "example", plots.example(lam, new, sets, name="case 61")
    yield "example with other columns", plots.example(lam[:, ::-1], new, name="case 61")
    wide, answers = world(4, tuple(f"l{k}" for k in range(30)))
    named = {"mine": answers > 2, "yours": answers > 0}
    yield "example of 30 labels", plots.example(answers, wide, named, most=3)
    together = coverage_by(sets, lam, by=ByLabel(simultaneous=True))
    yield "labels together", plots.labels(together)


def test_everything_drawn_is_as_recorded() -> None:
    lines = []
    for title, axes in figures():
        lines += [f"# {title}", *described(axes), ""]
    if os.environ.get("PLAUSIBLY_WRITE_NETS"):
        RECORDED.write_text("\n".join(lines), encoding="utf-8")
    assert lines == RECORDED.read_text(encoding="utf-8").split("\n")


def test_what_is_not_there_is_refused() -> None:
    predictor, _, lam, _ = parts()
    with refused("figure-unsuitable", "predictor.threshold([0.05, 0.1, 0.2])"):
        plots.threshold(predictor.threshold(0.1))
    with refused("annotator-unknown", 'hint annotator="r1"'):
        draw("confusion", "reliability", annotator="other")
    with refused("example-unknown", 'hint name="case 60"'):
        plots.example(lam, name="other")
    for arrays in ((), (lam[0].drop_vars("example"),)):
        with refused("figure-unsuitable", "predictions or sets with the dim example"):
            plots.example(*arrays)


def test_a_region_is_drawn() -> None:
    predictions, lam = world(40, LABELS[:3])
    region = plausibly.calibrate_region(predictions + 1e-3, lam)
    one = (predictions + 1e-3).isel(example=[4])
    axes = plots.region(region, one / one.sum("label"), 0.2, plausibilities=lam.isel(example=[4]))
    assert axes.get_title("left") == "plausibilities of case 4"
    laid_out(axes)  # names of labels are no markup


GRADES = ("severe", "mild", "none", "moderate")
ALONG = ["none", "mild", "moderate", "severe"]


def graded() -> tuple[xr.DataArray, xr.DataArray]:
    predictions, lam = world(80, GRADES)
    named = (predictions + 0.001) / predictions.sum("label")
    order = ("label", [ALONG.index(label) for label in GRADES])
    return (named / named.sum("label")).assign_coords(order=order), lam


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_an_example_has_its_labels_in_their_order() -> None:
    predictions, lam = graded()
    p = plausibly.calibrate(predictions[:40], lam[:40], score="ordinal")
    new, answers = predictions[40:], lam[40:]
    sets = p.predict(new, "0.2")
    name = str(sets["example"].values[int(sets.sum("label").values.argmax())])
    axes = plots.example(answers, new, sets, name=name)
    assert [text.get_text() for text in axes.get_yticklabels()] == ALONG
    widths = [bar.get_width() for bar in axes.patches[:4]]
    assert widths == answers.sel(example=name, label=ALONG).values.tolist()
    (mark,) = (line for line in axes.lines if line.get_label().startswith("in the set"))
    rows = mark.get_ydata().tolist()
    assert rows == np.flatnonzero(sets.sel(example=name, label=ALONG)).tolist()
    assert rows == list(range(rows[0], rows[-1] + 1))
    assert mark.get_linestyle() == "-"


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_sets_with_holes_are_no_bars_and_coverage_is_in_order() -> None:
    predictions, lam = graded()
    sets = plausibly.calibrate(predictions[:40], lam[:40]).predict(predictions[40:], "0.2")
    axes = plots.example(lam[40:], predictions[40:], sets)
    assert [text.get_text() for text in axes.get_yticklabels()] == ALONG
    (mark,) = (line for line in axes.lines if line.get_label().startswith("in the set"))
    assert mark.get_linestyle() == "None"
    axes = plots.labels(coverage_by(sets, lam[40:], by="label"))
    assert [text.get_text().split("\n")[0] for text in axes.get_yticklabels()] == ALONG


NAMES = ("b", "a", "ü")


def table(votes: list[list[int]]) -> xr.Dataset:
    rows = [(f"e{i}", None, NAMES[k]) for i, answers in enumerate(votes) for k in answers]
    return plausibly.build_annotations("single-label", rows, NAMES)


VOTES = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=5), min_size=1, max_size=6)


@settings(max_examples=10)
@given(VOTES.filter(lambda votes: any(len(said) > 1 for said in votes)))
def test_every_pair_of_answers_is_counted(votes: list[list[int]]) -> None:
    wanted = np.zeros((3, 3))
    compared = [said for said in votes if len(said) > 1]
    for said in compared:
        pairs = Counter((said[i], said[j]) for i, j in permutations(range(len(said)), 2))
        for pair, count in pairs.items():
            wanted[pair] += count / sum(pairs.values()) / len(compared)
    found = label_disagreement(table(votes))
    np.testing.assert_allclose(found["together"].values, wanted, atol=1e-12)
    np.testing.assert_allclose(found["share"].values, wanted.sum(axis=1), atol=1e-12)
    assert found.attrs == {"n": len(votes), "compared": len(compared), "pairs": "answers"}
    both = [[sum(a in s and b in s for s in compared) for b in range(3)] for a in range(3)]
    assert found["examples"].values.tolist() == both


def test_the_diagonal_is_what_agreement_calls_percent() -> None:
    found = label_disagreement(answers())
    percent = plausibly.agreement(answers(), resamples=0)["value"].sel(measure="percent")
    assert float(np.trace(found["together"].values)) == pytest.approx(float(percent))


def test_of_plausibilities_both_labels_are_drawn() -> None:
    lam = plausibly.aggregate(answers())
    found = label_disagreement(lam)
    np.testing.assert_allclose(found["together"].values, lam.values.T @ lam.values / len(lam))
    assert found.attrs["pairs"] == "draws"
    moved = label_disagreement(lam[::-1])
    assert found.identical(moved)
    assert list(found["label"].values) == list(found["other"].values)


def test_one_answer_each_makes_no_pair() -> None:
    with pytest.raises(InputError) as caught:
        label_disagreement(table([[0], [1]]))
    assert (caught.value.name, caught.value.hint) == (
        "pairs-none",
        'plausibly.aggregate(annotations, "dawid-skene"), and what that gives',
    )
