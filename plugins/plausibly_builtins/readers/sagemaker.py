"""SageMaker Ground Truth: output manifests, and the answers of single workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import attrs

from plausibly.plugin import listed, quoted
from plausibly.plugin.readers import (
    Response,
    json_head,
    json_shown,
    parse_json,
    read_json,
    states,
)
from plausibly_builtins.readers.base import (
    CONSOLIDATED,
    Content,
    Entry,
    Export,
    Kind,
    PlacedEntry,
    Shape,
    as_argument,
    choose,
    entry_of,
    files_below,
    first_bytes,
    first_entries,
    form_labels,
    refused,
    seconds_of,
    text_of,
    within,
)

_METADATA = "-metadata"
_WORKERS = "annotationsFromAllWorkers"
_SHAPE = Shape("sagemaker-unlike", 'name the reader that it is for: reader="NAME"')


def _attributes(entry: Entry) -> list[str]:
    """Return the label attributes of a line: those with metadata."""
    ends = [name for name in entry if name.endswith(_METADATA)]
    return [name.removesuffix(_METADATA) for name in ends if isinstance(entry[name], dict)]


def _metadata(entry: Entry, attribute: str) -> Entry:
    """Return what a line says of its label attribute."""
    return entry_of(entry.get(attribute + _METADATA))


def _is_request(entry: object) -> bool:
    """Return whether an entry holds the answers of workers about one object, by a name."""
    return (
        isinstance(entry, dict)
        and "datasetObjectId" in entry
        and isinstance(entry.get("annotations"), list)
    )


def _is_ours(entry: object) -> bool:
    """Return whether a line has a label attribute with the metadata of a job, or answers."""
    return _is_request(entry) or (
        isinstance(entry, dict)
        and any({"job-name", "type"} & set(_metadata(entry, name)) for name in _attributes(entry))
    )


def _has_answers(value: object) -> bool:
    """Return whether a file holds the answers of workers about one object, without its name."""
    answers = entry_of(value).get("answers")
    return (
        isinstance(answers, list)
        and bool(answers)
        and all(isinstance(answer, dict) and "answerContent" in answer for answer in answers)
    )


def load(path: Path) -> list[PlacedEntry]:
    """Return the objects in a file with their places: one per line, or one list of all."""
    entries = _SHAPE.entries(path, "one object per line, with source-ref or source")
    if any(_has_answers(entry) and not _attributes(entry) for _, entry in entries):
        what = " holds answers about one object, which it does not name"
        expected = "the folder worker-response, whose folders name the objects"
        do = "name that folder instead of the file"
        raise refused("folder-expected", what, expected, "one file of it", do)
    return entries


def _name(entry: Entry, place: str) -> str:
    name = text_of(entry.get("source-ref")) or text_of(entry.get("source"))
    if name is None:
        raise _SHAPE.refused(place, "source-ref or source", entry, f"keys {listed(entry)}")
    return name


# ---- merged labels


def _kind_of_job(done: Sequence[PlacedEntry], attribute: str) -> Kind | None:
    """Return the kind of merged labels; None where the lines hold the answers of all workers."""
    kinds: dict[Kind | None, tuple[str, str]] = {}
    for place, entry in done:
        called, value = str(_metadata(entry, attribute).get("type", "")), entry[attribute]
        kind: Kind | None = None
        if not (isinstance(value, dict) and _WORKERS in value):
            job = called.removeprefix("groundtruth/")
            if "classification" not in job and "verification" not in job:
                what = f" {place}: {attribute} is of a job that gives no labels of objects"
                expected = "classification or verification, or the answers of all workers"
                got = quoted(called) if called else "no type in the metadata"
                do = "read another label attribute, or export one"
                raise refused("type-unfit", what, expected, got, do)
            kind = "label-set" if job.endswith("-multilabel") else "single-label"
        kinds.setdefault(kind, (place, called))
    if len(kinds) > 1:
        (first, one), (second, other), *_ = kinds.values()
        what = f": {attribute} is of different jobs in {first} and {second}"
        do = "split the manifest by job"
        raise refused("types-mixed", what, "one type of job", f"{one}, {other}", do)
    return next(iter(kinds), "single-label")


def _merged(
    entry: Entry, attribute: str, kind: Kind, place: str, called: dict[str, str]
) -> Response:
    """Return the response on a line of merged labels; `called` keeps the name of each number."""
    about, value = _metadata(entry, attribute), entry[attribute]
    names = entry_of(about.get("class-map"))
    numbers = value if isinstance(value, list) else [value]
    if kind == "single-label":
        numbers, names = [value], {str(value): about.get("class-name")}
    labels: list[str] = []
    for number in numbers:
        name = text_of(names.get(number)) if isinstance(number, str) else None
        if name is None:
            what = f" {place}: {attribute} {json_shown(number)} has no name"
            expected, got = "class-name or class-map", f"keys {listed(about) or 'none'}"
            do = "write the metadata of the job beside it"
            raise refused("class-unnamed", what, expected, got, do)
        before = called.setdefault(str(number), name)
        if before != name:
            what = f" {place}: {attribute} {number} is called {quoted(name)}"
            expected, got = "one name for each number", f"{quoted(before)} before"
            raise refused("class-differs", what, expected, got, "split the manifest by job")
        labels.append(name)
    state = states.CONSOLIDATED if labels else states.EMPTY
    if labels and about.get("human-annotated") == "no":
        state = states.SUGGESTION
    return Response(
        example=_name(entry, place),
        annotator=CONSOLIDATED,
        answer=labels,
        state=state,
        place=place,
    )


# ---- answers of workers


def _requested(entry: Entry, place: str, source: str) -> Iterator[Response]:
    """Yield the answer of each worker in an entry of ``consolidation-request``."""
    inside = entry_of(entry.get("dataObject"))
    names = (inside.get("s3Uri"), inside.get("content"), entry["datasetObjectId"])
    name = next(filter(None, map(text_of, names)), None)
    if name is None:
        raise _SHAPE.refused(place, "dataObject with s3Uri or content", inside)
    yield from _all_workers(entry["annotations"], name, place, source)


def _all_workers(found: object, example: str, place: str, source: str) -> Iterator[Response]:
    """Yield the answer of each worker on a line."""
    for number, entry in enumerate(found if isinstance(found, list) else [found], start=1):
        where = f"{place}, worker {number}"
        expected = "workerId, and annotationData with content"
        fields = _SHAPE.as_object(entry, where, expected)
        text = entry_of(fields.get("annotationData")).get("content")
        if not isinstance(text, str):
            raise _SHAPE.refused(where, expected, entry)
        content = parse_json(text, f"{source} {where}, content,", 1, "the fields of a form")
        yield _form(fields, content, example, where)


def _from_folder(folder: Path) -> Iterator[Response]:
    """Yield the answers in the files of a folder; an object is called as its folder."""
    found = files_below(folder, "*.json")
    if not found:
        expected = "worker-response, with one folder per object"
        do = "name the folder worker-response of the job"
        raise refused("file-missing", " holds no JSON file", expected, "none", do)
    for file in found:
        inside = file.relative_to(folder)
        with within(folder, file):
            value = read_json(file, expected="the answers of workers about one object")
        if not isinstance(value, dict) or not _has_answers(value) or len(inside.parts) < 2:
            expected = "answers with workerId and answerContent, in a folder called as the object"
            raise _SHAPE.refused(inside.as_posix(), expected, value)
        for number, entry in enumerate(value["answers"], start=1):
            where = f"{inside.as_posix()}, answer {number}"
            yield _form(entry, entry["answerContent"], inside.parts[-2], where)


def _form(entry: Entry, content: object, example: str, place: str) -> Response:
    """Return the response of a worker, whose answer is the whole form yet."""
    worker = entry.get("workerId")
    if not isinstance(content, dict) or not (worker is None or isinstance(worker, str)):
        raise _SHAPE.refused(place, "workerId, and the fields of a form", content)
    return Response(
        example=example,
        annotator=text_of(worker),
        answer=content,
        time=seconds_of(str(entry.get("submissionTime"))),
        place=place,
    )


@attrs.frozen(kw_only=True)
class SageMaker(Export):
    """Read an output manifest, or the answers of workers.

    A manifest (JSON Lines, one object per line) holds a merged label per object: the response of
    the annotator ``consolidated``. Labels are what the metadata call them, since the manifest
    itself numbers them. The confidence of a label is no probability, and is not read. Lines without
    the label attribute are examples without response.

    Votes are read where there are any: in a manifest of a custom job
    (``annotationsFromAllWorkers``), in a file of ``consolidation-request``, and in the folder
    ``worker-response``, whose objects are called as their folders.

    Attributes
    ----------
    attribute : str or None
        The label attribute, where there are several.
    field : str or None
        Field of the workers' form that holds the labels, where several do.
    kind : {"label-set", "single-label"} or None
        What workers answered; None takes label sets where the form lists ``labels``.
    """

    attribute: str | None = None
    field: str | None = None
    kind: Kind | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether there are label attributes with metadata of a job, or workers' answers."""
        if path.is_dir():
            answers = json_head(first_bytes(path, "*.json"))
            return bool(answers) and _has_answers(answers[0])
        return any(map(_is_ours, first_entries(head)))

    def content(self, path: Path, labels: Sequence[str] | None) -> Content:
        source = path.name
        if path.is_dir():
            return self._votes(_from_folder(path), ())
        entries = load(path)
        if all(_is_request(entry) for _, entry in entries):
            answers = (a for place, entry in entries for a in _requested(entry, place, source))
            return self._votes(answers, ())
        attribute = self._attribute(entries)
        done = [(place, entry) for place, entry in entries if entry.get(attribute) is not None]
        kind = _kind_of_job(done, attribute)
        names = [_name(entry, place) for place, entry in entries]
        if kind is None:
            answers = (
                answer
                for place, entry in done
                if isinstance(value := entry[attribute], dict)
                for answer in _all_workers(value[_WORKERS], _name(entry, place), place, source)
            )
            return self._votes(answers, names)
        called: dict[str, str] = {}
        failed = sum("failure-reason" in _metadata(entry, attribute) for _, entry in entries)
        return Content(
            kind=kind,
            responses=[_merged(entry, attribute, kind, place, called) for place, entry in done],
            examples=names,
            left_out={"objects that the job could not label": failed},
            # A label that only a machine gave is no answer, unless the user says that it counts.
            states={states.SUGGESTION: states.DROP},
        )

    def _attribute(self, entries: Sequence[PlacedEntry]) -> str:
        found = list(dict.fromkeys(name for _, entry in entries for name in _attributes(entry)))
        if not found:
            what, expected = " is no Ground Truth output", "a label attribute with its metadata"
            raise refused(_SHAPE.error, what, expected, "none", _SHAPE.do)
        names = ("attribute-several", "attribute-missing")
        return choose(("sagemaker", "attribute"), "attributes", found, self.attribute, names)

    def _votes(self, found: Iterable[Response], examples: Sequence[str]) -> Content:
        """Return what single workers filled into a form."""
        answers = list(found)
        forms = [entry_of(one.answer) for one in answers]
        field = self._field(forms)
        values = [form.get(field) for form in forms]
        sets = any(isinstance(value, dict) and "labels" in value for value in values)
        kind: Kind = self.kind or ("label-set" if sets else "single-label")
        responses = [
            attrs.evolve(answer, answer=_answer(value, field, kind, answer.place))
            for answer, value in zip(answers, values, strict=True)
        ]
        return Content(kind=kind, responses=responses, examples=examples)

    def _field(self, forms: Sequence[Entry]) -> str:
        """Return the field of the form that holds the labels: the one named, or the only one."""
        fields = list(dict.fromkeys(name for form in forms for name in form))
        if self.field is not None and self.field in fields:
            return self.field
        likely = [n for n in fields if any(form_labels(form.get(n)) is not None for form in forms)]
        if self.field is None and len(likely) == 1:
            return likely[0]
        name = "field-several" if self.field is None and likely else "field-missing"
        what = f": workers filled {listed(map(quoted, fields)) or 'no field'}"
        expected = f"the field {quoted(self.field)}" if self.field else "one field with labels"
        got = f"labels in {listed(map(quoted, likely)) or 'none'}"
        do = as_argument("sagemaker", field=likely[0] if likely else "FIELD")
        raise refused(name, what, expected, got, do, fields=fields)


def _answer(value: object, field: str, kind: Kind, place: str) -> object:
    """Return what a worker wrote into a field, as an answer of the kind; None for nothing."""
    labels = [] if value is None else form_labels(value)
    if labels is None or (kind == "single-label" and len(labels) > 1):
        do = as_argument("sagemaker", kind="label-set") + ", if several labels can be right"
        if not labels:
            do = "read another field: " + as_argument("sagemaker", field="FIELD")
        expected = "one label" if kind == "single-label" else "labels"
        what = f" {place}: field {quoted(field)} holds no label"
        raise refused("answer-invalid", what, expected, json_shown(value), do)
    return labels if labels else None
