"""Responses: their states, and counts of those that were left out or merged.

Each response has one of `STATES`, which ``docs/formats.md`` describes, kept in the variable
``response_state`` (int8) by its place there. What is dropped stays in the table as a response
without mention, so that it is counted in the summary. An example that was not assigned or not
reached has no response: `plausibly.aggregate` has a policy of its own for it (`unanswered`).
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import Final, TypeVar, cast

import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.names import MERGED, near, quoted
from plausibly.errors import counted, listed

ANSWERED: Final = "answered"
UNFINISHED: Final = "unfinished"
SKIPPED: Final = "skipped"
EMPTY: Final = "empty"
NONE_OF_THESE: Final = "none-of-these"
UNKNOWN_ANNOTATOR: Final = "unknown-annotator"
REJECTED: Final = "rejected"
SUGGESTION: Final = "suggestion"
CONSOLIDATED: Final = "consolidated"

STATES: Final = (
    ANSWERED,
    UNFINISHED,
    SKIPPED,
    EMPTY,
    NONE_OF_THESE,
    UNKNOWN_ANNOTATOR,
    REJECTED,
    SUGGESTION,
    CONSOLIDATED,
)
"""The words, in the order of their codes; 0 also where a table has no ``response_state``."""

COUNT: Final = "count"
DROP: Final = "drop"
ERROR: Final = "error"
AS_LABEL: Final = "label:"

_DROPPED = frozenset({UNFINISHED, SKIPPED, EMPTY, REJECTED})
_WITHOUT_ANSWER = frozenset({SKIPPED, EMPTY})


def policy(state: str, kind: str, policies: Mapping[str, str]) -> str:
    """Return what to do with responses of a state: the user's word, else the default."""
    if state == EMPTY and kind == "label-set":
        return policies.get(state, ERROR)
    return policies.get(state, DROP if state in _DROPPED else COUNT)


def check_policies(policies: Mapping[str, str]) -> None:
    """Raise `ValueError` where a state or a policy is none: for validators of fields."""
    for state, policy in policies.items():
        if state not in STATES[1:]:
            meant = near(state, STATES[1:]) or ", ".join(STATES[1:])
            raise ValueError(f'"{state}" is no state of a response; did you mean {meant}?')
        named = policy.startswith(AS_LABEL) and len(policy) > len(AS_LABEL)
        if policy not in (COUNT, DROP, ERROR) and not named:
            raise ValueError(f'{state}: "{policy}" is neither count, drop, error nor label:NAME')
        if policy == COUNT and state in _WITHOUT_ANSWER:
            raise ValueError(f"{state}: there is no answer to count (drop, error, or label:NAME)")


def count_states(table: xr.Dataset, *, answered: bool) -> dict[str, int]:
    """Return how many responses are in each state, those that name a label or those that do not."""
    mentions = np.bincount(
        table[names.MENTION_RESPONSE].values, minlength=table.sizes[names.RESPONSE]
    )
    weight = np.ones(mentions.size)
    if names.RESPONSE_WEIGHT in table.variables:
        weights = table[names.RESPONSE_WEIGHT].values
        if (weights == np.floor(weights)).all():  # shares of one vote are responses all the same
            weight = weights
    codes = np.zeros(mentions.size, np.int8)
    if names.RESPONSE_STATE in table.variables:
        codes = table[names.RESPONSE_STATE].values
    counted_rows = (mentions > 0) == answered
    sums = np.bincount(codes[counted_rows], weight[counted_rows], minlength=len(STATES))
    counts = list(map(int, sums.tolist()))  # weights may be larger than an int64
    by_state = dict(zip(STATES, counts, strict=True))
    plain = by_state.pop(ANSWERED)
    if not answered:
        usual = EMPTY if table.attrs.get(names.KIND) == "label-set" else SKIPPED
        by_state[usual] += plain
    return {state: number for state, number in by_state.items() if number}


Labelled = TypeVar("Labelled", bound=xr.DataArray | xr.Dataset)


def read_left_out(attributes: Mapping[Hashable, object]) -> dict[str, int]:
    """Return the counts in the attribute `left_out`, by reason; none where there is none."""
    left_out = json.loads(str(attributes.get(names.LEFT_OUT, "{}")))
    return {str(reason): int(count) for reason, count in left_out.items()}


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
    merged = json.loads(str(attributes.get(MERGED, "{}")))
    return {str(alias): float(count) for alias, count in merged.items()}


def with_merged(table: xr.Dataset, more: Mapping[str, float]) -> xr.Dataset:
    """Return the table with `more` added to what it says was merged; zeros say nothing."""
    counts = read_merged(table.attrs)
    for alias, count in more.items():
        if count:
            counts[alias] = counts.get(alias, 0.0) + count
    return table.assign_attrs({MERGED: json.dumps(counts)}) if counts else table


def describe_merged(table: xr.Dataset) -> str:
    """Return what was merged, such as ``41 (40 as "Eczema", 1 as "AD")``, or nothing."""
    merged = sorted(read_merged(table.attrs).items(), key=lambda item: (-item[1], item[0]))
    if not merged:
        return ""
    shown = listed(f"{amount(count)} as {quoted(alias)}" for alias, count in merged)
    return f"{amount(sum(count for _, count in merged))} ({shown})"


def amount(count: float) -> str:
    """Return a weight of responses as text, such as ``1,200`` or ``0.5``."""
    return counted(round(count)) if count == round(count) else f"{count:,.1f}"
