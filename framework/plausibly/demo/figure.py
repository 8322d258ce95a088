"""One figure: what each method's sets cover over the splits, and how large they are."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any  # Any below: objects of matplotlib, which may not be installed

from plausibly.atomic import replacing
from plausibly.data import names
from plausibly.demo.study import Result
from plausibly.errors import counted
from plausibly.evaluation.study import METHOD, SPLIT
from plausibly.extras import require
from plausibly.plots.palette import INK
from plausibly.plots.rows import GUARANTEED, NOTHING, VACUOUS, draw_rows, legend_of

__all__ = ["GUARANTEED", "NOTHING", "PANELS", "VACUOUS", "draw", "drawing", "write_figure"]

PANELS = {
    "aggregated_coverage": ("aggregated coverage", ".3f"),
    "set_size": ("labels in a prediction set", ".2f"),
}
"""What is drawn: the title of the axis, and how its means are written."""


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
    methods = [study.isel({METHOD: row}) for row in range(study.sizes[METHOD])]
    for panel, (measure, (title, form)) in zip(panels, PANELS.items(), strict=True):
        draw_rows(panel, methods, measure, form)
        panel.set_xlabel(title)
    first, second = panels
    first.set_yticks(range(len(methods)), [str(name) for name in study[METHOD].values])
    first.set_ylim(len(methods) - 0.5, -0.75)
    wanted = 1 - float(study[names.ALPHA])
    least = float(study["aggregated_coverage"].min())
    first.set_xlim(min(least, wanted) - 0.02, 1.02)
    first.locator_params(axis="x", nbins=6)
    first.axvline(wanted, color=INK, linestyle="--", linewidth=1.2, zorder=1)
    first.set_title(f"wanted: {wanted:g}", x=_share_of(first, wanted), fontsize=10, color=INK)
    second.set_xlim(0, result.study.attrs["labels"] * 1.06)
    drawn.legend(
        handles=legend_of(methods, INK),
        loc="outside lower center",
        ncols=4,
        frameon=False,
        fontsize=9,
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


def _share_of(panel: Any, value: float) -> float:  # Any: as above
    """Return where on a panel's axis a value lies, from 0 to 1."""
    low, high = panel.get_xlim()
    return float((value - low) / (high - low))
