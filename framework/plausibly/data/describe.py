"""What a table says of itself in two lines."""

from __future__ import annotations

import numpy as np
import xarray as xr

from plausibly import text
from plausibly.data import names
from plausibly.data.left_out import read_left_out
from plausibly.data.merged import describe_merged
from plausibly.data.rows import Rows
from plausibly.data.seal import is_intact
from plausibly.data.states import count_states
from plausibly.data.sums import ordered_sum
from plausibly.data.text import name_texts, several
from plausibly.errors import counted
from plausibly.kernels.types import Floats, Ints


def describe(table: xr.Dataset) -> str:
    """Return two lines: how much there is, then of what kind, how disputed, and what is not in."""
    if not is_intact(table):
        return (
            "annotations  detached: the rows no longer fit the names\n"
            "  made by isel, sel, sortby or the like; use plausibly.select(ann, example=...)"
        )
    rows = Rows.of(table)
    each = rows.votes
    total = float(each.sum())
    spread = f" ({_span(each)} each)" if rows.n else ""
    first = ", ".join(
        (
            several(rows.n, "example"),
            _annotators(rows),
            f"{_amount(total)} response{'' if total == 1 else 's'}{spread}",
            several(rows.labels, "label")
            + ("" if table.attrs.get(names.LABELS_DECLARED, 1) else " seen"),
        )
    )
    kind = str(table.attrs.get(names.KIND))
    parts = [kind]
    if (each > 0).any():
        parts.append(f"{_percent(_disputed(rows))} of examples disputed")
    special = count_states(table, counted=True)
    if special:
        parts.append("of these: " + ", ".join(f"{counted(v)} {k}" for k, v in special.items()))
    excluded = not_counted(table)
    if excluded:
        parts.append("not counted: " + ", ".join(f"{counted(v)} {k}" for k, v in excluded.items()))
    merged = describe_merged(table)
    if merged:
        parts.append(f"under another name: {merged}")
    return f"annotations  {first}\n  {'; '.join(parts)}"


def most_said(table: xr.Dataset) -> text.Html:
    """Return the labels that are said most, with their responses, as a table for notebooks.

    Parameters
    ----------
    table : Dataset
        An annotation table; of a detached one nothing is shown.
    """
    if not is_intact(table):
        return text.Html("")
    rows = Rows.of(table)
    said = ordered_sum(rows.label, rows.weight[rows.response], rows.labels)
    total = float(rows.votes.sum())
    names_of = name_texts(table.indexes[names.LABEL])
    order = np.argsort(-said, kind="stable")[: text.MOST_ROWS]
    shown = [
        (names_of[place], _amount(float(said[place])), _percent(float(said[place]) / total))
        for place in order
        if said[place]
    ]
    rest = rows.labels - len(shown)
    if shown and rest:
        shown.append(
            (f"{several(rest, 'other label')}", _amount(float(said.sum() - sum(said[order]))), "")
        )
    return text.table(shown, head=("label", "responses", "share")) if shown else text.Html("")


def not_counted(table: xr.Dataset) -> dict[str, int]:
    """Return how many responses count for nothing, by reason: their states, then `left_out`."""
    found = count_states(table, counted=False)
    for reason, number in read_left_out(table.attrs).items():
        found[reason] = found.get(reason, 0) + number
    return found


def _annotators(rows: Rows) -> str:
    known = rows.table.sizes[names.ANNOTATOR]
    unknown = bool((rows.annotator == names.UNKNOWN_ANNOTATOR).any())
    if not known:
        return "annotators unknown"
    return several(known, "annotator") + (" and unknown ones" if unknown else "")


def _amount(weight: float) -> str:
    return counted(round(weight)) if weight == round(weight) else f"{weight:,.1f}"


def _percent(share: float) -> str:
    """Return a share in whole per cent; only none is 0 and only all is 100."""
    if 0 < share < 0.01:
        return "under 1 %"
    return "over 99 %" if 0.99 < share < 1 else f"{100 * share:.0f} %"


def _span(each: Floats) -> str:
    low, high = float(each.min()), float(each.max())
    return _amount(low) if low == high else f"{_amount(low)} to {_amount(high)}"


def _disputed(rows: Rows) -> float:
    """Return the share of answered examples with two responses that differ.

    Responses of an example are all equal exactly when each mention in one of them is in all:
    mentions = distinct mentions x responses.
    """
    example = rows.example[rows.response]
    columns: list[Ints] = [example, rows.label, rows.block]
    if names.MENTION_WEIGHT in rows.table.variables:
        columns.append(np.unique(rows.share, return_inverse=True)[1])
    order = np.lexsort(columns[::-1])
    first = np.ones(example.size, bool)
    first[1:] = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    distinct = example[order][first]
    answered = rows.example[rows.mentions > 0]
    responses, different, mentions = (
        np.bincount(part, minlength=rows.n) for part in (answered, distinct, example)
    )
    return float((mentions != different * responses).sum() / (responses > 0).sum())
