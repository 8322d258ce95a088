"""Appendix C: p-values of voted, drawn and true labels, by what the calibration is done on.

p-values of what a calibration covers are uniform; those of anything else are not.
"""

from __future__ import annotations

import math

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.demo.palette import INK
from plausibly.evaluation.methods import MethodTable
from plausibly.kernels.draws import draw_labels
from plausibly.keys import Keys, hash_names
from plausibly.labelled import names
from plausibly.labelled.text import text_array
from plausibly.reproduction import page, splitting
from plausibly.reproduction.asked import Asked, Drawing
from plausibly.reproduction.casestudy import METHODS, MONTE_CARLO, VOTED
from plausibly.reproduction.claim import Claim, decimal
from plausibly.reproduction.data import toy_data

POINTS = 20_000
BINS = 20
COMPARED = (VOTED, MONTE_CARLO)
KIND, METHOD, BIN = "kind", "method", "bin"
OF_VOTED, OF_DRAWN, OF_TRUE = "voted labels", "drawn labels", "true labels"
_CRITICAL = 1.63
"""Kolmogorov's distance times the root of n, at the level 0.01."""


@attrs.frozen(kw_only=True)
class Uniformity:
    """Histograms of p-values, and their distance from uniform (Kolmogorov)."""

    def measure(self, asked: Asked) -> xr.Dataset:
        """Return shares of p-values by bin, (method, kind, bin), and distances (method, kind).

        Of one split; ten labels of each test example are drawn from its plausibilities.
        """
        data = asked.data or toy_data(POINTS, asked.seed)
        rows = splitting.one_split(data, asked.seed, 0)
        test = data.predictions[rows]
        hashes = hash_names(test[names.EXAMPLE].values)
        uniforms = Keys(asked.seed, "reproduce/p-values").uniform(hashes, splitting.DRAWS)
        lam = data.plausibilities.values[rows]
        kinds = {OF_VOTED: lam.argmax(axis=1)[None], OF_DRAWN: draw_labels(lam, uniforms)}
        if data.true is not None:
            kinds[OF_TRUE] = data.sure.values[rows].argmax(axis=1)[None]
        shares = np.zeros((len(COMPARED), len(kinds), BINS))
        distances = np.zeros((len(COMPARED), len(kinds)))
        for place, name in enumerate(COMPARED):
            method: MethodTable = METHODS[name]
            predictor = splitting.calibrated(data, ~rows, method, seed=asked.seed)
            p = predictor.p_values(test).values
            for where, codes in enumerate(kinds.values()):
                values = p[np.arange(len(p)), codes]
                shares[place, where] = (
                    np.histogram(values, bins=BINS, range=(0, 1))[0] / values.size
                )
                distances[place, where] = distance(values)
            asked.tick(place + 1, len(COMPARED))
        facts = splitting.facts(data, asked, "0.1")
        facts.pop(names.ALPHA)
        return xr.Dataset(
            {
                "share": ((METHOD, KIND, BIN), shares),
                "distance_from_uniform": ((METHOD, KIND), distances),
                "critical_distance": (
                    (),
                    _CRITICAL * math.sqrt(1 / len(test) + 1 / (len(data) - len(test))),
                ),
            },
            coords={
                METHOD: text_array(COMPARED),
                KIND: text_array(list(kinds)),
                BIN: (np.arange(BINS) + 0.5) / BINS,
            },
            attrs={**facts, "splits": 1},
        )

    def draw(self, numbers: xr.Dataset) -> Drawing:
        """Return a histogram a kind of label and calibration, with the uniform line."""
        kinds = [str(name) for name in numbers[KIND].values]
        drawn = page.new_page(9, 2.2 * len(kinds) + 0.8)
        panels = drawn.subplots(len(kinds), len(COMPARED), sharex=True, sharey=True)
        looks = {OF_VOTED: page.VOTED, OF_DRAWN: page.AGGREGATED, OF_TRUE: page.TRUE}
        places = numbers[BIN].values
        for column, method in enumerate(COMPARED):
            for row, kind in enumerate(kinds):
                panel, look = panels[row, column], looks[kind]
                one = numbers.sel({METHOD: method, KIND: kind})
                off = float(one["distance_from_uniform"])
                panel.bar(
                    places,
                    one["share"].values * BINS,
                    0.95 / BINS,
                    facecolor=f"{look.colour}40",
                    edgecolor=look.colour,
                    hatch=look.hatch,
                    label=f"p-values of {kind}, distance {off:.3f}",
                )
                panel.axhline(1, color=INK, linestyle=(0, (4, 2)), linewidth=1.2, label="uniform")
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
        limit = float(numbers["critical_distance"])

        def one(method: str, kind: str) -> float:
            return float(off.sel({METHOD: method, KIND: kind}))

        kinds = [str(name) for name in numbers[KIND].values]
        said = "; ".join(
            f"calibrated {method}: "
            + ", ".join(f"{kind} {decimal(one(method, kind))}" for kind in kinds)
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


def distance(values: NDArray[np.float64]) -> float:
    """Return Kolmogorov's distance between values in [0, 1] and the uniform distribution.

    Notes
    -----
    Between the shares at most and less than each value, and the value itself.
    """
    ordered = np.sort(values, axis=None)
    ranks = np.arange(1, ordered.size + 1)
    above, below = ranks / ordered.size - ordered, ordered - (ranks - 1) / ordered.size
    return float(max(above.max(), below.max()))
