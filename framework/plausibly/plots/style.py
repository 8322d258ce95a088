"""The look of all figures: colours, strokes, texts, frames, and rows of points."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from io import BytesIO
from typing import Any, TypeAlias

import attrs
import numpy as np
import xarray as xr

from plausibly.evaluation.result import decimal, figures
from plausibly.extras import require
from plausibly.kernels.types import Floats, Numbers
from plausibly.palette import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, VERMILION

ELLIPSIS = "…"
UNREADABLE = "�"
WIDTH = 26
LINES = 2
_LETTER = 0.53  # mean width of a letter, in units of the size of the font


def shown_name(name: object, *, width: int = WIDTH, lines: int = LINES) -> str:
    text = " ".join(str(name).split())
    text = "".join(UNREADABLE if unicodedata.category(c)[0] == "C" else c for c in text)
    text = text or '""'
    for room in range(width * lines, width, -1):  # a shorter cut may keep words whole
        broken = textwrap.wrap(_cut(text, room), width, break_on_hyphens=False)
        if len(broken) <= lines:
            return "\n".join(broken)
    return _cut(text, width)


def _cut(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    tail = room // 3
    return f"{text[: room - tail - 1].rstrip()}{ELLIPSIS}{text[-tail:].lstrip()}"


def shown_names(names: Sequence[object], *, width: int = WIDTH, lines: int = LINES) -> list[str]:
    """Return names as figures show them; equal ones after shortening are numbered."""
    shown = [shown_name(name, width=width, lines=lines) for name in names]
    twice = {text for text in shown if shown.count(text) > 1}
    return [f"{text} #{place + 1}" if text in twice else text for place, text in enumerate(shown)]


def heading(axes: Axes, title: str, *notes: str) -> None:
    text = axes.set_title(title, loc="left", fontsize=10, color=tone(axes).ink)
    text.set_parse_math(False)
    room = max(24, int(width_of(axes) * 72 / (text.get_fontsize() * _LETTER)))
    below = "; ".join(filter(None, notes))
    text.set_text("\n".join([*textwrap.wrap(title, room), *textwrap.wrap(below, room)]))


def width_of(axes: Axes) -> float:
    """Return the final width of axes whose rows are named, in inches."""
    axes.get_figure(root=True).draw_without_rendering()
    return float(axes.bbox.width / axes.figure.dpi)


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names, parse_math=False, fontsize=9)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


Axes: TypeAlias = Any  # Any: of matplotlib, which may not be installed where types are checked

SMALL = 8
DASHES = (0, (4, 2))
_DPI = 150
_BELOW = 0.45  # inches that the numbers and the name of an axis take
_LIGHT = "40"  # a quarter of full cover, in hexadecimal
_DARK = 0.4  # luminance below which paper counts as dark


@attrs.frozen(kw_only=True)
class Look:
    """Colour, stroke and mark of one measure or method, the same in all figures."""

    colour: str
    line: str = "-"
    hatch: str = ""
    marker: str = "o"


AGGREGATED = Look(colour=BLUE)
VOTED = Look(colour=VERMILION, line="--", hatch="///", marker="D")
TRUE = Look(colour=GREEN, line="-.", hatch="...", marker="s")
MASS = Look(colour=PURPLE, line=":", hatch="xx", marker="^")
SIZE = Look(colour=ORANGE, hatch="\\\\\\", marker="v")

MEASURES: Mapping[str, Look] = {
    "aggregated_coverage": AGGREGATED,
    "majority_vote_coverage": VOTED,
    "true_coverage": TRUE,
    "mass_coverage": MASS,
    "set_size": SIZE,
}

OTHERS: tuple[Look, ...] = (
    AGGREGATED,
    VOTED,
    TRUE,
    MASS,
    attrs.evolve(SIZE, line="--"),
    Look(colour=SKY, line="-.", hatch="++", marker="P"),
)
"""Looks of series that are no measure of coverage."""


@attrs.frozen(kw_only=True)
class Tone:
    """Greys of axes and text, on light and on dark paper."""

    ink: str
    paper: str
    grid: str
    muted: str


def tone(axes: Axes) -> Tone:
    colours = require("matplotlib.colors", extra="plots", source="a figure")
    written = require("matplotlib", extra="plots", source="a figure").rcParams["text.color"]
    # A transparent figure: the colour of text shows which background it is made for.
    dark, paper = luminance(*colours.to_rgb(written)) > _DARK, ""
    for part in (axes.figure, axes):
        *rgb, cover = colours.to_rgba(part.get_facecolor())
        if cover > 0.5:
            dark, paper = luminance(*rgb) < _DARK, colours.to_hex(rgb)
    if dark:
        return Tone(ink="0.93", paper=paper or "#000000", grid="0.3", muted="0.7")
    return Tone(ink=INK, paper=paper or "#FFFFFF", grid="0.9", muted="0.4")


def luminance(red: float, green: float, blue: float) -> float:
    """Return how light a colour looks, from 0 to 1 (weights of ITU-R BT.709)."""
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def axes_of(axes: Axes | None, figure: str, *, width: float = 6.4, height: float = 4.0) -> Axes:
    if axes is not None:
        return axes
    figures = require("matplotlib.figure", extra="plots", source=f"plausibly.plots.{figure}")
    made = figures.Figure(figsize=(width, height), layout="constrained")
    return made.add_subplot(axes_class=_shown_axes())


@cache
def _shown_axes() -> type:
    axes = require("matplotlib.axes", extra="plots", source="a figure")
    parts = {"_repr_png_": lambda axes: picture(axes.figure, "png"), "__module__": __name__}
    return type("Axes", (axes.Axes,), parts)


def picture(figure: Any, form: str) -> bytes:  # Any: as for Axes
    """Return a figure as PNG or SVG, without date and versions: the same figure, the same bytes."""
    matplotlib = require("matplotlib", extra="plots", source="a figure")
    unwritten = {"Software": None} if form == "png" else {"Date": None, "Creator": None}
    content = BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "plausibly"}):
        figure.savefig(content, format=form, dpi=_DPI, metadata=unwritten)
    return content.getvalue()


def tidy(axes: Axes, *, x: str, y: str, title: str = "", grid: str = "y") -> None:
    ink = tone(axes)
    axes.set(xlabel=x, ylabel=y, axisbelow=True)
    if title:
        axes.set_title(title, fontsize=10, loc="left", color=ink.ink)
    if grid:
        axes.grid(axis=grid, color=ink.grid)
    axes.spines[["top", "right"]].set_visible(False)


def tidy_rows(axes: Axes, x: str) -> None:
    tidy(axes, x=x, y="", grid="x")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _filled(look: Look, label: str) -> dict[str, object]:
    fill = f"{look.colour}{_LIGHT}"
    return {"facecolor": fill, "edgecolor": look.colour, "hatch": look.hatch, "label": label}


def histogram(axes: Axes, values: Floats, edges: Floats, look: Look, label: str) -> None:
    stroke = {"linestyle": look.line, "linewidth": 1.4}
    axes.hist(values, bins=edges, histtype="stepfilled", **stroke, **_filled(look, label))
    axes.locator_params(axis="x", nbins=5)


def bars(
    axes: Axes, places: Floats, heights: Numbers, width: float, look: Look, label: str
) -> Any:  # Any: bars of matplotlib, as for Axes
    return axes.bar(places, heights, width, **_filled(look, label))


def curve(axes: Axes, x: Numbers, y: Numbers, look: Look, label: str, **others: object) -> None:
    stroke = {"color": look.colour, "linestyle": look.line, "marker": look.marker, "markersize": 5}
    axes.plot(x, y, label=label, **stroke | others)


def dashed(axes: Axes, level: float, label: str = "", *, axis: str = "x") -> None:
    """Draw a dashed line at a level, by default named as the level wanted."""
    draw = axes.axvline if axis == "x" else axes.axhline
    label = label or f"wanted {level:g}"
    draw(level, color=tone(axes).ink, linestyle=DASHES, linewidth=1.2, label=label)


def headroom(axes: Axes, share: float = 0.3) -> None:
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + (high - low) * share)


def legend(axes: Axes, *, place: str = "best", columns: int = 1) -> None:
    ink = tone(axes)
    ground = {"facecolor": ink.paper, "edgecolor": "none", "framealpha": 0.9}
    axes.legend(loc=place, fontsize=SMALL, ncols=columns, labelcolor=ink.ink, **ground)


def legend_below(axes: Axes, handles: Sequence[object] | None = None, *, columns: int = 1) -> None:
    """Put a legend below the axis, of all labelled artists or of some."""
    handles = axes.get_legend_handles_labels()[0] if handles is None else handles
    if not handles:
        return
    transforms = require("matplotlib.transforms", extra="plots", source="a figure")
    down = transforms.ScaledTranslation(0, -_BELOW, axes.figure.dpi_scale_trans)
    made = axes.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.0, 0.0),
        bbox_transform=axes.transAxes + down,
        borderaxespad=0.0,
        ncols=columns,
        frameon=False,
        fontsize=SMALL,
        labelcolor=tone(axes).ink,
    )
    for text in made.get_texts():
        text.set_parse_math(False)


_BESIDE = ("axes fraction", "data")
_SPAN = {"linewidth": 2.2, "solid_capstyle": "butt", "marker": "|", "markersize": 8, "zorder": 2}


@attrs.frozen(kw_only=True)
class Dot:
    name: str
    mean: float
    low: float = np.nan
    high: float = np.nan
    look: Look
    note: str = ""


def dot(result: xr.Dataset, quantity: str, name: str, look: Look, note: str = "") -> Dot:
    mean, low, high = figures(result, quantity)
    return Dot(name=name, mean=mean, low=low, high=high, look=look, note=note)


def draw_rows(
    axes: Axes | None, figure: str, dots: Sequence[Dot], x: str, wanted: float | None = None
) -> Axes:
    """Draw a row per dot, with its interval and its number, beside the level wanted."""
    shown = shown_names([dot.name for dot in dots])
    rows = [f"{name}\n{dot.note}".rstrip() for name, dot in zip(shown, dots, strict=True)]
    lines = max((name.count("\n") + 1 for name in rows), default=1)
    height = 1.3 + max(0.42, 0.18 * lines) * max(2, len(dots))
    axes = axes_of(axes, figure, height=height)
    colours = tone(axes)
    muted = {"va": "center", "fontsize": SMALL, "color": colours.muted}
    beside = {"xycoords": _BESIDE, "va": "center", "annotation_clip": False}
    for row, dot in enumerate(dots):
        look = {"color": dot.look.colour, "marker": dot.look.marker, "linestyle": ""}
        if np.isfinite([dot.low, dot.high]).all():
            axes.plot([dot.low, dot.high], [row, row], color=dot.look.colour, **_SPAN)
        if np.isnan(dot.mean):
            axes.annotate("no example", (0.02, row), xycoords=_BESIDE, **muted)
            continue
        edge = {"markeredgecolor": colours.paper, "markersize": 7, "zorder": 3}
        axes.plot([dot.mean], [row], **look, **edge)
        text = decimal(dot.mean)
        axes.annotate(text, (1.01, row), fontsize=SMALL + 1, color=colours.ink, **beside)
    name_rows(axes, rows)
    if wanted is not None:
        dashed(axes, wanted)
    axes.set_xlim(right=1.03)
    tidy_rows(axes, x)
    axes.locator_params(axis="x", nbins=6)
    return axes
