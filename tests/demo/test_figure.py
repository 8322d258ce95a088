"""The figure of the demo: rows as in the table, marks by guarantee, nothing on top of anything."""

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
def test_rows_are_those_of_the_table(name: subjects.Name) -> None:
    coverage, sizes = drawn(name).axes
    rows = [" ".join(text.get_text().split()) for text in coverage.get_yticklabels()]
    assert rows == list(study.EVERY)
    low, high = coverage.get_ylim()
    assert low > high  # the first method on top, as in the table
    assert coverage.get_xlabel().startswith("aggregated coverage")
    assert sizes.get_xlabel().startswith("labels per set")
    assert "1,378 nodules" in drawn("nodules")._suptitle.get_text()


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
    explained = [text.get_text() for text in coverage.get_legend().get_texts()]
    assert ("mean, vacuous: every set contains all labels" in explained) == (name == "nodules")


@pytest.mark.parametrize("name", NAMES)
def test_no_text_lies_on_another_or_is_cut(name: subjects.Name) -> None:
    assert not overlapping(drawn(name))
    assert not outside(drawn(name))
