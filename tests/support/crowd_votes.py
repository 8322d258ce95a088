"""The votes in an annotation table, whoever read it."""

from __future__ import annotations

from collections import Counter

import xarray as xr

Vote = tuple[str, str | None, tuple[str, ...]]


def votes_of(table: xr.Dataset) -> Counter[Vote]:
    """Return example, annotator and labels of every response, from the codes alone."""
    examples, annotators, labels = (
        table[dim].values.tolist() for dim in ("example", "annotator", "label")
    )
    named: dict[int, list[str]] = {row: [] for row in range(table.sizes["response"])}
    pairs = zip(table["mention_response"].values, table["mention_label"].values, strict=True)
    for response, label in pairs:
        named[int(response)].append(labels[int(label)])
    found: Counter[Vote] = Counter()
    for row, mentioned in named.items():
        code = int(table["response_annotator"].values[row])
        who = None if code < 0 else annotators[code]
        found[
            examples[int(table["response_example"].values[row])], who, tuple(sorted(mentioned))
        ] += 1
    return found
