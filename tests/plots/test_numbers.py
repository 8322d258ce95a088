"""Figures hold the numbers of the result: everything that is drawn is as recorded in ``drawn.txt``.

With ``PLAUSIBLY_WRITE_NETS`` set the file is written instead.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly import plots
from plausibly.errors import PlausiblyWarning
from plausibly.evaluation import ByLabel, coverage_by
from plots_world import FIGURES, LABELS, Axes, draw, laid_out, parts, world
from refusals import refused

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
    return " ".join(f"{value:.6g}" for value in np.ma.asarray(values).filled(np.nan).ravel())


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
