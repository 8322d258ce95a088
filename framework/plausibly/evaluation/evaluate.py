"""Coverage of prediction sets: per example, on average, and by group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import text
from plausibly.calibration.coordinates import group_names
from plausibly.calibration.scores import BY_LABEL
from plausibly.conformal.chunks import chunks_of, mapped, values_later, whole_rows
from plausibly.data import names
from plausibly.data.names import is_lazy, text_array
from plausibly.data.states import read_left_out, with_left_out
from plausibly.errors import counted
from plausibly.evaluation import inputs, intervals
from plausibly.evaluation.inputs import Judged, Measuring, Opinions, check_dim, judge
from plausibly.evaluation.intervals import (
    AGGREGATED,
    AMBIGUITY,
    Averaging,
    Doubles,
    IntervalMethod,
    Measures,
    as_dataset,
    groups_of,
    planes,
)
from plausibly.guarantee import Guarantee
from plausibly.kernels import coverage
from plausibly.kernels.coverage import Ties
from plausibly.kernels.types import Bools, Ints

if TYPE_CHECKING:
    import dask.array


TIED_SHARE = "tied_share"
_NOT_MEASURED = "not measured yet: compute() or load() reads each chunk once"


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
        text = as_dataset(super().__repr__(), self)
        return f"{text}\n{_NOT_MEASURED[0].upper()}{_NOT_MEASURED[1:]}." if is_lazy(self) else text

    def _repr_html_(self) -> str:
        variables = text.Html(super()._repr_html_())
        if is_lazy(self):
            said = text.paragraph(f"{_NOT_MEASURED}.")
            return text.framed("evaluation", said, text.unfolded("variables", variables))
        if not _is_evaluation(self):
            return variables
        return text.framed("evaluation", *_evaluated(self), text.unfolded("variables", variables))


def _computed(
    results: Iterable[Any],  # Any: arrays, as Dask has them
    rebuild: Callable[..., Evaluation],
    arguments: tuple[object, ...],
) -> Evaluation:
    """Return the evaluation of which Dask has computed these arrays."""
    return rebuild(results, *arguments).load()


def _is_evaluation(result: xr.Dataset) -> bool:
    """Return whether all that the table reads is there, as it is not in every part."""
    needed = (f"{AGGREGATED}_mean", "voted_coverage_mean", "set_size_mean", "n")
    parts = [f"stratum_{AGGREGATED}_low", "stratum_n", "share_empty", "share_singleton"]
    dims = {names.EXAMPLE, "ambiguity"} <= set(result.dims)
    known = dims and {"confidence", "ties", TIED_SHARE} <= set(result.attrs)
    whole = names.ALPHA not in result.dims or result.sizes[names.ALPHA] > 0
    return known and whole and all(name in result for name in (*needed, *parts))


def _evaluated(result: xr.Dataset) -> list[text.Html]:
    from plausibly.evaluation.describe import QUANTITIES, decimal, ends, outwards, verdict

    rows = []
    for plane in planes(result):
        alpha = f"{float(plane[names.ALPHA]):g}" if names.ALPHA in plane.coords else "-"
        for quantity, title in QUANTITIES.items():
            if f"{quantity}_mean" in plane:
                mean, low, high = intervals.figures(plane, quantity)
                rows.append((alpha, title, decimal(mean), ends(low, high)))
        mean, low, high = intervals.figures(plane, intervals.SET_SIZE)
        low, high = outwards(low, high, 2)
        rows.append((alpha, "labels in a set", f"{mean:.2f}", f"{low:.2f} to {high:.2f}"))
    level = f"{100 * float(result.attrs['confidence']):g} % interval"
    said = verdict(result).splitlines()
    if len(said) > 1:
        alphas = [f"{alpha:g}" for alpha in result[names.ALPHA].values]
        said = [f"alpha {alpha}: {line}" for alpha, line in zip(alphas, said, strict=True)]
    return [
        text.paragraph(f"{counted(int(result['n']))} examples"),
        text.table(rows, head=("alpha", "coverage", "mean", level)),
        *(text.paragraph(line) for line in said),
    ]


_LARGEST = "largest_plausibility"


def _columns(
    measuring: Measuring,
    quantities: Sequence[str],
    values: Bools,
    *asked: Any,  # Any: Opinions, after plausibilities where they are in chunks
) -> Doubles:
    """Return what is measured of one chunk, (example, quantity, alpha)."""
    *lam, said = asked
    found = measuring(values, attrs.evolve(said, plausibilities=lam[0]) if lam else said)
    if lam:
        tied = coverage.tie_counts(lam[0]) > 1
        for name, column in ((_LARGEST, lam[0].max(axis=1)), (TIED_SHARE, tied)):
            found[name] = np.broadcast_to(column[:, None], found[quantities[0]].shape)
    return np.stack([found[name] for name in quantities], axis=1, dtype=np.float64)


def _later(
    judged: Judged, measuring: Measuring, said: Opinions, averages: _Averages
) -> tuple[dict[str, dask.array.Array], Doubles | dask.array.Array, xr.Dataset]:
    """Return outcomes, largest plausibilities and averages: measured when asked for, in one go."""
    sets, lam = judged.sets, judged.given.array
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
    if isinstance(lam, xr.DataArray) and is_lazy(lam):
        read.append(lam.chunk({names.EXAMPLE: cut, names.LABEL: -1}))
    asks = [(chunk, said[chunk.start : chunk.stop]) for chunk in chunks_of(sets)]
    # The empty set of one example with one label has the same names and shapes.
    codes = None if said.codes is None else np.zeros(1, dtype=np.intp)
    alone = Opinions(np.ones((1, 1)), np.zeros(1), codes=codes)
    shape = (1, 1, alphas) if judged.alpha_dims else (1, 1)
    one = measuring(np.zeros(shape, dtype=np.bool_), alone)
    template = averages.of_one()(one, np.zeros(1))
    quantities = tuple(one)
    largest = None
    if len(read) > 1:
        template[TIED_SHARE] = ((), 0.0)
        quantities += (_LARGEST, TIED_SHARE)
    else:
        largest = judged.largest
    work = partial(_columns, measuring, quantities)
    columns = mapped(work, read, asks, np.float64, (len(quantities), alphas))
    whole = partial(averages.of_blocks, quantities, largest)
    return (
        {name: columns[:, place] for place, name in enumerate(one)},
        columns[:, len(one), 0] if largest is None else largest,
        xr.Dataset(values_later(whole, columns, template), coords=template.coords),
    )


STRATA = ("below .5", ".5 to .8", ".8 and more")
STRATA_FROM = (0.5, 0.8)
_Column: TypeAlias = Doubles
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
        sets, plausibilities, cluster, interval, confidence, seed, only_common, whose, later=True
    )
    inside, lazy = judged.sets, judged.given.in_chunks
    measuring = Measuring(ties=policy, shares=_shares(judged))
    codes = None if true is None else inputs.true_codes(true, judged.arrays, judged.labels)
    said = judged.said(policy, codes)
    averages = _Averages.of(judged, by)
    values: Mapping[str, Doubles | dask.array.Array]
    largest: Doubles | dask.array.Array
    if is_lazy(inside) or lazy:
        values, largest, found = _later(judged, measuring, said, averages)
    else:
        outcomes, tops = measuring(inside.values, said), judged.largest
        found = averages(outcomes, tops)
        values, largest = outcomes, tops
    result = _by_example(inside, values, largest, judged.alpha_dims)
    if by is not None:
        check_dim(result, by)
    result = result.merge(found, join="exact", compat="no_conflicts")
    result.attrs = {**judged.carried, "ties": policy}
    if not lazy:
        result.attrs[TIED_SHARE] = judged.tied_share
    if by is not None:
        result.attrs["by"] = by
    for array in (inside, judged.given.array):
        result = with_left_out(result, read_left_out(array.attrs))
    return Evaluation(result.data_vars, coords=result.coords, attrs=result.attrs)


@attrs.frozen(kw_only=True, eq=False)
class _Averages:
    """Means with intervals of all examples, of strata of ambiguity, and of groups."""

    order: NDArray[np.intp]
    averaging: Averaging
    labels: Sequence[str]
    by: str | None
    groups: NDArray[np.generic]
    codes: Ints
    promise: Guarantee | None
    units: Ints | None
    votes: Ints | None
    columns: Callable[[], Iterator[tuple[_Column, list[_Column]]]] | None

    @classmethod
    def of(cls, judged: Judged, by: str | None) -> _Averages:
        """Return how outcomes of these sets are averaged."""
        none = np.zeros(0, dtype=np.intp)
        groups, codes = (none, none) if by is None else inputs.codes_of(judged.coordinate(by))
        promise = judged.promises[0] if judged.promises else None
        units = None
        if promise and promise.cluster:
            units = inputs.known_values(promise.cluster, judged.arrays)
        there = not is_lazy(judged.sets) and not judged.given.in_chunks
        by_vote = promise and promise.by == BY_LABEL and promise.target == "voted"
        return cls(
            order=judged.order,
            averaging=judged.averaging,
            labels=judged.labels,
            by=by,
            groups=groups,
            codes=codes,
            promise=promise,
            units=None if units is None else inputs.codes_of(units[judged.order])[1],
            votes=judged.opinions.argmax()[judged.order] if there and by_vote else None,
            columns=judged.columns if there else None,
        )

    def of_one(self) -> _Averages:
        """Return the same for one example: what comes of it has the same names and shapes."""
        one = np.zeros(1, dtype=np.intp)
        units = None if self.units is None else one
        clusters = None if self.averaging.clusters is None else one
        averaging = attrs.evolve(self.averaging, clusters=clusters)
        return attrs.evolve(self, order=one, averaging=averaging, codes=one, units=units)

    def of_blocks(
        self, quantities: Sequence[str], largest: Doubles | None, blocks: Sequence[Doubles]
    ) -> dict[str, NDArray[Any]]:  # Any: numbers of either kind
        """Return averages by name, from the columns of every chunk."""
        columns = np.concatenate(blocks)
        values = {name: columns[:, place] for place, name in enumerate(quantities)}
        averages = {}
        if largest is None:
            largest = values.pop(_LARGEST)[:, 0]
            averages[TIED_SHARE] = np.asarray((values.pop(TIED_SHARE)[:, 0] > 0).mean())
        found = self(values, largest)
        return {str(name): one.values for name, one in found.data_vars.items()} | averages

    def __call__(self, values: Measures, largest: Doubles) -> xr.Dataset:
        """Return the averages of outcomes, (example, alpha), in the caller's order."""
        outcomes = {name: found[self.order] for name, found in values.items()}
        parts: list[tuple[str, str, NDArray[np.generic], Ints]] = [
            (AMBIGUITY, "stratum_", np.array(STRATA), stratum_of(largest)[self.order])
        ]
        if self.by is not None:
            parts.append((self.by, "group_", self.groups, self.codes))
        found = self.averaging.overall(outcomes)
        for dim, prefix, titles, codes in parts:
            check_dim(found, dim)
            groups = groups_of(codes, len(titles))
            some = self.averaging.grouped(outcomes, groups, titles, dim=dim, prefix=prefix)
            found = found.merge(some, join="exact", compat="no_conflicts")
        return found.merge(self._guaranteed(outcomes), join="exact", compat="no_conflicts")

    def _guaranteed(self, outcomes: Measures) -> xr.Dataset:
        """Return what is guaranteed, measured as it is stated: of each cell, or of new clusters."""
        promise, averaging = self.promise, self.averaging
        name = "" if promise is None else intervals.COVERAGE.get(promise.target, "")
        if promise is None or not (promise.by or promise.cluster) or name not in outcomes:
            return xr.Dataset()
        by_label = promise.by == BY_LABEL
        unknown = self.columns is None if by_label else promise.by not in ("", self.by)
        if unknown or (promise.cluster and self.units is None):
            return xr.Dataset()
        among = sum(bool(weights.any()) for _, weights, _ in self._cells(promise, outcomes[name]))
        if self.units is not None:
            averaging = attrs.evolve(averaging, clusters=self.units)
        titles, counts, rows = [], [], []
        for title, weights, columns in self._cells(promise, outcomes[name]):
            titles.append(title)
            counts.append(float(weights.sum()))
            if self.units is not None:
                sizes = np.bincount(self.units, weights=weights)[self.units]
                weights = np.divide(weights, sizes, out=np.zeros(len(sizes)), where=sizes > 0)
            among_all = max(1, among)
            rows.append([averaging.interval(one, weights, among=among_all) for one in columns])
        found = np.array(rows, dtype=object)
        found = found if averaging.alpha_dims else found[..., 0]
        dims = [intervals.CELL] if promise.by else []
        return xr.Dataset(
            {
                f"{intervals.GUARANTEED}_n": (dims, counts if dims else counts[0]),
                **intervals.variables(
                    intervals.GUARANTEED,
                    found if dims else found[0],
                    [*dims, *averaging.alpha_dims],
                    (*intervals.ENDS, intervals.ROUGH),
                ),
            },
            coords={intervals.CELL: text_array(titles)} if dims else None,
        )

    def _cells(
        self, promise: Guarantee, outcomes: Doubles
    ) -> Iterator[tuple[str, _Column, list[_Column]]]:
        """Yield each cell with the weights of its examples and one outcome per alpha."""
        planes = list(outcomes.T)
        if not promise.by:
            yield "", np.ones(len(outcomes)), planes
        elif promise.by == BY_LABEL and self.columns is not None:
            for code, (lam, held) in enumerate(self.columns()):
                weights = lam if self.votes is None else (self.votes == code) * 1.0
                yield self.labels[code], weights, held
        else:
            called = group_names(self.groups)
            for title in sorted({*called.tolist(), *(title for title, _ in promise.groups)}):
                yield title, (called == title)[self.codes] * 1.0, planes


def stratum_of(largest: Doubles) -> NDArray[np.intp]:
    """Return the place in `STRATA` of examples with these largest plausibilities, (example,)."""
    return np.digitize(largest + _SLACK, STRATA_FROM)


def _shares(judged: Judged) -> Doubles | None:
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
    values: Mapping[str, Doubles | dask.array.Array],
    largest: Doubles | dask.array.Array,
    alpha_dims: list[str],
) -> xr.Dataset:
    result = xr.Dataset(coords={names.EXAMPLE: inside[names.EXAMPLE].values})
    if names.ALPHA in inside.coords:
        result = result.assign_coords({names.ALPHA: inside[names.ALPHA].variable})
    for name, found in values.items():
        kept = found.astype(np.int64) if name == intervals.SET_SIZE else found
        result[name] = ([names.EXAMPLE, *alpha_dims], kept if alpha_dims else kept[:, 0])
    result["largest_plausibility"] = (names.EXAMPLE, largest)
    result["n"] = ((), np.int64(inside.sizes[names.EXAMPLE]))
    return result
