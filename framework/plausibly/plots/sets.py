"""Figures of coverage and set sizes: over splits, alpha, examples, and groups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import InputError, counted, listed
from plausibly.evaluation.describe import AGGREGATED, QUANTITIES
from plausibly.evaluation.evaluate import AMBIGUITY, measured
from plausibly.evaluation.groups import RANGES_FROM, SINGLE_SIZES
from plausibly.evaluation.intervals import SET_SIZE
from plausibly.evaluation.results import cells
from plausibly.evaluation.uniformity import DRAWN, OF, TRUE, VOTED
from plausibly.extras import require
from plausibly.kernels.types import Floats, Ints
from plausibly.palette import BLUE, GREEN, VERMILION
from plausibly.plots import reading, style
from plausibly.plots.style import (
    DASHES,
    MEASURES,
    OTHERS,
    SIZE,
    SMALL,
    Axes,
    Dot,
    Look,
    axes_of,
    bars,
    heading,
    legend_below,
    name_rows,
    share,
    shown_name,
    shown_names,
    tidy,
    tone,
    width_of,
)

# In other shapes too: told apart without colour.
NOTHING = {"marker": "D", "markersize": 8, "color": VERMILION, "markeredgecolor": "white"}
GUARANTEED = {"marker": "o", "markersize": 9, "color": BLUE, "markeredgecolor": "white"}
VACUOUS = {"marker": "o", "markersize": 9, "color": "white", "markeredgecolor": BLUE}

_MIDDLE = (5, 95)
_GOLDEN = 0.6180339887498949


def draw_rows(axes: Axes, rows: Sequence[xr.Dataset], measure: str, form: str) -> None:
    """Draw a row a part of a study, and nothing around them."""
    for place, one in enumerate(rows):
        _draw_row(axes, one, measure, form, place)
    axes.grid(axis="x", color=tone(axes).grid)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _draw_row(axes: Axes, one: xr.Dataset, measure: str, form: str, row: int) -> None:
    """Draw a method: its splits as dots, their middle as a line, their mean as a mark."""
    ink = tone(axes)
    values = one[measure].values
    style = mark_of(one)
    colour = style["markeredgecolor"] if style is VACUOUS else style["color"]
    axes.scatter(values, row + _jitter(values), s=9, color=colour, alpha=0.35, linewidths=0)
    low, high = np.percentile(values, _MIDDLE)
    axes.plot([low, high], [row, row], color=ink.ink, linewidth=2, solid_capstyle="round")
    mean = float(values.mean())
    axes.plot([mean], [row], linestyle="", zorder=4, **style)
    axes.annotate(
        format(mean, form),
        (mean, row),
        xytext=(0, 16),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=9,
        color=ink.ink,
        bbox={"boxstyle": "round,pad=0.1", "facecolor": ink.paper, "edgecolor": "none"},
    )


def _jitter(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return offsets that spread dots evenly, and always in the same way."""
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return (ranks.astype(np.float64) * _GOLDEN % 1.0 - 0.5) * 0.4


def legend_of(rows: Sequence[xr.Dataset], ink: str) -> list[object]:
    """Return what says what the marks that there are, dots and lines are."""
    lines = require("matplotlib.lines", extra="plots", whose="a figure")
    there = [mark_of(one) for one in rows]
    handles = [
        lines.Line2D([], [], linestyle="", label=f"mean, {text}", **style)
        for text, style in (
            ("nothing guaranteed", NOTHING),
            ("guaranteed", GUARANTEED),
            ("guaranteed by every label", VACUOUS),
        )
        if style in there
    ]
    middle = lines.Line2D([], [], color=ink, linewidth=2, label="middle 90 % of the splits (dots)")
    return [*handles, middle]


def mark_of(one: xr.Dataset) -> Mapping[str, Any]:  # Any: arguments of matplotlib
    """Return the mark of a method: by whether something is guaranteed, and what it is worth."""
    if bool(one["vacuous"].all()):
        return VACUOUS
    return NOTHING if np.isnan(one["guaranteed_level"]) else GUARANTEED


_AGGREGATED = "aggregated_coverage"
_SPLIT = "split"
_WIDE = 5  # inches that two columns of a legend take
_COVERED = "coverage (share)"


def coverage(result: xr.Dataset, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
    """Draw what the sets cover, beside what is wanted.

    Parameters
    ----------
    result : Dataset
        From `plausibly.evaluate`: a row a kind of coverage, with its interval. From
        `plausibly.compare`: a row a method, with a dot a split, the middle 90 % of the splits, and
        the mean; a mark of another shape where nothing is guaranteed.
    alpha : float, optional
        Which of several; by default the first.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        ``figure-unsuitable``, ``figure-alpha``.
    MissingExtra
        ``extra-missing`` without matplotlib (extra ``plots``).
    """
    if reading.check(result, "coverage") == reading.STUDY:
        return draw_study(result, _AGGREGATED, alpha, axes, figure="coverage")
    one = reading.at_alpha(result, alpha)
    found = [name for name in QUANTITIES if f"{name}_mean" in one]
    points = [
        style.Dot(
            name=QUANTITIES[name],
            mean=float(one[f"{name}_mean"]),
            low=float(one[f"{name}_low"]),
            high=float(one[f"{name}_high"]),
            look=MEASURES[name],
        )
        for name in found
    ]
    axes = axes_of(axes, whose="plausibly.plots.coverage", height=style.height(points))
    level = reading.alpha_of(one)
    style.draw_shares(axes, points, x=_COVERED, wanted=None if level is None else 1 - level)
    title = reading.with_alpha("What the sets cover", one)
    heading(axes, title, reading.on_what(one), reading.dashed(one), reading.promised(one))
    return axes


def draw_study(
    study: xr.Dataset, measure: str, alpha: float | None, axes: Axes | None, *, figure: str
) -> Axes:
    """Draw one measure of a study, a row a method: see `coverage` and `sizes`."""
    one = reading.at_alpha(study, alpha)
    named = cells(one)
    parts = [part for _, part in named]
    axes = axes_of(axes, whose=f"plausibly.plots.{figure}", height=2.2 + 0.62 * len(parts))
    covers = measure == _AGGREGATED
    draw_rows(axes, parts, measure, ".3f" if covers else ".2f")
    name_rows(axes, shown_names([name for name, _ in named]))
    axes.set_ylim(len(parts) - 0.5, -0.75)
    if covers:
        wanted = 1 - float(one[names.ALPHA])
        axes.axvline(wanted, color=tone(axes).ink, linestyle=DASHES, linewidth=1.2, zorder=1)
        low = min(float(one[measure].min()), wanted)
        axes.set_xlim(low - 0.02, 1.02)
        title = "Coverage of what experts say"
        axes.set_xlabel("aggregated coverage of a split (share)")
    else:
        axes.set_xlim(0, float(one[measure].max()) * 1.08 + 0.1)
        title = "How large the sets are"
        axes.set_xlabel("labels in a set, mean of a split")
    axes.locator_params(axis="x", nbins=6)
    splits = counted(study.sizes[_SPLIT])
    tested = one["n_test"].values
    many = f"{counted(int(tested.min()))} to {counted(int(tested.max()))}"
    many = counted(int(tested[0])) if tested.min() == tested.max() else many
    heading(
        axes,
        reading.with_alpha(title, one),
        f"{splits} random split{'' if splits == '1' else 's'}, {many} test examples each",
        reading.dashed(one) if covers else "",
    )
    legend_below(axes, legend_of(parts, tone(axes).ink), columns=2 if width_of(axes) > 5 else 1)
    return axes


@attrs.frozen(kw_only=True)
class _Curve:
    """A measure at every alpha, (alpha,)."""

    name: str
    look: Look
    low: NDArray[np.float64]
    mean: NDArray[np.float64]
    high: NDArray[np.float64]


def alphas(result: xr.Dataset, *, axes: Axes | None = None) -> Axes:
    """Draw what sets cover at every alpha, beside what is wanted.

    Parameters
    ----------
    result : Dataset
        From `plausibly.evaluate` or `plausibly.compare`, at several alphas.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes
        Over 1 - alpha: measured coverage with its interval; of a study aggregated coverage, with
        the middle 90 % of the splits. Below the diagonal less is covered than wanted.

    Raises
    ------
    InputError
        ``figure-unsuitable``.
    MissingExtra
        ``extra-missing`` without matplotlib (extra ``plots``).
    """
    study = reading.check(result, "alphas") == reading.STUDY
    result = measured(result)
    axes = axes_of(axes, whose="plausibly.plots.alphas", width=5.4, height=5.8)
    curves = _of_study(result) if study else _of_evaluation(result)
    shown = curves[: len(OTHERS)]
    wanted = 1 - np.atleast_1d(result[names.ALPHA].values).astype(np.float64)
    order = np.argsort(wanted)
    least = float(wanted.min())
    for curve in shown:
        x, low, mean, high = (one[order] for one in (wanted, curve.low, curve.mean, curve.high))
        colour = curve.look.colour
        axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
        axes.plot(
            x,
            mean,
            color=colour,
            linestyle=curve.look.line,
            marker=curve.look.marker,
            markersize=5,
            label=shown_name(curve.name, width=40),
        )
        least = min(least, float(np.nanmin(low)))
    ends = [max(0.0, least - 0.03), 1.0]
    ink = tone(axes).ink
    axes.plot(ends, ends, color=ink, linestyle=DASHES, linewidth=1.2, label="as wanted")
    axes.set(xlim=(ends[0], 1.005), ylim=(ends[0], 1.005))
    tidy(axes, x="wanted: 1 - alpha", y="covered (share)")
    heading(
        axes,
        "What sets cover at every alpha",
        f"{counted(result.sizes[_SPLIT])} random splits; bands: middle 90 % of them"
        if study
        else reading.on_what(result, lines="bands"),
        reading.some_of(len(shown), len(curves), "method", "the first"),
    )
    lines = [line for line in axes.lines if not line.get_label().startswith("_child")]
    legend_below(axes, lines, columns=1)
    return axes


def _of_evaluation(result: xr.Dataset) -> list[_Curve]:
    return [
        _Curve(
            name=title,
            look=MEASURES[name],
            **{
                end: np.atleast_1d(result[f"{name}_{end}"].values)
                for end in ("low", "mean", "high")
            },
        )
        for name, title in QUANTITIES.items()
        if f"{name}_mean" in result
    ]


def _of_study(study: xr.Dataset) -> list[_Curve]:
    """Return aggregated coverage of each method, and of each size or number of draws."""
    planes = [cells(study.isel({names.ALPHA: place})) for place in range(study.sizes[names.ALPHA])]
    found = []
    for place, (name, _) in enumerate(planes[0]):
        values = np.stack([plane[place][1]["aggregated_coverage"].values for plane in planes])
        low, high = np.percentile(values, _MIDDLE, axis=1)
        look = OTHERS[place % len(OTHERS)]
        found.append(_Curve(name=name, look=look, low=low, mean=values.mean(axis=1), high=high))
    return found


def threshold(thresholds: xr.DataArray, *, axes: Axes | None = None) -> Axes:
    """Draw the threshold against alpha.

    Parameters
    ----------
    thresholds : DataArray, ([group or label,] alpha)
        From ``predictor.threshold([0.01, 0.02, ...])``.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes
        A step a value, since a threshold changes only where alpha passes a multiple of 1/(n + 1);
        of several groups or labels, a curve for each of the first six. Where the threshold is
        -inf every label is in the set: the curve begins where sets say something.

    Raises
    ------
    InputError
        ``thresholds-malformed``.
    MissingExtra
        ``extra-missing`` without matplotlib (extra ``plots``).
    """
    if names.ALPHA not in thresholds.dims or thresholds.ndim > 2:
        raise InputError(
            "thresholds-malformed",
            "these are no thresholds at several alphas",
            expected="a DataArray over alpha, one curve for each group or label at most",
            got=f"one over {listed(thresholds.dims) or 'no dim'}",
            do="plausibly.plots.threshold(predictor.threshold([0.05, 0.1, 0.2]))",
            whose="thresholds",
        )
    by = next((str(dim) for dim in thresholds.dims if dim != names.ALPHA), None)
    ordered = thresholds.sortby(names.ALPHA).transpose(..., names.ALPHA)
    alpha = ordered[names.ALPHA].values
    values = np.atleast_2d(ordered.values).astype(np.float64)
    called = [""] if by is None else [str(one) for one in ordered[by].values]
    axes = axes_of(axes, whose="plausibly.plots.threshold", height=4.2)
    shown = list(zip(called, values, strict=True))[: len(OTHERS)]
    for (name, row), look in zip(shown, OTHERS, strict=False):
        axes.plot(
            alpha,
            np.where(np.isfinite(row), row, np.nan),
            color=look.colour,
            linestyle=look.line,
            marker=look.marker,
            markersize=4,
            drawstyle="steps-pre",
            label=shown_name(name, width=40) if name else "threshold",
        )
    vacuous = [alpha[np.isneginf(row)].max() for _, row in shown if np.isneginf(row).any()]
    if vacuous:
        until = float(max(vacuous))
        axes.axvspan(0.0, until, color=tone(axes).grid, zorder=0)
    axes.set_xlim(0.0, float(alpha.max()) * 1.03)
    tidy(axes, x="alpha", y="least score in a set")
    heading(
        axes,
        "Threshold against alpha",
        "a label whose score is at least the threshold is in the set",
        f"grey: up to alpha {max(vacuous):g} every label is" if vacuous else "",
        reading.some_of(len(shown), len(called), by or "", "the first"),
    )
    if by is not None:
        legend_below(axes, list(axes.lines))
    return axes


BINS = 20
OF_LABELS = {VOTED: style.VOTED, DRAWN: style.AGGREGATED, TRUE: style.TRUE}
"""How p-values of each kind of label are drawn."""

_STYLES = {
    VOTED: {"color": VERMILION, "linestyle": "--"},
    DRAWN: {"color": BLUE, "linestyle": "-"},
    TRUE: {"color": GREEN, "linestyle": "-."},
}
_CHANCE = 20.0  # 1 / 0.05
_CURVES = {
    "voted_coverage": (style.VOTED, "voted label"),
    "tied_coverage": (style.TRUE, "voted label, credit 1/L for L tied"),
    "aggregated_coverage": (style.AGGREGATED, "plausibilities (aggregated)"),
}


def realised(result: xr.Dataset, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
    """Draw what sets cover of each example, sorted, beside how ambiguous the examples are.

    Parameters
    ----------
    result : Dataset
        From `plausibly.evaluation.sorted_coverage`, or from `plausibly.evaluate`.
    alpha : float, optional
        Which of several; by default the first.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes
        Each curve is sorted on its own: a place on the axis is a share of the examples, not one
        example.

    Raises
    ------
    InputError
        ``figure-unsuitable``, ``figure-alpha``.
    MissingExtra
        ``extra-missing`` without matplotlib (extra ``plots``).

    References
    ----------
    Stutz et al., TMLR 2023, the figures of realised coverage.
    """
    reading.check(result, "realised")
    one = reading.at_alpha(result, alpha)
    axes = axes_of(axes, whose="plausibly.plots.realised", height=4.8)
    n = one["largest_plausibility"].size
    # From 0, so that each example has its width, and one example can be seen.
    places = np.arange(n + 1) / n
    for name, (look, said) in _CURVES.items():
        if name in one:
            label = f"{said}, mean {float(one[name].mean()):.3f}"
            _ascend(axes, one[name].values, look, label, places)
    dotted = Look(colour=tone(axes).ink, line=":")
    largest = one["largest_plausibility"].values
    _ascend(axes, largest, dotted, "largest plausibility", places)
    tidy(axes, x="examples, each curve sorted alone (share)", y="covered (share)")
    axes.set(xlim=(0, 1), ylim=(-0.03, 1.03))
    title = reading.with_alpha("What sets cover of each example", one)
    heading(axes, title, reading.on_what(one, examples=n, lines=""))
    legend_below(axes, list(axes.lines), columns=1)
    return axes


def _ascend(axes: Axes, values: Floats, look: Look, label: str, places: Floats) -> None:
    """Draw values in rising order, each as wide as its example."""
    whole = np.append(values.min(), values)
    style.ascending(axes, whole, look, label, places, steps="steps-pre")


def uniformity(result: xr.Dataset, *, axes: Axes | None = None) -> Axes:
    """Draw the distribution functions of p-values beside the uniform one.

    Parameters
    ----------
    result : Dataset
        From `plausibly.evaluation.p_value_uniformity`.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        ``figure-unsuitable``.
    MissingExtra
        ``extra-missing`` without matplotlib (extra ``plots``).

    Notes
    -----
    Above the diagonal there are more small p-values than promised: sets cover less. As far as the
    grey band reaches above it, chance alone leads in 95 of 100 cases, by the numbers of calibration
    and test examples.
    """
    reading.check(result, "uniformity")
    axes = axes_of(axes, whose="plausibly.plots.uniformity", width=5, height=6)
    ink = tone(axes)
    reach = math.sqrt(math.log(_CHANCE) / (2.0 * float(result["effective"].min())))
    grid = np.array([0.0, 1.0])
    axes.fill_between(
        grid, grid, grid + reach, color=ink.grid, linewidth=0, label="what chance explains (95 %)"
    )
    axes.plot(grid, grid, color=ink.ink, linewidth=1, label="uniform")
    for of in map(str, result[OF].values):
        one = result.sel({OF: of})
        values = np.sort(one["p_value"].values)
        promised = ", promised" if bool(one["promised"]) else ""
        axes.step(
            np.concatenate(([0.0], values, [1.0])),
            np.concatenate(([0.0], np.arange(1, len(values) + 1) / len(values), [1.0])),
            where="post",
            linewidth=1.8,
            label=f"{of} labels{promised}: D+ {float(one['ks_above']):.3f}",
            **_STYLES[of],
        )
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    tidy(axes, x="t", y="share of p-values at most t", grid="")
    heading(axes, "Are p-values uniform?", _tested(result))
    legend_below(axes, axes.get_legend_handles_labels()[0], columns=1)
    return axes


def p_values(result: xr.Dataset, *, bins: int = BINS, axes: Axes | None = None) -> Axes:
    """Draw histograms of the p-values of voted, drawn and true labels.

    Parameters
    ----------
    result : Dataset
        From `plausibly.evaluation.p_value_uniformity`.
    bins : int
        Of equal width, from 0 to 1.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes
        As densities: where p-values are uniform every bar has the height 1. At the left there are
        too many where sets cover less than promised.

    Raises
    ------
    InputError
        ``figure-unsuitable``.
    MissingExtra
        ``extra-missing`` without matplotlib (extra ``plots``).

    References
    ----------
    Stutz et al., TMLR 2023, appendix: histograms of p-values.
    """
    reading.check(result, "p_values")
    axes = axes_of(axes, whose="plausibly.plots.p_values", height=4.4)
    for of in map(str, result[OF].values):
        one = result.sel({OF: of})
        values = one["p_value"].values
        shares = np.histogram(values, bins=bins, range=(0, 1))[0] / values.size
        off = f", D+ {float(one['ks_above']):.3f}, D- {float(one['ks_below']):.3f}"
        outline(axes, shares, OF_LABELS[of], f"{of} labels{off}")
    uniform_line(axes)
    axes.set_xlim(0, 1)
    axes.set_ylim(bottom=0)
    tidy(axes, x="p-value", y="density")
    heading(axes, "p-values of new examples", _tested(result))
    legend_below(axes, axes.get_legend_handles_labels()[0], columns=1)
    return axes


def outline(axes: Axes, shares: Floats, look: Look, label: str) -> None:
    """Draw a histogram over [0, 1] as the outline of its densities, so that several can be seen."""
    axes.stairs(
        shares * len(shares),
        np.linspace(0, 1, len(shares) + 1),
        color=look.colour,
        linestyle=look.line,
        linewidth=1.6,
        baseline=None,
        label=label,
    )


def uniform_line(axes: Axes) -> None:
    """Mark the density of uniform p-values."""
    axes.axhline(1, color=tone(axes).ink, linestyle=style.DASHES, linewidth=1.2, label="uniform")


def _tested(result: xr.Dataset) -> str:
    calibrated = f"{int(result.attrs['n_calibration']):,} calibration examples"
    return f"{reading.on_what(result, lines='')}, {calibrated}"


def sizes(result: xr.Dataset, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
    """Draw how large the sets are.

    Parameters
    ----------
    result : Dataset
        From `plausibly.evaluate` or `plausibly.evaluation.coverage_by_size`: a bar a size, in
        examples; many sizes in ranges. From `plausibly.compare`: a row a method, with a dot a
        split.
    alpha : float, optional
        Which of several; by default the first.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        ``figure-unsuitable``, ``figure-alpha``.
    MissingExtra
        ``extra-missing`` without matplotlib (extra ``plots``).
    """
    kind = reading.check(result, "sizes")
    if kind == reading.STUDY:
        return draw_study(result, SET_SIZE, alpha, axes, figure="sizes")
    one = reading.at_alpha(result, alpha)
    if kind == reading.SIZES:
        titles, counts = [str(name) for name in one["size"].values], one["count"].values
        said = ""
    else:
        titles, counts = _counted(one[SET_SIZE].values, int(one.attrs["labels"]))
        ends = [float(one[f"{SET_SIZE}_{end}"]) for end in ("mean", "low", "high")]
        said = f"mean {ends[0]:.2f}, {ends[1]:.2f} to {ends[2]:.2f} "
        said += f"({reading.per_cent(one.attrs['confidence'])} interval)"
    axes = axes_of(axes, whose="plausibly.plots.sizes", height=3.6)
    places = np.arange(len(titles), dtype=np.float64)
    bars(axes, places, counts, 0.8, SIZE, "sets")
    total = int(counts.sum())
    for place, count in zip(places, counts.tolist(), strict=True):
        if count:
            axes.annotate(
                share(count / total, 2) if count / total >= 0.005 else f"{counted(count)}",
                (place, count),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                fontsize=SMALL,
                color=tone(axes).ink,
            )
    axes.set_xticks(places, titles)
    axes.margins(y=0.12)
    tidy(axes, x="labels in a set", y="examples")
    heading(
        axes,
        reading.with_alpha("How large the sets are", one),
        f"{several(total, 'example')}; numbers: share of the sets",
        said,
    )
    return axes


def _counted(size: Ints, labels: int) -> tuple[list[str], Ints]:
    """Return names and counts of sizes from the least to the largest, of many in ranges."""
    if labels <= SINGLE_SIZES:
        found = np.bincount(size, minlength=labels + 1)
        return [str(place) for place in range(labels + 1)], found
    begins = [begin for begin in RANGES_FROM if begin <= max(int(size.max()), 1)]
    last = begins[-1]
    ends = [*(begin - 1 for begin in begins[1:])]
    ends.append(next((after - 1 for after in RANGES_FROM if after > last), labels))
    titles = [
        str(begin) if begin == end else f"{counted(begin)}-{counted(min(end, labels))}"
        for begin, end in zip(begins, ends, strict=True)
    ]
    codes = np.digitize(size, begins) - 1
    return titles, np.bincount(codes, minlength=len(begins))


MOST = 20
_MISSED = Look(colour=VERMILION, marker="D")
_ENDS = ("mean", "low", "high")
_AGGREGATED_COVERED = "aggregated coverage (share)"


def strata(result: xr.Dataset, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
    """Draw what sets cover in strata of the examples.

    Parameters
    ----------
    result : Dataset
        From `plausibly.evaluate` (strata of the largest plausibility), from
        `plausibly.evaluation.coverage_by_strata`, or `coverage_by_size`.
    alpha : float, optional
        Which of several; by default the first.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes
        A row a stratum, with its number of examples and its interval.

    Raises
    ------
    InputError
        ``figure-unsuitable``, ``figure-alpha``.
    MissingExtra
        ``extra-missing`` without matplotlib (extra ``plots``).
    """
    kind = reading.check(result, "strata")
    dim, prefix, title = {
        reading.EVALUATION: (AMBIGUITY, "stratum_", "Coverage by the largest plausibility"),
        reading.STRATA: ("stratum", "", f"Coverage by {result.attrs.get('of', 'stratum')}"),
        reading.SIZES: ("size", "", "Coverage by the number of labels in the set"),
    }[kind]
    count = "stratum_n" if prefix else "count"
    return _shares(result, dim, prefix, count, title, alpha, axes, figure="strata")


def groups(
    result: xr.Dataset,
    *,
    alpha: float | None = None,
    most: int = MOST,
    axes: Axes | None = None,
) -> Axes:
    """Draw what sets cover in groups or subgroups, the weakest first.

    Parameters
    ----------
    result : Dataset
        From ``plausibly.evaluate(..., by=...)`` or `plausibly.evaluation.coverage_by_subgroup`.
    alpha : float, optional
        Which of several; by default the first.
    most : int
        Groups that are shown: those whose interval ends lowest, so that a group is not weak for
        having few examples. How many there are is said.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes
        A row a group, with its number of examples and its interval.

    Raises
    ------
    InputError
        ``figure-unsuitable``, ``figure-alpha``.
    MissingExtra
        ``extra-missing`` without matplotlib (extra ``plots``).
    """
    kind = reading.check(result, "groups")
    if kind == reading.SUBGROUPS:
        return _shares(
            result,
            "subgroup",
            "",
            "count",
            f"Coverage by {result.attrs.get('by', 'subgroup')}",
            alpha,
            axes,
            figure="groups",
            most=most,
            together=True,
        )
    by = str(result.attrs["by"])
    title = f"Coverage by {by}"
    return _shares(result, by, "group_", "group_n", title, alpha, axes, figure="groups", most=most)


def _shares(
    result: xr.Dataset,
    dim: str,
    prefix: str,
    count: str,
    title: str,
    alpha: float | None,
    axes: Axes | None,
    *,
    figure: str,
    most: int | None = None,
    together: bool = False,
) -> Axes:
    one = reading.at_alpha(result, alpha)
    mean, low, high = (one[f"{prefix}{AGGREGATED}_{end}"].values for end in _ENDS)
    numbers = one[count].values
    kept = np.arange(len(mean))
    if most is not None:
        kept = np.lexsort((mean, high))[:most]
    rows = [
        Dot(
            name=str(one[dim].values[place]),
            note=f"n = {counted(int(numbers[place]))}",
            mean=float(mean[place]),
            low=float(low[place]),
            high=float(high[place]),
            look=MEASURES[AGGREGATED],
        )
        for place in kept
    ]
    level = reading.alpha_of(one)
    axes = axes_of(axes, whose=f"plausibly.plots.{figure}", height=style.height(rows))
    style.draw_shares(
        axes, rows, x=_AGGREGATED_COVERED, wanted=None if level is None else 1 - level
    )
    lines = "lines"
    if together:
        lines = f"lines, for all {counted(int(one.attrs['compared']))} together"
    heading(
        axes,
        reading.with_alpha(title, one),
        reading.on_what(one, lines=lines),
        reading.dashed(one),
        reading.some_of(len(rows), len(mean), "group", "the weakest"),
    )
    return axes


def labels(
    result: xr.Dataset,
    *,
    alpha: float | None = None,
    most: int = MOST,
    axes: Axes | None = None,
) -> Axes:
    """Draw which share of what experts say in favour of each label the sets cover.

    Parameters
    ----------
    result : Dataset
        From `plausibly.evaluation.coverage_by_label`.
    alpha : float, optional
        Which of several; by default the first.
    most : int
        Labels that are shown: those that experts name most, in the order of the sets where all
        are. How much of the plausibility the others hold is said.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes
        A row a label, with its interval, its plausibility (1 an example) and how many examples
        give it any.

    Raises
    ------
    InputError
        ``figure-unsuitable``, ``figure-alpha``.
    MissingExtra
        ``extra-missing`` without matplotlib (extra ``plots``).
    """
    reading.check(result, "labels")
    one = reading.at_alpha(result, alpha)
    mass = one["mass"].values
    there = len(mass)
    kept = np.arange(there) if there <= most else np.argsort(-mass, kind="stable")[:most]
    rows = [
        Dot(
            name=str(one[names.LABEL].values[place]),
            note=f"{mass[place]:,.1f} in {several(int(one['examples'][place]), 'example')}",
            mean=float(one["covered_mean"][place]),
            low=float(one["covered_low"][place]),
            high=float(one["covered_high"][place]),
            look=MEASURES[AGGREGATED],
        )
        for place in kept
    ]
    axes = axes_of(axes, whose="plausibly.plots.labels", height=style.height(rows))
    level = reading.alpha_of(one)
    style.draw_shares(
        axes,
        rows,
        x="share of the label's plausibility that is in sets",
        wanted=None if level is None else 1 - level,
    )
    rest = 1 - float(mass[kept].sum() / mass.sum())
    which = f"those with most plausibility; the others hold {100 * rest:.1f} %"
    heading(
        axes,
        reading.with_alpha("Coverage by label", one),
        reading.on_what(
            one, lines="lines, for all together" if one.attrs.get("simultaneous") else "lines"
        ),
        reading.dashed(one),
        reading.some_of(len(rows), there, "label", which),
    )
    return axes


def risk(result: xr.Dataset, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
    """Draw which share of what experts say of each level of risk the sets leave out.

    Parameters
    ----------
    result : Dataset
        From `plausibly.evaluation.coverage_by_risk`.
    alpha : float, optional
        Which of several; by default the first.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes
        A row a level, the last one on top, with its interval.

    Raises
    ------
    InputError
        ``figure-unsuitable``, ``figure-alpha``.
    MissingExtra
        ``extra-missing`` without matplotlib (extra ``plots``).
    """
    reading.check(result, "risk")
    one = reading.at_alpha(result, alpha)
    rows = [
        Dot(
            name=_plain(one["level"].values[place]),
            note=f"{several(int(one['labels'][place]), 'label')}, "
            f"{several(int(one['examples'][place]), 'example')}",
            mean=float(one["missed_mean"][place]),
            low=float(one["missed_low"][place]),
            high=float(one["missed_high"][place]),
            look=_MISSED,
        )
        for place in reversed(range(one.sizes["level"]))
    ]
    axes = axes_of(axes, whose="plausibly.plots.risk", height=style.height(rows))
    top = max(0.05, *(row.high for row in rows if np.isfinite(row.high)))
    style.draw_dots(axes, rows, top=top)
    axes.set_xlim(0, top * 1.05)
    tidy(axes, x="left out of the sets (share of the plausibility)", y="", grid="x")
    axes.spines["left"].set_visible(False)
    axes.locator_params(axis="x", nbins=6)
    heading(
        axes,
        reading.with_alpha(f"What sets leave out, by {one.attrs.get('risk', 'risk')}", one),
        reading.on_what(one),
    )
    return axes


def _plain(value: object) -> str:
    """Return a level as it was written: whole numbers without a point."""
    return f"{value:g}" if isinstance(value, float) else str(value)
