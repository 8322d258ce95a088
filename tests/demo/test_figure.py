"""The figure: the right axes, nothing on top of anything, and the same bytes each time."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from plausibly.demo import study, subjects
from plausibly.plots import sets
from plots_world import laid_out, outside, overlapping

from .runs import result

NAMES: tuple[subjects.Name, ...] = ("nodules", "toy")


@cache
def drawn(name: subjects.Name) -> Any:  # Any: a Figure of matplotlib, which types do not see
    """Return the figure, laid out as it is saved."""
    return laid_out(study.draw(result(name)))


@pytest.mark.parametrize("name", NAMES)
def test_axes_say_what_they_show(name: subjects.Name) -> None:
    coverage, sizes = drawn(name).axes
    assert coverage.get_xlabel() == "aggregated coverage"
    assert sizes.get_xlabel() == "labels in a prediction set"
    assert [text.get_text() for text in coverage.get_yticklabels()] == list(study.EVERY)
    assert coverage.get_title() == "wanted: 0.9"
    dashed = [line for line in coverage.lines if line.get_linestyle() == "--"]
    assert [list(line.get_xdata()) for line in dashed] == [[0.9, 0.9]]
    low, high = coverage.get_ylim()
    assert low > high  # the first method on top, as in the table


@pytest.mark.parametrize("name", NAMES)
def test_a_dot_is_a_split_and_a_mark_is_the_mean(name: subjects.Name) -> None:
    measured = result(name).study.isel(alpha=0)
    for panel, (measure, (_, form)) in zip(drawn(name).axes, study.PANELS.items(), strict=True):
        values = measured[measure]
        dots = [points.get_offsets() for points in panel.collections]
        assert len(dots) == len(study.EVERY)
        for row, points in enumerate(dots):
            assert list(points[:, 0]) == list(values[row].values)
            assert (abs(points[:, 1] - row) < 0.25).all()
        assert [text.get_text() for text in panel.texts] == [
            format(float(value), form) for value in values.mean("split")
        ]
        low, high = panel.get_xlim()
        assert low < float(values.min())
        assert float(values.max()) < high


@pytest.mark.parametrize("name", NAMES)
def test_what_is_guaranteed_has_its_own_mark(name: subjects.Name) -> None:
    coverage = drawn(name).axes[0]
    marks = [
        (line.get_marker(), line.get_color())
        for line in coverage.lines
        if line.get_marker() not in ("None", None, "")
    ]
    styles = [sets.GUARANTEED] * 6
    styles[2] = sets.NOTHING
    if name == "nodules":
        # One nodule of each held-out patient: a guarantee on patients, and none on this mean.
        styles[4:] = sets.NOTHING, sets.VACUOUS
    assert marks == [(style["marker"], style["color"]) for style in styles]
    explained = [text.get_text() for text in drawn(name).legends[0].get_texts()]
    assert ("mean, vacuous: every set contains all labels" in explained) == (name == "nodules")


@pytest.mark.parametrize("name", NAMES)
def test_no_text_lies_on_another_or_is_cut(name: subjects.Name) -> None:
    assert not overlapping(drawn(name))
    assert not outside(drawn(name))
