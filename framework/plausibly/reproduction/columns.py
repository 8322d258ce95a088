"""Two rows of histograms over splits: coverage above, set size below, a column a calibration."""

from __future__ import annotations

from collections.abc import Mapping

import xarray as xr

from plausibly.labelled import names
from plausibly.reproduction import page
from plausibly.reproduction.asked import Drawing

COVERED = (
    ("voted_coverage", "voted", page.VOTED),
    ("aggregated_coverage", "aggregated", page.AGGREGATED),
)
_WIDTH, _HEIGHT = 3, 5.6


def draw(columns: Mapping[str, xr.Dataset], title: str, numbers: xr.Dataset) -> Drawing:
    """Return the picture.

    Parameters
    ----------
    columns : mapping of str to Dataset
        By the title of each column: voted and aggregated coverage and set size, (split,).
    title : str
    numbers : Dataset
        All of them, with the facts of the figure.
    """
    drawn = page.new_page(max(_WIDTH * len(columns), 7.5), _HEIGHT)
    panels = drawn.subplots(2, len(columns), sharex="row", sharey="row", squeeze=False)
    wanted = 1 - numbers.attrs[names.ALPHA]
    covered = page.edges([one[name].values for one in columns.values() for name, _, _ in COVERED])
    sizes = page.edges([one["set_size"].values for one in columns.values()])
    for place, (name, one) in enumerate(columns.items()):
        above, below = panels[0, place], panels[1, place]
        for measure, said, look in COVERED:
            values = one[measure].values
            page.histogram(above, values, covered, look, f"{said}, mean {values.mean():.3f}")
        page.target(above, wanted)
        page.tidy(above, x="coverage (share)", y="" if place else "splits", title=name)
        size = one["set_size"].values
        page.histogram(below, size, sizes, page.SIZE, f"mean {size.mean():.2f}")
        page.tidy(below, x="mean set size (labels)", y="" if place else "splits")
    page.headroom(panels[0, 0], 0.5)
    page.headroom(panels[1, 0], 0.2)
    for above, below in panels.T:
        page.legend(above, place="upper left")
        page.legend(below, place="upper right")
    return page.finish(drawn, title, numbers)
