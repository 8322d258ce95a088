"""Does a prediction set cover what experts say? Measured per example, on average, and by group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.coordinates import group_names
from plausibly.calibration.scores import LABEL_CELLS
from plausibly.data import names
from plausibly.data.left_out import read_left_out, with_left_out
from plausibly.data.named import is_lazy
from plausibly.data.names import text_array
from plausibly.evaluation import inputs, summary
from plausibly.evaluation.intervals import IntervalMethod
from plausibly.evaluation.intervals import interval as interval_of
from plausibly.evaluation.judged import Judged, check_dim, judge
from plausibly.evaluation.measuring import Measures, Measuring, Opinions
from plausibly.evaluation.shown import TIED_SHARE, Evaluation
from plausibly.evaluation.some_rows import voted
from plausibly.guarantee import Guarantee
from plausibly.kernels import coverage
from plausibly.kernels.coverage import Ties
from plausibly.kernels.types import Ints

if TYPE_CHECKING:
    import dask.array

AMBIGUITY = "ambiguity"
STRATA = ("below .5", ".5 to .8", ".8 and more")
STRATA_FROM = (0.5, 0.8)
_Column: TypeAlias = NDArray[np.float64]
_SLACK = 1e-6  # 0.1 + 0.7 is an eight tenth, whatever its last bit says


def evaluate(
    sets: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    ties: Ties = "first",
    true: str | xr.DataArray | None = None,
    by: str | None = None,
    cluster: str | None = None,
    interval: IntervalMethod = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    only_common: bool = False,
    whose: str = inputs.SETS,
) -> Evaluation:
    """Measure what prediction sets cover, how large they are, and where they are weak.

    Parameters
    ----------
    sets : DataArray of bool, (example, label[, alpha])
        What `ConformalPredictor.predict` returned. With sets or plausibilities in chunks (Dask)
        nothing is read yet, see below.
    plausibilities : DataArray or Dataset, (example, label)
        What experts say of these examples: plausibilities, dense or packed, or an annotation
        table, which is aggregated by the default of its kind. Aligned with the sets by name.
    ties : {"first", "random", "fractional", "any", "all"}
        What counts as covering a voted label where several share the largest plausibility: the
        first of them in the label order of the sets, one drawn for the example, each with credit
        1/L, any of them, or all. Nothing but ``"first"`` depends on the order of the labels.
    true : str or DataArray, (example,), optional
        Known labels: a coordinate of the sets or plausibilities, or label names by example.
    by : str, optional
        Coordinate of the examples: everything is reported for each of its values too.
    cluster : str, optional
        Coordinate of the examples, such as the patient: intervals count clusters, not examples.
    interval : {"auto", "wilson", "t", "betting"}
        See `plausibly.evaluation.intervals.interval`.
    confidence : float
        Of the intervals.
    seed : int
        For ``ties="random"`` and for the order in which ``interval="betting"`` reads examples.
    only_common : bool
        Leave out the examples that only one side has, instead of refusing.
    whose : str
        What the messages call the sets, such as the file that they were read from.

    Returns
    -------
    Evaluation
        A Dataset, which notebooks show with its table and verdict.
        By example: `aggregated_coverage` = ``sum_k lambda_k 1[k in C(x)]``, `voted_coverage`,
        `true_coverage` (with `true`), `mass_coverage` (whether the set holds the share of the
        plausibilities that calibrator ``mass-coverage`` was asked for), `set_size`,
        (example[, alpha]), and `largest_plausibility`.
        On average: ``*_mean``, ``*_low`` and ``*_high`` of these, `share_empty`,
        `share_singleton` ([alpha]) and `n`. The same with the prefix ``stratum_`` over the dim
        ``ambiguity`` (strata of the largest plausibility, which are not known of a new example),
        and with the prefix ``group_`` over a dim that is called as `by`.
        Attributes carry the guarantees of the sets and the choices made here.

        Of sets or plausibilities in chunks it is measured when it is asked for: its variables are
        Dask arrays, and ``.compute()`` or ``.load()`` measures them all in one pass over the
        chunks, with the same bits as in memory. Each ``float(...)`` of one variable would be a
        pass. What is known without the numbers is there, and refused, at once. The share of ties,
        an attribute, is a variable `tied_share` until plausibilities in chunks were read.

    Raises
    ------
    InputError
        Where names do not match, a coordinate is missing, or an option is unknown;
        ``label-axis-split`` where the labels of one example are in several chunks.

    Warns
    -----
    PlausiblyWarning
        ``evaluated-on-calibration`` where the examples calibrated the predictor.

    References
    ----------
    Stutz et al., Conformal prediction under ambiguous ground truth, TMLR 2023: aggregated
    coverage; appendix: tied votes.
    """
    policy = inputs.check_ties(ties)
    judged = judge(
        sets,
        plausibilities,
        cluster=cluster,
        interval=interval,
        confidence=confidence,
        seed=seed,
        only_common=only_common,
        whose=whose,
        later=True,
    )
    inside, alpha_dims = judged.sets, judged.alpha_dims
    measuring = Measuring(ties=policy, shares=_shares(judged))
    codes = None
    if true is not None:
        codes = inputs.true_codes(true, (inside, judged.about), judged.labels)
    known = judged.known(policy, codes)
    averaging = _Averaging.of(judged, by)
    if is_lazy(inside) or is_lazy(judged.given):
        from plausibly.evaluation.delayed import later

        found = later(judged, measuring, known, averaging, averaging.of_one())
        result = _by_example(inside, found.values, found.largest, alpha_dims)
        averages = found.averages
    else:
        opinions = Opinions(judged.opinions, known)
        values, largest = measuring(inside.values, opinions), judged.largest
        result = _by_example(inside, values, largest, alpha_dims)
        averages = averaging(values, largest)
    if by is not None:
        check_dim(result, by)
    result = result.merge(averages, join="exact", compat="no_conflicts")
    result.attrs = {**judged.carried, "ties": policy}
    if not is_lazy(judged.given):
        result.attrs[TIED_SHARE] = float((coverage.tie_counts(judged.opinions) > 1).mean())
    if by is not None:
        result.attrs["by"] = by
    for array in (inside, judged.given):
        result = with_left_out(result, read_left_out(array.attrs))
    return Evaluation(result.data_vars, coords=result.coords, attrs=result.attrs)


@attrs.frozen(kw_only=True, eq=False)
class _Averaging:
    """Means with intervals of all examples, of strata of ambiguity, and of groups.

    Attributes
    ----------
    order : ndarray of int, (example,)
        In which examples are read, see `Judged`.
    clusters : ndarray of int, (example,), or None
        In `order`.
    labels, method, confidence
        See `Outcomes`.
    alpha_dims : list of str
    by : str or None
        What groups are made of.
    groups : ndarray, (group,)
    codes : ndarray of int, (example,)
        Group of each example in `order`.
    promise : Guarantee or None
        Of the sets at any alpha.
    units : ndarray of int, (example,), or None
        Clusters, in `order`, of which a new one brings the new example that it is about.
    votes : ndarray of int, (example,), or None
        Voted labels in `order`, where it is about each of them.
    columns : callable or None
        `Judged.columns` of what is in memory.
    """

    order: NDArray[np.intp]
    clusters: Ints | None
    labels: Sequence[str]
    method: IntervalMethod
    confidence: float
    alpha_dims: list[str]
    by: str | None
    groups: NDArray[np.generic]
    codes: Ints
    promise: Guarantee | None
    units: Ints | None
    votes: Ints | None
    columns: Callable[[], Iterator[tuple[_Column, list[_Column]]]] | None

    @classmethod
    def of(cls, judged: Judged, by: str | None) -> _Averaging:
        """Return how outcomes of these sets are averaged."""
        none = np.zeros(0, dtype=np.intp)
        groups, codes = (none, none) if by is None else inputs.codes_of(judged.coordinate(by))
        promise = judged.promises[0] if judged.promises else None
        units = judged.where_known(promise.cluster) if promise and promise.cluster else None
        there = not is_lazy(judged.sets) and not is_lazy(judged.given)
        votes = voted(judged.opinions)[judged.order] if there and _by_vote(promise) else None
        return cls(
            order=judged.order,
            clusters=None if judged.clusters is None else judged.clusters[judged.order],
            labels=judged.labels,
            method=judged.method,
            confidence=judged.confidence,
            alpha_dims=judged.alpha_dims,
            by=by,
            groups=groups,
            codes=codes,
            promise=promise,
            units=None if units is None else inputs.codes_of(units)[1],
            votes=votes,
            columns=judged.columns if there else None,
        )

    def of_one(self) -> _Averaging:
        """Return the same for one example: what comes of it has the same names and shapes."""
        one = np.zeros(1, dtype=np.intp)
        clusters, units = (None if codes is None else one for codes in (self.clusters, self.units))
        return attrs.evolve(self, order=one, clusters=clusters, codes=one, units=units)

    def __call__(self, values: Measures, largest: NDArray[np.float64]) -> xr.Dataset:
        """Return the averages of outcomes, (example, alpha), in the caller's order."""
        outcomes = summary.Outcomes(
            values={name: found[self.order] for name, found in values.items()},
            clusters=self.clusters,
            labels=len(self.labels),
            method=self.method,
            confidence=self.confidence,
        )
        strata: Ints = stratum_of(largest)[self.order]
        parts: list[tuple[str, str, NDArray[np.generic], Ints]] = [
            (AMBIGUITY, "stratum_", np.array(STRATA), strata)
        ]
        if self.by is not None:
            parts.append((self.by, "group_", self.groups, self.codes))
        found = summary.overall(outcomes, self.alpha_dims)
        for dim, prefix, called, codes in parts:
            check_dim(found, dim)
            grouped = summary.grouped(
                outcomes, codes, called, dim=dim, prefix=prefix, alpha_dims=self.alpha_dims
            )
            found = found.merge(grouped, join="exact", compat="no_conflicts")
        return found.merge(self._guaranteed(outcomes), join="exact", compat="no_conflicts")

    def _guaranteed(self, outcomes: summary.Outcomes) -> xr.Dataset:
        """Return what is guaranteed, measured as it is stated: of each cell, or of new clusters.

        Nothing where that is the mean of all examples, or what it is about is not known.
        """
        promise = self.promise
        name = "" if promise is None else summary.COVERAGE.get(promise.target, "")
        if promise is None or not (promise.by or promise.cluster) or name not in outcomes.values:
            return xr.Dataset()
        by_label = promise.by == LABEL_CELLS
        unknown = self.columns is None if by_label else promise.by not in ("", self.by)
        if unknown or (promise.cluster and self.units is None):
            return xr.Dataset()
        among = sum(bool(weights.any()) for _, weights, _ in self._cells(promise, name, outcomes))
        titles, counts, rows = [], [], []
        for title, weights, planes in self._cells(promise, name, outcomes):
            titles.append(title)
            counts.append(float(weights.sum()))
            if self.units is not None:
                sizes = np.bincount(self.units, weights=weights)[self.units]
                weights = np.divide(weights, sizes, out=np.zeros(len(sizes)), where=sizes > 0)
            rows.append(
                [
                    interval_of(
                        np.ascontiguousarray(plane),
                        weights=weights,
                        clusters=self.clusters if self.units is None else self.units,
                        method=self.method,
                        confidence=self.confidence,
                        among=max(1, among),
                    )
                    for plane in planes
                ]
            )
        cell = [summary.CELL] if promise.by else []
        found = xr.Dataset(coords={summary.CELL: text_array(titles)} if promise.by else None)
        found[f"{summary.GUARANTEED}_n"] = (cell, counts if cell else counts[0])
        for end in (*summary.ENDS, summary.ROUGH):
            values = np.array([[getattr(one, end) for one in row] for row in rows])
            values = values if self.alpha_dims else values[:, 0]
            dims = [*cell, *self.alpha_dims]
            found[f"{summary.GUARANTEED}_{end}"] = (dims, values if cell else values[0])
        return found

    def _cells(
        self, promise: Guarantee, name: str, outcomes: summary.Outcomes
    ) -> Iterator[tuple[str, _Column, list[_Column]]]:
        """Yield each cell with the weights of the examples in it, and outcomes, one array an alpha.

        Examples of one label weigh as much as its plausibility.
        """
        planes = list(outcomes.values[name].T)
        if not promise.by:
            yield "", np.ones(len(planes[0])), planes
        elif promise.by == LABEL_CELLS and self.columns is not None:
            for code, (lam, held) in enumerate(self.columns()):
                weights = lam if self.votes is None else (self.votes == code) * 1.0
                yield self.labels[code], weights, held
        else:
            called = group_names(self.groups)
            for title in sorted({*called.tolist(), *(title for title, _ in promise.cells)}):
                yield title, (called == title)[self.codes] * 1.0, planes


def _by_vote(promise: Guarantee | None) -> bool:
    return promise is not None and promise.by == LABEL_CELLS and promise.target == "voted"


def stratum_of(largest: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the place in `STRATA` of examples with these largest plausibilities, (example,)."""
    return np.digitize(largest + _SLACK, STRATA_FROM)


def _shares(judged: Judged) -> NDArray[np.float64] | None:
    """Return the share of the plausibilities that was promised at each alpha, where one was."""
    shares = {float(one.alpha): one.share for one in judged.promises if one.share is not None}
    if names.ALPHA not in judged.sets.coords:
        return None
    wanted = [shares.get(float(alpha)) for alpha in np.atleast_1d(judged.sets[names.ALPHA].values)]
    if not wanted or None in wanted:
        return None
    return np.array([float(share) for share in wanted if share is not None]) - _SLACK


def _by_example(
    inside: xr.DataArray,
    values: Mapping[str, NDArray[np.float64] | dask.array.Array],
    largest: NDArray[np.float64] | dask.array.Array,
    alpha_dims: list[str],
) -> xr.Dataset:
    """Return the outcomes of each example, under its name."""
    result = xr.Dataset(coords={names.EXAMPLE: inside[names.EXAMPLE].values})
    if names.ALPHA in inside.coords:
        result = result.assign_coords({names.ALPHA: inside[names.ALPHA].variable})
    for name, found in values.items():
        kept = found.astype(np.int64) if name == summary.SET_SIZE else found
        result[name] = ([names.EXAMPLE, *alpha_dims], kept if alpha_dims else kept[:, 0])
    result["largest_plausibility"] = (names.EXAMPLE, largest)
    result["n"] = ((), np.int64(inside.sizes[names.EXAMPLE]))
    return result
