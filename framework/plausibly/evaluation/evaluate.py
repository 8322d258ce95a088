"""Does a prediction set cover what experts say? Measured per example, on average, and by group."""

from __future__ import annotations

import json

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.conformal.labelled_sets import GUARANTEES
from plausibly.evaluation import inputs, summary
from plausibly.evaluation.intervals import IntervalMethod
from plausibly.evaluation.judged import Judged, check_dim, judge
from plausibly.evaluation.measuring import holds
from plausibly.evaluation.shown import Evaluation
from plausibly.guarantee import Guarantee
from plausibly.kernels import coverage
from plausibly.kernels.coverage import Ties
from plausibly.labelled import names
from plausibly.labelled.left_out import read_left_out, with_left_out

AMBIGUITY = "ambiguity"
STRATA = ("below .5", ".5 to .8", ".8 and more")
STRATA_FROM = (0.5, 0.8)
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
        What `ConformalPredictor.predict` returned. Sets in chunks are read once, when this is
        called, one chunk at a time.
    plausibilities : DataArray or Dataset, (example, label)
        What experts say of these examples: plausibilities, dense or packed, or an annotation
        table, which is aggregated by the default of its kind. Aligned with the sets by name.
    ties : {"first", "random", "fractional", "any", "all"}
        What counts as covering a voted label where several share the largest plausibility: the
        first of them in the label order of the sets, one drawn for the example, each with credit
        1/L, any of them, or all.
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

    Raises
    ------
    InputError
        Where names do not match, a coordinate is missing, or an option is unknown.

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
    )
    inside, order = judged.sets, judged.order
    values = _with_true(judged, judged.measured(policy), true)
    values |= _held_masses(judged, values["aggregated_coverage"])
    largest = judged.largest
    alpha_dims = judged.alpha_dims
    result = _by_example(inside, values, largest, alpha_dims)
    outcomes = judged.outcomes(values)
    result = result.merge(summary.overall(outcomes, alpha_dims))
    strata = stratum_of(largest)[order]
    result = result.merge(
        summary.grouped(
            outcomes,
            strata,
            np.array(STRATA),
            dim=AMBIGUITY,
            prefix="stratum_",
            alpha_dims=alpha_dims,
        )
    )
    if by is not None:
        groups, codes = inputs.codes_of(judged.coordinate(by))
        check_dim(result, by)
        result = result.merge(
            summary.grouped(outcomes, codes, groups, dim=by, prefix="group_", alpha_dims=alpha_dims)
        )
    result.attrs = {
        **judged.carried,
        "ties": policy,
        "tied_share": float((coverage.tie_counts(judged.opinions) > 1).mean()),
    }
    if by is not None:
        result.attrs["by"] = by
    for array in (inside, judged.given):
        result = with_left_out(result, read_left_out(array.attrs))
    return Evaluation(result.data_vars, coords=result.coords, attrs=result.attrs)


def stratum_of(largest: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the place in `STRATA` of examples with these largest plausibilities, (example,)."""
    return np.digitize(largest + _SLACK, STRATA_FROM)


def _with_true(
    judged: Judged, measured: dict[str, NDArray[np.float64]], true: str | xr.DataArray | None
) -> dict[str, NDArray[np.float64]]:
    """Return what was measured of each set, and whether it holds the known label."""
    if true is None:
        return measured
    inside = judged.sets
    codes = inputs.true_codes(true, (inside, judged.about), judged.labels)
    size = measured.pop(summary.SET_SIZE)
    return {**measured, "true_coverage": holds(inside, codes), summary.SET_SIZE: size}


def _held_masses(judged: Judged, covered: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return which sets hold the share of the plausibilities that was promised, where one was."""
    stated = json.loads(str(judged.carried.get(GUARANTEES, "[]")))
    promises = [Guarantee.from_json(one) for one in stated]
    shares = {float(one.alpha): one.share for one in promises if one.share is not None}
    if names.ALPHA not in judged.sets.coords:
        return {}
    wanted = [shares.get(float(alpha)) for alpha in np.atleast_1d(judged.sets[names.ALPHA].values)]
    if not wanted or None in wanted:
        return {}
    least = np.array([float(share) for share in wanted if share is not None]) - _SLACK
    return {"mass_coverage": (covered >= least).astype(np.float64)}


def _by_example(
    inside: xr.DataArray,
    values: dict[str, NDArray[np.float64]],
    largest: NDArray[np.float64],
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
    result["n"] = ((), np.int64(len(largest)))
    return result
