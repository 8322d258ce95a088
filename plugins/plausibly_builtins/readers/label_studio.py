"""Label Studio: the JSON export, and JSON-MIN, which holds less."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final, Literal, TypeAlias

import attrs

from plausibly.plugin import AnnotationTable, listed, quoted, several
from plausibly.plugin.readers import (
    JsonNumber,
    NamedPrediction,
    Response,
    file_opening,
    json_head,
    states,
)
from plausibly_builtins.readers import base

NAMING: Final = ("choices", "taxonomy", "ranker", "pairwise")
"""Types of controls whose values name labels."""

NUMBERS: Final = ("rating", "number")
"""Types whose values are numbers: labels only where the user decides so."""

RANKER: Final = "ranker"
Taxonomy: TypeAlias = Literal["leaf", "path"]

_INDEX = "{index}"
_PEOPLE = ("completed_by", "user", "created_by")
_ENTRIES = ("annotations", "completions")
_LISTS = (*_ENTRIES, "drafts", "predictions")
_AGAIN = "the same annotation again"
_ID = "annotation_id"
_OWN = ("id", "annotator", _ID, "created_at", "updated_at", "lead_time", "agreement")
"""Keys of JSON-MIN that are neither of the task's data nor of a control."""


@attrs.frozen(kw_only=True)
class Region:
    """One value of a result."""

    control: str
    type: str
    value: base.Entry
    origin: object = None
    score: object = None


@attrs.frozen(kw_only=True)
class Result:
    """An annotation, a draft or a prediction."""

    place: str
    fields: base.Entry
    regions: tuple[Region, ...]

    @property
    def id(self) -> str | None:
        return base.text_of(self.fields.get("id"))

    @property
    def time(self) -> float | None:
        """When it was last changed, in seconds; None where that is not known."""
        changed = base.seconds_of(self.fields.get("updated_at"))
        return base.seconds_of(self.fields.get("created_at")) if changed is None else changed

    @property
    def verdict(self) -> str | None:
        """State of what was skipped, or of what the last review rejects."""
        if _is_cancelled(self.fields):
            return states.SKIPPED
        accepted = True
        reviews = map(base.entry_of, base.items_of(self.fields.get("reviews")))
        for review in sorted(reviews, key=lambda r: base.seconds_of(r.get("created_at")) or 0.0):
            accepted = review.get("accepted") is not False
        action = self.fields.get("last_action")
        if action in ("rejected", "accepted", "fixed_and_accepted"):
            accepted = action != "rejected"
        return None if accepted else states.REJECTED


@attrs.frozen(kw_only=True)
class Task:
    """Results of a task, or of all tasks of one example."""

    annotations: list[Result] = attrs.field(factory=list)
    drafts: list[Result] = attrs.field(factory=list)
    predictions: list[Result] = attrs.field(factory=list)


def _is_cancelled(fields: base.Entry) -> bool:
    return fields.get("was_cancelled") is True or fields.get("skipped") is True


# ---- tasks of a file


def _has_tasks(head: bytes) -> bool:
    return len(json_head(head)) == 1 and any(map(_is_task, base.first_entries(head)))


def _is_task(entry: object) -> bool:
    task = base.entry_of(entry)
    if isinstance(task.get("result"), list) and isinstance(task.get("task"), (dict, JsonNumber)):
        return True
    every = [item for key in _LISTS for item in base.items_of(task.get(key))]
    if any("result" in base.entry_of(item) for item in every):
        return True
    return isinstance(task.get("data"), dict) and any(task.get(key) == [] for key in _ENTRIES)


def _files(path: Path) -> list[Path]:
    """Return the files of an export: itself, or all in a folder of its storage."""
    if not path.is_dir():
        return [path]
    return sorted(f for f in path.iterdir() if not f.name.startswith(".") and f.is_file())


def _load(path: Path) -> list[base.PlacedEntry]:
    """Return the place and the fields of every task; an annotation that is alone gets a task."""
    expected = "a list of tasks with their annotations"
    tasks: list[base.PlacedEntry] = []
    for file in _files(path):
        inside = file.name if path.is_dir() else ""
        source = f"{path.name}/{inside}".rstrip("/")
        with base.about(source):
            entries = base.entries(file, expected, source)
        for where, fields in entries:
            if isinstance(fields.get("result"), list) and not {*_LISTS} & {*fields}:
                task = fields.get("task")
                around = {"id": task} if isinstance(task, JsonNumber) else base.entry_of(task)
                alone = {**fields, "task": around.get("id")}
                fields = {**around, "annotations": [alone]}
            tasks.append((f"{inside} {where}".lstrip(), fields))
    if not tasks:
        raise base.unlike("as a whole", expected, found="no task")
    return tasks


def _by_example(
    source: str, tasks: Sequence[base.PlacedEntry], key: str
) -> tuple[dict[str, Task], Counter[str]]:
    """Return the tasks of each example, none of them twice, and how many annotations that drops.

    Examples are named by ``id``, or by a key of the data of their tasks.
    """
    named = tasks
    if key != "id":
        every = ((place, fields, fields.get("data")) for place, fields in tasks)
        # A task may be nothing but its data.
        named = [(at, data if isinstance(data, dict) else task) for at, task, data in every]
    names = base.example_names(source, "label-studio", named, None if key == "id" else key, ("id",))
    by_example: dict[str, Task] = {}
    before: dict[str, list[base.Entry]] = {}
    left_out = Counter[str]()
    for example, (place, fields) in zip(names, tasks, strict=True):
        identity = base.text_of(fields.get("id"))
        place = f"task {identity}" if identity else place
        annotations = _results(fields, place, "annotation", *_ENTRIES)
        drafts = _results(fields, place, "draft", "drafts")
        task = by_example.setdefault(example, Task())
        if identity and fields in before.setdefault(example, []):
            left_out[_AGAIN] += len(annotations) + len(drafts)
            continue
        before.setdefault(example, []).append(fields)
        task.annotations.extend(annotations)
        task.drafts.extend(drafts)
        task.predictions.extend(_results(fields, place, "prediction", "predictions"))
    return by_example, left_out


def _results(fields: base.Entry, place: str, noun: str, *keys: str) -> list[Result]:
    results: list[Result] = []
    for key in keys:
        items = base.as_list(fields.get(key), f"{place}, {key}")
        for number, item in enumerate(items, start=1):
            if noun == "prediction" and isinstance(item, JsonNumber):
                continue  # the id of one that this export leaves out
            entry = base.as_object(item, f"{place}, {noun} no. {number}")
            name = base.text_of(entry.get("id")) or f"no. {number}"
            results.append(_result(entry, f"{place}, {noun} {name}"))
    return results


def _result(fields: base.Entry, place: str) -> Result:
    """Return an annotation, draft or prediction; older exports have a list of lists."""
    result = fields.get("result")
    if result is None and not _is_cancelled(fields):
        raise base.unlike(f"{place}, result", "a list", result)
    regions: list[Region] = []
    parts = base.as_list(result, f"{place}, result")
    for value in (x for part in parts for x in (part if isinstance(part, list) else [part])):
        item = base.as_object(value, f"{place}, region")
        control, kind, value = (item.get(key) for key in ("from_name", "type", "value"))
        # What has no control, such as a relation between regions, answers nothing.
        if isinstance(control, str) and isinstance(value, dict):
            if not isinstance(kind, str):
                kind = next((name for name in (*NAMING, *NUMBERS) if name in value), "")
            more = {"origin": item.get("origin"), "score": item.get("score")}
            regions.append(Region(control=str(control), type=kind.lower(), value=value, **more))
    return Result(place=place, fields=fields, regions=tuple(regions))


def _authors(results: Iterable[Result]) -> Callable[[Result], str | None]:
    """Return a function from a result to its author: the id, where it is known of an address."""
    people = [base.entry_of(result.fields.get(key)) for result in results for key in _PEOPLE]
    pairs = [
        (base.text_of(person.get("email")), base.text_of(person.get("id"))) for person in people
    ]
    ids = {mail: identity for mail, identity in pairs if mail and identity}

    def author(result: Result) -> str | None:
        for person in map(result.fields.get, _PEOPLE):
            if isinstance(person, dict):
                person = base.text_of(person.get("id")) or person.get("email")
            if name := base.text_of(person):
                return ids.get(name, name)
        return None

    return author


def _once(results: Iterable[Result], left_out: Counter[str]) -> list[Result]:
    """Return annotations, those with one id once: the later one where they differ."""
    kept: dict[str | int, Result] = {}
    for number, result in enumerate(results):
        key = result.id or number
        before = kept.setdefault(key, result)
        if before is result:
            continue
        left_out[_AGAIN] += 1
        if (before.regions, before.verdict) != (result.regions, result.verdict):
            if before.time is None or result.time is None or before.time == result.time:
                expected = "one annotation per id, or the time of each change"
                found = "different results at one time, or without time"
                raise base.unlike(before.place, expected, found=found)
            kept[key] = max(before, result, key=lambda version: version.time or 0.0)
    return list(kept.values())


# ---- the control and its answers


@attrs.define(kw_only=True)
class Control:
    """The control that is read, or those of a Repeater: a pattern with ``{index}`` names them.

    `type` is None where the file has no value of it; `paths` holds the path of each taxonomy label.
    """

    options: LabelStudioOptions
    name: str
    type: str | None = None
    paths: dict[str, tuple[str, ...]] = attrs.field(factory=dict)

    @property
    def repeats(self) -> bool:
        return _INDEX in self.name

    def index(self, control: str) -> str | None:
        """Return the index in the name of a control, empty without one; None = another control."""
        if not self.repeats:
            return "" if control == self.name else None
        before, _, after = self.name.partition(_INDEX)
        match = re.fullmatch(f"{re.escape(before)}([0-9]+){re.escape(after)}", control)
        return match[1] if match else None

    def by_index(self, regions: Iterable[Region]) -> dict[str, list[Region]]:
        indexed: dict[str, list[Region]] = {}
        for region in regions:
            index = self.index(region.control)
            if index is not None:
                indexed.setdefault(index, []).append(region)
        return indexed

    def answer(self, regions: Sequence[Region], at: str) -> list[str] | list[list[str]]:
        """Return what the regions answer: labels, each once, or blocks of ranks."""
        if not regions or self.type != RANKER:
            return list(dict.fromkeys(x for region in regions for x in self.labels(region, at)))
        if len(regions) > 1:
            expected = f"one ranking by {quoted(regions[0].control)} per annotation"
            raise base.unlike(at, expected, found=f"{len(regions)}")
        return self._ranks(regions[0], at)

    def labels(self, region: Region, at: str) -> list[str]:
        value = region.value.get("selected" if region.type == "pairwise" else region.type)
        items = value if isinstance(value, list) else [value]
        paths = [item if isinstance(item, list) else [item] for item in items]
        is_fit = all(path and all(isinstance(step, str) for step in path) for path in paths)
        if region.type in NUMBERS:
            is_fit = isinstance(value, JsonNumber)
        elif region.type != "pairwise":
            is_fit = is_fit and isinstance(value, list)
        if not is_fit:
            noun = "a number" if region.type in NUMBERS else "labels that are text, or paths"
            raise base.unlike(at, f"{noun}, as the value of {quoted(region.control)}", value)
        labels = (self._leaf(tuple(i), at) if isinstance(i, list) else str(i) for i in items)
        return list(dict.fromkeys(labels))

    def _leaf(self, path: tuple[str, ...], at: str) -> str:
        """Return the label of a path in a taxonomy."""
        label = path[-1] if self.options.taxonomy == "leaf" else "/".join(path)
        known = self.paths.setdefault(label, path)
        if known != path:
            found = f"{' > '.join(known)} and {' > '.join(path)}"
            expected = f"one place of the taxonomy for {quoted(label)}"
            if self.options.taxonomy == "leaf":
                raise base.needed(self.options.reader, f" {at}", expected, found, taxonomy="path")
            raise base.unlike(at, expected, found=found)
        return str(label)

    def _ranks(self, region: Region, at: str) -> list[list[str]]:
        ranker, buckets = region.value.get(RANKER), self.options.buckets
        lists: dict[str, list[str]] = {}
        for name, items in base.as_object(ranker, at, "an object with ranks").items():
            if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
                raise base.unlike(at, f"a list of labels in {quoted(name)}", items)
            lists[name] = list(map(str, items))
        if len(lists) == 1 and set(lists) <= {region.control, "rank"} - set(buckets):
            return [[item] for items in lists.values() for item in items]
        lists.pop("_", None)  # what was not touched
        unknown = [name for name in lists if name not in buckets]
        if unknown:
            what = f" {at}: nothing says which bucket of {quoted(region.control)} is the best"
            found, order = listed(map(quoted, lists)), [*buckets, *unknown]
            more = ", the best first"
            raise base.needed(self.options.reader, what, "their order", found, more, buckets=order)
        return [lists[name] for name in buckets if lists.get(name)]

    def repeats_prediction(
        self, result: Result, index: str, answer: Sequence[object], predictions: Sequence[Result]
    ) -> bool:
        """Return whether an answer is the one of the prediction from which it started."""
        parent = base.text_of(result.fields.get("parent_prediction"))
        if parent is None:
            return False
        original = next((prediction for prediction in predictions if prediction.id == parent), None)
        inside = base.entry_of(result.fields.get("prediction"))
        if original is None and isinstance(inside.get("result"), list):
            original = _result(inside, f"{result.place}, its prediction")
        regions = self.by_index((original or result).regions).get(index, [])
        if original is None:
            return all(region.origin == "prediction" for region in regions)
        suggested = self.answer(regions, original.place)
        if all(isinstance(item, str) for item in (*answer, *suggested)):
            return set(answer) == {*suggested}
        return list(answer) == suggested


@attrs.frozen(kw_only=True)
class LabelStudioOptions(base.TimedExport):
    """Options of both exports.

    Attributes
    ----------
    control : str or None
        Name of the control whose choices are the labels; None takes the only one that there is. A
        pattern such as ``"choice_{index}"`` names the controls of a Repeater.
    kind : {"single-label", "label-set"} or None
        What choices are; None: label sets where any response names two labels.
    taxonomy : {"leaf", "path"}
        What a choice in a taxonomy is called: ``"Eczema"`` or ``"Skin/Eczema"``.
    buckets : tuple of str
        Buckets of a ranker, the best first: the export does not hold their order.
    numbers : {"refuse", "label"}
        Whether each rating or number is a label.
    example : str
        What names the examples: ``"id"``, the id of the task, or a key of its data. Tasks without
        id are called by their place, from 0.
    """

    reader: ClassVar[str]
    control: str | None = None
    kind: base.Kind | None = None
    taxonomy: Taxonomy = "leaf"
    buckets: tuple[str, ...] = ()
    numbers: Literal["refuse", "label"] = "refuse"
    example: str = "id"

    def hint_of_all(self, names: Sequence[str]) -> str:
        """Return what a hint adds where these are controls of a Repeater, else nothing."""
        patterns = {re.sub("[0-9]+$", _INDEX, name) for name in names}
        if len(names) < 2 or len(patterns) > 1:
            return ""
        every = base.as_argument(self.reader, control=patterns.pop())
        return f"; {every} makes each index an example"

    def chosen(self, results: Iterable[Result], name: str | None) -> Control:
        """Return the control that is named, or the only one that fits, with its type."""
        types: dict[str, set[str]] = {}
        for region in (region for result in results for region in result.regions):
            types.setdefault(region.control, set()).add(region.type)
        fit = {*NAMING, *NUMBERS} if self.numbers == "label" else {*NAMING}
        every = sorted(types)
        names = [control for control in every if types[control] & fit]
        if name is None and names:
            more = self.hint_of_all(names)
            name = base.choose(self.reader, "control", "controls", names, None, more)
        control = Control(options=self, name=name or "")
        if name is not None:
            names = [other for other in every if control.index(other) is not None]
            if every and not names:
                base.choose(self.reader, "control", "controls", every, name)
        names = names or every
        kinds = sorted({kind for name in names for kind in types[name]})
        found = listed(f"{quoted(n)} ({', '.join(sorted(types[n])) or 'no type'})" for n in names)
        if names and {*kinds} <= {*NUMBERS} - fit:
            what, more = " holds numbers, not labels", " takes each number as a label"
            raise base.needed(self.reader, what, "labels", found, more, numbers="label")
        if names and not {*kinds} & fit:
            expected = f"a control of type {', '.join(NAMING[:-1])} or {NAMING[-1]}"
            hint = "set the project up with Choices, Taxonomy, Ranker or Pairwise"
            what = ": the values of its controls are no labels of a task"
            raise base.refused("control-unfit", what, expected, found, hint)
        if len(kinds) > 1:
            raise base.unlike("as a whole", "one type per control", found=found)
        control.type = kinds[0] if kinds else None
        return control

    def answers(
        self,
        tasks: Mapping[str, Task],
        left_out: Counter[str],
        labels: base.Labels,
        source: str,
        name: str | None,
        truth: Literal["count", "drop"] | None = "count",
    ) -> AnnotationTable:
        results = [
            result for task in tasks.values() for result in (*task.annotations, *task.drafts)
        ]
        control, author = self.chosen(results, name), _authors(results)
        responses: list[Response] = []
        truths: list[str] = []
        for example, task in tasks.items():
            annotations, drafts = _once(task.annotations, left_out), task.drafts
            keys = ("ground_truth", "honeypot")
            marked = [r for r in annotations if any(r.fields.get(key) is True for key in keys)]
            truths += [result.place for result in marked]
            if truth == "drop":
                left_out["marked as ground truth"] += len(marked)
                annotations = [result for result in annotations if result not in marked]
            if states.policy(states.UNFINISHED, "", self.states) == states.DROP:
                ids = {result.id for result in annotations} - {None}
                people = {author(result) for result in annotations} - {None}
                drafts = [
                    draft
                    for draft in drafts
                    if author(draft) not in people
                    and base.text_of(draft.fields.get("annotation")) not in ids
                ]
                left_out["drafts beside an annotation"] += len(task.drafts) - len(drafts)
            indexed = [
                (control.by_index(result.regions), result) for result in (*annotations, *drafts)
            ]
            indices = [""]
            if control.repeats:
                indices = sorted({index for regions, _ in indexed for index in regions})
                if not indices:
                    left_out["responses to none of the repeated controls"] += len(indexed)
            for at, (regions, result) in enumerate(indexed):
                for index in indices:
                    answer = control.answer(regions.get(index, []), result.place)
                    state = result.verdict or (states.ANSWERED if answer else states.EMPTY)
                    repeats = control.repeats_prediction(result, index, answer, task.predictions)
                    if state == states.ANSWERED and repeats:
                        state = states.SUGGESTION
                    responses.append(
                        Response(
                            example=f"{example}#{index}" if index else example,
                            annotator=author(result),
                            answer=None if _is_cancelled(result.fields) else answer or None,
                            state=state if at < len(annotations) else states.UNFINISHED,
                            time=result.time,
                            place=result.place,
                        )
                    )
        kind: str = self.kind or "single-label"
        if control.type == RANKER:
            if self.kind is not None:
                what = f": control {quoted(control.name)} ranks labels"
                raise base.unfit(what, "no kind", f"kind {kind}")
            kind = "partial-ranking"
        elif self.kind is None and any(len(base.items_of(r.answer)) > 1 for r in responses):
            kind = "label-set"
        if truth is None and truths:
            number = several(len(truths), "annotation")
            what = f": {number} marked as ground truth ({listed(truths)})"
            expected = "annotators' answers"
            found = "annotations that may be the truth that others were measured by"
            hint = base.as_argument(self.reader, ground_truth="drop") + ', or "count" to count them'
            base.warn_of(source, "ground-truth-counted", what, expected, found, hint)
        return self.gathered(
            kind,
            responses,
            labels,
            source=source,
            examples=() if control.repeats else tasks,
            left_out=left_out,
        )


@attrs.frozen(kw_only=True)
class LabelStudio(base.Scored, LabelStudioOptions):
    """Read the JSON export of Label Studio: a file, or a folder with one per task or annotation.

    One control gives the answers. All annotations of a task are read, and its drafts; what was
    cancelled is a skip, what a reviewer rejected is dropped, what repeats a model's prediction is a
    suggestion. An annotation that is there twice, by its id, is one.

    Attributes
    ----------
    ground_truth : {"count", "drop"} or None
        What annotations that are marked as ground truth are: responses like others (with a warning
        where None leaves it open), or none.
    """

    reader = "label-studio"
    ground_truth: Literal["count", "drop"] | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether tasks with results of annotations or predictions come first."""
        if not path.is_dir():
            return _has_tasks(head)
        heads = [file_opening(file, "annotations") for file in _files(path)]
        return bool(heads) and all(map(_has_tasks, heads))

    def content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        every = _load(path)
        if not any(fields.get(key) for _, fields in every for key in (*_ENTRIES, "drafts")):
            predicted = any(fields.get("predictions") for _, fields in every)
            raise base.only_predictions(self.reader, predicted=predicted)
        tasks, left_out = _by_example(path.name, every, self.example)
        return self.answers(tasks, left_out, labels, path.name, self.control, self.ground_truth)

    def scored(self, path: Path) -> base.Scores:
        tasks, _ = _by_example(path.name, _load(path), self.example)
        results = [(name, result) for name, task in tasks.items() for result in task.predictions]
        control = self.chosen([result for _, result in results], self.control)
        if control.type == RANKER:
            raise base.predictions_ranked(f"predictions of control {quoted(control.name)}")
        predictions = [
            NamedPrediction(
                example=f"{example}#{index}" if index else example,
                model=base.text_of(result.fields.get("model_version")) or "",
                scores=tuple(
                    (label, base.text_of(region.score) or base.text_of(result.fields.get("score")))
                    for region in regions
                    for label in control.labels(region, result.place)
                ),
                place=result.place,
            )
            for example, result in results
            for index, regions in control.by_index(result.regions).items()
        ]
        return predictions, () if control.repeats else tasks, ()


@attrs.frozen(kw_only=True)
class LabelStudioMin(LabelStudioOptions):
    """Read the JSON-MIN export of Label Studio: one record per annotation.

    Annotations that were cancelled, drafts, reviews and predictions are not in it, and the answer
    stands under the name of its control beside the data of the task. Records without
    ``annotation_id`` are tasks without annotation.

    Attributes
    ----------
    control : str or None
        Key of the answers; None takes the only one whose values can be nothing but answers.
    """

    reader = "label-studio-min"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether records with the id of an annotation come first."""
        values = json_head(head)
        records = map(base.entry_of, base.items_of(values[0]) if len(values) == 1 else [])
        return any(_ID in record and {"annotator", "lead_time"} & {*record} for record in records)

    def content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        expected = "a list of records, one per annotation"
        entries = base.entries(path, expected)
        if not entries:
            raise base.unlike("the list of records", expected, [])
        control = Control(options=self, name=self._name([record for _, record in entries]))
        names = base.example_names(path.name, self.reader, entries, self.example, ())
        tasks: dict[str, Task] = {}
        for example, (place, record) in zip(names, entries, strict=True):
            task = tasks.setdefault(example, Task())
            keys = [key for key in record if control.index(key) is not None]
            keys = [key for key in keys if record[key] is not None]
            if base.text_of(record.get(_ID)) is not None:
                regions = tuple(r for key in keys for r in _regions(key, record[key], place))
                times = {key: record.get(key) for key in ("created_at", "updated_at")}
                fields = {"id": record[_ID], "completed_by": record.get("annotator"), **times}
                task.annotations.append(Result(place=place, fields=fields, regions=regions))
            elif keys:
                found = f"{quoted(keys[0])} among the data of the task"
                hint = "export as JSON, where answers and data stand apart"
                raise base.unlike(place, "a key of answers only", found=found, hint=hint)
        return self.answers(tasks, Counter(), labels, path.name, control.name)

    def _name(self, records: Sequence[base.Entry]) -> str:
        """Return the name of the control: the option, or the only one that is clear."""
        keys = list(dict.fromkeys(key for r in records for key in r if key not in _OWN))
        if self.control is not None:
            control = Control(options=self, name=self.control)
            if all(control.index(key) is None for key in keys):
                base.choose(self.reader, "control", "keys", keys or ["KEY"], self.control)
            return self.control
        clear = [key for key in keys if any(_names_labels(record.get(key)) for record in records)]
        if len(clear) == 1:
            return clear[0]
        keys = clear or keys
        what = " has no key that holds the answers beyond doubt"
        expected, found = "the name of the control", listed(map(quoted, keys)) or "none"
        more, key = self.hint_of_all(clear), (keys or ["KEY"])[-1]
        raise base.needed(self.reader, what, expected, found, more, control=key)


def _names_labels(value: object) -> bool:
    """Return whether a value can be nothing but that of a control with labels."""
    items = value if isinstance(value, list) else [value]
    return bool(items) and all({*NAMING} & {*base.entry_of(item)} for item in items)


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
            expected = f"a label, or an object such as {{choices: [...]}}, as {quoted(key)}"
            raise base.unlike(place, expected, item)
