"""The files of SageMaker Ground Truth: lines of a manifest, and where workers' answers lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from plausibly.plugin import (
    InputError,
    Response,
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
from plausibly_builtins.readers._consolidated import CONSOLIDATED, files_below, within
from plausibly_builtins.readers._sagemaker_answers import Kind, WorkerAnswer, seconds

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
    """Return the response on a line of merged labels.

    Parameters
    ----------
    called : dict of str to str
        What each number is called; lines before this one have filled it.
    """
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
