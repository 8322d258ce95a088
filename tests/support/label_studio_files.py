"""Exports of Label Studio, written piece by piece."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import xarray as xr

import plausibly
from io_files import written
from plausibly.data import states
from plausibly.errors import PlausiblyWarning

Json: TypeAlias = Any  # what a document holds: of any shape, also a wrong one
Option: TypeAlias = Any  # of a reader, by its name
Fields = dict[str, Json]


def region(value: Json, control: str = "dx", kind: str = "choices", **more: Json) -> Fields:
    """Return one value of a control: a label, labels, or a whole value."""
    if kind == "choices" and isinstance(value, str):
        value = [value]
    inside = value if isinstance(value, dict) else {kind: value}
    return {"from_name": control, "to_name": "text", "type": kind, "value": inside, **more}


def annotation(who: Json, *said: str | Fields, **more: Json) -> Fields:
    """Return an annotation; texts are choices of the control dx, all in one region."""
    labels = [item for item in said if isinstance(item, str)]
    regions = [item for item in said if not isinstance(item, str)]
    result = ([region(labels)] if labels else []) + regions
    return {"completed_by": who, "result": result, **more}


def task(number: Json, *annotations: Fields, **more: Json) -> Fields:
    """Return a task with its annotations."""
    return {"id": number, "data": {"text": f"t{number}"}, "annotations": [*annotations], **more}


def export(folder: Path, *tasks: Json, name: str = "export.json") -> Path:
    """Return the file with these tasks."""
    return written(folder, name, json.dumps(list(tasks)))


def read(path: Path, labels: Option = None, **options: Option) -> xr.Dataset:
    """Return the table in an export, read by name; warnings are for other tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        return plausibly.read_annotations(path, "label-studio", labels, **options)


def votes(table: xr.Dataset) -> Counter[tuple[str, str, str, str]]:
    """Return example, annotator, state and answer of every response, and how often each is there.

    The answer is its labels, by rank where there are ranks: ``"a=b>c"``.
    """
    found: Counter[tuple[str, str, str, str]] = Counter()
    code = states.codes(table)
    for response in range(table.sizes["response"]):
        mine = np.flatnonzero(table["mention_response"].values == response)
        label = table["label"].values[table["mention_label"].values[mine]].tolist()
        block = (
            table["mention_block"].values[mine] if "mention_block" in table else np.ones(len(mine))
        )
        ranks = [
            "=".join(sorted(x for x, b in zip(label, block, strict=True) if b == rank))
            for rank in sorted(set(block.tolist()))
        ]
        who = int(table["response_annotator"].values[response])
        found[
            (
                str(table["example"].values[table["response_example"].values[response]]),
                str(table["annotator"].values[who]) if who >= 0 else "?",
                states.STATES[code[response]],
                ">".join(ranks),
            )
        ] += 1
    return found


def answers(table: xr.Dataset) -> dict[tuple[str, str], str]:
    """Return the answer of each known annotator to each example, where there is one."""
    return {(e, who): said for (e, who, _, said) in votes(table) if said}
