"""Certainty of annotations, and accuracy under uncertainty, from drawn plausibilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.annotators.measures import ratio
from plausibly.data import names, validate
from plausibly.data.names import name_texts, text_array
from plausibly.data.plausibilities import check_plausibilities, mean_over_draws
from plausibly.errors import InputError
from plausibly.evaluation import inputs, intervals
from plausibly.evaluation.groups import LEVEL, Risk, in_order, levels_of
from plausibly.evaluation.intervals import Averaging, Doubles, Interval
from plausibly.evaluation.result import ENDS
from plausibly.evaluation.splits import out_of_range
from plausibly.kernels.coverage import row_sums
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools, Floats, Hashes

TOP = "top"
_TIED = 1e-9  # relative: plausibilities that should be equal are closer than this


def annotation_certainty(
    plausibilities: xr.DataArray,
    *,
    top: int = 1,
    risk: Risk | None = None,
    order: Sequence[object] | None = None,
    cluster: str | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> xr.Dataset:
    """Measure how certain annotations are of the most plausible labels of each example.

    With draws lambda^1, ..., lambda^m of the plausibilities of one example,
    ``certainty = max_Y 1/m #{j: top_k(lambda^j) = Y}`` over sets Y of k labels, fewer where fewer
    have mass. With k = 1 a draw with tied labels counts in equal parts for each.

    Parameters
    ----------
    plausibilities : DataArray, (draw, example, label)
        Drawn, as by the aggregator ``bootstrap``.
    top : int
        How many labels: 1 for the most plausible one, else the set of so many.
    risk, order
        Levels of the labels, as in `plausibly.evaluation.ByRisk`: certainty of the levels that the
        first labels have, too.
    cluster, confidence
        Of the intervals, see `plausibly.evaluate`.
    seed : int
        Of the order in which tied labels are taken where `top` is 2 or more.

    Returns
    -------
    Dataset
        `certainty` (example); `mean`, `low` and `high` of it over examples; `first` (example,
        label), the share of draws in which the label is the most plausible one. With `risk`,
        `level_certainty` (example) with `level_mean`, ``*_low``, ``*_high``, and `first_level`
        (example, level).

    Raises
    ------
    InputError
        ``draws-missing``, ``option-range``, and what is wrong with plausibilities or levels.

    References
    ----------
    Stutz et al., Evaluating AI systems under uncertain ground truth: a case study in dermatology,
    arXiv 2307.02191.
    """
    intervals.check_method("auto", confidence)
    plausibilities = _drawn(plausibilities)
    labels = name_texts(plausibilities[names.LABEL].values)
    hashes = hash_names(plausibilities[names.EXAMPLE].values)
    _check_top((top,), len(labels))
    first = np.zeros(plausibilities.shape[1:])
    for plane in plausibilities.values:
        first += _leading(plane)
    first /= plausibilities.sizes[names.DRAW]
    means = _means(hashes, cluster, (plausibilities,), confidence)
    members = None
    if top > 1:
        # Which labels are the first ones of each draw: (draw, example, label).
        members = np.zeros(plausibilities.shape, dtype=bool)
        keys, by_name = Keys(seed).child("certainty"), np.argsort(np.argsort(text_array(labels)))
        for draw, plane in enumerate(plausibilities.values):
            uniform = keys.child(f"ties-{draw}").uniform(hashes, len(labels))[:, by_name]
            last = np.sort(plane, axis=1)[:, -top, None]
            above, tied = plane > last * (1 + _TIED), plane >= last * (1 - _TIED)
            place = np.lexsort((uniform, -(1 * above + tied)), axis=1)[:, :top]
            np.put_along_axis(members[draw], place, True, axis=1)
        if top < len(labels):
            members &= plausibilities.values > 0
    certain = first.max(axis=1) if members is None else _agreeing(members)
    mean = means(certain)
    result = xr.Dataset(
        {
            "certainty": (names.EXAMPLE, certain),
            "first": ((names.EXAMPLE, names.LABEL), first),
            **{end: getattr(mean, end) for end in ENDS},
        },
        coords={names.EXAMPLE: plausibilities[names.EXAMPLE].values, names.LABEL: labels},
        attrs={
            "draws": plausibilities.sizes[names.DRAW],
            TOP: top,
            "seed": seed,
            "confidence": confidence,
        },
    )
    if risk is None:
        return result
    levels, codes = in_order(levels_of(risk, labels, (plausibilities,)), order)
    of_level = _by_level(first, codes, len(levels))
    level = of_level.max(axis=1)
    if members is not None:
        mine = [members[..., codes == code].any(axis=-1) for code in range(len(levels))]
        level = _agreeing(np.stack(mine, axis=-1))
    return result.assign_coords({LEVEL: levels}).assign(
        {
            "level_certainty": (names.EXAMPLE, level),
            "first_level": ((names.EXAMPLE, LEVEL), of_level),
            **intervals.variables("level", means(level), ()),
        }
    )


def uncertainty_adjusted_accuracy(
    predictions: xr.DataArray,
    plausibilities: xr.DataArray,
    *,
    top: Sequence[int] | int = 1,
    risk: Risk | None = None,
    order: Sequence[object] | None = None,
    cluster: str | None = None,
    confidence: float = 0.95,
    only_common: bool = False,
) -> xr.Dataset:
    """Measure top-k accuracy against every draw of the plausibilities instead of one vote.

    ``1/m sum_j 1[argmax lambda_i^j in top_k(pi_i)]``, the mean over examples. Tied labels count in
    equal parts, in draws and in predictions.

    Parameters
    ----------
    predictions : DataArray, (example, label)
    plausibilities, risk, order, cluster, confidence
        See `annotation_certainty`; `risk` for accuracy by the level of the most plausible label.
    top : int or sequence of int
        How many labels of the predictions count.
    only_common : bool
        Leave out the examples that only one side has, instead of refusing.

    Returns
    -------
    Dataset
        Over the dim ``top``: `accuracy_mean`, ``*_low`` and ``*_high`` over examples;
        `majority-vote`, the accuracy for the vote of the mean plausibilities; `draw_accuracy`
        (draw, top); and `example_accuracy` (example, top). With `risk`, over ``level``:
        `level_mass`, in examples, and `level_accuracy` (level, top), of the examples whose most
        plausible label has the level.

    Raises
    ------
    InputError
        ``draws-missing``, ``option-range``, and where inputs do not match or are not usable.

    References
    ----------
    Stutz et al., arXiv 2307.02191.
    """
    intervals.check_method("auto", confidence)
    model = validate.check_predictions(predictions)
    plausibilities = _drawn(plausibilities)
    labels = name_texts(model[names.LABEL].values)
    tops = [top] if isinstance(top, int) else list(top)
    _check_top(tops, len(labels))
    model, plausibilities = inputs.matched(model, plausibilities, only_common)
    plausibilities = plausibilities.transpose(names.DRAW, names.EXAMPLE, names.LABEL)
    hashes = hash_names(model[names.EXAMPLE].values)
    means = _means(hashes, cluster, (model, plausibilities), confidence)
    # The chance that a label is among the first k, ties broken at random: (example, label, top).
    held = np.empty((*model.shape, len(tops)))
    for column, k in enumerate(tops):
        last = np.sort(model.values, axis=1)[:, -k, None]
        above, equal = model.values > last, model.values == last
        left = k - above.sum(axis=1, keepdims=True)
        held[..., column] = above + equal * (left / equal.sum(axis=1, keepdims=True))
    place = np.argsort(hashes, kind="stable")
    draws = plausibilities.sizes[names.DRAW]
    draw_accuracy, first = np.empty((draws, len(tops))), np.zeros(held.shape[:2])

    def accuracies(leading: Doubles) -> Doubles:
        """Return means over examples, added in an order of their names."""
        averages: Doubles = np.ascontiguousarray(_credited(leading, held)[place]).mean(axis=0)
        return averages

    for draw, plane in enumerate(plausibilities.values):
        leading = _leading(plane)
        first += leading
        draw_accuracy[draw] = accuracies(leading)
    first /= draws
    accuracy = _credited(first, held)
    vote = accuracies(_leading(mean_over_draws(plausibilities).values.astype(np.float64)))
    named = plausibilities.coords.get(names.DRAW)
    result = xr.Dataset(
        {
            **intervals.variables("accuracy", list(map(means, accuracy.T)), (TOP,)),
            "majority-vote": (TOP, vote),
            "draw_accuracy": ((names.DRAW, TOP), draw_accuracy),
            "example_accuracy": ((names.EXAMPLE, TOP), accuracy),
        },
        coords={
            TOP: tops,
            names.DRAW: np.arange(1, draws + 1) if named is None else named.values,
            names.EXAMPLE: model[names.EXAMPLE].values,
        },
        attrs={"draws": draws, "confidence": confidence},
    )
    if risk is None:
        return result
    levels, codes = in_order(levels_of(risk, labels, (model, plausibilities)), order)
    mass = _by_level(first, codes, len(levels))[place].sum(axis=0)
    mine = [codes == code for code in range(len(levels))]
    hits = np.stack([_credited(first[:, m], held[:, m])[place].sum(axis=0) for m in mine])
    shares = ratio(hits, mass[:, None])
    return result.assign_coords({LEVEL: levels}).assign(
        {"level_mass": (LEVEL, mass), "level_accuracy": ((LEVEL, TOP), shares)}
    )


def _drawn(plausibilities: xr.DataArray) -> xr.DataArray:
    """Return plausibilities (draw, example, label), or raise ``draws-missing``."""
    array = check_plausibilities(plausibilities)
    if names.DRAW not in array.dims:
        raise InputError(
            "draws-missing",
            "plausibilities have no draws: they say nothing of how uncertain they are",
            expected="dims draw, example and label",
            found="example, label",
            hint='plausibly.aggregate(ann, {"name": "bootstrap", "draws": 100})',
            source="plausibilities",
        )
    return array


def _check_top(tops: Sequence[int], labels: int) -> None:
    bad = [top for top in tops if not 1 <= top <= labels]
    if bad or not tops:
        value = bad[0] if bad else "none"
        raise out_of_range("top", value, expected=f"1 to {labels}", hint="top=1")


def _leading(values: Floats) -> Doubles:
    """Return what each label has of the first place, (example, label): tied ones equal parts."""
    most = values.max(axis=-1, keepdims=True)
    tied = values >= most * (1 - _TIED)
    shares: Doubles = tied / tied.sum(axis=-1, keepdims=True)
    return shares


def _credited(first: Doubles, held: Doubles) -> Doubles:
    """Return the share of the first place that is among the labels that count: (example, top)."""
    return row_sums(np.moveaxis(first[..., None] * held, 1, -1))


def _agreeing(members: Bools) -> Doubles:
    """Return the share of draws that have the most frequent of their sets: (example,)."""
    packed = np.moveaxis(np.packbits(members, axis=-1), 1, 0)
    counts = [np.unique(sets, axis=0, return_counts=True)[1].max() for sets in packed]
    return np.array(counts) / len(members)


def _by_level(first: Doubles, codes: NDArray[np.intp], levels: int) -> Doubles:
    return np.stack([row_sums(first[:, codes == code]) for code in range(levels)], axis=1)


def _means(
    hashes: Hashes, cluster: str | None, arrays: Sequence[xr.DataArray], confidence: float
) -> Callable[[Doubles], Interval]:
    """Return a function from numbers of examples to their mean with its interval."""
    order, clusters = np.argsort(hashes, kind="stable"), None
    if cluster is not None:
        clusters = inputs.codes_of(inputs.example_values(cluster, arrays))[1][order]
    averaging = Averaging(clusters, 0, "auto", confidence)
    return lambda values: averaging.interval(np.clip(values[order], 0.0, 1.0))
