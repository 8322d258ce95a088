"""Sections 2 and 3, on the toy: its votes, drawn labels, averaged p-values, and the table."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.alphas import read_alpha
from plausibly.data import names
from plausibly.data.names import text_array
from plausibly.demo.subjects import AXIS, make_toy
from plausibly.evaluation.design import MethodTable
from plausibly.evaluation.result import decimal, each
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools
from plausibly.palette import BLUE, GREEN, GREY, INK, VERMILION
from plausibly.paper import figure
from plausibly.paper.data import toy_data
from plausibly.paper.figure import (
    CLOSE,
    DRAWS,
    METHOD,
    REPEAT,
    SPLIT,
    Claim,
    Drawing,
    Figure,
    Study,
    close,
    framed,
    mean_spread,
    monte_carlo,
)
from plausibly.plots import style
from plausibly.plots.style import SMALL, histogram

ALPHA = "0.05"
POINTS = 5000
POINTS_SHOWN = 500
SHOWN = "shown"
_WORDS = ("A", "B")
_CLEAR = 0.7
_HUES = (VERMILION, GREEN, BLUE)
_RGB = np.array([[int(hue[i : i + 2], 16) / 255 for i in (1, 3, 5)] for hue in _HUES])
_MARKS = ("o", "s", "^")
_RANGE = (0.05, 1.0)


def both_ways(study: Study) -> xr.Dataset:
    """Return what is shown, and over splits how often sets by score and by p-value differ."""
    data, points = study.data, make_toy(POINTS, seed=study.seed).points
    certain, cells = data.certain, (SHOWN, names.LABEL)
    calibrated = partial(
        study.calibrated,
        method={"calibrator": "majority-vote"},
        seed=study.seed,
        plausibilities=certain,
    )

    def measure(_: int, rows: Bools) -> tuple[float, int]:
        predictor, test = calibrated(rows), data.predictions[rows]
        by_p = predictor.p_values(test).values > float(study.alpha)
        differ = int((by_p != predictor.predict_array(test.values, study.alpha)).sum())
        return study.measured(predictor, rows)["true_coverage"], differ

    covered, differ = study.over_splits(measure)
    predictor, test = calibrated(study.rows(0)), data.predictions[study.rows(0)]
    most = test.values.max(axis=1)  # an unclear point, and a rather clear one
    pair = test[[int(np.argmin(most)), int(np.argmin(np.abs(most - _CLEAR)))]]
    few = {names.EXAMPLE: slice(POINTS_SHOWN)}
    posterior = data.plausibilities.isel(few)
    return xr.Dataset(
        {
            "point": ((names.EXAMPLE, AXIS), points.isel(few).values),
            "posterior": ((names.EXAMPLE, names.LABEL), posterior.values),
            "true_label": (names.EXAMPLE, certain.isel(few).values.argmax(axis=1)),
            "majority_vote": (names.EXAMPLE, posterior.values.argmax(axis=1)),
            "score": (cells, pair.values),
            "p_value": (cells, predictor.p_values(pair).values),
            "in_set": (cells, predictor.predict_array(pair.values, study.alpha)),
            "threshold": ((), float(predictor.threshold(study.alpha))),
            "shown_point": ((SHOWN, AXIS), points.sel({names.EXAMPLE: pair.example}).values),
            "true_coverage": (SPLIT, covered),
            "cells_that_differ": (SPLIT, differ.astype(np.int64)),
        },
        coords={
            names.EXAMPLE: posterior[names.EXAMPLE].values,
            names.LABEL: data.predictions[names.LABEL].values,
            AXIS: points[AXIS].values,
            SHOWN: text_array(_WORDS),
            SPLIT: np.arange(study.splits),
        },
    )


def draw_both_ways(numbers: xr.Dataset) -> Drawing:
    drawn = figure.new_page(10, 6.6)
    above, below = drawn.subfigures(2, 1)
    points, shown = numbers["point"].values, numbers["shown_point"].values
    labels = list(map(str, numbers[names.LABEL].values))
    first, *others = above.subplots(1, 3)
    mixed = np.clip(numbers["posterior"].values @ _RGB, 0, 1)
    first.scatter(*points.T, s=10, c=mixed, linewidths=0)
    for word, place in zip(_WORDS, shown, strict=True):
        first.plot(*place, marker="o", color=INK, markersize=5)
        first.annotate(f" {word}", place, fontweight="bold")
    for panel, name in zip(others, ("true_label", "majority_vote"), strict=True):
        for code, (hue, mark) in enumerate(zip(_HUES, _MARKS, strict=True)):
            there = points[numbers[name].values == code]
            look = {"s": 11, "c": hue, "marker": mark, "linewidths": 0}
            panel.scatter(*there.T, label=labels[code], **look)
    titles = ("true posterior (mixed colours)", "true labels", "majority votes")
    for title, panel in zip(titles, (first, *others), strict=True):
        framed(panel, "first coordinate", "second coordinate", title, grid="", key="")
        panel.set(xlim=_RANGE, ylim=_RANGE, aspect="equal")
    style.legend(others[0], place="upper right")
    levels = {"score": float(numbers["threshold"]), "p_value": numbers.attrs[names.ALPHA]}
    texts = {"score": ("score E(x, k)", "threshold"), "p_value": ("p-value", "alpha")}
    for panel, (name, level) in zip(below.subplots(1, 2), levels.items(), strict=True):
        for row, word in enumerate(_WORDS):
            places, heights = np.arange(len(labels)) + (row - 0.5) * 0.38, numbers[name].values[row]
            bars = style.bars(panel, places, heights, 0.35, style.OTHERS[row], word)
            inside = np.where(numbers["in_set"].values[row], "in", "")
            panel.bar_label(bars, inside, fontsize=SMALL)
        y, line = texts[name]
        style.dashed(panel, level, f"{line} {level:.3g}", axis="y")
        panel.set_xticks(range(len(labels)), labels)
        panel.set_ylim(0, 1.25)
        framed(panel, "label", y, "in: the label is in the set", columns=3)
    return figure.finish(drawn, "One toy, its votes, and two ways to the same set", numbers)


def claim_both_ways(numbers: xr.Dataset, level: float) -> Claim:
    covered = numbers["true_coverage"].values
    differ = int(numbers["cells_that_differ"].sum())
    return Claim(
        says="thresholds of scores and of p-values give the same sets, and cover true labels "
        f"at {level:g} when calibrated on true labels",
        measured=f"{differ} labels in one set and not in the other, true coverage "
        f"{mean_spread(covered)}",
        parts={"the same sets": differ == 0, f"true labels at {level:g}": close(covered, level)},
    )


TOY = Figure(partial(toy_data, POINTS), ALPHA, both_ways, draw_both_ways, claim_both_ways)

_COVERED = (
    ("majority_vote_coverage", "majority vote, ", style.VOTED),
    ("true_coverage", "true label, ", style.TRUE),
    ("aggregated_coverage", "plausibilities, ", style.AGGREGATED),
)


def gap(method: MethodTable, study: Study) -> xr.Dataset:
    return study.compared({"": method}).isel({METHOD: 0}, drop=True)


def draw_gap(title: str, numbers: xr.Dataset) -> Drawing:
    covered = [measure for measure in _COVERED if measure[0] in numbers]
    return figure.draw_columns({"": numbers}, title, numbers, covered=covered)


def claim_gap(numbers: xr.Dataset, level: float, *, voted: bool) -> Claim:
    hidden, of = "true_coverage", "true labels"
    if hidden not in numbers:
        hidden, of = "aggregated_coverage", "plausibilities"
    there, votes = numbers[hidden].values, numbers["majority_vote_coverage"].values
    covered = f"{of} {mean_spread(there)}, majority votes {mean_spread(votes)}"
    if not voted:
        return Claim(
            says=f"Monte Carlo calibration covers {of} at {level:g} on average",
            measured=covered,
            parts={f"{of} at {level:g}": close(there, level)},
        )
    return Claim(
        says=f"calibrated on votes, sets cover the vote at {level:g} and {of} far less",
        measured=f"{covered}; short by {decimal(level - float(there.mean()))} on average, by "
        f"{decimal(level - float(there.max()))} or more in every split",
        parts={
            f"majority votes at {level:g}": close(votes, level),
            f"{of} short in every split": bool(there.max() < level - CLOSE),
        },
    )


VOTED = Figure(
    partial(toy_data, POINTS),
    ALPHA,
    partial(gap, {"calibrator": "majority-vote"}),
    partial(draw_gap, "Calibrated on majority votes, sets miss what the vote hides"),
    partial(claim_gap, voted=True),
)
MONTE_CARLO = attrs.evolve(
    VOTED,
    numbers=partial(gap, monte_carlo()),
    draw=partial(draw_gap, f"Calibrated on {DRAWS} drawn labels per point, the gap closes"),
    statement=partial(claim_gap, voted=False),
)

COUNTS = (1, 2, 5, 10, 20)
FRACTIONS = (0.05, 0.1, 0.2, 0.5)
OVER_SPLITS: dict[str, MethodTable] = {
    **{f"m = {count}": monte_carlo(count) for count in (1, 5, 20)},
    "expected": {"calibrator": "expected"},
}
FRACTION = "fraction"
_MIDDLE = (5, 95)


def variability(study: Study) -> xr.Dataset:
    first = study.rows(0)

    def covered(number: int, rows: Bools, method: MethodTable) -> float:
        predictor = study.calibrated(rows, method, seed=number)
        return study.measured(predictor, rows)["aggregated_coverage"]

    def measure(number: int, _: Bools) -> list[float]:
        by_part = [study.rows(number, test=1 - part) for part in FRACTIONS]
        return [
            *(covered(number, first, monte_carlo(draws)) for draws in COUNTS),
            *(covered(number, rows, method) for method in OVER_SPLITS.values() for rows in by_part),
        ]

    over_labels, over_splits = np.split(study.over_splits(measure), [len(COUNTS)])
    over_splits = over_splits.reshape(len(OVER_SPLITS), len(FRACTIONS), study.splits)
    return xr.Dataset(
        {
            "coverage_over_labels": ((names.DRAW, REPEAT), over_labels),
            "coverage_over_splits": ((METHOD, FRACTION, SPLIT), over_splits),
        },
        coords={
            names.DRAW: list(COUNTS),
            REPEAT: np.arange(study.splits),
            METHOD: np.array(list(OVER_SPLITS)),
            FRACTION: list(FRACTIONS),
            SPLIT: np.arange(study.splits),
        },
    )


def draw_variability(numbers: xr.Dataset) -> Drawing:
    drawn = figure.new_page(9, 4)
    first, second = drawn.subplots(1, 2)
    by_count = numbers["coverage_over_labels"].values
    ends = np.percentile(by_count, _MIDDLE, axis=1)
    look = {"fmt": "o", "color": BLUE, "ecolor": INK, "markersize": 7, "linewidth": 2}
    mean, places = by_count.mean(axis=1), np.arange(len(COUNTS))
    first.errorbar(places, mean, yerr=abs(ends - mean), **look)
    first.set_xticks(places, [str(count) for count in COUNTS])
    style.dashed(first, figure.wanted(numbers), axis="y")
    x, y = "drawn labels per example (m)", "aggregated coverage (share)"
    title = "one split: mean and middle 90%"
    framed(first, x, y, title, room=0.3, key="upper right")
    spread = _spread(numbers)
    fractions = 100 * spread[FRACTION].values
    for method, curve in zip(spread, style.OTHERS, strict=False):
        style.curve(second, fractions, method.values, curve, str(method[METHOD].values))
    second.set_ylim(0, None)
    x, y = "calibration examples (% of all)", "standard deviation of coverage"
    framed(second, x, y, "over splits", key="upper right", columns=2)
    return figure.finish(drawn, "More drawn labels per example, less spread", numbers)


def _spread(numbers: xr.Dataset) -> xr.DataArray:
    return numbers["coverage_over_splits"].std(SPLIT, ddof=1)


def claim_variability(numbers: xr.Dataset, level: float) -> Claim:
    labels = numbers["coverage_over_labels"].std(REPEAT, ddof=1)
    with_few, with_many = float(labels[0]), float(labels[-1])
    spread = _spread(numbers)
    ones, twenties = (spread.sel({METHOD: name}) for name in ("m = 1", "m = 20"))
    halves = numbers["coverage_over_splits"].sel({FRACTION: FRACTIONS[-1]}).mean(SPLIT)
    least, most = float(halves.min()), float(halves.max())
    gains = [f"{decimal(float(ones[i]))} to {decimal(float(twenties[i]))}" for i in (0, -1)]
    return Claim(
        says=f"coverage is {level:g} on average for every m, and varies less the larger m is, "
        "most of all with few calibration examples",
        measured=f"means over halves {decimal(least)} to {decimal(most)}; from m = 1 to 20, "
        f"spread over labels {decimal(with_few, 4)} to {decimal(with_many, 4)}, over splits with "
        f"{100 * FRACTIONS[0]:g}% calibration {gains[0]}, with {100 * FRACTIONS[-1]:g}% "
        f"{gains[1]}",
        parts={
            f"means at {level:g}": close(least, level) and close(most, level),
            "less spread over labels": with_many < with_few,
            "less spread over splits": bool((twenties < ones).all()),
            "most with few examples": bool(ones[0] - twenties[0] > ones[-1] - twenties[-1]),
        },
    )


VARYING = Figure(partial(toy_data, 2000), ALPHA, variability, draw_variability, claim_variability)
VARYING_SKIN = attrs.evolve(VARYING, alpha="0.27")

COUNT = 10_000
TESTS = 10
DELTA = 1e-4
LEVELS = 201
LEVEL, TEST = "level", "test"
_LOOKS = {"averaged": style.VOTED, "corrected": style.AGGREGATED}


def averages(study: Study) -> xr.Dataset:
    hashes = hash_names(f"p{i}" for i in range(2 * COUNT))
    uniform = Keys(study.seed, "reproduce/ecdf").uniform(hashes, TESTS)
    averaged = np.concatenate([uniform, uniform], axis=1).mean(axis=1)
    held, tested = averaged[:COUNT], averaged[COUNT:]
    levels = np.linspace(0, 1, LEVELS)
    corrected = _at_most(tested, held)
    return xr.Dataset(
        {
            "averaged": (TEST, tested),
            "corrected": (TEST, corrected),
            "averaged_level": (LEVEL, _at_most(levels, tested)),
            "corrected_level": (LEVEL, _at_most(levels, corrected)),
            "band": ((), math.sqrt(math.log(2 / DELTA) / (2 * COUNT))),
        },
        coords={TEST: np.arange(COUNT), LEVEL: levels},
        attrs={
            "data": "simulated p-values",
            "about": f"{COUNT:,} averages of {2 * TESTS} dependent p-values, empirical "
            f"distribution of {COUNT:,} others",
            "seed": study.seed,
        },
    )


def _at_most(levels: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.searchsorted(np.sort(p), levels, side="right") / len(p)


def draw_averages(numbers: xr.Dataset) -> Drawing:
    drawn = figure.new_page(9, 4)
    first, second = drawn.subplots(1, 2)
    levels, band = numbers[LEVEL].values, float(numbers["band"])
    for name, look in _LOOKS.items():
        histogram(first, numbers[name].values, np.linspace(0, 1, 41), look, name)
        style.curve(second, levels, numbers[f"{name}_level"].values, look, name, marker="")
    style.dashed(first, COUNT / 40, "uniform", axis="y")
    framed(first, "p-value", "tests", "distribution")
    grey = {"color": GREY, "alpha": 0.35, "linewidth": 0, "label": f"band, delta {DELTA:g}"}
    second.fill_between(levels, levels - band, levels + band, **grey)
    x, y = "level wanted (alpha)", "share of p-values at most alpha"
    framed(second, x, y, "level reached", grid="both")
    second.set(xlim=(0, 1), ylim=(0, 1))
    return figure.finish(drawn, "Averaged p-values, and their empirical correction", numbers)


def claim_averages(numbers: xr.Dataset, level: float) -> Claim:
    band = float(numbers["band"])
    averaged, corrected = (
        float(abs(numbers[f"{name}_level"] - numbers[LEVEL]).max()) for name in _LOOKS
    )
    return Claim(
        says="averages of dependent p-values are not uniform; corrected by an empirical "
        f"distribution they are, to the band of delta {DELTA:g}",
        measured=f"largest distance from uniform: averaged {decimal(averaged)}, "
        f"corrected {decimal(corrected)}, band {decimal(band)}",
        parts={
            "averages off uniform": averaged > band,
            "corrected within the band": corrected <= band,
        },
    )


P_VALUES = Figure(partial(toy_data, 200), ALPHA, averages, draw_averages, claim_averages)

TRUE = "true labels"
CORRECTED: dict[str, MethodTable] = {
    "Monte Carlo": monte_carlo(),
    "ECDF, band as in Algorithm 2": monte_carlo(combiner="ecdf"),
    "held-out rank (no band)": monte_carlo(combiner="held-out-rank"),
}


def coverage(study: Study) -> xr.Dataset:
    """Return aggregated coverage and set size, (method, split)."""
    kept = ["aggregated_coverage", "set_size"]
    corrected, method = study.compared(CORRECTED)[kept], {"calibrator": "majority-vote"}

    def measure(_: int, rows: Bools) -> list[float]:
        predictor = study.calibrated(
            rows, method, seed=study.seed, plausibilities=study.data.certain
        )
        means = study.measured(predictor, rows)
        return [means[name] for name in kept]

    arrays = zip(kept, study.over_splits(measure), strict=True)
    known = xr.Dataset(
        {name: ((METHOD, SPLIT), [values]) for name, values in arrays},
        {METHOD: [TRUE], SPLIT: corrected[SPLIT]},
    )
    return xr.concat([known, corrected], dim=METHOD, join="exact")


def claim_coverage(numbers: xr.Dataset, level: float) -> Claim:
    true, plain, band, rank = numbers["aggregated_coverage"].values
    return Claim(
        says=f"with the ECDF correction of Algorithm 2 coverage is {level:g} as without it, "
        "with more spread over splits",
        measured=f"true labels {mean_spread(true)}, Monte Carlo {mean_spread(plain)}, "
        f"with the correction and its band {mean_spread(band)}, without the band "
        f"{mean_spread(rank)}",
        parts={
            f"Monte Carlo at {level:g}": close(plain, level),
            f"Algorithm 2 at {level:g}": close(band, level),
            "more spread": float(band.std()) > float(plain.std()),
        },
    )


COVERAGE = Figure(
    partial(toy_data, 20_000),
    ALPHA,
    coverage,
    partial(
        figure.draw_methods,
        "The ECDF correction, with and without its band",
        covered=figure.ANSWERS,
    ),
    claim_coverage,
)

_LOW = 0.5  # a spread is low that is at most this part of that of one draw per example


ONE, MANY, ECDF = "Algorithm 1, m = 1", f"Algorithm 1, m = {DRAWS}", "Algorithm 2 (ecdf)"
PROCEDURES: dict[str, MethodTable] = {
    "majority-vote": {"calibrator": "majority-vote"},
    ONE: monte_carlo(1),
    MANY: monte_carlo(),
    ECDF: monte_carlo(combiner="ecdf"),
    "expected": {"calibrator": "expected"},
    "maximum": monte_carlo(combiner="maximum"),
    "held-out-rank": monte_carlo(combiner="held-out-rank"),
    "pac": {**monte_carlo(), "combiner": {"name": "pac", "bound": "held-out"}},
}
PAPER = {ONE: "1 - alpha", MANY: "1 - 2 alpha", ECDF: "(1 - alpha)(1 - delta)"}
EXTRA_SPLIT = (ECDF, "held-out-rank", "pac")


def procedures(study: Study) -> xr.Dataset:
    """Return levels and set sizes by procedure, and coverage by split and by label draw."""
    alpha, over = read_alpha(study.alpha), study.compared(PROCEDURES)
    levels = {ONE: 1 - alpha, MANY: 1 - 2 * alpha, ECDF: (1 - alpha) * (1 - Fraction(1, 10_000))}
    test = study.rows(0)

    def again(number: int, _: Bools) -> list[float]:
        # Draws anew what a calibration draws: labels, and the held-out examples of some.
        drawn = (study.calibrated(test, method, seed=number) for method in PROCEDURES.values())
        return [study.measured(predictor, test)["aggregated_coverage"] for predictor in drawn]

    return xr.Dataset(
        {
            "paper_says": (METHOD, text_array([PAPER.get(name, "-") for name in PROCEDURES])),
            "paper_level": (METHOD, [float(levels.get(name, np.nan)) for name in PROCEDURES]),
            "proved_level": (METHOD, over["guaranteed_level"].values),
            "coverage": ((METHOD, SPLIT), over["aggregated_coverage"].values),
            "coverage_over_labels": ((METHOD, REPEAT), study.over_splits(again)),
            "set_size": (METHOD, over["set_size"].mean(SPLIT).values),
            "extra_split": (METHOD, [name in EXTRA_SPLIT for name in PROCEDURES]),
        },
        coords={
            METHOD: text_array(list(PROCEDURES)),
            SPLIT: over[SPLIT].values,
            REPEAT: np.arange(study.splits),
        },
    )


def draw_procedures(numbers: xr.Dataset) -> Drawing:
    drawn = figure.new_page(9, 5.4)
    panel, rows = drawn.subplots(), []
    for procedure in each(numbers, METHOD):
        extra = "; extra split" if bool(procedure["extra_split"]) else ""
        rows.append(
            f"{procedure[METHOD].item()}\npaper {procedure['paper_says'].item()}; "
            f"over labels {decimal(_label_spread(procedure), 4)}; "
            f"{float(procedure['set_size']):.2f} labels{extra}"
        )
    places, splits = np.arange(len(rows)), numbers["coverage"]
    grey = {"s": 10, "color": GREY, "alpha": 0.4, "linewidths": 0, "label": "a split"}
    panel.scatter(splits.values, np.broadcast_to(places[:, None], splits.shape), **grey)
    for values, down, mark, size, colour, label in (
        (splits.mean(SPLIT), 0.0, "o", 7, BLUE, "average"),
        (numbers["paper_level"], 0.0, "|", 16, VERMILION, "paper"),
        (numbers["proved_level"], 0.28, "^", 6, INK, "proved here"),
    ):
        look = {"marker": mark, "markersize": size, "markeredgewidth": 2, "color": colour}
        panel.plot(values.values, places + down, linestyle="", label=label, **look)
    style.name_rows(panel, rows)
    x, level = "aggregated coverage of a split (share)", figure.wanted(numbers)
    framed(panel, x, "procedure", grid="x", level=level, key="")
    figure.key_above(drawn, panel, 1)
    return figure.finish(drawn, "What each procedure guarantees, and what it does", numbers)


def _label_spread(procedure: xr.Dataset) -> float:
    """Return the standard deviation over label draws, 0 for a single one."""
    values = procedure["coverage_over_labels"].values
    return float(values.std(ddof=1)) if values.size > 1 else 0.0


def claim_procedures(numbers: xr.Dataset, level: float) -> Claim:
    rows = {name: numbers.sel({METHOD: name}) for name in PROCEDURES}
    mean = {name: float(row["coverage"].mean()) for name, row in rows.items()}
    spread = {name: _label_spread(row) for name, row in rows.items()}
    level_ecdf = level * (1 - DELTA)
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


TABLE = Figure(partial(toy_data, 4000), "0.1", procedures, draw_procedures, claim_procedures)
