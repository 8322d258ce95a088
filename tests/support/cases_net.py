"""Case folders of readers: a file, how it is read, and the long table or the refusal expected."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import xarray as xr

import plausibly
from plausibly.errors import InputError, PlausiblyWarning

COLUMNS = ["example", "annotator", "label", "block", "share", "weight", "state"]

Spec = dict[str, Any]  # what TOML holds
Answer = tuple[str, list[list[str]], list[str], list[str], list[str]]


def long_table(table: xr.Dataset) -> list[list[str]]:
    """Return one row per label of each response; one without labels has a row of its own."""
    response = table["mention_response"].values
    get = table.variables.get
    rows = []
    for row in range(table.sizes["response"]):
        who = int(table["response_annotator"].values[row])
        head = [
            str(table["example"].values[table["response_example"].values[row]]),
            "" if who < 0 else str(table["annotator"].values[who]),
        ]
        weight, state = get("response_weight"), get("response_state")
        tail = [
            "" if weight is None else repr(float(weight.values[row])),
            "" if state is None else str(state.values[row]),
        ]
        mentions = np.flatnonzero(response == row).tolist()
        if not mentions:
            rows.append([*head, "", "", "", *tail])
        for place in mentions:
            label = str(table["label"].values[table["mention_label"].values[place]])
            block, share = get("mention_block"), get("mention_weight")
            rows.append(
                [
                    *head,
                    label,
                    "" if block is None else str(int(block.values[place])),
                    "" if share is None else repr(float(share.values[place])),
                    *tail,
                ]
            )
    return rows


def read(case: Path, spec: Spec) -> Answer:
    """Return what reading the file of a case gives: refusal or kind, rows, names, warnings."""
    with catch_warnings(record=True) as warned:
        simplefilter("always")
        try:
            table = plausibly.read_annotations(
                case / spec["file"],
                spec.get("reader"),
                spec.get("labels"),
                **spec.get("options", {}),
            )
        except InputError as error:
            return f"refused {error.name}", [], [], [], told(warned)
    return (
        str(table.attrs["kind"]),
        long_table(table),
        [str(name) for name in table["label"].values],
        [str(name) for name in table["example"].values],
        told(warned),
    )


def told(warned: list[Any]) -> list[str]:  # Any: the module of warnings has no public class
    """Return the names of the product's own warnings."""
    own = (one.message for one in warned)
    return sorted({one.name for one in own if isinstance(one, PlausiblyWarning)})


def expected(case: Path, spec: Spec) -> Answer:
    """Return what reading the file of a case has to give."""
    warnings = spec.get("warnings", [])
    if "refused" in spec:
        return f"refused {spec['refused']}", [], [], [], warnings
    with (case / "expected.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == COLUMNS
    return spec["kind"], rows, spec["table_labels"], spec["examples"], warnings
