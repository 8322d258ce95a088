"""A study as the plain table that the demo prints."""

from __future__ import annotations

import numpy as np
import xarray as xr

from plausibly.evaluation.describe import decimal
from plausibly.evaluation.study import METHOD, SPLIT
from plausibly.labelled import names

TOLERATED = 0.01
CROSS = "✗"
_NAME_WIDTH = 28


def falls_short(study: xr.Dataset) -> xr.DataArray:
    """Return whose sets cover less than 1 - alpha of the plausibilities, unguaranteed.

    Parameters
    ----------
    study : Dataset
        From `compare`.

    Returns
    -------
    DataArray of bool, (method, alpha)
        True where the mean lies more than .01 below 1 - alpha and nothing is guaranteed of it.
    """
    mean = study["aggregated_coverage"].mean(SPLIT)
    short = (mean < 1.0 - study[names.ALPHA] - TOLERATED) & np.isnan(study["guaranteed_level"])
    return short.rename("falls_short").transpose(METHOD, names.ALPHA)


def study_table(study: xr.Dataset) -> str:
    """Return mean and spread over splits of every method as plain text, one table an alpha.

    Parameters
    ----------
    study : Dataset
        From `compare`.

    Notes
    -----
    The spread is the standard deviation over splits; it is no standard error.
    """
    several = study.sizes[names.ALPHA] > 1
    blocks = []
    for place in range(study.sizes[names.ALPHA]):
        block = _table(study.isel({names.ALPHA: place}), falls_short(study)[:, place])
        alpha = float(study[names.ALPHA][place])
        blocks.append(f"alpha {alpha:g}\n{block}" if several else block)
    return "\n\n".join(blocks)


def _table(study: xr.Dataset, short: xr.DataArray) -> str:
    """Return the table of one alpha."""
    methods = [str(name) for name in study[METHOD].values]
    width = max(_NAME_WIDTH, *(len(name) + 2 for name in methods))
    lines = [
        f"{'':<{width}} aggregated coverage   voted    set   guaranteed",
        f"{'calibrated':<{width}}    mean    spread  coverage   size  (aggregated)",
    ]
    for place, name in enumerate(methods):
        one = study.isel({METHOD: place})
        coverage = one["aggregated_coverage"].values
        spread = float(coverage.std(ddof=1)) if len(coverage) > 1 else float("nan")
        mark = CROSS if bool(short[place]) else " "
        voted, size = float(one["voted_coverage"].mean()), float(one["set_size"].mean())
        lines.append(
            f"{name:<{width}}{decimal(float(coverage.mean())):>8} {mark}{decimal(spread):>8}"
            f"{decimal(voted):>10}{size:>7.2f}   {one['guaranteed'].item()}"
        )
    return "\n".join(lines)
