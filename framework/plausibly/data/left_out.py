"""Counts of what was left out or merged on the way, in attributes as JSON."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import TypeVar, cast

import xarray as xr

from plausibly.data import names
from plausibly.data.names import MERGED, quoted
from plausibly.errors import counted, listed

Labelled = TypeVar("Labelled", bound=xr.DataArray | xr.Dataset)


def read_left_out(attributes: Mapping[Hashable, object]) -> dict[str, int]:
    """Return the counts in the attribute `left_out`, by reason; none where there is none."""
    found = json.loads(str(attributes.get(names.LEFT_OUT, "{}")))
    return {str(reason): int(count) for reason, count in found.items()}


def with_left_out(array: Labelled, more: Mapping[str, int]) -> Labelled:
    """Return the array with `more` added to what it says was left out; zeros say nothing."""
    counts = read_left_out(array.attrs)
    for reason, count in more.items():
        if count:
            counts[reason] = counts.get(reason, 0) + count
    about = {names.LEFT_OUT: json.dumps(counts)} if counts else {}
    return cast("Labelled", array.assign_attrs(about))


def read_merged(attributes: Mapping[Hashable, object]) -> dict[str, float]:
    """Return how many answers named each alias, by alias; none where none did."""
    found = json.loads(str(attributes.get(MERGED, "{}")))
    return {str(alias): float(count) for alias, count in found.items()}


def with_merged(table: xr.Dataset, more: Mapping[str, float]) -> xr.Dataset:
    """Return the table with `more` added to what it says was merged; zeros say nothing."""
    counts = read_merged(table.attrs)
    for alias, count in more.items():
        if count:
            counts[alias] = counts.get(alias, 0.0) + count
    return table.assign_attrs({MERGED: json.dumps(counts)}) if counts else table


def describe_merged(table: xr.Dataset) -> str:
    """Return what was merged, such as ``41 (40 as "Eczema", 1 as "AD")``, or nothing."""
    found = sorted(read_merged(table.attrs).items(), key=lambda item: (-item[1], item[0]))
    if not found:
        return ""
    shown = listed(f"{_amount(count)} as {quoted(alias)}" for alias, count in found)
    return f"{_amount(sum(count for _, count in found))} ({shown})"


def _amount(count: float) -> str:
    return counted(round(count)) if count == round(count) else f"{count:,.1f}"
