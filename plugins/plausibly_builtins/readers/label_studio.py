"""Label Studio: the JSON export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import attrs

from plausibly.plugin import InputError, listed, quoted, several
from plausibly.plugin.readers import (
    JsonNumber,
    NamedPrediction,
    Response,
    file_opening,
    from_named,
    json_head,
    json_shown,
    read_json,
    states,
)
from plausibly_builtins.readers.base import (
    Content,
    Entry,
    Kind,
    TimedExport,
    about,
    first_entries,
    items_of,
    refused,
    seconds_of,
    text_of,
    warn_of,
)
from plausibly_builtins.readers.label_studio_controls import (
    NAMING,
    NUMBERS,
    RANKER,
    Control,
    Region,
    Taxonomy,
    choose_control,
)

if TYPE_CHECKING:
    import xarray as xr

_PEOPLE = ("completed_by", "user", "created_by")
_ENTRIES = ("annotations", "completions")
_LISTS = (*_ENTRIES, "drafts", "predictions")
_AGAIN = "the same annotation again"


@attrs.frozen(kw_only=True)
class Result:
    """An annotation, a draft or a prediction."""

    place: str
    fields: Entry
    regions: tuple[Region, ...]

    @property
    def id(self) -> str | None:
        """Its id, where it has one."""
        return text_of(self.fields.get("id"))

    @property
    def time(self) -> float | None:
        """When it was last changed, in seconds; None where that is not known."""
        changed = seconds_of(self.fields.get("updated_at"))
        return seconds_of(self.fields.get("created_at")) if changed is None else changed

    @property
    def verdict(self) -> str | None:
        """State of what was skipped, or of what the last review rejects."""
        if is_cancelled(self.fields):
            return states.SKIPPED
        action = self.fields.get("last_action")
        if action not in ("rejected", "accepted", "fixed_and_accepted"):
            reviews = [r for r in items_of(self.fields.get("reviews")) if isinstance(r, dict)]
            reviews.sort(key=lambda review: seconds_of(review.get("created_at")) or 0.0)
            return states.REJECTED if reviews and reviews[-1].get("accepted") is False else None
        return states.REJECTED if action == "rejected" else None

    @property
    def is_truth(self) -> bool:
        """Whether it is marked as what others are measured by."""
        return any(self.fields.get(key) is True for key in ("ground_truth", "honeypot"))


@attrs.frozen(kw_only=True)
class Task:
    """A task as it stands in the export."""

    example: str
    annotations: tuple[Result, ...]
    drafts: tuple[Result, ...] = ()
    predictions: tuple[Result, ...] = ()


@attrs.frozen(kw_only=True)
class Tasks:
    """All tasks of an export; `numbered` where examples are called by their place, from 0."""

    source: str
    tasks: list[Task]
    numbered: bool = False
    left_out: Counter[str] = attrs.field(factory=Counter)

    def warn_numbered(self) -> None:
        """Warn where examples have no name."""
        if self.numbered:
            warn_of(
                self.source,
                "examples-numbered",
                ": no task has an id; examples are called by their place, from 0",
                "a name that stays when tasks come or go",
                f"{several(len(self.tasks), 'task')} without id",
                'example = "..." with a key of the data that names them',
            )


def is_cancelled(fields: Entry) -> bool:
    """Return whether an annotation says that its task was skipped."""
    return fields.get("was_cancelled") is True or fields.get("skipped") is True


def is_task(entry: object) -> bool:
    """Return whether an object of JSON looks like a task, or like one annotation with its task."""
    if not isinstance(entry, dict):
        return False
    if isinstance(entry.get("result"), list) and isinstance(entry.get("task"), (dict, JsonNumber)):
        return True
    every = [item for key in _LISTS for item in items_of(entry.get(key))]
    if any(isinstance(item, dict) and "result" in item for item in every):
        return True
    return isinstance(entry.get("data"), dict) and any(entry.get(key) == [] for key in _ENTRIES)


def _has_tasks(head: bytes) -> bool:
    return len(json_head(head)) == 1 and any(map(is_task, first_entries(head)))


def _files(path: Path) -> list[Path]:
    """Return the files of an export: itself, or all in a folder of its storage."""
    if not path.is_dir():
        return [path]
    return sorted(f for f in path.iterdir() if not f.name.startswith(".") and f.is_file())


def _unlike(what: str, got: str) -> InputError:
    expected, do = "a list of tasks with their annotations", "export again as JSON"
    return refused("label-studio-shape", f" {what}", expected, got, do)


def load(path: Path, key: str) -> Tasks:
    """Return the tasks of an export, whose examples a key of their data names, or ``id``."""
    found: list[tuple[str, Entry]] = []
    for file in _files(path):
        source = f"{path.name}/{file.name}" if path.is_dir() else path.name
        prefix = f"{file.name} " if path.is_dir() else ""
        content = read_json(file, whose=source, expected="a list of tasks with their annotations")
        for number, task in enumerate(content if isinstance(content, list) else [content], 1):
            with about(source):
                if not isinstance(task, dict):
                    raise _unlike(f"entry {number} is no task", json_shown(task))
            found.append((f"{prefix}no. {number}", _whole(task)))
    if not found:
        raise _unlike("holds no task", "none")
    names = [text_of((task if key == "id" else _data(task)).get(key)) for _, task in found]
    numbered = key == "id" and not any(names)
    unnamed = [f"task {place}" for (place, _), name in zip(found, names, strict=True) if not name]
    if unnamed and not numbered:
        keys = dict.fromkeys(str(key) for _, task in found for key in _data(task))
        lacks = f"{several(len(unnamed), 'task')} without a name for the example"
        raise refused(
            "example-unnamed",
            f": {lacks} ({listed(unnamed)})",
            f"text or a number under {quoted(key)} in each task",
            f"keys of the data: {listed(keys)}" if keys else "no data",
            'example = "...", a key that all have' + (', or "id"' if key != "id" else ""),
        )
    export = Tasks(source=path.name, tasks=[], numbered=numbered)
    seen: dict[str, list[Entry]] = {}
    for at, ((place, fields), name) in enumerate(zip(found, names, strict=True)):
        by_name = key == "id" and name is not None
        task = _task(name or str(at), f"task {name if by_name else place}", fields)
        if text_of(fields.get("id")) and fields in seen.setdefault(task.example, []):
            export.left_out[_AGAIN] += len(task.annotations) + len(task.drafts)
            continue
        seen.setdefault(task.example, []).append(fields)
        export.tasks.append(task)
    return export


def _whole(fields: Entry) -> Entry:
    """Return the task around an annotation that is stored alone, else the task itself."""
    if not isinstance(fields.get("result"), list) or any(key in fields for key in _LISTS):
        return fields
    task = fields.get("task")
    around = dict(task) if isinstance(task, dict) else {}
    if isinstance(task, JsonNumber):
        around["id"] = task
    return {**around, "annotations": [{**fields, "task": around.get("id")}]}


def _data(fields: Entry) -> Entry:
    """Return the data of a task; one without lists of results may be nothing but its data."""
    data = fields.get("data")
    if isinstance(data, dict):
        return data
    return {key: value for key, value in fields.items() if key not in (*_LISTS, "id")}


def _task(example: str, place: str, fields: Entry) -> Task:
    def results(noun: str, *keys: str) -> Iterator[Result]:
        for key in keys:
            items = [] if fields.get(key) is None else fields[key]
            if not isinstance(items, list):
                raise _unlike(f"{place}: {key} is no list", json_shown(items))
            for number, item in enumerate(items, start=1):
                if noun == "prediction" and isinstance(item, JsonNumber):
                    continue  # the id of one that this export leaves out
                if not isinstance(item, dict):
                    what = f"{place}: {noun} no. {number} is no object"
                    raise _unlike(what, json_shown(item))
                name = text_of(item.get("id")) or f"no. {number}"
                yield _result(item, f"{place}, {noun} {name}")

    return Task(
        example=example,
        annotations=tuple(results("annotation", *_ENTRIES)),
        drafts=tuple(results("draft", "drafts")),
        predictions=tuple(results("prediction", "predictions")),
    )


def _result(fields: Entry, place: str) -> Result:
    """Return an annotation, draft or prediction; older exports have a list of lists."""
    result = fields.get("result")
    if result is None and is_cancelled(fields):
        result = []
    if not isinstance(result, list):
        raise _unlike(f"{place}: result is no list", json_shown(result))
    regions: list[Region] = []
    for item in (x for part in result for x in (part if isinstance(part, list) else [part])):
        if not isinstance(item, dict):
            raise _unlike(f"{place}: a region is no object", json_shown(item))
        control, kind, value = (item.get(key) for key in ("from_name", "type", "value"))
        # What has no control, such as a relation between regions, answers nothing.
        if isinstance(control, str) and isinstance(value, dict):
            if not isinstance(kind, str):
                kind = next((name for name in (*NAMING, *NUMBERS) if name in value), "")
            more = {"origin": item.get("origin"), "score": item.get("score")}
            regions.append(Region(control=str(control), type=kind.lower(), value=value, **more))
    return Result(place=place, fields=fields, regions=tuple(regions))


def _names_of(results: Iterable[Result]) -> Callable[[Result], str | None]:
    """Return a function from a result to its author: the id, where it is known of an address."""

    def people(result: Result) -> list[tuple[str | None, str | None]]:
        """Return the id and the address of each person that a result names."""
        found = [result.fields.get(field) for field in _PEOPLE]
        return [
            (text_of(person.get("id")), text_of(person.get("email")))
            if isinstance(person, dict)
            else (None, text_of(person))
            for person in found
        ]

    ids = {mail: known for one in results for known, mail in people(one) if mail and known}

    def name(result: Result) -> str | None:
        found = next((known or mail for known, mail in people(result) if known or mail), None)
        return found and ids.get(found, found)

    return name


@attrs.frozen(kw_only=True)
class _Walk:
    """One pass over the tasks, with what is not passed on, and where the truth is."""

    control: Control
    name: Callable[[Result], str | None]
    policies: Mapping[str, str]
    drop_truth: bool
    left_out: Counter[str]
    truths: list[str] = attrs.field(factory=list)

    def responses(self, tasks: Sequence[Task]) -> Iterator[Response]:
        """Yield the responses to one example, or to each repetition in it."""
        annotations = self._once(result for task in tasks for result in task.annotations)
        truths = [result.place for result in annotations if result.is_truth]
        self.truths.extend(truths)
        if self.drop_truth:
            self.left_out["marked as ground truth"] += len(truths)
            annotations = [result for result in annotations if not result.is_truth]
        drafts = self._drafts([d for task in tasks for d in task.drafts], annotations)
        predictions = [result for task in tasks for result in task.predictions]
        results = [(r, False) for r in annotations] + [(r, True) for r in drafts]
        found = [(self.control.by_index(r.regions), r, draft) for r, draft in results]
        indices = [""]
        if self.control.repeats:
            indices = sorted({index for regions, _, _ in found for index in regions})
            if not indices:
                self.left_out["responses to none of the repeated controls"] += len(found)
        for by_index, result, draft in found:
            for index in indices:
                answer = self.control.answer(by_index.get(index, []), result.place)
                state = result.verdict or (states.ANSWERED if answer else states.EMPTY)
                suggested = self._is_suggested(result, index, answer, predictions)
                if state == states.ANSWERED and suggested:
                    state = states.SUGGESTION
                yield Response(
                    example=_called(tasks[0].example, index),
                    annotator=self.name(result),
                    answer=None if is_cancelled(result.fields) else answer or None,
                    state=states.UNFINISHED if draft else state,
                    time=result.time,
                    place=result.place,
                )

    def _is_suggested(
        self, result: Result, index: str, answer: Sequence[object], predictions: Sequence[Result]
    ) -> bool:
        """Return whether an answer repeats the prediction that it was made from."""
        parent = text_of(result.fields.get("parent_prediction"))
        if parent is None:
            return False
        original = next((one for one in predictions if one.id == parent), None)
        inside = result.fields.get("prediction")
        if original is None and isinstance(inside, dict) and isinstance(inside.get("result"), list):
            original = _result(inside, f"{result.place}, its prediction")
        if original is None:
            regions = self.control.by_index(result.regions).get(index, [])
            return all(region.origin == "prediction" for region in regions)
        regions = self.control.by_index(original.regions).get(index, [])
        suggested = self.control.answer(regions, original.place)
        if all(isinstance(item, str) for item in (*answer, *suggested)):
            return set(answer) == {*suggested}
        return list(answer) == suggested

    def _once(self, results: Iterable[Result]) -> list[Result]:
        """Return annotations, those with one id once: the later one where they differ."""
        kept: dict[str | int, Result] = {}
        for number, result in enumerate(results):
            key = result.id or number
            if key in kept:
                self.left_out[_AGAIN] += 1
                result = _later(kept[key], result)
            kept[key] = result
        return list(kept.values())

    def _drafts(self, drafts: Sequence[Result], annotations: Sequence[Result]) -> list[Result]:
        """Return drafts; those of people who have sent an annotation only where drafts count."""
        dropped = states.policy(states.UNFINISHED, "", self.policies) == states.DROP
        ids = {result.id for result in annotations} - {None}
        people = {self.name(result) for result in annotations} - {None}
        kept: list[Result] = []
        for draft in drafts:
            beside = text_of(draft.fields.get("annotation")) in ids
            if dropped and (beside or self.name(draft) in people):
                self.left_out["drafts beside an annotation"] += 1
            else:
                kept.append(draft)
        return kept


def _later(one: Result, other: Result) -> Result:
    if one.regions == other.regions and one.verdict == other.verdict:
        return one
    if one.time is not None and other.time is not None and one.time != other.time:
        return one if one.time > other.time else other
    raise refused(
        "annotation-differs",
        f" {one.place} is there twice with two answers",
        "one annotation per id, or the time of each change",
        "different results at one time, or without time",
        "remove one of them",
    )


def _called(example: str, index: str) -> str:
    """Return the name of an example, or of one repetition in it."""
    return f"{example}#{index}" if index else example


@attrs.frozen(kw_only=True)
class LabelStudioOptions(TimedExport):
    """Options of both exports.

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

    def chosen(self, results: Iterable[Result], name: str | None) -> Control:
        """Return the control of this name in some results, or the only one."""
        control = Control(name=name or "", taxonomy=self.taxonomy, buckets=self.buckets)
        regions = (region for result in results for region in result.regions)
        return choose_control(regions, control, numbers=self.numbers == "label")

    def answers(
        self, export: Tasks, name: str | None, truth: Literal["count", "drop"] | None = "count"
    ) -> Content:
        """Return the answers that a control gives to tasks."""
        results = [result for task in export.tasks for result in (*task.annotations, *task.drafts)]
        walk = _Walk(
            control=self.chosen(results, name),
            name=_names_of(results),
            policies=self.states,
            drop_truth=truth == "drop",
            left_out=export.left_out,
        )
        by_example: dict[str, list[Task]] = {}
        for task in export.tasks:
            by_example.setdefault(task.example, []).append(task)
        responses = [found for tasks in by_example.values() for found in walk.responses(tasks)]
        kind: str = self.kind or "single-label"
        if walk.control.type == RANKER:
            if self.kind is not None:
                what = f": control {quoted(walk.control.name)} ranks labels"
                got = "answers of kind partial-ranking"
                do = "leave kind out"
                raise refused("kind-unfit", what, f"answers of kind {kind}", got, do)
            kind = "partial-ranking"
        elif self.kind is None and any(len(items_of(r.answer)) > 1 for r in responses):
            kind = "label-set"
        export.warn_numbered()
        if truth is None and walk.truths:
            marked = f"{several(len(walk.truths), 'annotation')} marked as ground truth"
            warn_of(
                export.source,
                "ground-truth-counted",
                f": {marked} ({listed(walk.truths)})",
                "annotators' answers",
                "annotations that may be the truth that others were measured by",
                'ground_truth = "drop", or "count" to count each like any other',
            )
        repeats = walk.control.repeats
        return Content(
            kind=kind,
            responses=responses,
            examples=() if repeats else [task.example for task in export.tasks],
            left_out=walk.left_out,
        )


@attrs.frozen(kw_only=True)
class LabelStudio(LabelStudioOptions):
    """Read the JSON export of Label Studio: a file, or a folder with one per task or annotation.

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
        What annotations that are marked as ground truth are: responses like others (with a warning
        where None leaves it open), or none.
    """

    example: str = "id"
    ground_truth: Literal["count", "drop"] | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether tasks with results of annotations or predictions come first."""
        if not path.is_dir():
            return _has_tasks(head)
        heads = [file_opening(file, "annotations") for file in _files(path)]
        return bool(heads) and all(map(_has_tasks, heads))

    def content(self, path: Path, labels: Sequence[str] | None) -> Content:
        """Return the answers in the export."""
        export = load(path, self.example)
        if any(task.annotations or task.drafts for task in export.tasks):
            return self.answers(export, self.control, self.ground_truth)
        models = any(task.predictions for task in export.tasks)
        read = 'plausibly.read_predictions(path, reader="label-studio") reads the predictions'
        raise refused(
            "annotations-empty",
            " holds no annotation",
            "annotated tasks",
            several(len(export.tasks), "task")
            + (" with predictions only" if models else " without annotations"),
            read if models else "export again when tasks are annotated",
        )

    def predictions(
        self, path: Path, labels: Sequence[str] | None, model: str | None
    ) -> xr.DataArray:
        """Return what a model predicted, (example, label); see `plausibly.plugin.from_named`."""
        with about(path.name):
            export = load(path, self.example)
            results = [(task, result) for task in export.tasks for result in task.predictions]
            control = self.chosen([result for _, result in results], self.control)
            if control.type == RANKER:
                what = f": predictions of control {quoted(control.name)} are rankings"
                expected, do = "labels with scores", "control = ... of type choices or taxonomy"
                raise refused("predictions-ranked", what, expected, "items in order", do)
            found = [
                NamedPrediction(
                    example=_called(task.example, index),
                    model=text_of(result.fields.get("model_version")) or "",
                    scores=tuple(
                        (label, text_of(region.score) or text_of(result.fields.get("score")))
                        for region in regions
                        for label in control.labels(region, result.place)
                    ),
                    place=result.place,
                )
                for task, result in results
                for index, regions in control.by_index(result.regions).items()
            ]
            export.warn_numbered()
            examples = [] if control.repeats else [task.example for task in export.tasks]
            return from_named(found, labels, model=model, examples=examples, whose=path.name)
