"""SageMaker Ground Truth: output manifests, and the answers of single workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import attrs

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    Response,
    ResponseOptions,
    counted,
    file_contents,
    json_head,
    json_shown,
    listed,
    parse_json,
    quoted,
    read_json,
    read_json_lines,
    states,
)
from plausibly_builtins.readers._exports import (
    CONSOLIDATED,
    files_below,
    first_bytes,
    from_iso,
    within,
)

Kind: TypeAlias = Literal["label-set", "single-label"]


@attrs.frozen(kw_only=True)
class WorkerAnswer:
    """What one worker said of one object.

    Attributes
    ----------
    example : str
    annotator : str or None
    content : mapping of str to object
        The fields of the form.
    time : float or None
        When it was sent, in seconds.
    place : str
    """

    example: str
    annotator: str | None
    content: Mapping[str, object]
    time: float | None
    place: str


def seconds(text: object) -> float | None:
    """Return a time of the format as seconds; None where it is none."""
    try:
        return from_iso(str(text)).timestamp()
    except (ValueError, OverflowError):
        return None


def field_of(answers: Sequence[WorkerAnswer], wanted: str | None, whose: str) -> str:
    """Return the field of the form that holds the labels: the one named, or the only one."""
    fields = list(dict.fromkeys(name for answer in answers for name in answer.content))
    if wanted is not None and wanted in fields:
        return wanted
    likely = [
        name
        for name in fields
        if any(_labels(answer.content.get(name)) is not None for answer in answers)
    ]
    if wanted is None and len(likely) == 1:
        return likely[0]
    choice = likely[0] if likely else "FIELD"
    raise InputError(
        "field-several" if wanted is None and likely else "field-missing",
        f"{whose}: workers filled {listed(map(quoted, fields)) or 'no field'}"
        if wanted is None
        else f"{whose}: no worker filled {quoted(wanted)}",
        expected="one field with a label, or the name of the one to read",
        got=f"labels in {listed(map(quoted, likely)) or 'none'}",
        do=f'--reader \'{{name = "sagemaker", field = "{choice}"}}\'',
        whose=whose,
        details={"fields": fields},
    )


def kind_of(answers: Sequence[WorkerAnswer], field: str, wanted: Kind | None) -> Kind:
    """Return the kind of the answers: the one named; label sets where a form offers several."""
    several = any(
        isinstance(said, dict) and "labels" in said
        for said in (answer.content.get(field) for answer in answers)
    )
    return wanted or ("label-set" if several else "single-label")


def answer_of(answer: WorkerAnswer, field: str, kind: Kind, whose: str) -> object:
    """Return what a worker said in a field, as an answer of the kind; None for nothing."""
    said = answer.content.get(field)
    labels = [] if said is None else _labels(said)
    if labels is not None and (kind == "label-set" or len(labels) < 2):
        return (labels or None) if kind == "label-set" else (labels[0] if labels else None)
    do = '--reader \'{name = "sagemaker", kind = "label-set"}\', if several labels can be right'
    raise InputError(
        "answer-invalid",
        f"{whose} {answer.place}: field {quoted(field)} holds no label",
        expected="one label" if kind == "single-label" else "labels",
        got=json_shown(said),
        do=do
        if labels
        else 'read another field: --reader \'{name = "sagemaker", field = "FIELD"}\'',
        whose=whose,
    )


def _labels(said: object) -> list[str] | None:
    """Return the labels in one field; None where it holds something else."""
    if isinstance(said, str):
        return [str(said)] if said else []
    if not isinstance(said, dict) or not said:
        return None
    if set(said) == {"label"} and isinstance(said["label"], str):
        return [str(said["label"])]
    if set(said) == {"labels"} and isinstance(said["labels"], list):
        texts = [str(label) for label in said["labels"] if isinstance(label, str)]
        return texts if len(texts) == len(said["labels"]) else None
    if all(isinstance(state, bool) for state in said.values()):
        return [label for label, state in said.items() if state]
    return None


Entry: TypeAlias = Mapping[str, object]

_METADATA = "-metadata"
_NAMES = ("source-ref", "source")
_WORKERS = "annotationsFromAllWorkers"
_TYPE = "groundtruth/"
_SETS = "-multilabel"
_LABELS = ("classification", "verification")
_EXPECTED = "one object a line, with source-ref or source"


def unlike(whose: str, place: str, expected: str, got: str) -> InputError:
    """Return the error about a file of another shape."""
    return InputError(
        "sagemaker-unlike",
        f"{whose} {place} is not as Ground Truth writes it"
        if place
        else f"{whose} is no output of Ground Truth",
        expected=expected,
        got=got,
        do="name the reader that it is for: --reader NAME",
        whose=whose,
    )


def is_labelled(entry: object) -> bool:
    """Return whether a line has a label attribute with the metadata of a job."""
    return isinstance(entry, dict) and any(
        {"job-name", "type"} & set(metadata(entry, name)) for name in attributes(entry)
    )


def is_request(entry: object) -> bool:
    """Return whether an entry holds the answers of workers about one object, by a name."""
    return (
        isinstance(entry, dict)
        and "datasetObjectId" in entry
        and isinstance(entry.get("annotations"), list)
    )


def has_answers(value: object) -> bool:
    """Return whether a file holds the answers of workers about one object, without its name."""
    answers = value.get("answers") if isinstance(value, dict) else None
    return (
        isinstance(answers, list)
        and bool(answers)
        and all(isinstance(answer, dict) and "answerContent" in answer for answer in answers)
    )


def attributes(entry: Entry) -> list[str]:
    """Return the label attributes of a line: those with metadata."""
    ends = [name for name in entry if name.endswith(_METADATA)]
    return [name.removesuffix(_METADATA) for name in ends if isinstance(entry[name], dict)]


def metadata(entry: Entry, attribute: str) -> Entry:
    """Return what a line says of its label attribute."""
    found = entry.get(attribute + _METADATA)
    return found if isinstance(found, dict) else {}


def entries_of(path: Path) -> list[tuple[str, Entry]]:
    """Return the objects in a file with their places: one a line, or one list of all."""
    if len(json_head(file_contents(path, "annotations"))) > 1:
        found = [(f"line {counted(n)}", v) for n, v in read_json_lines(path, expected=_EXPECTED)]
    else:
        value = read_json(path, expected=_EXPECTED)
        found = [("line 1", value)]
        if isinstance(value, list):
            found = [(f"entry {counted(at)}", item) for at, item in enumerate(value, start=1)]
    entries: list[tuple[str, Entry]] = []
    for place, value in found:
        if not isinstance(value, dict):
            raise unlike(path.name, place, "an object", json_shown(value))
        if has_answers(value) and not attributes(value):
            raise InputError(
                "folder-expected",
                f"{path.name} holds answers about one object, which it does not name",
                expected="the folder worker-response, whose folders name the objects",
                got="one file of it",
                do="name that folder instead of the file",
                whose=path.name,
            )
        entries.append((place, value))
    return entries


def name_of(entry: Entry, place: str, whose: str) -> str:
    """Return the name of the object on a line of a manifest."""
    for key in _NAMES:
        name = entry.get(key)
        if isinstance(name, str) and name:
            return str(name)
    raise unlike(whose, place, " or ".join(_NAMES), f"keys {listed(entry) or 'none'}")


def kind_of_job(done: Sequence[tuple[str, Entry]], attribute: str, whose: str) -> Kind | None:
    """Return the kind of merged labels; None where the lines hold the answers of all workers."""
    kinds: dict[Kind | None, tuple[str, str]] = {}
    for place, entry in done:
        said, value = str(metadata(entry, attribute).get("type", "")), entry[attribute]
        kind: Kind | None = None
        if not (isinstance(value, dict) and _WORKERS in value):
            job = said.removeprefix(_TYPE)
            if not any(word in job for word in _LABELS):
                raise InputError(
                    "type-unfit",
                    f"{whose} {place}: {attribute} is of a job that gives no labels of objects",
                    expected="classification or verification, or the answers of all workers",
                    got=quoted(said) if said else "no type in the metadata",
                    do="read another label attribute, or export one",
                    whose=whose,
                )
            kind = "label-set" if job.endswith(_SETS) else "single-label"
        kinds.setdefault(kind, (place, said))
    if len(kinds) > 1:
        (first, one), (second, other), *_ = kinds.values()
        raise InputError(
            "types-mixed",
            f"{whose}: {attribute} is of different jobs in {first} and {second}",
            expected="one type of job",
            got=f"{one}, {other}",
            do="split the manifest by job",
            whose=whose,
        )
    return next(iter(kinds), "single-label")


def merged(
    entry: Entry, attribute: str, kind: Kind, place: str, whose: str, called: dict[str, str]
) -> Response:
    """Return the response on a line of merged labels."""
    about, value = metadata(entry, attribute), entry[attribute]
    if kind == "single-label":
        numbers, names = [value], {str(value): about.get("class-name")}
    else:
        numbers = value if isinstance(value, list) else [value]
        found = about.get("class-map")
        names = dict(found) if isinstance(found, dict) else {}
    labels: list[str] = []
    for number in numbers:
        name = names.get(number) if isinstance(number, str) else None
        if not isinstance(name, str) or not name:
            raise InputError(
                "class-unnamed",
                f"{whose} {place}: nothing says what {attribute} {json_shown(number)} is called",
                expected="class-name or class-map in the metadata",
                got=f"keys {listed(about) or 'none'}",
                do="write the metadata of the job beside it",
                whose=whose,
            )
        before = called.setdefault(str(number), str(name))
        if before != name:
            raise InputError(
                "class-differs",
                f"{whose} {place}: {attribute} {number} is called {quoted(name)}",
                expected="one name for each number",
                got=f"{quoted(before)} before",
                do="split the manifest by job",
                whose=whose,
            )
        labels.append(str(name))
    state = states.CONSOLIDATED if labels else states.EMPTY
    if labels and about.get("human-annotated") == "no":
        state = states.SUGGESTION
    return Response(
        example=name_of(entry, place, whose),
        annotator=CONSOLIDATED,
        answer=labels[0] if kind == "single-label" else labels,
        state=state,
        place=place,
    )


def all_workers(entry: Entry, attribute: str, place: str, whose: str) -> Iterator[WorkerAnswer]:
    """Yield what each worker said of the object on a line of a custom job."""
    value = entry[attribute]
    found = value[_WORKERS] if isinstance(value, dict) else None
    yield from _annotations(found, name_of(entry, place, whose), place, whose)


def requested(entry: Entry, place: str, whose: str) -> Iterator[WorkerAnswer]:
    """Yield what each worker said of the object in an entry of ``consolidation-request``."""
    about = entry.get("dataObject")
    inside = about if isinstance(about, dict) else {}
    names = (inside.get("s3Uri"), inside.get("content"), entry["datasetObjectId"])
    name = next((str(name) for name in names if isinstance(name, str) and name), None)
    if name is None:
        raise unlike(whose, place, "dataObject with s3Uri or content", json_shown(about))
    yield from _annotations(entry["annotations"], name, place, whose)


def _annotations(found: object, example: str, place: str, whose: str) -> Iterator[WorkerAnswer]:
    for at, said in enumerate(found if isinstance(found, list) else [found], start=1):
        where = f"{place}, worker {at}"
        inside = said.get("annotationData") if isinstance(said, dict) else None
        text = inside.get("content") if isinstance(inside, dict) else None
        if not isinstance(said, dict) or not isinstance(text, str):
            raise unlike(
                whose, where, "workerId, and annotationData with content", json_shown(said)
            )
        content = parse_json(text, f"{whose} {where}, content,", 1, "the fields of a form")
        yield _answer(said, content, example, where, whose)


def from_folder(folder: Path) -> Iterator[WorkerAnswer]:
    """Yield what workers said in the files of a folder; an object is called as its folder."""
    found = files_below(folder, "*.json")
    if not found:
        raise InputError(
            "file-missing",
            f"{folder.name} holds no JSON file",
            expected="worker-response, with a folder an object",
            got="none",
            do="name the folder worker-response of the job",
            whose=folder.name,
        )
    for file in found:
        inside = file.relative_to(folder)
        with within(folder, file):
            value = read_json(file, expected="the answers of workers about one object")
        if not has_answers(value) or len(inside.parts) < 2:
            raise unlike(
                folder.name,
                inside.as_posix(),
                "answers with workerId and answerContent, in a folder called as the object",
                json_shown(value),
            )
        answers = value["answers"] if isinstance(value, dict) else []
        for at, said in enumerate(answers, start=1):
            where = f"{inside.as_posix()}, answer {at}"
            yield _answer(said, said["answerContent"], inside.parts[-2], where, folder.name)


def _answer(said: Entry, content: object, example: str, place: str, whose: str) -> WorkerAnswer:
    worker = said.get("workerId")
    if not isinstance(content, dict) or not (worker is None or isinstance(worker, str)):
        raise unlike(whose, place, "workerId, and the fields of a form", json_shown(content))
    return WorkerAnswer(
        example=example,
        annotator=str(worker) if worker else None,
        content=content,
        time=seconds(said.get("submissionTime")),
        place=place,
    )


_FAILED = "objects that the job could not label"


@attrs.frozen(kw_only=True)
class SageMaker(ResponseOptions):
    """Read an output manifest, or the answers of workers.

    A manifest (JSON Lines, one object a line) holds a merged label an object: the response of the
    annotator ``consolidated``. Labels are what the metadata call them, since the manifest itself
    numbers them. The confidence of a label is no probability, and is not read. Lines without the
    label attribute are examples to which nobody responded.

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
            return bool(answers) and has_answers(answers[0])
        values = json_head(head)
        entries = values[0] if len(values) == 1 and isinstance(values[0], list) else values
        return any(is_labelled(entry) or is_request(entry) for entry in entries)

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the file or folder."""
        if path.is_dir():
            return self._voted(list(from_folder(path)), labels, path.name, ())
        entries = entries_of(path)
        if all(is_request(entry) for _, entry in entries):
            answers = [a for place, entry in entries for a in requested(entry, place, path.name)]
            return self._voted(answers, labels, path.name, ())
        return self._manifest(entries, labels, path.name)

    def _manifest(
        self, entries: Sequence[tuple[str, Entry]], labels: Sequence[str] | None, whose: str
    ) -> AnnotationTable:
        attribute = self._attribute(entries, whose)
        done = [(place, entry) for place, entry in entries if entry.get(attribute) is not None]
        kind = kind_of_job(done, attribute, whose)
        names = [name_of(entry, place, whose) for place, entry in entries]
        if kind is None:
            answers = [
                answer
                for place, entry in done
                for answer in all_workers(entry, attribute, place, whose)
            ]
            return self._voted(answers, labels, whose, names)
        called: dict[str, str] = {}
        responses = [merged(entry, attribute, kind, place, whose, called) for place, entry in done]
        failed = sum("failure-reason" in metadata(entry, attribute) for _, entry in entries)
        # A label that nobody looked at is no opinion, unless the user says that it is to count.
        settled = attrs.evolve(self, states={states.SUGGESTION: states.DROP, **self.states})
        return settled.gathered(
            kind, responses, labels, whose=whose, examples=names, left_out={_FAILED: failed}
        )

    def _attribute(self, entries: Sequence[tuple[str, Entry]], whose: str) -> str:
        found = list(dict.fromkeys(name for _, entry in entries for name in attributes(entry)))
        if self.attribute in found:
            return str(self.attribute)
        if self.attribute is None and len(found) == 1:
            return found[0]
        if not found:
            raise unlike(whose, "", "a label attribute with its metadata on some line", "none")
        shown = listed(map(quoted, found))
        raise InputError(
            "attribute-several" if self.attribute is None else "attribute-missing",
            f"{whose} holds {len(found)} label attributes"
            if self.attribute is None
            else f"{whose} has no label attribute {quoted(self.attribute)}",
            expected="one, or the name of the one to read",
            got=shown,
            do=f'--reader \'{{name = "sagemaker", attribute = "{found[0]}"}}\'',
            whose=whose,
            details={"attributes": found},
        )

    def _voted(
        self,
        answers: Sequence[WorkerAnswer],
        labels: Sequence[str] | None,
        whose: str,
        examples: Sequence[str],
    ) -> AnnotationTable:
        """Return the table of what single workers answered."""
        field = field_of(answers, self.field, whose)
        kind = kind_of(answers, field, self.kind)
        responses = [
            Response(
                example=answer.example,
                annotator=answer.annotator,
                answer=answer_of(answer, field, kind, whose),
                time=answer.time,
                place=answer.place,
            )
            for answer in answers
        ]
        return self.gathered(kind, responses, labels, whose=whose, examples=examples)
