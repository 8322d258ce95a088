"""Settings that fit some files: what each of them holds, and how it is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

import attrs
import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.config.settings import Output
from plausibly.data.annotations import contents
from plausibly.data.names import EXAMPLE, LABEL, name_texts, several
from plausibly.data.validate import SUM_WITHIN
from plausibly.errors import InputError, counted, listed
from plausibly.io import files, read_annotations, read_examples, read_labels, read_predictions
from plausibly.io.hints import NEEDED, guessed, names_examples
from plausibly.io.text import first_rows
from plausibly.protocols import READER
from plausibly.registry.parameters import parameters_of
from plausibly.study.prepare import coordinates, few_groups, owners, plural
from plausibly.study.reading import label_names

_SUFFIXES = frozenset(
    {
        *(".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq", ".json", ".jsonl", ".ndjson", ".xml"),
        *(".npz", ".nc"),
    }
)
_PLAUSIBILITIES = "plausibilities.csv"
_WRITTEN = {*map(str, attrs.astuple(Output())), "sets.json", _PLAUSIBILITIES}
_NEW = {"new", "test", "holdout"}
_SCALES = {
    "probability": ('every row sums to 1; or "logit", "independent"', "all rows sum to 1"),
    "independent": ("guess: numbers from 0 to 1, rows of any sum", "numbers from 0 to 1"),
    "logit": ("guess: numbers below 0 or above 1", "numbers below 0 or above 1"),
}
_COMMENTS = {
    "alphas": "miscoverage rates: 0.1 for 90% sets",
    "annotations.path": "the answers on the calibration set",
    "annotations.missing": 'labels that mean "no answer": ["cannot tell"]',
    "annotations.duplicates": 'or "first", "last", "all", "latest" (by time)',
    "annotations.unanswered": 'or "drop": examples without an answer',
    "predictions.path": "the model on the calibration set",
    "method.calibrator": 'or { name = "monte-carlo", draws = 10 }',
    "new.predictions": "files of predict, evaluate and report",
    "evaluation.by": 'a column, "label", "set-size" or "ambiguity"',
}

T = TypeVar("T")


@attrs.frozen(kw_only=True, eq=False)
class File:
    """A file, its contents, the keys that read it, comments on these, and a line about it."""

    path: Path
    data: xr.Dataset | xr.DataArray
    keys: Mapping[str, object] = attrs.field(factory=dict)
    comments: Mapping[str, str] = attrs.field(factory=dict)
    about: str

    @property
    def examples(self) -> frozenset[str]:
        return frozenset(name_texts(self.data[EXAMPLE].values))


@attrs.frozen(kw_only=True)
class Recognised:
    tables: Mapping[str, object]
    comments: dict[str, str]
    about: dict[str, str]
    used: dict[str, Path]
    unused: list[str]


def folder_files(folder: Path) -> list[Path]:
    """Return the files of a folder that may hold data, without those that plausibly writes."""
    paths = [path for path in folder.iterdir() if path.suffix.lower() in _SUFFIXES]
    kept = [path for path in paths if path.name not in _WRITTEN and path.name[0] != "."]
    return sorted(path for path in kept if path.is_file())


def recognised(paths: Sequence[Path]) -> Recognised:
    # Files of new examples last: the first of each kind is of the calibration set.
    unused = dict.fromkeys(sorted(paths, key=_is_new), "")
    answers = [file for path in unused if (file := _annotations(path, unused)) is not None]
    labels = {label for file in answers for label in label_names(file.data)}
    rest = [path for path in unused if path not in {file.path for file in answers}]
    models = [file for path in rest if (file := _predictions(path, labels)) is not None]
    files_ = [*models, *answers]
    if not files_:
        raise InputError(
            "files-unrecognised",
            f"none of {several(len(paths), 'file')} holds annotations or predictions",
            expected="answers of annotators, or a number per example and label",
            found=listed(f"{path.name}{why}" for path, why in unused.items()) or "no file",
            hint="plausibly init FILES, with the files that hold them",
        )
    first = files_[0]
    second = next((file for file in files_ if not file.examples & first.examples), None)
    rest = [path for path in rest if path not in {file.path for file in models}]
    about = [file for path in rest if (file := _examples(path)) is not None]
    model, answer, examples = _of(first, models, answers, about)
    old = {"annotations": answer, "predictions": model, "examples": examples}
    old["labels"] = next((file for path in rest if (file := _labels(path, first.data))), None)
    used = {name: file for name, file in old.items() if file is not None}
    new: dict[str, File] = {}
    if second is not None:
        names = ("predictions", "annotations", "examples")
        of_second = zip(names, _of(second, models, answers, about), strict=True)
        new = {name: file for name, file in of_second if file is not None}

    comments = dict(_COMMENTS)
    tables: dict[str, dict[str, object]] = {}
    for name, file in used.items():
        tables[name] = {"path": file.path.as_posix(), **file.keys}
        comments |= {f"{name}.{key}": text for key, text in file.comments.items()}
    by: list[str] = []
    if examples is not None and (second is None or "examples" in new):
        there = [coordinates(file.data) for file in (examples, new.get("examples", examples))]
        usable = examples.data.drop_vars(set(there[0]).difference(there[1]))
        for cluster in owners(usable)[:1]:
            tables["examples"]["cluster"] = cluster.name
            of = f"{cluster.groups} {plural(cluster.name)}"
            comments["examples.cluster"] = f"guess: {several(cluster.examples, 'example')} of {of}"
        by = few_groups(usable)
    if model is not None and answer is not None and model.examples != answer.examples:
        tables.setdefault("examples", {})["only_common"] = True
        comments["examples.only_common"] = "guess: leave out what only one of the two files has"
    lines = {name: file.about for name, file in used.items()}
    paths_of_new = {name: file.path.as_posix() for name, file in new.items()}
    if second is not None:
        lines["new"] = f"{', '.join(paths_of_new.values())} ({counted(len(second.examples))})"
        if not _is_new(second.path)[0]:
            comments[f"new.{next(iter(new))}"] = "guess: the other files are the calibration set"
    outputs = {"predictor": str(Output().predictor), "sets": str(Output().sets)}
    tables |= {
        "method": {"calibrator": "expected"},
        "new": {**paths_of_new},
        "evaluation": {"by": by} if by else {},
        "output": {**outputs, "plausibilities": _PLAUSIBILITIES},
    }
    read = {name: file.path for name, file in used.items()}
    read |= {f"new {name}": file.path for name, file in new.items()}
    return Recognised(
        tables={"alphas": [0.1], "seed": 0, **{name: t for name, t in tables.items() if t}},
        comments=comments,
        about=lines,
        used=read,
        unused=[f"{path.name}{why}" for path, why in unused.items() if path not in read.values()],
    )


def _is_new(path: Path) -> tuple[bool, str]:
    words = re.split(r"[^a-z]+", path.stem.casefold())
    return bool(_NEW.intersection(words)), path.name


def _of(
    file: File, models: list[File], answers: list[File], about: list[File]
) -> tuple[File | None, File | None, File | None]:
    """Return predictions, annotations and examples that belong to a file of examples."""
    model, answer = (
        max(
            (each for each in files_ if each.examples & file.examples),
            key=lambda each: len(each.examples & file.examples),
            default=None,
        )
        for files_ in (models, answers)
    )
    return model, answer, next((each for each in about if each.examples >= file.examples), None)


def _attempt(read: Callable[[], T]) -> T | None:
    """Return what was read; None where the file holds something else."""
    with suppress(InputError, OSError):
        return read()
    return None


def _annotations(path: Path, unused: dict[Path, str]) -> File | None:
    """Return the annotations in a file, also under other names of columns."""
    columns: dict[str, str] = {}
    header = next(iter(first_rows(path, files.opening(path, "file"))), ())
    try:
        table = read_annotations(path)
    except InputError as error:
        columns = {role: name for role, name in guessed(header).items() if role in NEEDED}
        fits = error.name == "format-unknown" and len(columns) == len(NEEDED)
        read = partial(read_annotations, path, "long-table", columns=columns)
        if not fits or (made := _attempt(read)) is None:
            if error.name not in ("format-unknown", "format-ambiguous"):
                unused[path] = f" ({error.name})"
            return None
        table = made
    name = str(table.attrs["reader"])
    keys: dict[str, object] = {"reader": name}
    if columns:
        keys["columns"] = {role: columns[role] for role in NEEDED}
    defaults = {p.name: p.default for p in parameters_of(type(registry.resolve(READER, name)))}
    keys |= {key: defaults[key] for key in ("missing", "duplicates") if key in defaults}
    return File(
        path=path,
        data=table,
        keys={**keys, "unanswered": "error"},
        comments={"reader": "guess: one row per answer"} if name == "long-table" else {},
        about=f"{path.name}: {contents(table, brief=True)[0]}",
    )


def _column(path: Path) -> str | None:
    """Return the column of a table that names the examples, None where there is none."""
    header, *below = first_rows(path, files.opening(path, "file")) or [()]
    if not header or EXAMPLE in header:
        return EXAMPLE if header else None
    return header[0] if names_examples(header[0], [row[0] for row in below]) else None


def _predictions(path: Path, labels: set[str]) -> File | None:
    """Return the predictions in a file; numbers on another scale must be of known labels."""
    example = _column(path) or EXAMPLE
    made = _attempt(lambda: read_predictions(path, scale="any", example=example))
    if made is None or made.sizes[LABEL] < 2 or (made.values == np.floor(made.values)).all():
        return None
    scale = "logit"
    if made.values.min() >= 0 and made.values.max() <= 1:
        sums_to_one = np.allclose(made.values.sum(axis=-1), 1, atol=SUM_WITHIN)
        scale = "probability" if sums_to_one else "independent"
    if scale != "probability" and not labels.intersection(label_names(made)):
        return None
    comment, text = _SCALES[scale]
    shape = f"{several(made.sizes[EXAMPLE], 'example')}, {several(made.sizes[LABEL], 'label')}"
    return File(
        path=path,
        data=made,
        keys={**_example(example), "scale": scale},
        comments={"scale": comment},
        about=f"{path.name}: {shape}, {text}",
    )


def _example(column: str) -> dict[str, object]:
    return {} if column == EXAMPLE else {"example": column}


def _examples(path: Path) -> File | None:
    column = _column(path)
    made = None if column is None else _attempt(lambda: read_examples(path, example=column))
    if column is None or made is None:
        return None
    about = f"{path.name}: columns {', '.join(coordinates(made))}"
    return File(path=path, data=made, keys=_example(column), about=about)


def _labels(path: Path, data: xr.Dataset | xr.DataArray) -> File | None:
    """Return the labels in a file, where these are labels of the data."""
    made = _attempt(lambda: read_labels(path))
    if made is None or not {*name_texts(made[LABEL].values)} >= {*label_names(data)}:
        return None
    return File(path=path, data=made, about=f"{path.name}: {several(made.sizes[LABEL], 'label')}")
