"""Diagnostics: the error of Monte Carlo calibration, and annotators left out one at a time."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import xarray as xr

from plausibly.calibration.alphas import Alphas, read_alphas
from plausibly.conformal.aggregate import DEFAULT_AGGREGATORS, aggregate
from plausibly.conformal.calibrate import calibrate
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import align, names, validate
from plausibly.data.annotations import Rows, check_table
from plausibly.data.names import name_texts, not_among, positions, text_array
from plausibly.data.select import select_annotations
from plausibly.errors import InputError, PlausiblyWarning, counted, listed
from plausibly.evaluation import inputs
from plausibly.evaluation.intervals import (
    Averaging,
    Doubles,
    Interval,
    IntervalMethod,
    Variables,
    check_method,
    variables,
)
from plausibly.evaluation.splits import check_count, out_of_range, read_numbers, split, units_of
from plausibly.kernels import coverage
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Floats, Ints
from plausibly.progress import Progress, ticking
from plausibly.protocols import Aggregator, Calibrator, ComponentLike, PValueCombiner, ScoreFunction

DRAWS = "draws"
SEED = "seed"
_MEASURES = ("threshold", "coverage", "set_size")


def monte_carlo_error(
    predictions: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    alphas: Alphas = (0.1,),
    draws: Sequence[int] = (1, 2, 5, 10, 20, 50),
    seeds: int = 20,
    score: ComponentLike[ScoreFunction] = "probability",
    test: float = 0.5,
    cluster: str | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Measure what the draws alone do: `monte-carlo` of m draws against `expected`, on one split.

    Parameters
    ----------
    predictions, plausibilities, alphas, test, cluster, progress
        See `plausibly.compare`.
    draws : sequence of int
        Numbers of draws m.
    seeds : int
        How many times labels are drawn anew, 2 or more, on the same calibration examples.
    score, confidence
        See `plausibly.calibrate`; of the intervals of mean differences over seeds.
    seed : int
        Of the split; draw number r uses seed ``seed + r``.

    Returns
    -------
    Dataset
        `threshold`, `coverage` (aggregated) and `set_size`, (draws, seed, alpha), and the same with
        the prefix ``expected_``, (alpha). For each of the three, (draws, alpha): ``*_difference``,
        the mean over seeds less the expected one, with ``*_difference_low`` and ``*_high``
        (Student's t), and ``*_sd``, the standard deviation over seeds; NaN for infinite thresholds.
        `coverage_sd_predicted`, (draws, alpha): ``sqrt(V_w / (m n))``, V_w the mean over
        calibration examples of ``L (1 - L)``, L the plausibility that sets leave out.

    Raises
    ------
    InputError
        ``option-range``; as `plausibly.calibrate`.
    """
    from scipy.special import stdtrit

    numbers = read_numbers("draws", draws)
    check_count("seeds", seeds, usual=20, minimum=2)
    check_method("t", confidence)
    exact, typed = [float(alpha) for alpha in read_alphas(alphas)], inputs.as_typed(alphas)
    model = validate.check_predictions(predictions)
    model, plausibilities = inputs.matched(model, inputs.as_plausibilities(plausibilities))
    groups = None if cluster is None else inputs.example_values(cluster, (model, plausibilities))
    hashes = hash_names(model[names.EXAMPLE].values)
    tested = split(hashes, Keys(seed).child("monte-carlo-error"), test=test, groups=groups)
    order = np.argsort(hashes, kind="stable")  # no sum depends on the order of the rows
    rows, others = order[tested[order]], order[~tested[order]]
    new, new_values = model.isel({names.EXAMPLE: rows}), plausibilities.values[rows]
    old, old_plausibilities = (
        array.isel({names.EXAMPLE: others}) for array in (model, plausibilities)
    )

    def measured(predictor: ConformalPredictor) -> Doubles:
        """Return threshold, coverage and set size, (measure, alpha)."""
        planes = inputs.planes_of(predictor.predict(new, typed))
        covered = [float(coverage.aggregated(plane, new_values).mean()) for plane in planes]
        sizes = [float(coverage.sizes(plane).mean()) for plane in planes]
        return np.array([predictor.threshold(typed).values, covered, sizes], dtype=np.float64)

    exact_one = calibrate(old, old_plausibilities, calibrator="expected", score=score, seed=seed)
    expected = measured(exact_one)
    results = np.empty((len(_MEASURES), len(numbers), seeds, len(exact)))
    with ticking(progress, "calibrating") as tick, warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)  # the expected one warned of the same
        for place, repeat in np.ndindex(len(numbers), seeds):
            table = {"name": "monte-carlo", "draws": numbers[place]}
            results[:, place, repeat] = measured(
                calibrate(
                    old, old_plausibilities, calibrator=table, score=score, seed=seed + repeat
                )
            )
            tick(place * seeds + repeat + 1, len(numbers) * seeds)
        planes = inputs.planes_of(exact_one.predict(old, typed))
    held = np.stack([coverage.aggregated(plane, old_plausibilities.values) for plane in planes])
    within = (held * (1.0 - held)).mean(axis=1)  # the variance of one drawn label
    predicted = np.sqrt(within[None, :] / (np.array(numbers)[:, None] * len(others)))
    finite = np.isfinite(results).all(axis=2) & np.isfinite(expected)[:, None]
    with np.errstate(invalid="ignore"):
        mean = np.where(finite, (results - expected[:, None, None]).mean(axis=2), np.nan)
        spread = np.where(finite, results.std(axis=2, ddof=1), np.nan)
    reach = float(stdtrit(seeds - 1, (1.0 + confidence) / 2.0)) * spread / np.sqrt(seeds)
    by = (DRAWS, names.ALPHA)
    columns: Variables = {"coverage_sd_predicted": (by, predicted)}
    for place, name in enumerate(_MEASURES):
        columns |= {
            name: ((DRAWS, SEED, names.ALPHA), results[place]),
            f"expected_{name}": ((names.ALPHA,), expected[place]),
            f"{name}_difference": (by, mean[place]),
            f"{name}_difference_low": (by, (mean - reach)[place]),
            f"{name}_difference_high": (by, (mean + reach)[place]),
            f"{name}_sd": (by, spread[place]),
        }
    return xr.Dataset(
        columns,
        coords={DRAWS: np.array(numbers), SEED: seed + np.arange(seeds), names.ALPHA: exact},
        attrs={
            "n_calibration": len(others),
            "n_test": len(rows),
            "confidence": confidence,
            "split_seed": seed,
        },
    )


def leave_one_annotator_out(
    predictions: xr.DataArray,
    annotations: xr.Dataset,
    *,
    alphas: Alphas = (0.1,),
    aggregator: ComponentLike[Aggregator] | None = None,
    calibrator: ComponentLike[Calibrator] = "expected",
    score: ComponentLike[ScoreFunction] = "probability",
    combiner: ComponentLike[PValueCombiner] = "average",
    annotators: Sequence[str] | None = None,
    folds: int = 2,
    cluster: str | None = None,
    interval_method: IntervalMethod = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    only_common: bool = False,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Measure how sets made without each annotator cover what this annotator answers.

    Parameters
    ----------
    predictions, alphas, progress
        See `plausibly.compare`.
    annotations : Dataset
        An annotation table. Answers of unknown annotators are never left out.
    aggregator, calibrator, score, combiner
        See `plausibly.calibrate`.
    annotators : sequence of str, optional
        Annotators to leave out, one at a time; by default all with a response.
    folds : int
        Examples are cut into so many parts; sets for one part are calibrated on the others.
    cluster : str, optional
        Coordinate of the predictions, such as the patient, whose values stay in one part; intervals
        count clusters.
    interval_method, confidence, only_common
        See `plausibly.evaluate`.
    seed : int
        Of the parts, and of what is drawn in calibration.

    Returns
    -------
    Dataset
        By annotator: `count` of examples; `covered_mean`, ``*_low`` and ``*_high``,
        (annotator, alpha), of this annotator's answers; and `others_mean`, what the same sets cover
        of the others' answers to the same examples. Overall, (alpha): `overall_mean`, ``*_low``,
        ``*_high`` and `others_overall_mean`, over examples; `example_covered`, (example, alpha),
        the mean over the annotators of one example, NaN where none of them was left out.

    Raises
    ------
    InputError
        ``annotators-unknown`` where no response has a known annotator, or where one is named that
        is not there; ``option-range``; what calibration says.

    Notes
    -----
    For annotator q and part f, plausibilities are aggregated from all responses but those of q, and
    the predictor is calibrated with them on the examples outside f. The answers of q to example i
    are aggregated alone, by the default of their kind: ``lambda^q``. Covered is
    ``sum_k lambda^q_ik 1[k in C_i]``. Where the annotators of an example are exchangeable, who
    answers does not depend on the example, and the aggregator is linear in responses, the overall
    coverage is at least 1 - alpha on average.
    """
    check_method(interval_method, confidence)
    exact = [float(alpha) for alpha in read_alphas(alphas)]
    model = validate.check_predictions(predictions)
    table = check_table(annotations)
    whole = inputs.as_plausibilities(aggregate(table, aggregator, seed=seed))
    model, _ = inputs.matched(model, whole, only_common, other="annotations")
    table = select_annotations(table, example=model[names.EXAMPLE].values)
    every = name_texts(table[names.ANNOTATOR].values)
    answering = np.unique(table[names.RESPONSE_ANNOTATOR].values)
    there = [every[code] for code in answering[answering >= 0]]
    left_out = there if annotators is None else name_texts(annotators)
    lost = not_among(left_out, there)
    if lost or not there:
        raise InputError(
            "annotators-unknown",
            "the annotators to leave out have no answer",
            expected=f"annotators of single answers: {listed(there) or 'there are none'}",
            found=listed(lost) or "answers of unknown annotators",
            hint="annotators=None for all, or a file of single answers",
        )
    groups = None if cluster is None else inputs.example_values(cluster, (model,))
    hashes = hash_names(model[names.EXAMPLE].values)
    # Whole groups, in the order of their keys, are in one part.
    unit, member = units_of(hashes, groups)
    if not 2 <= folds <= len(unit):
        noun = "examples" if groups is None else "groups"
        expected = f"2 to {counted(len(unit))}, the number of {noun}"
        raise out_of_range("folds", folds, expected=expected, hint="folds=2")
    uniform = Keys(seed).child("left-out-annotator").uniform(unit)[:, 0]
    of_unit = np.empty(len(unit), dtype=np.int64)
    of_unit[np.lexsort((unit, uniform))] = np.arange(len(unit)) * folds // len(unit)
    part, typed = of_unit[member], inputs.as_typed(alphas)
    # Single answers are aggregated by the default of their kind, if there is one.
    alone = None if table.attrs[names.KIND] in DEFAULT_AGGREGATORS else aggregator
    covered = np.full((len(left_out), len(hashes), len(exact)), np.nan)
    others = np.full_like(covered, np.nan)
    with ticking(progress, "leaving annotators out") as tick:
        for place, name in enumerate(left_out):
            single = select_annotations(table, annotator=[name])
            own_rows, own = _lined_up(aggregate(single, alone, unanswered="drop"), model)
            kept = np.flatnonzero(table[names.RESPONSE_ANNOTATOR].values != every.index(name))
            rest = aggregate(Rows.of(table).take(kept), aggregator, seed=seed, unanswered="drop")
            rest_rows, rest_values = _lined_up(rest, model)
            for fold in range(folds):
                test = np.flatnonzero((part == fold) & (own_rows >= 0))
                chosen = np.flatnonzero((part != fold) & (rest_rows >= 0))
                if not test.size or not chosen.size:
                    continue
                with warnings.catch_warnings():
                    if place:  # every calibration warns of the same: once is enough
                        warnings.simplefilter("ignore", PlausiblyWarning)
                    predictor = calibrate(
                        model.isel({names.EXAMPLE: chosen}),
                        rest.isel({names.EXAMPLE: rest_rows[chosen]}),
                        calibrator=calibrator,
                        score=score,
                        combiner=combiner,
                        seed=seed,
                        cluster=cluster,
                    )
                    sets = predictor.predict(model.isel({names.EXAMPLE: test}), typed)
                shared = rest_rows[test] >= 0
                both = test[shared]
                for at, plane in enumerate(inputs.planes_of(sets)):
                    covered[place, test, at] = coverage.aggregated(plane, own[own_rows[test]])
                    others[place, both, at] = coverage.aggregated(
                        plane[shared], rest_values[rest_rows[both]]
                    )
            tick(place + 1, len(left_out))

    # Rows in the order of their keys, so that no sum depends on the caller's order.
    order = inputs.drawn_order(hashes, seed)
    clusters = None if groups is None else inputs.codes_of(groups)[1][order]
    averaging = Averaging(clusters, model.sizes[names.LABEL], interval_method, confidence)

    def summary(values: Doubles) -> list[Interval]:
        """Return the interval of the values that are not NaN, per alpha."""
        return [
            averaging.interval(column, rows=np.flatnonzero(~np.isnan(column)))
            for column in values[order].T
        ]

    mean_covered = _mean(covered)
    by = (names.ANNOTATOR, names.ALPHA)
    return xr.Dataset(
        {
            "count": (names.ANNOTATOR, (~np.isnan(covered[:, :, 0])).sum(axis=1)),
            **variables("covered", list(map(summary, covered)), by),
            **variables("others", list(map(summary, others)), by, ["mean"]),
            **variables("overall", summary(mean_covered), by[1:]),
            **variables("others_overall", summary(_mean(others)), by[1:], ["mean"]),
            "example_covered": ((names.EXAMPLE, names.ALPHA), mean_covered),
        },
        coords={
            names.ANNOTATOR: text_array(left_out),
            names.ALPHA: exact,
            names.EXAMPLE: model[names.EXAMPLE].values,
        },
        attrs={"folds": folds, "seed": seed, "confidence": confidence, "interval": interval_method},
    )


def _lined_up(plausibilities: xr.DataArray, predictions: xr.DataArray) -> tuple[Ints, Floats]:
    """Return the row of each example, -1 for none, and values in the predictions' labels."""
    examples, labels = (name_texts(predictions[dim].values) for dim in (names.EXAMPLE, names.LABEL))
    dense = inputs.as_plausibilities(plausibilities)
    dense = align.match_labels(dense, labels, source="annotations", other="predictions")
    return positions(name_texts(dense[names.EXAMPLE].values), examples), dense.values


def _mean(values: Doubles) -> Doubles:
    """Return the mean over annotators of each example, (example, alpha), NaN for none."""
    there = ~np.isnan(values)
    counts = there.sum(axis=0)
    mean: Doubles = np.where(there, values, 0.0).sum(axis=0) / np.where(counts, counts, np.nan)
    return mean
