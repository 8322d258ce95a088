"""SageMaker Ground Truth: output manifests, and the answers of single workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    about,
    as_typed,
    files_below,
    first_bytes,
    from_iso,
    one_or_all,
    refused,
    text_of,
    within,
)

Kind: TypeAlias = Literal["label-set", "single-label"]
Entry: TypeAlias = Mapping[str, object]

_METADATA = "-metadata"
_WORKERS = "annotationsFromAllWorkers"


def unlike(place: str, expected: str, got: str) -> InputError:
    """Return the error about a file of another shape."""
    return refused(
        "sagemaker-unlike",
        f" {place} is not as Ground Truth writes it" if place else " is no output of Ground Truth",
        expected,
        got,
        "name the reader that it is for: --reader NAME",
    )


def attributes(entry: Entry) -> list[str]:
    """Return the label attributes of a line: those with metadata."""
    ends = [name for name in entry if name.endswith(_METADATA)]
    return [name.removesuffix(_METADATA) for name in ends if isinstance(entry[name], dict)]


def metadata(entry: Entry, attribute: str) -> Entry:
    """Return what a line says of its label attribute."""
    found = entry.get(attribute + _METADATA)
    return found if isinstance(found, dict) else {}


def is_request(entry: object) -> bool:
    """Return whether an entry holds the answers of workers about one object, by a name."""
    return (
        isinstance(entry, dict)
        and "datasetObjectId" in entry
        and isinstance(entry.get("annotations"), list)
    )


def is_ours(entry: object) -> bool:
    """Return whether a line has a label attribute with the metadata of a job, or answers."""
    return is_request(entry) or (
        isinstance(entry, dict)
        and any({"job-name", "type"} & set(metadata(entry, name)) for name in attributes(entry))
    )


def has_answers(value: object) -> bool:
    """Return whether a file holds the answers of workers about one object, without its name."""
    answers = value.get("answers") if isinstance(value, dict) else None
    return (
        isinstance(answers, list)
        and bool(answers)
        and all(isinstance(answer, dict) and "answerContent" in answer for answer in answers)
    )


def entries_of(path: Path) -> list[tuple[str, Entry]]:
    """Return the objects in a file with their places: one a line, or one list of all."""
    expected = "one object a line, with source-ref or source"
    found: list[tuple[str, object]]
    if len(json_head(file_contents(path, "annotations"))) > 1:
        found = [(f"line {counted(n)}", v) for n, v in read_json_lines(path, expected=expected)]
    else:
        value = read_json(path, expected=expected)
        found = [("line 1", value)]
        if isinstance(value, list):
            found = [(f"entry {counted(at)}", item) for at, item in enumerate(value, start=1)]
    entries: list[tuple[str, Entry]] = []
    for place, value in found:
        if not isinstance(value, dict):
            raise unlike(place, "an object", json_shown(value))
        if has_answers(value) and not attributes(value):
            raise refused(
                "folder-expected",
                " holds answers about one object, which it does not name",
                "the folder worker-response, whose folders name the objects",
                "one file of it",
                "name that folder instead of the file",
            )
        entries.append((place, value))
    return entries


def name_of(entry: Entry, place: str) -> str:
    """Return the name of the object on a line of a manifest."""
    name = text_of(entry.get("source-ref")) or text_of(entry.get("source"))
    if name is None:
        got = f"keys {listed(entry) or 'none'}"
        raise unlike(place, "source-ref or source", got)
    return name


def kind_of_job(done: Sequence[tuple[str, Entry]], attribute: str) -> Kind | None:
    """Return the kind of merged labels; None where the lines hold the answers of all workers."""
    kinds: dict[Kind | None, tuple[str, str]] = {}
    for place, entry in done:
        said, value = str(metadata(entry, attribute).get("type", "")), entry[attribute]
        kind: Kind | None = None
        if not (isinstance(value, dict) and _WORKERS in value):
            job = said.removeprefix("groundtruth/")
            if "classification" not in job and "verification" not in job:
                raise refused(
                    "type-unfit",
                    f" {place}: {attribute} is of a job that gives no labels of objects",
                    "classification or verification, or the answers of all workers",
                    quoted(said) if said else "no type in the metadata",
                    "read another label attribute, or export one",
                )
            kind = "label-set" if job.endswith("-multilabel") else "single-label"
        kinds.setdefault(kind, (place, said))
    if len(kinds) > 1:
        (first, one), (second, other), *_ = kinds.values()
        raise refused(
            "types-mixed",
            f": {attribute} is of different jobs in {first} and {second}",
            "one type of job",
            f"{one}, {other}",
            "split the manifest by job",
        )
    return next(iter(kinds), "single-label")


def merged(
    entry: Entry, attribute: str, kind: Kind, place: str, called: dict[str, str]
) -> Response:
    """Return the response on a line of merged labels; `called` keeps the name of each number."""
    said, value = metadata(entry, attribute), entry[attribute]
    classes = said.get("class-map")
    names: Entry = classes if isinstance(classes, dict) else {}
    numbers = value if isinstance(value, list) else [value]
    if kind == "single-label":
        numbers, names = [value], {str(value): said.get("class-name")}
    labels: list[str] = []
    for number in numbers:
        name = text_of(names.get(number)) if isinstance(number, str) else None
        if name is None:
            raise refused(
                "class-unnamed",
                f" {place}: nothing says what {attribute} {json_shown(number)} is called",
                "class-name or class-map in the metadata",
                f"keys {listed(said) or 'none'}",
                "write the metadata of the job beside it",
            )
        before = called.setdefault(str(number), name)
        if before != name:
            raise refused(
                "class-differs",
                f" {place}: {attribute} {number} is called {quoted(name)}",
                "one name for each number",
                f"{quoted(before)} before",
                "split the manifest by job",
            )
        labels.append(name)
    state = states.CONSOLIDATED if labels else states.EMPTY
    if labels and said.get("human-annotated") == "no":
        state = states.SUGGESTION
    return Response(
        example=name_of(entry, place),
        annotator=CONSOLIDATED,
        answer=labels[0] if kind == "single-label" else labels,
        state=state,
        place=place,
    )


def requested(entry: Entry, place: str, whose: str) -> Iterator[Response]:
    """Yield what each worker said of the object in an entry of ``consolidation-request``."""
    said = entry.get("dataObject")
    inside = said if isinstance(said, dict) else {}
    names = (inside.get("s3Uri"), inside.get("content"), entry["datasetObjectId"])
    name = next(filter(None, map(text_of, names)), None)
    if name is None:
        raise unlike(place, "dataObject with s3Uri or content", json_shown(said))
    yield from all_workers(entry["annotations"], name, place, whose)


def all_workers(found: object, example: str, place: str, whose: str) -> Iterator[Response]:
    """Yield what each worker said of the object on a line."""
    for number, said in enumerate(found if isinstance(found, list) else [found], start=1):
        where = f"{place}, worker {number}"
        inside = said.get("annotationData") if isinstance(said, dict) else None
        text = inside.get("content") if isinstance(inside, dict) else None
        if not isinstance(said, dict) or not isinstance(text, str):
            raise unlike(where, "workerId, and annotationData with content", json_shown(said))
        content = parse_json(text, f"{whose} {where}, content,", 1, "the fields of a form")
        yield form(said, content, example, where)


def from_folder(folder: Path) -> Iterator[Response]:
    """Yield what workers said in the files of a folder; an object is called as its folder."""
    found = files_below(folder, "*.json")
    if not found:
        raise refused(
            "file-missing",
            " holds no JSON file",
            "worker-response, with a folder an object",
            "none",
            "name the folder worker-response of the job",
        )
    for file in found:
        inside = file.relative_to(folder)
        with within(folder, file):
            value = read_json(file, expected="the answers of workers about one object")
        if not isinstance(value, dict) or not has_answers(value) or len(inside.parts) < 2:
            expected = "answers with workerId and answerContent, in a folder called as the object"
            raise unlike(inside.as_posix(), expected, json_shown(value))
        for number, said in enumerate(value["answers"], start=1):
            where = f"{inside.as_posix()}, answer {number}"
            yield form(said, said["answerContent"], inside.parts[-2], where)


def form(said: Entry, content: object, example: str, place: str) -> Response:
    """Return the response of a worker, whose answer is the whole form yet."""
    worker = said.get("workerId")
    if not isinstance(content, dict) or not (worker is None or isinstance(worker, str)):
        raise unlike(place, "workerId, and the fields of a form", json_shown(content))
    try:
        time = from_iso(str(said.get("submissionTime"))).timestamp()
    except (ValueError, OverflowError):
        time = None
    return Response(
        example=example, annotator=text_of(worker), answer=content, time=time, place=place
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
        fit = all(isinstance(label, str) for label in said["labels"])
        return list(map(str, said["labels"])) if fit else None
    if all(isinstance(state, bool) for state in said.values()):
        return [label for label, state in said.items() if state]
    return None


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
        return any(map(is_ours, entries))

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the file or folder."""
        whose = path.name
        with about(whose):
            if path.is_dir():
                return self._voted(from_folder(path), labels, whose, ())
            entries = entries_of(path)
            if all(is_request(entry) for _, entry in entries):
                answers = (a for place, entry in entries for a in requested(entry, place, whose))
                return self._voted(answers, labels, whose, ())
            attribute = self._attribute(entries)
            done = [(place, entry) for place, entry in entries if entry.get(attribute) is not None]
            kind = kind_of_job(done, attribute)
            names = [name_of(entry, place) for place, entry in entries]
            if kind is None:
                answers = (
                    answer
                    for place, entry in done
                    if isinstance(value := entry[attribute], dict)
                    for answer in all_workers(value[_WORKERS], name_of(entry, place), place, whose)
                )
                return self._voted(answers, labels, whose, names)
            called: dict[str, str] = {}
            responses = [merged(entry, attribute, kind, place, called) for place, entry in done]
            failed = sum("failure-reason" in metadata(entry, attribute) for _, entry in entries)
            # A label that nobody looked at is no opinion, unless the user says that it counts.
            settled = attrs.evolve(self, states={states.SUGGESTION: states.DROP, **self.states})
            left_out = {"objects that the job could not label": failed}
            return settled.gathered(
                kind, responses, labels, whose=whose, examples=names, left_out=left_out
            )

    def _attribute(self, entries: Sequence[tuple[str, Entry]]) -> str:
        found = list(dict.fromkeys(name for _, entry in entries for name in attributes(entry)))
        if self.attribute in found:
            return str(self.attribute)
        if self.attribute is None and len(found) == 1:
            return found[0]
        if not found:
            raise unlike("", "a label attribute with its metadata on some line", "none")
        raise refused(
            "attribute-several" if self.attribute is None else "attribute-missing",
            f" holds {len(found)} label attributes"
            if self.attribute is None
            else f" has no label attribute {quoted(self.attribute)}",
            "one, or the name of the one to read",
            listed(map(quoted, found)),
            as_typed("sagemaker", f'attribute = "{found[0]}"'),
            attributes=found,
        )

    def _voted(
        self,
        found: Iterable[Response],
        labels: Sequence[str] | None,
        whose: str,
        examples: Sequence[str],
    ) -> AnnotationTable:
        """Return the table of what single workers filled into a form."""
        answers = list(found)
        forms = [one.answer if isinstance(one.answer, dict) else {} for one in answers]
        field = self._field(forms)
        said = [form.get(field) for form in forms]
        sets = any(isinstance(one, dict) and "labels" in one for one in said)
        kind: Kind = self.kind or ("label-set" if sets else "single-label")
        responses = [
            attrs.evolve(answer, answer=_answer(one, field, kind, answer.place))
            for answer, one in zip(answers, said, strict=True)
        ]
        return self.gathered(kind, responses, labels, whose=whose, examples=examples)

    def _field(self, forms: Sequence[Entry]) -> str:
        """Return the field of the form that holds the labels: the one named, or the only one."""
        fields = list(dict.fromkeys(name for form in forms for name in form))
        if self.field is not None and self.field in fields:
            return self.field
        likely = [n for n in fields if any(_labels(form.get(n)) is not None for form in forms)]
        if self.field is None and len(likely) == 1:
            return likely[0]
        choice = likely[0] if likely else "FIELD"
        raise refused(
            "field-several" if self.field is None and likely else "field-missing",
            f": workers filled {listed(map(quoted, fields)) or 'no field'}"
            if self.field is None
            else f": no worker filled {quoted(self.field)}",
            "one field with a label, or the name of the one to read",
            f"labels in {listed(map(quoted, likely)) or 'none'}",
            as_typed("sagemaker", f'field = "{choice}"'),
            fields=fields,
        )


def _answer(said: object, field: str, kind: Kind, place: str) -> object:
    """Return what a worker said in a field, as an answer of the kind; None for nothing."""
    labels = [] if said is None else _labels(said)
    if labels is None or (kind == "single-label" and len(labels) > 1):
        do = as_typed("sagemaker", 'kind = "label-set"') + ", if several labels can be right"
        if not labels:
            do = "read another field: " + as_typed("sagemaker", 'field = "FIELD"')
        raise refused(
            "answer-invalid",
            f" {place}: field {quoted(field)} holds no label",
            "one label" if kind == "single-label" else "labels",
            json_shown(said),
            do,
        )
    return one_or_all(kind, labels) if labels else None
