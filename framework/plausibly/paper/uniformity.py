"""Appendix C: p-values of voted, drawn and true labels, by what the calibration is done on.

p-values of what a calibration covers are uniform; those of anything else are not.
"""

from __future__ import annotations

import attrs
import numpy as np
import xarray as xr

from plausibly.data.names import text_array
from plausibly.evaluation.uniformity import (
    DRAWN as OF_DRAWN,
    OF,
    VOTED as OF_VOTED,
    p_value_uniformity,
)
from plausibly.paper import page, splitting
from plausibly.paper.casestudy import METHODS, MONTE_CARLO, VOTED
from plausibly.paper.data import toy_data
from plausibly.paper.page import Asked, Claim, Drawing, decimal
from plausibly.plots import sets, style

POINTS = 20_000
BINS = 20
COMPARED = (VOTED, MONTE_CARLO)
METHOD, BIN = "method", "bin"
_CRITICAL = 1.63
"""Kolmogorov's distance times the root of n, at the level 0.01."""


@attrs.frozen(kw_only=True)
class Uniformity:
    """Histograms of p-values, and their distance from uniform (Kolmogorov)."""

    def measure(self, asked: Asked) -> xr.Dataset:
        """Return shares of p-values by bin, (method, of, bin), and distances, (method, of)."""
        data = asked.data or toy_data(POINTS, asked.seed)
        rows = splitting.one_split(data, asked.seed, 0)
        found = []
        for place, name in enumerate(COMPARED):
            predictor = splitting.calibrated(data, ~rows, METHODS[name], seed=asked.seed)
            one = p_value_uniformity(
                predictor,
                data.predictions[rows],
                data.plausibilities[rows],
                true=None if data.true is None else data.true[rows],
                seed=asked.seed,
            )
            shares = [
                np.histogram(p, bins=BINS, range=(0, 1))[0] / p.size for p in one["p_value"].values
            ]
            found.append(
                xr.Dataset(
                    {
                        "share": ((OF, BIN), shares),
                        "distance_from_uniform": (OF, one["ks"].values),
                        "critical_distance": (OF, _CRITICAL / np.sqrt(one["effective"].values)),
                    },
                    coords={OF: one[OF].values, BIN: (np.arange(BINS) + 0.5) / BINS},
                )
            )
            asked.tick(place + 1, len(COMPARED))
        numbers = xr.concat(found, dim=METHOD, join="exact").assign_coords(
            {METHOD: text_array(COMPARED)}
        )
        return numbers.assign_attrs({**data.described(), "splits": 1, "seed": asked.seed})

    def draw(self, numbers: xr.Dataset) -> Drawing:
        """Return a histogram a kind of label and calibration, with the uniform line."""
        kinds = [str(name) for name in numbers[OF].values]
        drawn = page.new_page(9, 2.2 * len(kinds) + 0.8)
        panels = drawn.subplots(len(kinds), len(COMPARED), sharex=True, sharey=True)
        places = numbers[BIN].values
        for column, method in enumerate(COMPARED):
            for row, kind in enumerate(kinds):
                panel, look = panels[row, column], sets.OF_LABELS[kind]
                one = numbers.sel({METHOD: method, OF: kind})
                off = float(one["distance_from_uniform"])
                heights = one["share"].values * BINS
                said = f"p-values of {kind} labels, distance {off:.3f}"
                style.bars(panel, places, heights, 0.95 / BINS, look, said)
                sets.uniform_line(panel)
                page.tidy(
                    panel,
                    x="p-value" if row == len(kinds) - 1 else "",
                    y="" if column else "density",
                    title="" if row else f"calibrated: {method}",
                )
        page.headroom(panels[0, 0], 0.35)
        for panel in panels.ravel():
            page.legend(panel, place="upper left", columns=2)
        return page.finish(drawn, "p-values are uniform for what was calibrated on", numbers)

    def claim(self, numbers: xr.Dataset) -> Claim:
        """Return whether p-values are uniform for the label of the calibration alone."""
        off = numbers["distance_from_uniform"]
        limit = float(numbers["critical_distance"].max())

        def one(method: str, kind: str) -> float:
            return float(off.sel({METHOD: method, OF: kind}))

        kinds = [str(name) for name in numbers[OF].values]
        said = "; ".join(
            f"calibrated {method}: "
            + ", ".join(f"{kind} labels {decimal(one(method, kind))}" for kind in kinds)
            for method in COMPARED
        )
        return Claim(
            says="p-values of voted labels are uniform when votes calibrate and skewed with Monte "
            "Carlo, those of drawn labels the other way round",
            measured=f"distances from uniform, {said}; .01 level {decimal(limit)}",
            parts={
                "uniform of votes": one(VOTED, OF_VOTED) <= limit,
                "skewed of drawn labels": one(VOTED, OF_DRAWN) > limit,
                "uniform of drawn labels": one(MONTE_CARLO, OF_DRAWN) <= limit,
                "skewed of votes": one(MONTE_CARLO, OF_VOTED) > limit,
            },
        )


UNIFORMITY = Uniformity()
