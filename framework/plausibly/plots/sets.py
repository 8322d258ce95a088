"""Figures of coverage and set sizes: over splits, alpha, examples, groups, and plans."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import counted, listed
from plausibly.evaluation.evaluation import AMBIGUITY, QUANTITIES
from plausibly.evaluation.groups import RANGES_FROM, SINGLE_SIZES
from plausibly.evaluation.result import (
    AGGREGATED,
    SET_SIZE,
    data_of,
    decimal,
    each,
    figures,
    planes,
)
from plausibly.evaluation.study import cells
from plausibly.evaluation.uniformity import DRAWN, OF, TRUE, VOTED
from plausibly.extras import require
from plausibly.kernels.types import Floats, Ints
from plausibly.palette import BLUE, VERMILION
from plausibly.plots import reading, style
from plausibly.plots.style import Axes, Dot, Look

VACUOUS = "vacuous: every set contains all labels"
MARKS: Mapping[str, Mapping[str, Any]] = {  # Any: arguments of matplotlib
    "no guarantee": {"marker": "D", "markersize": 8, "color": VERMILION},
    "guaranteed": {"marker": "o", "markersize": 9, "color": BLUE},
    VACUOUS: {"marker": "o", "markersize": 9, "color": BLUE, "markerfacecolor": "white"},
}
"""Marks of methods, whose shapes differ as well as the colours."""

_MIDDLE = (5, 95)


def coverage(result: xr.Dataset, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
    """Draw the coverage of the sets, beside 1 - alpha.

    Parameters
    ----------
    result : Dataset
        From `plausibly.evaluate`: a row per kind of coverage, with its interval. From
        `plausibly.compare`: a row per method, with a dot per split, the middle 90% of the splits,
        and the mean; a mark of another shape where nothing is guaranteed.
    alpha : float, optional
        One of the alphas of the result; by default the first.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Raises
    ------
    InputError
        ``figure-unsuitable`` for another kind of result, ``figure-alpha`` for an alpha that the
        result does not have.

    Examples
    --------
    >>> evaluation = plausibly.evaluate(sets, plausibilities)
    >>> plots.coverage(evaluation, alpha=0.1).figure.savefig("coverage.png")
    """
    kind, plane = reading.opened(result, "coverage", alpha)
    if kind == "study":
        return _draw_study(plane, AGGREGATED, axes, "coverage")
    points = [
        style.dot(plane, name, title, style.MEASURES[name])
        for name, title in QUANTITIES.items()
        if f"{name}_mean" in plane
    ]
    title, notes = "What the sets cover", (reading.on_what(plane), reading.guaranteed(plane))
    return _intervals(plane, points, axes, "coverage", title, *notes, x="coverage (share)")


def _intervals(
    plane: xr.Dataset,
    rows: Sequence[Dot],
    axes: Axes | None,
    figure: str,
    title: str,
    on: str,
    *notes: str,
    x: str = "aggregated coverage (share)",
) -> Axes:
    axes = style.draw_rows(axes, figure, rows, x, reading.wanted(plane))
    style.heading(axes, reading.with_alpha(title, plane), on, reading.dashed(plane), *notes)
    return axes


def _draw_study(plane: xr.Dataset, measure: str, axes: Axes | None, figure: str) -> Axes:
    """Draw a row per method: its splits as dots, their middle as a line, their mean as a mark."""
    called, methods = zip(*cells(plane), strict=True)
    axes = style.axes_of(axes, figure, height=2.2 + 0.62 * len(methods))
    ink, handles = style.tone(axes), {}
    box = {"boxstyle": "round,pad=0.1", "facecolor": ink.paper, "edgecolor": "none"}
    above = {"xytext": (0, 16), "textcoords": "offset points", "ha": "center", "va": "center"}
    digits = 3 if measure == AGGREGATED else 2
    for row, method in enumerate(methods):
        values, kind = method[measure].values, "guaranteed"
        if bool(method["vacuous"].all()):
            kind = VACUOUS
        elif np.isnan(method["guaranteed_level"]):
            kind = "no guarantee"
        jitter = np.linspace(-0.2, 0.2, values.size)
        dots = {"s": 9, "color": MARKS[kind]["color"], "alpha": 0.35, "linewidths": 0}
        axes.scatter(values, row + jitter, **dots)
        ends = np.percentile(values, _MIDDLE)
        (middle,) = axes.plot(ends, [row, row], color=ink.ink, linewidth=2)
        mean = float(values.mean())
        mark = {"linestyle": "", "zorder": 4, "label": f"mean, {kind}", **MARKS[kind]}
        (handles[kind],) = axes.plot([mean], [row], **mark)
        text = f"{mean:.{digits}f}"
        axes.annotate(text, (mean, row), fontsize=9, color=ink.ink, bbox=box, **above)
    middle.set_label("middle 90% of the splits (dots)")
    if measure == AGGREGATED:
        title, note = "Coverage of all answers", reading.dashed(plane)
        wanted = 1 - float(plane[names.ALPHA])
        style.dashed(axes, wanted)
        axes.set_xlim(min(float(plane[measure].min()), wanted) - 0.02, 1.02)
        style.tidy_rows(axes, "aggregated coverage of a split (share)")
    else:
        title, note = "How large the sets are", ""
        axes.set_xlim(0, float(plane[measure].max()) * 1.08 + 0.1)
        style.tidy_rows(axes, "labels per set, mean of a split")
    style.name_rows(axes, style.shown_names(called))
    axes.set_ylim(len(methods) - 0.5, -0.75)
    axes.locator_params(axis="x", nbins=6)
    tested = sorted({int(plane["n_test"].min()), int(plane["n_test"].max())})
    splits = several(plane.sizes["split"], "random split")
    style.heading(
        axes,
        reading.with_alpha(title, plane),
        f"{splits}, {' to '.join(map(counted, tested))} test examples each",
        note,
    )
    shown = [handles[kind] for kind in MARKS if kind in handles]
    style.legend_below(axes, [*shown, middle], columns=2 if style.width_of(axes) > 5 else 1)
    return axes


def alphas(result: xr.Dataset, *, axes: Axes | None = None) -> Axes:
    """Draw the coverage at every alpha, beside 1 - alpha.

    Measured coverage with its interval; of a study the coverage of all answers, with the middle
    90% of the splits. Below the diagonal coverage is less than 1 - alpha.

    Parameters
    ----------
    result : Dataset
        From `plausibly.evaluate` or `plausibly.compare`, at several alphas.
    axes : as for `coverage`

    Examples
    --------
    >>> sets = predictor.predict(predictions, [0.05, 0.1, 0.2])
    >>> axes = plots.alphas(plausibly.evaluate(sets, plausibilities))
    """
    result = data_of(result)
    study = reading.check(result, "alphas") == "study"
    axes = style.axes_of(axes, "alphas", width=5.4, height=5.8)
    curves: list[tuple[str, Look, Sequence[Floats]]] = []  # with low, mean and high by alpha
    if study:
        by_alpha = [cells(plane) for plane in planes(result)]
        for parts, look in zip(zip(*by_alpha, strict=True), cycle(style.OTHERS), strict=False):
            values = np.stack([part[AGGREGATED].values for _, part in parts])
            lower, upper = np.percentile(values, _MIDDLE, axis=1)
            curves.append((parts[0][0], look, (lower, values.mean(axis=1), upper)))
    else:
        for name, title in QUANTITIES.items():
            if f"{name}_mean" in result:
                of_one = (result[f"{name}_{end}"].values for end in ("low", "mean", "high"))
                curves.append((title, style.MEASURES[name], list(map(np.atleast_1d, of_one))))
    shown = curves[: len(style.OTHERS)]
    wanted = 1 - np.atleast_1d(result[names.ALPHA].values).astype(np.float64)
    order = np.argsort(wanted)
    least = float(wanted.min())
    for name, look, bounds in shown:
        x, low, mean, high = (ends[order] for ends in (wanted, *bounds))
        axes.fill_between(x, low, high, color=look.colour, alpha=0.18, linewidth=0)
        style.curve(axes, x, mean, look, style.shown_name(name, width=40))
        least = min(least, float(np.nanmin(low)))
    ends, ink = [max(0.0, least - 0.03), 1.0], style.tone(axes).ink
    axes.plot(ends, ends, color=ink, linestyle=style.DASHES, linewidth=1.2, label="as wanted")
    axes.set(xlim=(ends[0], 1.005), ylim=(ends[0], 1.005))
    style.tidy(axes, x="wanted: 1 - alpha", y="covered (share)")
    on = reading.on_what(result, lines="bands")
    if study:
        on = f"{counted(result.sizes['split'])} random splits; bands: middle 90% of them"
    few = reading.some_of(len(shown), len(curves), "method", "the first")
    style.heading(axes, "What sets cover at every alpha", on, few)
    # Names of methods may begin with an underscore, which matplotlib leaves out.
    named = [line for line in axes.lines if not line.get_label().startswith("_child")]
    style.legend_below(axes, named)
    return axes


def threshold(thresholds: xr.DataArray, *, axes: Axes | None = None) -> Axes:
    """Draw the threshold against alpha.

    A threshold changes only where alpha passes a multiple of 1/(n + 1). Of several groups or
    labels, a curve for each of the first six. Where the threshold is -inf every set contains all
    labels, and there is no curve.

    Parameters
    ----------
    thresholds : DataArray, ([group or label,] alpha)
        From ``predictor.threshold([0.01, 0.02, ...])``.

    Raises
    ------
    InputError
        ``figure-unsuitable``.

    Examples
    --------
    >>> axes = plots.threshold(predictor.threshold([0.05, 0.1, 0.2]))
    """
    if names.ALPHA not in thresholds.dims or thresholds.ndim > 2:
        raise reading.unsuitable(
            "threshold",
            "these thresholds",
            expected="a DataArray over alpha, and group or label at most",
            found=f"one over {listed(thresholds.dims) or 'no dim'}",
            hint="plausibly.plots.threshold(predictor.threshold([0.05, 0.1, 0.2]))",
        )
    by = next((str(dim) for dim in thresholds.dims if dim != names.ALPHA), None)
    ordered = thresholds.sortby(names.ALPHA).transpose(..., names.ALPHA)
    alpha = ordered[names.ALPHA].values
    values = np.atleast_2d(ordered.values).astype(np.float64)
    called = [""] if by is None else [str(group) for group in ordered[by].values]
    axes = style.axes_of(axes, "threshold", height=4.2)
    shown = list(zip(called, values, style.OTHERS, strict=False))
    for name, row, look in shown:
        label = style.shown_name(name, width=40) if name else "threshold"
        finite = np.where(np.isfinite(row), row, np.nan)
        style.curve(axes, alpha, finite, look, label, markersize=4, drawstyle="steps-pre")
    vacuous = [alpha[np.isneginf(row)].max() for _, row, _ in shown if np.isneginf(row).any()]
    if vacuous:
        axes.axvspan(0.0, float(max(vacuous)), color=style.tone(axes).grid, zorder=0)
    axes.set_xlim(0.0, float(alpha.max()) * 1.03)
    style.tidy(axes, x="alpha", y="lowest score in a set")
    style.heading(
        axes,
        "Threshold against alpha",
        "a label whose score is at least the threshold is in the set",
        f"grey: up to alpha {max(vacuous):g} every label is" if vacuous else "",
        reading.some_of(len(shown), len(called), by or "", "the first"),
    )
    if by is not None:
        style.legend_below(axes, list(axes.lines), columns=2)
    return axes


def planning(result: xr.Dataset, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
    """Draw the range of the coverage of one calibration, by its number of examples.

    Two lines per number of draws enclose the stated share of calibrations; crosses are sizes at
    which every set contains all labels.

    Parameters
    ----------
    result : Dataset
        From `plausibly.plan`.
    alpha, axes : as for `coverage`

    Examples
    --------
    >>> plan = plausibly.plan(predictions, plausibilities, n=[50, 100])
    >>> axes = plots.planning(plan)
    """
    _, plane = reading.opened(result, "planning", alpha)
    axes = style.axes_of(axes, "planning", height=4.8)
    ink, wanted = style.tone(axes), 1 - float(plane[names.ALPHA])
    n = plane["n"].values.astype(np.float64)
    bounds = plane["coverage"].transpose("draws", "bound", "n").values
    draws = plane["draws"].values.tolist()
    for count, ends, look in zip(draws, bounds, style.OTHERS, strict=False):
        label = "expected" if np.isinf(count) else several(int(count), "draw")
        style.curve(axes, n, ends[0], look, label)
        style.curve(axes, n, ends[1], look, "_other end")
    empty = plane["vacuous"].values
    if empty.any():
        cross = {"linestyle": "", "marker": "x", "markersize": 9, "color": ink.ink}
        axes.plot(n[empty], np.ones(empty.sum()), label="every set contains all labels", **cross)
    style.dashed(axes, wanted, "as wanted", axis="y")
    width = plane.attrs.get("within")
    if width is not None:
        axes.axhspan(wanted - width, wanted + width, color=ink.grid, zorder=0)
    axes.set_xscale("log")
    ticker = require("matplotlib.ticker", extra="plots", source="a figure")
    axes.xaxis.set_major_locator(ticker.FixedLocator(n, nbins=6))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.minorticks_off()
    style.tidy(axes, x="calibration examples", y="coverage (share)")
    pilot = plane.attrs.get("pilot_examples")
    style.heading(
        axes,
        reading.with_alpha("Where the coverage of one calibration lies", plane),
        f"{reading.per_cent(plane.attrs['confidence'])} of calibrations lie between the lines",
        reading.dashed(plane),
        "" if width is None else f"grey: within {decimal(float(width))}",
        f"pilot of {counted(int(pilot))} examples" if pilot else "no pilot: the worst case",
        reading.some_of(len(style.OTHERS), len(draws), "number of draws", "the first"),
    )
    style.legend_below(axes, columns=2)
    return axes


BINS = 20
OF_LABELS = {VOTED: style.VOTED, DRAWN: style.AGGREGATED, TRUE: style.TRUE}
"""Look of the p-values of each kind of label."""

_CURVES = {
    "majority_vote_coverage": (style.VOTED, "majority vote"),
    "tied_coverage": (style.TRUE, "majority vote, credit 1/L for L tied"),
    "aggregated_coverage": (style.AGGREGATED, "plausibilities (aggregated)"),
}


def realised(result: xr.Dataset, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
    """Draw the coverage of each example, sorted, beside the ambiguity of the examples.

    Each curve is sorted separately: a place on the axis is a share of the examples, not one
    example.

    Parameters
    ----------
    result : Dataset
        From `plausibly.evaluation.sorted_coverage`, or from `plausibly.evaluate`.
    alpha, axes : as for `coverage`

    References
    ----------
    Stutz et al., TMLR 2023, the figures of realised coverage.

    Examples
    --------
    >>> axes = plots.realised(plausibly.evaluate(sets, plausibilities))
    """
    _, plane = reading.opened(result, "realised", alpha)
    axes = style.axes_of(axes, "realised", height=4.8)
    largest = plane["largest_plausibility"].values
    # From 0, so that each example has a width, and a single one is visible.
    places = np.arange(largest.size + 1) / largest.size
    curves = [
        (plane[name].values, look, f"{text}, mean {float(plane[name].mean()):.3f}")
        for name, (look, text) in _CURVES.items()
        if name in plane
    ]
    curves.append((largest, Look(colour=style.tone(axes).ink, line=":"), "largest plausibility"))
    for values, look, label in curves:
        whole = np.sort(np.append(values.min(), values))
        style.curve(axes, places, whole, look, label, marker="", drawstyle="steps-pre")
    style.tidy(axes, x="examples, each curve sorted separately (share)", y="covered (share)")
    axes.set(xlim=(0, 1), ylim=(-0.03, 1.03))
    title = reading.with_alpha("What sets cover of each example", plane)
    style.heading(axes, title, reading.on_what(plane, examples=largest.size, lines=""))
    style.legend_below(axes)
    return axes


def uniformity(result: xr.Dataset, *, axes: Axes | None = None) -> Axes:
    """Draw the distribution functions of p-values beside the uniform one.

    Above the diagonal there are more small p-values than guaranteed: sets cover less. In 95 of 100
    cases chance alone stays within the grey band.

    Parameters
    ----------
    result : Dataset
        From `plausibly.evaluation.p_value_uniformity`.
    axes : as for `coverage`

    Examples
    --------
    >>> from plausibly.evaluation import p_value_uniformity
    >>> axes = plots.uniformity(p_value_uniformity(predictor, predictions, plausibilities))
    """
    reading.check(result, "uniformity")
    axes = style.axes_of(axes, "uniformity", width=5, height=6)
    ink = style.tone(axes)
    reach = math.sqrt(math.log(1 / 0.05) / (2.0 * float(result["effective"].min())))
    ends = np.array([0.0, 1.0])
    band = {"color": ink.grid, "linewidth": 0, "label": "what chance explains (95%)"}
    axes.fill_between(ends, ends, ends + reach, **band)
    axes.plot(ends, ends, color=ink.ink, linewidth=1, label="uniform")
    for of in map(str, result[OF].values):
        part, look = result.sel({OF: of}), OF_LABELS[of]
        values = np.sort(part["p_value"].values)
        shares = np.arange(1, len(values) + 1) / len(values)
        guaranteed = ", guaranteed" if bool(part["guaranteed"]) else ""
        label = f"{of} labels{guaranteed}: D+ {float(part['ks_above']):.3f}"
        stroke = {"color": look.colour, "linestyle": look.line, "linewidth": 1.8}
        axes.step([0.0, *values, 1.0], [0.0, *shares, 1.0], where="post", label=label, **stroke)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    style.tidy(axes, x="t", y="share of p-values at most t", grid="")
    return _tested(axes, "Are p-values uniform?", result)


def p_values(result: xr.Dataset, *, bins: int = BINS, axes: Axes | None = None) -> Axes:
    """Draw histograms of the p-values of majority votes, drawn and true labels.

    As densities: every bar of uniform p-values has the height 1. An excess at the left means that
    sets cover less than guaranteed. `result` is from `plausibly.evaluation.p_value_uniformity`.

    Parameters
    ----------
    bins : int
        Number of bins, of equal width from 0 to 1.

    References
    ----------
    Stutz et al., TMLR 2023, appendix: histograms of p-values.

    Examples
    --------
    >>> from plausibly.evaluation import p_value_uniformity
    >>> axes = plots.p_values(p_value_uniformity(predictor, predictions, plausibilities), bins=10)
    """
    reading.check(result, "p_values")
    axes = style.axes_of(axes, "p_values", height=4.4)
    for of in map(str, result[OF].values):
        part, look = result.sel({OF: of}), OF_LABELS[of]
        density = np.histogram(part["p_value"].values, bins=bins, range=(0, 1), density=True)
        label = f"{of} labels, D+ {float(part['ks_above']):.3f}, D- {float(part['ks_below']):.3f}"
        stroke = {"color": look.colour, "linestyle": look.line, "linewidth": 1.6}
        axes.stairs(*density, baseline=None, label=label, **stroke)
    style.dashed(axes, 1, "uniform", axis="y")
    axes.set_xlim(0, 1)
    axes.set_ylim(bottom=0)
    style.tidy(axes, x="p-value", y="density")
    return _tested(axes, "p-values of new examples", result)


def _tested(axes: Axes, title: str, result: xr.Dataset) -> Axes:
    calibrated = f"{int(result.attrs['n_calibration']):,} calibration examples"
    style.heading(axes, title, f"{reading.on_what(result, lines='')}, {calibrated}")
    style.legend_below(axes)
    return axes


def sizes(result: xr.Dataset, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
    """Draw the sizes of the sets.

    Parameters
    ----------
    result : Dataset
        From `plausibly.evaluate` or ``coverage_by(..., by="set-size")``: a bar per size, in
        examples; many sizes in ranges. From `plausibly.compare`: a row per method, with a dot per
        split.
    alpha, axes : as for `coverage`

    Examples
    --------
    >>> axes = plots.sizes(plausibly.evaluate(sets, plausibilities))
    """
    kind, plane = reading.opened(result, "sizes", alpha)
    if kind == "study":
        return _draw_study(plane, SET_SIZE, axes, "sizes")
    mean = ""
    if kind == "sizes":
        titles, counts = [str(name) for name in plane["size"].values], plane["count"].values
    else:
        titles, counts = _counted(plane[SET_SIZE].values, int(plane.attrs["labels"]))
        average, low, high = figures(plane, SET_SIZE)
        level = reading.per_cent(plane.attrs["confidence"])
        mean = f"mean {average:.2f}, {low:.2f} to {high:.2f} ({level} interval)"
    axes = style.axes_of(axes, "sizes", height=3.6)
    places = np.arange(len(titles), dtype=np.float64)
    style.bars(axes, places, counts, 0.8, style.SIZE, "sets")
    total, ink = int(counts.sum()), style.tone(axes).ink
    above = {"xytext": (0, 2), "textcoords": "offset points", "ha": "center"}
    for place, count in zip(places, counts.tolist(), strict=True):
        if count:
            part = decimal(count / total, 2) if count / total >= 0.005 else counted(count)
            axes.annotate(part, (place, count), fontsize=style.SMALL, color=ink, **above)
    axes.set_xticks(places, titles)
    axes.margins(y=0.12)
    style.tidy(axes, x="labels per set", y="examples")
    title = reading.with_alpha("How large the sets are", plane)
    style.heading(axes, title, f"{several(total, 'example')}; numbers: share of the sets", mean)
    return axes


def _counted(size: Ints, labels: int) -> tuple[list[str], Ints]:
    if labels <= SINGLE_SIZES:
        return list(map(str, range(labels + 1))), np.bincount(size, minlength=labels + 1)
    begins = [begin for begin in RANGES_FROM if begin <= max(int(size.max()), 1)]
    after = next((begin for begin in RANGES_FROM if begin > begins[-1]), labels + 1)
    titles = [
        str(begin) if begin == end - 1 else f"{counted(begin)}-{counted(min(end - 1, labels))}"
        for begin, end in zip(begins, (*begins[1:], after), strict=True)
    ]
    return titles, np.bincount(np.digitize(size, begins) - 1, minlength=len(begins))


MOST = 20
_MISSED = Look(colour=VERMILION, marker="D")
_BY_STRATUM = {
    "evaluation": (AMBIGUITY, "stratum_", "the largest plausibility"),
    "strata": ("stratum", "", ""),
    "sizes": ("size", "", "the number of labels in the set"),
}


def strata(result: xr.Dataset, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
    """Draw coverage in strata of the examples.

    A row per stratum, with its number of examples and its interval.

    Parameters
    ----------
    result : Dataset
        From `plausibly.evaluate` (strata of the largest plausibility), from
        `plausibly.evaluation.coverage_by` with ``ByRange`` or ``"set-size"``.
    alpha, axes : as for `coverage`

    Examples
    --------
    >>> axes = plots.strata(plausibly.evaluate(sets, plausibilities))
    """
    kind, plane = reading.opened(result, "strata", alpha)
    dim, prefix, of = _BY_STRATUM[kind]
    count = "stratum_n" if prefix else "count"
    rows = [_covered(part, dim, prefix, count) for part in each(plane, dim)]
    title = f"Coverage by {of or result.attrs.get('of', 'stratum')}"
    return _intervals(plane, rows, axes, "strata", title, reading.on_what(plane))


def groups(
    result: xr.Dataset, *, alpha: float | None = None, most: int = MOST, axes: Axes | None = None
) -> Axes:
    """Draw coverage in groups or subgroups, the lowest first.

    A row per group, with its number of examples and its interval. `result` is from
    ``plausibly.evaluate(..., by=...)`` or `plausibly.evaluation.coverage_by`.

    Parameters
    ----------
    most : int
        Number of groups shown: those whose interval ends lowest, so that a group is not shown for
        having few examples. The figure states how many there are.

    Examples
    --------
    >>> axes = plots.groups(plausibly.evaluate(sets, plausibilities, by="site"), most=5)
    """
    kind, plane = reading.opened(result, "groups", alpha)
    if kind == "subgroups":
        by, dim, prefix, count = result.attrs.get("by", "subgroup"), "subgroup", "", "count"
        lines = f"lines, for all {counted(int(plane.attrs['compared']))} together"
    else:
        by = dim = str(result.attrs["by"])
        prefix, count, lines = "group_", "group_n", "lines"
    ends = [plane[f"{prefix}{AGGREGATED}_{end}"].values for end in ("mean", "high")]
    weakest = plane.isel({dim: np.lexsort(ends)[:most]})
    rows = [_covered(part, dim, prefix, count) for part in each(weakest, dim)]
    few = reading.some_of(len(rows), plane.sizes[dim], "group", "the weakest")
    on = reading.on_what(plane, lines=lines)
    return _intervals(plane, rows, axes, "groups", f"Coverage by {by}", on, few)


def _covered(part: xr.Dataset, dim: str, prefix: str, count: str) -> Dot:
    note = f"n = {counted(int(part[count]))}"
    return style.dot(part, f"{prefix}{AGGREGATED}", str(part[dim].values), style.AGGREGATED, note)


def labels(
    result: xr.Dataset, *, alpha: float | None = None, most: int = MOST, axes: Axes | None = None
) -> Axes:
    """Draw the coverage of each label: the share of its plausibility that is in the sets.

    A row per label, with its interval, its plausibility (1 per example) and the number of examples
    with any. `result` is from `plausibly.evaluation.coverage_by` with ``by="label"``.

    Parameters
    ----------
    most : int
        Number of labels shown: the most plausible ones, in the order of the result where all are.
        The figure states the plausibility of the others.

    Examples
    --------
    >>> from plausibly.evaluation import coverage_by
    >>> axes = plots.labels(coverage_by(sets, plausibilities, by="label"), most=5)
    """
    _, plane = reading.opened(result, "labels", alpha)
    mass = plane["mass"].values
    there = len(mass)
    kept = np.arange(there) if there <= most else np.argsort(-mass, kind="stable")[:most]
    rows = []
    for part in each(plane.isel({names.LABEL: kept}), names.LABEL):
        note = f"{float(part['mass']):,.1f} in {several(int(part['examples']), 'example')}"
        name = str(part[names.LABEL].values)
        rows.append(style.dot(part, "covered", name, style.AGGREGATED, note))
    rest = 1 - float(mass[kept].sum() / mass.sum())
    which = f"those with most plausibility; the others hold {100 * rest:.1f}%"
    few = reading.some_of(len(rows), there, "label", which)
    lines = "lines, for all together" if plane.attrs.get("simultaneous") else "lines"
    on, x = reading.on_what(plane, lines=lines), "share of the label's plausibility that is in sets"
    return _intervals(plane, rows, axes, "labels", "Coverage by label", on, few, x=x)


def risk(result: xr.Dataset, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
    """Draw the share of the plausibility of each level of risk that the sets leave out.

    A row per level, the last one on top, with its interval.

    Parameters
    ----------
    result : Dataset
        From `plausibly.evaluation.coverage_by` with ``ByRisk``.
    alpha, axes : as for `coverage`

    Examples
    --------
    >>> from plausibly.evaluation import ByRisk, coverage_by
    >>> axes = plots.risk(coverage_by(sets, plausibilities, by=ByRisk(risk)))
    """
    _, plane = reading.opened(result, "risk", alpha)
    rows = []
    for part in reversed(each(plane, "level")):
        level = part["level"].item()
        name = f"{level:g}" if isinstance(level, float) else str(level)  # as it was written
        counts = (several(int(part[f"{noun}s"]), noun) for noun in ("label", "example"))
        rows.append(style.dot(part, "missed", name, _MISSED, ", ".join(counts)))
    axes = style.draw_rows(axes, "risk", rows, "left out of the sets (share of the plausibility)")
    axes.set_xlim(0, 1.05 * max(0.05, *(row.high for row in rows if np.isfinite(row.high))))
    title = reading.with_alpha(f"What sets leave out, by {plane.attrs.get('risk', 'risk')}", plane)
    style.heading(axes, title, reading.on_what(plane))
    return axes
