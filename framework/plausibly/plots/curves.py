"""Curves over the examples: realised coverage, and p-values beside the uniform distribution."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr

from plausibly.evaluation.uniformity import DRAWN, OF, TRUE, VOTED
from plausibly.kernels.types import Floats
from plausibly.plots import reading, style
from plausibly.plots.palette import BLUE, GREEN, VERMILION
from plausibly.plots.style import Axes, Look, axes_of, legend_below, tidy, tone
from plausibly.plots.text import heading

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
