"""The paper's table of procedures with measured columns, and further procedures beside it.

Coverage is averaged over random halves. The spread over labels keeps one half and draws anew
whatever a calibration draws: labels, and the held-out examples of those that set some aside, which
cannot be told apart there.
"""

from __future__ import annotations

from fractions import Fraction

import attrs
import numpy as np
import xarray as xr

from plausibly.calibration.alphas import read_alpha
from plausibly.data import names
from plausibly.data.names import text_array
from plausibly.evaluation.design import MethodTable
from plausibly.palette import BLUE, GREY, INK, VERMILION
from plausibly.paper import page, splitting
from plausibly.paper.data import toy_data
from plausibly.paper.page import Asked, Claim, Drawing, close, decimal

ALPHA = "0.1"
POINTS = 4000
DELTA = Fraction(1, 10_000)
METHOD, SPLIT, REPEAT = "method", "split", "repetition"
_LOW = 0.5
"""A spread is low that is at most this part of that of one draw an example."""


@attrs.frozen(kw_only=True)
class Procedure:
    """A row of the table."""

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


def _monte_carlo(combiner: str, draws: int = splitting.DRAWS) -> MethodTable:
    return {"calibrator": "monte-carlo", "draws": draws, "combiner": combiner}


ONE, MANY, ECDF = "Algorithm 1, m = 1", f"Algorithm 1, m = {splitting.DRAWS}", "Algorithm 2 (ecdf)"
PROCEDURES: dict[str, Procedure] = {
    "voted": Procedure(method={"calibrator": "voted"}),
    ONE: Procedure(method=_monte_carlo("average", 1), paper="1 - alpha", factor=(1, 0)),
    MANY: Procedure(method=_monte_carlo("average"), paper="1 - 2 alpha", factor=(2, 0)),
    ECDF: Procedure(
        method=_monte_carlo("ecdf"), paper="(1 - alpha)(1 - delta)", factor=(1, 1), extra=True
    ),
    "expected": Procedure(method={"calibrator": "expected"}),
    "maximum": Procedure(method=_monte_carlo("maximum")),
    "held-out-rank": Procedure(method=_monte_carlo("held-out-rank"), extra=True),
    "pac": Procedure(method=_monte_carlo("pac"), extra=True),
}


@attrs.frozen(kw_only=True)
class Table:
    """What each procedure promises, and what it does."""

    def measure(self, asked: Asked) -> xr.Dataset:
        """Return levels and set sizes by procedure, and coverage by split and by label draw."""
        data = asked.data or toy_data(POINTS, asked.seed)
        alpha = asked.alpha or ALPHA
        exact = read_alpha(alpha)
        methods = {name: one.method for name, one in PROCEDURES.items()}
        study = splitting.compared(data, methods, asked, alpha)
        rows = splitting.one_split(data, asked.seed, 0)
        over_labels = np.zeros((len(methods), asked.splits))
        for number in range(asked.splits):
            for place, method in enumerate(methods.values()):
                predictor = splitting.calibrated(data, ~rows, method, seed=number)
                one = splitting.measured(predictor, data, rows, alpha)
                over_labels[place, number] = one.aggregated
            asked.tick(number + 1, asked.splits)
        return xr.Dataset(
            {
                "paper_says": (METHOD, text_array([one.paper for one in PROCEDURES.values()])),
                "paper_level": (METHOD, [one.level(exact) for one in PROCEDURES.values()]),
                "proved_level": (METHOD, study["guaranteed_level"].values),
                "coverage": ((METHOD, SPLIT), study["aggregated_coverage"].values),
                "coverage_over_labels": ((METHOD, REPEAT), over_labels),
                "set_size": (METHOD, study["set_size"].mean(SPLIT).values),
                "extra_split": (METHOD, [one.extra for one in PROCEDURES.values()]),
            },
            coords={
                METHOD: text_array(list(methods)),
                SPLIT: study[SPLIT].values,
                REPEAT: np.arange(asked.splits),
            },
            attrs=study.attrs,
        )

    def draw(self, numbers: xr.Dataset) -> Drawing:
        """Return the table as text, with the coverage of every split beside it."""
        drawn = page.new_page(13, 4.6)
        text, panel = drawn.subplots(1, 2, width_ratios=(2.2, 1))
        count = numbers.sizes[METHOD]
        text.set_axis_off()
        text.set_xlim(-0.01, 1)
        for where, heading in zip(_PLACES, _HEADINGS, strict=True):
            text.text(where, -0.95, heading, va="center", fontweight="bold", fontsize=9)
        for row in range(count):
            for where, cell in zip(_PLACES, _cells(numbers.isel({METHOD: row})), strict=True):
                text.text(where, row, cell, va="center", fontsize=9)
        for one in (text, panel):
            one.set_ylim(count - 0.5, -1.5)
        for row in range(count):
            _dots(panel, numbers.isel({METHOD: row}), row)
        page.target(panel, 1 - numbers.attrs[names.ALPHA])
        page.tidy(panel, x="aggregated coverage of a split (share)", y="", grid="x")
        panel.set_yticks([])
        panel.spines["left"].set_visible(False)
        handles, said = panel.get_legend_handles_labels()
        unique = dict(zip(said, handles, strict=True))
        drawn.legend(
            unique.values(),
            unique.keys(),
            loc="outside upper right",
            ncols=5,
            fontsize=page.SMALL,
            frameon=False,
        )
        return page.finish(drawn, "What each procedure promises, and what it does", numbers)

    def claim(self, numbers: xr.Dataset) -> Claim:
        """Return whether the rows of the paper's table read as it says."""
        mean = {name: float(_mean(numbers, name)) for name in PROCEDURES}
        spread = {name: _spread(numbers, name) for name in PROCEDURES}
        wanted = 1 - numbers.attrs[names.ALPHA]
        wanted_ecdf = wanted * (1 - float(DELTA))
        said = ", ".join(
            f"{name} {decimal(mean[name])} (over labels {decimal(spread[name], 4)})"
            for name in PROCEDURES
        )
        return Claim(
            says=f"coverage is {wanted:g} on average for Algorithm 1 and ({wanted:g})(1 - delta) "
            "for Algorithm 2; over labels it varies much for m = 1, little for more",
            measured=f"{said}; what sets examples aside draws them anew too",
            parts={
                f"m = 1 at {wanted:g}": close(mean[ONE], wanted),
                f"m = {splitting.DRAWS} at {wanted:g}": close(mean[MANY], wanted),
                f"Algorithm 2 at {decimal(wanted_ecdf, 4)}": close(mean[ECDF], wanted_ecdf),
                f"little spread for m = {splitting.DRAWS}": spread[MANY] <= _LOW * spread[ONE],
            },
        )


TABLE = Table()

_HEADINGS = (
    "procedure",
    "paper",
    "",
    "proved here",
    "average",
    "over labels",
    "set size",
    "extra split",
)
_PLACES = (0.0, 0.22, 0.42, 0.5, 0.63, 0.73, 0.85, 0.93)


def _mean(numbers: xr.Dataset, name: str) -> float:
    return float(numbers["coverage"].sel({METHOD: name}).mean())


def _spread(numbers: xr.Dataset, name: str) -> float:
    """Return the standard deviation over label draws, 0 for a single one."""
    values = numbers["coverage_over_labels"].sel({METHOD: name}).values
    return float(values.std(ddof=1)) if values.size > 1 else 0.0


def _cells(one: xr.Dataset) -> list[str]:
    """Return the cells of a row as text."""
    over = one["coverage_over_labels"].values
    return [
        str(one[METHOD].values),
        str(one["paper_says"].values),
        decimal(float(one["paper_level"])),
        decimal(float(one["proved_level"])),
        decimal(float(one["coverage"].mean())),
        decimal(float(over.std(ddof=1)) if over.size > 1 else 0.0, 4),
        f"{float(one['set_size']):.2f}",
        "yes" if bool(one["extra_split"]) else "no",
    ]


def _dots(panel: page.Panel, one: xr.Dataset, row: int) -> None:
    """Draw the splits of a procedure, their mean, and what is said of it."""
    values = one["coverage"].values
    panel.scatter(
        values,
        np.full(values.size, row),
        s=10,
        color=GREY,
        alpha=0.4,
        linewidths=0,
        label="a split",
    )
    panel.plot(
        [values.mean()], [row], marker="o", color=BLUE, markersize=7, linestyle="", label="average"
    )
    for name, mark, hue, said in (
        ("paper_level", "|", VERMILION, "paper"),
        ("proved_level", "^", INK, "proved here"),
    ):
        panel.plot(
            [float(one[name])],
            [row + (0.28 if mark == "^" else 0)],
            marker=mark,
            markersize=6 if mark == "^" else 16,
            markeredgewidth=2 if mark == "|" else 1,
            color=hue,
            linestyle="",
            label=said,
        )
