"""Two rows of histograms over splits: coverage above, set size below, a column a calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.paper import page
from plausibly.paper.asked import Drawing

COVERED = (
    ("voted_coverage", "voted", page.VOTED),
    ("aggregated_coverage", "aggregated", page.AGGREGATED),
)
SIZES = (("set_size", "", page.SIZE),)
Measure: TypeAlias = tuple[str, str, page.Look]
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
    """Return the picture.

    Parameters
    ----------
    columns : mapping of str to Dataset
        By the title of each column: voted and aggregated coverage and set size, (split,).
    title : str
    numbers : Dataset
        All of them, with the facts of the figure.
    covered, sizes : sequence of (variable, what it is called, Look)
        What is drawn above and below.
    """
    drawn = page.new_page(max(_WIDTH * len(columns), 7.5), _HEIGHT)
    panels = drawn.subplots(2, len(columns), sharex="row", sharey="row", squeeze=False)
    wanted = 1 - numbers.attrs[names.ALPHA]
    limits = [
        page.edges([one[name].values for one in columns.values() for name, _, _ in measures])
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
                page.histogram(panel, values, bins, look, f"{what} {values.mean():.{digits}f}")
        page.target(above, wanted)
        page.tidy(above, x="coverage (share)", y="" if place else "splits", title=name)
        page.tidy(below, x="mean set size (labels)", y="" if place else "splits")
    if wide:
        panels[1, 0].set_xscale("log")  # of the row
    page.headroom(panels[0, 0], 0.5)
    page.headroom(panels[1, 0], 0.15 + 0.12 * len(sizes))
    for above, below in panels.T:
        page.legend(above, place="upper left")
        page.legend(below, place="upper right")
    return page.finish(drawn, title, numbers)
