"""Worst-slab coverage: the part of the feature space, between two planes, that is covered least."""

from __future__ import annotations

import numpy as np
import xarray as xr

from plausibly.data import names, validate
from plausibly.data.names import name_texts, positions, text_array
from plausibly.errors import InputError
from plausibly.evaluation import inputs
from plausibly.evaluation.inputs import prepare
from plausibly.evaluation.intervals import Doubles, IntervalMethod
from plausibly.evaluation.result import AGGREGATED
from plausibly.evaluation.splits import check_count, check_share, split
from plausibly.kernels.random import Keys, hash_names

FEATURE = "feature"


def worst_slab_coverage(
    sets: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    features: xr.DataArray,
    *,
    least: float = 0.1,
    directions: int = 1000,
    search: float = 0.5,
    cluster: str | None = None,
    interval: IntervalMethod = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    only_common: bool = False,
) -> xr.Dataset:
    """Measure aggregated coverage in the slab of examples where it is lowest.

    Parameters
    ----------
    sets, plausibilities
        See `plausibly.evaluate`.
    features : DataArray, (example, ...)
        Numbers by the name of the example, with one more dim that is named: predictions
        (example, label), or any features. Each is centred and divided by its standard deviation.
    least : float
        Share of the examples that a slab holds at least.
    directions : int
        How many random directions to try.
    search : float
        Share of the examples among which the slab is searched. It is measured on the others.
    cluster, interval, confidence, seed, only_common
        See `plausibly.evaluate`. Clusters stay on one side.

    Returns
    -------
    Dataset
        ([alpha]): `aggregated_coverage`, ``*_mean``, ``*_low`` and ``*_high``, in the slab among
        the examples that were not searched; `count` of them and `slab_share`; `others_mean`, the
        coverage of those outside; `searched_coverage`, what the search found; `slab_from` and
        `slab_to`, the slab ``from <= v . z <= to``, z the standardised features; `direction` v,
        (feature[, alpha]), `centre` and `scale` of the features; `in_slab` and `searched`,
        (example[, alpha]).

    Raises
    ------
    InputError
        As `evaluate`; ``features-malformed``, ``values-missing``, ``option-range``.

    Notes
    -----
    For each direction the slab of least mean is found exactly, by Dinkelbach's iteration over
    prefix sums. Directions are uniform on the sphere and keyed by the names of the features.

    References
    ----------
    Cauchois, Gupta & Duchi, Knowing what you know, JMLR 2021; Romano, Sesia & Candes,
    Classification with valid and adaptive coverage, 2020 (search and measure on two halves).
    """
    from scipy.special import ndtri

    check_share("least", least, 0.1)
    check_share("search", search, 0.5)
    check_count("directions", directions, usual=1000)
    prepared = prepare(sets, plausibilities, cluster, interval, confidence, seed, only_common)
    others = [str(dim) for dim in features.dims if dim != names.EXAMPLE]
    if problem := inputs.unnamed(features, {names.EXAMPLE, (others or [FEATURE])[0]}):
        raise InputError(
            "features-malformed",
            "the features have no name for each example and feature",
            expected="a DataArray over example and one more dim, both with names",
            found=problem,
            hint="pass the predictions, or name the features: assign_coords(feature=[...])",
        )
    table = features.transpose(names.EXAMPLE, others[0])
    if others[0] == names.LABEL and names.SCALE in table.attrs:
        table = validate.check_predictions(table)
    examples = prepared.sets[names.EXAMPLE].values
    of_sets = positions(name_texts(table[names.EXAMPLE].values), list(map(str, examples)))
    values = table.values[of_sets]
    lacking = (of_sets < 0) | ~np.isfinite(values.astype(np.float64)).all(axis=1)
    inputs.check_there(lacking, "features", examples)
    # In the order of their names, so that no sum depends on the order in which they came.
    columns = text_array(name_texts(table[others[0]].values))
    by_name = np.argsort(columns, kind="stable")
    named, values = columns[by_name], values[:, by_name][prepared.order].astype(np.float64)
    centre, scale = values.mean(axis=0), values.std(axis=0)
    # Features that are constant stay 0.
    scale = np.where(scale > 1e-12 * np.maximum(1.0, np.abs(centre)), scale, np.inf)
    z = (values - centre) / scale
    hashes = prepared.hashes[prepared.order]
    keys = Keys(seed).child("slab/search")
    searched = split(hashes, keys, test=search, groups=prepared.averaging.clusters)
    uniform = Keys(seed).child("slab/directions").uniform(hash_names(named.tolist()), directions)
    normal = ndtri(np.clip(uniform, 2.0**-54, None))
    length = np.sqrt(np.square(normal).sum(axis=0))
    vectors = normal / np.where(length > 0, length, 1.0)  # (feature, direction), on the sphere
    covered = prepared.outcomes(prepared.measured())[AGGREGATED]
    # Equal rows are projected once: a product of matrices may differ in its last bit between them.
    rows, row = np.unique(z, axis=0, return_inverse=True)
    row, places = row.reshape(-1), rows @ vectors
    # The slab that is covered least in any direction: its direction, both ends, and coverage.
    searched_rows = row[searched]
    needed = max(1, int(np.ceil(least * len(searched_rows) - 1e-9)))
    slabs: list[tuple[int, float, float, float]] = [(0, -np.inf, np.inf, np.inf)] * covered.shape[1]
    searched_values = covered[searched]
    for direction in range(directions):
        along = places[searched_rows, direction]
        order = np.argsort(along, kind="stable")
        ordered = along[order]
        for at, values in enumerate(searched_values[order].T):
            mean, first, last = _least_mean(values, ordered, needed)
            if mean < slabs[at][-1]:
                slabs[at] = direction, float(ordered[first]), float(ordered[last]), mean
    chosen, lows, highs, lowest = map(np.array, zip(*slabs, strict=True))
    inside = (places[:, chosen] >= lows) & (places[:, chosen] <= highs)
    inside = inside[row]  # (example, alpha)
    counts = (inside & ~searched[:, None]).sum(axis=0)
    measured, elsewhere = (
        [
            prepared.averaging.interval(column, rows=np.flatnonzero(member & ~searched))
            for column, member in zip(covered.T, there.T, strict=True)
        ]
        for there in (inside, ~inside)
    )
    back = np.argsort(prepared.order)
    result = prepared.result(least=float(least), directions=directions, search=float(search))
    result = result.assign_coords({names.EXAMPLE: examples, FEATURE: named})
    result = result.assign(
        {
            "searched": (names.EXAMPLE, searched[back]),
            "in_slab": ((names.EXAMPLE, names.ALPHA), inside[back]),
            "direction": ((FEATURE, names.ALPHA), vectors[:, chosen]),
            "centre": (FEATURE, centre),
            "scale": (FEATURE, scale),
            "slab_from": (names.ALPHA, lows),
            "slab_to": (names.ALPHA, highs),
            "searched_coverage": (names.ALPHA, lowest),
            "others_mean": (names.ALPHA, [estimate.mean for estimate in elsewhere]),
            "slab_share": (names.ALPHA, counts / max(1, int((~searched).sum()))),
            "count": (names.ALPHA, counts),
            **prepared.averaging.variables(AGGREGATED, measured),
        }
    )
    return prepared.squeezed(result)


def _least_mean(values: Doubles, places: Doubles, needed: int) -> tuple[float, int, int]:
    """Return the least mean of a run of `needed` values or more, and its ends."""
    n = len(values)
    prefix = np.concatenate([[0.0], np.cumsum(values)])
    change = places[1:] != places[:-1]  # equal places are on one side of an end
    ends, begins = np.append(change, True), np.append(True, change)
    mean, first, last, counts = prefix[-1] / n, 0, n - 1, np.arange(n + 1)
    while True:
        shifted = prefix - counts * mean
        # The best beginning for each end is the largest prefix sum at least `needed` before it.
        heights = np.where(begins, shifted[:-1], -np.inf)
        tops = np.maximum.accumulate(heights)[: n - needed + 1]
        sums = np.where(ends[needed - 1 :], shifted[needed:] - tops, np.inf)
        end = int(np.argmin(sums)) + needed - 1
        begin = int(np.argmax(heights[: end - needed + 2]))
        lower = (prefix[end + 1] - prefix[begin]) / (end + 1 - begin)
        if lower >= mean - 1e-12:
            return float(mean), first, last
        mean, first, last = lower, begin, end
