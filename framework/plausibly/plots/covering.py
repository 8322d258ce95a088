"""What sets cover: of an evaluation with intervals, of a study over its splits."""

from __future__ import annotations

import xarray as xr

from plausibly.data import names
from plausibly.errors import counted
from plausibly.evaluation.describe import QUANTITIES
from plausibly.evaluation.results import cells
from plausibly.plots import dots, reading, rows
from plausibly.plots.style import DASHES, MEASURES, Axes, axes_of, legend_below, tone
from plausibly.plots.text import heading, name_rows, shown_names, width_of

AGGREGATED = "aggregated_coverage"
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
        return draw_study(result, AGGREGATED, alpha, axes, figure="coverage")
    one = reading.at_alpha(result, alpha)
    found = [name for name in QUANTITIES if f"{name}_mean" in one]
    points = [
        dots.Dot(
            name=QUANTITIES[name],
            mean=float(one[f"{name}_mean"]),
            low=float(one[f"{name}_low"]),
            high=float(one[f"{name}_high"]),
            look=MEASURES[name],
        )
        for name in found
    ]
    axes = axes_of(axes, whose="plausibly.plots.coverage", height=dots.height(points))
    level = reading.alpha_of(one)
    dots.draw_shares(axes, points, x=_COVERED, wanted=None if level is None else 1 - level)
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
    covers = measure == AGGREGATED
    rows.draw_rows(axes, parts, measure, ".3f" if covers else ".2f")
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
    legend_below(
        axes, rows.legend_of(parts, tone(axes).ink), columns=2 if width_of(axes) > 5 else 1
    )
    return axes
