"""Label Studio: the JSON export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import attrs

from plausibly.plugin import listed, quoted, several
from plausibly.plugin.readers import (
    JsonNumber,
    NamedPrediction,
    Response,
    file_opening,
    from_named,
    json_head,
    states,
)
from plausibly_builtins.readers.base import (
    Content,
    Entry,
    Kind,
    PlacedEntry,
    Shape,
    TimedExport,
    about,
    as_argument,
    entry_of,
    example_names,
    first_entries,
    items_of,
    only_predictions,
    predictions_ranked,
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
SHAPE: Final = Shape("label-studio-shape", "export again as JSON")


@attrs.frozen(kw_only=True)
class Result:
    """An annotation, a draft or a prediction."""

    place: str
    fields: Entry
    regions: tuple[Region, ...]

    @property
    def id(self) -> str | None:
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
        return any(self.fields.get(key) is True for key in ("ground_truth", "honeypot"))


@attrs.frozen(kw_only=True)
class Task:
    """A task as it stands in the export."""

    example: str = ""
    annotations: tuple[Result, ...]
    drafts: tuple[Result, ...] = ()
    predictions: tuple[Result, ...] = ()


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


def load(
    path: Path, key: str, check: Callable[[Sequence[Task]], None] | None = None
) -> tuple[list[Task], Counter[str]]:
    """Return the tasks of an export, and how many annotations are left out of it, by reason.

    Examples are named by a key of the data of their tasks, or by ``id``, once `check` has passed.
    """
    expected = "a list of tasks with their annotations"
    found: list[PlacedEntry] = []
    for file in _files(path):
        source = f"{path.name}/{file.name}" if path.is_dir() else path.name
        with about(source):
            entries = SHAPE.entries(file, expected, source)
        prefix = f"{file.name} " if path.is_dir() else ""
        found += [(f"{prefix}{place}", _whole(task)) for place, task in entries]
    if not found:
        raise refused(SHAPE.error, " holds no task", expected, "none", SHAPE.do)
    tasks: list[Task] = []
    for place, fields in found:
        identity = text_of(fields.get("id")) if key == "id" else None
        tasks.append(_task(f"task {identity}" if identity else place, fields))
    if check is not None:
        check(tasks)
    if key == "id":
        names = example_names(path.name, "task", found, None, ("id",))
    else:
        data = [(place, _data(fields)) for place, fields in found]
        names = example_names(path.name, "task", data, key, ())
    kept: list[Task] = []
    left_out = Counter[str]()
    seen: dict[str, list[Entry]] = {}
    for name, task, (_, fields) in zip(names, tasks, found, strict=True):
        if text_of(fields.get("id")) and fields in seen.get(name, []):
            left_out[_AGAIN] += len(task.annotations) + len(task.drafts)
            continue
        seen.setdefault(name, []).append(fields)
        kept.append(attrs.evolve(task, example=name))
    return kept, left_out


def _check_annotated(tasks: Sequence[Task]) -> None:
    """Raise ``annotations-empty`` where no task has an annotation or a draft."""
    if not any(task.annotations or task.drafts for task in tasks):
        predicted = any(task.predictions for task in tasks)
        raise only_predictions("label-studio", several(len(tasks), "task"), predicted=predicted)


def _whole(fields: Entry) -> Entry:
    """Return the task around an annotation that is stored alone, else the task itself."""
    if not isinstance(fields.get("result"), list) or any(key in fields for key in _LISTS):
        return fields
    task = fields.get("task")
    around = dict(entry_of(task))
    if isinstance(task, JsonNumber):
        around["id"] = task
    return {**around, "annotations": [{**fields, "task": around.get("id")}]}


def _data(fields: Entry) -> Entry:
    """Return the data of a task; one without lists of results may be nothing but its data."""
    data = fields.get("data")
    if isinstance(data, dict):
        return data
    return {key: value for key, value in fields.items() if key not in (*_LISTS, "id")}


def _task(place: str, fields: Entry) -> Task:
    def results(noun: str, *keys: str) -> Iterator[Result]:
        for key in keys:
            items = SHAPE.as_list(fields.get(key), f"{place}, {key}")
            for number, item in enumerate(items, start=1):
                if noun == "prediction" and isinstance(item, JsonNumber):
                    continue  # the id of one that this export leaves out
                entry = SHAPE.as_object(item, f"{place}, {noun} no. {number}")
                name = text_of(entry.get("id")) or f"no. {number}"
                yield _result(entry, f"{place}, {noun} {name}")

    return Task(
        annotations=tuple(results("annotation", *_ENTRIES)),
        drafts=tuple(results("draft", "drafts")),
        predictions=tuple(results("prediction", "predictions")),
    )


def _result(fields: Entry, place: str) -> Result:
    """Return an annotation, draft or prediction; older exports have a list of lists."""
    result = fields.get("result")
    if result is None and not is_cancelled(fields):
        raise SHAPE.refused(f"{place}, result", "a list", result)
    regions: list[Region] = []
    parts = SHAPE.as_list(result, f"{place}, result")
    for value in (x for part in parts for x in (part if isinstance(part, list) else [part])):
        item = SHAPE.as_object(value, f"{place}, region")
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


def _once(results: Iterable[Result], left_out: Counter[str]) -> list[Result]:
    """Return annotations, those with one id once: the later one where they differ."""
    kept: dict[str | int, Result] = {}
    for number, result in enumerate(results):
        key = result.id or number
        before = kept.setdefault(key, result)
        if before is not result:
            left_out[_AGAIN] += 1
            if (before.regions, before.verdict) != (result.regions, result.verdict):
                kept[key] = _later(before, result)
    return list(kept.values())


def _later(one: Result, other: Result) -> Result:
    if one.time is not None and other.time is not None and one.time != other.time:
        return one if one.time > other.time else other
    what = f" {one.place} is there twice with two answers"
    expected = "one annotation per id, or the time of each change"
    got = "different results at one time, or without time"
    raise refused("annotation-differs", what, expected, got, "remove one of them")


def _repeats_prediction(
    result: Result,
    index: str,
    answer: Sequence[object],
    predictions: Sequence[Result],
    control: Control,
) -> bool:
    """Return whether an answer repeats the prediction that it was made from."""
    parent = text_of(result.fields.get("parent_prediction"))
    if parent is None:
        return False
    original = next((one for one in predictions if one.id == parent), None)
    inside = entry_of(result.fields.get("prediction"))
    if original is None and isinstance(inside.get("result"), list):
        original = _result(inside, f"{result.place}, its prediction")
    if original is None:
        regions = control.by_index(result.regions).get(index, [])
        return all(region.origin == "prediction" for region in regions)
    regions = control.by_index(original.regions).get(index, [])
    suggested = control.answer(regions, original.place)
    if all(isinstance(item, str) for item in (*answer, *suggested)):
        return set(answer) == {*suggested}
    return list(answer) == suggested


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
        self,
        tasks: Sequence[Task],
        left_out: Counter[str],
        source: str,
        name: str | None,
        truth: Literal["count", "drop"] | None = "count",
    ) -> Content:
        """Return the answers that a control gives to tasks."""
        results = [result for task in tasks for result in (*task.annotations, *task.drafts)]
        control, author = self.chosen(results, name), _names_of(results)
        by_example: dict[str, list[Task]] = {}
        for task in tasks:
            by_example.setdefault(task.example, []).append(task)
        responses: list[Response] = []
        truths: list[str] = []
        for example, of in by_example.items():
            annotations = _once((result for task in of for result in task.annotations), left_out)
            marked = [result for result in annotations if result.is_truth]
            truths += [result.place for result in marked]
            if truth == "drop":
                left_out["marked as ground truth"] += len(marked)
                annotations = [result for result in annotations if not result.is_truth]
            drafts = [draft for task in of for draft in task.drafts]
            drafts = self._drafts(drafts, annotations, author, left_out)
            predictions = [result for task in of for result in task.predictions]
            found = [(control.by_index(one.regions), one) for one in (*annotations, *drafts)]
            indices = [""]
            if control.repeats:
                indices = sorted({index for regions, _ in found for index in regions})
                if not indices:
                    left_out["responses to none of the repeated controls"] += len(found)
            for at, (regions, result) in enumerate(found):
                for index in indices:
                    answer = control.answer(regions.get(index, []), result.place)
                    state = result.verdict or (states.ANSWERED if answer else states.EMPTY)
                    repeats = _repeats_prediction(result, index, answer, predictions, control)
                    if state == states.ANSWERED and repeats:
                        state = states.SUGGESTION
                    responses.append(
                        Response(
                            example=_called(example, index),
                            annotator=author(result),
                            answer=None if is_cancelled(result.fields) else answer or None,
                            state=state if at < len(annotations) else states.UNFINISHED,
                            time=result.time,
                            place=result.place,
                        )
                    )
        kind: str = self.kind or "single-label"
        if control.type == RANKER:
            if self.kind is not None:
                what = f": control {quoted(control.name)} ranks labels"
                got = "answers of kind partial-ranking"
                raise refused("kind-unfit", what, f"answers of kind {kind}", got, "leave kind out")
            kind = "partial-ranking"
        elif self.kind is None and any(len(items_of(r.answer)) > 1 for r in responses):
            kind = "label-set"
        if truth is None and truths:
            what = f": {several(len(truths), 'annotation')} marked as ground truth"
            expected = "annotators' answers"
            got = "annotations that may be the truth that others were measured by"
            do = as_argument("label-studio", ground_truth="drop")
            do += ', or "count" to count each like any other'
            what += f" ({listed(truths)})"
            warn_of(source, "ground-truth-counted", what, expected, got, do)
        examples = () if control.repeats else by_example
        return Content(kind=kind, responses=responses, examples=examples, left_out=left_out)

    def _drafts(
        self,
        drafts: Sequence[Result],
        annotations: Sequence[Result],
        author: Callable[[Result], str | None],
        left_out: Counter[str],
    ) -> list[Result]:
        """Return drafts; those of people who have sent an annotation only where drafts count."""
        if states.policy(states.UNFINISHED, "", self.states) != states.DROP:
            return list(drafts)
        ids = {result.id for result in annotations} - {None}
        people = {author(result) for result in annotations} - {None}
        kept = [
            draft
            for draft in drafts
            if text_of(draft.fields.get("annotation")) not in ids and author(draft) not in people
        ]
        left_out["drafts beside an annotation"] += len(drafts) - len(kept)
        return kept


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
        tasks, left_out = load(path, self.example, _check_annotated)
        return self.answers(tasks, left_out, path.name, self.control, self.ground_truth)

    def predictions(
        self, path: Path, labels: Sequence[str] | None, model: str | None
    ) -> xr.DataArray:
        with about(path.name):
            tasks, _ = load(path, self.example)
            results = [(task, result) for task in tasks for result in task.predictions]
            control = self.chosen([result for _, result in results], self.control)
            if control.type == RANKER:
                do = "choose a control of type choices or taxonomy"
                raise predictions_ranked(f"predictions of control {quoted(control.name)}", do)
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
            examples = [] if control.repeats else [task.example for task in tasks]
            return from_named(found, labels, model=model, examples=examples, whose=path.name)
