"""A study as the plain table that the demo prints."""

from __future__ import annotations

import textwrap
from itertools import product

import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.errors import counted
from plausibly.evaluation.describe import decimal
from plausibly.evaluation.design import BY_GROUP, per
from plausibly.evaluation.results import DRAWS, METHOD, SIZE, SPLIT

TOLERATED = 0.01
CROSS = "✗"
_NAME_WIDTH = 28
_LEVEL_WIDTH = 14  # what is left of 80 columns
_LETTERS = {SIZE: "n", DRAWS: "m"}


def falls_short(study: xr.Dataset) -> xr.DataArray:
    """Return whose sets cover less than 1 - alpha of the plausibilities, unguaranteed.

    Parameters
    ----------
    study : Dataset
        From `compare`.

    Returns
    -------
    DataArray of bool, (method, alpha[, draws][, size])
        True where the mean lies more than .01 below 1 - alpha and nothing is guaranteed of it.
    """
    return _short(study).rename("falls_short").transpose(METHOD, names.ALPHA, ...)


def _short(study: xr.Dataset) -> xr.DataArray:
    mean = study["aggregated_coverage"].mean(SPLIT)
    return (mean < 1.0 - study[names.ALPHA] - TOLERATED) & np.isnan(study["guaranteed_level"])


def study_table(study: xr.Dataset) -> str:
    """Return mean and spread over splits of every method as plain text, one table an alpha.

    A study of several sizes or numbers of draws has a row for each of them: ``n`` and ``m``.

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
        block = _table(cells(study.isel({names.ALPHA: place})))
        alpha = float(study[names.ALPHA][place])
        blocks.append(f"alpha {alpha:g}\n{block}" if several else block)
    return "\n\n".join(blocks)


def cells(study: xr.Dataset) -> list[tuple[str, xr.Dataset]]:
    """Return what a study has at one alpha, cell by cell, each with its name.

    Parameters
    ----------
    study : Dataset
        From `compare`, at one alpha.

    Returns
    -------
    list of tuple
        Method, and number of examples or draws where there are several; and the part of the study.
    """
    rows = []
    for place, name in enumerate(map(str, study[METHOD].values)):
        one = study.isel({METHOD: place})
        if DRAWS in one.dims and not one["uses_draws"]:
            one = one.isel({DRAWS: 0})
        dims = [dim for dim in _LETTERS if dim in one.dims]
        for cell in product(*(range(one.sizes[dim]) for dim in dims)):
            here = one.isel(dict(zip(dims, cell, strict=True)))
            numbers = [f"{_LETTERS[dim]} {counted(int(here[dim]))}" for dim in dims]
            rows.append((", ".join([name, *numbers]), here))
    return rows


def guaranteed(one: xr.Dataset) -> str:
    """Return what is guaranteed in a cell, with the mean that it is about where it has its own."""
    said, of, mean = _guaranteed(one)
    return f"{said} {of}: {mean}" if of else said


def _guaranteed(one: xr.Dataset) -> tuple[str, str, str]:
    """Return what is guaranteed in a cell; of which mean, where it has its own; and that mean."""
    said = str(one["guaranteed"].item())
    of = f" {per(str(one[BY_GROUP].attrs['group']))}" if BY_GROUP in one else ""
    if not of or of not in said:
        return said, "", ""
    return said.replace(of, ""), of.strip(), decimal(float(one[BY_GROUP].mean()))


def _table(rows: list[tuple[str, xr.Dataset]]) -> str:
    """Return the table of one alpha."""
    width = max(_NAME_WIDTH, *(len(name) + 2 for name, _ in rows))
    lines = [
        f"{'':<{width}} aggregated coverage   voted    set   guaranteed",
        f"{'calibrated':<{width}}    mean    spread  coverage   size  (aggregated)",
    ]
    for name, one in rows:
        coverage = one["aggregated_coverage"].values
        spread = float(coverage.std(ddof=1)) if len(coverage) > 1 else float("nan")
        mark = CROSS if bool(_short(one)) else " "
        voted, size = float(one["voted_coverage"].mean()), float(one["set_size"].mean())
        said, of, mean = _guaranteed(one)
        first, *more = textwrap.wrap(said, _LEVEL_WIDTH, break_long_words=False)
        lines.append(
            f"{name:<{width}}{decimal(float(coverage.mean())):>8} {mark}{decimal(spread):>8}"
            f"{decimal(voted):>10}{size:>7.2f}   {'nothing' if of else first}"
        )
        if of:  # a mean of its own has a line of its own
            lines.append(f"{f'  {of}':<{width}}{mean:>8}{'':>30}{first}")
        lines += [f"{'':<{width + 38}}{line}" for line in more]
    return "\n".join(lines)
