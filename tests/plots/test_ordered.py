"""Figures of ordered labels: rows in their order, and sets that are intervals as bars."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly import plots
from plausibly.evaluation import coverage_by
from plots_world import world

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

LABELS = ("severe", "mild", "none", "moderate")
ALONG = ["none", "mild", "moderate", "severe"]


def parts() -> tuple[xr.DataArray, xr.DataArray]:
    predictions, lam = world(80, LABELS)
    named = (predictions + 0.001) / predictions.sum("label")
    order = ("label", [ALONG.index(label) for label in LABELS])
    return (named / named.sum("label")).assign_coords(order=order), lam


def test_an_example_has_its_labels_in_their_order() -> None:
    predictions, lam = parts()
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


def test_sets_with_holes_are_no_bars_and_coverage_is_in_order() -> None:
    predictions, lam = parts()
    sets = plausibly.calibrate(predictions[:40], lam[:40]).predict(predictions[40:], "0.2")
    axes = plots.example(lam[40:], predictions[40:], sets)
    assert [text.get_text() for text in axes.get_yticklabels()] == ALONG
    (mark,) = (line for line in axes.lines if line.get_label().startswith("in the set"))
    assert mark.get_linestyle() == "None"
    axes = plots.labels(coverage_by(sets, lam[40:], by="label"))
    assert [text.get_text().split("\n")[0] for text in axes.get_yticklabels()] == ALONG
