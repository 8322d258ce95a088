"""One look for all figures: colours, strokes, frames, histograms, and where a figure is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from io import BytesIO
from typing import Any, TypeAlias

import attrs
import numpy as np

from plausibly.extras import require
from plausibly.kernels.types import Floats, Numbers
from plausibly.plots.palette import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, VERMILION

Axes: TypeAlias = Any  # Any: of matplotlib, which may not be installed where types are checked

SMALL = 8
DASHES = (0, (4, 2))
_DPI = 150
_BELOW = 0.45  # inches that the numbers and the name of an axis take
_LIGHT = "40"  # a quarter of full cover, in hexadecimal
_DARK = 0.4  # luminance below which paper counts as dark


@attrs.frozen(kw_only=True)
class Look:
    """How one measure or method is drawn wherever it appears: by colour, stroke and mark.

    Attributes
    ----------
    colour : str
    line : str
        Stroke of its outline, so that it is known without colour.
    hatch : str
        Filling of its bars.
    marker : str
        Of its points.
    """

    colour: str
    line: str = "-"
    hatch: str = ""
    marker: str = "o"


AGGREGATED = Look(colour=BLUE)
VOTED = Look(colour=VERMILION, line="--", hatch="///", marker="D")
TRUE = Look(colour=GREEN, line="-.", hatch="...", marker="s")
MASS = Look(colour=PURPLE, line=":", hatch="xx", marker="^")
SIZE = Look(colour=ORANGE, line="-", hatch="\\\\\\", marker="v")

MEASURES: Mapping[str, Look] = {
    "aggregated_coverage": AGGREGATED,
    "voted_coverage": VOTED,
    "true_coverage": TRUE,
    "mass_coverage": MASS,
    "set_size": SIZE,
}

OTHERS: tuple[Look, ...] = (
    Look(colour=BLUE),
    Look(colour=VERMILION, line="--", hatch="///", marker="D"),
    Look(colour=GREEN, line="-.", hatch="...", marker="s"),
    Look(colour=PURPLE, line=":", hatch="xx", marker="^"),
    Look(colour=ORANGE, line="--", hatch="\\\\\\", marker="v"),
    Look(colour=SKY, line="-.", hatch="++", marker="P"),
)
"""For things in a row that are no measure of coverage."""


@attrs.frozen(kw_only=True)
class Tone:
    """What is drawn in no colour, on light or on dark paper."""

    ink: str
    paper: str
    grid: str
    muted: str


_ON_LIGHT = Tone(ink=INK, paper="#FFFFFF", grid="0.9", muted="0.4")
_ON_DARK = Tone(ink="0.93", paper="#000000", grid="0.3", muted="0.7")


def tone(axes: Axes) -> Tone:
    """Return the ink that can be read on the paper of these axes."""
    colours = require("matplotlib.colors", extra="plots", whose="a figure")
    for part in (axes, axes.figure):
        red, green, blue, cover = colours.to_rgba(part.get_facecolor())
        if cover > 0.5:
            dark = luminance(red, green, blue) < _DARK
            paper = colours.to_hex((red, green, blue))
            return attrs.evolve(_ON_DARK if dark else _ON_LIGHT, paper=paper)
    # Nothing but whatever the figure is laid upon; the user's text is meant to be read there.
    written = require("matplotlib", extra="plots", whose="a figure").rcParams["text.color"]
    return _ON_DARK if luminance(*colours.to_rgb(written)) > _DARK else _ON_LIGHT


def luminance(red: float, green: float, blue: float) -> float:
    """Return how light a colour looks, from 0 to 1 (weights of ITU-R BT.709).

    Parameters
    ----------
    red, green, blue : float
        From 0 to 1.
    """
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def axes_of(axes: Axes | None, *, whose: str, width: float = 6.4, height: float = 4.0) -> Axes:
    """Return the axes that were given, or those of a new figure.

    Parameters
    ----------
    axes : matplotlib Axes or None
    whose : str
        What needs matplotlib, for the message.
    width, height : float
        Of a new figure, in inches.

    Returns
    -------
    matplotlib Axes
        New ones show themselves in a notebook: their figure belongs to no window and to no list of
        figures, so nothing has to be closed.

    Raises
    ------
    MissingExtra
        ``extra-missing`` without matplotlib.
    """
    if axes is not None:
        return axes
    figures = require("matplotlib.figure", extra="plots", whose=whose)
    figure = figures.Figure(figsize=(width, height), layout="constrained")
    return figure.add_subplot(axes_class=_shown_axes())


@cache
def _shown_axes() -> type:
    """Return axes of matplotlib that a notebook shows as their picture."""
    axes = require("matplotlib.axes", extra="plots", whose="a figure")
    return type("Axes", (axes.Axes,), {"_repr_png_": _png, "__module__": __name__})


def _png(axes: Axes) -> bytes:
    """Return the picture of the figure that these axes are in."""
    written = BytesIO()
    axes.figure.savefig(written, format="png", dpi=_DPI)
    return written.getvalue()


def tidy(axes: Axes, *, x: str, y: str, title: str = "", grid: str = "y") -> None:
    """Name the axes and take away what says nothing."""
    ink = tone(axes)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(title, fontsize=10, loc="left", color=ink.ink)
    if grid:
        axes.grid(axis=grid, color=ink.grid)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def histogram(axes: Axes, values: Floats, edges: Floats, look: Look, label: str) -> None:
    """Draw one distribution in its own colour, stroke and filling."""
    axes.hist(
        values,
        bins=edges,
        histtype="stepfilled",
        facecolor=f"{look.colour}{_LIGHT}",
        edgecolor=look.colour,
        linestyle=look.line,
        hatch=look.hatch,
        linewidth=1.4,
        label=label,
    )
    axes.locator_params(axis="x", nbins=5)


def bars(axes: Axes, places: Floats, heights: Floats, width: float, look: Look, label: str) -> None:
    """Draw upright bars in the colour and filling of a look."""
    axes.bar(
        places,
        heights,
        width,
        facecolor=f"{look.colour}{_LIGHT}",
        edgecolor=look.colour,
        hatch=look.hatch,
        label=label,
    )


def ascending(
    axes: Axes,
    values: Floats,
    look: Look,
    label: str,
    places: Numbers,
    steps: str = "steps-mid",
) -> None:
    """Draw values in rising order over places that rise with them."""
    axes.plot(
        places,
        np.sort(values),
        color=look.colour,
        linestyle=look.line,
        linewidth=1.5,
        label=label,
        drawstyle=steps,
    )


def edges(values: Sequence[Floats], *, bins: int = 40, step: float | None = None) -> Floats:
    """Return bin edges that all these values share.

    Parameters
    ----------
    values : sequence of ndarray
    bins : int
        Number of bins over their range.
    step : float, optional
        Width of the bins instead.
    """
    together = np.concatenate([np.ravel(one) for one in values])
    low, high = float(together.min()), float(together.max())
    if step is not None:
        return np.arange(np.floor(low / step), np.ceil(high / step) + 2) * step - step / 2
    margin = max((high - low) * 0.02, 1e-3)
    return np.linspace(low - margin, high + margin, bins + 1)


def target(axes: Axes, level: float, label: str = "wanted", *, axis: str = "x") -> None:
    """Mark the level that was asked for."""
    draw: Callable[..., object] = axes.axvline if axis == "x" else axes.axhline
    name = f"{label} {level:g}"
    draw(level, color=tone(axes).ink, linestyle=DASHES, linewidth=1.2, label=name)


def headroom(axes: Axes, share: float = 0.3) -> None:
    """Make room above what is drawn, for a legend."""
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + (high - low) * share)


def legend(axes: Axes, *, place: str = "best", columns: int = 1) -> None:
    """Say what the strokes are."""
    ink = tone(axes)
    axes.legend(
        loc=place,
        fontsize=SMALL,
        ncols=columns,
        facecolor=ink.paper,
        edgecolor="none",
        labelcolor=ink.ink,
        framealpha=0.9,
    )


def legend_below(axes: Axes, handles: Sequence[object], columns: int = 2) -> None:
    """Say below the name of the axis what the strokes are."""
    if not handles:
        return
    transforms = require("matplotlib.transforms", extra="plots", whose="a figure")
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
