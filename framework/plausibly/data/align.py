"""Alignment by name: the same labels in the same order, the same examples in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

import attrs
import numpy as np
import xarray as xr

from plausibly.data.labels import without_unsaid_parents
from plausibly.data.names import (
    Named,
    does,
    merged_by,
    near_pairs,
    not_among,
    positions,
    quoted,
    several,
)
from plausibly.data.plausibilities import Plausibilities
from plausibly.data.states import Labelled, with_left_out
from plausibly.data.validate import Predictions
from plausibly.errors import InputError, counted, listed

Record = TypeVar("Record", Named, Predictions, Plausibilities)


def match_labels(
    array: Labelled, labels: Sequence[str], *, source: str, other: str, hint: str = ""
) -> Labelled:
    """Return the array with its labels in the order of `labels`."""
    record = with_labels(Plausibilities.of(array), labels, source=source, other=other, hint=hint)
    return cast("Labelled", record.array)


def with_labels(
    record: Record, labels: Sequence[str], *, source: str, other: str, hint: str = ""
) -> Record:
    """Return the record with its labels in the order of `labels`."""
    here, wanted = record.labels.texts, list(labels)
    if here == wanted:
        return record
    lost, surplus = not_among(wanted, here), not_among(here, wanted)
    if surplus and not lost:
        record = without_unsaid_parents(record, wanted, source=source, other=other)
        here = record.labels.texts
        surplus = not_among(here, wanted)
    if not (lost or surplus):
        return record.take_labels(positions(here, wanted))
    advice = "add a column for each; 0 where the model cannot give it"
    if surplus:
        many = "a label" if len(surplus) == 1 else several(len(surplus), "label")
        what = f"{does(source, 'have')} {many} that {does(other, 'do')} not have"
        found = listed(map(quoted, surplus))
        if lost:
            found += f", without {listed(map(quoted, lost))}"
        else:
            advice = f"declare every label for {other}: labels=[...]"
    else:
        what = f"{does(source, 'lack')} {several(len(lost), 'label')}: {listed(map(quoted, lost))}"
        found = f"{counted(len(wanted) - len(lost))} of them"
    if surplus and lost:
        pairs = near_pairs(surplus, lost)
    else:  # one of them may have a name in two ways
        pairs = near_pairs(surplus or lost, not_among(wanted, lost), alike=True)
    if pairs:
        found = listed(f"{quoted(one)} and there {quoted(two)}" for one, two in pairs)
        advice = merged_by(pairs)
    raise InputError(
        "labels-differ",
        what,
        expected=f"the same {several(len(wanted), 'name')}",
        found=found,
        hint=hint or advice,
        source=source,
        details={"only_here": surplus, "only_there": lost},
    )


def match_examples(
    predictions: xr.DataArray,
    plausibilities: Labelled,
    *,
    only_common: bool = False,
    source: str = "predictions",
    other: str = "plausibilities",
) -> tuple[xr.DataArray, Labelled]:
    """Return both arrays for the same examples, in the order of the predictions."""
    first, second = Plausibilities.of(predictions), Plausibilities.of(plausibilities)
    first, second = same_examples(
        first, second, only_common=only_common, source=source, other=other
    )
    return cast("xr.DataArray", first.array), cast("Labelled", second.array)


def same_examples(
    first: Record,
    second: Plausibilities,
    *,
    only_common: bool = False,
    source: str = "predictions",
    other: str = "plausibilities",
) -> tuple[Record, Plausibilities]:
    """Return both records for the same examples, in the order of the first."""
    if first.examples.same(second.examples):
        return first, second
    here, there = first.examples.texts, second.examples.texts
    place = positions(there, here)
    common = np.flatnonzero(place >= 0)
    surplus: list[str] = []
    lost: list[str] = []
    if common.size < max(len(here), len(there)):  # else no names are sought again
        surplus, lost = not_among(here, there), not_among(there, here)
    if (surplus or lost) and not (only_common and common.size):
        owner, lacking, of = (source, lost, other) if lost else (other, surplus, source)
        pairs = near_pairs(surplus, lost)
        sides = ((lost, "there"), (surplus, "here"))
        found = ", ".join(f"{listed(names)} only {where}" for names, where in sides if names)
        if pairs:
            found = listed(f'"{one}" here and "{two}" there' for one, two in pairs)
        raise InputError(
            "examples-differ",
            f"{does(owner, 'lack')} {several(len(lacking), 'example')} of {of}",
            expected="equal names",
            found=found,
            hint=f"fix the names, or only_common=True, which keeps {counted(common.size)}"
            if common.size
            else "fix the names: none is in both",
            source=source,
            details={"only_here": surplus, "only_there": lost},
        )
    matched = second.take_examples(place[common])
    array = with_left_out(matched.array, {f"not in {source}": len(lost)})
    matched = attrs.evolve(matched, array=array)
    if surplus:
        first = first.take_examples(common)
        rest = with_left_out(first.array, {f"not in {other}": len(surplus)})
        first = attrs.evolve(first, array=rest)
    return first, matched
