"""Sections 2.2 and 3.2: calibrated on votes, true labels are missed; on drawn labels they are not.

A histogram over random halves of what the sets cover: the voted label, the label that each point
was drawn from, and the posterior (aggregated coverage).
"""

from __future__ import annotations

import attrs
import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.evaluation.design import MethodTable
from plausibly.paper import page, splitting
from plausibly.paper.data import toy_data
from plausibly.paper.page import CLOSE, Asked, Claim, Drawing, close, decimal, mean_spread

ALPHA = "0.05"
POINTS = 5000
_STRETCH, _EDGE, _BINS = 0.19, 0.005, 80

LOOKS = {
    "voted_coverage": ("voted label", page.VOTED),
    "true_coverage": ("true label", page.TRUE),
    "aggregated_coverage": ("plausibilities (aggregated)", page.AGGREGATED),
}


@attrs.frozen(kw_only=True)
class Gap:
    """Coverage over splits when calibrated in one way."""

    method: MethodTable
    title: str
    voted: bool

    def measure(self, asked: Asked) -> xr.Dataset:
        """Return coverage and set size, (split,)."""
        data = asked.data or toy_data(POINTS, asked.seed)
        alpha = asked.alpha or ALPHA
        study = splitting.compared(data, {"": self.method}, asked, alpha)
        return study.isel(method=0, drop=True)

    def draw(self, numbers: xr.Dataset) -> Drawing:
        """Return a histogram a measure, over splits."""
        drawn = page.new_page(8, 3.8)
        panel = drawn.subplots()
        there = {name: look for name, look in LOOKS.items() if name in numbers}
        wanted = 1 - numbers.attrs[names.ALPHA]
        # Both figures show the same stretch, so that they can be laid side by side.
        least = min(wanted - _STRETCH, *(float(numbers[name].min()) for name in there))
        edges = np.linspace(least - _EDGE, 1 + _EDGE, _BINS + 1)
        for name, (said, look) in there.items():
            values = numbers[name].values
            page.histogram(panel, values, edges, look, f"{said}, mean {np.mean(values):.3f}")
        page.target(panel, wanted)
        page.tidy(panel, x="coverage of the test examples of a split (share)", y="splits")
        page.headroom(panel)
        page.legend(panel, place="upper left", columns=2)
        return page.finish(drawn, self.title, numbers)

    def claim(self, numbers: xr.Dataset) -> Claim:
        """Return whether the gap is there, or closed, as the paper says."""
        wanted = 1 - numbers.attrs[names.ALPHA]
        hidden = "true_coverage" if "true_coverage" in numbers else "aggregated_coverage"
        of = "true labels" if hidden == "true_coverage" else "plausibilities"
        there, votes = numbers[hidden].values, numbers["voted_coverage"].values
        mean, voted = float(there.mean()), float(votes.mean())
        covered = f"{of} {mean_spread(there)}, voted labels {mean_spread(votes)}"
        if self.voted:
            return Claim(
                says=f"calibrated on votes, sets cover the vote at {wanted:g} and {of} far less",
                measured=f"{covered}; short by {decimal(wanted - mean)} on average, by "
                f"{decimal(wanted - float(there.max()))} or more in every split",
                parts={
                    f"voted labels at {wanted:g}": close(voted, wanted),
                    f"{of} short in every split": bool(there.max() < wanted - CLOSE),
                },
            )
        return Claim(
            says=f"Monte Carlo calibration covers {of} at {wanted:g} on average",
            measured=covered,
            parts={f"{of} at {wanted:g}": close(mean, wanted)},
        )


VOTED = Gap(
    method={"calibrator": "voted"},
    title="Calibrated on voted labels, sets miss what the vote hides",
    voted=True,
)
MONTE_CARLO = Gap(
    method={"calibrator": "monte-carlo", "draws": splitting.DRAWS},
    title=f"Calibrated on {splitting.DRAWS} drawn labels a point, the gap closes",
    voted=False,
)
