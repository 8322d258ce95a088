"""Figures of an evaluation: they take axes of matplotlib, draw into them, and return them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import xarray as xr

from plausibly.evaluation.uniformity import OF
from plausibly.extras import require
from plausibly.palette import BLUE, GREEN, INK, VERMILION

_STYLES = {
    "voted": {"color": VERMILION, "linestyle": "--"},
    "drawn": {"color": BLUE, "linestyle": "-"},
    "true": {"color": GREEN, "linestyle": "-."},
}
"""In other dashes too: told apart in grey."""


def axes_of(axes: Any, *, whose: str) -> Any:  # Any: matplotlib may not be installed
    """Return the axes that were given, or those of a new figure.

    Parameters
    ----------
    axes : matplotlib Axes or None
    whose : str
        What needs matplotlib, for the message.

    Raises
    ------
    MissingExtra
        ``extra-missing`` without matplotlib.
    """
    if axes is not None:
        return axes
    figures = require("matplotlib.figure", extra="plots", whose=whose)
    return figures.Figure(figsize=(5, 6), layout="constrained").subplots()


def uniformity_figure(
    uniformity: xr.Dataset,
    axes: Any = None,  # Any: as above
) -> Any:  # Any: as above
    """Draw the distribution functions of p-values beside the uniform one.

    Parameters
    ----------
    uniformity : Dataset
        From `p_value_uniformity`.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Above the diagonal there are more small p-values than promised: sets cover less. As far as the
    grey band reaches above it, chance alone leads in 95 of 100 cases, by the numbers of calibration
    and test examples.
    """
    axes = axes_of(axes, whose="uniformity_figure")
    reach = math.sqrt(math.log(20.0) / (2.0 * float(uniformity["effective"].min())))
    grid = np.array([0.0, 1.0])
    axes.fill_between(
        grid, grid, grid + reach, color="0.88", linewidth=0, label="what chance explains (95 %)"
    )
    axes.plot(grid, grid, color=INK, linewidth=1, label="uniform")
    for of in map(str, uniformity[OF].values):
        one = uniformity.sel({OF: of})
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
    axes.set_xlabel("t")
    axes.set_ylabel("share of p-values at most t")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False, fontsize=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return axes
