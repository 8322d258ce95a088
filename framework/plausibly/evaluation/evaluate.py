"""Coverage of prediction sets: per example, on average, and by group."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import text
from plausibly.calibration.coordinates import group_names
from plausibly.calibration.scores import LABEL_CELLS
from plausibly.conformal.chunks import chunks_of, mapped, whole_rows
from plausibly.conformal.predictor import values_later
from plausibly.data import names
from plausibly.data.left_out import read_left_out, with_left_out
from plausibly.data.named import is_lazy
from plausibly.data.names import text_array
from plausibly.errors import counted
from plausibly.evaluation import inputs, intervals
from plausibly.evaluation.inputs import (
    Judged,
    Known,
    Measures,
    Measuring,
    Opinions,
    check_dim,
    judge,
    voted,
)
from plausibly.evaluation.intervals import IntervalMethod, interval as interval_of
from plausibly.guarantee import Guarantee
from plausibly.kernels import coverage
from plausibly.kernels.coverage import Ties
from plausibly.kernels.types import Bools, Floats, Ints

if TYPE_CHECKING:
    import dask.array


TIED_SHARE = "tied_share"
_NOT_MEASURED = "not measured yet: compute() or load() reads each chunk once"
_AGGREGATED = "aggregated_coverage"
_SPLIT = "split"


class Evaluation(xr.Dataset):  # type: ignore[no-untyped-call]  # xarray lacks the hint
    """What `plausibly.evaluate` measured: in a notebook with its table and verdict on top."""

    __slots__ = ()

    def load(self, **kwargs: Any) -> Self:  # Any: what Dask takes
        """Measure what was not measured yet, all in one pass over the chunks; return this."""
        super().load(**kwargs)
        if TIED_SHARE in self.variables:
            self.attrs[TIED_SHARE] = float(self[TIED_SHARE])
            del self[TIED_SHARE]
        return self

    def __dask_postcompute__(self) -> tuple[Callable[..., Evaluation], tuple[object, ...]]:
        how = super().__dask_postcompute__()  # type: ignore[no-untyped-call]  # xarray lacks the hint
        return _computed, how

    def __repr__(self) -> str:
        text = _as_dataset(super().__repr__(), self)
        return f"{text}\n{_NOT_MEASURED[0].upper()}{_NOT_MEASURED[1:]}." if is_lazy(self) else text

    def _repr_html_(self) -> str:
        variables = text.Html(super()._repr_html_())
        if is_lazy(self):
            said = text.paragraph(f"{_NOT_MEASURED}.")
            return text.framed("evaluation", said, text.unfolded("variables", variables))
        if not _is_evaluation(self):
            return variables
        return text.framed("evaluation", *_evaluated(self), text.unfolded("variables", variables))


class Study(xr.Dataset):  # type: ignore[no-untyped-call]  # xarray lacks the hint
    """What `plausibly.compare` measured: in a notebook with its table on top."""

    __slots__ = ()

    def __repr__(self) -> str:
        return _as_dataset(super().__repr__(), self)

    def _repr_html_(self) -> str:
        variables = text.Html(super()._repr_html_())
        if not _is_study(self):
            return variables
        return text.framed("study", *_compared(self), text.unfolded("variables", variables))


def _computed(
    results: Iterable[Any],  # Any: arrays, as Dask has them
    rebuild: Callable[..., Evaluation],
    arguments: tuple[object, ...],
) -> Evaluation:
    """Return the evaluation of which Dask has computed these arrays."""
    return rebuild(results, *arguments).load()


def measured(result: xr.Dataset) -> xr.Dataset:
    """Return a result whose numbers are there: one in chunks is computed, all in one pass."""
    return result.compute() if is_lazy(result) else result


def _as_dataset(text: str, result: xr.Dataset) -> str:
    """Return the text of a result as that of the Dataset that it is."""
    return text.replace(f"xarray.{type(result).__name__}", "xarray.Dataset", 1)


def _is_evaluation(result: xr.Dataset) -> bool:
    """Return whether all that the table reads is there, as it is not in every part."""
    needed = (f"{_AGGREGATED}_mean", "voted_coverage_mean", "set_size_mean", "n")
    parts = [f"stratum_{_AGGREGATED}_low", "stratum_n", "share_empty", "share_singleton"]
    dims = {names.EXAMPLE, "ambiguity"} <= set(result.dims)
    known = dims and {"confidence", "ties", TIED_SHARE} <= set(result.attrs)
    whole = names.ALPHA not in result.dims or result.sizes[names.ALPHA] > 0
    return known and whole and all(name in result for name in (*needed, *parts))


def _is_study(study: xr.Dataset) -> bool:
    measures = (_AGGREGATED, "voted_coverage", "set_size", "vacuous", "guaranteed_level")
    dims = {"method", _SPLIT, names.ALPHA}
    whole = dims <= set(study.dims) and all(study.sizes[dim] for dim in dims)
    return whole and all(name in study for name in (*measures, "guaranteed"))


def _evaluated(result: xr.Dataset) -> list[text.Html]:
    """Return a table of all alphas, and the verdict on each."""
    from plausibly.evaluation.describe import QUANTITIES, decimal, ends, outwards, verdict

    planes = [result]
    if names.ALPHA in result.dims:
        planes = [result.isel({names.ALPHA: place}) for place in range(result.sizes[names.ALPHA])]
    rows = []
    for plane in planes:
        alpha = f"{float(plane[names.ALPHA]):g}" if names.ALPHA in plane.coords else "-"
        for quantity, title in QUANTITIES.items():
            if f"{quantity}_mean" in plane:
                mean, low, high = (
                    float(plane[f"{quantity}_{end}"]) for end in ("mean", "low", "high")
                )
                rows.append((alpha, title, decimal(mean), ends(low, high)))
        size = f"{float(plane['set_size_mean']):.2f}"
        low, high = outwards(float(plane["set_size_low"]), float(plane["set_size_high"]), 2)
        rows.append((alpha, "labels in a set", size, f"{low:.2f} to {high:.2f}"))
    level = f"{100 * float(result.attrs['confidence']):g} % interval"
    said = verdict(result).splitlines()
    if len(planes) > 1:
        alphas = [f"{alpha:g}" for alpha in result[names.ALPHA].values]
        said = [f"alpha {alpha}: {line}" for alpha, line in zip(alphas, said, strict=True)]
    return [
        text.paragraph(f"{counted(int(result['n']))} examples"),
        text.table(rows, head=("alpha", "coverage", "mean", level)),
        *(text.paragraph(line) for line in said),
    ]


def _compared(study: xr.Dataset) -> list[text.Html]:
    """Return a table of all alphas and methods."""
    from plausibly.evaluation.describe import decimal
    from plausibly.evaluation.results import cells, guaranteed

    rows = []
    for place in range(study.sizes[names.ALPHA]):
        plane = study.isel({names.ALPHA: place})
        for name, one in cells(plane):
            covered = one[_AGGREGATED].values
            spread = float(covered.std(ddof=1)) if covered.size > 1 else math.nan
            rows.append(
                (
                    f"{float(plane[names.ALPHA]):g}",
                    name,
                    decimal(float(covered.mean())),
                    decimal(spread),
                    decimal(float(one["voted_coverage"].mean())),
                    f"{float(one['set_size'].mean()):.2f}",
                    guaranteed(one),
                )
            )
    head = (
        "alpha",
        "calibrated",
        "aggregated coverage",
        "spread",
        "voted coverage",
        "set size",
        "guaranteed (aggregated)",
    )
    splits = counted(study.sizes[_SPLIT])
    return [
        text.paragraph(f"means over {splits} random split{'' if splits == '1' else 's'}"),
        text.table(rows, head=head),
    ]


_LARGEST = "largest_plausibility"


class Averaging(Protocol):
    """What makes averages of outcomes, (example, alpha) by name, and of largest plausibilities."""

    def __call__(self, values: Measures, largest: NDArray[np.float64]) -> xr.Dataset:
        """Return averages by name."""


@attrs.frozen(kw_only=True, eq=False)
class Later:
    """What is measured when it is asked for."""

    values: dict[str, dask.array.Array]
    largest: NDArray[np.float64] | dask.array.Array
    averages: xr.Dataset


@attrs.frozen(kw_only=True, eq=False)
class _Columns:
    """Measures one chunk."""

    measuring: Measuring
    quantities: tuple[str, ...]

    def __call__(self, values: Bools, *asked: Any) -> NDArray[np.float64]:  # Any: as below
        """Return (example, quantity, alpha)."""
        opinions: Opinions = asked[0] if len(asked) == 1 else Opinions(*asked)
        found = self.measuring(values, opinions)
        if len(asked) > 1:
            lam: Floats = asked[0]
            for name, column in _said(lam).items():
                found[name] = np.broadcast_to(column[:, None], found[self.quantities[0]].shape)
        return np.stack([found[name] for name in self.quantities], axis=1)


def _said(lam: Floats) -> dict[str, NDArray[np.float64]]:
    """Return what is reported of plausibilities themselves, (example,)."""
    tied = coverage.tie_counts(lam) > 1
    return {_LARGEST: lam.max(axis=1).astype(np.float64), TIED_SHARE: tied.astype(np.float64)}


@attrs.frozen(kw_only=True, eq=False)
class _Whole:
    """Averages over all chunks."""

    averaging: Averaging
    quantities: tuple[str, ...]
    largest: NDArray[np.float64] | None

    def __call__(
        self, blocks: Sequence[NDArray[np.float64]]
    ) -> dict[str, NDArray[Any]]:  # Any: numbers of either kind
        """Return averages by name, from the columns of every chunk."""
        columns = np.concatenate(blocks)
        values = {name: columns[:, place] for place, name in enumerate(self.quantities)}
        largest, tied = self.largest, None
        if largest is None:
            largest, tied = values.pop(_LARGEST)[:, 0], values.pop(TIED_SHARE)[:, 0]
        found = self.averaging(values, largest)
        averages = {str(name): one.values for name, one in found.data_vars.items()}
        if tied is not None:
            averages[TIED_SHARE] = np.asarray((tied > 0).mean())
        return averages


def later(
    judged: Judged, measuring: Measuring, known: Known, averaging: Averaging, like: Averaging
) -> Later:
    """Return an evaluation that is measured when it is asked for: all of it in one pass."""
    sets, lam = judged.sets, judged.given
    apart = isinstance(lam, xr.DataArray) and is_lazy(lam)
    if is_lazy(sets):
        sets = whole_rows(sets, "the prediction sets", "sets")
    else:
        sets = sets.chunk({names.EXAMPLE: lam.chunksizes[names.EXAMPLE]})
    alphas = 1
    if judged.alpha_dims:
        alphas = sets.sizes[names.ALPHA]
        sets = sets.chunk({names.ALPHA: -1})
    cut = sets.variable.chunksizes[names.EXAMPLE]
    read = [sets]
    if isinstance(lam, xr.DataArray) and apart:
        read.append(lam.chunk({names.EXAMPLE: cut, names.LABEL: -1}))
    asked: Known | Opinions = known if apart else Opinions(judged.opinions, known)
    asks = [(chunk, asked[chunk.start : chunk.stop]) for chunk in chunks_of(sets)]
    one = _rehearsed(measuring, known, alphas, several=bool(judged.alpha_dims))
    template = like(one, np.zeros(1))
    quantities = tuple(one)
    if apart:
        template[TIED_SHARE] = ((), 0.0)
        quantities += (_LARGEST, TIED_SHARE)
    work = _Columns(measuring=measuring, quantities=quantities)
    columns = mapped(work, read, asks, np.float64, (len(quantities), alphas))
    largest = None if apart else judged.largest
    whole = _Whole(averaging=averaging, quantities=quantities, largest=largest)
    return Later(
        values={name: columns[:, place] for place, name in enumerate(one)},
        largest=columns[:, len(one), 0] if largest is None else largest,
        averages=xr.Dataset(values_later(whole, columns, template), coords=template.coords),
    )


def _rehearsed(measuring: Measuring, known: Known, alphas: int, *, several: bool) -> Measures:
    """Return what is measured of the empty set of one example with one label."""
    sets = np.zeros((1, 1, alphas) if several else (1, 1), dtype=np.bool_)
    codes = None if known.codes is None else np.zeros(1, dtype=np.intp)
    about = Known(uniform=np.zeros(1), codes=codes)
    return measuring(sets, Opinions(np.ones((1, 1)), about))


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
    """Means with intervals of all examples, of strata of ambiguity, and of groups."""

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
        outcomes = intervals.Outcomes(
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
        found = intervals.overall(outcomes, self.alpha_dims)
        for dim, prefix, called, codes in parts:
            check_dim(found, dim)
            grouped = intervals.grouped(
                outcomes, codes, called, dim=dim, prefix=prefix, alpha_dims=self.alpha_dims
            )
            found = found.merge(grouped, join="exact", compat="no_conflicts")
        return found.merge(self._guaranteed(outcomes), join="exact", compat="no_conflicts")

    def _guaranteed(self, outcomes: intervals.Outcomes) -> xr.Dataset:
        """Return what is guaranteed, measured as it is stated: of each cell, or of new clusters."""
        promise = self.promise
        name = "" if promise is None else intervals.COVERAGE.get(promise.target, "")
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
        cell = [intervals.CELL] if promise.by else []
        found = xr.Dataset(coords={intervals.CELL: text_array(titles)} if promise.by else None)
        found[f"{intervals.GUARANTEED}_n"] = (cell, counts if cell else counts[0])
        for end in (*intervals.ENDS, intervals.ROUGH):
            values = np.array([[getattr(one, end) for one in row] for row in rows])
            values = values if self.alpha_dims else values[:, 0]
            dims = [*cell, *self.alpha_dims]
            found[f"{intervals.GUARANTEED}_{end}"] = (dims, values if cell else values[0])
        return found

    def _cells(
        self, promise: Guarantee, name: str, outcomes: intervals.Outcomes
    ) -> Iterator[tuple[str, _Column, list[_Column]]]:
        """Yield each cell with the weights of its examples and one outcome per alpha."""
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
        kept = found.astype(np.int64) if name == intervals.SET_SIZE else found
        result[name] = ([names.EXAMPLE, *alpha_dims], kept if alpha_dims else kept[:, 0])
    result["largest_plausibility"] = (names.EXAMPLE, largest)
    result["n"] = ((), np.int64(inside.sizes[names.EXAMPLE]))
    return result
