"""What changes with alpha: coverage, and the threshold."""

from __future__ import annotations

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.errors import InputError, counted, listed
from plausibly.evaluation.describe import QUANTITIES
from plausibly.evaluation.evaluate import measured
from plausibly.evaluation.results import cells
from plausibly.plots import reading
from plausibly.plots.style import (
    DASHES,
    MEASURES,
    OTHERS,
    Axes,
    Look,
    axes_of,
    legend_below,
    tidy,
    tone,
)
from plausibly.plots.text import heading, shown_name

_MIDDLE = (5, 95)
_SPLIT = "split"


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
