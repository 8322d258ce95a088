"""Pages of pictures in the look of `plausibly.plots`, and the line that says what was done."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeAlias

import xarray as xr

from plausibly.atomic import replacing
from plausibly.errors import counted
from plausibly.extras import require
from plausibly.paper.data import WHOSE
from plausibly.plots.palette import BLUE, GREEN, INK, PURPLE, VERMILION
from plausibly.plots.style import (
    AGGREGATED,
    OTHERS,
    SIZE,
    SMALL,
    TRUE,
    VOTED,
    Look,
    edges,
    headroom,
    histogram,
    legend,
    target,
    tidy,
)
from plausibly.plots.style import Axes as Panel

__all__ = [
    "AGGREGATED",
    "METHOD_LOOKS",
    "OTHERS",
    "SIMULATED",
    "SIZE",
    "SMALL",
    "TRUE",
    "VOTED",
    "Form",
    "Look",
    "Panel",
    "edges",
    "finish",
    "foot",
    "headroom",
    "histogram",
    "legend",
    "new_page",
    "save",
    "target",
    "tidy",
]

Form: TypeAlias = Literal["png", "svg"]
Page: TypeAlias = Any  # Any: a Figure of matplotlib, which may not be installed

_SALT = "plausibly"
_DPI = 150
SIMULATED = "SIMULATED PREDICTIONS: no model made these numbers"


METHOD_LOOKS: tuple[Look, ...] = (
    Look(colour=VERMILION, line="--"),
    Look(colour=BLUE),
    Look(colour=PURPLE, line=":"),
    Look(colour=GREEN, line="-."),
)
"""For calibrations as curves: on votes first."""


def new_page(width: float, height: float) -> Page:
    """Return an empty picture, in inches.

    Raises
    ------
    MissingExtra
        ``extra-missing`` without matplotlib.
    """
    figures = require("matplotlib.figure", extra="demo", whose=WHOSE)
    return figures.Figure(figsize=(width, height), layout="constrained")


def finish(page: Page, title: str, numbers: xr.Dataset) -> Page:
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


def save(page: Page, path: Path, form: Form) -> None:
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
