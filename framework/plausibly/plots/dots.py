"""Rows of points with their intervals: coverage, strata, subgroups, labels, annotators."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from plausibly.plots.style import SMALL, Axes, Look, target, tidy, tone
from plausibly.plots.text import name_rows, share, shown_names

_ROW = 0.42
_LINE = 0.18
_AROUND = 1.3


@attrs.frozen(kw_only=True)
class Dot:
    """A point with its interval.

    Attributes
    ----------
    name : str
        As it is called, not as it is shown.
    mean, low, high : float
        NaN where there is none.
    note : str
        Beside its name, such as how many examples there are.
    look : Look
    """

    name: str
    mean: float
    low: float
    high: float
    look: Look
    note: str = ""


def height(dots: Sequence[Dot]) -> float:
    """Return the height of a figure of these rows, in inches."""
    named = shown_names([dot.name for dot in dots])
    lines = [name.count("\n") + 1 + bool(dot.note) for name, dot in zip(named, dots, strict=True)]
    return _AROUND + max(_ROW, _LINE * max(lines, default=1)) * max(2, len(dots))


def draw_dots(axes: Axes, dots: Sequence[Dot], *, digits: int = 3, top: float = 1.0) -> None:
    """Draw a row a point, the first on top, with its mean in numbers.

    Parameters
    ----------
    axes : matplotlib Axes
    dots : sequence of Dot
    digits : int
        Of the numbers.
    top : float
        Largest value that there can be.
    """
    ink = tone(axes)
    ends = np.array([[dot.low, dot.high, dot.mean] for dot in dots], dtype=np.float64)
    for row, dot in enumerate(dots):
        colour = dot.look.colour
        if np.isfinite([dot.low, dot.high]).all():
            axes.plot(
                [dot.low, dot.high],
                [row, row],
                color=colour,
                linewidth=2.2,
                solid_capstyle="butt",
                marker="|",
                markersize=8,
                zorder=2,
            )
        if np.isnan(dot.mean):
            axes.annotate(
                "no example", (0.02, row), xycoords=("axes fraction", "data"), va="center",
                fontsize=SMALL, color=ink.muted,
            )  # fmt: skip
            continue
        axes.plot(
            [dot.mean],
            [row],
            linestyle="",
            marker=dot.look.marker,
            markersize=7,
            color=colour,
            markeredgecolor=ink.paper,
            zorder=3,
        )
        axes.annotate(
            share(dot.mean, digits),
            (1.01, row),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=SMALL + 1,
            color=ink.ink,
            annotation_clip=False,
        )
    named = shown_names([dot.name for dot in dots])
    name_rows(
        axes,
        [
            f"{name}\n{dot.note}" if dot.note else name
            for name, dot in zip(named, dots, strict=True)
        ],
    )
    least = float(np.nanmin(ends)) if np.isfinite(ends).any() else 0.0
    margin = 0.04 * (top - min(least, top)) + 0.01 * top
    axes.set_xlim(max(0.0, least - margin) if least >= 0 else least - margin, top + margin)


def draw_shares(
    axes: Axes, dots: Sequence[Dot], *, x: str, wanted: float | None, title: str = ""
) -> None:
    """Draw shares of examples or plausibility, beside the one that is wanted."""
    draw_dots(axes, dots)
    if wanted is not None:
        low, high = axes.get_xlim()
        axes.set_xlim(min(low, wanted - 0.02), high)
        target(axes, wanted)
    tidy(axes, x=x, y="", title=title, grid="x")
    axes.spines["left"].set_visible(False)
    axes.locator_params(axis="x", nbins=6)
