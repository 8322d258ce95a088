"""Label Studio: the JSON and JSON-MIN exports."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
)
from plausibly_builtins.readers._exports import (
    LATEST_HELP,
    LATEST_OR,
    about,
    from_iso,
    refused,
    text_of,
    told,
)

if TYPE_CHECKING:
    import xarray as xr

Fields: TypeAlias = Mapping[str, object]

NAMING: Final = ("choices", "taxonomy", "ranker", "pairwise")
"""Types of controls whose values name labels."""

NUMBERS: Final = ("rating", "number")
"""Types whose values are numbers: labels only where the user says so."""

_RANKER = "ranker"
_PEOPLE = ("completed_by", "user", "created_by")
_ENTRIES = ("annotations", "completions")
_LISTS = (*_ENTRIES, "drafts", "predictions")
_INDEX = "{index}"
_NUMBERED = re.compile(r"(.*?)([0-9]+)")
_AGAIN = "the same annotation again"


def moment(value: object) -> float | None:
    """Return a time in seconds since 1970; one without zone is taken as UTC."""
    if isinstance(value, JsonNumber):
        return value.value
    try:
        found = from_iso(value if isinstance(value, str) else "")
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


@attrs.frozen(kw_only=True)
class Region:
    """One value of a result."""

    control: str
    type: str
    value: Fields
    origin: object = None
    score: object = None


@attrs.frozen(kw_only=True)
class Entry:
    """An annotation, a draft or a prediction."""

    place: str
    fields: Fields
    regions: tuple[Region, ...]

    @property
    def id(self) -> str | None:
        """Its id, where it has one."""
        return text_of(self.fields.get("id"))

    @property
    def time(self) -> float | None:
        """When it was last changed, in seconds; None where that is not said."""
        changed = moment(self.fields.get("updated_at"))
        return moment(self.fields.get("created_at")) if changed is None else changed

    @property
    def verdict(self) -> str | None:
        """State of what was skipped, or of what a reviewer's last word rejects."""
        if is_cancelled(self.fields):
            return states.SKIPPED
        action, reviews = self.fields.get("last_action"), self.fields.get("reviews")
        if action not in ("rejected", "accepted", "fixed_and_accepted"):
            found = [r for r in reviews if isinstance(r, dict)] if isinstance(reviews, list) else []
            found.sort(key=lambda review: moment(review.get("created_at")) or 0.0)
            action = "rejected" if found and found[-1].get("accepted") is False else None
        return states.REJECTED if action == "rejected" else None

    @property
    def is_truth(self) -> bool:
        """Whether it is marked as what others are measured by."""
        return any(self.fields.get(key) is True for key in ("ground_truth", "honeypot"))


@attrs.frozen(kw_only=True)
class Task:
    """A task as it stands in the export."""

    example: str
    annotations: tuple[Entry, ...]
    drafts: tuple[Entry, ...] = ()
    predictions: tuple[Entry, ...] = ()


@attrs.frozen(kw_only=True)
class Export:
    """All tasks of an export; `numbered` where examples are called by their place, from 0."""

    whose: str
    tasks: list[Task]
    numbered: bool = False
    left_out: Counter[str] = attrs.field(factory=Counter)


def is_cancelled(fields: Fields) -> bool:
    """Return whether an annotation says that its task was skipped."""
    return fields.get("was_cancelled") is True or fields.get("skipped") is True


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


def _has_tasks(head: bytes) -> bool:
    values = json_head(head)
    if len(values) != 1:
        return False
    return any(map(is_task, values[0] if isinstance(values[0], list) else values))


def parts(path: Path) -> list[Path]:
    """Return the files of an export: itself, or all in a folder of its storage."""
    if not path.is_dir():
        return [path]
    inside = (part for part in path.iterdir() if not part.name.startswith("."))
    return sorted(part for part in inside if part.is_file())


def unlike(what: str, got: str) -> InputError:
    """Return the error about a file of another shape."""
    return refused(
        "label-studio-shape",
        f" {what}",
        "a list of tasks with their annotations",
        got,
        "export again as JSON",
    )


def load(path: Path, key: str) -> Export:
    """Return the tasks of an export, whose examples a key of their data names, or ``id``."""
    whose, found = path.name, list[tuple[str, Fields]]()
    for part in parts(path):
        called = f"{whose}/{part.name}" if path.is_dir() else whose
        prefix = f"{part.name} " if path.is_dir() else ""
        content = read_json(part, whose=called, expected="a list of tasks with their annotations")
        for number, task in enumerate(content if isinstance(content, list) else [content], 1):
            with about(called):
                if not isinstance(task, dict):
                    raise unlike(f"entry {number} is no task", json_shown(task))
            found.append((f"{prefix}no. {number}", _whole(task)))
    if not found:
        raise unlike("holds no task", "none")
    names = [text_of(_data(task).get(key) if key != "id" else task.get(key)) for _, task in found]
    numbered = key == "id" and not any(names)
    unnamed = [f"task {place}" for (place, _), name in zip(found, names, strict=True) if not name]
    if unnamed and not numbered:
        keys = dict.fromkeys(str(key) for _, task in found for key in _data(task))
        raise refused(
            "example-unnamed",
            f": {several(len(unnamed), 'task')} without a name for the example ({listed(unnamed)})",
            f"text or a number under {quoted(key)} in each task",
            f"keys of the data: {listed(keys)}" if keys else "no data",
            'example = "..." with a key that all have'
            if key == "id"
            else 'example = "id", or a key that all have',
        )
    export = Export(whose=whose, tasks=[], numbered=numbered)
    seen: dict[str, list[Fields]] = {}
    for at, ((place, fields), name) in enumerate(zip(found, names, strict=True)):
        by_name = key == "id" and name is not None
        task = _task(name or str(at), f"task {name if by_name else place}", fields)
        if text_of(fields.get("id")) and fields in seen.setdefault(task.example, []):
            export.left_out[_AGAIN] += len(task.annotations) + len(task.drafts)
            continue
        seen.setdefault(task.example, []).append(fields)
        export.tasks.append(task)
    return export


def _whole(fields: Fields) -> Fields:
    """Return the task around an annotation that is stored alone, else the task itself."""
    if not isinstance(fields.get("result"), list) or any(key in fields for key in _LISTS):
        return fields
    task = fields.get("task")
    around = dict(task) if isinstance(task, dict) else {}
    if isinstance(task, JsonNumber):
        around["id"] = task
    return {**around, "annotations": [{**fields, "task": around.get("id")}]}


def _data(fields: Fields) -> Fields:
    """Return the data of a task; one without lists of entries may be nothing but its data."""
    data = fields.get("data")
    if isinstance(data, dict):
        return data
    return {key: value for key, value in fields.items() if key not in (*_LISTS, "id")}


def _task(example: str, place: str, fields: Fields) -> Task:
    def entries(noun: str, *keys: str) -> Iterator[Entry]:
        for key in keys:
            items = [] if fields.get(key) is None else fields[key]
            if not isinstance(items, list):
                raise unlike(f"{place}: {key} is no list", json_shown(items))
            for number, item in enumerate(items, start=1):
                if noun == "prediction" and isinstance(item, JsonNumber):
                    continue  # the id of one that this export leaves out
                where = f"{place}, {noun} no. {number}"
                if not isinstance(item, dict):
                    what = f"{place}: {noun} no. {number} is no object"
                    raise unlike(what, json_shown(item))
                name = text_of(item.get("id"))
                yield entry_of(item, f"{place}, {noun} {name}" if name else where)

    return Task(
        example=example,
        annotations=tuple(entries("annotation", *_ENTRIES)),
        drafts=tuple(entries("draft", "drafts")),
        predictions=tuple(entries("prediction", "predictions")),
    )


def entry_of(fields: Fields, place: str) -> Entry:
    """Return an annotation, draft or prediction; its result may be a list of lists, as once."""
    result = fields.get("result")
    if result is None and is_cancelled(fields):
        result = []
    if not isinstance(result, list):
        raise unlike(f"{place}: result is no list", json_shown(result))
    regions: list[Region] = []
    for item in (one for part in result for one in (part if isinstance(part, list) else [part])):
        if not isinstance(item, dict):
            raise unlike(f"{place}: a region is no object", json_shown(item))
        control, kind, value = (item.get(key) for key in ("from_name", "type", "value"))
        # What has no control, such as a relation between regions, answers nothing.
        if isinstance(control, str) and isinstance(value, dict):
            shown = next((name for name in (*NAMING, *NUMBERS) if name in value), "")
            regions.append(
                Region(
                    control=str(control),
                    type=str(kind).lower() if isinstance(kind, str) else shown,
                    value=value,
                    origin=item.get("origin"),
                    score=item.get("score"),
                )
            )
    return Entry(place=place, fields=fields, regions=tuple(regions))


@attrs.frozen(kw_only=True)
class Control:
    """The chosen control, or the controls of a Repeater that its pattern with ``{index}`` names.

    The type of its values is None where the file has no value of it.
    """

    name: str
    type: str | None = None

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

    def by_index(self, entry: Entry) -> dict[str, list[Region]]:
        """Return the regions of the control, by the index in its name."""
        found: dict[str, list[Region]] = {}
        for region in entry.regions:
            index = self.index(region.control)
            if index is not None:
                found.setdefault(index, []).append(region)
        return found


def chosen(entries: Iterable[Entry], name: str | None, *, numbers: bool) -> Control:
    """Return the control to read: the one that is named, or the only one whose values fit."""
    seen: dict[str, set[str]] = {}
    for region in (region for entry in entries for region in entry.regions):
        seen.setdefault(region.control, set()).add(region.type)
    types = {control: seen[control] for control in sorted(seen)}
    fit = (*NAMING, *NUMBERS) if numbers else NAMING

    def shown(names: Iterable[str]) -> str:
        return listed(f"{quoted(n)} ({', '.join(sorted(types[n])) or 'no type'})" for n in names)

    def unfit(names: list[str]) -> InputError:
        if all(types[name] <= set(NUMBERS) for name in names):
            return refused(
                "control-number",
                f": {shown(names)} holds numbers, not labels",
                "labels",
                "numbers, whose order and distance labels do not have",
                'numbers = "label" takes each number as a label',
                controls=names,
            )
        return refused(
            "control-unfit",
            f": the values of {shown(names)} are no labels of a task",
            f"a control of type {', '.join(NAMING[:-1])} or {NAMING[-1]}",
            f"only {shown(types)}",
            "set the project up with Choices, Taxonomy, Ranker or Pairwise; marks in a text or "
            "picture are not labels of all of it",
            controls=names,
        )

    if name is None:
        names = [control for control in types if types[control] & set(fit)]
        if len(names) > 1:
            matches = [_NUMBERED.fullmatch(one) for one in names]
            before = {match[1] for match in matches if match}
            do = f'control = "{names[0]}", or another of them'
            if all(matches) and len(before) == 1:
                do += f'; control = "{before.pop()}{_INDEX}" makes each index an example'
            raise refused(
                "controls-several",
                f" holds answers to {several(len(names), 'control')}",
                "one control, whose choices are the labels",
                shown(names),
                do,
                controls=names,
            )
        if not names and types:
            raise unfit(list(types))
        name = names[0] if names else ""
    control = Control(name=name)
    meant = [other for other in types if control.index(other) is not None]
    if types and not meant:
        guess = near(name, types)
        raise refused(
            "control-unknown",
            f" holds no answer to a control {quoted(name)}",
            "a control of the export",
            shown(types),
            f'did you mean control = "{guess}"?' if guess else "name one of those",
            controls=list(types),
        )
    kinds = sorted({kind for other in meant for kind in types[other]})
    if len(kinds) > 1:
        raise refused(
            "control-mixed",
            f": control {quoted(name)} has values of {len(kinds)} types",
            "one type a control",
            listed(kinds),
            "give the controls different names, or read the tasks of each type alone",
        )
    if kinds and kinds[0] not in fit:
        raise unfit(meant)
    return attrs.evolve(control, type=kinds[0] if kinds else None)


Taxonomy: TypeAlias = Literal["leaf", "path"]


@attrs.frozen(kw_only=True)
class Reading:
    """How values of a control become labels; `paths`: which path each leaf stood for first."""

    control: Control
    taxonomy: Taxonomy
    buckets: tuple[str, ...]
    paths: dict[str, tuple[str, ...]] = attrs.field(factory=dict)

    def said(self, regions: Sequence[Region], at: str) -> list[str] | list[list[str]]:
        """Return what the regions of one control say: labels, each once, or blocks of ranks."""
        if not regions or self.control.type != _RANKER:
            named = [label for region in regions for label in self.labels(region, at)]
            return list(dict.fromkeys(named))
        if len(regions) > 1:
            raise refused(
                "rankings-several",
                f" {at}: {len(regions)} rankings by control {quoted(regions[0].control)}",
                "one ranking an annotation",
                f"{len(regions)}",
                "keep one of them",
            )
        return self._ranks(regions[0], at)

    def labels(self, region: Region, at: str) -> list[str]:
        """Return the labels that a value names, each once."""
        kind, value = region.type, region.value
        if kind == "pairwise":
            return [self._text(region, value.get("selected"), at)]
        found = value.get(kind)
        if kind in NUMBERS:
            if not isinstance(found, JsonNumber):
                raise self._unfit(region, at, "a number", found)
            return [str(found)]
        if not isinstance(found, list):
            raise self._unfit(region, at, "a list of labels", found)
        return list(dict.fromkeys(self._label(region, item, at) for item in found))

    def _label(self, region: Region, item: object, at: str) -> str:
        if not isinstance(item, list):
            return self._text(region, item, at)
        if not item:
            raise self._unfit(region, at, "a path of one label or more", item)
        path = tuple(self._text(region, step, at) for step in item)
        leaf = self.taxonomy == "leaf"
        label = path[-1] if leaf else "/".join(path)
        known = self.paths.setdefault(label, path)
        if known != path:
            raise refused(
                "taxonomy-ambiguous",
                f" {at}: {quoted(label)} names two places of the taxonomy",
                "one place a label",
                f"{' > '.join(known)} and {' > '.join(path)}",
                'taxonomy = "path"' if leaf else "rename one of them in the export",
            )
        return label

    def _ranks(self, region: Region, at: str) -> list[list[str]]:
        """Return the blocks of ranks that the value of a ranker holds, the best first."""
        ranker = region.value.get(_RANKER)
        if not isinstance(ranker, dict):
            raise self._unfit(region, at, "an object with ranks", ranker)
        lists: dict[str, list[str]] = {}
        for name, items in ranker.items():
            if not isinstance(items, list):
                raise self._unfit(region, at, f"a list of items in {quoted(name)}", items)
            lists[name] = [self._text(region, item, at) for item in items]
        if len(lists) == 1 and set(lists) <= {region.control, "rank"} - set(self.buckets):
            return [[item] for items in lists.values() for item in items]
        lists.pop("_", None)  # what was not touched
        unknown = [name for name in lists if name not in self.buckets]
        if unknown:
            raise refused(
                "buckets-unordered",
                f" {at}: nothing says which bucket of {quoted(region.control)} is the best",
                "the buckets in order, which the file does not hold",
                listed(map(quoted, lists)),
                f"buckets = [{', '.join(map(quoted, (*self.buckets, *unknown)))}], the best first",
                buckets=list(lists),
            )
        return [lists[name] for name in self.buckets if lists.get(name)]

    def _text(self, region: Region, item: object, at: str) -> str:
        if not isinstance(item, str):
            raise self._unfit(region, at, "a label that is text", item)
        return str(item)

    def _unfit(self, region: Region, at: str, expected: str, got: object) -> InputError:
        return refused(
            "value-unfit",
            f" {at}: the value of control {quoted(region.control)} is not {expected}",
            expected,
            json_shown(got),
            "mend it, or export again",
            control=region.control,
            place=at,
        )


def names_of(entries: Iterable[Entry]) -> Callable[[Entry], str | None]:
    """Return what names who made an entry: by the id, where entries give it with the address."""

    def people(entry: Entry) -> list[tuple[str | None, str | None]]:
        """Return the id and the address of each person that an entry names."""
        found = [entry.fields.get(field) for field in _PEOPLE]
        return [
            (text_of(person.get("id")), text_of(person.get("email")))
            if isinstance(person, dict)
            else (None, text_of(person))
            for person in found
        ]

    ids = {email: known for one in entries for known, email in people(one) if email and known}

    def name(entry: Entry) -> str | None:
        found = next((known or email for known, email in people(entry) if known or email), None)
        return found and ids.get(found, found)

    return name


@attrs.frozen(kw_only=True)
class Walk:
    """One pass over the tasks, with what is not passed on, and where the truth is."""

    reading: Reading
    name: Callable[[Entry], str | None]
    policies: Mapping[str, str]
    drop_truth: bool
    left_out: Counter[str]
    truths: list[str] = attrs.field(factory=list)

    def responses(self, tasks: Sequence[Task]) -> Iterator[Response]:
        """Yield the responses to one example, or to each repetition in it."""
        control = self.reading.control
        annotations = self._once(entry for task in tasks for entry in task.annotations)
        true = [entry.place for entry in annotations if entry.is_truth]
        self.truths.extend(true)
        if self.drop_truth:
            self.left_out["marked as ground truth"] += len(true)
            annotations = [entry for entry in annotations if not entry.is_truth]
        drafts = self._drafts([e for task in tasks for e in task.drafts], annotations)
        predictions = [entry for task in tasks for entry in task.predictions]
        entries = [(e, False) for e in annotations] + [(e, True) for e in drafts]
        found = [(control.by_index(entry), entry, draft) for entry, draft in entries]
        indices = [""]
        if control.repeats:
            indices = sorted({index for regions, _, _ in found for index in regions})
            if not indices:
                self.left_out["responses to none of the repeated controls"] += len(found)
        for by_index, entry, draft in found:
            for index in indices:
                regions = by_index.get(index, [])
                answer = self.reading.said(regions, entry.place)
                before = self._original(entry, predictions)
                suggested = None
                if before is not None:
                    them = control.by_index(before).get(index, [])
                    suggested = self.reading.said(them, before.place)
                state = entry.verdict or (states.ANSWERED if answer else states.EMPTY)
                if state == states.ANSWERED and _is_suggested(entry, regions, answer, suggested):
                    state = states.SUGGESTION
                yield Response(
                    example=called(tasks[0].example, index),
                    annotator=self.name(entry),
                    answer=None if is_cancelled(entry.fields) else answer or None,
                    state=states.UNFINISHED if draft else state,
                    time=entry.time,
                    place=entry.place,
                )

    def _original(self, entry: Entry, predictions: Sequence[Entry]) -> Entry | None:
        """Return the prediction that an annotation was made from, where the export holds it."""
        parent = text_of(entry.fields.get("parent_prediction"))
        if parent is None:
            return None
        inside = entry.fields.get("prediction")
        known = next((one for one in predictions if one.id == parent), None)
        if known is None and isinstance(inside, dict) and isinstance(inside.get("result"), list):
            return entry_of(inside, f"{entry.place}, its prediction")
        return known

    def _once(self, entries: Iterable[Entry]) -> list[Entry]:
        """Return annotations, those with one id once: the later one where they differ."""
        kept: dict[str | int, Entry] = {}
        for number, entry in enumerate(entries):
            key = entry.id or number
            if key in kept:
                self.left_out[_AGAIN] += 1
                entry = self._later(kept[key], entry)
            kept[key] = entry
        return list(kept.values())

    def _later(self, one: Entry, other: Entry) -> Entry:
        if one.regions == other.regions and one.verdict == other.verdict:
            return one
        if one.time is not None and other.time is not None and one.time != other.time:
            return one if one.time > other.time else other
        raise refused(
            "annotation-differs",
            f" {one.place} is there twice and says two things",
            "one annotation an id, or the time of each change",
            "different results at one time, or without time",
            "remove one of them",
        )

    def _drafts(self, drafts: Sequence[Entry], annotations: Sequence[Entry]) -> list[Entry]:
        """Return drafts; those of people who have sent an annotation only where drafts count."""
        dropped = states.policy(states.UNFINISHED, "", self.policies) == states.DROP
        ids = {entry.id for entry in annotations} - {None}
        people = {self.name(entry) for entry in annotations} - {None}
        kept: list[Entry] = []
        for draft in drafts:
            beside = text_of(draft.fields.get("annotation")) in ids
            if dropped and (beside or self.name(draft) in people):
                self.left_out["drafts beside an annotation"] += 1
            else:
                kept.append(draft)
        return kept


def _is_suggested(
    entry: Entry,
    regions: Sequence[Region],
    answer: Sequence[object],
    suggested: Sequence[object] | None,
) -> bool:
    """Return whether an answer repeats the prediction that it was made from."""
    if text_of(entry.fields.get("parent_prediction")) is None:
        return False
    if suggested is None:
        return all(region.origin == "prediction" for region in regions)
    if all(isinstance(item, str) for item in (*answer, *suggested)):
        return set(answer) == set(suggested)
    return list(answer) == list(suggested)


def called(example: str, index: str) -> str:
    """Return the name of an example, or of one repetition in it."""
    return f"{example}#{index}" if index else example


Kind: TypeAlias = Literal["single-label", "label-set"]


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
        default="latest", validator=LATEST_OR, metadata=LATEST_HELP
    )

    def _reading(self, entries: Iterable[Entry], name: str | None) -> Reading:
        """Return how the values of the control in these entries become labels."""
        control = chosen(entries, name, numbers=self.numbers == "label")
        return Reading(control=control, taxonomy=self.taxonomy, buckets=self.buckets)

    def _table(
        self,
        export: Export,
        name: str | None,
        labels: Sequence[str] | None,
        truth: Literal["count", "drop"] | None = "count",
    ) -> AnnotationTable:
        """Return the annotation table of tasks, answered with a control."""
        entries = [entry for task in export.tasks for entry in (*task.annotations, *task.drafts)]
        reading = self._reading(entries, name)
        control = reading.control
        walk = Walk(
            reading=reading,
            name=names_of(entries),
            policies=self.states,
            drop_truth=truth == "drop",
            left_out=export.left_out,
        )
        by_example: dict[str, list[Task]] = {}
        for task in export.tasks:
            by_example.setdefault(task.example, []).append(task)
        responses = [found for tasks in by_example.values() for found in walk.responses(tasks)]
        answers = [found.answer for found in responses if isinstance(found.answer, list)]
        kind: str = self.kind or "single-label"
        if control.type == _RANKER:
            if self.kind is not None:
                raise refused(
                    "kind-unfit",
                    f": control {quoted(control.name)} ranks labels",
                    f"answers of kind {self.kind}",
                    "answers of kind partial-ranking",
                    "leave kind out",
                )
            kind = "partial-ranking"
        elif self.kind is None and any(len(answer) > 1 for answer in answers):
            kind = "label-set"
        elif kind == "single-label":
            responses = [
                attrs.evolve(found, answer=found.answer[0])
                if isinstance(found.answer, list) and len(found.answer) == 1
                else found
                for found in responses
            ]
        _warn(export, walk.truths if truth is None else [], stacklevel=7)
        return self.gathered(
            kind,
            responses,
            labels,
            whose=export.whose,
            examples=() if control.repeats else [task.example for task in export.tasks],
            left_out=walk.left_out,
        )


def _warn(export: Export, truths: Sequence[str], *, stacklevel: int) -> None:
    if export.numbered:
        told(
            export.whose,
            "examples-numbered",
            ": no task has an id; examples are called by their place, from 0",
            "a name that stays when tasks come or go",
            f"{several(len(export.tasks), 'task')} without id",
            'example = "..." with a key of the data that names them',
            stacklevel=stacklevel,
        )
    if truths:
        told(
            export.whose,
            "ground-truth-counted",
            f": {several(len(truths), 'annotation')} marked as ground truth ({listed(truths)})",
            "what annotators said",
            "annotations that may be the truth that others were measured by",
            'ground_truth = "drop", or "count" to count each like any other',
            stacklevel=stacklevel,
        )


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
        with about(path.name):
            export = load(path, self.example)
            if any(task.annotations or task.drafts for task in export.tasks):
                return self._table(export, self.control, labels, self.ground_truth)
            models = any(task.predictions for task in export.tasks)
            raise refused(
                "annotations-empty",
                " holds no annotation",
                "tasks that somebody annotated",
                several(len(export.tasks), "task")
                + (" with predictions only" if models else " without annotations"),
                'plausibly.read_predictions(path, reader="label-studio") reads what models said'
                if models
                else "export again when tasks are annotated",
            )

    def predictions(
        self, path: Path, labels: Sequence[str] | None, model: str | None
    ) -> xr.DataArray:
        """Return what a model predicted, (example, label); see `plausibly.plugin.from_named`."""
        with about(path.name):
            export = load(path, self.example)
            entries = [(task, entry) for task in export.tasks for entry in task.predictions]
            reading = self._reading([entry for _, entry in entries], self.control)
            control = reading.control
            if control.type == _RANKER:
                raise refused(
                    "predictions-ranked",
                    f": predictions of control {quoted(control.name)} are rankings",
                    "labels with scores",
                    "items in order",
                    "control = ... of type choices or taxonomy",
                )
            found = [
                NamedPrediction(
                    example=called(task.example, index),
                    model=text_of(entry.fields.get("model_version")) or "",
                    scores=tuple(
                        (label, text_of(region.score) or text_of(entry.fields.get("score")))
                        for region in regions
                        for label in reading.labels(region, entry.place)
                    ),
                    place=entry.place,
                )
                for task, entry in entries
                for index, regions in control.by_index(entry).items()
            ]
            _warn(export, [], stacklevel=6)
            return from_named(
                found,
                labels,
                model=model,
                examples=[] if control.repeats else [task.example for task in export.tasks],
                whose=export.whose,
            )


_ID = "annotation_id"
_OWN = ("id", "annotator", _ID, "created_at", "updated_at", "lead_time", "agreement")


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
            and _ID in record
            and ("annotator" in record or "lead_time" in record)
            for record in records
        )

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the export."""
        with about(path.name):
            expected = "a list of records, one an annotation"
            found = read_json(path, expected=expected)
            records = found if isinstance(found, list) else []
            unfit = [record for record in records if not isinstance(record, dict)]
            if unfit or not records:
                raise refused(
                    "label-studio-shape",
                    " is no list of records",
                    expected,
                    json_shown(unfit[0] if unfit else found),
                    "export again as JSON-MIN",
                )
            name = self._named(records)
            tasks = [
                self._task(record, number, Control(name=name))
                for number, record in enumerate(records, start=1)
            ]
            return self._table(Export(whose=path.name, tasks=tasks), name, labels)

    def _named(self, records: Sequence[Fields]) -> str:
        """Return the name of the control: as the user says, or the only one that is clear."""
        keys = list(dict.fromkeys(key for r in records for key in r if key not in _OWN))
        if self.control is None:
            clear = [key for key in keys if any(_is_answer(r.get(key)) for r in records)]
            if len(clear) == 1:
                return clear[0]
            keys = clear or keys
            raise refused(
                "control-unnamed",
                ": which key holds the answers is not clear",
                "the name of the control; the data of a task stand beside it",
                listed(map(quoted, keys)) or "no key but those of the export itself",
                f'control = "{keys[-1]}", or another of them' if keys else "export again as JSON",
                keys=keys,
            )
        pattern = Control(name=self.control)
        if any(pattern.index(key) is not None for key in keys):
            return self.control
        guess = near(self.control, keys)
        raise refused(
            "control-unknown",
            f" holds no answer to a control {quoted(self.control)}",
            "a key of the records that holds answers",
            listed(map(quoted, keys)) or "none",
            f'did you mean control = "{guess}"?' if guess else "name one of those",
            keys=keys,
        )

    def _task(self, record: Fields, number: int, control: Control) -> Task:
        """Return the task of a record with its annotation, if it is one."""
        place, called = f"record {number}", record.get(self.example)
        example = text_of(called)
        if example is None:
            raise refused(
                "example-unnamed",
                f" {place} names no example",
                f"text or a number under {quoted(self.example)}",
                json_shown(called),
                'example = "..." with a key that all records have',
            )
        keys = [key for key in record if control.index(key) is not None and record[key] is not None]
        if text_of(record.get(_ID)) is None:
            if not keys:
                return Task(example=example, annotations=())
            raise refused(
                "control-collides",
                f" {place} is no annotation and holds {quoted(keys[0])}",
                "a key that only answers have",
                f"{quoted(keys[0])} among the data of the task, which the answer overwrites or "
                "loses to",
                "export as JSON, where answers and data stand apart",
            )
        regions = tuple(region for key in keys for region in _regions(key, record[key], place))
        times = {key: record.get(key) for key in ("created_at", "updated_at")}
        fields = {"id": record[_ID], "completed_by": record.get("annotator"), **times}
        return Task(
            example=example, annotations=(Entry(place=place, fields=fields, regions=regions),)
        )


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
            kind, inside = (known or list(item)[-1:] or [""])[0], item
        elif isinstance(item, JsonNumber):
            kind, inside = "number", {"number": item}
        elif isinstance(item, str):
            kind, inside = "choices", {"choices": [item]}
        else:
            raise refused(
                "value-unfit",
                f" {place}: the value of control {quoted(key)} is no answer",
                "a label, or an object such as {choices: [...]}",
                json_shown(item),
                "mend it, or export again",
            )
        yield Region(control=key, type=kind, value=inside)
