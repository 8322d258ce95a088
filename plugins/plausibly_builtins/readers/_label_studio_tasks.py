"""Label Studio: tasks with their annotations, drafts and predictions, from all shapes of export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC
from pathlib import Path
from typing import TypeAlias

import attrs

from plausibly.plugin import InputError, JsonNumber, json_shown, listed, quoted, read_json, several
from plausibly_builtins.readers._crowd_times import from_iso
from plausibly_builtins.readers._label_studio_values import NAMING, NUMBERS

Fields: TypeAlias = Mapping[str, object]

ID = "id"
AGAIN = "the same annotation again"

_ENTRIES = ("annotations", "completions")
_LISTS = (*_ENTRIES, "drafts", "predictions")
_EXPECTED = "a list of tasks with their annotations"


@attrs.frozen(kw_only=True)
class Region:
    """One value of a result."""

    control: str
    type: str
    value: Fields
    origin: object
    score: object


@attrs.frozen(kw_only=True)
class Entry:
    """An annotation, a draft or a prediction."""

    place: str
    fields: Fields
    regions: tuple[Region, ...]

    @property
    def id(self) -> str | None:
        """Its id, where it has one."""
        return text_of(self.fields.get(ID))

    @property
    def time(self) -> float | None:
        """When it was last changed, in seconds; None where that is not said."""
        moments = (moment(self.fields.get(key)) for key in ("updated_at", "created_at"))
        return next((found for found in moments if found is not None), None)


@attrs.frozen(kw_only=True)
class Task:
    """A task as it stands in the export."""

    example: str
    place: str
    annotations: tuple[Entry, ...]
    drafts: tuple[Entry, ...]
    predictions: tuple[Entry, ...]


@attrs.frozen(kw_only=True)
class Export:
    """All tasks of an export.

    Attributes
    ----------
    whose : str
        Name of the file or folder.
    tasks : tuple of Task
    numbered : bool
        Whether examples are called by their place, from 0, for want of ids.
    left_out : Counter
        What was not passed on, by reason.
    """

    whose: str
    tasks: tuple[Task, ...]
    numbered: bool
    left_out: Counter[str]


def text_of(value: object) -> str | None:
    """Return an id as text, exactly as written; None where there is none."""
    return str(value) if isinstance(value, str) and value else None


def moment(value: object) -> float | None:
    """Return a time in seconds since 1970; one without zone is taken as UTC."""
    if isinstance(value, JsonNumber):
        return value.value
    if not isinstance(value, str):
        return None
    try:
        found = from_iso(value)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def is_task(entry: object) -> bool:
    """Return whether an object of JSON looks like a task, or like one annotation with its task."""
    if not isinstance(entry, dict):
        return False
    if isinstance(entry.get("result"), list) and isinstance(entry.get("task"), (dict, JsonNumber)):
        return True
    lists = [entry[key] for key in _LISTS if isinstance(entry.get(key), list)]
    if any(isinstance(item, dict) and "result" in item for items in lists for item in items):
        return True
    return isinstance(entry.get("data"), dict) and any(entry.get(key) == [] for key in _ENTRIES)


def parts(path: Path) -> list[Path]:
    """Return the files of an export: itself, or all in a folder of its storage."""
    if not path.is_dir():
        return [path]
    inside = (part for part in path.iterdir() if not part.name.startswith("."))
    return sorted(part for part in inside if part.is_file())


def load(path: Path, example: str) -> Export:
    """Return the tasks of an export.

    Parameters
    ----------
    path : Path
        A file, or a folder with one file a task or an annotation.
    example : str
        ``"id"``, or the key of `data` that names examples.
    """
    found: list[tuple[str, Fields]] = []
    for part in parts(path):
        whose = f"{path.name}/{part.name}" if path.is_dir() else path.name
        prefix = f"{part.name} " if path.is_dir() else ""
        content = read_json(part, whose=whose, expected=_EXPECTED)
        tasks = content if isinstance(content, list) else [content]
        found += [(f"{prefix}no. {n}", _checked(t, whose, n)) for n, t in enumerate(tasks, 1)]
    if not found:
        raise _shape(path.name, "holds no task", "none")
    left_out: Counter[str] = Counter()
    named = _named([(place, _whole(fields)) for place, fields in found], path.name, example)
    numbered = example == ID and not any(text_of(fields.get(ID)) for _, _, fields in named)
    seen: dict[str, list[Fields]] = {}
    tasks_found: list[Task] = []
    for name, place, fields in named:
        task = _task(name, place, fields, path.name)
        if text_of(fields.get(ID)) and fields in seen.setdefault(name, []):
            left_out[AGAIN] += len(task.annotations) + len(task.drafts)
            continue
        seen.setdefault(name, []).append(fields)
        tasks_found.append(task)
    return Export(whose=path.name, tasks=tuple(tasks_found), numbered=numbered, left_out=left_out)


def _checked(task: object, whose: str, number: int) -> Fields:
    if not isinstance(task, dict):
        raise _shape(whose, f"entry {number} is no task", json_shown(task))
    return task


def _shape(whose: str, what: str, got: str) -> InputError:
    return InputError(
        "label-studio-shape",
        f"{whose} {what}",
        expected=_EXPECTED,
        got=got,
        do="export again as JSON",
        whose=whose,
    )


def _whole(fields: Fields) -> Fields:
    """Return the task around an annotation that is stored alone, else the task itself."""
    if not isinstance(fields.get("result"), list) or any(key in fields for key in _LISTS):
        return fields
    task = fields.get("task")
    around = dict(task) if isinstance(task, dict) else {}
    if isinstance(task, JsonNumber):
        around[ID] = task
    return {**around, "annotations": [{**fields, "task": around.get(ID)}]}


def _named(
    found: Sequence[tuple[str, Fields]], whose: str, example: str
) -> list[tuple[str, str, Fields]]:
    """Return name of the example, place and fields of each task."""
    names = [_name(fields, example) for _, fields in found]
    if example == ID and not any(names):
        return [(str(n), f"task {place}", f) for n, (place, f) in enumerate(found)]
    unnamed = [place for (place, _), name in zip(found, names, strict=True) if name is None]
    if unnamed:
        keys = dict.fromkeys(str(key) for _, fields in found for key in _data(fields))
        raise InputError(
            "example-unnamed",
            f"{whose}: {several(len(unnamed), 'task')} without a name for the example "
            f"({listed(f'task {place}' for place in unnamed)})",
            expected=f"text or a number under {quoted(example)} in each task",
            got=f"keys of the data: {listed(keys)}" if keys else "no data",
            do='example = "..." with a key that all have'
            if example == ID
            else 'example = "id", or a key that all have',
            whose=whose,
        )
    return [
        (name or "", f"task {name}" if example == ID else f"task {place}", fields)
        for (place, fields), name in zip(found, names, strict=True)
    ]


def _name(fields: Fields, example: str) -> str | None:
    return text_of(fields.get(ID) if example == ID else _data(fields).get(example))


def _data(fields: Fields) -> Fields:
    """Return the data of a task; one without lists of entries may be nothing but its data."""
    data = fields.get("data")
    if isinstance(data, dict):
        return data
    return {key: value for key, value in fields.items() if key not in (*_LISTS, ID)}


def _task(example: str, place: str, fields: Fields, whose: str) -> Task:
    def entries(noun: str, *keys: str) -> tuple[Entry, ...]:
        return tuple(_entries(fields, keys, noun, place, whose))

    return Task(
        example=example,
        place=place,
        annotations=entries("annotation", *_ENTRIES),
        drafts=entries("draft", "drafts"),
        predictions=entries("prediction", "predictions"),
    )


def _entries(
    fields: Fields, keys: Sequence[str], noun: str, place: str, whose: str
) -> Iterator[Entry]:
    for key in keys:
        items = fields.get(key)
        if items is None:
            continue
        if not isinstance(items, list):
            raise _shape(whose, f"{place}: {key} is no list", json_shown(items))
        for number, item in enumerate(items, start=1):
            if noun == "prediction" and isinstance(item, JsonNumber):
                continue  # the id of one that this export leaves out
            if not isinstance(item, dict):
                raise _shape(whose, f"{place}: {noun} no. {number} is no object", json_shown(item))
            name = text_of(item.get(ID))
            where = f"{place}, {noun} {name}" if name else f"{place}, {noun} no. {number}"
            yield entry_of(item, where, whose)


def is_cancelled(fields: Fields) -> bool:
    """Return whether an annotation says that its task was skipped."""
    return fields.get("was_cancelled") is True or fields.get("skipped") is True


def entry_of(fields: Fields, place: str, whose: str) -> Entry:
    """Return an annotation, draft or prediction; its result may be a list of lists, as once."""
    result = fields.get("result")
    if result is None and is_cancelled(fields):
        result = []
    if not isinstance(result, list):
        raise _shape(whose, f"{place}: result is no list", json_shown(result))
    flat = [region for item in result for region in (item if isinstance(item, list) else [item])]
    return Entry(place=place, fields=fields, regions=tuple(_regions(flat, place, whose)))


def _regions(items: Sequence[object], place: str, whose: str) -> Iterator[Region]:
    for item in items:
        if not isinstance(item, dict):
            raise _shape(whose, f"{place}: a region is no object", json_shown(item))
        control, kind, value = (item.get(key) for key in ("from_name", "type", "value"))
        # What has no control, such as a relation between regions, answers nothing.
        if isinstance(control, str) and isinstance(value, dict):
            yield Region(
                control=str(control),
                type=str(kind).lower() if isinstance(kind, str) else _type_of(value),
                value=value,
                origin=item.get("origin"),
                score=item.get("score"),
            )


def _type_of(value: Fields) -> str:
    """Return the type that a value shows, where its region names none."""
    return next((kind for kind in (*NAMING, *NUMBERS) if kind in value), "")
