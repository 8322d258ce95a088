"""An evaluation in words: the table and the verdict that ``plausibly evaluate`` prints."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterator
from typing import Literal, TypeAlias

import attrs
import xarray as xr

from plausibly.conformal.labelled_sets import GUARANTEES, OVERLAP
from plausibly.errors import counted
from plausibly.evaluation.evaluate import AMBIGUITY
from plausibly.evaluation.shown import measured
from plausibly.evaluation.summary import ENDS
from plausibly.guarantee import Guarantee, bounded
from plausibly.labelled import names
from plausibly.labelled.left_out import read_left_out

WIDTH = 80
AGGREGATED = "aggregated_coverage"
MASS = "mass_coverage"
QUANTITIES = {
    AGGREGATED: "aggregated: what experts said",
    "voted_coverage": "voted: the most plausible label",
    "true_coverage": "true: the known label",
    MASS: "mass: enough of what they said",
}
MOST_GROUPS = 12
Standing: TypeAlias = Literal["vacuous", "kept", "in line", "short", "broken"]
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
        return f"{decimal(self.low)} to {decimal(self.high)}" if self.n else "-"


def describe(evaluation: xr.Dataset) -> str:
    """Return the evaluation as plain text: per alpha a table, and whether the promise was kept.

    Parameters
    ----------
    evaluation : Dataset
        From `evaluate`.
    """
    blocks = [_block(plane) for plane in _planes(measured(evaluation))]
    return "\n\n".join(blocks)


def verdict(evaluation: xr.Dataset) -> str:
    """Return in one paragraph whether the sets kept what was promised, one line an alpha.

    Parameters
    ----------
    evaluation : Dataset
        From `evaluate`.

    Notes
    -----
    The interval is about more examples for this predictor; a promise of most methods is about the
    average over calibrations. A predictor is therefore called short of its promise only where the
    interval lies below it by more than coverage varies between calibrations of that size: twice
    ``sqrt(alpha (1 - alpha) / n)``, the first-order bound for one draw an example.
    """
    return "\n".join(_verdict(plane) for plane in _planes(measured(evaluation)))


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
    for plane in _planes(evaluation):
        promise = _promise(plane)
        result: dict[str, object] = {"alpha": _alpha(plane), **_figures(plane, "")}
        result["strata"] = _by(plane, AMBIGUITY, _STRATUM)
        if "by" in plane.attrs:
            result["groups"] = _by(plane, str(plane.attrs["by"]), _GROUP)
        result["guarantee"] = None if promise is None else promise.to_json()
        result["verdict"] = _verdict(plane)
        results.append(result)
    return {"n": int(evaluation["n"]), **attributes, "results": results}


def decimal(value: float) -> str:
    """Return a share with three decimals and no leading zero, ``-`` where there is none."""
    if math.isnan(value):
        return "-"
    text = f"{value:.3f}"
    return text.removeprefix("0")


def _planes(evaluation: xr.Dataset) -> Iterator[xr.Dataset]:
    """Yield the evaluation of each alpha."""
    if names.ALPHA not in evaluation.dims:
        yield evaluation
        return
    for place in range(evaluation.sizes[names.ALPHA]):
        yield evaluation.isel({names.ALPHA: place})


def _alpha(plane: xr.Dataset) -> float | None:
    return float(plane[names.ALPHA]) if names.ALPHA in plane.coords else None


def _promise(plane: xr.Dataset) -> Guarantee | None:
    """Return the guarantee of the sets at this alpha."""
    stated = [Guarantee.from_json(one) for one in json.loads(plane.attrs.get(GUARANTEES, "[]"))]
    alpha = _alpha(plane)
    if alpha is None:
        return stated[0] if len(stated) == 1 else None
    return next((promise for promise in stated if float(promise.alpha) == alpha), None)


def _measured(plane: xr.Dataset, quantity: str, title: str, prefix: str = "") -> Measured:
    """Return one figure of a plane without other dims."""
    mean, low, high = (float(plane[f"{prefix}{quantity}_{end}"]) for end in ENDS)
    size = float(plane[f"{prefix}set_size_mean"])
    return Measured(title, int(plane[f"{prefix}n"]), mean, low, high, size)


def _parts(plane: xr.Dataset, dim: str, prefix: str) -> list[Measured]:
    """Return the aggregated coverage of each group."""
    parts = [plane.isel({dim: place}) for place in range(plane.sizes[dim])]
    return [_measured(part, AGGREGATED, str(part[dim].item()), prefix) for part in parts]


def _block(plane: xr.Dataset) -> str:
    """Return the table and the verdict of one alpha."""
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
    lines += textwrap.wrap(_verdict(plane), WIDTH, break_on_hyphens=False, break_long_words=False)
    return "\n".join(lines)


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
    voted = _measured(plane, "voted_coverage", "")
    if promise is None or promise.level is None:
        text = f"nothing is promised; measured {decimal(aggregated.mean)} of what experts said."
    elif promise.target == "voted":
        text = (
            f"promised {promise.bound()} of the voted label, measured "
            f"{decimal(voted.mean)}: {_judged(promise, float(promise.level), voted)}. Nothing is "
            f"promised of what experts said, measured {decimal(aggregated.mean)}."
        )
    elif promise.target == "risk":
        text = (
            f"promised {promise.statement()}; coverage_by_risk (--risk) measures it. Nothing is "
            f"promised of coverage, measured {decimal(aggregated.mean)}."
        )
    elif promise.target == "mass" and f"{MASS}_mean" in plane:
        held = _measured(plane, MASS, "")
        text = (
            f"promised {promise.bound()} of sets with {bounded(promise.share or 1)} of what "
            f"experts said, measured {decimal(held.mean)}: "
            f"{_judged(promise, float(promise.level), held)}."
        )
    else:
        level = float(promise.level)
        text = (
            f"promised {promise.bound()}, measured {decimal(aggregated.mean)}: "
            f"{_judged(promise, level, aggregated)}{_weakness(plane, level)}"
        )
    overlap = int(plane.attrs.get(OVERLAP, 0))
    if overlap:
        text += f" {counted(overlap)} of the examples calibrated the predictor: no evidence."
    return text


def standing(promise: Guarantee, level: float, mean: float, high: float) -> Standing:
    """Return how a measured coverage stands to what was promised, see `verdict`.

    Parameters
    ----------
    promise : Guarantee
    level : float
        What it promises.
    mean, high : float
        What was measured, and where its interval ends.
    """
    if promise.vacuous:
        return "vacuous"
    if mean >= level - 1e-9:
        return "kept"
    if high >= level:
        return "in line"
    spread = 0.0
    if promise.confidence is None and promise.has:
        spread = 2 * math.sqrt(float(promise.alpha * (1 - promise.alpha)) / promise.has)
    return "short" if high + spread >= level else "broken"


def _judged(promise: Guarantee, level: float, measured: Measured) -> str:
    """Return how a measured coverage stands to what was promised, in words."""
    return {
        "vacuous": "kept by giving every label, which says nothing",
        "kept": "kept, for the average example",
        "in line": f"in line with it (the interval reaches {decimal(measured.high)})",
        "short": "short, by no more than calibrations of "
        f"{counted(promise.has)} examples vary; the promise is for their average",
        "broken": "not kept, or these examples are unlike the calibration ones",
    }[standing(promise, level, measured.mean, measured.high)]


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
    figures: dict[str, object] = {}
    for quantity in (*QUANTITIES, "set_size"):
        if f"{prefix}{quantity}_mean" in part:
            values = {end: float(part[f"{prefix}{quantity}_{end}"]) for end in ENDS}
            figures[quantity] = {end: _number(value) for end, value in values.items()}
    for share in ("share_empty", "share_singleton"):
        figures[share] = _number(float(part[f"{prefix}{share}"]))
    return figures


def _by(plane: xr.Dataset, dim: str, prefix: str) -> list[dict[str, object]]:
    """Return the averages of each group as plain data."""
    parts = [plane.isel({dim: place}) for place in range(plane.sizes[dim])]
    return [
        {dim: part[dim].item(), "n": int(part[f"{prefix}n"]), **_figures(part, prefix)}
        for part in parts
    ]


def _number(value: float) -> float | None:
    """Return the value, or None for NaN, which JSON does not know."""
    return None if math.isnan(value) else value
