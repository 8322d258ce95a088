"""Exports of Label Studio, written piece by piece."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

from io_files import written

Json: TypeAlias = Any  # what a document holds: of any shape, also a wrong one
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
