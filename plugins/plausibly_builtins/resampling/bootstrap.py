"""Bootstrap: what plausibilities might have been, had other responses come."""

from __future__ import annotations

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.plugin import Floats, Ints, Keys, answered_rows, names
from plausibly_builtins.aggregation import Around, drawn_plausibilities

_FINE = 2.0**32  # units of an example whose weights are not whole numbers


@attrs.frozen(kw_only=True)
class Bootstrap(Around):
    """Resample the responses of each example, with replacement, and aggregate every resample.

    Draw j of example i has as many responses as the example has, each drawn from them with equal
    chances; ``lambda_i^j`` is what the inner aggregator makes of them. A response that counts
    several times is resampled as that many responses. Where the weights of an example are not whole
    numbers, each of its responses is drawn with a chance in proportion to its weight, and the total
    weight stays. Resamples are keyed by the names of the examples. An inner aggregator that draws
    plausibilities itself gives its first draw of each resample.

    Attributes
    ----------
    draws : int
        How many resamples.

    References
    ----------
    Efron, Bootstrap methods: another look at the jackknife, Annals of Statistics 1979.
    """

    draws: int = attrs.field(default=10, validator=attrs.validators.ge(1))

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        rows = answered_rows(annotations, self.accepts)
        inner = self.inner_for(annotations)
        order = rows.by_name()
        says = (rows.mentions > 0) & (rows.weight > 0)
        place, empty = order[says[order]], np.flatnonzero(~says)
        owner, weight = rows.example[place].astype(np.int64), rows.weight[place]
        broken = np.bincount(owner, weights=weight != np.rint(weight), minlength=rows.n) > 0
        fine = np.maximum(np.rint(weight / rows.votes[owner] * _FINE), 1.0)
        units = np.where(broken[owner], fine, weight).astype(np.int64)
        responses = np.bincount(owner, minlength=rows.n)
        counts = np.where(broken, responses, rows.votes).astype(np.int64)
        worth: Floats = np.where(broken, rows.votes / counts, 1.0)
        hashes = rows.hashes
        draws = []
        for draw in range(1, self.draws + 1):
            stream = keys.child(f"bootstrap-{draw}")
            uniforms = stream.child("responses").ragged(hashes, counts)
            times = _drawn_times(uniforms, counts, units, owner)
            if names.RESPONSE_WEIGHT in rows.table.variables:
                kept = times > 0
                drawn = np.concatenate((place[kept], empty))
                new: Floats = np.concatenate((times[kept] * worth[owner[kept]], rows.weight[empty]))
                resample = rows.take(drawn, new)
            else:
                drawn = np.concatenate((np.repeat(place, times), empty))
                resample = rows.take(drawn)
            plausibilities = inner.aggregate(resample, stream.child("inner"))
            if names.DRAW in plausibilities.dims:
                plausibilities = plausibilities.isel({names.DRAW: 0}, drop=True)
            indexes = {dim: rows.table.indexes[dim] for dim in (names.EXAMPLE, names.LABEL)}
            draws.append(plausibilities.reindex(indexes, copy=False).transpose(*indexes))
        stacked = drawn_plausibilities(rows, np.stack([drawn.values for drawn in draws]))
        # How one resample converged says nothing of the others.
        attributes = {k: v for k, v in draws[0].attrs.items() if k != names.CONVERGENCE}
        stacked.attrs = attributes
        common = _common_denominator(draws)
        if common is None:
            return stacked
        return stacked.assign_coords({names.DENOMINATOR: (names.EXAMPLE, common)})


def _drawn_times(uniforms: Floats, counts: Ints, units: Ints, owner: Ints) -> NDArray[np.int64]:
    """Return how often each item is drawn, (item,), with replacement from those of its example."""
    ends = np.cumsum(units)
    total = np.bincount(owner, weights=units, minlength=len(counts)).astype(np.int64)
    start = np.cumsum(total) - total
    of = np.repeat(np.arange(len(counts)), counts)
    # A product that rounds up to the total would belong to the next example.
    step = np.minimum((uniforms * total[of]).astype(np.int64), total[of] - 1)
    place = np.searchsorted(ends, start[of] + step, side="right")
    return np.bincount(place, minlength=len(units))


def _common_denominator(draws: list[xr.DataArray]) -> NDArray[np.int64] | None:
    """Return the least common multiple (example,) of the draws' denominators, None without them."""
    if not all(names.DENOMINATOR in drawn.coords for drawn in draws):
        return None
    totals = np.stack([drawn[names.DENOMINATOR].values.astype(np.int64) for drawn in draws])
    common: NDArray[np.int64] = totals[0]
    for total in totals[1:]:
        factor = total // np.gcd(common, total)
        if (common.astype(np.float64) * factor).max(initial=0.0) >= 2.0**53:
            return None
        common = (common * factor).astype(np.int64)
    return common
