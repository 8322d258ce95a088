"""One figure: what each method's sets cover over the splits, and how large they are."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any  # Any below: objects of matplotlib, which may not be installed

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.atomic import replacing
from plausibly.demo.study import Result
from plausibly.errors import counted
from plausibly.evaluation.study import METHOD, SPLIT
from plausibly.extras import require
from plausibly.labelled import names
from plausibly.palette import BLUE, INK, VERMILION

# In other shapes too: told apart without colour.
NOTHING = {"marker": "D", "markersize": 8, "color": VERMILION, "markeredgecolor": "white"}
GUARANTEED = {"marker": "o", "markersize": 9, "color": BLUE, "markeredgecolor": "white"}
VACUOUS = {"marker": "o", "markersize": 9, "color": "white", "markeredgecolor": BLUE}

PANELS = {
    "aggregated_coverage": ("aggregated coverage", ".3f"),
    "set_size": ("labels in a prediction set", ".2f"),
}
"""What is drawn: the title of the axis, and how its means are written."""

_MIDDLE = (5, 95)
_GOLDEN = 0.6180339887498949


def drawing() -> ModuleType:
    """Return matplotlib's figures.

    Raises
    ------
    MissingExtra
        ``extra-missing``.
    """
    return require("matplotlib.figure", extra="demo", whose="plausibly demo")


def write_figure(result: Result, path: Path) -> None:
    """Draw the study's figure and write it as PNG.

    Parameters
    ----------
    result : Result
    path : Path

    Raises
    ------
    MissingExtra
        ``extra-missing`` without matplotlib.
    InputError
        ``output-unwritable``.
    """
    drawn = draw(result)
    with replacing(path) as part:
        # No version of matplotlib inside: the same figures give the same file.
        drawn.savefig(part, format="png", dpi=150, metadata={"Software": None})


def draw(result: Result) -> Any:  # Any: a Figure of matplotlib, which may not be installed
    """Return the figure: a row a method, a dot a split, and the middle 90 % of the splits."""
    study = result.study.isel({names.ALPHA: 0})
    drawn = drawing().Figure(figsize=(10, 5), layout="constrained")
    panels = drawn.subplots(1, len(PANELS), sharey=True)
    for panel, (measure, (title, form)) in zip(panels, PANELS.items(), strict=True):
        for row in range(study.sizes[METHOD]):
            _draw_row(panel, study.isel({METHOD: row}), measure, form, row)
        panel.set_xlabel(title)
        panel.grid(axis="x", color="0.9")
        panel.set_axisbelow(True)
        for side in ("top", "right", "left"):
            panel.spines[side].set_visible(False)
        panel.tick_params(axis="y", length=0)
    first, second = panels
    methods = [str(name) for name in study[METHOD].values]
    first.set_yticks(range(len(methods)), methods)
    first.set_ylim(len(methods) - 0.5, -0.75)
    wanted = 1 - float(study[names.ALPHA])
    least = float(study["aggregated_coverage"].min())
    first.set_xlim(min(least, wanted) - 0.02, 1.02)
    first.locator_params(axis="x", nbins=6)
    first.axvline(wanted, color=INK, linestyle="--", linewidth=1.2, zorder=1)
    first.set_title(f"wanted: {wanted:g}", x=_share_of(first, wanted), fontsize=10, color=INK)
    second.set_xlim(0, result.study.attrs["labels"] * 1.06)
    drawn.legend(
        handles=_legend(study), loc="outside lower center", ncols=4, frameon=False, fontsize=9
    )
    nouns = result.subject.nouns
    halves = (
        f"{counted(study.sizes[SPLIT])} random {'half' if study.sizes[SPLIT] == 1 else 'halves'}"
    )
    by = "" if result.subject.group is None else f" by {result.subject.group}"
    drawn.suptitle(
        f"{100 * wanted:g} % sets for {counted(len(result.subject))} {nouns.examples}, on "
        f"{halves}{by}",
        x=0.01,
        ha="left",
        fontweight="bold",
    )
    return drawn


def _draw_row(
    panel: Any,  # Any: matplotlib axes; the extra may be missing where types are checked
    one: xr.Dataset,
    measure: str,
    form: str,
    row: int,
) -> None:
    """Draw a method: its splits as dots, their middle as a line, their mean as a mark."""
    values = one[measure].values
    style = _style(one)
    colour = style["markeredgecolor"] if style is VACUOUS else style["color"]
    panel.scatter(values, row + _jitter(values), s=9, color=colour, alpha=0.35, linewidths=0)
    low, high = np.percentile(values, _MIDDLE)
    panel.plot([low, high], [row, row], color=INK, linewidth=2, solid_capstyle="round")
    mean = float(values.mean())
    panel.plot([mean], [row], linestyle="", zorder=4, **style)
    panel.annotate(
        format(mean, form),
        (mean, row),
        xytext=(0, 16),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=9,
        color=INK,
        bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"},
    )


def _share_of(panel: Any, value: float) -> float:  # Any: as above
    """Return where on a panel's axis a value lies, from 0 to 1."""
    low, high = panel.get_xlim()
    return float((value - low) / (high - low))


def _jitter(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return offsets that spread dots evenly, and always in the same way."""
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return (ranks.astype(np.float64) * _GOLDEN % 1.0 - 0.5) * 0.4


def _legend(study: xr.Dataset) -> list[Any]:  # Any: artists of matplotlib
    """Return what says what the marks that there are, dots and lines are."""
    lines = require("matplotlib.lines", extra="demo", whose="plausibly demo")
    there = [_style(study.isel({METHOD: row})) for row in range(study.sizes[METHOD])]
    handles = [
        lines.Line2D([], [], linestyle="", label=f"mean, {text}", **style)
        for text, style in (
            ("nothing guaranteed", NOTHING),
            ("guaranteed", GUARANTEED),
            ("guaranteed by every label", VACUOUS),
        )
        if style in there
    ]
    middle = lines.Line2D([], [], color=INK, linewidth=2, label="middle 90 % of the splits (dots)")
    return [*handles, middle]


def _style(one: xr.Dataset) -> dict[str, Any]:  # Any: arguments of matplotlib
    """Return the mark of a method."""
    if np.isnan(one["guaranteed_level"]):
        return NOTHING
    return VACUOUS if bool(one["vacuous"].all()) else GUARANTEED
