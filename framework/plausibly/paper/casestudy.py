"""Section 4.1: coverage and set size over splits, by what the calibration is done on.

The paper's case study is of skin; without its folder the nodules that come with plausibly stand in,
real ratings with real disagreement, at the paper's alpha.
"""

from __future__ import annotations

import attrs
import xarray as xr

from plausibly.data import names
from plausibly.evaluation.design import MethodTable
from plausibly.paper import page, splitting
from plausibly.paper.data import nodules
from plausibly.paper.page import CLOSE, Asked, Claim, Drawing, close, decimal, mean_spread

ALPHA = "0.27"
VOTED, MONTE_CARLO, ECDF, EXPECTED = "voted", "Monte Carlo", "ECDF Monte Carlo", "expected"
METHODS: dict[str, MethodTable] = {
    VOTED: {"calibrator": "voted"},
    MONTE_CARLO: {"calibrator": "monte-carlo", "draws": splitting.DRAWS},
    ECDF: {"calibrator": "monte-carlo", "draws": splitting.DRAWS, "combiner": "ecdf"},
    EXPECTED: {"calibrator": "expected"},
}


@attrs.frozen(kw_only=True)
class CaseStudy:
    """Voted and aggregated coverage, and set size, by calibration."""

    alpha: str = ALPHA

    def measure(self, asked: Asked) -> xr.Dataset:
        """Return coverage and set size, (method, split)."""
        data = asked.data or nodules(asked.seed)
        return splitting.compared(data, METHODS, asked, asked.alpha or self.alpha)

    def draw(self, numbers: xr.Dataset) -> Drawing:
        """Return histograms: coverage above, set size below, a column a calibration."""
        chosen = {str(name): numbers.sel({"method": name}) for name in numbers["method"].values}
        title = "Coverage and set size by what the sets are calibrated on"
        return page.draw(chosen, title, numbers)

    def claim(self, numbers: xr.Dataset) -> Claim:
        """Return whether only Monte Carlo reaches what is asked, at larger sets."""
        wanted = 1 - numbers.attrs[names.ALPHA]
        there = numbers["aggregated_coverage"]
        spread = there.std("split", ddof=1)
        covered = {name: there.sel({"method": name}).values for name in METHODS}
        size = {name: float(numbers["set_size"].sel({"method": name}).mean()) for name in METHODS}
        short = wanted - float(covered[VOTED].mean())
        said = ", ".join(
            f"{name} {mean_spread(covered[name])} with {size[name]:.2f} labels" for name in METHODS
        )
        wider = float(spread.sel({"method": ECDF})) > float(spread.sel({"method": MONTE_CARLO}))
        return Claim(
            says=f"voted calibration misses {wanted:g} aggregated coverage, Monte Carlo and ECDF "
            "Monte Carlo reach it with larger sets, the latter with more spread",
            measured=f"{said}; voted falls short by {decimal(short)}",
            parts={
                "voted short": short > CLOSE,
                f"Monte Carlo at {wanted:g}": close(float(covered[MONTE_CARLO].mean()), wanted),
                f"ECDF Monte Carlo at {wanted:g}": close(float(covered[ECDF].mean()), wanted),
                "larger sets": size[MONTE_CARLO] > size[VOTED],
                "more spread of ECDF": wider,
            },
        )


CASE_STUDY = CaseStudy()
STRICT = CaseStudy(alpha="0.1")
