"""Kinds of results, and the figures that can be drawn of each."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import InputError, counted, listed
from plausibly.evaluation.inputs import guarantees_of
from plausibly.evaluation.result import Result, alpha_of, data_of, decimal

_COVERED = "aggregated_coverage"
_MEAN = f"{_COVERED}_mean"
_BY = "evaluation.coverage_by(sets, plausibilities, by={})"
_P_VALUES = "evaluation.p_value_uniformity(predictor, predictions, plausibilities)"
_CONFUSION = 'reliability(annotations, "dawid-skene")'
_STUDY = "compare(predictions, plausibilities, methods)"
_SENSITIVITY = "sensitivity(predictions, annotations, aggregators)"

KINDS: Mapping[str, tuple[str, str, set[str]]] = {
    "evaluation": ("evaluate(sets, plausibilities)", _COVERED, {"example"}),
    "grouped": ("evaluate(sets, plausibilities, by=...)", "group_n", set()),
    "study": (_STUDY, _COVERED, {"method", "split", "alpha"}),
    "strata": (_BY.format("ByRange(...)"), _MEAN, {"stratum"}),
    "sizes": (_BY.format('"set-size"'), _MEAN, {"size"}),
    "subgroups": (_BY.format("[...]"), _MEAN, {"subgroup"}),
    "labels": (_BY.format('"label"'), "covered_mean", {"label"}),
    "risk": (_BY.format("ByRisk(...)"), "missed_mean", {"level"}),
    "realised": ("evaluation.sorted_coverage(sets, plausibilities)", _COVERED, {"share"}),
    "uniformity": (_P_VALUES, "p_value", {"of", "example"}),
    "agreement": ("agreement(annotations)", "value", {"measure"}),
    "disagreement": ("annotators.label_disagreement(plausibilities)", "together", {"other"}),
    "reliability": ("reliability(annotations, aggregator)", "weight", {"annotator"}),
    "confusion": (_CONFUSION, "confusion", {"annotator", "label", "said"}),
    "plan": ("plan(predictions, plausibilities)", "coverage", {"n", "draws", "bound"}),
    "sensitivity": (_SENSITIVITY, _COVERED, {"calibrated_with", "judged_by"}),
}
"""Kinds of results: the call that makes each, and a variable of it with some of its dims."""

FIGURES: Mapping[str, tuple[str, ...]] = {
    "coverage": ("evaluation", "study"),
    "sizes": ("evaluation", "study", "sizes"),
    "alphas": ("evaluation", "study"),
    "strata": ("evaluation", "strata", "sizes"),
    "groups": ("grouped", "subgroups"),
    "labels": ("labels",),
    "risk": ("risk",),
    "realised": ("evaluation", "realised"),
    "uniformity": ("uniformity",),
    "p_values": ("uniformity",),
    "agreement": ("agreement",),
    "annotators": ("agreement", "reliability"),
    "disagreement": ("disagreement",),
    "confusion": ("confusion",),
    "planning": ("plan",),
    "sensitivity": ("sensitivity",),
}
"""Kinds of results that each figure can be drawn of."""


def kinds_of(result: object) -> list[str]:
    if not isinstance(result, xr.Dataset):
        return []
    return [
        name
        for name, (_, variable, dims) in KINDS.items()
        if variable in result and dims.issubset(result[variable].dims)
    ]


def figures_of(result: object) -> list[str]:
    result_kinds = kinds_of(result)
    return [
        figure for figure, kinds in FIGURES.items() if any(kind in result_kinds for kind in kinds)
    ]


def unsuitable(figure: str, what: str, *, expected: str, found: str, hint: str) -> InputError:
    return InputError(
        "figure-unsuitable",
        f"figure {figure} cannot be drawn of {what}",
        expected=expected,
        found=found,
        hint=hint,
        source=f"figure {figure}",
    )


def check(result: object, figure: str) -> str:
    result_kinds = kinds_of(result)
    for kind in FIGURES[figure]:
        if kind in result_kinds:
            return kind
    calls = [f"plausibly.{KINDS[kind][0]}" for kind in FIGURES[figure]]
    what, others = type(result).__name__, listed(figures_of(result), most=20)
    raise unsuitable(
        figure,
        f"this {what}",
        expected=f"the result of {' or '.join(calls)}",
        found=f"a {what}, which has the figure {others}" if others else f"a {what}",
        hint=f"plausibly.plots.{figure}({calls[0]})",
    )


def opened(result: xr.Dataset | Result, figure: str, alpha: float | None) -> tuple[str, xr.Dataset]:
    data = data_of(result)
    return check(data, figure), at_alpha(data, alpha)


def at_alpha(result: xr.Dataset, alpha: float | None) -> xr.Dataset:
    if names.ALPHA not in result.coords:
        return result
    there = np.atleast_1d(result[names.ALPHA].values).astype(np.float64)
    near = np.isclose(there, there[0] if alpha is None else float(alpha), rtol=0, atol=1e-9)
    if not near.any():
        raise InputError(
            "figure-alpha",
            f"this result has no alpha {alpha:g}",
            expected=f"alpha {listed(f'{value:g}' for value in there)}",
            found=f"{alpha:g}",
            hint=f"alpha={there[0]:g}, or predict and evaluate at {alpha:g}",
        )
    return result.isel({names.ALPHA: int(near.argmax())}) if names.ALPHA in result.dims else result


def wanted(result: xr.Dataset) -> float | None:
    """Return 1 - alpha of a result at one alpha, None where it has none."""
    alpha = alpha_of(result)
    return None if alpha is None else 1 - alpha


def with_alpha(title: str, result: xr.Dataset) -> str:
    alpha = alpha_of(result)
    return title if alpha is None else f"{title}, alpha {alpha:g}"


def guaranteed(result: xr.Dataset) -> str:
    alpha = alpha_of(result)
    for guarantee in guarantees_of(result.attrs):
        if alpha is not None and abs(float(guarantee.alpha) - alpha) < 1e-9:
            text = guarantee.statement()
            return text if guarantee.level is None else f"guaranteed: {text}"
    return ""


def on_what(result: xr.Dataset, *, examples: int | None = None, lines: str = "lines") -> str:
    if examples is None:
        examples = int(result["n"] if "n" in result else result.attrs["n"])
    text = several(examples, "example")
    if "cluster" in result.attrs:
        text += (
            f" in {several(int(result.attrs['clusters']), 'cluster')} ({result.attrs['cluster']})"
        )
    if lines and "confidence" in result.attrs:
        text += f"; {lines}: {per_cent(result.attrs['confidence'])} intervals"
    return text


def dashed(result: xr.Dataset) -> str:
    level = wanted(result)
    return "" if level is None else f"dashed: {decimal(level, 2)}, as wanted"


def per_cent(value: Hashable) -> str:
    return f"{100 * float(str(value)):g}%"


def some_of(shown: int, there: int, noun: str, which: str) -> str:
    return "" if shown >= there else f"{counted(shown)} of {several(there, noun)}: {which}"
