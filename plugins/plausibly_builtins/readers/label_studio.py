"""Label Studio: the JSON and JSON-MIN exports."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import attrs

from plausibly.plugin import (
    AnnotationTable,
    Duplicates,
    InputError,
    JsonNumber,
    NamedPrediction,
    Response,
    ResponseOptions,
    file_opening,
    from_named,
    json_head,
    json_shown,
    listed,
    near,
    quoted,
    read_json,
    several,
    states,
    warn,
)
from plausibly_builtins.readers.crowd_table import from_iso

if TYPE_CHECKING:
    import xarray as xr


_EMAIL = "email"
_FIELDS = ("completed_by", "user", "created_by")


@attrs.frozen
class People:
    """Names of annotators: their id where the export knows it, else their e-mail address."""

    ids: Mapping[str, str]

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> People:
        """Return the ids behind the addresses that some entries give together."""
        found: dict[str, str] = {}
        for entry in entries:
            for field in _FIELDS:
                person = entry.fields.get(field)
                if isinstance(person, dict):
                    address, known = text_of(person.get(_EMAIL)), text_of(person.get(ID))
                    if address and known:
                        found[address] = known
        return cls(found)

    def name(self, entry: Entry) -> str | None:
        """Return the name of who made an entry; None where it does not say."""
        for field in _FIELDS:
            person = entry.fields.get(field)
            if isinstance(person, dict):
                person = text_of(person.get(ID)) or person.get(_EMAIL)
            name = text_of(person)
            if name:
                return self.ids.get(name, name)
        return None


_ACCEPTED = ("accepted", "fixed_and_accepted")
_REJECTED = "rejected"
_PARENT = "parent_prediction"


def state_of(
    entry: Entry,
    regions: Sequence[Region],
    answer: Sequence[object],
    suggested: Sequence[object] | None,
    *,
    draft: bool,
) -> str:
    """Return the state of a response."""
    fields = entry.fields
    if draft:
        return states.UNFINISHED
    if is_cancelled(fields):
        return states.SKIPPED
    if _is_rejected(fields):
        return states.REJECTED
    if not answer:
        return states.EMPTY
    if text_of(fields.get(_PARENT)) and _unchanged(regions, answer, suggested):
        return states.SUGGESTION
    return states.ANSWERED


def _unchanged(
    regions: Sequence[Region], answer: Sequence[object], suggested: Sequence[object] | None
) -> bool:
    if suggested is None:
        return all(region.origin == "prediction" for region in regions)
    if all(isinstance(item, str) for item in (*answer, *suggested)):
        return set(answer) == set(suggested)
    return list(answer) == list(suggested)


def original(entry: Entry, predictions: Sequence[Entry], whose: str) -> Entry | None:
    """Return the prediction that an annotation was made from, where the export holds it."""
    parent = text_of(entry.fields.get(_PARENT))
    if parent is None:
        return None
    for prediction in predictions:
        if prediction.id == parent:
            return prediction
    inside = entry.fields.get("prediction")
    if isinstance(inside, dict) and isinstance(inside.get("result"), list):
        return entry_of(inside, f"{entry.place}, its prediction", whose)
    return None


def _is_rejected(fields: Fields) -> bool:
    """Return whether a reviewer's last word was no."""
    action = fields.get("last_action")
    if action in (_REJECTED, *_ACCEPTED):
        return action == _REJECTED
    reviews = fields.get("reviews")
    found = (
        [review for review in reviews if isinstance(review, dict)]
        if isinstance(reviews, list)
        else []
    )
    if not found:
        return False
    times = [moment(review.get("created_at")) for review in found]
    last = max(range(len(found)), key=lambda at: (times[at] or 0.0, at))
    return found[last].get("accepted") is False


Kind: TypeAlias = Literal["single-label", "label-set"]

_RANKED = "partial-ranking"


@attrs.frozen(kw_only=True)
class LabelStudioOptions(ResponseOptions):
    """What both exports let their user say.

    Attributes
    ----------
    control : str or None
        Name of the control whose choices are the labels; None takes the only one that there is.
    kind : {"single-label", "label-set"} or None
        What choices are; None: label sets where any response names two labels.
    taxonomy : {"leaf", "path"}
        What a choice in a taxonomy is called: ``"Eczema"`` or ``"Skin/Eczema"``.
    buckets : tuple of str
        Buckets of a ranker, the best first: the export does not hold their order.
    numbers : {"refuse", "label"}
        Whether each rating or number is a label.
    duplicates : {"latest", "error", "all", "fractional"}
        What several answers of one annotator to one example mean; the export has their times.
    """

    control: str | None = None
    kind: Kind | None = None
    taxonomy: Taxonomy = "leaf"
    buckets: tuple[str, ...] = ()
    numbers: Literal["refuse", "label"] = "refuse"
    duplicates: Duplicates = attrs.field(
        default="latest",
        validator=attrs.validators.in_(("error", "latest", "all", "fractional")),
        metadata={
            "help": "Several answers of one annotator to one example: the latest by its time, an "
            "error, all of them, or all of them with one vote together."
        },
    )

    def reading(self, whose: str) -> Reading:
        """Return how values become labels."""
        return Reading(whose=whose, taxonomy=self.taxonomy, buckets=self.buckets)


def said(
    regions: Sequence[Region], control: Control, reading: Reading, at: str
) -> list[str] | list[list[str]]:
    """Return what the regions of one control say together: labels, each once, or rank blocks."""
    if not regions:
        return []
    if control.type != RANKING:
        found = [
            label
            for region in regions
            for label in reading.labels(region.type, region.control, region.value, at)
        ]
        return list(dict.fromkeys(found))
    if len(regions) > 1:
        raise InputError(
            "rankings-several",
            f"{reading.whose} {at}: {len(regions)} rankings by control "
            f"{quoted(regions[0].control)}",
            expected="one ranking an annotation",
            got=f"{len(regions)}",
            do="keep one of them",
            whose=reading.whose,
        )
    return reading.ranks(regions[0].control, regions[0].value, at)


def in_kind(
    responses: Sequence[Response], control: Control, kind: Kind | None, whose: str
) -> tuple[str, list[Response]]:
    """Return the kind of answer, and the responses with answers of its form."""
    if control.type == RANKING:
        if kind is not None:
            raise InputError(
                "kind-unfit",
                f"{whose}: control {quoted(control.name)} ranks labels",
                expected=f"answers of kind {kind}",
                got=f"answers of kind {_RANKED}",
                do="leave kind out",
                whose=whose,
            )
        return _RANKED, list(responses)
    answers = [response.answer for response in responses]
    several = any(isinstance(answer, list) and len(answer) > 1 for answer in answers)
    if kind == "label-set" or (kind is None and several):
        return "label-set", list(responses)
    return "single-label", [
        attrs.evolve(response, answer=_single(response.answer)) for response in responses
    ]


def _single(answer: object) -> object:
    return answer[0] if isinstance(answer, list) and len(answer) == 1 else answer


_INDEX = "{index}"
_NUMBERED = re.compile(r"(.*?)([0-9]+)")


@attrs.frozen(kw_only=True)
class Control:
    """The chosen control, or the controls of a Repeater that its pattern names.

    Attributes
    ----------
    name : str
        As the user wrote it, perhaps with ``{index}``.
    type : str or None
        Type of its values; None where the file has no value of it.
    """

    name: str
    type: str | None

    @property
    def repeats(self) -> bool:
        """Whether each index of the name is an example of its own."""
        return _INDEX in self.name

    def index(self, control: str) -> str | None:
        """Return the index in the name of a control, empty without one; None = another control."""
        if not self.repeats:
            return "" if control == self.name else None
        before, _, after = self.name.partition(_INDEX)
        match = re.fullmatch(f"{re.escape(before)}([0-9]+){re.escape(after)}", control)
        return match[1] if match else None


def types_of(entries: Iterable[Entry]) -> dict[str, set[str]]:
    """Return the types of the values of each control, in the order of the names."""
    found: dict[str, set[str]] = {}
    for entry in entries:
        for region in entry.regions:
            found.setdefault(region.control, set()).add(region.type)
    return dict(sorted(found.items()))


def chosen(
    types: Mapping[str, set[str]], name: str | None, *, numbers: bool, whose: str
) -> Control:
    """Return the control to read."""
    fit = (*NAMING, *NUMBERS) if numbers else NAMING
    if name is None:
        names = [control for control in types if types[control] & set(fit)]
        if len(names) > 1:
            raise _several(names, types, whose)
        if not names and types:
            raise _unfit(types, types, whose)
        if not names:
            return Control(name="", type=None)
        name = names[0]
    control = Control(name=name, type=None)
    meant = [other for other in types if control.index(other) is not None]
    if types and not meant:
        raise _unknown(name, types, whose)
    kinds = sorted({kind for other in meant for kind in types[other]})
    if len(kinds) > 1:
        raise _mixed(name, kinds, whose)
    if kinds and kinds[0] not in fit:
        raise _unfit(meant, types, whose)
    return attrs.evolve(control, type=kinds[0] if kinds else None)


def _shown(names: Iterable[str], types: Mapping[str, set[str]]) -> str:
    return listed(
        f"{quoted(name)} ({', '.join(sorted(types[name])) or 'no type'})" for name in names
    )


def _pattern(names: Iterable[str]) -> str | None:
    """Return the pattern that all the names have, such as ``"choice_{index}"``."""
    matches = [_NUMBERED.fullmatch(name) for name in names]
    before = {match[1] for match in matches if match}
    return f"{before.pop()}{_INDEX}" if all(matches) and len(before) == 1 else None


def _several(names: list[str], types: Mapping[str, set[str]], whose: str) -> InputError:
    pattern = _pattern(names)
    each = f'; control = "{pattern}" makes each index an example' if pattern else ""
    return InputError(
        "controls-several",
        f"{whose} holds answers to {several(len(names), 'control')}",
        expected="one control, whose choices are the labels",
        got=_shown(names, types),
        do=f'control = "{names[0]}", or another of them{each}',
        whose=whose,
        details={"controls": names},
    )


def _unknown(name: str, types: Mapping[str, set[str]], whose: str) -> InputError:
    guess = near(name, types)
    return InputError(
        "control-unknown",
        f"{whose} holds no answer to a control {quoted(name)}",
        expected="a control of the export",
        got=_shown(types, types),
        do=f'did you mean control = "{guess}"?' if guess else "name one of those",
        whose=whose,
        details={"controls": list(types)},
    )


def _mixed(name: str, kinds: list[str], whose: str) -> InputError:
    return InputError(
        "control-mixed",
        f"{whose}: control {quoted(name)} has values of {len(kinds)} types",
        expected="one type a control",
        got=listed(kinds),
        do="give the controls different names, or read the tasks of each type alone",
        whose=whose,
    )


def _unfit(names: Iterable[str], types: Mapping[str, set[str]], whose: str) -> InputError:
    shown = list(names)
    if all(types[name] <= set(NUMBERS) for name in shown):
        return InputError(
            "control-number",
            f"{whose}: {_shown(shown, types)} holds numbers, not labels",
            expected="labels",
            got="numbers, whose order and distance labels do not have",
            do='numbers = "label" takes each number as a label',
            whose=whose,
            details={"controls": shown},
        )
    return InputError(
        "control-unfit",
        f"{whose}: the values of {_shown(shown, types)} are no labels of a task",
        expected=f"a control of type {', '.join(NAMING[:-1])} or {NAMING[-1]}",
        got=f"only {_shown(types, types)}",
        do="set the project up with Choices, Taxonomy, Ranker or Pairwise; marks in a text or "
        "picture are not labels of all of it",
        whose=whose,
        details={"controls": shown},
    )


Taxonomy: TypeAlias = Literal["leaf", "path"]

NAMING: Final = ("choices", "taxonomy", "ranker", "pairwise")
"""Types of controls whose values name labels."""

NUMBERS: Final = ("rating", "number")
"""Types whose values are numbers: labels only where the user says so."""

RANKING: Final = "ranker"

_UNTOUCHED = "_"
_RANK = "rank"


@attrs.frozen(kw_only=True)
class Reading:
    """How values become labels: the options of the reader that matter here.

    Attributes
    ----------
    whose : str
        Name of the file.
    taxonomy : {"leaf", "path"}
        What a choice in a taxonomy is called.
    buckets : tuple of str
        Buckets of a ranker, the best first.
    paths : dict
        Which path each leaf stands for, as it was first seen.
    """

    whose: str
    taxonomy: Taxonomy = "leaf"
    buckets: tuple[str, ...] = ()
    paths: dict[str, tuple[str, ...]] = attrs.field(factory=dict)

    def labels(self, kind: str, control: str, value: Mapping[str, object], at: str) -> list[str]:
        """Return the labels that a value names, each once."""
        if kind == "pairwise":
            return [self._text(value.get("selected"), control, at)]
        if kind in NUMBERS:
            number = value.get(kind)
            if not isinstance(number, JsonNumber):
                raise self.unfit(control, at, "a number", number)
            return [str(number)]
        chosen = value.get(kind)
        if not isinstance(chosen, list):
            raise self.unfit(control, at, "a list of labels", chosen)
        return list(dict.fromkeys(self._label(item, control, at) for item in chosen))

    def ranks(self, control: str, value: Mapping[str, object], at: str) -> list[list[str]]:
        """Return the rank blocks that the value of a ranker holds, the best first."""
        ranker = value.get(RANKING)
        if not isinstance(ranker, dict):
            raise self.unfit(control, at, "an object with ranks", ranker)
        lists = {name: self._items(name, ranker[name], control, at) for name in ranker}
        if len(lists) == 1 and set(lists) <= {control, _RANK} - set(self.buckets):
            return [[item] for items in lists.values() for item in items]
        lists.pop(_UNTOUCHED, None)
        unknown = [name for name in lists if name not in self.buckets]
        if unknown:
            raise self._no_order(control, at, list(lists), unknown)
        return [lists[name] for name in self.buckets if lists.get(name)]

    def _items(self, name: str, items: object, control: str, at: str) -> list[str]:
        if not isinstance(items, list):
            raise self.unfit(control, at, f"a list of items in {quoted(name)}", items)
        return [self._text(item, control, at) for item in items]

    def _text(self, item: object, control: str, at: str) -> str:
        if not isinstance(item, str):
            raise self.unfit(control, at, "a label that is text", item)
        return str(item)

    def _label(self, item: object, control: str, at: str) -> str:
        if not isinstance(item, list):
            return self._text(item, control, at)
        if not item:
            raise self.unfit(control, at, "a path of one label or more", item)
        path = tuple(self._text(step, control, at) for step in item)
        label = path[-1] if self.taxonomy == "leaf" else "/".join(path)
        known = self.paths.setdefault(label, path)
        if known != path:
            raise self._two_paths(label, known, path, at)
        return label

    def _two_paths(
        self, label: str, known: Sequence[str], path: Sequence[str], at: str
    ) -> InputError:
        leaf = self.taxonomy == "leaf"
        return InputError(
            "taxonomy-ambiguous",
            f"{self.whose} {at}: {quoted(label)} names two places of the taxonomy",
            expected="one place a label",
            got=f"{' > '.join(known)} and {' > '.join(path)}",
            do='taxonomy = "path"' if leaf else "rename one of them in the export",
            whose=self.whose,
        )

    def _no_order(
        self, control: str, at: str, found: Sequence[str], unknown: Sequence[str]
    ) -> InputError:
        order = ", ".join(quoted(name) for name in (*self.buckets, *unknown))
        return InputError(
            "buckets-unordered",
            f"{self.whose} {at}: nothing says which bucket of {quoted(control)} is the best",
            expected="the buckets in order, which the file does not hold",
            got=listed(quoted(name) for name in found),
            do=f"buckets = [{order}], the best first",
            whose=self.whose,
            details={"buckets": list(found)},
        )

    def unfit(self, control: str, at: str, expected: str, got: object) -> InputError:
        """Return the error for a value of another shape."""
        return InputError(
            "value-unfit",
            f"{self.whose} {at}: the value of control {quoted(control)} is not {expected}",
            expected=expected,
            got=json_shown(got),
            do="mend it, or export again",
            whose=self.whose,
            details={"control": control, "place": at},
        )


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
    """Return the tasks of an export."""
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


_BESIDE = "drafts beside an annotation"
_NOWHERE = "responses to none of the repeated controls"
_TRUTH = "marked as ground truth"


@attrs.frozen(kw_only=True)
class Walk:
    """One pass over the tasks, with what is not passed on.

    Attributes
    ----------
    control : Control
        Whose values are the answers.
    reading : Reading
    people : People
    policies : mapping of str to str
        What to do with responses of a state: drafts beside an annotation matter where they count.
    drop_truth : bool
        Whether annotations that are marked as ground truth are left out.
    left_out : Counter
        What is not passed on, by reason.
    truths : list of str
        The places of what is marked as ground truth.
    """

    control: Control
    reading: Reading
    people: People
    policies: Mapping[str, str]
    drop_truth: bool
    left_out: Counter[str]
    truths: list[str] = attrs.field(factory=list)

    def responses(self, tasks: Sequence[Task]) -> Iterator[Response]:
        """Yield the responses to one example, or to each repetition in it."""
        annotations = self._counted(self._once(e for task in tasks for e in task.annotations))
        drafts = list(self._drafts([e for t in tasks for e in t.drafts], annotations))
        predictions = [entry for task in tasks for entry in task.predictions]
        entries = [(e, False) for e in annotations] + [(e, True) for e in drafts]
        found = [(by_index(entry, self.control), entry, draft) for entry, draft in entries]
        indices = sorted({index for regions, _, _ in found for index in regions})
        if not self.control.repeats:
            indices = [""]
        elif not indices:
            self.left_out[_NOWHERE] += len(found)
        for by_name, entry, draft in found:
            for index in indices:
                regions = by_name.get(index, [])
                answer = said(regions, self.control, self.reading, entry.place)
                before = original(entry, predictions, self.reading.whose)
                suggested = None
                if before is not None:
                    them = by_index(before, self.control).get(index, [])
                    suggested = said(them, self.control, self.reading, before.place)
                yield Response(
                    example=called(tasks[0].example, index),
                    annotator=self.people.name(entry),
                    answer=None if is_cancelled(entry.fields) else answer or None,
                    state=state_of(entry, regions, answer, suggested, draft=draft),
                    time=entry.time,
                    place=entry.place,
                )

    def _once(self, entries: Iterator[Entry]) -> list[Entry]:
        """Return annotations, those with one id once: the later one where they differ."""
        kept: list[Entry] = []
        known: dict[str, int] = {}
        for entry in entries:
            at = known.get(entry.id) if entry.id else None
            if at is None:
                if entry.id:
                    known[entry.id] = len(kept)
                kept.append(entry)
                continue
            self.left_out[AGAIN] += 1
            kept[at] = self._later(kept[at], entry)
        return kept

    def _later(self, one: Entry, other: Entry) -> Entry:
        if one.regions == other.regions and state_of(one, (), [], None, draft=False) == state_of(
            other, (), [], None, draft=False
        ):
            return one
        if one.time is not None and other.time is not None and one.time != other.time:
            return max(one, other, key=lambda entry: entry.time or 0.0)
        raise InputError(
            "annotation-differs",
            f"{self.reading.whose} {one.place} is there twice and says two things",
            expected="one annotation an id, or the time of each change",
            got="different results at one time, or without time",
            do="remove one of them",
            whose=self.reading.whose,
        )

    def _counted(self, annotations: Sequence[Entry]) -> list[Entry]:
        """Return annotations without those that are the truth, where those are dropped."""
        true = [e for e in annotations if _is_truth(e)]
        self.truths.extend(entry.place for entry in true)
        if not self.drop_truth:
            return list(annotations)
        self.left_out[_TRUTH] += len(true)
        return [entry for entry in annotations if not _is_truth(entry)]

    def _drafts(self, drafts: Sequence[Entry], annotations: Sequence[Entry]) -> Iterator[Entry]:
        """Yield drafts; those of people who have sent an annotation only where drafts count."""
        dropped = states.policy(states.UNFINISHED, "", self.policies) == states.DROP
        ids = {entry.id for entry in annotations} - {None}
        people = {self.people.name(entry) for entry in annotations} - {None}
        for draft in drafts:
            beside = text_of(draft.fields.get("annotation")) in ids
            if dropped and (beside or self.people.name(draft) in people):
                self.left_out[_BESIDE] += 1
            else:
                yield draft


def by_example(tasks: Sequence[Task]) -> list[list[Task]]:
    """Return the tasks that are about one example together."""
    found: dict[str, list[Task]] = {}
    for task in tasks:
        found.setdefault(task.example, []).append(task)
    return list(found.values())


def by_index(entry: Entry, control: Control) -> dict[str, list[Region]]:
    """Return the regions of the control, by the index in its name."""
    found: dict[str, list[Region]] = {}
    for region in entry.regions:
        index = control.index(region.control)
        if index is not None:
            found.setdefault(index, []).append(region)
    return found


def called(example: str, index: str) -> str:
    """Return the name of an example, or of one repetition in it."""
    return f"{example}#{index}" if index else example


def _is_truth(entry: Entry) -> bool:
    return entry.fields.get("ground_truth") is True or entry.fields.get("honeypot") is True


@attrs.frozen(kw_only=True)
class LabelStudio(LabelStudioOptions):
    """Read the JSON export of Label Studio: a file, or a folder with one a task or annotation.

    One control gives the answers. Choices and taxonomies name one label or several, a pairwise
    choice names ``left`` or ``right``, a ranker orders its items. All annotations of a task are
    read, and its drafts; what was cancelled is a skip, what a reviewer rejected is dropped, what
    repeats a model's prediction is a suggestion. The history of an annotation is never read. An
    annotation that is there twice, by its id, is one.

    Attributes
    ----------
    control : str or None
        Name of the control whose choices are the labels; None takes the only one that there is. A
        pattern names the controls of a Repeater: with ``"choice_{index}"`` the answers to
        ``choice_0`` and ``choice_1`` of task 7 are about the examples ``7#0`` and ``7#1``.
    example : str
        What names the examples: ``"id"``, the id of the task, or a key of its data. Tasks without
        id are called by their place, from 0.
    ground_truth : {"count", "drop"} or None
        What annotations that are marked as ground truth are: responses like others, which is said
        where None leaves it open, or none.
    """

    example: str = "id"
    ground_truth: Literal["count", "drop"] | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether tasks with results of annotations or predictions come first."""
        if not path.is_dir():
            return _has_tasks(head)
        heads = [file_opening(part, "annotations") for part in parts(path)]
        return bool(heads) and all(map(_has_tasks, heads))

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the export."""
        export = load(path, self.example)
        entries = [e for task in export.tasks for e in (*task.annotations, *task.drafts)]
        if not entries:
            raise _nobody(export)
        reading = self.reading(export.whose)
        control = chosen(
            types_of(entries),
            self.control,
            numbers=self.numbers == "label",
            whose=export.whose,
        )
        walk = Walk(
            control=control,
            reading=reading,
            people=People.of(entries),
            policies=self.states,
            drop_truth=self.ground_truth == "drop",
            left_out=export.left_out,
        )
        responses = [r for tasks in by_example(export.tasks) for r in walk.responses(tasks)]
        kind, answered = in_kind(responses, control, self.kind, export.whose)
        self._warn(export, walk.truths)
        return self.gathered(
            kind,
            answered,
            labels,
            whose=export.whose,
            examples=() if control.repeats else [task.example for task in export.tasks],
            left_out=walk.left_out,
        )

    def predictions(
        self, path: Path, labels: Sequence[str] | None, model: str | None
    ) -> xr.DataArray:
        """Return what a model predicted, (example, label); see `plausibly.plugin.from_named`."""
        export = load(path, self.example)
        reading = self.reading(export.whose)
        entries = [entry for task in export.tasks for entry in task.predictions]
        control = chosen(
            types_of(entries), self.control, numbers=self.numbers == "label", whose=export.whose
        )
        if control.type == RANKING:
            raise _ranked(control, export.whose)
        found = [
            NamedPrediction(
                example=called(task.example, index),
                model=text_of(entry.fields.get("model_version")) or "",
                scores=tuple(_scores(regions, entry, reading)),
                place=entry.place,
            )
            for task in export.tasks
            for entry in task.predictions
            for index, regions in by_index(entry, control).items()
        ]
        self._warn(export, [])
        return from_named(
            found,
            labels,
            model=model,
            examples=[] if control.repeats else [task.example for task in export.tasks],
            whose=export.whose,
        )

    def _warn(self, export: Export, truths: Sequence[str]) -> None:
        if export.numbered:
            warn(
                "examples-numbered",
                f"{export.whose}: no task has an id; examples are called by their place, from 0",
                expected="a name that stays when tasks come or go",
                got=f"{several(len(export.tasks), 'task')} without id",
                do='example = "..." with a key of the data that names them',
                whose=export.whose,
                stacklevel=6,
            )
        if truths and self.ground_truth is None:
            warn(
                "ground-truth-counted",
                f"{export.whose}: {several(len(truths), 'annotation')} marked as ground truth "
                f"({listed(truths)})",
                expected="what annotators said",
                got="annotations that may be the truth that others were measured by",
                do='ground_truth = "drop", or "count" to count each like any other',
                whose=export.whose,
                stacklevel=6,
            )


def _has_tasks(head: bytes) -> bool:
    values = json_head(head)
    if len(values) != 1:
        return False
    return any(map(is_task, values[0] if isinstance(values[0], list) else values))


def _scores(
    regions: Sequence[Region], entry: Entry, reading: Reading
) -> Iterator[tuple[str, str | None]]:
    for region in regions:
        score = text_of(region.score) or text_of(entry.fields.get("score"))
        for label in reading.labels(region.type, region.control, region.value, entry.place):
            yield label, score


def _nobody(export: Export) -> InputError:
    models = any(task.predictions for task in export.tasks)
    return InputError(
        "annotations-empty",
        f"{export.whose} holds no annotation",
        expected="tasks that somebody annotated",
        got=several(len(export.tasks), "task")
        + (" with predictions only" if models else " without annotations"),
        do='plausibly.read_predictions(path, reader="label-studio") reads what models said'
        if models
        else "export again when tasks are annotated",
        whose=export.whose,
    )


def _ranked(control: Control, whose: str) -> InputError:
    return InputError(
        "predictions-ranked",
        f"{whose}: predictions of control {quoted(control.name)} are rankings",
        expected="labels with scores",
        got="items in order",
        do="control = ... of type choices or taxonomy",
        whose=whose,
    )


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
_MIN_EXPECTED = "a list of records, one an annotation"


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
        """Return the annotation table in the export."""
        whose = path.name
        records = _records(path)
        name = self._named(records, whose)
        pattern = Control(name=name, type=None)
        tasks = [
            Task(
                example=self._example(record, number, whose),
                place=f"record {number}",
                annotations=tuple(_min_entries(record, number, pattern, whose)),
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
    content = read_json(path, expected=_MIN_EXPECTED)
    wrong = content
    if isinstance(content, list) and content:
        unfit = [record for record in content if not isinstance(record, dict)]
        if not unfit:
            return content
        wrong = unfit[0]
    raise InputError(
        "label-studio-shape",
        f"{path.name} is no list of records",
        expected=_MIN_EXPECTED,
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


def _min_entries(record: Fields, number: int, control: Control, whose: str) -> Iterator[Entry]:
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
    regions = [region for key in keys for region in _min_regions(key, record[key], number, whose)]
    yield Entry(place=f"record {number}", fields=fields, regions=tuple(regions))


def _min_regions(key: str, value: object, number: int, whose: str) -> Iterator[Region]:
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
