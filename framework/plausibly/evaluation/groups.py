"""Coverage by label, set size, ambiguity, group, or level of risk."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import Protocol, TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.data import check_coordinate, coordinates_over
from plausibly.data import names, validate
from plausibly.data.names import is_missing, name_text, name_texts, positions, quoted, text_array
from plausibly.data.plausibilities import Plausibilities
from plausibly.errors import InputError, counted, listed
from plausibly.evaluation import inputs
from plausibly.evaluation.evaluation import STRATA_FROM
from plausibly.evaluation.inputs import EvaluationInputs, meant, prepare
from plausibly.evaluation.intervals import IntervalMethod, groups_of
from plausibly.evaluation.result import (
    AGGREGATED,
    MOST_GROUPS,
    SET_SIZE,
    decimal,
    each,
    ends,
    figure_line,
    figures,
    group_title,
    head_line,
    planes,
    wrapped,
)
from plausibly.evaluation.splits import check_count, check_option, out_of_range
from plausibly.kernels.blocks import row_blocks
from plausibly.kernels.coverage import TIES, Ties, row_sums
from plausibly.kernels.types import Ints

STRATUM, SIZE, SUBGROUP = "stratum", "size", "subgroup"
SINGLE_SIZES = 12
RANGES_FROM = (0, 1, 2, 3, 4, 6, 11, 21, 51, 101, 201, 501, 1001)
MULTIPLICITY = (
    "the intervals hold for all subgroups together (Bonferroni); the mean of the subgroup that is "
    "covered least is the least of many, and so lower than what it will be on new examples"
)
_SLACK = 1e-9  # Tolerance below an edge: sums of decimals may end just under it.


LEVEL = "level"
Risk: TypeAlias = str | Mapping[str, object]
"""Levels of the labels: a coordinate over label, or levels by the name of the label."""
_WORDS = (
    "none, negligible, very low, low, minor, mild, moderate, medium, intermediate, elevated, "
    "major, high, very high, serious, severe, critical, fatal"
)
"""Words for risk in ascending order: levels that are all among them come in this order."""


def levels_of(
    risk: Risk, labels: Sequence[str], arrays: Sequence[xr.DataArray | xr.Dataset]
) -> list[object]:
    """Return the level of each label, in the order of the labels."""
    known = label_coordinate(risk, arrays) if isinstance(risk, str) else risk
    table = {name_text(label): level for label, level in known.items()}
    lacking = [label for label in labels if is_missing(table.get(label)) or table[label] == ""]
    if lacking:
        raise InputError(
            "risk-missing",
            f"{counted(len(lacking))} of {counted(len(labels))} labels have no risk level",
            expected="a level for each label of the sets",
            found=f"none for {listed(map(quoted, lacking))}",
            hint="add them to the table of labels, or to the mapping",
        )
    return [table[label] for label in labels]


def label_coordinate(name: str, arrays: Sequence[xr.DataArray | xr.Dataset]) -> dict[str, object]:
    """Return a coordinate of the labels, by label, from the first array that has it."""
    for array in arrays:
        if name in array.coords and array[name].dims == (names.LABEL,) and name != names.LABEL:
            here = map(str, array[names.LABEL].values)
            return dict(zip(here, array[name].values.tolist(), strict=True))
    there = sorted(coordinates_over(names.LABEL, arrays))
    raise InputError(
        "risk-missing",
        f'the labels have no coordinate "{name}"',
        expected="a coordinate over label",
        found=listed(there) or "none",
        hint=meant(name, there) or "a table of labels that has it",
    )


def in_order(
    of_labels: Sequence[object], order: Sequence[object] | None
) -> tuple[NDArray[np.generic], NDArray[np.intp]]:
    """Return the levels from the least on, and the code of each label's level."""
    numbers = all(isinstance(level, int | float) for level in of_labels)
    if numbers and order is None:
        return np.unique(np.array(of_labels), return_inverse=True)
    texts = name_texts(of_labels)
    known = sorted(set(texts))
    if order is not None:
        known_order = name_texts(order)
        lost = [level for level in known if level not in known_order]
        if lost:
            raise InputError(
                "risk-unknown",
                f"labels have the risk level {quoted(lost[0])}, and the order does not",
                expected=f"one of {listed(known_order)}",
                found=listed(map(quoted, lost)),
                hint="name every level in order=[...], from the least on",
            )
        known = [level for level in known_order if level in known]
    else:
        words = _WORDS.split(", ")
        if all(level.casefold() in words for level in known):
            known.sort(key=lambda level: words.index(level.casefold()))
    values = dict(zip(texts, of_labels, strict=True))
    levels = np.array([values[level] for level in known]) if numbers else text_array(known)
    return levels, positions(known, texts)


class Grouper(Protocol):
    """A rule that forms groups of labels, sets or examples, and measures each."""

    def measure(self, prepared: EvaluationInputs, ties: Ties) -> xr.Dataset:
        """Return coverage by group."""


def coverage_by(
    sets: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    by: str | Sequence[str] | Grouper,
    ties: Ties = "first",
    cluster: str | None = None,
    interval: IntervalMethod = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    only_common: bool = False,
) -> xr.Dataset:
    """Measure coverage by label, set size, ambiguity, risk, or any coordinate of the examples.

    Parameters
    ----------
    sets, plausibilities
        See `plausibly.evaluate`.
    by : str, sequence of str, or grouper
        ``"label"`` (`ByLabel`), ``"set-size"`` (`BySetSize`), ``"ambiguity"`` (`ByRange` of the
        largest plausibility, cut at 0.5 and 0.8), or coordinates of the examples (`ByCoordinate`),
        one or several, which are crossed. With parameters: a grouper such as ``ByRisk("risk")``
        or ``ByRange(entropy(predictions), quantiles=3)``.
    ties, cluster, interval, confidence, seed, only_common
        See `plausibly.evaluate`; `ties` for the coverage of majority votes.

    Returns
    -------
    Dataset
        Along one dim, see the grouper.

    Raises
    ------
    InputError
        As `evaluate`, and as the grouper says.
    """
    named: dict[object, Grouper] = {"label": ByLabel(), "set-size": BySetSize()}
    if isinstance(by, str) and by == "ambiguity":
        of = largest(plausibilities).rename("largest plausibility")
        grouper: Grouper = ByRange(of, edges=STRATA_FROM)
    elif isinstance(by, str):
        grouper = named.get(by, ByCoordinate(by))
    else:
        grouper = ByCoordinate(*by) if isinstance(by, Sequence) else by
        if not hasattr(grouper, "measure"):
            check_coordinate(grouper)
    check_option("tie policy", ties, TIES, 'ties="first"')
    prepared = prepare(sets, plausibilities, cluster, interval, confidence, seed, only_common)
    return prepared.squeezed(grouper.measure(prepared, ties))


@attrs.frozen
class ByLabel(Grouper):
    """Group by label: the share of its plausibility that the sets cover.

    Parameters
    ----------
    simultaneous : bool
        Make the intervals hold for all labels with any plausibility together (Bonferroni).

    Notes
    -----
    Over the dim ``label``, in the order of the labels where they have one: `mass`,
    ``sum_i lambda_ik``, in examples, and `mass_share`; `examples`, how many give the label any
    plausibility; `covered_mean`, ``*_low`` and ``*_high``, (label[, alpha]),
    ``sum_i lambda_ik 1[k in C_i] / sum_i lambda_ik``, NaN where no annotator names a label;
    `in_sets_mean`, ``*_low`` and ``*_high``, the share of the sets that hold the label.
    """

    simultaneous: bool = attrs.field(default=False, kw_only=True)

    def measure(self, prepared: EvaluationInputs, ties: Ties) -> xr.Dataset:
        averaging = prepared.averaging
        named = np.array([np.count_nonzero(weights) for weights, _ in prepared.columns()])
        among = max(1, int((named > 0).sum())) if self.simultaneous else 1
        covered, inside, masses = [], [], []
        for weights, held in prepared.columns():
            covered.append([averaging.interval(column, weights, among=among) for column in held])
            inside.append([averaging.interval(column, among=among) for column in held])
            masses.append(weights.sum())
        mass = np.array(masses)
        result = prepared.result(simultaneous=int(self.simultaneous))
        result = result.assign_coords({names.LABEL: prepared.sets[names.LABEL].values})
        order = prepared.label_order
        result = result.assign(
            {
                "mass": (names.LABEL, mass),
                "mass_share": (names.LABEL, mass / math.fsum(mass)),
                "examples": (names.LABEL, named),
                **averaging.variables("covered", covered, names.LABEL),
                **averaging.variables("in_sets", inside, names.LABEL),
            }
        )
        return result if order is None else result.isel({names.LABEL: order})


@attrs.frozen
class BySetSize(Grouper):
    """Group by the number of labels in the set, which is known of a new example.

    Notes
    -----
    Over the dim ``size`` (text, with ``size_from`` and ``size_to``, both inside): `count` of sets,
    and `aggregated_coverage` and `majority_vote_coverage` as ``*_mean``, ``*_low`` and ``*_high``,
    (size[, alpha]). With 13 labels or more, sizes are in ranges from 0, 1, 2, 3, 4, 6, 11, 21, 51,
    101, 201, 501 and 1,001 labels.

    References
    ----------
    Angelopoulos et al., Uncertainty sets for image classifiers using conformal prediction, ICLR
    2021: size-stratified coverage.
    """

    def measure(self, prepared: EvaluationInputs, ties: Ties) -> xr.Dataset:
        most = len(prepared.labels)
        usual = range(most + 1) if most <= SINGLE_SIZES else RANGES_FROM
        begins = [begin for begin in usual if begin <= most]
        last = [*(begin - 1 for begin in begins[1:]), most]
        titles = [str(a) if a == b else f"{a}-{b}" for a, b in zip(begins, last, strict=True)]
        outcomes = prepared.outcomes(prepared.measured(ties))
        by_alpha = []
        for place, sizes in enumerate(outcomes.pop(SET_SIZE).T):
            at_alpha = {name: values[:, [place]] for name, values in outcomes.items()}
            groups = groups_of(np.digitize(sizes, begins) - 1, len(titles))
            part = prepared.averaging.grouped(
                at_alpha, groups, np.array(titles), dim=SIZE, count="count"
            )
            by_alpha.append(part.isel({names.ALPHA: 0}))
        by_size = xr.concat(
            by_alpha, dim=names.ALPHA, coords="different", compat="equals", join="exact"
        ).transpose(SIZE, names.ALPHA)
        by_size = by_size.assign_coords(size_from=(SIZE, begins), size_to=(SIZE, last))
        return prepared.result(ties=ties).assign(by_size)


@attrs.frozen(eq=False)
class ByRange(Grouper):
    """Group by ranges of a number of each example.

    Parameters
    ----------
    of : str or DataArray, (example,)
        The number: a coordinate of sets or plausibilities, or by the name of the example, such as
        ``entropy(plausibilities)`` or ``entropy(predictions)``.
    edges : sequence of float, optional
        Where ranges begin: n edges make n + 1 ranges, each with its lower edge.
    quantiles : int, optional
        Instead of edges: into how many parts of equally many examples, 2 by default. Equal numbers
        stay together.

    Notes
    -----
    Over the dim ``stratum`` (text, with the numbers ``stratum_from`` and ``stratum_to``): `count`
    of examples, and `aggregated_coverage`, `majority_vote_coverage` and `set_size`, each as
    ``*_mean``, ``*_low`` and ``*_high``, (stratum[, alpha]). Intervals are of each range alone.
    """

    of: str | xr.DataArray
    edges: Sequence[float] | None = attrs.field(default=None, kw_only=True)
    quantiles: int | None = attrs.field(default=None, kw_only=True)

    def measure(self, prepared: EvaluationInputs, ties: Ties) -> xr.Dataset:
        name = self.of if isinstance(self.of, str) else self.of.name
        called = "values" if name is None else str(name)
        numbers = inputs.values_by_name(self.of, prepared.arrays, called)
        if numbers.dtype.kind not in "fiub":
            raise InputError(
                "values-malformed",
                f'"{called}" has no numbers to make ranges of',
                expected="a number for each example",
                found=f'text, such as "{numbers[0]}"',
                hint=f'ByCoordinate("{called}"), a group for each value',
            )
        values = numbers.astype(np.float64)
        if self.edges is not None:
            cuts = sorted(set(map(float, self.edges)))
        else:
            parts = 2 if self.quantiles is None else self.quantiles
            check_count("quantiles", parts, usual=2)
            # Numbers that occur, not between them: each stratum holds the number it begins with.
            shares = [place / parts for place in range(1, parts)]
            numbers = np.unique(np.quantile(values, shares, method="higher"))
            cuts = numbers[numbers > values.min()].tolist()
        codes = np.digitize(values + _SLACK * max(1.0, float(np.abs(values).max())), cuts)
        short = [f"{cut:.4g}" for cut in cuts]
        if len(set(short)) < len(short):
            short = [repr(cut) for cut in cuts]
        titles = ["all"]
        if cuts:
            between = [f"{a} to {b}" for a, b in pairwise(short)]
            titles = [f"below {short[0]}", *between, f"{short[-1]} and more"]
        strata = prepared.averaging.grouped(
            prepared.outcomes(prepared.measured(ties)),
            groups_of(codes[prepared.order], len(titles)),
            np.array(titles),
            dim=STRATUM,
            count="count",
        )
        bounds = [-np.inf, *cuts, np.inf]
        strata = strata.assign_coords(
            stratum_from=(STRATUM, bounds[:-1]), stratum_to=(STRATUM, bounds[1:])
        )
        return prepared.result(of=called, ties=ties).assign(strata)


@attrs.frozen(init=False)
class ByCoordinate(Grouper):
    """Group by the values of coordinates of the examples, and by combinations of them.

    Parameters
    ----------
    *coordinates : str
        Names of coordinates, such as ``"site"``.
    crossed : int
        Combinations of up to so many coordinates.
    at_least : int
        Examples (clusters) of a group; smaller groups are left out and counted.

    Notes
    -----
    Over the dim ``subgroup`` (text such as ``site north, sex f``), with the coordinate ``depth``:
    `count` of examples, `aggregated_coverage` and `set_size` as ``*_mean``, ``*_low`` and
    ``*_high``, (subgroup[, alpha]). Over alpha: `weakest`, the name of the group whose interval
    ends lowest. Attributes: `compared`, the number of groups, `left_out_subgroups`, and `note`.

    Each interval has confidence ``1 - (1 - confidence) / compared``, so that all of them hold
    together; with ``interval="auto"`` groups of fewer than 100 examples (clusters) have Wilson's.
    """

    coordinates: tuple[str, ...]
    crossed: int
    at_least: int

    def __init__(self, *coordinates: str, crossed: int = 2, at_least: int = 20) -> None:
        self.__attrs_init__(coordinates, crossed, at_least)

    def measure(self, prepared: EvaluationInputs, ties: Ties) -> xr.Dataset:
        wanted = list(self.coordinates)
        if not wanted or len(set(wanted)) < len(wanted):
            expected = "one coordinate of the examples or more, each once"
            raise out_of_range("by", listed(wanted) or "none", expected=expected, hint='by="site"')
        check_count("crossed", self.crossed, usual=2)
        check_count("at_least", self.at_least, usual=20)
        clusters = prepared.averaging.clusters
        coded = {
            name: inputs.codes_of(inputs.example_values(name, prepared.arrays)[prepared.order])
            for name in wanted
        }
        kept: list[tuple[str, int, Ints]] = []
        sizes: list[int] = []
        # The values of one coordinate first, then combinations of several.
        for depth in range(1, min(self.crossed, len(wanted)) + 1):
            for chosen in combinations(wanted, depth):
                codes = np.stack([coded[name][1] for name in chosen], axis=1)
                distinct, member = np.unique(codes, axis=0, return_inverse=True)
                parts = groups_of(member.ravel(), len(distinct))
                for values, part in zip(distinct, parts, strict=True):
                    sizes.append(len(part if clusters is None else set(clusters[part])))
                    if sizes[-1] >= self.at_least:
                        named = zip(chosen, values, strict=True)
                        texts = [f"{name} {name_text(coded[name][0][at])}" for name, at in named]
                        kept.append((", ".join(texts), depth, part))
        if not kept:
            noun = "examples" if clusters is None else "clusters"
            raise InputError(
                "subgroups-none",
                f"no subgroup by {listed(self.coordinates)} has {self.at_least} {noun}",
                expected=f"{self.at_least} {noun} or more in one subgroup",
                found=f"at most {max(sizes)}",
                hint=f"at_least={max(1, self.at_least // 2)}, or fewer coordinates",
            )
        outcomes = prepared.outcomes(prepared.measured())
        titles, depths, rows = zip(*kept, strict=True)
        outcomes = {name: outcomes[name] for name in (AGGREGATED, SET_SIZE)}
        subgroups = prepared.averaging.grouped(
            outcomes, rows, text_array(titles), dim=SUBGROUP, count="count", among=len(kept)
        ).drop_vars(["share_empty", "share_singleton"])
        attributes = prepared.result(
            by=", ".join(self.coordinates),
            compared=len(kept),
            left_out_subgroups=len(sizes) - len(kept),
            at_least=self.at_least,
            note=MULTIPLICITY,
        )
        result = attributes.assign(subgroups.assign_coords(depth=(SUBGROUP, list(depths))))
        lowest = np.lexsort(
            [subgroups[f"{AGGREGATED}_{end}"].values for end in ("mean", "high")], 0
        )
        return result.assign(weakest=(names.ALPHA, subgroups[SUBGROUP].values[lowest[0]]))


@attrs.frozen(eq=False)
class ByRisk(Grouper):
    """Group labels by level of risk: the share of the plausibility that the sets miss.

    Parameters
    ----------
    risk : str or mapping
        A coordinate of the labels, or levels by label: words such as low, medium and high, or
        numbers. Every label of the sets needs one.
    order : sequence, optional
        The levels in ascending order. By default numbers and common words for risk ascend, and
        other words are in the order of the alphabet.

    Notes
    -----
    Over the dim ``level``, ascending: `labels` of the level, `examples` with any plausibility
    there, `mass` and `mass_share`; `missed_mean`, ``*_low`` and ``*_high``, (level[, alpha]), of
    ``sum_i lambda_i(L - C_i) / sum_i lambda_i(L)``. Where levels are numbers also
    `risk_missed_mean`, ``*_low``, ``*_high``, ([alpha]): the mean over examples of
    ``sum_k r_k lambda_ik 1[k not in C_i]``, the loss that the calibrator ``risk`` controls.
    """

    risk: Risk = "risk"
    order: Sequence[object] | None = attrs.field(default=None, kw_only=True)

    def measure(self, prepared: EvaluationInputs, ties: Ties) -> xr.Dataset:
        averaging = prepared.averaging
        levels, codes = in_order(levels_of(self.risk, prepared.labels, prepared.arrays), self.order)
        numbers = levels.dtype.kind in "if" and levels.min() >= 0
        risks = levels[codes].astype(np.float64) if numbers else None
        n, alphas = len(prepared.order), prepared.sets.sizes[names.ALPHA]
        outside, weights = np.empty((len(levels), alphas, n)), np.empty((len(levels), n))
        losses = np.zeros((alphas, n))
        values = prepared.sets.values
        for rows in row_blocks(values.shape):
            examples = prepared.order[rows]
            plausibilities = (
                prepared.plausibilities.stored.take(examples).dense().astype(np.float64)
            )
            inside = np.moveaxis(values[examples], 2, 0)
            for code in range(len(levels)):
                mine = codes == code
                held = plausibilities[:, mine]
                weights[code, rows] = np.minimum(row_sums(held), 1.0)
                for at, plane in enumerate(inside):
                    left = row_sums(np.where(plane[:, mine], 0.0, held))
                    outside[code, at, rows] = np.minimum(left, weights[code, rows])
            if risks is not None:
                for at, plane in enumerate(inside):
                    losses[at, rows] = row_sums(
                        np.where(plane, 0.0, plausibilities * risks), risks.max()
                    )
        missed = []
        for mass, row in zip(weights, outside, strict=True):
            shares = [np.divide(o, mass, out=np.zeros_like(mass), where=mass > 0) for o in row]
            missed.append([averaging.interval(share, mass) for share in shares])
        result = prepared.result(risk=self.risk if isinstance(self.risk, str) else "risk")
        result = result.assign_coords({LEVEL: levels}).assign(
            {
                "labels": (LEVEL, np.bincount(codes, minlength=len(levels)).astype(np.int64)),
                "examples": (LEVEL, (weights > 0).sum(axis=1).astype(np.int64)),
                "mass": (LEVEL, weights.sum(axis=1)),
                "mass_share": (LEVEL, weights.sum(axis=1) / weights.sum()),
                **averaging.variables("missed", missed, LEVEL),
            }
        )
        if risks is None:
            return result
        most = max(float(risks.max()), np.finfo(np.float64).tiny)
        lost = [averaging.interval(loss, top=most) for loss in losses]
        return result.assign(averaging.variables("risk_missed", lost))


def entropy(array: xr.DataArray | xr.Dataset) -> xr.DataArray:
    """Return how spread each distribution over labels is, ``-sum_k p_k log p_k``, in nats.

    Parameters
    ----------
    array : DataArray or Dataset, (example, label)
        Plausibilities as in `evaluate`, or predictions of scale ``probability`` or ``logit``; each
        row is divided by its sum.

    Returns
    -------
    DataArray of float64, (example,)
        Named ``entropy``, with the coordinates of the examples.

    Raises
    ------
    InputError
        What is wrong with the array; ``entropy-of-scores`` for predictions whose rows are no
        distributions over labels (scale ``any`` or ``independent``).
    """
    table = _distributions(array)
    entropies = np.empty(len(table.examples))
    for rows in row_blocks(table.stored.shape):
        values = table.stored.take(rows).dense().astype(np.float64)
        shares = values / row_sums(values)[:, None]
        logs = np.log(np.where(shares > 0, shares, 1.0))
        entropies[rows] = row_sums(-(shares * logs), most=shares.shape[1])
    return _of_examples(table, entropies, "entropy")


def largest(array: xr.DataArray | xr.Dataset) -> xr.DataArray:
    """Return the largest number of each row, such as the plausibility of the majority vote.

    Parameters
    ----------
    array : DataArray or Dataset, (example, label)
        As in `entropy`.
    """
    table = _distributions(array)
    values = table.stored.weight.max(axis=1)
    return _of_examples(table, values.astype(np.float64), "largest")


def _distributions(array: xr.DataArray | xr.Dataset) -> Plausibilities:
    """Return (example, label) rows that are distributions over labels."""
    if isinstance(array, xr.Dataset) or names.SCALE not in array.attrs:
        return inputs.read_plausibilities(array)
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
            hint="another number of the examples: ByRange(DataArray over example)",
        )
    return Plausibilities.of(table)


def _of_examples(table: Plausibilities, values: NDArray[np.float64], name: str) -> xr.DataArray:
    """Return numbers of the examples, under their names and coordinates."""
    about = table.about.coords
    coords = {called: item for called, item in about.items() if names.EXAMPLE in item.dims}
    return xr.DataArray(values, dims=(names.EXAMPLE,), coords=coords, name=name)


SHARE = "share"


def sorted_coverage(
    sets: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    only_common: bool = False,
) -> xr.Dataset:
    """Return realised coverage of every example in ascending order, beside how ambiguous they are.

    Parameters
    ----------
    sets, plausibilities, only_common
        See `plausibly.evaluate`.

    Returns
    -------
    Dataset
        Over the dim ``share`` of examples up to a place, ``1/n, 2/n, ..., 1``, each sorted on its
        own, (share[, alpha]): `aggregated_coverage`; `majority_vote_coverage`, where a tied vote is
        its first label; `tied_coverage`, where each of L tied labels has credit 1/L; and
        `largest_plausibility`, (share). The attribute `tied_share` is the share of tied votes.

    Raises
    ------
    InputError
        As `evaluate`.

    References
    ----------
    Stutz et al., TMLR 2023, the figures of realised coverage of the main text and the appendix.
    """
    prepared = prepare(sets, plausibilities, only_common=only_common)
    first, tied = prepared.measured("first"), prepared.measured("fractional").outcomes
    result = prepared.result(tied_share=float(first.tied.mean()))
    n = result.attrs["n"]
    columns = {
        AGGREGATED: first.outcomes[AGGREGATED],
        "majority_vote_coverage": first.outcomes["majority_vote_coverage"],
        "tied_coverage": tied["majority_vote_coverage"],
    }
    result = result.assign_coords({SHARE: np.arange(1, n + 1) / n})
    for name, values in columns.items():
        result[name] = ((SHARE, names.ALPHA), np.sort(values, axis=0))
    result["largest_plausibility"] = (SHARE, np.sort(first.largest))
    return prepared.squeezed(result)


# ---- as text


def describe_coverage(found: xr.Dataset) -> list[str]:
    """Return the table of what `coverage_by` or `worst_slab_coverage` measured, per alpha."""
    several = names.ALPHA in found.dims and found.sizes[names.ALPHA] > 1
    lines: list[str] = []
    for plane in planes(found):
        lines += [f"alpha {float(plane[names.ALPHA]):g}"] if several else []
        lines += _lines(plane)
    return lines


_SIZE = f"{SET_SIZE}_mean"
_SIZES = {"0": "empty", "1": "1 label"}
_MOST_LABELS = 12
_EXAMPLES = ("examples", "coverage", "set size")


def _lines(plane: xr.Dataset) -> list[str]:
    if STRATUM in plane.dims:
        return _table(plane, STRATUM, f"by {plane.attrs['of']}", _EXAMPLES, "count", _SIZE)
    if SIZE in plane.dims:
        there = plane.isel({SIZE: plane["count"].values > 0})
        titles = [_SIZES.get(size, f"{size} labels") for size in map(str, there[SIZE].values)]
        there = there.assign_coords({SIZE: titles})
        return _table(there, SIZE, "by set size", (*_EXAMPLES[:2], ""), "count")
    if SUBGROUP in plane.dims:
        order = np.lexsort(tuple(plane[f"{AGGREGATED}_{end}"].values for end in ("mean", "high")))
        weakest = plane.isel({SUBGROUP: order[:MOST_GROUPS]})
        title = group_title(plane.attrs["by"], plane.sizes[SUBGROUP])
        table = _table(weakest, SUBGROUP, title, _EXAMPLES, "count", _SIZE)
        if small := int(plane.attrs["left_out_subgroups"]):
            noun = "clusters" if "cluster" in plane.attrs else "examples"
            least = f"fewer than {plane.attrs['at_least']} {noun}"
            table += wrapped(f"Left out: {names.several(small, 'group')} of {least}.")
        return table
    if LEVEL in plane.dims:
        columns = ("answers", "missed", "of all")
        lines = _table(plane, LEVEL, f"by {plane.attrs['risk']}", columns, "mass", "mass_share")
        if "risk_missed_mean" in plane:
            mean, low, high = figures(plane, "risk_missed")
            lines.append(f"mean risk per example: {decimal(mean)} ({ends(low, high)})")
        return lines
    if "slab_share" in plane:
        count, others = counted(int(plane["count"])), decimal(float(plane["others_mean"]))
        line = figure_line("  other examples", count, figures(plane, AGGREGATED), others)
        return [head_line("worst slab", plane, "examples", "coverage", "elsewhere"), *line]
    # Of many labels only the ones with the lowest covered share.
    named = plane.isel({names.LABEL: plane["mass"].values > 0})
    answered, title = named.sizes[names.LABEL], "by label"
    if answered > _MOST_LABELS:
        title += f": {_MOST_LABELS} of {counted(answered)}"
        order = np.argsort(named["covered_high"].values, kind="stable")[:_MOST_LABELS]
        named = named.isel({names.LABEL: order})
    columns = ("answers", "covered", "in sets")
    lines = _table(named, names.LABEL, title, columns, "mass", "in_sets_mean")
    silent = plane.sizes[names.LABEL] - answered
    return [*lines, *([f"  {counted(silent)} labels without an answer"] if silent else [])]


def _table(
    plane: xr.Dataset, dim: str, title: str, columns: Sequence[str], count: str, last: str = ""
) -> list[str]:
    """Return a line per group: its size, a figure with its interval, and one more figure."""
    lines = [head_line(title, plane, *columns)]
    if len(title) > 20:
        lines = [title, head_line("", plane, *columns)]
    figure = AGGREGATED if columns[1] == "coverage" else columns[1]
    for part in each(plane, dim):
        size = f"{part[count].item():{',' if count == 'count' else ',.1f'}}"
        end = decimal(float(part[last]), 2 if last == _SIZE else 3) if last else ""
        lines += figure_line(f"  {part[dim].item()}", size, figures(part, figure), end)
    return lines
