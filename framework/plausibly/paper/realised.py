"""Section 4.1 and the appendix: what one split's sets cover of each example, sorted.

Above, calibrated on votes: the voted label, with credit for ties, and the plausibilities, beside
the largest plausibility of an example. Below, the plausibilities under other calibrations.
"""

from __future__ import annotations

import attrs
import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.names import text_array
from plausibly.errors import counted
from plausibly.kernels import coverage
from plausibly.palette import INK
from plausibly.paper import page, splitting
from plausibly.paper.casestudy import ALPHA, METHODS, VOTED
from plausibly.paper.data import nodules
from plausibly.paper.page import CLOSE, Asked, Claim, Drawing, decimal
from plausibly.plots import style

_TITLE = "What sets cover of each test example, one split"


@attrs.frozen(kw_only=True)
class Realised:
    """Realised coverage, example by example."""

    alpha: str = ALPHA

    def measure(self, asked: Asked) -> xr.Dataset:
        """Return voted, tied and aggregated coverage and largest plausibility, (example,)."""
        data = asked.data or nodules(asked.seed)
        alpha = asked.alpha or self.alpha
        rows = splitting.one_split(data, asked.seed, 0)
        test, lam = data.predictions.values[rows], data.plausibilities.values[rows]
        sets = {}
        for place, (name, method) in enumerate(METHODS.items()):
            predictor = splitting.calibrated(data, ~rows, method, seed=asked.seed)
            sets[name] = predictor.predict_array(test, alpha)
            asked.tick(place + 1, len(METHODS))
        facts = splitting.facts(data, asked, alpha)
        return xr.Dataset(
            {
                "voted": (names.EXAMPLE, coverage.voted(sets[VOTED], lam)),
                "tied": (names.EXAMPLE, coverage.voted(sets[VOTED], lam, "fractional")),
                "labels_tied": (names.EXAMPLE, coverage.tie_counts(lam)),
                "largest_plausibility": (names.EXAMPLE, lam.max(axis=1)),
                "aggregated": (
                    ("method", names.EXAMPLE),
                    np.stack([coverage.aggregated(found, lam) for found in sets.values()]),
                ),
            },
            coords={
                names.EXAMPLE: data.predictions[names.EXAMPLE].values[rows],
                "method": text_array(list(METHODS)),
            },
            attrs={**facts, "splits": 1},
        )

    def draw(self, numbers: xr.Dataset) -> Drawing:
        """Return curves over the examples, each sorted on its own."""
        drawn = page.new_page(9, 6.4)
        above, below = drawn.subplots(2, 1, sharex=True)
        aggregated = numbers["aggregated"]
        places = np.arange(1, numbers.sizes[names.EXAMPLE] + 1)
        for values, look, said in (
            (numbers["voted"].values, page.VOTED, "voted label"),
            (numbers["tied"].values, page.TRUE, "voted label, credit 1/L for L tied"),
            (
                aggregated.sel({"method": VOTED}).values,
                page.AGGREGATED,
                "plausibilities (aggregated)",
            ),
        ):
            style.ascending(above, values, look, f"{said}, mean {values.mean():.3f}", places)
        largest = np.sort(numbers["largest_plausibility"].values)
        above.plot(
            places,
            largest,
            color=INK,
            linestyle=":",
            linewidth=1.5,
            label="largest plausibility",
        )
        methods = [str(name) for name in aggregated["method"].values]
        for name, look in zip(methods, page.METHOD_LOOKS, strict=False):
            values = aggregated.sel({"method": name}).values
            style.ascending(below, values, look, f"{name}, mean {values.mean():.3f}", places)
        for panel, title in (
            (above, "calibrated on votes"),
            (below, "aggregated coverage by calibration"),
        ):
            page.tidy(panel, x="", y="realised coverage (share)", title=title)
            panel.set(xlim=(0, len(largest)), ylim=(-0.03, 1.03))
            page.legend(panel, place="lower right")
        below.set_xlabel("test examples, sorted for each curve alone")
        return page.finish(drawn, _TITLE, numbers)

    def claim(self, numbers: xr.Dataset) -> Claim:
        """Return whether the vote is covered as asked and the plausibilities are not."""
        wanted = 1 - numbers.attrs[names.ALPHA]
        by_method = numbers["aggregated"].mean(names.EXAMPLE)
        voted, mean = float(numbers["voted"].mean()), float(by_method.sel({"method": VOTED}))
        one = numbers["aggregated"].sel({"method": VOTED}).values
        partly = float(((one > 0) & (one < 1)).mean())
        ties = float((numbers["labels_tied"] > 1).mean())
        return Claim(
            says=f"calibrated on votes, sets cover the vote at about {wanted:g} and expert opinion "
            "far less; of many examples they cover a part",
            measured=f"{counted(numbers.sizes[names.EXAMPLE])} test examples: voted "
            f"{decimal(voted)}, with credit for ties {decimal(float(numbers['tied'].mean()))}, "
            f"aggregated {decimal(mean)}; covered in part {decimal(partly)}, tied {decimal(ties)}",
            parts={
                "plausibilities short": mean < wanted - CLOSE,
                "less than the vote": mean < voted - CLOSE,
                "covered in part": partly > 0,
            },
        )


REALISED = Realised()
