"""Levels of risk of the labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.coordinates import coordinates_over
from plausibly.data import names
from plausibly.data.names import is_missing, name_text, name_texts, positions, quoted, text_array
from plausibly.errors import InputError, counted, listed
from plausibly.evaluation.inputs import meant

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
    if isinstance(risk, str):
        table = label_coordinate(risk, arrays)
    else:
        table = {name_text(label): level for label, level in risk.items()}
    lacking = [label for label in labels if is_missing(table.get(label)) or table[label] == ""]
    if lacking:
        raise InputError(
            "risk-missing",
            f"{counted(len(lacking))} of {counted(len(labels))} labels have no risk level",
            expected="a level for each label of the sets",
            found=f"none for {listed(map(quoted, lacking))}",
            hint="add them to the table of labels, or to the mapping",
            source="risk",
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
    raise InputError(
        "risk-missing",
        f'the labels have no coordinate "{name}"',
        expected="a coordinate over label",
        found=listed(there) or "none",
        hint=meant(name, there) or "a table of labels that has it",
        source="risk",
        details={"coordinates": there},
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
                source="risk",
            )
        known = [level for level in known_order if level in known]
    else:
        words = _WORDS.split(", ")
        if all(level.casefold() in words for level in known):
            known.sort(key=lambda level: words.index(level.casefold()))
    values = dict(zip(texts, of_labels, strict=True))
    levels = np.array([values[level] for level in known]) if numbers else text_array(known)
    return levels, positions(known, texts)
