"""Pages of the reproduction: claims, tables of numbers, and pictures."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import xarray as xr

from plausibly.atomic import replacing
from plausibly.data import names
from plausibly.data.names import several
from plausibly.evaluation.result import decimal
from plausibly.extras import require
from plausibly.kernels.types import Floats
from plausibly.palette import BLUE, GREEN, INK, PURPLE, VERMILION
from plausibly.paper.data import SOURCE
from plausibly.plots import style
from plausibly.plots.style import Axes, Look

Drawing: TypeAlias = Any  # Any: a Figure of matplotlib, which may not be installed
Form: TypeAlias = Literal["png", "svg"]

CLOSE = 0.01
"""Largest distance from a level of a mean coverage that counts as equal."""


@attrs.frozen(kw_only=True)
class Claim:
    """A statement of the paper, with the numbers of a figure that hold or refute it."""

    says: str
    measured: str
    parts: Mapping[str, bool]

    @property
    def held(self) -> bool:
        return all(self.parts.values())

    @property
    def verdict(self) -> str:
        wrong = [part for part, held in self.parts.items() if not held]
        return f"no: not {', not '.join(wrong)}" if wrong else "yes"

    def line(self, figure: str) -> str:
        return f"{figure}: held: {self.verdict}. Claim: {self.says}. Measured: {self.measured}."


def wanted(numbers: xr.Dataset) -> float:
    """Return the level that a figure asks for, NaN for none."""
    return float(1 - numbers.attrs.get(names.ALPHA, np.nan))


def close(values: Floats | float, level: float) -> bool:
    """Return whether the mean of values is at a level."""
    return abs(float(np.mean(values)) - level) <= CLOSE


def mean_spread(values: Floats) -> str:
    """Return mean and standard deviation: ``0.951 (spread 0.003)``."""
    spread = f" (spread {decimal(float(np.std(values, ddof=1)))})" if np.size(values) > 1 else ""
    return f"{decimal(float(np.mean(values)))}{spread}"


def write_numbers(numbers: xr.Dataset, path: Path) -> None:
    """Write every variable of a Dataset as rows of quantity, coordinates and value."""
    simulated = " (simulated predictions)" if numbers.attrs.get("simulated") else ""
    data = f"{numbers.attrs.get('data', '')}{simulated}"
    with replacing(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["data", "quantity", *numbers.dims, "value"])
        for name, variable in numbers.data_vars.items():
            places = product(*(numbers[dim].values.tolist() for dim in variable.dims))
            values = variable.values
            each = (values.astype(int) if values.dtype == bool else values).ravel().tolist()
            for place, value in zip(places, each, strict=True):
                at = dict(zip(variable.dims, place, strict=True))
                writer.writerow([data, name, *(at.get(dim, "") for dim in numbers.dims), value])


SIMULATED_PREDICTIONS = "SIMULATED PREDICTIONS: no model made these numbers"

METHOD_LOOKS: tuple[Look, ...] = (
    Look(colour=VERMILION, line="--"),
    Look(colour=BLUE),
    Look(colour=PURPLE, line=":"),
    Look(colour=GREEN, line="-."),
)
"""Looks of curves by calibration, on majority votes first."""


def new_page(width: float, height: float) -> Drawing:
    figures = require("matplotlib.figure", extra="demo", source=SOURCE)
    return figures.Figure(figsize=(width, height), layout="constrained")


def framed(
    panel: Axes,
    x: str,
    y: str,
    title: str = "",
    *,
    grid: str = "y",
    level: float | None = None,
    room: float = 0,
    key: str = "upper left",
    columns: int = 1,
) -> None:
    """Add the level wanted, names of axes, room at the top, and a legend."""
    if level is not None:
        style.dashed(panel, level)
    style.tidy(panel, x=x, y=y, title=title, grid=grid)
    if room:
        style.headroom(panel, room)
    if key:
        style.legend(panel, place=key, columns=columns)


def key_above(page: Drawing, panel: Axes, columns: int) -> None:
    """Put the legend of one panel above the page, each label once."""
    once = dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True))
    where = {"loc": "outside upper right", "ncols": columns}
    page.legend(once.values(), once.keys(), fontsize=style.SMALL, frameon=False, **where)


def finish(page: Drawing, title: str, numbers: xr.Dataset) -> Drawing:
    """Write title and foot of a picture: data, number of splits, alpha and seed."""
    known = numbers.attrs
    parts = [str(known["about"])] if "about" in known else []
    if "splits" in known:
        count = int(known["splits"])
        parts.append("one random split" if count == 1 else several(count, "random split"))
    parts += [f"{key} {known[key]}" for key in ("alpha", "seed") if key in known]
    left, colour = {"x": 0.01, "ha": "left"}, INK
    if known.get("simulated"):
        title, colour = f"{title}\n{SIMULATED_PREDICTIONS}", VERMILION
    page.suptitle(title, fontweight="bold", fontsize=11, color=colour, **left)
    page.supxlabel("; ".join(parts), fontsize=style.SMALL, color=INK, **left)
    return page


Measure: TypeAlias = tuple[str, str, Look]
COVERED = (
    ("majority_vote_coverage", "majority vote, ", style.VOTED),
    ("aggregated_coverage", "aggregated, ", style.AGGREGATED),
)
SIZES = (("set_size", "", style.SIZE),)
_WIDTH, _LEAST, _HEIGHT = 3, 8, 5.6
_WIDE, _MARGIN = 20, 1.1


def draw_columns(
    columns: Mapping[str, xr.Dataset],
    title: str,
    numbers: xr.Dataset,
    *,
    covered: Sequence[Measure] = COVERED,
    sizes: Sequence[Measure] = SIZES,
) -> Drawing:
    """Return histograms over splits: coverage above, set size below."""
    page = new_page(max(_WIDTH * len(columns), _LEAST), _HEIGHT)
    panels = page.subplots(2, len(columns), sharex="row", sharey="row", squeeze=False)
    limits = [
        style.edges([column[name].values for column in columns.values() for name, _, _ in measures])
        for measures in (covered, sizes)
    ]
    least = min(float(column[name].min()) for column in columns.values() for name, _, _ in sizes)
    wide = least > 0 and limits[1][-1] > _WIDE * least  # every label in one column, few in others
    if wide:
        limits[1] = np.geomspace(least / _MARGIN, limits[1][-1] * _MARGIN, len(limits[1]))
    for place, (name, column) in enumerate(columns.items()):
        y = "" if place else "splits"
        for panel, measures, bins, digits in zip(
            panels[:, place], (covered, sizes), limits, (3, 2), strict=True
        ):
            for measure, prefix, look in measures:
                values = column[measure].values
                label = f"{prefix}mean {values.mean():.{digits}f}"
                style.histogram(panel, values, bins, look, label)
        framed(panels[0, place], "coverage (share)", y, name, level=wanted(numbers), key="")
        framed(panels[1, place], "mean set size (labels)", y, key="")
    if wide:
        panels[1, 0].set_xscale("log")  # of the row
    style.headroom(panels[0, 0], 0.5)
    style.headroom(panels[1, 0], 0.15 + 0.12 * len(sizes))
    for above, below in panels.T:
        style.legend(above, place="upper left")
        style.legend(below, place="upper right")
    return finish(page, title, numbers)
