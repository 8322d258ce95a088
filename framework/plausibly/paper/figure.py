"""Figures of the paper: numbers over random splits of data, claims, pictures and tables."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from plausibly.atomic import replacing
from plausibly.calibration.alphas import AlphaLike
from plausibly.conformal.calibrate import calibrate
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names
from plausibly.data.names import name_texts, several
from plausibly.evaluation.design import MethodTable
from plausibly.evaluation.inputs import HOLES
from plausibly.evaluation.result import decimal
from plausibly.evaluation.splits import split, split_keys
from plausibly.evaluation.study import compare
from plausibly.extras import require
from plausibly.kernels import coverage
from plausibly.kernels.random import hash_names
from plausibly.kernels.types import Bools, Floats
from plausibly.palette import INK, VERMILION
from plausibly.paper.data import SOURCE, Data
from plausibly.plots import style
from plausibly.plots.style import Axes, Look
from plausibly.progress import Tick

TEST = 0.5
DRAWS = 10
METHOD, SPLIT, REPEAT = "method", "split", "repetition"
MEASURES = ("aggregated_coverage", "majority_vote_coverage", "true_coverage", "set_size", HOLES)

Drawing: TypeAlias = Any  # Any: a Figure of matplotlib, which may not be installed
Form: TypeAlias = Literal["png", "svg"]

CLOSE = 0.01  # largest distance from a level of a mean coverage that counts as equal


@attrs.frozen(kw_only=True)
class Claim:
    """A statement of the paper, with the numbers of a figure that hold or refute it."""

    says: str
    measured: str
    parts: Mapping[str, bool]

    @property
    def held(self) -> bool:
        return all(self.parts.values())

    @property
    def verdict(self) -> str:
        wrong = [part for part, held in self.parts.items() if not held]
        return f"no: not {', not '.join(wrong)}" if wrong else "yes"

    def line(self, figure: str) -> str:
        return f"{figure}: held: {self.verdict}. Claim: {self.says}. Measured: {self.measured}."


def wanted(numbers: xr.Dataset) -> float:
    return float(1 - numbers.attrs.get(names.ALPHA, np.nan))


def close(values: Floats | float, level: float) -> bool:
    return abs(float(np.mean(values)) - level) <= CLOSE


def mean_spread(values: Floats) -> str:
    spread = f" (spread {decimal(float(np.std(values, ddof=1)))})" if np.size(values) > 1 else ""
    return f"{decimal(float(np.mean(values)))}{spread}"


def write_numbers(numbers: xr.Dataset, path: Path) -> None:
    simulated = " (simulated predictions)" if numbers.attrs.get("simulated") else ""
    data = f"{numbers.attrs.get('data', '')}{simulated}"
    with replacing(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["data", "quantity", *numbers.dims, "value"])
        for name, variable in numbers.data_vars.items():
            places = product(*(numbers[dim].values.tolist() for dim in variable.dims))
            values = variable.values
            each = (values.astype(int) if values.dtype == bool else values).ravel().tolist()
            for place, value in zip(places, each, strict=True):
                at = dict(zip(variable.dims, place, strict=True))
                writer.writerow([data, name, *(at.get(dim, "") for dim in numbers.dims), value])


SIMULATED_PREDICTIONS = "SIMULATED PREDICTIONS: no model made these numbers"


def new_page(width: float, height: float) -> Drawing:
    figures = require("matplotlib.figure", extra="demo", source=SOURCE)
    return figures.Figure(figsize=(width, height), layout="constrained")


def framed(
    panel: Axes,
    x: str,
    y: str,
    title: str = "",
    *,
    grid: str = "y",
    level: float | None = None,
    room: float = 0,
    key: str = "upper left",
    columns: int = 1,
) -> None:
    """Add the level wanted, names of axes, room at the top, and a legend."""
    if level is not None:
        style.dashed(panel, level)
    style.tidy(panel, x=x, y=y, title=title, grid=grid)
    if room:
        style.headroom(panel, room)
    if key:
        style.legend(panel, place=key, columns=columns)


def key_above(page: Drawing, panel: Axes, columns: int) -> None:
    """Put the legend of one panel above the page."""
    where = {"loc": "outside upper right", "ncols": columns, "frameon": False}
    page.legend(*panel.get_legend_handles_labels(), fontsize=style.SMALL, **where)


def finish(page: Drawing, title: str, numbers: xr.Dataset) -> Drawing:
    known = numbers.attrs
    parts = [str(known["about"])]
    if "splits" in known:
        parts.append(several(int(known["splits"]), "random split"))
    parts += [f"{key} {known[key]}" for key in ("alpha", "seed") if key in known]
    left, colour = {"x": 0.01, "ha": "left"}, INK
    if known.get("simulated"):
        title, colour = f"{title}\n{SIMULATED_PREDICTIONS}", VERMILION
    page.suptitle(title, fontweight="bold", fontsize=11, color=colour, **left)
    page.supxlabel("; ".join(parts), fontsize=style.SMALL, color=INK, **left)
    return page


Measure: TypeAlias = tuple[str, str, Look]
COVERED = (
    ("majority_vote_coverage", "majority vote, ", style.VOTED),
    ("aggregated_coverage", "aggregated, ", style.AGGREGATED),
)
ANSWERS = (("aggregated_coverage", "", style.AGGREGATED),)
SIZES = (("set_size", "", style.SIZE),)
_WIDTH, _LEAST, _HEIGHT = 3, 8, 5.6


def draw_methods(
    title: str, numbers: xr.Dataset, *, covered: Sequence[Measure] = COVERED
) -> Drawing:
    """Return histograms over splits, a column per method."""
    methods = name_texts(numbers[METHOD].values)
    columns = {name: numbers.sel({METHOD: name}) for name in methods}
    return draw_columns(columns, title, numbers, covered=covered)


def draw_columns(
    columns: Mapping[str, xr.Dataset],
    title: str,
    numbers: xr.Dataset,
    *,
    covered: Sequence[Measure] = COVERED,
    sizes: Sequence[Measure] = SIZES,
) -> Drawing:
    page = new_page(max(_WIDTH * len(columns), _LEAST), _HEIGHT)
    panels = page.subplots(2, len(columns), sharex="row", sharey="row", squeeze=False)
    limits = [
        np.histogram_bin_edges(
            [column[name] for column in columns.values() for name in measures], 40
        )
        for measures in ([name for name, _, _ in covered], [name for name, _, _ in sizes])
    ]
    for place, (name, column) in enumerate(columns.items()):
        y = "" if place else "splits"
        for panel, measures, bins, digits in zip(
            panels[:, place], (covered, sizes), limits, (3, 2), strict=True
        ):
            for measure, prefix, look in measures:
                values = column[measure].values
                label = f"{prefix}mean {values.mean():.{digits}f}"
                style.histogram(panel, values, bins, look, label)
        framed(panels[0, place], "coverage (share)", y, name, level=wanted(numbers), key="")
        framed(panels[1, place], "mean set size (labels)", y, key="")
    style.headroom(panels[0, 0], 0.5)
    style.headroom(panels[1, 0], 0.15 + 0.12 * len(sizes))
    for above, below in panels.T:
        style.legend(above, place="upper left")
        style.legend(below, place="upper right")
    return finish(page, title, numbers)


def monte_carlo(draws: int = DRAWS, **others: str) -> MethodTable:
    return {"calibrator": "monte-carlo", "draws": draws, **others}


@attrs.frozen(kw_only=True, eq=False)
class Study:
    data: Data
    alpha: AlphaLike
    splits: int = 100
    seed: int = 1
    tick: Tick = lambda done, total: None

    def rows(self, number: int, *, test: float = TEST) -> Bools:
        """Return which examples are test examples in a split, (example,)."""
        hashes = hash_names(self.data.predictions[names.EXAMPLE].values)
        keys = split_keys(self.seed, number)
        return split(hashes, keys, test=test, groups=self.data.groups)

    def over_splits(self, measure: Callable[[int, Bools], ArrayLike]) -> Floats:
        """Return numbers of every split, (..., split), from its number and its test examples."""
        results = []
        for number in range(self.splits):
            results.append(measure(number, self.rows(number)))
            self.tick(number + 1, self.splits)
        return np.stack(results, axis=-1)

    def calibrated(
        self,
        rows: Bools,
        method: MethodTable,
        *,
        seed: int,
        plausibilities: xr.DataArray | None = None,
    ) -> ConformalPredictor:
        call: Callable[..., ConformalPredictor] = calibrate  # it checks each argument by name
        known = self.data.plausibilities if plausibilities is None else plausibilities
        model = self.data.predictions[~rows]
        return call(model, known[~rows], **method, seed=seed, cluster=self.data.cluster)

    def measured(
        self, predictor: ConformalPredictor, rows: Bools, alpha: AlphaLike | None = None
    ) -> dict[str, float]:
        alpha = self.alpha if alpha is None else alpha
        sets = predictor.predict_array(self.data.predictions.values[rows], alpha)
        shares = self.data.plausibilities.values[rows]
        measures = {
            "aggregated_coverage": coverage.aggregated(sets, shares),
            "majority_vote_coverage": coverage.majority_vote(sets, shares),
            "set_size": coverage.sizes(sets),
        }
        if self.data.true_label is not None:
            measures["true_coverage"] = coverage.aggregated(sets, self.data.certain.values[rows])
        return {name: float(values.mean()) for name, values in measures.items()}

    def compared(self, methods: Mapping[str, MethodTable]) -> xr.Dataset:
        study = compare(
            self.data.predictions,
            self.data.plausibilities,
            methods,
            alphas=[self.alpha],
            splits=self.splits,
            test=TEST,
            cluster=self.data.cluster,
            seed=self.seed,
            true_label=self.data.true_label,
            progress=self.tick,
        ).data.isel({names.ALPHA: 0}, drop=True)
        level = study["guaranteed_level"].variable
        kept = study[[name for name in MEASURES if name in study]].drop_attrs(deep=False)
        return kept.drop_vars(["guaranteed", "guaranteed_level"]).assign(guaranteed_level=level)

    def facts(self, **others: object) -> dict[str, object]:
        return {
            "data": self.data.name,
            "about": self.data.about,
            "simulated": int(self.data.simulated),
            "splits": self.splits,
            "alpha": float(self.alpha),
            "seed": self.seed,
            **others,
        }


@attrs.frozen
class Figure:
    """A figure of the paper: numbers, and picture and claim made from the numbers alone."""

    data: Callable[[int], Data]
    alpha: AlphaLike
    numbers: Callable[[Study], xr.Dataset]
    draw: Callable[[xr.Dataset], Drawing]
    statement: Callable[[xr.Dataset, float], Claim]

    def claim(self, numbers: xr.Dataset) -> Claim:
        return self.statement(numbers, wanted(numbers))

    def measure(
        self,
        data: Data | None = None,
        alpha: AlphaLike | None = None,
        **options: Any,  # Any: each has its own type
    ) -> xr.Dataset:
        """Return the numbers of data, by default its own; `options` are those of a `Study`."""
        known = self.data(options.get("seed", 1)) if data is None else data
        study = Study(data=known, alpha=self.alpha if alpha is None else alpha, **options)
        numbers = self.numbers(study)
        return numbers if numbers.attrs else numbers.assign_attrs(study.facts())
