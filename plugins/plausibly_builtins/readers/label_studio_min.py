"""Label Studio: the JSON-MIN export, one record an annotation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    JsonNumber,
    json_head,
    json_shown,
    listed,
    near,
    quoted,
    read_json,
)
from plausibly_builtins.readers._label_studio_answers import LabelStudioOptions, in_kind
from plausibly_builtins.readers._label_studio_controls import Control, chosen, types_of
from plausibly_builtins.readers._label_studio_people import People
from plausibly_builtins.readers._label_studio_tasks import Entry, Fields, Region, Task, text_of
from plausibly_builtins.readers._label_studio_values import NAMING, NUMBERS
from plausibly_builtins.readers._label_studio_walk import Walk, by_example

_ANNOTATION = "annotation_id"
_OWN = (
    "id",
    "annotator",
    _ANNOTATION,
    "created_at",
    "updated_at",
    "lead_time",
    "agreement",
)
_KNOWN = (*NAMING, *NUMBERS)
_EXPECTED = "a list of records, one an annotation"


@attrs.frozen(kw_only=True)
class LabelStudioMin(LabelStudioOptions):
    """Read the JSON-MIN export of Label Studio: one record an annotation.

    It holds less than the JSON export: annotations that were cancelled, drafts, reviews and
    predictions are not in it, and the answer stands under the name of its control beside the data
    of the task, where a key of the same name is lost. Records without ``annotation_id`` are tasks
    that nobody annotated.

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
            and _ANNOTATION in record
            and ("annotator" in record or "lead_time" in record)
            for record in records
        )

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the export.

        Parameters
        ----------
        path : Path
            The file.
        labels : sequence of str or None
            The declared labels; the export lists none that nobody chose.

        Raises
        ------
        InputError
            What the reader ``label-studio`` says of controls and values; ``control-unnamed`` where
            it is not clear which key holds the answers, ``control-collides`` where the data have
            a key of its name, ``label-studio-shape``, ``example-unnamed``.
        """
        whose = path.name
        records = _records(path)
        name = self._named(records, whose)
        pattern = Control(name=name, type=None)
        tasks = [
            Task(
                example=self._example(record, number, whose),
                place=f"record {number}",
                annotations=tuple(_entries(record, number, pattern, whose)),
                drafts=(),
                predictions=(),
            )
            for number, record in enumerate(records, start=1)
        ]
        entries = [entry for task in tasks for entry in task.annotations]
        control = chosen(types_of(entries), name, numbers=self.numbers == "label", whose=whose)
        walk = Walk(
            control=control,
            reading=self.reading(whose),
            people=People.of(entries),
            policies=self.states,
            drop_truth=False,
            left_out=Counter(),
        )
        responses = [r for group in by_example(tasks) for r in walk.responses(group)]
        kind, answered = in_kind(responses, control, self.kind, whose)
        return self.gathered(
            kind,
            answered,
            labels,
            whose=whose,
            examples=() if control.repeats else [task.example for task in tasks],
            left_out=walk.left_out,
        )

    def _named(self, records: Sequence[Fields], whose: str) -> str:
        """Return the name of the control: as the user says, or the only one that is clear."""
        keys = dict.fromkeys(key for r in records for key in r if key not in _OWN)
        if self.control is None:
            clear = [key for key in keys if any(_is_answer(r.get(key)) for r in records)]
            if len(clear) == 1:
                return clear[0]
            raise _unnamed(clear or list(keys), whose)
        pattern = Control(name=self.control, type=None)
        if any(pattern.index(key) is not None for key in keys):
            return self.control
        guess = near(self.control, keys)
        raise InputError(
            "control-unknown",
            f"{whose} holds no answer to a control {quoted(self.control)}",
            expected="a key of the records that holds answers",
            got=listed(map(quoted, keys)) or "none",
            do=f'did you mean control = "{guess}"?' if guess else "name one of those",
            whose=whose,
            details={"keys": list(keys)},
        )

    def _example(self, record: Fields, number: int, whose: str) -> str:
        name = text_of(record.get(self.example))
        if name is not None:
            return name
        raise InputError(
            "example-unnamed",
            f"{whose} record {number} names no example",
            expected=f"text or a number under {quoted(self.example)}",
            got=json_shown(record.get(self.example)),
            do='example = "..." with a key that all records have',
            whose=whose,
        )


def _records(path: Path) -> list[Fields]:
    content = read_json(path, expected=_EXPECTED)
    wrong = content
    if isinstance(content, list) and content:
        unfit = [record for record in content if not isinstance(record, dict)]
        if not unfit:
            return content
        wrong = unfit[0]
    raise InputError(
        "label-studio-shape",
        f"{path.name} is no list of records",
        expected=_EXPECTED,
        got=json_shown(wrong),
        do="export again as JSON-MIN",
        whose=path.name,
    )


def _is_answer(value: object) -> bool:
    """Return whether a value can be nothing but that of a control whose values are labels."""
    items = value if isinstance(value, list) else [value]
    return bool(items) and all(
        isinstance(item, dict) and any(kind in item for kind in NAMING) for item in items
    )


def _entries(record: Fields, number: int, control: Control, whose: str) -> Iterator[Entry]:
    """Yield the annotation in a record, if it is one."""
    keys = [key for key in record if control.index(key) is not None and record[key] is not None]
    if text_of(record.get(_ANNOTATION)) is None:
        if keys:
            raise _collides(keys[0], number, whose)
        return
    fields = {
        "id": record[_ANNOTATION],
        "completed_by": record.get("annotator"),
        "created_at": record.get("created_at"),
        "updated_at": record.get("updated_at"),
    }
    regions = [region for key in keys for region in _regions(key, record[key], number, whose)]
    yield Entry(place=f"record {number}", fields=fields, regions=tuple(regions))


def _regions(key: str, value: object, number: int, whose: str) -> Iterator[Region]:
    """Yield the regions of a value: one choice is text, several are an object."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            kinds = [kind for kind in _KNOWN if kind in item] or list(item)[-1:] or [""]
            kind, inside = kinds[0], item
        elif isinstance(item, JsonNumber):
            kind, inside = "number", {"number": item}
        elif isinstance(item, str):
            kind, inside = "choices", {"choices": [item]}
        else:
            raise InputError(
                "value-unfit",
                f"{whose} record {number}: the value of control {quoted(key)} is no answer",
                expected="a label, or an object such as {choices: [...]}",
                got=json_shown(item),
                do="mend it, or export again",
                whose=whose,
            )
        yield Region(control=key, type=kind, value=inside, origin=None, score=None)


def _unnamed(keys: Sequence[str], whose: str) -> InputError:
    return InputError(
        "control-unnamed",
        f"{whose}: which key holds the answers is not clear",
        expected="the name of the control; the data of a task stand beside it",
        got=listed(map(quoted, keys)) or "no key but those of the export itself",
        do=f'control = "{keys[-1]}", or another of them' if keys else "export again as JSON",
        whose=whose,
        details={"keys": list(keys)},
    )


def _collides(key: str, number: int, whose: str) -> InputError:
    return InputError(
        "control-collides",
        f"{whose} record {number} is no annotation and holds {quoted(key)}",
        expected="a key that only answers have",
        got=f"{quoted(key)} among the data of the task, which the answer overwrites or loses to",
        do="export as JSON, where answers and data stand apart",
        whose=whose,
    )
