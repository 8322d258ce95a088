"""Coverage by risk: how much of what experts say in favour of dangerous labels the sets miss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.names import is_missing, name_text, name_texts, near, quoted, text_array
from plausibly.errors import InputError, counted, listed
from plausibly.evaluation import inputs
from plausibly.evaluation.intervals import IntervalMethod
from plausibly.evaluation.judged import Judged, judge
from plausibly.kernels.coverage import row_sums

Risk: TypeAlias = "str | Mapping[str, object] | xr.DataArray"
"""Levels of the labels: a coordinate over label, or levels by the name of the label."""

LEVEL = "level"
_WORDS = (
    *(
        "none",
        "negligible",
        "very low",
        "low",
        "minor",
        "mild",
        "moderate",
        "medium",
        "intermediate",
    ),
    *("elevated", "major", "high", "very high", "serious", "severe", "critical", "fatal"),
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
    given = levels_of(risk, judged.labels, (judged.sets, judged.about))
    levels, codes = in_order(given, order)
    risks = None
    if levels.dtype.kind in "if" and levels.min() >= 0:
        risks = levels[codes].astype(np.float64)
    outside, weights, losses = _outside(judged, codes, len(levels), risks)
    missed = []
    for mass, row in zip(weights, outside, strict=True):
        shares = [np.divide(o, mass, out=np.zeros_like(mass), where=mass > 0) for o in row]
        missed.append([judged.interval(share, mass) for share in shares])
    found = judged.result(risk=risk if isinstance(risk, str) else "risk")
    found = found.assign_coords({LEVEL: levels})
    found = found.assign(
        {
            "labels": (LEVEL, np.bincount(codes, minlength=len(levels)).astype(np.int64)),
            "examples": (LEVEL, (weights > 0).sum(axis=1).astype(np.int64)),
            "mass": (LEVEL, weights.sum(axis=1)),
            "mass_share": (LEVEL, weights.sum(axis=1) / weights.sum()),
            **judged.found({"missed": missed}, LEVEL),
        }
    )
    if risks is None:
        return found
    most = max(float(risks.max()), np.finfo(np.float64).tiny)
    return found.assign(
        judged.found({"risk_missed": [[judged.interval(loss, top=most) for loss in losses]]}, None)
    )


def _outside(
    judged: Judged, codes: NDArray[np.intp], levels: int, risks: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return what sets leave out, from a few examples at a time.

    Parameters
    ----------
    judged : Judged
    codes : ndarray of int, (label,)
        The level of each label.
    levels : int
    risks : ndarray of float64, (label,), or None

    Returns
    -------
    outside : ndarray, (level, alpha, example)
        Plausibility of the level that is outside the set.
    weights : ndarray, (level, example)
        Plausibility of the level.
    losses : ndarray, (alpha, example)
        Risk outside the set; 0 without `risks`.
    """
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


def levels_of(risk: Risk, labels: Sequence[str], arrays: Sequence[xr.DataArray]) -> list[object]:
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
    """Return a coordinate of the labels, by label, from the first array that has it.

    Parameters
    ----------
    name : str
    arrays : sequence of DataArray or Dataset
        With coordinates over label, such as the table that `plausibly.read_labels` returns.

    Raises
    ------
    InputError
        ``risk-missing``, with the coordinates there are.
    """
    for array in arrays:
        if name in array.coords and array[name].dims == (names.LABEL,) and name != names.LABEL:
            here = map(str, array[names.LABEL].values)
            return dict(zip(here, array[name].values.tolist(), strict=True))
    there = sorted(
        {
            str(found)
            for array in arrays
            for found, values in array.coords.items()
            if values.dims == (names.LABEL,) and found != names.LABEL
        }
    )
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
    elif all(level.casefold() in _WORDS for level in known):
        known = sorted(known, key=lambda level: _WORDS.index(level.casefold()))
    places = {level: place for place, level in enumerate(known)}
    codes = np.array([places[text] for text in texts], dtype=np.intp)
    if numbers:
        values = dict(zip(texts, given, strict=True))
        return np.array([values[level] for level in known]), codes
    return text_array(known), codes
