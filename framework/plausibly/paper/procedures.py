"""The paper's table of procedures with measured columns, and further procedures beside it."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import attrs
import numpy as np
import xarray as xr

from plausibly.calibration.alphas import read_alpha
from plausibly.data.names import text_array
from plausibly.evaluation.design import MethodTable
from plausibly.evaluation.result import decimal
from plausibly.kernels.types import Bools
from plausibly.palette import BLUE, GREY, INK, VERMILION
from plausibly.paper import page
from plausibly.paper.data import toy_data
from plausibly.paper.figure import DRAWS, METHOD, REPEAT, SPLIT, Figure, Study, monte_carlo
from plausibly.paper.page import Claim, Drawing, close, framed

ALPHA = "0.1"
POINTS = 4000
DELTA = Fraction(1, 10_000)
_LOW = 0.5
"""A spread is low that is at most this part of that of one draw per example."""


@attrs.frozen
class Procedure:
    method: MethodTable
    paper: str = "-"
    factor: tuple[int, int] | None = None
    extra: bool = False

    def level(self, alpha: Fraction) -> float:
        """Return the paper's theoretical coverage, NaN for none."""
        if self.factor is None:
            return float("nan")
        alphas, deltas = self.factor
        return float((1 - alphas * alpha) * (1 - deltas * DELTA))


ONE, MANY, ECDF = "Algorithm 1, m = 1", f"Algorithm 1, m = {DRAWS}", "Algorithm 2 (ecdf)"
PROCEDURES: dict[str, Procedure] = {
    "majority-vote": Procedure({"calibrator": "majority-vote"}),
    ONE: Procedure(monte_carlo(1), "1 - alpha", (1, 0)),
    MANY: Procedure(monte_carlo(), "1 - 2 alpha", (2, 0)),
    ECDF: Procedure(monte_carlo(combiner="ecdf"), "(1 - alpha)(1 - delta)", (1, 1), extra=True),
    "expected": Procedure({"calibrator": "expected"}),
    "maximum": Procedure(monte_carlo(combiner="maximum")),
    "held-out-rank": Procedure(monte_carlo(combiner="held-out-rank"), extra=True),
    "pac": Procedure(
        {**monte_carlo(), "combiner": {"name": "pac", "bound": "held-out"}}, extra=True
    ),
}


def measure(study: Study) -> xr.Dataset:
    """Return levels and set sizes by procedure, and coverage by split and by label draw."""
    rows_of, exact = list(PROCEDURES.values()), read_alpha(study.alpha)
    over = study.compared({name: procedure.method for name, procedure in PROCEDURES.items()})
    test = study.rows(0)

    def again(number: int, _: Bools) -> list[float]:
        # Draws anew what a calibration draws: labels, and the held-out examples of some.
        drawn = (study.calibrated(test, procedure.method, seed=number) for procedure in rows_of)
        return [study.measured(predictor, test)["aggregated_coverage"] for predictor in drawn]

    return xr.Dataset(
        {
            "paper_says": (METHOD, text_array([procedure.paper for procedure in rows_of])),
            "paper_level": (METHOD, [procedure.level(exact) for procedure in rows_of]),
            "proved_level": (METHOD, over["guaranteed_level"].values),
            "coverage": ((METHOD, SPLIT), over["aggregated_coverage"].values),
            "coverage_over_labels": ((METHOD, REPEAT), study.over_splits(again)),
            "set_size": (METHOD, over["set_size"].mean(SPLIT).values),
            "extra_split": (METHOD, [procedure.extra for procedure in rows_of]),
        },
        coords={
            METHOD: text_array(list(PROCEDURES)),
            SPLIT: over[SPLIT].values,
            REPEAT: np.arange(study.splits),
        },
    )


_COLUMNS = {
    "procedure": 0.0,
    "paper": 0.22,
    "": 0.42,
    "proved here": 0.5,
    "average": 0.63,
    "over labels": 0.73,
    "set size": 0.85,
    "extra split": 0.93,
}
"""Headings of the table, and where they stand from 0 to 1."""


def draw(numbers: xr.Dataset) -> Drawing:
    drawn = page.new_page(13, 4.6)
    text, panel = drawn.subplots(1, 2, width_ratios=(2.2, 1))
    count = numbers.sizes[METHOD]
    text.set_axis_off()
    text.set_xlim(-0.01, 1)
    for heading, where in _COLUMNS.items():
        text.text(where, -0.95, heading, va="center", fontweight="bold", fontsize=9)
    for row in range(count):
        procedure = numbers.isel({METHOD: row})
        cells = (
            str(procedure[METHOD].values),
            str(procedure["paper_says"].values),
            decimal(float(procedure["paper_level"])),
            decimal(float(procedure["proved_level"])),
            decimal(float(procedure["coverage"].mean())),
            decimal(_spread(procedure), 4),
            f"{float(procedure['set_size']):.2f}",
            "yes" if bool(procedure["extra_split"]) else "no",
        )
        for where, cell in zip(_COLUMNS.values(), cells, strict=True):
            text.text(where, row, cell, va="center", fontsize=9)
        values = procedure["coverage"].values
        grey = {"s": 10, "color": GREY, "alpha": 0.4, "linewidths": 0}
        panel.scatter(values, np.full(values.size, row), label="a split", **grey)
        for mean, down, mark, size, edge, colour, label in (
            (values.mean(), 0.0, "o", 7, 1, BLUE, "average"),
            (float(procedure["paper_level"]), 0.0, "|", 16, 2, VERMILION, "paper"),
            (float(procedure["proved_level"]), 0.28, "^", 6, 1, INK, "proved here"),
        ):
            look = {"marker": mark, "markersize": size, "markeredgewidth": edge, "color": colour}
            panel.plot([mean], [row + down], linestyle="", label=label, **look)
    for half in (text, panel):
        half.set_ylim(count - 0.5, -1.5)
    x, level = "aggregated coverage of a split (share)", page.wanted(numbers)
    framed(panel, x, "", grid="x", level=level, key="")
    panel.set_yticks([])
    panel.spines["left"].set_visible(False)
    page.key_above(drawn, panel, 5)
    return page.finish(drawn, "What each procedure guarantees, and what it does", numbers)


def _spread(procedure: xr.Dataset) -> float:
    """Return the standard deviation over label draws, 0 for a single one."""
    values = procedure["coverage_over_labels"].values
    return float(values.std(ddof=1)) if values.size > 1 else 0.0


def claim(numbers: xr.Dataset, level: float) -> Claim:
    rows = {name: numbers.sel({METHOD: name}) for name in PROCEDURES}
    mean = {name: float(row["coverage"].mean()) for name, row in rows.items()}
    spread = {name: _spread(row) for name, row in rows.items()}
    level_ecdf = level * (1 - float(DELTA))
    measured = ", ".join(
        f"{name} {decimal(mean[name])} (over labels {decimal(spread[name], 4)})" for name in rows
    )
    return Claim(
        says=f"coverage is {level:g} on average for Algorithm 1 and ({level:g})(1 - delta) "
        "for Algorithm 2; over labels it varies much for m = 1, little for more",
        measured=f"{measured}; what sets examples aside draws them anew too",
        parts={
            f"m = 1 at {level:g}": close(mean[ONE], level),
            f"m = {DRAWS} at {level:g}": close(mean[MANY], level),
            f"Algorithm 2 at {decimal(level_ecdf, 4)}": close(mean[ECDF], level_ecdf),
            f"little spread for m = {DRAWS}": spread[MANY] <= _LOW * spread[ONE],
        },
    )


TABLE = Figure(partial(toy_data, POINTS), ALPHA, measure, draw, claim)
