"""Where prediction sets are weak: coverage in the groups of the examples."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.names import name_text
from plausibly.data.validate import mean_over_draws
from plausibly.evaluation.inputs import codes_of, example_values
from plausibly.evaluation.intervals import interval
from plausibly.kernels import coverage

CONFIDENCE = 0.95
"""With which all intervals of the groups hold together."""


@attrs.frozen(kw_only=True)
class GroupCoverage:
    """Aggregated coverage in one group of the examples.

    Attributes
    ----------
    alpha : float
    coordinate, group : str
        Such as ``"site"`` and ``"north"``.
    examples : int
    mean, low, high : float
        With an interval that is widened for the number of groups.
    groups : int
        For how many it is widened.
    """

    alpha: float
    coordinate: str
    group: str
    examples: int
    mean: float
    low: float
    high: float
    groups: int


def coverage_by_group(
    sets: xr.DataArray,
    plausibilities: xr.DataArray,
    by: Sequence[str],
    *,
    cluster: str | None = None,
) -> list[GroupCoverage]:
    """Return the aggregated coverage of every group, at each alpha the weakest first.

    Parameters
    ----------
    sets : DataArray of bool, (example, label[, alpha])
        With coordinates of the examples.
    plausibilities : DataArray, ([draw,] example, label)
        Of the same examples and labels, in the same order.
    by : sequence of str
        Coordinates; each of their values is a group.
    cluster : str, optional
        Coordinate whose values intervals count, instead of examples.

    Returns
    -------
    list of GroupCoverage
        Intervals hold for all groups together: each has the confidence ``1 - .05 / groups``
        (Bonferroni). The weakest is the one whose interval ends lowest: a group of few examples is
        not weak for their sake.
    """
    grouped = [(name, *codes_of(example_values(name, [sets]))) for name in by]
    count = sum(len(values) for _, values, _ in grouped)
    clusters = None if cluster is None else codes_of(example_values(cluster, [sets]))[1]
    whole = sets if names.ALPHA in sets.dims else sets.expand_dims(names.ALPHA)
    whole = whole.transpose(names.ALPHA, names.EXAMPLE, names.LABEL)
    lam = mean_over_draws(plausibilities).values
    found: list[GroupCoverage] = []
    for alpha, plane in zip(whole[names.ALPHA].values, whole.values, strict=True):
        covered = np.asarray(coverage.aggregated(plane, lam), dtype=np.float64)
        here = []
        for name, values, codes in grouped:
            for code, value in enumerate(values):
                rows = codes == code
                measured = interval(
                    covered[rows],
                    clusters=None if clusters is None else clusters[rows],
                    confidence=CONFIDENCE,
                    among=count,
                )
                here.append(
                    GroupCoverage(
                        alpha=float(alpha),
                        coordinate=name,
                        group=name_text(value),
                        examples=int(rows.sum()),
                        mean=measured.mean,
                        low=measured.low,
                        high=measured.high,
                        groups=count,
                    )
                )
        found += sorted(here, key=lambda one: (one.high, one.mean, one.coordinate, one.group))
    return found
