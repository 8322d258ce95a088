"""SageMaker Ground Truth: output manifests, and the answers of single workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import attrs

from plausibly.plugin import AnnotationTable, listed, quoted
from plausibly.plugin.readers import Response, json_head, json_shown, parse_json, read_json, states
from plausibly_builtins.readers import base

_METADATA = "-metadata"
_WORKERS = "annotationsFromAllWorkers"


def _attributes(entry: base.Entry) -> list[str]:
    """Return the label attributes of a line: those with metadata."""
    ends = [name for name in entry if name.endswith(_METADATA)]
    return [name.removesuffix(_METADATA) for name in ends if isinstance(entry[name], dict)]


def _metadata(entry: base.Entry, attribute: str) -> base.Entry:
    return base.entry_of(entry.get(attribute + _METADATA))


def _is_request(entry: object) -> bool:
    """Return whether an entry holds the answers of workers about one object, by a name."""
    fields = base.entry_of(entry)
    return "datasetObjectId" in fields and isinstance(fields.get("annotations"), list)


def _is_ours(entry: object) -> bool:
    """Return whether a line has a label attribute with the metadata of a job, or answers."""
    line = base.entry_of(entry)
    jobs = ({"job-name", "type"} & {*_metadata(line, name)} for name in _attributes(line))
    return _is_request(line) or any(jobs)


def _has_answers(value: object) -> bool:
    """Return whether a file holds the answers of workers about one object, without its name."""
    answers = base.items_of(base.entry_of(value).get("answers"))
    return bool(answers) and all("answerContent" in base.entry_of(answer) for answer in answers)


def _name(entry: base.Entry, place: str) -> str:
    name = base.text_of(entry.get("source-ref")) or base.text_of(entry.get("source"))
    if name is None:
        raise base.unlike(place, "source-ref or source", found=f"keys {listed(entry)}")
    return name


# ---- merged labels


def _kind_of_job(done: Sequence[base.PlacedEntry], attribute: str) -> base.Kind | None:
    """Return the kind of merged labels; None where the lines hold the answers of all workers."""
    kinds: dict[base.Kind | None, tuple[str, str]] = {}
    for place, entry in done:
        called = str(_metadata(entry, attribute).get("type", ""))
        kind: base.Kind | None = None
        if _WORKERS not in base.entry_of(entry[attribute]):
            job = called.removeprefix("groundtruth/")
            if "classification" not in job and "verification" not in job:
                what = f" {place}: {attribute} gives no labels of objects"
                expected = "a job of classification or verification, or all workers' answers"
                found = quoted(called) if called else "no type in the metadata"
                raise base.refused("type-unfit", what, expected, found, "read another attribute")
            kind = "label-set" if job.endswith("-multilabel") else "single-label"
        kinds.setdefault(kind, (place, called))
    if len(kinds) > 1:
        found = listed(f"{called} in {place}" for place, called in kinds.values())
        raise base.unlike("as a whole", f"one type of job for {attribute}", found=found)
    return next(iter(kinds), "single-label")


def _merged(
    entry: base.Entry, attribute: str, kind: base.Kind, place: str, called: dict[str, str]
) -> Response:
    """Return the response on a line of merged labels; `called` keeps the name of each number."""
    about, value = _metadata(entry, attribute), entry[attribute]
    names = base.entry_of(about.get("class-map"))
    numbers = value if isinstance(value, list) else [value]
    if kind == "single-label":
        numbers, names = [value], {str(value): about.get("class-name")}
    labels: list[str] = []
    for number in numbers:
        name = base.text_of(names.get(number)) if isinstance(number, str) else None
        if name is None:
            found = f"keys {listed(about) or 'none'}"
            expected = f"class-name or class-map beside {attribute} {json_shown(number)}"
            raise base.unlike(place, expected, found=found)
        before = called.setdefault(str(number), name)
        if before != name:
            expected = f"one name for {attribute} {number}, here {quoted(name)}"
            raise base.unlike(place, expected, found=f"{quoted(before)} before")
        labels.append(name)
    state = states.CONSOLIDATED if labels else states.EMPTY
    if labels and about.get("human-annotated") == "no":
        state = states.SUGGESTION
    name = _name(entry, place)
    return Response(
        example=name, annotator=base.CONSOLIDATED, answer=labels, state=state, place=place
    )


# ---- answers of workers


def _all_workers(answers: object, example: str, place: str, source: str) -> Iterator[Response]:
    for number, entry in enumerate(answers if isinstance(answers, list) else [answers], start=1):
        where = f"{place}, worker {number}"
        expected = "workerId, and annotationData with content"
        fields = base.as_object(entry, where, expected)
        text = base.entry_of(fields.get("annotationData")).get("content")
        if not isinstance(text, str):
            raise base.unlike(where, expected, entry)
        content = parse_json(text, f"{source} {where}, content,", 1, "the fields of a form")
        yield _form(fields, content, example, where)


def _from_folder(folder: Path) -> Iterator[Response]:
    """Yield the answers in the files of a folder; an object is called as its folder."""
    files = base.files_below(folder, "*.json")
    if not files:
        expected = "worker-response, with one folder per object"
        raise base.refused("file-missing", " holds no JSON file", expected, "none")
    for file in files:
        inside = file.relative_to(folder)
        source = f"{folder.name}/{inside.as_posix()}"
        value = read_json(file, expected="answers of workers about one object", source=source)
        if not _has_answers(value) or len(inside.parts) < 2:
            expected = "answers with workerId and answerContent, in a folder called as the object"
            raise base.unlike(inside.as_posix(), expected, value)
        for number, entry in enumerate(base.items_of(base.entry_of(value)["answers"]), start=1):
            form, where = base.entry_of(entry), f"{inside.as_posix()}, answer {number}"
            yield _form(form, form["answerContent"], inside.parts[-2], where)


def _form(entry: base.Entry, content: object, example: str, place: str) -> Response:
    """Return the response of a worker, whose answer is the whole form yet."""
    worker = entry.get("workerId")
    if not isinstance(content, dict) or not (worker is None or isinstance(worker, str)):
        raise base.unlike(place, "workerId, and the fields of a form", content)
    time, who = base.seconds_of(str(entry.get("submissionTime"))), base.text_of(worker)
    return Response(example=example, annotator=who, answer=content, time=time, place=place)


@attrs.frozen(kw_only=True)
class SageMaker(base.Export):
    """Read an output manifest, or the answers of workers.

    A manifest holds a merged label per object: a response of the annotator ``consolidated``. Lines
    without the label attribute are examples without response. Votes are read where there are any:
    in a manifest of a custom job (``annotationsFromAllWorkers``), in a file of
    ``consolidation-request``, and in the folder ``worker-response``, whose objects are called as
    their folders.

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
    kind: base.Kind | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether there are label attributes with metadata of a job, or workers' answers."""
        if path.is_dir():
            return any(map(_has_answers, json_head(base.first_bytes(path, "*.json"))[:1]))
        return any(map(_is_ours, base.first_entries(head)))

    def content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        if path.is_dir():
            return self._votes(_from_folder(path), labels, path.name)
        entries = base.entries(path, "one object per line, with source-ref or source")
        if any(_has_answers(entry) and not _attributes(entry) for _, entry in entries):
            what = " holds answers about one object, which it does not name"
            expected = "the folder worker-response, whose folders name the objects"
            hint = "name its folder"
            raise base.refused("folder-expected", what, expected, "one file of it", hint)
        if all(_is_request(entry) for _, entry in entries):
            votes: list[Response] = []
            for place, entry in entries:
                inside = base.entry_of(entry.get("dataObject"))
                names = (inside.get("s3Uri"), inside.get("content"), entry["datasetObjectId"])
                name = next(filter(None, map(base.text_of, names)), None)
                if name is None:
                    raise base.unlike(place, "dataObject with s3Uri or content", inside)
                votes += _all_workers(entry["annotations"], name, place, path.name)
            return self._votes(votes, labels, path.name)
        every = (name for _, entry in entries for name in _attributes(entry))
        attributes = list(dict.fromkeys(every))
        if not attributes:
            expected = "a label attribute with its metadata"
            raise base.unlike("as a whole", expected, found="none")
        attribute = base.choose("sagemaker", "attribute", "attributes", attributes, self.attribute)
        done = [(place, entry) for place, entry in entries if entry.get(attribute) is not None]
        kind = _kind_of_job(done, attribute)
        examples = [_name(entry, place) for place, entry in entries]
        if kind is None:
            votes = []
            for place, entry in done:
                answers = base.entry_of(entry[attribute])[_WORKERS]
                votes += _all_workers(answers, _name(entry, place), place, path.name)
            return self._votes(votes, labels, path.name, examples)
        called: dict[str, str] = {}
        failed = sum("failure-reason" in _metadata(entry, attribute) for _, entry in entries)
        return self.gathered(
            kind,
            [_merged(entry, attribute, kind, place, called) for place, entry in done],
            labels,
            source=path.name,
            examples=examples,
            left_out={"objects that the job could not label": failed},
            # A label that only a machine gave is no answer, unless the user says that it counts.
            policies={states.SUGGESTION: states.DROP},
        )

    def _votes(
        self,
        answers: Iterable[Response],
        declared: base.Labels,
        source: str,
        examples: Sequence[str] = (),
    ) -> AnnotationTable:
        answers = list(answers)
        forms = [base.entry_of(answer.answer) for answer in answers]
        field = self._field(forms)
        values = [form.get(field) for form in forms]
        sets = any(isinstance(value, dict) and "labels" in value for value in values)
        kind: base.Kind = self.kind or ("label-set" if sets else "single-label")
        responses: list[Response] = []
        for answer, value in zip(answers, values, strict=True):
            labels = [] if value is None else base.form_labels(value)
            if labels is None:
                hint = "read another field: " + base.as_argument("sagemaker", field="FIELD")
                expected = f"a label, or labels, as field {quoted(field)}"
                raise base.unlike(answer.place, expected, value, hint=hint)
            responses.append(attrs.evolve(answer, answer=labels or None))
        return self.gathered(kind, responses, declared, source=source, examples=examples)

    def _field(self, forms: Sequence[base.Entry]) -> str:
        """Return the field of the form that holds the labels: the one named, or the only one."""
        fields = list(dict.fromkeys(name for form in forms for name in form))
        if self.field is not None and self.field in fields:
            return self.field
        likely = [n for n in fields if any(base.form_labels(f.get(n)) is not None for f in forms)]
        return base.choose("sagemaker", "field", "fields with labels", likely, self.field)
