"""Section 3.2: coverage over drawn labels, over their number, and over the calibration fraction."""

from __future__ import annotations

import attrs
import numpy as np
import xarray as xr

from plausibly.calibration.alphas import AlphaLike
from plausibly.data import names
from plausibly.evaluation.design import MethodTable
from plausibly.kernels.types import Bools, Floats
from plausibly.palette import BLUE, INK
from plausibly.paper import page, splitting
from plausibly.paper.data import Data, toy_data
from plausibly.paper.page import Asked, Claim, Drawing, close, decimal

ALPHA = "0.05"
POINTS = 2000
COUNTS = (1, 2, 5, 10, 20)
FRACTIONS = (0.05, 0.1, 0.2, 0.5)
OVER_SPLITS = (1, 5, 20)
EXPECTED = "expected"
REPEAT, FRACTION, METHOD, SPLIT = "repetition", "fraction", "method", "split"
_MIDDLE = (5, 95)


@attrs.frozen(kw_only=True)
class Variability:
    """Aggregated coverage, first of one split over label draws, then over splits."""

    alpha: str = ALPHA

    def measure(self, asked: Asked) -> xr.Dataset:
        """Return coverage by label draws (draws, repetition) and by splits."""
        data = asked.data or toy_data(POINTS, asked.seed)
        alpha = asked.alpha or self.alpha
        steps = len(COUNTS) + len(FRACTIONS)
        over_labels = np.zeros((len(COUNTS), asked.splits))
        rows = splitting.one_split(data, asked.seed, 0)
        for place, count in enumerate(COUNTS):
            for number in range(asked.splits):
                over_labels[place, number] = _covered(data, rows, _drawn(count), number, alpha)
            asked.tick(place + 1, steps)
        methods = {f"m = {count}": _drawn(count) for count in OVER_SPLITS}
        methods[EXPECTED] = {"calibrator": "expected"}
        over_splits = np.zeros((len(methods), len(FRACTIONS), asked.splits))
        for where, fraction in enumerate(FRACTIONS):
            for number in range(asked.splits):
                rows = splitting.one_split(data, asked.seed, number, test=1 - fraction)
                for place, method in enumerate(methods.values()):
                    over_splits[place, where, number] = _covered(data, rows, method, number, alpha)
            asked.tick(len(COUNTS) + where + 1, steps)
        return xr.Dataset(
            {
                "coverage_over_labels": ((names.DRAW, REPEAT), over_labels),
                "coverage_over_splits": ((METHOD, FRACTION, SPLIT), over_splits),
            },
            coords={
                names.DRAW: list(COUNTS),
                REPEAT: np.arange(asked.splits),
                METHOD: np.array(list(methods)),
                FRACTION: list(FRACTIONS),
                SPLIT: np.arange(asked.splits),
            },
            attrs=splitting.facts(data, asked, alpha),
        )

    def draw(self, numbers: xr.Dataset) -> Drawing:
        """Return a histogram over label draws, then spreads over m, then over fractions."""
        drawn = page.new_page(11, 4)
        first, second, third = drawn.subplots(1, 3)
        wanted = 1 - numbers.attrs[names.ALPHA]
        by_count = numbers["coverage_over_labels"]
        one = by_count.sel({names.DRAW: 1}).values
        page.histogram(first, one, page.edges([one], bins=20), page.AGGREGATED, "aggregated")
        page.target(first, wanted)
        page.tidy(
            first,
            x="aggregated coverage (share)",
            y="repetitions",
            title="one split, one label an example",
        )
        page.headroom(first)
        page.legend(first, place="upper left", columns=2)
        for place, count in enumerate(COUNTS):
            _stroke(second, place, by_count.sel({names.DRAW: count}).values)
        second.set_xticks(range(len(COUNTS)), [str(count) for count in COUNTS])
        page.target(second, wanted, axis="y")
        page.tidy(
            second,
            x="drawn labels an example (m)",
            y="aggregated coverage (share)",
            title="one split: mean and middle 90 %",
        )
        page.headroom(second)
        page.legend(second, place="upper right")
        spread = _spread(numbers)
        methods = [str(name) for name in spread[METHOD].values]
        for method, look, mark in zip(methods, page.OTHERS, "os^D", strict=False):
            third.plot(
                100 * spread[FRACTION].values,
                spread.sel({METHOD: method}).values,
                color=look.colour,
                linestyle=look.line,
                marker=mark,
                markersize=5,
                label=method,
            )
        third.set_ylim(0, None)
        page.tidy(
            third,
            x="calibration examples (% of all)",
            y="standard deviation of coverage",
            title="over splits",
        )
        page.legend(third, place="upper right", columns=2)
        title = "More drawn labels an example, less spread"
        return page.finish(drawn, title, numbers)

    def claim(self, numbers: xr.Dataset) -> Claim:
        """Return whether coverage stays on average while its spread falls with m."""
        wanted = 1 - numbers.attrs[names.ALPHA]
        by_count = numbers["coverage_over_labels"]
        labels = by_count.std(REPEAT, ddof=1)
        few, many = (float(labels.sel({names.DRAW: count})) for count in (COUNTS[0], COUNTS[-1]))
        spread = _spread(numbers)
        ones = spread.sel({METHOD: "m = 1"})
        twenties = spread.sel({METHOD: "m = 20"})
        halves = numbers["coverage_over_splits"].sel({FRACTION: FRACTIONS[-1]}).mean(SPLIT)
        least, most = float(halves.min()), float(halves.max())
        gains = [
            f"{decimal(float(before))} to {decimal(float(after))}"
            for before, after in ((ones[0], twenties[0]), (ones[-1], twenties[-1]))
        ]
        return Claim(
            says=f"coverage is {wanted:g} on average for every m, and varies less the larger m is, "
            "most of all with few calibration examples",
            measured=f"means over halves {decimal(least)} to {decimal(most)}; from m = 1 to 20, "
            f"spread over labels {decimal(few, 4)} to {decimal(many, 4)}, over splits with "
            f"{100 * FRACTIONS[0]:g} % calibration {gains[0]}, with {100 * FRACTIONS[-1]:g} % "
            f"{gains[1]}",
            parts={
                f"means at {wanted:g}": close(least, wanted) and close(most, wanted),
                "less spread over labels": many < few,
                "less spread over splits": bool((twenties < ones).all()),
                "most with few examples": float(ones[0] - twenties[0])
                > float(ones[-1] - twenties[-1]),
            },
        )


TOY = Variability()
SKIN = Variability(alpha="0.27")


def _drawn(count: int) -> MethodTable:
    return {"calibrator": "monte-carlo", "draws": count}


def _covered(data: Data, rows: Bools, method: MethodTable, seed: int, alpha: AlphaLike) -> float:
    predictor = splitting.calibrated(data, ~rows, method, seed=seed)
    return splitting.measured(predictor, data, rows, alpha).aggregated


def _spread(numbers: xr.Dataset) -> xr.DataArray:
    return numbers["coverage_over_splits"].std(SPLIT, ddof=1)


def _stroke(panel: page.Panel, place: int, values: Floats) -> None:
    """Draw the middle of a distribution as a line and its mean as a dot."""
    low, high = np.percentile(values, _MIDDLE)
    panel.plot([place, place], [low, high], color=INK, linewidth=2, solid_capstyle="round")
    panel.plot([place], [values.mean()], marker="o", color=BLUE, markersize=7)
