"""Where sets are weak: coverage by ambiguity, group, subgroup, label and risk."""

from __future__ import annotations

import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import counted
from plausibly.evaluation.describe import AGGREGATED
from plausibly.evaluation.evaluate import AMBIGUITY
from plausibly.plots import dots, reading
from plausibly.plots.dots import Dot
from plausibly.plots.palette import VERMILION
from plausibly.plots.style import MEASURES, Axes, Look, axes_of, tidy
from plausibly.plots.text import heading

MOST = 20
_MISSED = Look(colour=VERMILION, marker="D")
_ENDS = ("mean", "low", "high")
_COVERED = "aggregated coverage (share)"


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
    axes = axes_of(axes, whose=f"plausibly.plots.{figure}", height=dots.height(rows))
    dots.draw_shares(axes, rows, x=_COVERED, wanted=None if level is None else 1 - level)
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
    axes = axes_of(axes, whose="plausibly.plots.labels", height=dots.height(rows))
    level = reading.alpha_of(one)
    dots.draw_shares(
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
    axes = axes_of(axes, whose="plausibly.plots.risk", height=dots.height(rows))
    top = max(0.05, *(row.high for row in rows if np.isfinite(row.high)))
    dots.draw_dots(axes, rows, top=top)
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
