"""Label Studio: the JSON-MIN export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs

from plausibly.plugin import listed, quoted
from plausibly.plugin.readers import JsonNumber, json_head, json_shown
from plausibly_builtins.readers.base import Content, Entry, example_names, refused, text_of
from plausibly_builtins.readers.label_studio import SHAPE, LabelStudioOptions, Result, Task
from plausibly_builtins.readers.label_studio_controls import (
    NAMING,
    NUMBERS,
    Control,
    Region,
    unknown_control,
)

_ID = "annotation_id"
_OWN = ("id", "annotator", _ID, "created_at", "updated_at", "lead_time", "agreement")


@attrs.frozen(kw_only=True)
class LabelStudioMin(LabelStudioOptions):
    """Read the JSON-MIN export of Label Studio: one record per annotation.

    It holds less than the JSON export: annotations that were cancelled, drafts, reviews and
    predictions are not in it, and the answer stands under the name of its control beside the data
    of the task, where a key of the same name is lost. Records without ``annotation_id`` are tasks
    without annotation.

    Attributes
    ----------
    control : str or None
        Name of the control, which is the key of its answers; None takes the only key whose values
        can be nothing but answers. A pattern such as ``"choice_{index}"`` names the controls of a
        Repeater.
    example : str
        The key that names the examples: ``"id"``, the id of the task, or a key of its data.
    """

    example: str = "id"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether records with the id of an annotation come first."""
        values = json_head(head)
        records = values[0] if len(values) == 1 and isinstance(values[0], list) else []
        return any(
            isinstance(record, dict)
            and _ID in record
            and ("annotator" in record or "lead_time" in record)
            for record in records
        )

    def content(self, path: Path, labels: Sequence[str] | None) -> Content:
        expected = "a list of records, one per annotation"
        found = SHAPE.entries(path, expected)
        if not found:
            raise SHAPE.refused("the list of records", expected, [])
        name = self._named([record for _, record in found])
        names = example_names(path.name, "record", found, self.example, ())
        tasks = [
            self._task(record, example, place, Control(name=name))
            for example, (place, record) in zip(names, found, strict=True)
        ]
        return self.answers(tasks, Counter(), path.name, name)

    def _named(self, records: Sequence[Entry]) -> str:
        """Return the name of the control: the option, or the only one that is clear."""
        keys = list(dict.fromkeys(key for r in records for key in r if key not in _OWN))
        if self.control is not None:
            pattern = Control(name=self.control)
            if any(pattern.index(key) is not None for key in keys):
                return self.control
            shown = listed(map(quoted, keys)) or "none"
            raise unknown_control(self.control, keys, shown, keys=keys)
        clear = [key for key in keys if any(_is_answer(r.get(key)) for r in records)]
        if len(clear) == 1:
            return clear[0]
        keys = clear or keys
        what = ": which key holds the answers is not clear"
        expected = "the name of the control; the data of a task stand beside it"
        got = listed(map(quoted, keys)) or "no key but those of the export itself"
        do = f'control = "{keys[-1]}", or another of them' if keys else SHAPE.do
        raise refused("control-unnamed", what, expected, got, do, keys=keys)

    def _task(self, record: Entry, example: str, place: str, control: Control) -> Task:
        """Return the task of a record with its annotation, if it is one."""
        keys = [key for key in record if control.index(key) is not None and record[key] is not None]
        if text_of(record.get(_ID)) is None:
            if not keys:
                return Task(example=example, annotations=())
            key = quoted(keys[0])
            what, expected = f" {place} is no annotation and holds {key}", "a key of answers only"
            got = f"{key} among the data of the task, which the answer overwrites or loses to"
            do = "export as JSON, where answers and data stand apart"
            raise refused("control-collides", what, expected, got, do)
        regions = tuple(region for key in keys for region in _regions(key, record[key], place))
        times = {key: record.get(key) for key in ("created_at", "updated_at")}
        fields = {"id": record[_ID], "completed_by": record.get("annotator"), **times}
        result = Result(place=place, fields=fields, regions=regions)
        return Task(example=example, annotations=(result,))


def _is_answer(value: object) -> bool:
    """Return whether a value can be nothing but that of a control whose values are labels."""
    items = value if isinstance(value, list) else [value]
    return bool(items) and all(
        isinstance(item, dict) and any(kind in item for kind in NAMING) for item in items
    )


def _regions(key: str, value: object, place: str) -> Iterator[Region]:
    """Yield the regions of a value: one choice is text, several are an object."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            known = [kind for kind in (*NAMING, *NUMBERS) if kind in item]
            yield Region(control=key, type=(known or list(item)[-1:] or [""])[0], value=item)
        elif isinstance(item, JsonNumber):
            yield Region(control=key, type="number", value={"number": item})
        elif isinstance(item, str):
            yield Region(control=key, type="choices", value={"choices": [item]})
        else:
            what = f" {place}: the value of control {quoted(key)} is no answer"
            expected = "a label, or an object such as {choices: [...]}"
            do = "fix it, or export again"
            raise refused("value-unfit", what, expected, json_shown(item), do)
