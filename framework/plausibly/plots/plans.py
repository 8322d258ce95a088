"""Figures of a plan: how close to 1 - alpha a calibration lands, by its number of examples."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.errors import counted
from plausibly.plots import reading
from plausibly.plots.style import (
    DASHES,
    OTHERS,
    Axes,
    axes_of,
    heading,
    legend_below,
    share,
    tidy,
    tone,
)

_BETWEEN = 0.1  # of the axis, from number to number


def planning(result: xr.Dataset, *, alpha: float | None = None, axes: Axes | None = None) -> Axes:
    """Draw between which bounds the coverage of a calibration lies, by its number of examples.

    Parameters
    ----------
    result : Dataset
        From `plausibly.plan`.
    alpha : float, optional
        Which of several; by default the first.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes
        Two lines a number of draws, with the bounds between which the stated share of calibrations
        lies; crosses are sizes at which every set is every label.

    Raises
    ------
    InputError
        ``figure-unsuitable``, ``figure-alpha``.
    MissingExtra
        ``extra-missing`` without matplotlib (extra ``plots``).
    """
    reading.check(result, "planning")
    one = reading.at_alpha(result, alpha)
    axes = axes_of(axes, whose="plausibly.plots.planning", height=4.8)
    ink = tone(axes)
    n = one["n"].values.astype(np.float64)
    bounds = one["coverage"].transpose("draws", "bound", "n")
    wanted = 1 - float(one[names.ALPHA])
    every = list(zip(one["draws"].values.tolist(), bounds.values, strict=True))
    shown = every[: len(OTHERS)]
    for (draws, (low, high)), look in zip(shown, OTHERS, strict=False):
        many = "expected" if np.isinf(draws) else f"{counted(int(draws))} draw"
        many += "" if many in ("expected", "1 draw") else "s"
        for end, label in ((low, many), (high, "_other end")):
            axes.plot(
                n,
                end,
                color=look.colour,
                linestyle=look.line,
                marker=look.marker,
                markersize=5,
                label=label,
            )
    empty = one["vacuous"].values
    if empty.any():
        axes.plot(
            n[empty],
            np.ones(int(empty.sum())),
            linestyle="",
            marker="x",
            markersize=9,
            color=ink.ink,
            label="every set is every label",
        )
    axes.axhline(wanted, color=ink.ink, linestyle=DASHES, linewidth=1.2, label="as wanted")
    if "within" in one.attrs:
        width = float(one.attrs["within"])
        axes.axhspan(wanted - width, wanted + width, color=ink.grid, zorder=0)
    axes.set_xscale("log")
    ticks = _apart(n)
    axes.set_xticks(ticks, [counted(int(one)) for one in ticks])
    axes.set_xticks([], minor=True)
    tidy(axes, x="calibration examples", y="coverage (share)")
    pilot = one.attrs.get("pilot_examples")
    heading(
        axes,
        reading.with_alpha("Where the coverage of one calibration lies", one),
        f"{reading.per_cent(one.attrs['confidence'])} of calibrations lie between the lines",
        f"dashed: {share(wanted, 2)}, as wanted",
        f"grey: within {share(float(one.attrs['within']))}" if "within" in one.attrs else "",
        f"pilot of {counted(int(pilot))} examples" if pilot else "no pilot: the worst case",
        reading.some_of(len(shown), len(every), "number of draws", "the first"),
    )
    lines = [line for line in axes.lines if not line.get_label().startswith("_")]
    legend_below(axes, lines)
    return axes


def _apart(n: NDArray[np.float64]) -> list[float]:
    """Return the sizes whose numbers do not touch on a logarithmic axis, the last one first."""
    least = (np.log(n[-1]) - np.log(n[0])) * _BETWEEN
    kept = [float(n[-1])]
    for size in n[-2::-1]:
        if np.log(kept[-1]) - np.log(size) >= least:
            kept.append(float(size))
    return kept[::-1]
