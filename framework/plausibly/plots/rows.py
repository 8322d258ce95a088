"""A study as rows: one a method, with a dot a split, their middle and their mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.extras import require
from plausibly.plots.palette import BLUE, VERMILION
from plausibly.plots.style import Axes, tone

# In other shapes too: told apart without colour.
NOTHING = {"marker": "D", "markersize": 8, "color": VERMILION, "markeredgecolor": "white"}
GUARANTEED = {"marker": "o", "markersize": 9, "color": BLUE, "markeredgecolor": "white"}
VACUOUS = {"marker": "o", "markersize": 9, "color": "white", "markeredgecolor": BLUE}

_MIDDLE = (5, 95)
_GOLDEN = 0.6180339887498949


def draw_rows(axes: Axes, rows: Sequence[xr.Dataset], measure: str, form: str) -> None:
    """Draw a row a part of a study, and nothing around them.

    Parameters
    ----------
    axes : matplotlib Axes
    rows : sequence of Dataset
        Each with `measure`, (split,), and what is guaranteed.
    measure : str
    form : str
        How means are written, such as ``".3f"``.
    """
    for place, one in enumerate(rows):
        _draw_row(axes, one, measure, form, place)
    axes.grid(axis="x", color=tone(axes).grid)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _draw_row(axes: Axes, one: xr.Dataset, measure: str, form: str, row: int) -> None:
    """Draw a method: its splits as dots, their middle as a line, their mean as a mark."""
    ink = tone(axes)
    values = one[measure].values
    style = mark_of(one)
    colour = style["markeredgecolor"] if style is VACUOUS else style["color"]
    axes.scatter(values, row + _jitter(values), s=9, color=colour, alpha=0.35, linewidths=0)
    low, high = np.percentile(values, _MIDDLE)
    axes.plot([low, high], [row, row], color=ink.ink, linewidth=2, solid_capstyle="round")
    mean = float(values.mean())
    axes.plot([mean], [row], linestyle="", zorder=4, **style)
    axes.annotate(
        format(mean, form),
        (mean, row),
        xytext=(0, 16),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=9,
        color=ink.ink,
        bbox={"boxstyle": "round,pad=0.1", "facecolor": ink.paper, "edgecolor": "none"},
    )


def _jitter(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return offsets that spread dots evenly, and always in the same way."""
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return (ranks.astype(np.float64) * _GOLDEN % 1.0 - 0.5) * 0.4


def legend_of(rows: Sequence[xr.Dataset], ink: str) -> list[object]:
    """Return what says what the marks that there are, dots and lines are."""
    lines = require("matplotlib.lines", extra="plots", whose="a figure")
    there = [mark_of(one) for one in rows]
    handles = [
        lines.Line2D([], [], linestyle="", label=f"mean, {text}", **style)
        for text, style in (
            ("nothing guaranteed", NOTHING),
            ("guaranteed", GUARANTEED),
            ("guaranteed by every label", VACUOUS),
        )
        if style in there
    ]
    middle = lines.Line2D([], [], color=ink, linewidth=2, label="middle 90 % of the splits (dots)")
    return [*handles, middle]


def mark_of(one: xr.Dataset) -> Mapping[str, Any]:  # Any: arguments of matplotlib
    """Return the mark of a method: by whether something is guaranteed, and what it is worth."""
    if bool(one["vacuous"].all()):
        return VACUOUS
    return NOTHING if np.isnan(one["guaranteed_level"]) else GUARANTEED
