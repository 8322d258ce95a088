"""Which groups of the examples are covered least: several coordinates at once, and their crossings.

The question of the paper's broader impact statement: how does a method affect different groups of
people? A guarantee is about the average example; this measures where that average hides a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data.names import name_text, text_array
from plausibly.errors import InputError, listed
from plausibly.evaluation import inputs
from plausibly.evaluation.intervals import IntervalMethod
from plausibly.evaluation.judged import Judged, judge
from plausibly.evaluation.summary import SET_SIZE

SUBGROUP = "subgroup"
MULTIPLICITY = (
    "the intervals hold for all subgroups together (Bonferroni); the mean of the subgroup that is "
    "covered least is the least of many, and so lower than what it will be on new examples"
)


@attrs.frozen
class _Part:
    """Examples that share their values of some coordinates."""

    title: str
    depth: int
    rows: NDArray[np.intp]
    units: int


def coverage_by_subgroup(
    sets: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    by: str | Sequence[str],
    *,
    crossed: int = 2,
    at_least: int = 20,
    cluster: str | None = None,
    interval: IntervalMethod = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    only_common: bool = False,
    whose: str = inputs.SETS,
) -> xr.Dataset:
    """Measure aggregated coverage in every subgroup that some coordinates make.

    Parameters
    ----------
    sets, plausibilities
        See `plausibly.evaluate`.
    by : str or sequence of str
        Coordinates of the examples, such as ``["site", "sex"]``.
    crossed : int
        How many coordinates a subgroup is made of at most: 1 for each value of each coordinate, 2
        for pairs of values too ("site north, sex f"), and so on.
    at_least : int
        Subgroups of fewer examples (clusters, where they are given) are left out and counted: they
        would only widen all other intervals.
    cluster, interval, confidence, seed, only_common, whose
        See `plausibly.evaluate`; `confidence` is that of all intervals together.

    Returns
    -------
    Dataset
        Over the dim ``subgroup`` (text, with `depth`, the number of coordinates): `count` of
        examples; `aggregated_coverage` and `set_size` as ``*_mean``, ``*_low`` and ``*_high``,
        ``(subgroup[, alpha])``; `difference_mean`, ``*_low`` and ``*_high``: coverage inside less
        that of all other examples. Over alpha: `weakest`, the name of the subgroup whose interval
        ends lowest, so that a subgroup is not weakest for having few examples. Attributes:
        `compared`, the number of subgroups, `left_out_subgroups`, and `note` on what comparing many
        does.

    Raises
    ------
    InputError
        As `evaluate`; ``subgroups-none`` where nothing is left, ``subgroups-malformed``.

    Notes
    -----
    Each interval has confidence ``1 - (1 - confidence) / compared``, so that all of them hold
    together. An interval that ends below the promised level shows a subgroup that is covered less;
    one that does not shows nothing, least of all that there is no gap. Student's t is too short
    so far out where examples are few: with ``interval="auto"`` subgroups of fewer than 100 examples
    (clusters) have Wilson's interval.
    """
    coordinates = [by] if isinstance(by, str) else list(by)
    _check(coordinates, crossed, at_least)
    judged = judge(
        sets,
        plausibilities,
        cluster=cluster,
        interval=interval,
        confidence=confidence,
        seed=seed,
        only_common=only_common,
        whose=whose,
    )
    every = _parts(judged, coordinates, crossed)
    parts = [part for part in every if part.units >= at_least]
    if not parts:
        noun = "examples" if cluster is None else "clusters"
        fewer = max(1, at_least // 2)
        raise InputError(
            "subgroups-none",
            f"no subgroup by {listed(coordinates)} has {at_least} {noun}",
            expected=f"{at_least} {noun} or more in one subgroup",
            got=f"at most {max(part.units for part in every)}",
            do=f"--at-least {fewer} (at_least={fewer}), or fewer coordinates",
        )
    measured = judged.outcomes(judged.measured())
    covered = measured.values["aggregated_coverage"]
    sizes = measured.values[SET_SIZE]
    top = float(len(judged.labels))
    among = len(parts)
    found = {
        "aggregated_coverage": [
            [judged.interval(column, rows=part.rows, among=among) for column in covered.T]
            for part in parts
        ],
        SET_SIZE: [
            [judged.interval(column, rows=part.rows, top=top, among=among) for column in sizes.T]
            for part in parts
        ],
    }
    titles = text_array([part.title for part in parts])
    result = judged.result(
        by=", ".join(coordinates),
        compared=among,
        left_out_subgroups=len(every) - len(parts),
        at_least=at_least,
        note=MULTIPLICITY,
    ).assign_coords({SUBGROUP: titles, "depth": (SUBGROUP, [part.depth for part in parts])})
    result["count"] = (SUBGROUP, np.array([len(part.rows) for part in parts], dtype=np.int64))
    result = result.assign(judged.found(found, SUBGROUP))
    high = result["aggregated_coverage_high"].values.reshape(among, -1)
    mean = result["aggregated_coverage_mean"].values.reshape(among, -1)
    weakest = titles[[np.lexsort((mean[:, a], high[:, a]))[0] for a in range(high.shape[1])]]
    result["weakest"] = (judged.alpha_dims, weakest if judged.alpha_dims else weakest[0])
    return result


def _size(rows: NDArray[np.intp], clusters: NDArray[np.integer] | None) -> int:
    """Return how many examples, or clusters of them, some rows are."""
    return len(rows) if clusters is None else len(np.unique(clusters[rows]))


def _parts(judged: Judged, coordinates: Sequence[str], crossed: int) -> list[_Part]:
    """Return the subgroups: the values of one coordinate first, then those of several."""
    clusters = None if judged.clusters is None else judged.clusters[judged.order]
    coded = {name: inputs.codes_of(judged.coordinate(name)) for name in coordinates}
    parts = []
    for depth in range(1, min(crossed, len(coordinates)) + 1):
        for chosen in combinations(coordinates, depth):
            codes = np.stack([coded[name][1] for name in chosen], axis=1)
            rows, member = np.unique(codes, axis=0, return_inverse=True)
            for place, row in enumerate(rows):
                named = zip(chosen, row, strict=True)
                title = ", ".join(
                    f"{name} {name_text(coded[name][0][code])}" for name, code in named
                )
                mine = np.flatnonzero(member.ravel() == place)
                parts.append(_Part(title, depth, mine, _size(mine, clusters)))
    return parts


def _check(coordinates: Sequence[str], crossed: int, at_least: int) -> None:
    problem = ""
    if not coordinates or len(set(coordinates)) < len(coordinates):
        problem, got = "one or more coordinates, each once", listed(coordinates) or "none"
    elif crossed < 1:
        problem, got = "crossed from 1 on", str(crossed)
    elif at_least < 1:
        problem, got = "at_least from 1 on", str(at_least)
    if problem:
        raise InputError(
            "subgroups-malformed",
            "these are no subgroups of the examples",
            expected=problem,
            got=got,
            do='by=["site", "sex"], crossed=2, at_least=20',
        )
