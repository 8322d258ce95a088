"""Coverage by label, ambiguity, set size, group, and risk."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.coordinates import coordinates_over
from plausibly.data import names, validate
from plausibly.data.names import is_missing, name_text, name_texts, near, quoted, text_array
from plausibly.data.plausibilities import Plausibilities
from plausibly.errors import InputError, counted, listed
from plausibly.evaluation import inputs
from plausibly.evaluation.inputs import Judged, judge
from plausibly.evaluation.intervals import (
    AGGREGATED,
    SET_SIZE,
    Averaging,
    Doubles,
    IntervalMethod,
    Measures,
    groups_of,
)
from plausibly.kernels.blocks import row_blocks
from plausibly.kernels.coverage import Ties, row_sums
from plausibly.kernels.types import Floats, Ints

_NEARLY = 0.01  # as far as rows of probabilities in files may be from 1
_EXACTLY = 1e-6  # as far as those of plausibilities may be, which stay as they are


def entropy(array: xr.DataArray | xr.Dataset) -> xr.DataArray:
    """Return how spread each distribution over labels is, ``-sum_k p_k log p_k``, in nats.

    Parameters
    ----------
    array : DataArray or Dataset, (example, label)
        Plausibilities, or predictions of scale ``probability`` or ``logit``; each row is divided by
        its sum. Packed plausibilities and annotation tables are read as in `evaluate`.

    Returns
    -------
    DataArray of float64, (example,)
        Named ``entropy``, with the coordinates of the examples; from 0, where one label has
        everything, to log K.

    Raises
    ------
    InputError
        What is wrong with the array; ``entropy-of-scores`` for predictions whose rows are no
        distributions over labels (scale ``any`` or ``independent``).
    """
    table = _distributions(array)
    found = np.empty(len(table.examples))
    for rows in row_blocks(table.stored.shape):
        values = table.stored.take(rows).dense().astype(np.float64)
        shares = values / row_sums(values)[:, None]
        logs = np.log(np.where(shares > 0, shares, 1.0))
        found[rows] = row_sums(-(shares * logs), most=shares.shape[1])
    return _of_examples(table, found, "entropy")


def largest(array: xr.DataArray | xr.Dataset) -> xr.DataArray:
    """Return the largest number of each row, such as the plausibility of the voted label.

    Parameters
    ----------
    array : DataArray or Dataset, (example, label)
        As in `entropy`.

    Returns
    -------
    DataArray of float64, (example,)
        Named ``largest``.
    """
    table = _distributions(array)
    values = table.stored.weight.max(axis=1)
    return _of_examples(table, values.astype(np.float64), "largest")


def _distributions(array: xr.DataArray | xr.Dataset) -> Plausibilities:
    """Return (example, label) rows that are distributions over labels."""
    if isinstance(array, xr.Dataset) or names.SCALE not in array.attrs:
        return inputs.read_plausibilities(_normalised(array))
    table = validate.check_predictions(array)
    scale = table.attrs[names.SCALE]
    if scale == "logit":
        odds = np.exp(table.values - table.values.max(axis=1, keepdims=True))
        shares = odds / row_sums(odds, most=odds.shape[1])[:, None]
        return Plausibilities.of(table.copy(data=shares))
    if scale != "probability":
        raise InputError(
            "entropy-of-scores",
            f"predictions of scale {scale} are no distributions over labels",
            expected="scale probability or logit",
            do="strata of another number of the examples: of=DataArray over example",
            whose="predictions",
        )
    return Plausibilities.of(table)


def _number_of_each(of: str | xr.DataArray, judged: Judged) -> tuple[Doubles, str]:
    """Return the number of each example in the caller's order, and what it is called."""
    if isinstance(of, str):
        called, values = of, inputs.example_values(of, judged.arrays)
    else:
        called = "values" if of.name is None else str(of.name)
        values = _looked_up(of, judged.sets[names.EXAMPLE].values, called)
    if values.dtype.kind not in "biuf":
        raise InputError(
            "strata-of-text",
            f'"{called}" is text, and strata are ranges of numbers',
            expected="a number for each example",
            got=listed(sorted(set(name_texts(values.tolist())))),
            do=f'groups of equal texts: by="{called}" (--by {called})',
            whose=called,
        )
    return values.astype(np.float64), called


def _looked_up(
    values: xr.DataArray, examples: NDArray[np.str_], called: str
) -> NDArray[np.generic]:
    places = inputs.places_of(
        values,
        examples,
        "values-malformed",
        f'the numbers "{called}"',
        do="name the examples: assign_coords(example=...)",
        whose=called,
    )
    found: NDArray[np.generic] = values.values[places]
    lacking = places < 0
    if found.dtype.kind == "f":
        lacking |= np.isnan(found)
    if lacking.any():
        raise inputs.without(
            "values-missing",
            f'"{called}"',
            examples[lacking],
            len(places),
            expected="a number for each example of the sets",
            whose=called,
        )
    return found


def _normalised(array: xr.DataArray | xr.Dataset) -> xr.DataArray | xr.Dataset:
    """Return rows divided by their sums where these are nearly 1, as of probabilities in files."""
    if isinstance(array, xr.Dataset) or names.LABEL not in array.dims or array.dtype.kind != "f":
        return array
    by_label = [[names.LABEL]]
    sums = xr.apply_ufunc(row_sums, array, input_core_dims=by_label, dask="allowed")
    apart = np.abs(sums - 1)
    return array / sums if bool((apart <= _NEARLY).all() & (apart > _EXACTLY).any()) else array


def _of_examples(table: Plausibilities, values: Doubles, name: str) -> xr.DataArray:
    """Return numbers of the examples, under their names and coordinates."""
    about = table.about.coords
    coords = {called: item for called, item in about.items() if names.EXAMPLE in item.dims}
    return xr.DataArray(values, dims=(names.EXAMPLE,), coords=coords, name=name)


def coverage_by_label(
    sets: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    cluster: str | None = None,
    interval: IntervalMethod = "auto",
    confidence: float = 0.95,
    simultaneous: bool = False,
    seed: int = 0,
    only_common: bool = False,
    whose: str = inputs.SETS,
) -> xr.Dataset:
    """Measure which share of the plausibility of each label the sets cover.

    Parameters
    ----------
    sets, plausibilities
        See `plausibly.evaluate`.
    cluster, interval, confidence, seed, only_common, whose
        See `plausibly.evaluate`.
    simultaneous : bool
        Whether the intervals shall hold for all labels together (Bonferroni, over the labels that
        somebody named): so for the question which label is covered least.

    Returns
    -------
    Dataset
        Over the dim ``label``, in the order of the sets: `mass`, ``sum_i lambda_ik``, the evidence
        there is, in examples, and `mass_share`; `examples`, how many give the label any
        plausibility; `covered_mean`, `covered_low` and `covered_high`,
        ``sum_i lambda_ik 1[k in C_i] / sum_i lambda_ik``, ``(label[, alpha])``; `in_sets_mean`,
        ``*_low`` and ``*_high``, the share of the sets that hold the label. NaN where nobody named
        a label.

    Raises
    ------
    InputError
        As `evaluate`.

    Notes
    -----
    ``P(k in C | an expert says k)``. The intervals are those of a ratio (`interval` with weights
    ``lambda_ik``): a label with much mass in few examples has a wide one, whatever its mass. The
    mean of the shares, weighted by `mass`, is the aggregated coverage.
    """
    judged = judge(sets, plausibilities, cluster, interval, confidence, seed, only_common, whose)
    heard = np.array([np.count_nonzero(lam) for lam, _ in judged.columns()])
    among = max(1, int((heard > 0).sum())) if simultaneous else 1
    covered, inside, masses = [], [], []
    for lam, planes in judged.columns():
        covered.append([judged.averaging.interval(plane, lam, among=among) for plane in planes])
        inside.append([judged.averaging.interval(plane, among=among) for plane in planes])
        masses.append(lam.sum())
    mass = np.array(masses)
    found = judged.result(simultaneous=int(simultaneous))
    found = found.assign_coords({names.LABEL: judged.sets[names.LABEL].variable})
    return found.assign(
        {
            "mass": (names.LABEL, mass),
            "mass_share": (names.LABEL, mass / math.fsum(mass)),
            "examples": (names.LABEL, heard),
            **judged.averaging.variables("covered", covered, names.LABEL),
            **judged.averaging.variables("in_sets", inside, names.LABEL),
        }
    )


STRATUM = "stratum"
SIZE = "size"
SINGLE_SIZES = 12
RANGES_FROM = (0, 1, 2, 3, 4, 6, 11, 21, 51, 101, 201, 501, 1001)
_SLACK = 1e-9  # a number this close below an edge is on it: sums of decimals end in any last bit


def coverage_by_strata(
    sets: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    of: str | xr.DataArray,
    *,
    edges: Sequence[float] | None = None,
    quantiles: int | Sequence[float] | None = None,
    ties: Ties = "first",
    cluster: str | None = None,
    interval: IntervalMethod = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    only_common: bool = False,
    whose: str = inputs.SETS,
) -> xr.Dataset:
    """Measure coverage and set size in strata of a number that each example has.

    Parameters
    ----------
    sets, plausibilities
        See `plausibly.evaluate`.
    of : str or DataArray, (example,)
        The number: a coordinate of sets or plausibilities, or by the name of the example, such as
        ``entropy(plausibilities)`` (ambiguity, known only afterwards) or ``entropy(predictions)``
        (known of a new example).
    edges : sequence of float, optional
        Where strata begin, ascending: n edges make n + 1 strata, each with its lower edge.
    quantiles : int or sequence of float, optional
        Instead of edges: into how many parts of equally many examples, or the shares at which to
        cut. Equal numbers stay together, so parts can differ, and there can be fewer of them.
        Halves, where neither is given.
    ties, cluster, interval, confidence, seed, only_common, whose
        See `plausibly.evaluate`.

    Returns
    -------
    Dataset
        Over the dim ``stratum`` (text, with the numbers ``stratum_from`` and ``stratum_to``):
        `count` of examples, and `aggregated_coverage`, `voted_coverage` and `set_size`, each as
        ``*_mean``, ``*_low`` and ``*_high``, ``(stratum[, alpha])``.

    Raises
    ------
    InputError
        As `evaluate`; ``edges-malformed``, ``strata-of-text``.

    Notes
    -----
    Intervals are of each stratum on its own, not of all together, and edges that were chosen after
    looking at the coverage make the weak strata look weaker than they are.
    """
    judged = judge(sets, plausibilities, cluster, interval, confidence, seed, only_common, whose)
    values, called = _number_of_each(of, judged)
    cuts = _cuts(values, edges, quantiles)
    codes = np.digitize(values + _SLACK * max(1.0, float(np.abs(values).max())), cuts)
    found = _parted(judged, judged.averaging, judged.measured(ties), codes, _titles(cuts), STRATUM)
    bounds = [-np.inf, *cuts, np.inf]
    found = found.assign_coords(
        stratum_from=(STRATUM, bounds[:-1]), stratum_to=(STRATUM, bounds[1:])
    )
    return _with(judged.result(of=called, ties=ties), found)


def _parted(
    judged: Judged,
    averaging: Averaging,
    measured: Measures,
    codes: Ints,
    titles: Sequence[str],
    dim: str,
) -> xr.Dataset:
    """Return averages of the parts that codes of the examples, in the caller's order, make."""
    parts = groups_of(codes[judged.order], len(titles))
    outcomes = judged.outcomes(measured)
    return averaging.grouped(outcomes, parts, np.array(titles), dim=dim, count="count")


def _with(about: xr.Dataset, found: xr.Dataset) -> xr.Dataset:
    return about.merge(found, join="exact", compat="no_conflicts")


def coverage_by_size(
    sets: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    starts: Sequence[int] | None = None,
    ties: Ties = "first",
    cluster: str | None = None,
    interval: IntervalMethod = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    only_common: bool = False,
    whose: str = inputs.SETS,
) -> xr.Dataset:
    """Measure coverage by the number of labels in the set.

    Parameters
    ----------
    sets, plausibilities
        See `plausibly.evaluate`.
    starts : sequence of int, optional
        Where ranges of sizes begin, ascending. By default each size on its own, and from 13 labels
        on ranges from 0, 1, 2, 3, 4, 6, 11, 21, 51, 101, 201, 501 and 1,001 labels.
    ties, cluster, interval, confidence, seed, only_common, whose
        See `plausibly.evaluate`.

    Returns
    -------
    Dataset
        Over the dim ``size`` (text, with ``size_from`` and ``size_to``, both inside): `count` of
        sets, and `aggregated_coverage` and `voted_coverage` as ``*_mean``, ``*_low`` and
        ``*_high``, all ``(size[, alpha])``.

    Raises
    ------
    InputError
        As `evaluate`; ``edges-malformed``.

    Notes
    -----
    The size of a set is known of a new example. Size-stratified coverage: Angelopoulos et al.,
    Uncertainty sets for image classifiers using conformal prediction, ICLR 2021.
    """
    judged = judge(sets, plausibilities, cluster, interval, confidence, seed, only_common, whose)
    begins = _starts(len(judged.labels), starts)
    ends = [*(begin - 1 for begin in begins[1:]), len(judged.labels)]
    titles = [str(a) if a == b else f"{a}-{b}" for a, b in zip(begins, ends, strict=True)]
    measured = judged.measured(ties)
    alone = attrs.evolve(judged.averaging, alpha_dims=[])
    planes = []
    for place, sizes in enumerate(measured.pop(SET_SIZE).T):
        one = {name: values[:, [place]] for name, values in measured.items()}
        planes.append(_parted(judged, alone, one, np.digitize(sizes, begins) - 1, titles, SIZE))
    found = planes[0]
    if judged.alpha_dims:
        found = xr.concat(
            planes, dim=names.ALPHA, coords="different", compat="equals", join="exact"
        ).transpose(SIZE, names.ALPHA)
    found = found.assign_coords(size_from=(SIZE, begins), size_to=(SIZE, ends))
    return _with(judged.result(ties=ties), found)


def _cuts(
    values: Floats, edges: Sequence[float] | None, quantiles: int | Sequence[float] | None
) -> list[float]:
    """Return where strata begin, but for the first."""
    if edges is not None:
        if quantiles is not None:
            raise _malformed("edges and quantiles", "one of them", "both")
        return _ascending(edges, "edges")
    parts = 2 if quantiles is None else quantiles
    if isinstance(parts, int):
        if parts < 1:
            raise _malformed("quantiles", "a number of strata from 1 on", str(parts))
        shares = [place / parts for place in range(1, parts)]
    else:
        shares = _ascending(parts, "quantiles")
        if shares and not 0 < shares[0] <= shares[-1] < 1:
            raise _malformed("quantiles", "shares between 0 and 1", listed(parts))
    if not shares:
        return []
    # Numbers that there are, not between them: each stratum holds the number that it begins with.
    cuts = np.unique(np.quantile(values, shares, method="higher"))
    return [float(cut) for cut in cuts if cut > values.min()]


def _ascending(numbers: Sequence[float], what: str) -> list[float]:
    found = [float(number) for number in numbers]
    if any(not a < b for a, b in pairwise(found)) or not np.isfinite(found).all():
        raise _malformed(what, "numbers in ascending order, each once", listed(numbers))
    return found


def _starts(labels: int, starts: Sequence[int] | None) -> list[int]:
    """Return the sizes at which ranges begin; the first is 0."""
    if starts is None:
        begins = range(labels + 1) if labels <= SINGLE_SIZES else RANGES_FROM
        return [begin for begin in begins if begin <= labels]
    asked = _ascending(starts, "starts")
    if any(start != int(start) or not 0 <= start <= labels for start in asked):
        raise _malformed("starts", f"whole numbers from 0 to {labels}", listed(starts))
    return sorted({0, *(int(start) for start in asked)})


def _titles(cuts: Sequence[float]) -> list[str]:
    if not cuts:
        return ["all"]
    short = [f"{cut:.4g}" for cut in cuts]
    if len(set(short)) < len(short):
        short = [repr(cut) for cut in cuts]
    between = [f"{a} to {b}" for a, b in pairwise(short)]
    return [f"below {short[0]}", *between, f"{short[-1]} and more"]


def _malformed(what: str, expected: str, got: str) -> InputError:
    return InputError(
        "edges-malformed",
        f"{what} make no strata",
        expected=expected,
        got=got,
        do="edges=[0.5, 0.8], or quantiles=2 for halves",
        whose=what,
    )


SUBGROUP = "subgroup"
MULTIPLICITY = (
    "the intervals hold for all subgroups together (Bonferroni); the mean of the subgroup that is "
    "covered least is the least of many, and so lower than what it will be on new examples"
)


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
    judged = judge(sets, plausibilities, cluster, interval, confidence, seed, only_common, whose)
    every = list(_subgroups(judged, coordinates, crossed))
    clusters = judged.averaging.clusters
    units = [
        len(rows) if clusters is None else len(np.unique(clusters[rows])) for *_, rows in every
    ]
    kept = [part for part, size in zip(every, units, strict=True) if size >= at_least]
    if not kept:
        noun = "examples" if cluster is None else "clusters"
        fewer = max(1, at_least // 2)
        raise InputError(
            "subgroups-none",
            f"no subgroup by {listed(coordinates)} has {at_least} {noun}",
            expected=f"{at_least} {noun} or more in one subgroup",
            got=f"at most {max(units)}",
            do=f"--at-least {fewer} (at_least={fewer}), or fewer coordinates",
        )
    outcomes = judged.outcomes(judged.measured())
    titles, depths, rows = zip(*kept, strict=True)
    found = judged.averaging.grouped(
        {name: outcomes[name] for name in (AGGREGATED, SET_SIZE)},
        rows,
        text_array(titles),
        dim=SUBGROUP,
        count="count",
        among=len(kept),
    ).drop_vars(["share_empty", "share_singleton"])
    about = judged.result(
        by=", ".join(coordinates),
        compared=len(kept),
        left_out_subgroups=len(every) - len(kept),
        at_least=at_least,
        note=MULTIPLICITY,
    )
    result = _with(about, found.assign_coords(depth=(SUBGROUP, list(depths))))
    high, mean = (
        result[f"{AGGREGATED}_{end}"].values.reshape(len(kept), -1) for end in ("high", "mean")
    )
    least = [np.lexsort(pair)[0] for pair in zip(mean.T, high.T, strict=True)]
    weakest = found[SUBGROUP].values[least]
    result["weakest"] = (judged.alpha_dims, weakest if judged.alpha_dims else weakest[0])
    return result


def _subgroups(
    judged: Judged, coordinates: Sequence[str], crossed: int
) -> Iterator[tuple[str, int, Ints]]:
    """Yield title, depth and rows: of the values of one coordinate first, then of several."""
    coded = {name: inputs.codes_of(judged.coordinate(name)) for name in coordinates}
    for depth in range(1, min(crossed, len(coordinates)) + 1):
        for chosen in combinations(coordinates, depth):
            codes = np.stack([coded[name][1] for name in chosen], axis=1)
            distinct, member = np.unique(codes, axis=0, return_inverse=True)
            parts = groups_of(member.ravel(), len(distinct))
            for values, rows in zip(distinct, parts, strict=True):
                named = zip(chosen, values, strict=True)
                title = ", ".join(f"{name} {name_text(coded[name][0][at])}" for name, at in named)
                yield title, depth, rows


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


Risk: TypeAlias = "str | Mapping[str, object] | xr.DataArray"
"""Levels of the labels: a coordinate over label, or levels by the name of the label."""

LEVEL = "level"
_WORDS = (
    "none, negligible, very low, low, minor, mild, moderate, medium, intermediate, elevated, "
    "major, high, very high, serious, severe, critical, fatal"
)
"""Words for risk, from the least on: levels that are all among them come in this order."""


def coverage_by_risk(
    sets: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    risk: Risk = "risk",
    *,
    order: Sequence[object] | None = None,
    cluster: str | None = None,
    interval: IntervalMethod = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    only_common: bool = False,
    whose: str = inputs.SETS,
) -> xr.Dataset:
    """Measure which share of the plausibility of each risk level the sets miss.

    Parameters
    ----------
    sets, plausibilities
        See `plausibly.evaluate`.
    risk : str, mapping or DataArray, (label,)
        A coordinate of the labels, or levels by label: words such as low, medium and high, or
        numbers. Every label of the sets needs one.
    order : sequence, optional
        The levels from the least on. By default numbers ascend; words that everybody orders alike
        are in that order, and others in that of the alphabet.
    cluster, interval, confidence, seed, only_common, whose
        See `plausibly.evaluate`.

    Returns
    -------
    Dataset
        Over the dim ``level``, from the least on: `labels` of the level, `examples` with any
        plausibility there, `mass` in examples and `mass_share` of all; and `missed`, the share of
        the level's plausibility that lies outside the sets,
        ``sum_i lambda_i(L - C_i) / sum_i lambda_i(L)``, as ``*_mean``, ``*_low`` and ``*_high``,
        ``(level[, alpha])``.

        Where levels are numbers also `risk_missed`, ``*_mean``, ``*_low``, ``*_high`` ([alpha]):
        the mean over examples of ``sum_k r_k lambda_ik 1[k not in C_i]``, the loss that the
        calibrator ``risk`` controls.

    Raises
    ------
    InputError
        As `evaluate`; ``risk-missing`` and ``risk-unknown``.
    """
    judged = judge(sets, plausibilities, cluster, interval, confidence, seed, only_common, whose)
    levels, codes = in_order(levels_of(risk, judged.labels, judged.arrays), order)
    risks = None
    if levels.dtype.kind in "if" and levels.min() >= 0:
        risks = levels[codes].astype(np.float64)
    outside, weights, losses = _outside(judged, codes, len(levels), risks)
    missed = []
    for mass, row in zip(weights, outside, strict=True):
        shares = [np.divide(o, mass, out=np.zeros_like(mass), where=mass > 0) for o in row]
        missed.append([judged.averaging.interval(share, mass) for share in shares])
    found = judged.result(risk=risk if isinstance(risk, str) else "risk")
    found = found.assign_coords({LEVEL: levels})
    found = found.assign(
        {
            "labels": (LEVEL, np.bincount(codes, minlength=len(levels)).astype(np.int64)),
            "examples": (LEVEL, (weights > 0).sum(axis=1).astype(np.int64)),
            "mass": (LEVEL, weights.sum(axis=1)),
            "mass_share": (LEVEL, weights.sum(axis=1) / weights.sum()),
            **judged.averaging.variables("missed", missed, LEVEL),
        }
    )
    if risks is None:
        return found
    most = max(float(risks.max()), np.finfo(np.float64).tiny)
    lost = [judged.averaging.interval(loss, top=most) for loss in losses]
    return found.assign(judged.averaging.variables("risk_missed", lost))


def _outside(
    judged: Judged, codes: NDArray[np.intp], levels: int, risks: Doubles | None
) -> tuple[Doubles, Doubles, Doubles]:
    """Return what sets leave out, from a few examples at a time."""
    n, alphas = len(judged.order), judged.sets.sizes.get(names.ALPHA, 1)
    outside = np.empty((levels, alphas, n))
    weights = np.empty((levels, n))
    losses = np.zeros((alphas, n))
    for rows, lam, planes in judged.blocks():
        for code in range(levels):
            mine = np.flatnonzero(codes == code)
            said = lam[:, mine]
            weights[code, rows] = np.minimum(row_sums(said), 1.0)
            for at, plane in enumerate(planes):
                left = row_sums(np.where(plane[:, mine], 0.0, said))
                outside[code, at, rows] = np.minimum(left, weights[code, rows])
        if risks is not None:
            for at, plane in enumerate(planes):
                losses[at, rows] = row_sums(np.where(plane, 0.0, lam * risks), risks.max())
    return outside, weights, losses


def levels_of(
    risk: Risk, labels: Sequence[str], arrays: Sequence[xr.DataArray | xr.Dataset]
) -> list[object]:
    """Return the level of each label, in the order of the labels."""
    if isinstance(risk, str):
        table = label_coordinate(risk, arrays)
    elif isinstance(risk, xr.DataArray):
        if risk.dims != (names.LABEL,) or names.LABEL not in risk.coords:
            raise InputError(
                "risk-missing",
                "the risk levels are not named by label",
                expected="a DataArray over label, with names, or a mapping of labels to levels",
                got=f"dims {listed(map(str, risk.dims)) or 'none'}",
                do='risk={"melanoma": "high", ...}, or the name of a coordinate over label',
                whose="risk",
            )
        there = name_texts(risk[names.LABEL].values)
        table = dict(zip(there, risk.values.tolist(), strict=True))
    else:
        table = {name_text(label): level for label, level in risk.items()}
    lacking = [label for label in labels if is_missing(table.get(label)) or table[label] == ""]
    if lacking:
        raise InputError(
            "risk-missing",
            f"{counted(len(lacking))} of {counted(len(labels))} labels have no risk level",
            expected="a level for each label of the sets",
            got=f"none for {listed(map(quoted, lacking))}",
            do="add them to the table of labels (--labels), or to the mapping",
            whose="risk",
            details={"labels": lacking},
        )
    return [table[label] for label in labels]


def label_coordinate(name: str, arrays: Sequence[xr.DataArray | xr.Dataset]) -> dict[str, object]:
    """Return a coordinate of the labels, by label, from the first array that has it."""
    for array in arrays:
        if name in array.coords and array[name].dims == (names.LABEL,) and name != names.LABEL:
            here = map(str, array[names.LABEL].values)
            return dict(zip(here, array[name].values.tolist(), strict=True))
    there = sorted(coordinates_over(names.LABEL, arrays))
    guess = near(name, there)
    raise InputError(
        "risk-missing",
        f'the labels have no coordinate "{name}"',
        expected="a coordinate over label",
        got=listed(there) or "none",
        do=f'did you mean "{guess}"?' if guess else "a table of labels that has it (--labels)",
        whose="risk",
        details={"coordinates": there},
    )


def in_order(
    given: Sequence[object], order: Sequence[object] | None
) -> tuple[NDArray[np.generic], NDArray[np.intp]]:
    """Return the levels from the least on, and the code of each label's level."""
    numbers = all(isinstance(level, int | float) for level in given)
    if numbers:
        levels, codes = np.unique(np.array(given), return_inverse=True)
        if order is None:
            return levels, codes
    texts = name_texts(given)
    known = sorted(set(texts))
    if order is not None:
        known_order = name_texts(order)
        lost = [level for level in known if level not in known_order]
        if lost:
            raise InputError(
                "risk-unknown",
                f"labels have the risk level {quoted(lost[0])}, and the order does not",
                expected=f"one of {listed(known_order)}",
                got=listed(map(quoted, lost)),
                do="name every level in order=[...], from the least on",
                whose="risk",
            )
        there = set(texts)
        known = [level for level in known_order if level in there]
    else:
        words = _WORDS.split(", ")
        if all(level.casefold() in words for level in known):
            known.sort(key=lambda level: words.index(level.casefold()))
    places = {level: place for place, level in enumerate(known)}
    codes = np.array([places[text] for text in texts], dtype=np.intp)
    if numbers:
        values = dict(zip(texts, given, strict=True))
        return np.array([values[level] for level in known]), codes
    return text_array(known), codes


SHARE = "share"


def sorted_coverage(
    sets: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    only_common: bool = False,
    whose: str = inputs.SETS,
) -> xr.Dataset:
    """Return realised coverage of every example in ascending order, beside how ambiguous they are.

    Parameters
    ----------
    sets, plausibilities, only_common, whose
        See `plausibly.evaluate`.

    Returns
    -------
    Dataset
        Over the dim ``share``, ``1/n, 2/n, ..., 1``, the share of examples up to this place, each
        sorted on its own, ``(share[, alpha])``: `aggregated_coverage`,
        ``sum_k lambda_ik 1[k in C_i]``; `voted_coverage`, a step function, where a tied vote is its
        first label; `tied_coverage`, where each of L tied labels has credit 1/L; and
        `largest_plausibility`, (share). The attribute `tied_share` is the share of tied votes.

    Raises
    ------
    InputError
        As `evaluate`.

    References
    ----------
    Stutz et al., TMLR 2023, the figures of realised coverage of the main text and the appendix.
    """
    judged = judge(sets, plausibilities, only_common=only_common, whose=whose)
    first, tied = judged.measured("first"), judged.measured("fractional")
    result = judged.result(tied_share=judged.tied_share)
    n = result.attrs["n"]
    result = result.assign_coords({SHARE: np.arange(1, n + 1) / n})
    for name, values in (
        (AGGREGATED, first[AGGREGATED]),
        ("voted_coverage", first["voted_coverage"]),
        ("tied_coverage", tied["voted_coverage"]),
    ):
        found = np.sort(values, axis=0)
        result[name] = ((SHARE, *judged.alpha_dims), found if judged.alpha_dims else found[:, 0])
    result["largest_plausibility"] = (SHARE, np.sort(judged.largest))
    return result
