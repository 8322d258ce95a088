"""Coverage of prediction sets: per example, on average, and by group."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Literal, TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.data import group_names
from plausibly.conformal.inputs import GUARANTEES, OVERLAP
from plausibly.data import names
from plausibly.data.names import is_lazy, text_array
from plausibly.data.states import read_left_out
from plausibly.errors import InputError, counted
from plausibly.evaluation import inputs, intervals
from plausibly.evaluation.inputs import (
    EMPTY_MISSES,
    HOLES,
    ORDINAL_GAP,
    EvaluationInputs,
    prepare,
)
from plausibly.evaluation.intervals import ROUGH, Doubles, IntervalMethod, Measures, groups_of
from plausibly.evaluation.result import (
    AGGREGATED,
    ENDS,
    MOST_GROUPS,
    MOST_LINES,
    SET_SIZE,
    Result,
    alpha_of,
    data_of,
    decimal,
    each,
    ends,
    figure_line,
    figures,
    group_title,
    head_line,
    number,
    planes,
    wrapped,
)
from plausibly.evaluation.splits import check_option
from plausibly.guarantee import BY_LABEL, Guarantee, bounded
from plausibly.io.accept import AnswersLike, SetsLike, as_answers, as_sets
from plausibly.kernels.coverage import TIES, Ties
from plausibly.kernels.types import Ints
from plausibly.text import percent

AMBIGUITY = "ambiguity"
STRATA = ("below 0.5", "0.5 to 0.8", "0.8 and above")
STRATA_FROM = (0.5, 0.8)
_STRATUM, _GROUP = "stratum_", "group_"
GUARANTEED, CELL = "guaranteed", "guaranteed_cell"
COVERAGE = {
    "aggregated": AGGREGATED,
    "majority-vote": "majority_vote_coverage",
    "mass": "mass_coverage",
}
"""Measured coverage by target of the guarantee."""
_SLACK = 1e-6  # Tolerance for sums of decimals: 0.1 + 0.7 == 0.7999999999999999.


class Evaluation(Result):
    """Coverage and size of prediction sets, from `plausibly.evaluate`: prints table and verdict."""

    @property
    def coverage(self) -> xr.DataArray:
        """Mean coverage of all answers, ([alpha])."""
        return self.data[f"{AGGREGATED}_mean"]

    @property
    def set_size(self) -> xr.DataArray:
        """Mean number of labels per set, ([alpha])."""
        return self.data[f"{SET_SIZE}_mean"]

    def summary(self) -> list[str]:
        every = planes(self.data)
        if len(every) == 1:
            return super().summary()
        parts = []
        for plane in every[: MOST_LINES // 2]:
            title = f"alpha {alpha_of(plane):g}"
            figure = _figure(plane, AGGREGATED, title)
            parts.append((figure.rough, _line(figure), wrapped(_verdict(plane, weak=False), title)))
        while True:  # as many alphas as have room for their verdicts
            rough, rows, verdicts = zip(*parts, strict=True)
            lines = [head_line("", self.data, "examples", "coverage", "set size"), *chain(*rows)]
            lines += [*([_ROUGH_LINE] if any(rough) else []), *chain(*verdicts)]
            if more := len(every) - len(parts):
                lines.append(f"({more} more values of alpha: .lines())")
            if len(lines) <= MOST_LINES or len(parts) == 1:
                return lines
            parts.pop()

    def block(self, plane: xr.Dataset) -> list[str]:
        alpha = alpha_of(plane)
        there = [quantity for quantity in QUANTITIES.items() if f"{quantity[0]}_mean" in plane]
        tables = [("", [_figure(plane, *quantity) for quantity in there])]
        if "by" in plane.attrs:
            groups = _parts(plane, str(plane.attrs["by"]), _GROUP, "  ")
            title = group_title(plane.attrs["by"], len(groups))
            if len(groups) > MOST_GROUPS:
                groups = sorted(groups, key=lambda group: group.mean)[:MOST_GROUPS]
            tables.append((title, groups))
        strata = _parts(plane, AMBIGUITY, _STRATUM, "  ")
        tables.append(("by ambiguity (share of the most frequent answer)", strata))
        head = "" if alpha is None else f"alpha {alpha:g}"
        lines = [head_line(head, plane, "examples", "coverage", "set size")]
        for title, rows in tables:
            lines += [title] if title else []
            lines += [line for row in rows for line in _line(row)]
        rough = any(row.rough for _, rows in tables for row in rows)
        along = HOLES in plane
        if rough or (along and bool(plane.get(f"{ORDINAL_GAP}_{ROUGH}", False))):
            lines.append(_ROUGH_LINE)
        elif bool(plane.get(f"{GUARANTEED}_{ROUGH}", np.False_).any()):
            lines.append(f"The interval of the guarantee is rough: {_ROUGHNESS}")
        lines += wrapped(_along_order(plane), "order") if along else []
        return [*lines, *wrapped(_verdict(plane), "verdict")]

    def verdict(self) -> str:
        """Return one paragraph per alpha: whether the sets cover what is guaranteed.

        A guarantee for each site (where it is what `by` names) or label is checked in each, and one
        for a new patient by the mean over patients of the means within.
        """
        return "\n".join(_verdict(plane) for plane in planes(self.data))

    def to_json(self) -> dict[str, object]:
        attributes = self.attrs
        attributes.pop(GUARANTEES, None)  # each result has its own
        left_out = {names.LEFT_OUT: read_left_out(self.data.attrs)}
        results = []
        for plane in planes(self.data):
            guarantee = _guarantee(plane)
            parts = [("strata", AMBIGUITY, _STRATUM)]
            if "by" in plane.attrs:
                parts.append(("groups", str(plane.attrs["by"]), _GROUP))
            result: dict[str, object] = {"alpha": alpha_of(plane), **_figures(plane)}
            for title, dim, prefix in parts:
                result[title] = [
                    {dim: part[dim].item(), "n": int(part[f"{prefix}n"]), **_figures(part, prefix)}
                    for part in each(plane, dim)
                ]
            result["guarantee"] = None if guarantee is None else guarantee.to_json()
            if f"{GUARANTEED}_mean" in plane:
                result[GUARANTEED] = [
                    {
                        **({"cell": title} if CELL in plane.dims else {}),
                        **{end: number(part[f"{GUARANTEED}_{end}"]) for end in ("n", *ENDS)},
                    }
                    for title, part in _cells(plane)
                ]
            results.append({**result, "verdict": _verdict(plane)})
        return {
            "n": int(self.data["n"]),
            **attributes,
            **(left_out if names.LEFT_OUT in attributes else {}),
            "results": results,
        }


def evaluate(
    sets: SetsLike,
    plausibilities: AnswersLike,
    *,
    ties: Ties = "first",
    true_label: str | xr.DataArray | None = None,
    by: str | None = None,
    cluster: str | None = None,
    interval: IntervalMethod = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    only_common: bool = False,
) -> Evaluation:
    """Measure what prediction sets cover, how large they are, and where they are weak.

    Parameters
    ----------
    sets : DataArray of bool, (example, label[, alpha]), or path
        Returned by `ConformalPredictor.predict`; in memory or in chunks (Dask).
    plausibilities : DataArray or Dataset, (example, label), path or data frame
        Dense or sparse plausibilities, or an annotation table, which is aggregated by the default
        of its kind; a path or a data frame is read as annotations. Aligned by name.
    ties : {"first", "random", "fractional", "any", "all"}
        When a majority vote is covered where several labels share the largest plausibility: the
        first of them in the label order of the sets, one drawn for the example, each with credit
        1/L, any of them, or all.
    true_label : str or DataArray, (example,), optional
        Known labels: a coordinate of the sets or plausibilities, or label names by example.
    by : str, optional
        Coordinate of the examples: everything is reported for each of its values too.
    cluster : str, optional
        Coordinate of the examples, such as the patient: intervals count clusters, not examples.
    interval, confidence
        See `plausibly.evaluation.intervals.interval`.
    seed : int
        For ``ties="random"`` and for the order in which ``interval="betting"`` reads examples.
    only_common : bool
        Leave out the examples that only one side has, instead of refusing.

    Returns
    -------
    Evaluation
        Prints its table and verdict. In `data`, by example, (example[, alpha]):
        `aggregated_coverage` = ``sum_k lambda_k 1[k in C(x)]``, `majority_vote_coverage`,
        `true_coverage` (with `true_label`), `mass_coverage` (whether the set holds the share that
        calibrator ``mass-coverage`` guarantees), `set_size`, and `largest_plausibility`. On
        average, ([alpha]): ``*_mean``, ``*_low`` and ``*_high`` of these, `share_empty`,
        `share_singleton` and `n`. Where the labels have an order (a coordinate ``order`` of theirs,
        or that of score ``ordinal``): `ordinal_gap_mean`, ``*_low`` and ``*_high``, the mean number
        of steps from a missed answer to the nearest label of its set; `share_missed_by_empty`, the
        share of the missed answers whose set is empty, which `ordinal_gap_mean` leaves out;
        `share_with_holes`, of the sets. Coverage and size also with the prefix ``stratum_`` over
        the dim ``ambiguity`` (strata of the largest plausibility), and with ``group_`` over a dim
        that is called as `by`, with intervals that hold for all groups together (Bonferroni).

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
    check_option("tie policy", ties, TIES, 'ties="first"')
    prepared = prepare(
        as_sets(sets),
        as_answers(plausibilities),
        cluster,
        interval,
        confidence,
        seed,
        only_common,
        in_chunks=True,
    )
    order, averaging = prepared.order, prepared.averaging
    codes = inputs.true_codes(true_label, prepared.arrays, prepared.labels)
    groups = None
    if by is not None:
        groups = inputs.codes_of(inputs.example_values(by, prepared.arrays)[order])
    # The guaranteed share of the plausibilities at each alpha, where there is one.
    stated = inputs.guarantees_of(prepared.attrs)
    by_alpha = {float(guarantee.alpha): guarantee.share for guarantee in stated}
    alphas = prepared.sets.coords.get(names.ALPHA, np.array([]))
    wanted = [by_alpha.get(float(alpha)) for alpha in alphas]
    shares = np.array(wanted, dtype=np.float64) - _SLACK if wanted and None not in wanted else None
    measured = prepared.measured(ties, codes, shares)
    outcomes = prepared.outcomes(measured)
    tied = float(measured.tied.mean())
    result = prepared.result(ties=ties, tied_share=tied, **({} if by is None else {"by": by}))
    del result.attrs["n"]
    result = result.assign_coords({names.EXAMPLE: prepared.sets[names.EXAMPLE].values})
    if prepared.label_order is not None:
        steps, weights = inputs.steps_of_misses(outcomes)
        # A missed answer is one step away or more: the interval is of the further steps.
        top = max(len(prepared.labels) - 2.0, np.finfo(np.float64).tiny)
        gaps = []
        for column, weight in zip(steps.T, weights.T, strict=True):
            gap = averaging.interval(column - 1.0, weight, top=top)
            gaps.append(
                attrs.evolve(gap, mean=1.0 + gap.mean, low=1.0 + gap.low, high=1.0 + gap.high)
            )
        along = inputs.figures_along_order(outcomes)
        singles = {name: (names.ALPHA, along[name]) for name in (EMPTY_MISSES, HOLES)}
        result = result.assign({**averaging.variables(ORDINAL_GAP, gaps), **singles})
    for name in outcomes:
        values = measured.outcomes[name]
        kept = values.astype(np.int64) if name == SET_SIZE else values
        result[name] = ((names.EXAMPLE, names.ALPHA), kept)
    result["largest_plausibility"] = (names.EXAMPLE, measured.largest)
    whole = np.zeros(len(order), dtype=np.intp)
    parts: list[tuple[str, str, NDArray[np.generic], Ints]] = [
        ("whole", "", np.array(["all"]), whole),
        (AMBIGUITY, _STRATUM, np.array(STRATA), stratum_of(measured.largest)[order]),
    ]
    if by is not None and groups is not None:
        parts.append((by, _GROUP, *groups))
    for dim, prefix, titles, of in parts:
        if dim in result.variables or dim in result.dims:
            raise InputError(
                "coordinate-reserved",
                f'the result has a variable of its own called "{dim}"',
                expected="a coordinate with another name",
                found=dim,
                hint=f'rename it: assign_coords({{"example_{dim}": ...}})',
            )
        rows = groups_of(of, len(titles))
        # Intervals of groups are compared with each other, and hold for all of them together.
        among = len(titles) if prefix == _GROUP else 1
        grouped = averaging.grouped(outcomes, rows, titles, dim=dim, prefix=prefix, among=among)
        result.update(grouped if prefix else grouped.isel({dim: 0}, drop=True))
    if stated and (stated[0].by or stated[0].cluster):
        result.update(_guaranteed(prepared, stated[0], outcomes, by, groups))
    return Evaluation(prepared.squeezed(result))


def stratum_of(largest: Doubles) -> NDArray[np.intp]:
    """Return the place in `STRATA` of examples with these largest plausibilities, (example,)."""
    return np.digitize(largest + _SLACK, STRATA_FROM)


def _guaranteed(
    prepared: EvaluationInputs,
    guarantee: Guarantee,
    outcomes: Measures,
    by: str | None,
    groups: tuple[NDArray[np.generic], Ints] | None,
) -> xr.Dataset:
    """Return the guaranteed mean, measured: of each group or label, or of new clusters."""
    name = COVERAGE.get(guarantee.target, "")
    if name not in outcomes:
        return xr.Dataset()
    by_label, averaging, units = guarantee.by == BY_LABEL, prepared.averaging, None
    in_chunks = is_lazy(prepared.sets) or prepared.plausibilities.in_chunks
    if in_chunks if by_label else guarantee.by not in ("", by):
        return xr.Dataset()
    if guarantee.cluster:
        values = inputs.known_values(guarantee.cluster, prepared.arrays)
        if values is None:
            return xr.Dataset()
        units = inputs.codes_of(values[prepared.order])[1]
        averaging = attrs.evolve(averaging, clusters=units)

    def cells() -> Iterator[tuple[str, Doubles, Sequence[Doubles]]]:
        """Yield each group or label with the weights of its examples, one outcome per alpha."""
        columns = list(outcomes[name].T)
        if by_label:
            voted = guarantee.target == "majority-vote"
            votes = prepared.plausibilities.stored.argmax()[prepared.order] if voted else None
            for code, (label_weights, held) in enumerate(prepared.columns()):
                yield (
                    prepared.labels[code],
                    label_weights if votes is None else (votes == code) * 1.0,
                    held,
                )
        elif groups is not None and guarantee.by:
            titles = group_names(groups[0])
            for title in sorted({*titles.tolist(), *(title for title, _ in guarantee.groups)}):
                yield title, (titles == title)[groups[1]] * 1.0, columns
        else:
            yield "", np.ones(len(prepared.order)), columns

    among = max(1, sum(bool(weights.any()) for _, weights, _ in cells()))
    titles, counts, rows = [], [], []
    for title, weights, columns in cells():
        titles.append(title)
        counts.append(float(weights.sum()))
        if units is not None:
            sizes = np.bincount(units, weights=weights)[units]
            weights = np.divide(weights, sizes, out=np.zeros(len(sizes)), where=sizes > 0)
        rows.append([averaging.interval(outcome, weights, among=among) for outcome in columns])
    result = xr.Dataset(
        {
            f"{GUARANTEED}_n": (CELL, counts),
            **intervals.variables(GUARANTEED, rows, (CELL, names.ALPHA), (*ENDS, ROUGH)),
        },
        coords={CELL: text_array(titles)},
    )
    return result if guarantee.by else result.isel({CELL: 0}, drop=True)


# ---- the table, the verdict, and JSON

QUANTITIES = {
    AGGREGATED: "all answers",
    "majority_vote_coverage": "majority vote",
    "true_coverage": "true label",
    "mass_coverage": "enough answers",
}
Standing: TypeAlias = Literal["vacuous", "kept", "in line", "short", "broken"]
_AGAINST: dict[Standing, str] = {  # the worst first
    "broken": "below the guarantee",
    "short": "below the guarantee",
    "in line": "consistent with the guarantee",
    "kept": "at or above the guarantee",
}
_ROUGHNESS = "fewer than ten clusters, or nearly all outcomes equal"
_ROUGH_LINE = f"* a rough interval: {_ROUGHNESS}"
_ROUNDING = 1e-9
_WIDE = 0.1  # an interval this wide tells little


@attrs.frozen
class Figure:
    title: str
    n: int
    mean: float
    low: float
    high: float
    set_size: float
    rough: bool


def _figure(plane: xr.Dataset, quantity: str, title: str = "", prefix: str = "") -> Figure:
    size = float(plane.get(f"{prefix}{SET_SIZE}_mean", math.nan))
    n = int(plane[f"{GUARANTEED}_n" if prefix == GUARANTEED else f"{prefix}n"])
    rough = bool(plane.get(f"{prefix}{quantity}_{ROUGH}", False))
    return Figure(title, n, *figures(plane, f"{prefix}{quantity}"), size, rough)


def _line(row: Figure) -> list[str]:
    size = decimal(row.set_size, 2)
    return figure_line(
        row.title, counted(row.n), (row.mean, row.low, row.high), size, rough=row.rough
    )


def _parts(plane: xr.Dataset, dim: str, prefix: str, indent: str = "") -> list[Figure]:
    """Return the coverage of all answers of each group."""
    parts = each(plane, dim)
    return [_figure(part, AGGREGATED, f"{indent}{part[dim].item()}", prefix) for part in parts]


def _along_order(plane: xr.Dataset) -> str:
    """Return how far the sets are, along ordered labels, from the answers that they miss."""
    gap = _figure(plane, ORDINAL_GAP)
    empty, holes = float(plane[EMPTY_MISSES]), float(plane[HOLES])
    text = f"{percent(holes)} of the sets have holes" if holes else "no set has a hole"
    if not math.isnan(gap.mean):
        between = ends(gap.low, gap.high, 2)
        text += f"; a missed answer is {decimal(gap.mean, 2)} steps from the set on average"
        text += f" ({between}{' *' * gap.rough})"
    if empty > 0:
        text += f", not counting {percent(empty)} of the missed answers, where the set is empty"
    return text


def _guarantee(plane: xr.Dataset) -> Guarantee | None:
    stated, alpha = inputs.guarantees_of(plane.attrs), alpha_of(plane)
    if alpha is None:
        return stated[0] if len(stated) == 1 else None
    return next((guarantee for guarantee in stated if float(guarantee.alpha) == alpha), None)


def _verdict(plane: xr.Dataset, *, weak: bool = True) -> str:
    """Return how what was measured at one alpha compares with the guarantee."""
    guarantee = _guarantee(plane)
    answers = decimal(_figure(plane, AGGREGATED).mean)
    if guarantee is None or guarantee.level is None:
        text = f"No guarantee; the sets cover {answers} of the answers."
    elif guarantee.target == "risk":
        text = (
            f"Guaranteed: {guarantee.statement()}; coverage_by with ByRisk measures "
            f"it. Coverage is not guaranteed: {answers} of the answers."
        )
    elif f"{COVERAGE[guarantee.target]}_mean" not in plane:
        text = (
            f"Guaranteed: {guarantee.statement()}; not checked. The sets cover "
            f"{answers} of the answers."
        )
    else:
        verdict = judgement(plane, guarantee)
        text = f"{verdict.words[0].upper()}{verdict.words[1:]}"
        if not guarantee.vacuous:
            of = {
                "majority-vote": " of the majority votes",
                "mass": f" of sets with {bounded(guarantee.share or 1)} of the answers",
            }.get(guarantee.target, "")
            measured = _figure(plane, COVERAGE[guarantee.target])
            if guarantee.cluster and verdict.covered and not guarantee.by:
                measured, of = verdict.covered, f'{of} of a new "{guarantee.cluster}"'
            text += f": {guarantee.bound()}{of} {how_sure(guarantee)}"
            text += f", measured {decimal(measured.mean)}{verdict.remark}"
        text += "."
        if guarantee.target == "majority-vote":
            text += f" The coverage of all answers, {answers}, is not guaranteed."
        if guarantee.target == "aggregated" and not guarantee.by and weak:
            text += _weak(plane, float(guarantee.level))
    if overlap := int(plane.attrs.get(OVERLAP, 0)):
        text += f" {counted(overlap)} of the examples calibrated the predictor: no evidence."
    return text


def how_sure(guarantee: Guarantee) -> str:
    """Return whether a guarantee holds on average over calibrations, or for most of them."""
    if guarantee.confidence is None:
        return "on average"
    return f"on average, with probability {bounded(guarantee.confidence)} over the calibration"


def _weak(plane: xr.Dataset, level: float) -> str:
    """Return where the sets cover clearly less than the guaranteed average."""
    text = ""
    if "by" in plane.attrs:
        by = str(plane.attrs["by"])
        lowest = min(_parts(plane, by, _GROUP), key=lambda group: group.mean)
        if lowest.high < level:
            text += (
                f" Lowest {by}: {lowest.title}, {decimal(lowest.mean)} "
                f"({ends(lowest.low, lowest.high)}, {names.several(lowest.n, 'example')}), "
                f"shown to be below {level:.2f}."
            )
        else:
            text += f" No {by} is shown to be below {level:.2f}; the lowest is {lowest.title}."
    strata = [stratum for stratum in _parts(plane, AMBIGUITY, _STRATUM) if stratum.n]
    if len(strata) > 1 and strata[0].high < level:
        text += (
            f" Coverage is lowest where annotators disagree most: {decimal(strata[0].mean)} "
            f"({names.several(strata[0].n, 'example')}). Whether a new example is one of these "
            "cannot be told in advance."
        )
    return text


@attrs.frozen
class Judgement:
    stands: Standing | None
    covered: Figure | None
    words: str
    remark: str = ""


def judgement(evaluation: xr.Dataset | Evaluation, guarantee: Guarantee) -> Judgement:
    """Return how an evaluation at one alpha compares with a guarantee, see `Evaluation.verdict`."""
    plane = data_of(evaluation)
    if guarantee.vacuous:
        return Judgement("vacuous", None, "vacuous: every set contains all labels")
    if not guarantee.by and not guarantee.cluster:
        cells = [_figure(plane, COVERAGE[guarantee.target])]
    elif f"{GUARANTEED}_mean" not in plane:
        how = f"for {guarantee.per} (load() sets and plausibilities to check it)"
        if guarantee.by not in ("", BY_LABEL, plane.attrs.get("by", "")):
            how = f'for {guarantee.per} (by="{guarantee.by}")'
        elif guarantee.cluster:
            new = f'"{guarantee.cluster}"'
            how = f"for a new {new}, and the examples have no coordinate {new}"
        return Judgement(None, None, f"not checked, as the guarantee is {how}")
    else:
        cells = [_figure(part, "", title, GUARANTEED) for title, part in _cells(plane)]
    there = [cell for cell in cells if not math.isnan(cell.mean)]
    if not there:
        return Judgement(None, None, "not checked, without test examples")
    sizes = dict(guarantee.groups) or {"": guarantee.has}
    level = float(guarantee.level or 0)

    def standing(cell: Figure) -> Standing:
        from scipy.special import ndtr, ndtri

        if cell.low >= level - _ROUNDING:
            return "kept"
        if cell.high >= level - _ROUNDING:
            return "in line"
        spread, has = 0.0, sizes.get(cell.title, 0)
        if guarantee.confidence is None and has:
            # Two deviations for one coverage, and as unlikely a distance for the lowest of several.
            times = 2.0 if len(there) == 1 else -float(ndtri(ndtr(-2.0) / len(there)))
            spread = times * math.sqrt(float(guarantee.alpha * (1 - guarantee.alpha)) / has)
        return "short" if cell.high + spread >= level else "broken"

    worst = min(there, key=lambda cell: (list(_AGAINST).index(standing(cell)), cell.high))
    stands, remark = standing(worst), ""
    words, count = _AGAINST[stands], counted(len(there))
    if guarantee.by:
        below = sum(standing(cell) in ("broken", "short") for cell in there)
        affected = f"{counted(below)} of {count}" if below else f"all {count}"
        groups = "labels" if guarantee.by == BY_LABEL else f'values of "{guarantee.by}"'
        lowest = f"{worst.title}, {decimal(worst.mean)}, {ends(worst.low, worst.high)}"
        words += f" for {affected} {groups} (lowest: {lowest})"
    if stands == "short":
        remark = (
            f", by no more than calibrations of {sizes.get(worst.title, 0):,.4g} examples vary; "
            "the guarantee is for their average"
        )
    elif stands == "in line" and max(cell.high - cell.low for cell in there) > _WIDE:
        remark = "; too few examples to tell"
    elif stands == "broken":
        remark = "; these examples may differ from the calibration set"
    if len(there) < len(cells):
        remark += f"; {counted(len(cells) - len(there))} without test examples"
    return Judgement(stands, worst, words, remark)


def _cells(plane: xr.Dataset) -> list[tuple[str, xr.Dataset]]:
    """Return the part of each group or label of a guarantee, with its name; else the whole."""
    if CELL not in plane.dims:
        return [("", plane)]
    return [(str(part[CELL].item()), part) for part in each(plane, CELL)]


def _figures(part: xr.Dataset, prefix: str = "") -> dict[str, object]:
    means = (*QUANTITIES, SET_SIZE, ORDINAL_GAP)
    there = [name for name in means if f"{prefix}{name}_mean" in part]
    single = [f"{prefix}{name}" for name in ("share_empty", "share_singleton")]
    single += [f"{prefix}{name}" for name in (EMPTY_MISSES, HOLES) if f"{prefix}{name}" in part]
    return {
        **{name: {end: number(part[f"{prefix}{name}_{end}"]) for end in ENDS} for name in there},
        **{name.removeprefix(prefix): number(part[name]) for name in single},
    }
