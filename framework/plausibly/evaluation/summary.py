"""Means with intervals, over all examples and over groups of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.evaluation.intervals import IntervalMethod, interval
from plausibly.kernels.types import Ints

SET_SIZE = "set_size"
COVERAGE = {"aggregated": "aggregated_coverage", "voted": "voted_coverage", "mass": "mass_coverage"}
"""What is measured of what is guaranteed, by its target."""

GUARANTEED, CELL = "guaranteed", "guaranteed_cell"
ENDS = ("mean", "low", "high")
ROUGH = "rough"
"""Whether few clusters stand behind an interval; where there are clusters."""


@attrs.frozen(kw_only=True)
class Outcomes:
    """Outcomes of every example, in an order that does not depend on the caller's rows.

    Attributes
    ----------
    values : mapping of str to ndarray of float64, (example, alpha)
        By the name of the quantity.
    clusters : ndarray of int, (example,), or None
    labels : int
        Number of labels: the largest set.
    method, confidence
        Of the intervals.
    """

    values: Mapping[str, NDArray[np.float64]]
    clusters: Ints | None
    labels: int
    method: IntervalMethod
    confidence: float

    def summarise(self, rows: Ints | None = None) -> dict[str, NDArray[np.float64]]:
        """Return means with their intervals, and shares of sets, each (alpha,).

        Parameters
        ----------
        rows : ndarray of int, optional
            The examples to summarise, in ascending order; by default all of them.
        """
        found: dict[str, NDArray[np.float64]] = {}
        clusters = self.clusters if rows is None or self.clusters is None else self.clusters[rows]
        for name, all_values in self.values.items():
            values = all_values if rows is None else all_values[rows]
            top = float(self.labels) if name == SET_SIZE else 1.0
            intervals = [
                interval(
                    np.ascontiguousarray(column),
                    clusters=clusters,
                    method=self.method,
                    confidence=self.confidence,
                    top=top,
                )
                for column in values.T
            ]
            for end in ENDS if clusters is None else (*ENDS, ROUGH):
                found[f"{name}_{end}"] = np.array([getattr(one, end) for one in intervals])
            if name == SET_SIZE:
                found["share_empty"] = _share(values == 0)
                found["share_singleton"] = _share(values == 1)
        return found


def _share(which: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the share of examples, NaN where there is none."""
    count = which.shape[0]
    return which.sum(axis=0) / count if count else np.full(which.shape[1], np.nan)


def overall(outcomes: Outcomes, alpha_dims: Sequence[str]) -> xr.Dataset:
    """Return the summary of all examples: variables (alpha,), or scalars for one alpha.

    Parameters
    ----------
    outcomes : Outcomes
    alpha_dims : sequence of str
        ``["alpha"]``, or empty where the sets have one alpha.
    """
    found = outcomes.summarise()
    return xr.Dataset(
        {name: (alpha_dims, values if alpha_dims else values[0]) for name, values in found.items()}
    )


def grouped(
    outcomes: Outcomes,
    codes: Ints,
    values: NDArray[np.generic],
    *,
    dim: str,
    prefix: str,
    alpha_dims: Sequence[str],
) -> xr.Dataset:
    """Return the same summary for each group: variables (group[, alpha]) and counts.

    Parameters
    ----------
    outcomes : Outcomes
    codes : ndarray of int, (example,)
        Group of each example, in the order of `outcomes`.
    values : ndarray, (group,)
        What the groups are called; a group may be empty.
    dim : str
        Name of the dim of groups.
    prefix : str
        Put before the names of the variables, such as ``"group_"``.
    alpha_dims : sequence of str
        ``["alpha"]``, or empty where the sets have one alpha.
    """
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes, minlength=len(values))
    parts = np.split(order, np.cumsum(counts)[:-1])
    summaries = [outcomes.summarise(rows) for rows in parts]
    found = xr.Dataset(coords={dim: (dim, values)})
    found[f"{prefix}n"] = (dim, counts.astype(np.int64))
    for name in summaries[0]:
        stacked = np.stack([summary[name] for summary in summaries])
        kept = stacked if alpha_dims else stacked[:, 0]
        found[f"{prefix}{name}"] = ([dim, *alpha_dims], kept)
    return found
