"""Results of every kind that has figures, small, each made once; and what is read off figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import xarray as xr

import plausibly
from plausibly import plots
from plausibly.annotators import label_disagreement
from plausibly.evaluation import (
    ByCoordinate,
    ByRange,
    ByRisk,
    coverage_by,
    entropy,
    p_value_uniformity,
    sorted_coverage,
)
from plausibly.plots import reading
from tables import labelled

Axes: TypeAlias = Any  # Any: of matplotlib, which types do not see
Box: TypeAlias = Any  # Any: as above

LABELS = ("nodule", "$\\frac{1}{0}$", "_hidden", "x" * 300)
HALF = 60
ALPHAS = [0.2, 0.1]


def world(
    examples: int = 2 * HALF, labels: tuple[str, ...] = LABELS, seed: int = 0
) -> tuple[xr.DataArray, xr.DataArray]:
    """Predictions and shares of five votes, of labels with names that are hard to draw."""
    generator = np.random.default_rng(seed)
    rows = generator.dirichlet(np.full(len(labels), 0.4), examples)
    votes = np.array([generator.multinomial(5, row) for row in rows]) / 5
    site = [("north", "$south$", "_west")[i % 3] for i in range(examples)]
    return labelled(rows, "case ", labels, site=site), labelled(votes, "case ", labels)


@cache
def parts() -> tuple[plausibly.ConformalPredictor, xr.DataArray, xr.DataArray, xr.DataArray]:
    """A predictor, and predictions, plausibilities and sets of new examples."""
    predictions, shares = world()
    predictor = plausibly.calibrate(predictions[:HALF], shares[:HALF])
    new = predictions[HALF:]
    return predictor, new, shares[HALF:], predictor.predict(new, ALPHAS)


def new_sets() -> tuple[xr.DataArray, xr.DataArray]:
    """Sets and plausibilities of the new examples."""
    _, _, shares, sets = parts()
    return sets, shares


@cache
def answers() -> xr.Dataset:
    """Answers of four annotators, of whom the first is mostly wrong."""
    generator = np.random.default_rng(5)
    truth = generator.integers(0, len(LABELS), 40)
    right = {"r1": 0.2, "_r2": 0.8, "$r3$": 0.8, "r4": 0.9}
    rows = [
        (f"e{i}", name, LABELS[code if generator.random() < share else (code + 1) % 4])
        for i, code in enumerate(truth.tolist())
        for name, share in right.items()
    ]
    return plausibly.build_annotations("single-label", rows, LABELS)


METHODS = {
    "_votes $a$": {"calibrator": "majority-vote"},
    "expected <b>": {"calibrator": "expected"},
}


def _sensitivity() -> xr.Dataset:
    table = answers()
    examples = [str(name) for name in table["example"].values]
    predictions = world(len(examples))[0].drop_vars("site").assign_coords(example=examples)
    names = ["label-frequency", "majority-vote"]
    return plausibly.sensitivity(predictions, table, names, splits=2, alphas=ALPHAS).data


def _risk() -> xr.Dataset:
    sets, shares = new_sets()
    return coverage_by(sets.assign_coords(cost=("label", [0, 1, 1, 2])), shares, by=ByRisk("cost"))


_MADE: Mapping[str, Callable[[], xr.Dataset]] = {
    "evaluation": lambda: plausibly.evaluate(*new_sets(), by="site").data,
    "study": lambda: plausibly.compare(*world(), METHODS, splits=3, alphas=ALPHAS).data,
    "strata": lambda: coverage_by(*new_sets(), by=ByRange(entropy(parts()[2]), quantiles=3)),
    "sizes": lambda: coverage_by(*new_sets(), by="set-size"),
    "subgroups": lambda: coverage_by(*new_sets(), by=ByCoordinate("site", at_least=5)),
    "labels": lambda: coverage_by(*new_sets(), by="label"),
    "risk": _risk,
    "realised": lambda: sorted_coverage(*new_sets()),
    "uniformity": lambda: p_value_uniformity(*parts()[:3]),
    "agreement": lambda: plausibly.agreement(answers(), resamples=20).data,
    "disagreement": lambda: label_disagreement(answers()),
    "reliability": lambda: plausibly.reliability(answers(), "dawid-skene"),
    "plan": lambda: plausibly.plan(*world(), resamples=0, within=0.05, alpha=ALPHAS).data,
    "sensitivity": _sensitivity,
}


@cache
def made(kind: str) -> xr.Dataset:
    return _MADE[kind]()


_MADE_WITH = {"grouped": "evaluation", "confusion": "reliability"}
FIGURES = [
    (figure, _MADE_WITH.get(kind, kind))
    for figure, kinds in reading.FIGURES.items()
    for kind in kinds
]
"""Each figure with each kind of result that it can be drawn of."""


def draw(figure: str, kind: str, **options: object) -> Axes:
    return getattr(plots, figure)(made(kind), **options)


def laid_out(drawn: Axes) -> Axes:
    """Return a figure, or axes, placed as they are when the figure is saved."""
    import_module("matplotlib.backends.backend_agg").FigureCanvasAgg(figure_of(drawn)).draw()
    return drawn


def figure_of(drawn: Axes) -> Any:  # Any: as above
    return drawn if hasattr(drawn, "axes") and hasattr(drawn, "legends") else drawn.figure


def panels(drawn: Axes) -> list[Axes]:
    """Return the panels of a figure that can be seen."""
    return [panel for panel in figure_of(drawn).axes if panel.get_visible()]


def texts(drawn: Axes) -> list[tuple[str, Box]]:
    """Return every text of a figure that can be seen, with its box."""
    figure = figure_of(drawn)
    every = [figure._suptitle, figure._supxlabel]
    for legend in [*figure.legends, *(panel.get_legend() for panel in panels(drawn))]:
        every += [] if legend is None else legend.get_texts()
    for panel in panels(drawn):
        every += [panel.title, panel._left_title, *panel.texts]
        if not panel.axison:
            continue
        every += [panel.xaxis.label, panel.yaxis.label]
        for axis, limits in ((panel.xaxis, panel.get_xlim()), (panel.yaxis, panel.get_ylim())):
            low, high = sorted(limits)
            for tick in axis.get_major_ticks():
                if low <= tick.get_loc() <= high and tick.label1.get_visible():
                    every.append(tick.label1)
    return [
        (text.get_text(), text.get_window_extent()) for text in every if text and text.get_text()
    ]


def overlapping(drawn: Axes) -> list[tuple[str, str]]:
    """Return which texts lie on each other by more than a hair."""
    pairs = combinations(texts(drawn), 2)
    return [(first, second) for (first, a), (second, b) in pairs if a.padded(-0.5).overlaps(b)]


def outside(drawn: Axes) -> list[str]:
    page = figure_of(drawn).bbox.padded(1)
    return [
        text
        for text, box in texts(drawn)
        if box.x0 < page.x0 or box.x1 > page.x1 or box.y0 < page.y0 or box.y1 > page.y1
    ]


def named_rows(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def points(axes: Axes) -> list[tuple[float, float]]:
    return [
        (float(line.get_xdata()[0]), float(line.get_ydata()[0]))
        for line in axes.lines
        if len(line.get_xdata()) == 1 and line.get_marker() not in ("None", "|")
    ]


def spans(axes: Axes) -> list[tuple[float, float]]:
    return [
        (float(line.get_xdata()[0]), float(line.get_xdata()[1]))
        for line in axes.lines
        if line.get_marker() == "|" and len(line.get_xdata()) == 2
    ]
