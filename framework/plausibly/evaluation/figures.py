"""The figure of p-values under the name that it had before `plausibly.plots`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import xarray as xr

if TYPE_CHECKING:
    from plausibly.plots.style import Axes


def uniformity_figure(uniformity: xr.Dataset, axes: Axes | None = None) -> Axes:
    """Draw the distribution functions of p-values beside the uniform one.

    See `plausibly.plots.uniformity`, which draws it.

    Parameters
    ----------
    uniformity : Dataset
        From `p_value_uniformity`.
    axes : matplotlib Axes, optional
        Where to draw; by default those of a new figure, which is ``axes.figure``.

    Returns
    -------
    matplotlib Axes
    """
    from plausibly import plots

    return plots.uniformity(uniformity, axes=axes)
