"""What was left out on the way, counted by reason: it travels in one attribute, as JSON."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import TypeVar

import xarray as xr

from plausibly.data import names

Labelled = TypeVar("Labelled", xr.DataArray, xr.Dataset)


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
    return array.assign_attrs({names.LEFT_OUT: json.dumps(counts)}) if counts else array
