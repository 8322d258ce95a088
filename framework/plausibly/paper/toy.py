"""Sections 2 and 3.2, on the toy: its votes, what they miss, and spread over drawn labels."""

from __future__ import annotations

from functools import partial
from itertools import count

import attrs
import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.names import text_array
from plausibly.demo.subjects import AXIS
from plausibly.evaluation.design import MethodTable
from plausibly.evaluation.result import decimal
from plausibly.kernels.types import Bools
from plausibly.palette import BLUE, GREEN, INK, VERMILION
from plausibly.paper import page
from plausibly.paper.data import toy_data
from plausibly.paper.figure import DRAWS, METHOD, REPEAT, SPLIT, Figure, Study, monte_carlo
from plausibly.paper.page import CLOSE, Claim, Drawing, close, framed, mean_spread
from plausibly.plots import style
from plausibly.plots.style import SMALL, Axes, histogram

ALPHA = "0.05"
POINTS = 5000
POINTS_SHOWN = 500
GRID = 81
SHOWN = "shown"
_WORDS = ("A", "B")
_CLEAR = 0.7
_HUES = (VERMILION, GREEN, BLUE)
_RGB = np.array([[int(hue[i : i + 2], 16) / 255 for i in (1, 3, 5)] for hue in _HUES])
_MARKS = ("o", "s", "^")
_RANGE = (0.05, 1.0)


def both_ways(study: Study) -> xr.Dataset:
    """Return what is shown, and over splits how often sets by score and by p-value differ."""
    data = toy_data(POINTS, study.seed)
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
    steps = np.linspace(*_RANGE, GRID)
    plane = np.stack(np.meshgrid(steps, steps, indexing="ij"), axis=-1).reshape(-1, 2)
    region = data.probabilities(plane).argmax(axis=1).reshape(GRID, GRID)
    return xr.Dataset(
        {
            "point": ((names.EXAMPLE, AXIS), data.points.isel(few).values),
            "posterior": ((names.EXAMPLE, names.LABEL), posterior.values),
            "true_label": (names.EXAMPLE, certain.isel(few).values.argmax(axis=1)),
            "majority_vote": (names.EXAMPLE, posterior.values.argmax(axis=1)),
            "region": (("first", "second"), region),
            "score": (cells, pair.values),
            "p_value": (cells, predictor.p_values(pair).values),
            "in_set": (cells, predictor.predict_array(pair.values, study.alpha)),
            "threshold": ((), float(predictor.threshold(study.alpha))),
            "shown_point": ((SHOWN, AXIS), data.points.sel({names.EXAMPLE: pair.example}).values),
            "true_coverage": (SPLIT, covered),
            "cells_that_differ": (SPLIT, differ.astype(np.int64)),
        },
        coords={
            names.EXAMPLE: posterior[names.EXAMPLE].values,
            names.LABEL: data.predictions[names.LABEL].values,
            AXIS: data.points[AXIS].values,
            "first": steps,
            "second": steps,
            SHOWN: text_array(_WORDS),
            SPLIT: np.arange(study.splits),
        },
    )


def draw_both_ways(numbers: xr.Dataset) -> Drawing:
    drawn = page.new_page(10, 6.6)
    (posterior, true, voted), (regions, scores, p_values) = drawn.subplots(2, 3)
    points = numbers["point"].values
    mixed = numbers["posterior"].values @ _RGB
    posterior.scatter(*points.T, s=10, c=np.clip(mixed, 0, 1), linewidths=0)
    for panel, name in ((true, "true_label"), (voted, "majority_vote")):
        for code, (hue, mark) in enumerate(zip(_HUES, _MARKS, strict=True)):
            there = points[numbers[name].values == code]
            label = str(numbers[names.LABEL].values[code])
            panel.scatter(*there.T, s=11, c=hue, marker=mark, linewidths=0, label=label)
    style.legend(true, place="upper right")
    titles = {
        "true posterior (mixed colours)": posterior,
        "true labels": true,
        "majority votes": voted,
        "predictions of the network, and two points": regions,
    }
    for title, panel in titles.items():
        framed(panel, "first coordinate", "second coordinate", title, grid="", key="")
        panel.set(xlim=_RANGE, ylim=_RANGE, aspect="equal")
    shades = 1 - (1 - _RGB[numbers["region"].values]) * 0.35
    regions.imshow(shades.transpose(1, 0, 2), origin="lower", extent=(*_RANGE, *_RANGE))
    for word, place in zip(_WORDS, numbers["shown_point"].values, strict=True):
        regions.plot(*place, marker="o", color=INK, markersize=5)
        regions.annotate(word, place, xytext=(6, 4), textcoords="offset points", fontweight="bold")
    _bars(scores, numbers, "score", float(numbers["threshold"]), "threshold")
    framed(scores, "label", "score E(x, k)", "set: score at least the threshold", key="")
    _bars(p_values, numbers, "p_value", numbers.attrs[names.ALPHA], "alpha")
    framed(p_values, "label", "p-value", "set: p-value above alpha", key="")
    return page.finish(drawn, "One toy, its votes, and two ways to the same set", numbers)


def _bars(panel: Axes, numbers: xr.Dataset, name: str, level: float, line: str) -> None:
    """Draw two points' bars side by side, filled where the label is in the set."""
    values, inside = numbers[name].values, numbers["in_set"].values
    width = 0.38
    for row, word in enumerate(_WORDS):
        places = np.arange(len(_HUES)) + (row - 0.5) * width
        filled = np.where(inside[row], _HUES, "white")
        panel.bar(places, values[row], width * 0.92, facecolor=filled, edgecolor=_HUES)
        for place, above in zip(places, np.maximum(values[row], level), strict=True):
            # Never on the dashed line.
            panel.text(place, above + 0.015, word, ha="center", va="bottom", fontsize=SMALL)
    style.dashed(panel, level, axis="y")
    panel.set_xticks(range(len(_HUES)), [str(label) for label in numbers[names.LABEL].values])
    panel.set_ylim(0, 1.25)
    text = f"{line} {level:.3g} (dashed); filled: in the set"
    panel.annotate(text, (0.02, 0.98), xycoords="axes fraction", va="top", fontsize=SMALL)


def claim_both_ways(numbers: xr.Dataset, level: float) -> Claim:
    covered = numbers["true_coverage"].values
    differ = int(numbers["cells_that_differ"].sum())
    return Claim(
        says="thresholds of scores and of p-values give the same sets, and cover true labels "
        f"at {level:g} when calibrated on true labels",
        measured=f"{differ} labels in one set and not in the other, true coverage "
        f"{mean_spread(covered)}",
        parts={
            "the same sets": differ == 0,
            f"true labels at {level:g}": close(covered, level),
        },
    )


TOY = Figure(partial(toy_data, POINTS), ALPHA, both_ways, draw_both_ways, claim_both_ways)

_COVERED = (
    ("majority_vote_coverage", "majority vote, ", style.VOTED),
    ("true_coverage", "true label, ", style.TRUE),
    ("aggregated_coverage", "plausibilities, ", style.AGGREGATED),
)


def gap(method: MethodTable, study: Study) -> xr.Dataset:
    """Return coverage and set size when calibrated in one way, (split,)."""
    return study.compared({"": method}).isel({METHOD: 0}, drop=True)


def draw_gap(title: str, numbers: xr.Dataset) -> Drawing:
    covered = [measure for measure in _COVERED if measure[0] in numbers]
    return page.draw_columns({"": numbers}, title, numbers, covered=covered)


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
    draw=partial(draw_gap, f"Calibrated on {DRAWS} drawn labels a point, the gap closes"),
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
    """Return aggregated coverage by label draws (draws, repetition) and by splits."""
    splits, first = range(study.splits), study.rows(0)
    total = (len(COUNTS) + len(FRACTIONS) * len(OVER_SPLITS)) * study.splits
    steps = count(1)

    def covered(number: int, rows: Bools, method: MethodTable) -> float:
        predictor = study.calibrated(rows, method, seed=number)
        study.tick(next(steps), total)
        return study.measured(predictor, rows)["aggregated_coverage"]

    over_labels = [[covered(n, first, monte_carlo(draws)) for n in splits] for draws in COUNTS]
    over_splits = [
        [[covered(n, study.rows(n, test=1 - part), method) for n in splits] for part in FRACTIONS]
        for method in OVER_SPLITS.values()
    ]
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
    drawn = page.new_page(11, 4)
    first, second, third = drawn.subplots(1, 3)
    level, covered = page.wanted(numbers), "aggregated coverage (share)"
    by_count = numbers["coverage_over_labels"]
    one_draw = by_count.sel({names.DRAW: 1}).values
    histogram(first, one_draw, style.edges([one_draw], bins=20), style.AGGREGATED, "aggregated")
    title = "one split, one label per example"
    framed(first, covered, "repetitions", title, level=level, room=0.3, columns=2)
    for place, values in enumerate(by_count.values):
        low, high = np.percentile(values, _MIDDLE)
        second.plot([place] * 2, [low, high], color=INK, linewidth=2, solid_capstyle="round")
        second.plot([place], [values.mean()], marker="o", color=BLUE, markersize=7)
    second.set_xticks(range(len(COUNTS)), [str(count) for count in COUNTS])
    style.dashed(second, level, axis="y")
    title = "one split: mean and middle 90%"
    framed(second, "drawn labels per example (m)", covered, title, room=0.3, key="upper right")
    spread = _spread(numbers)
    fractions = 100 * spread[FRACTION].values
    for method, look, mark in zip(spread, style.OTHERS, "os^D", strict=False):
        style.curve(third, fractions, method.values, look, str(method[METHOD].values), marker=mark)
    third.set_ylim(0, None)
    x, y = "calibration examples (% of all)", "standard deviation of coverage"
    framed(third, x, y, "over splits", key="upper right", columns=2)
    return page.finish(drawn, "More drawn labels per example, less spread", numbers)


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
