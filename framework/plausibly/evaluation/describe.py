"""Evaluations as tables and sentences, for commands and notebooks."""

from __future__ import annotations

import functools
import json
import math
import textwrap
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import attrs
import numpy as np
import xarray as xr

from plausibly.calibration.scores import BY_LABEL
from plausibly.conformal.inputs import GUARANTEES, OVERLAP
from plausibly.data import names
from plausibly.data.states import read_left_out
from plausibly.errors import counted
from plausibly.evaluation.groups import LEVEL, SIZE, STRATUM, SUBGROUP
from plausibly.evaluation.intervals import (
    AGGREGATED as AGGREGATED,
    AMBIGUITY,
    CELL,
    COVERAGE,
    ENDS,
    GUARANTEED,
    ROUGH,
    SET_SIZE,
    each,
    figures,
    measured,
    planes,
)
from plausibly.evaluation.uniformity import OF
from plausibly.guarantee import Guarantee, bounded

WIDTH = 80
MASS = "mass_coverage"
QUANTITIES = {
    AGGREGATED: "aggregated: what experts said",
    "voted_coverage": "voted: the most plausible label",
    "true_coverage": "true: the known label",
    MASS: "mass: enough of what they said",
}
MOST_GROUPS = 12
Standing: TypeAlias = Literal["vacuous", "kept", "in line", "short", "broken"]
_SLACK = 1e-9
_WIDE = 0.1  # from which an interval tells little
_STRATUM = "stratum_"
_GROUP = "group_"


@attrs.frozen
class Measured:
    """One figure with its interval, and the examples behind it."""

    title: str
    n: int
    mean: float
    low: float
    high: float
    set_size: float

    def interval(self) -> str:
        """Return the interval as the table prints it."""
        return ends(self.low, self.high) if self.n else "-"


def describe(evaluation: xr.Dataset) -> str:
    """Return the evaluation as plain text: per alpha a table, and whether the promise was kept.

    Parameters
    ----------
    evaluation : Dataset
        From `evaluate`.
    """
    blocks = [_block(plane) for plane in planes(measured(evaluation))]
    return "\n\n".join(blocks)


def verdict(evaluation: xr.Dataset) -> str:
    """Return in one paragraph whether the sets kept what was promised, one line an alpha.

    Parameters
    ----------
    evaluation : Dataset
        From `evaluate`.

    Notes
    -----
    The interval decides: below the level, around it, or at or above it. It is about more examples
    for this predictor; a guarantee of most methods is about the average over calibrations. An
    interval below the level is therefore set beside how coverage varies between calibrations of
    that size: twice ``sqrt(alpha (1 - alpha) / n)``, the first-order bound for one draw an example.

    A guarantee for each site or label is judged in each, with its own n and with intervals and
    spread that hold for all of them together: of a site, where it is what `by` names. One for a new
    patient is judged by the mean over patients of the means within, where they are known.
    """
    return "\n".join(_verdict(plane) for plane in planes(measured(evaluation)))


def as_json(evaluation: xr.Dataset) -> dict[str, object]:
    """Return the averages as plain data, for programs; figures that do not exist are None.

    Parameters
    ----------
    evaluation : Dataset
        From `evaluate`.
    """
    evaluation = measured(evaluation)
    attributes = {str(name): value for name, value in evaluation.attrs.items()}
    attributes.pop(GUARANTEES, None)  # each result has its own
    if names.LEFT_OUT in attributes:
        attributes[names.LEFT_OUT] = read_left_out(evaluation.attrs)
    results: list[dict[str, object]] = []
    for plane in planes(evaluation):
        promise = _promise(plane)
        result: dict[str, object] = {"alpha": _alpha(plane), **_figures(plane, "")}
        result["strata"] = _by(plane, AMBIGUITY, _STRATUM)
        if "by" in plane.attrs:
            result["groups"] = _by(plane, str(plane.attrs["by"]), _GROUP)
        result["guarantee"] = None if promise is None else promise.to_json()
        if f"{GUARANTEED}_mean" in plane:
            result[GUARANTEED] = _guaranteed(plane)
        result["verdict"] = _verdict(plane)
        results.append(result)
    return {"n": int(evaluation["n"]), **attributes, "results": results}


def decimal(value: float, digits: int = 3) -> str:
    """Return a number of about 1 with no leading zero, ``-`` where there is none."""
    if math.isnan(value):
        return "-"
    text = f"{value:.{digits}f}"
    if not float(text):
        text = text.removeprefix("-")
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def outwards(low: float, high: float, digits: int = 3) -> tuple[float, float]:
    """Return the ends of an interval with this many decimals, which enclose it."""
    if math.isnan(low) or math.isnan(high):
        return low, high
    units = 10**digits
    # Tolerance: 0.7 * 1000 is 699.9999999999999.
    return math.floor(low * units + 1e-9) / units, math.ceil(high * units - 1e-9) / units


def ends(low: float, high: float) -> str:
    """Return ``.897 to .905``, rounded outwards."""
    return " to ".join(map(decimal, outwards(low, high)))


def _alpha(plane: xr.Dataset) -> float | None:
    return float(plane[names.ALPHA]) if names.ALPHA in plane.coords else None


def _promise(plane: xr.Dataset) -> Guarantee | None:
    stated = [Guarantee.from_json(one) for one in json.loads(plane.attrs.get(GUARANTEES, "[]"))]
    alpha = _alpha(plane)
    if alpha is None:
        return stated[0] if len(stated) == 1 else None
    return next((promise for promise in stated if float(promise.alpha) == alpha), None)


def _measured(plane: xr.Dataset, quantity: str, title: str, prefix: str = "") -> Measured:
    """Return one figure of a plane without other dims."""
    guaranteed = prefix == GUARANTEED
    size = math.nan if guaranteed else float(plane[f"{prefix}{SET_SIZE}_mean"])
    n = int(plane[f"{GUARANTEED}_n" if guaranteed else f"{prefix}n"])
    return Measured(title, n, *figures(plane, f"{prefix}{quantity}"), size)


def _parts(plane: xr.Dataset, dim: str, prefix: str) -> list[Measured]:
    """Return the aggregated coverage of each group."""
    parts = each(plane, dim)
    return [_measured(part, AGGREGATED, str(part[dim].item()), prefix) for part in parts]


def _block(plane: xr.Dataset) -> str:
    alpha = _alpha(plane)
    examples = f"{counted(int(plane['n']))} examples"
    head = examples if alpha is None else f"alpha {alpha:g}, {examples}"
    level = f"{100 * float(plane.attrs['confidence']):g} % interval"
    lines = [f"{head:<35}{'coverage':>8}{level:>16}{'set size':>11}"]
    for quantity, title in QUANTITIES.items():
        if quantity in plane:
            lines.append(_line(title, "", _measured(plane, quantity, title)))
    strata = _parts(plane, AMBIGUITY, _STRATUM)
    lines += [_line(_stratum_title(one.title), counted(one.n), one) for one in strata]
    if "by" in plane.attrs:
        lines += _group_lines(plane, str(plane.attrs["by"]))
    lines.append(_shares(plane))
    if any(bool(plane[name].any()) for name in plane if str(name).endswith(f"_{ROUGH}")):
        lines.append("rough intervals: fewer than ten clusters, or nearly all outcomes alike")
    return "\n".join([*lines, *_wrapped(_verdict(plane))])


def _stratum_title(title: str) -> str:
    return "  largest plausibility < .5" if title == "below .5" else f"  {title}"


def _line(title: str, n: str, one: Measured) -> str:
    left = f"{title:<27}{n:>8}" if n else f"{title:<35}"
    size = f"{one.set_size:.2f}" if one.n else "-"
    return f"{left}{decimal(one.mean):>8}{one.interval():>16}{size:>11}"


def _group_lines(plane: xr.Dataset, by: str) -> list[str]:
    """Return a line a group, or the weakest ones where there are many."""
    groups = _parts(plane, by, _GROUP)
    shown = groups
    head = f"by {by}"
    if len(groups) > MOST_GROUPS:
        shown = sorted(groups, key=lambda one: one.mean)[:MOST_GROUPS]
        head = f"by {by}: the {MOST_GROUPS} of {counted(len(groups))} that are covered least"
    return [head, *(_line(f"  {one.title}", counted(one.n), one) for one in shown)]


def _shares(plane: xr.Dataset) -> str:
    """Return what else a reader should know of the sets and of the votes."""
    empty, single = (100 * float(plane[f"share_{name}"]) for name in ("empty", "singleton"))
    text = f"sets: {empty:.0f} % empty, {single:.0f} % of one label"
    tied = 100 * float(plane.attrs["tied_share"])
    if tied:
        text += f"; votes: {tied:.0f} % tied, policy {plane.attrs['ties']}"
    return text


def _verdict(plane: xr.Dataset) -> str:
    """Return whether the promise at one alpha was kept."""
    promise = _promise(plane)
    aggregated = _measured(plane, AGGREGATED, "")
    if promise is None or promise.level is None:
        text = f"nothing is promised; measured {decimal(aggregated.mean)} of what experts said."
    elif promise.target == "risk":
        text = (
            f"promised {promise.statement()}; coverage_by_risk (--risk) measures it. Nothing is "
            f"promised of coverage, measured {decimal(aggregated.mean)}."
        )
    elif f"{COVERAGE[promise.target]}_mean" not in plane:
        said = decimal(aggregated.mean)
        text = f"promised {promise.statement()}; not judged: measured {said} of what experts said."
    else:
        level = promise.bound()
        found = judgement(plane, promise)
        of = {
            "voted": " of the voted label",
            "mass": f" of sets with {bounded(promise.share or 1)} of what experts said",
        }.get(promise.target, "")
        measured = _measured(plane, COVERAGE[promise.target], "")
        if promise.cluster and found.covered and not promise.by:
            measured, of = found.covered, f'{of} of a new "{promise.cluster}"'
        text = f"promised {level}{of}, measured {decimal(measured.mean)}: {found.words}"
        if promise.target == "voted":
            text += (
                f". Nothing is promised of what experts said, measured {decimal(aggregated.mean)}"
            )
        plain = promise.target == "aggregated" and not promise.by
        text += _weakness(plane, float(promise.level)) if plain else "."
    overlap = int(plane.attrs.get(OVERLAP, 0))
    if overlap:
        text += f" {counted(overlap)} of the examples calibrated the predictor: no evidence."
    return text


@attrs.frozen
class Judgement:
    """How what was measured stands to what is guaranteed."""

    stands: Standing | None
    covered: Measured | None
    words: str


_WORST: tuple[Standing, ...] = ("broken", "short", "in line", "kept")
_AGAINST: dict[Standing, str] = {
    "broken": "below the guarantee",
    "short": "below the guarantee",
    "in line": "consistent with the guarantee",
    "kept": "at or above the guarantee",
}


def judgement(plane: xr.Dataset, promise: Guarantee) -> Judgement:
    """Return how an evaluation at one alpha stands to a guarantee, see `verdict`."""
    if promise.vacuous:
        return Judgement("vacuous", None, "kept by giving every label, which says nothing")
    if not promise.by and not promise.cluster:
        cells = [_measured(plane, COVERAGE[promise.target], "")]
    elif f"{GUARANTEED}_mean" not in plane:
        return Judgement(None, None, _unjudged(promise, str(plane.attrs.get("by", ""))))
    else:
        cells = [
            _measured(part, "", str(part[CELL].item()) if CELL in part.coords else "", GUARANTEED)
            for part in _cells(plane)
        ]
    there = [cell for cell in cells if not math.isnan(cell.mean)]
    if not there:
        return Judgement(None, None, "not judged: no test examples")
    sizes = dict(promise.groups) or {"": promise.has}

    def standing(cell: Measured) -> Standing:
        return _standing(promise, cell, sizes.get(cell.title, 0), len(there))

    worst = min(there, key=lambda cell: (_WORST.index(standing(cell)), cell.high))
    stands = standing(worst)
    words = _AGAINST[stands]
    if promise.by:
        wide = max(there, key=lambda cell: cell.high - cell.low)
        below = sum(standing(cell) in ("broken", "short") for cell in there)
        named = f'{promise.by} "{worst.title}", {decimal(worst.mean)} ({worst.interval()})'
        words += f" for {counted(below)} of {counted(len(there))}" if below else " for each"
        words += f", {named}" if below == 1 else f", least {named}"
        words += _remark(stands, worst if below else wide, sizes.get(worst.title, 0))
        if len(there) < len(cells):
            words += f"; {counted(len(cells) - len(there))} without test examples: not judged"
    else:
        words += _remark(stands, worst, promise.has)
    return Judgement(stands, worst, words)


def _standing(promise: Guarantee, covered: Measured, has: float, among: int) -> Standing:
    """Return how one of `among` measured coverages stands to the level of a guarantee."""
    level = float(promise.level or 0)
    if covered.low >= level - _SLACK:
        return "kept"
    if covered.high >= level - _SLACK:
        return "in line"
    spread = 0.0
    if promise.confidence is None and has:
        times = 2.0 if among == 1 else _beyond(among)
        spread = times * math.sqrt(float(promise.alpha * (1 - promise.alpha)) / has)
    return "short" if covered.high + spread >= level else "broken"


def _beyond(among: int) -> float:
    """Return how many deviations one of several may be off, where two are meant for one."""
    from scipy.special import ndtr, ndtri

    return -float(ndtri(ndtr(-2.0) / among))


def _remark(stands: Standing, covered: Measured, has: float) -> str:
    """Return what else is to be said of a standing."""
    if stands == "short":
        return (
            f", by no more than calibrations of {has:,.4g} examples vary; the guarantee is for "
            "their average"
        )
    if stands == "in line" and covered.high - covered.low > _WIDE:
        return "; too few examples to tell"
    if stands == "broken":
        return "; these examples may be unlike the calibration ones"
    return ""


def _unjudged(promise: Guarantee, by: str) -> str:
    """Return that a guarantee was not judged, and what would judge it."""
    if promise.by not in ("", BY_LABEL, by):
        return (
            f'not judged: the guarantee is for {promise.each}; by="{promise.by}" '
            f"(--by {promise.by}) judges it"
        )
    if promise.cluster:
        return (
            f'not judged: the guarantee is for a new "{promise.cluster}", and the examples have no '
            f'coordinate "{promise.cluster}"'
        )
    return f"not judged: the guarantee is for {promise.each}; load() the sets to judge it"


def _weakness(plane: xr.Dataset, level: float) -> str:
    """Return where the sets cover clearly less than is promised of the average example."""
    if "by" in plane.attrs:
        by = str(plane.attrs["by"])
        weakest = min(_parts(plane, by, _GROUP), key=lambda one: one.mean)
        if weakest.high < level:
            return (
                f"; weakest {by} {weakest.title}, {decimal(weakest.mean)} "
                f"({weakest.interval()}), {counted(weakest.n)} examples."
            )
        return "."
    strata = [one for one in _parts(plane, AMBIGUITY, _STRATUM) if one.n]
    if len(strata) > 1 and strata[0].high < level:
        return (
            f"; {decimal(strata[0].mean)} where experts split most. That split is unknown for a "
            "new example; groups that are known beforehand, such as the site, are shown by "
            "by=COORDINATE (--by)."
        )
    return "."


def _figures(part: xr.Dataset, prefix: str) -> dict[str, object]:
    """Return the averages of one plane or group as plain data."""
    found: dict[str, object] = {
        quantity: _ends(part, f"{prefix}{quantity}")
        for quantity in (*QUANTITIES, SET_SIZE)
        if f"{prefix}{quantity}_mean" in part
    }
    for share in ("share_empty", "share_singleton"):
        found[share] = _number(part[f"{prefix}{share}"])
    return found


def _ends(part: xr.Dataset, name: str, ends: Sequence[str] = ENDS) -> dict[str, float | None]:
    return {end: _number(part[f"{name}_{end}"]) for end in ends}


def _number(value: xr.DataArray) -> float | None:
    """Return the value, or None for NaN, which JSON does not know."""
    return None if math.isnan(value) else float(value)


def _by(plane: xr.Dataset, dim: str, prefix: str) -> list[dict[str, object]]:
    return [
        {dim: part[dim].item(), "n": int(part[f"{prefix}n"]), **_figures(part, prefix)}
        for part in each(plane, dim)
    ]


def _guaranteed(plane: xr.Dataset) -> list[dict[str, object]]:
    """Return what was judged as plain data: each cell, or the only one."""
    found = []
    for part in _cells(plane):
        cell = {"cell": part[CELL].item()} if CELL in part.coords else {}
        found.append({**cell, **_ends(part, GUARANTEED, ("n", *ENDS))})
    return found


def _cells(plane: xr.Dataset) -> list[xr.Dataset]:
    return each(plane, CELL) if CELL in plane.dims else [plane]


_TITLE = 26
_SHOWN_LABELS = 12


def _by_alpha(block: Callable[[xr.Dataset], list[str]]) -> Callable[[xr.Dataset], str]:
    """Make of what gives the lines of one alpha what gives all, with the alpha where several."""

    @functools.wraps(block)
    def described(found: xr.Dataset) -> str:
        several = names.ALPHA in found.dims and found.sizes[names.ALPHA] > 1
        texts = []
        for plane in planes(found):
            alpha = [f"alpha {float(plane[names.ALPHA]):g}"] if several else []
            texts.append("\n".join([*alpha, *block(plane)]))
        return "\n".join(texts)

    return described


@_by_alpha
def describe_strata(one: xr.Dataset) -> list[str]:
    """Return a line a stratum."""
    head = _head(f"by {one.attrs['of']}", one, "coverage", "set size")
    return [head, *_covered(one, STRATUM, SET_SIZE)]


@_by_alpha
def describe_sizes(one: xr.Dataset) -> list[str]:
    """Return a line a size of sets, without those that no set has."""
    there = one.isel({SIZE: one["count"].values > 0})
    titles = [_labels(str(size)) for size in there[SIZE].values.tolist()]
    titled = there.assign_coords({SIZE: titles})
    return [_head("by size of the set", one, "coverage", ""), *_covered(titled, SIZE, "")]


@_by_alpha
def describe_labels(one: xr.Dataset) -> list[str]:
    """Return a line a label, those with the least covered share where there are many."""
    named = one.isel({names.LABEL: one["mass"].values > 0})
    many, silent = named.sizes[names.LABEL], one.sizes[names.LABEL] - named.sizes[names.LABEL]
    head = "by label, of what is said for it"
    if many > _SHOWN_LABELS:
        order = np.argsort(named["covered_high"].values, kind="stable")[:_SHOWN_LABELS]
        head = f"by label: {_SHOWN_LABELS} of {counted(many)}"
        named = named.isel({names.LABEL: order})
    lines = [_head(head, one, "covered", "in sets")]
    lines += _of_mass(named, names.LABEL, "covered", "in_sets_mean")
    return [*lines, *([f"  nobody named {counted(silent)} of the labels"] if silent else [])]


@_by_alpha
def describe_risk(one: xr.Dataset) -> list[str]:
    """Return a line a risk level, from the least on: the share of its mass that sets miss."""
    lines = [_head(f"by {one.attrs['risk']}, of what is said for it", one, "missed", "of all")]
    lines += _of_mass(one, LEVEL, "missed", "mass_share")
    if "risk_missed_mean" in one:
        mean, low, high = figures(one, "risk_missed")
        lines.append(f"  risk left out, a mean example: {decimal(mean)} ({ends(low, high)})")
    return lines


@_by_alpha
def describe_subgroups(one: xr.Dataset) -> list[str]:
    """Return the subgroups that are covered least."""
    order = np.lexsort(tuple(one[f"{AGGREGATED}_{end}"].values for end in ("mean", "high")))
    shown = one.isel({SUBGROUP: order[:MOST_GROUPS]})
    count = one.sizes[SUBGROUP]
    head = "subgroups" if count <= MOST_GROUPS else f"weakest of {counted(count)} subgroups"
    lines = [_head(head, one, "coverage", "set size"), *_covered(shown, SUBGROUP, SET_SIZE)]
    small = int(one.attrs["left_out_subgroups"])
    note = f"Intervals hold for all {counted(count)} together; the least of many is too low."
    if small:
        noun = "clusters" if "cluster" in one.attrs else "examples"
        note += f" Left out: {counted(small)} of fewer than {one.attrs['at_least']} {noun}."
    return lines + _wrapped(note)


@_by_alpha
def describe_slab(one: xr.Dataset) -> list[str]:
    """Return what the worst slab is, in one sentence an alpha."""
    least = f"{100 * float(one.attrs['least']):g} %"
    head = _head(f"worst slab of {least} or more", one, "coverage", "elsewhere")
    count, others = counted(int(one["count"])), decimal(float(one["others_mean"]))
    return [head, _counted_line("found on other examples", count, one, AGGREGATED, others)]


def describe_uniformity(found: xr.Dataset) -> str:
    """Return how far p-values are from uniform, a line for voted, drawn and true labels."""
    width = _TITLE + 9
    lines = [f"{'p-values of the':<{width}}{'D+':>8}{'p':>8}{'D-':>8}{'promised':>11}"]
    for one in each(found, OF):
        above, below = (decimal(float(one[f"ks_{side}"])) for side in ("above", "below"))
        chance = float(one["p_super_uniform"])
        p = "< .001" if chance < 0.001 else decimal(chance)
        said = "yes" if bool(one["promised"]) else "no"
        title = f"  {one[OF].item()} label"
        lines.append(f"{title:<{width}}{above:>8}{p:>8}{below:>8}{said:>11}")
    lines += _wrapped(
        "D+: by how much more p-values are at most t than t promises, p of it by chance; "
        "D-: by how much fewer, which breaks nothing."
    )
    return "\n".join(lines)


def part_rows(found: xr.Dataset, dim: str | None = None) -> list[dict[str, object]]:
    """Return the figures of a further measure as plain data, one entry an alpha and part."""
    rows = []
    for plane in planes(found):
        for one in [plane] if dim is None else each(plane, dim):
            row: dict[str, object] = {}
            for name, values in {**one.coords, **one.data_vars}.items():
                stem, _, end = str(name).rpartition("_")
                if values.ndim:
                    continue
                if end in ENDS and f"{stem}_mean" in one:
                    row[stem] = {
                        end: one[f"{stem}_{end}"].item() for end in ENDS if f"{stem}_{end}" in one
                    }
                else:
                    row[str(name)] = values.item()
            rows.append(row)
    return rows


def _head(title: str, one: xr.Dataset, figure: str, last: str) -> str:
    level = f"{100 * float(one.attrs['confidence']):g} % interval"
    return f"{title:<{_TITLE + 9}}{figure:>8}{level:>16}{last:>11}".rstrip()


def _covered(one: xr.Dataset, dim: str, last: str) -> list[str]:
    """Return a line a part with its aggregated coverage, and a mean of something else."""
    lines = []
    for part in each(one, dim):
        count = int(part["count"])
        end = f"{float(part[f'{last}_mean']):.2f}" if last and count else "-" if last else ""
        lines.append(_counted_line(part[dim].item(), counted(count), part, AGGREGATED, end))
    return lines


def _of_mass(one: xr.Dataset, dim: str, figure: str, last: str) -> list[str]:
    """Return a line a part with its mass, a share of it, and one more figure."""
    return [
        _counted_line(
            part[dim].item(),
            f"{float(part['mass']):,.1f}",
            part,
            figure,
            decimal(float(part[last])),
        )
        for part in each(one, dim)
    ]


def _counted_line(name: object, count: str, one: xr.Dataset, figure: str, last: str) -> str:
    """Return a line of a table: title, count, mean, interval and one more figure."""
    before, title = "", str(name)
    if len(title) > _TITLE - 2:  # a line of its own
        shown = title if len(title) <= WIDTH - 2 else f"{title[: WIDTH - 3]}…"
        before, title = f"  {shown}\n", ""
    mean, low, high = figures(one, figure)
    between = "-" if math.isnan(mean) else ends(low, high)
    line = f"  {title:<{_TITLE - 2}}{count:>9}{decimal(mean):>8}{between:>16}{last:>11}"
    return before + line.rstrip()


def _labels(size: str) -> str:
    return {"0": "empty", "1": "1 label"}.get(size, f"{size} labels")


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_on_hyphens=False, break_long_words=False)
