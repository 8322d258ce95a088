"""What an annotation table says, from its codes alone."""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

import xarray as xr

from plausibly.data.states import STATES

Vote: TypeAlias = tuple[str, str | None, tuple[str, ...]]
"""Example, annotator (None = unknown), labels in the order of their names."""


def voted(table: xr.Dataset) -> list[tuple[Vote, str]]:
    """Return every response with the word for its state."""
    names = {dim: table[dim].values.tolist() for dim in ("example", "annotator", "label")}
    named: list[list[str]] = [[] for _ in range(table.sizes["response"])]
    for response, label in zip(
        table["mention_response"].values, table["mention_label"].values, strict=True
    ):
        named[int(response)].append(names["label"][int(label)])
    state = table["response_state"].values if "response_state" in table else [0] * len(named)
    columns = zip(
        table["response_example"].values, table["response_annotator"].values, state, strict=True
    )
    found: list[tuple[Vote, str]] = []
    for labels, (about, who, code) in zip(named, columns, strict=True):
        annotator = None if who < 0 else names["annotator"][int(who)]
        vote = (names["example"][int(about)], annotator, tuple(sorted(labels)))
        found.append((vote, STATES[int(code)]))
    return found


def votes(table: xr.Dataset) -> Counter[Vote]:
    """Return how often each response is there, whatever its state."""
    return Counter(vote for vote, _ in voted(table))
