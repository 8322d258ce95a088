"""Pages of the reproduction: options, claims, numbers, and pictures."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import attrs
import numpy as np
import xarray as xr

from plausibly.atomic import replacing
from plausibly.calibration.alphas import AlphaLike
from plausibly.data import names
from plausibly.errors import counted
from plausibly.extras import require
from plausibly.kernels.types import Floats
from plausibly.palette import BLUE, GREEN, INK, PURPLE, VERMILION
from plausibly.paper.data import WHOSE, Data
from plausibly.plots.style import (
    AGGREGATED,
    OTHERS,
    SIZE,
    SMALL,
    TRUE,
    VOTED,
    Axes as Panel,
    Look,
    edges,
    headroom,
    histogram,
    legend,
    target,
    tidy,
)

Drawing: TypeAlias = Any  # Any: a Figure of matplotlib, which may not be installed

Progress: TypeAlias = Callable[[int, int], object]
"""Called with the number of finished steps, and of all."""


@attrs.frozen(kw_only=True)
class Asked:
    """How much of a figure is wanted, and on which data."""

    splits: int = 100
    seed: int = 1
    data: Data | None = None
    alpha: AlphaLike | None = None
    progress: Progress | None = None

    def tick(self, done: int, total: int) -> None:
        """Take note of a finished step."""
        if self.progress is not None:
            self.progress(done, total)


class Reproduction(Protocol):
    """A figure of the paper: numbers first, and picture and verdict from the numbers alone."""

    def measure(self, asked: Asked) -> xr.Dataset:
        """Return the numbers, labelled."""
        ...

    def draw(self, numbers: xr.Dataset) -> Drawing:
        """Return the picture of the numbers."""
        ...

    def claim(self, numbers: xr.Dataset) -> Claim:
        """Return what the paper says, and whether the numbers agree."""
        ...


CLOSE = 0.01
"""Means of coverage this near to a level are said to be at it."""


@attrs.frozen(kw_only=True)
class Claim:
    """A statement of the paper beside what a figure's numbers say of it."""

    says: str
    measured: str
    parts: Mapping[str, bool]

    @property
    def held(self) -> bool:
        """Whether every part held."""
        return all(self.parts.values())

    @property
    def verdict(self) -> str:
        """Whether it held: yes, or no and in what."""
        wrong = [part for part, held in self.parts.items() if not held]
        return f"no: not {', not '.join(wrong)}" if wrong else "yes"

    def line(self, figure: str) -> str:
        """Return the line of ``claims.txt`` that belongs to a figure."""
        return f"{figure}: held: {self.verdict}. Claim: {self.says}. Measured: {self.measured}."


def decimal(value: float, digits: int = 3) -> str:
    """Return a share without the zero before its point, as tables of coverage print it."""
    if math.isnan(value):
        return "-"
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def close(mean: float, level: float) -> bool:
    """Return whether a mean of coverage is at a level, to `CLOSE`."""
    return abs(mean - level) <= CLOSE


def mean_spread(values: Floats) -> str:
    """Return mean and standard deviation in words: ``.951 (spread .003)``."""
    spread = f" (spread {decimal(float(np.std(values, ddof=1)))})" if np.size(values) > 1 else ""
    return f"{decimal(float(np.mean(values)))}{spread}"


QUANTITY, VALUE, DATA, SIMULATED = "quantity", "value", "data", "simulated"
_SIMULATED = "simulated predictions"


def write_numbers(numbers: xr.Dataset, path: Path) -> None:
    """Write every variable of a Dataset as rows of quantity, coordinates and value."""
    dims = [str(dim) for dim in numbers.dims]
    data = str(numbers.attrs.get(DATA, ""))
    if numbers.attrs.get(SIMULATED):
        data = f"{data} ({_SIMULATED})"
    with replacing(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([DATA, QUANTITY, *dims, VALUE])
        for name, variable in numbers.data_vars.items():
            named = {
                str(dim): [_text(value) for value in numbers[dim].values.tolist()]
                for dim in variable.dims
            }
            for place in np.ndindex(*variable.shape):
                at = dict(zip(map(str, variable.dims), place, strict=True))
                where = [named[dim][at[dim]] if dim in at else "" for dim in dims]
                writer.writerow([data, name, *where, _text(variable.values[place].item())])


def _text(value: object) -> str:
    """Return a number in the shortest text that reads back as the same."""
    if isinstance(value, bool):
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)


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
SIMULATED_PREDICTIONS = "SIMULATED PREDICTIONS: no model made these numbers"


METHOD_LOOKS: tuple[Look, ...] = (
    Look(colour=VERMILION, line="--"),
    Look(colour=BLUE),
    Look(colour=PURPLE, line=":"),
    Look(colour=GREEN, line="-."),
)
"""For calibrations as curves: on votes first."""


def new_page(width: float, height: float) -> Page:
    """Return an empty picture, in inches."""
    figures = require("matplotlib.figure", extra="demo", whose=WHOSE)
    return figures.Figure(figsize=(width, height), layout="constrained")


def finish(page: Page, title: str, numbers: xr.Dataset) -> Page:
    """Write title and foot of a picture: what is shown, on which data, by how many splits."""
    simulated = bool(numbers.attrs.get("simulated"))
    page.suptitle(
        f"{title}\n{SIMULATED_PREDICTIONS}" if simulated else title,
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
    """Write a picture; the same numbers give the same file."""
    matplotlib = require("matplotlib", extra="demo", whose=WHOSE)
    # Neither the date nor the version of matplotlib, and names of parts that do not change.
    nothing = {"Software": None} if form == "png" else {"Date": None, "Creator": None}
    with replacing(path) as part, matplotlib.rc_context({"svg.hashsalt": _SALT}):
        page.savefig(part, format=form, dpi=_DPI, metadata=nothing)


COVERED = (
    ("voted_coverage", "voted", VOTED),
    ("aggregated_coverage", "aggregated", AGGREGATED),
)
SIZES = (("set_size", "", SIZE),)
Measure: TypeAlias = tuple[str, str, Look]
_WIDTH, _HEIGHT = 3, 5.6
_WIDE, _MARGIN = 20, 1.1


def draw(
    columns: Mapping[str, xr.Dataset],
    title: str,
    numbers: xr.Dataset,
    *,
    covered: Sequence[Measure] = COVERED,
    sizes: Sequence[Measure] = SIZES,
) -> Drawing:
    """Return the picture."""
    drawn = new_page(max(_WIDTH * len(columns), 7.5), _HEIGHT)
    panels = drawn.subplots(2, len(columns), sharex="row", sharey="row", squeeze=False)
    wanted = 1 - numbers.attrs[names.ALPHA]
    limits = [
        edges([one[name].values for one in columns.values() for name, _, _ in measures])
        for measures in (covered, sizes)
    ]
    least = min(float(one[name].min()) for one in columns.values() for name, _, _ in sizes)
    wide = least > 0 and limits[1][-1] > _WIDE * least  # every label in one column, few in others
    if wide:
        limits[1] = np.geomspace(least / _MARGIN, limits[1][-1] * _MARGIN, len(limits[1]))
    for place, (name, one) in enumerate(columns.items()):
        above, below = panels[:, place]
        for panel, measures, bins, digits in (
            (above, covered, limits[0], 3),
            (below, sizes, limits[1], 2),
        ):
            for measure, said, look in measures:
                values = one[measure].values
                what = f"{said}, mean" if said else "mean"
                histogram(panel, values, bins, look, f"{what} {values.mean():.{digits}f}")
        target(above, wanted)
        tidy(above, x="coverage (share)", y="" if place else "splits", title=name)
        tidy(below, x="mean set size (labels)", y="" if place else "splits")
    if wide:
        panels[1, 0].set_xscale("log")  # of the row
    headroom(panels[0, 0], 0.5)
    headroom(panels[1, 0], 0.15 + 0.12 * len(sizes))
    for above, below in panels.T:
        legend(above, place="upper left")
        legend(below, place="upper right")
    return finish(drawn, title, numbers)
