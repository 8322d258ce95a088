"""One look for all pictures: colours, frames, histograms, and the line that says what was done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import xarray as xr

from plausibly.arrays import Floats
from plausibly.atomic import replacing
from plausibly.errors import counted
from plausibly.extras import require
from plausibly.palette import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, VERMILION
from plausibly.reproduction.data import WHOSE

Form: TypeAlias = Literal["png", "svg"]
Panel: TypeAlias = (
    Any  # Any: axes of matplotlib, which may not be installed where types are checked
)

_SALT = "plausibly"
_DPI = 150
_GRID = "0.9"
_LIGHT = "40"  # a quarter of full cover, in hexadecimal
SMALL = 8
SIMULATED = "SIMULATED PREDICTIONS: no model made these numbers"


@attrs.frozen(kw_only=True)
class Look:
    """How one measure or method is drawn wherever it appears: by colour and by stroke.

    Attributes
    ----------
    colour : str
    line : str
        Stroke of its outline, so that it is known without colour.
    hatch : str
        Filling of its bars.
    """

    colour: str
    line: str = "-"
    hatch: str = ""


AGGREGATED = Look(colour=BLUE)
VOTED = Look(colour=VERMILION, line="--", hatch="///")
TRUE = Look(colour=GREEN, line="-.", hatch="...")

SIZE = Look(colour=ORANGE, line="-", hatch="\\\\\\")

OTHERS: tuple[Look, ...] = (
    Look(colour=BLUE),
    Look(colour=VERMILION, line="--", hatch="///"),
    Look(colour=GREEN, line="-.", hatch="..."),
    Look(colour=PURPLE, line=":", hatch="xx"),
    Look(colour=ORANGE, line="--", hatch="\\\\\\"),
    Look(colour=SKY, line="-.", hatch="++"),
)
"""For things in a row that are no measure of coverage."""

METHOD_LOOKS: tuple[Look, ...] = (
    Look(colour=VERMILION, line="--"),
    Look(colour=BLUE),
    Look(colour=PURPLE, line=":"),
    Look(colour=GREEN, line="-."),
)
"""For calibrations as curves: on votes first."""


def new_page(width: float, height: float) -> Any:  # Any: as for panels
    """Return an empty picture, in inches.

    Raises
    ------
    MissingExtra
        ``extra-missing`` without matplotlib.
    """
    figures = require("matplotlib.figure", extra="demo", whose=WHOSE)
    return figures.Figure(figsize=(width, height), layout="constrained")


def finish(page: Any, title: str, numbers: xr.Dataset) -> Any:  # Any: as for panels
    """Write title and foot of a picture: what is shown, on which data, by how many splits."""
    simulated = bool(numbers.attrs.get("simulated"))
    page.suptitle(
        f"{title}\n{SIMULATED}" if simulated else title,
        x=0.01,
        ha="left",
        fontweight="bold",
        fontsize=11,
        color=VERMILION if simulated else INK,
    )
    page.supxlabel(foot(numbers), x=0.01, ha="left", fontsize=SMALL, color=INK)
    return page


def foot(numbers: xr.Dataset) -> str:
    """Return the line that says on which data a figure stands, and what was asked for."""
    said = [str(numbers.attrs["about"])] if "about" in numbers.attrs else []
    for key in ("splits", "alpha", "seed"):
        if key in numbers.attrs:
            value = numbers.attrs[key]
            splits = "one random split" if value == 1 else f"{counted(int(value))} random splits"
            said.append(splits if key == "splits" else f"{key} {value}")
    return "; ".join(said)


def tidy(panel: Panel, *, x: str, y: str, title: str = "", grid: str = "y") -> None:
    """Name the axes of a panel and take away what says nothing."""
    panel.set_xlabel(x)
    panel.set_ylabel(y)
    if title:
        panel.set_title(title, fontsize=10, loc="left", color=INK)
    if grid:
        panel.grid(axis=grid, color=_GRID)
    panel.set_axisbelow(True)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


def histogram(panel: Panel, values: Floats, edges: Floats, look: Look, label: str) -> None:
    """Draw one distribution in its own colour, stroke and filling."""
    panel.hist(
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
    panel.locator_params(axis="x", nbins=5)


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


def target(panel: Panel, level: float, label: str = "wanted", *, axis: str = "x") -> None:
    """Mark the level that was asked for."""
    draw = panel.axvline if axis == "x" else panel.axhline
    draw(level, color=INK, linestyle=(0, (4, 2)), linewidth=1.2, label=f"{label} {level:g}")


def headroom(panel: Panel, share: float = 0.3) -> None:
    """Make room above what is drawn, for a legend."""
    low, high = panel.get_ylim()
    panel.set_ylim(low, high + (high - low) * share)


def legend(panel: Panel, *, place: str = "best", columns: int = 1) -> None:
    """Say what the strokes of a panel are."""
    panel.legend(
        loc=place,
        fontsize=SMALL,
        ncols=columns,
        facecolor="white",
        edgecolor="none",
        framealpha=0.9,
    )


def save(page: Any, path: Path, form: Form) -> None:  # Any: as for panels
    """Write a picture; the same numbers give the same file.

    Raises
    ------
    InputError
        ``output-unwritable``.
    """
    matplotlib = require("matplotlib", extra="demo", whose=WHOSE)
    # Neither the date nor the version of matplotlib, and names of parts that do not change.
    nothing = {"Software": None} if form == "png" else {"Date": None, "Creator": None}
    with replacing(path) as part, matplotlib.rc_context({"svg.hashsalt": _SALT}):
        page.savefig(part, format=form, dpi=_DPI, metadata=nothing)
