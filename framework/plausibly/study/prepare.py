"""A study that is ready to run: its file and every file that it names, read and checked."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TypeAlias, cast

import attrs
import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.config.document import Document, Note, parse
from plausibly.config.hints import in_words_of_the_file
from plausibly.config.load import Draft, draft, load, origins, resolved
from plausibly.config.settings import Method, Settings, without_plugins
from plausibly.conformal.calibrate import calibrate
from plausibly.data import names
from plausibly.data.names import near, quoted
from plausibly.data.plausibilities import to_dense
from plausibly.data.states import with_left_out
from plausibly.errors import IncompatibleComponents, InputError, MissingExtra
from plausibly.evaluation.design import read_methods
from plausibly.evaluation.inputs import example_values, true_codes
from plausibly.io import files
from plausibly.kernels.random import Keys, hash_names
from plausibly.protocols import READER
from plausibly.registry.mistakes import Mistake, mistakes_in, written
from plausibly.study.reading import Answers, label_names, left_out_of, read_both, read_model

MOST_GROUPS = 30
"""Coordinates with more values than this are not looked through for the weakest group."""

_OWNERS = frozenset(
    {
        *("actor", "animal", "article", "author", "case", "client", "cluster", "document", "donor"),
        *("family", "group", "id", "individual", "participant", "patient", "person"),
        *("recording", "respondent", "scan", "scene", "series", "session", "slide", "speaker"),
        *("study", "subject", "user", "video"),
    }
)
"""Words in the name of a coordinate whose examples belong together."""


_COLUMNS = (
    *("examples.one_per", "examples.cluster", "splits.stratify"),
    *("evaluation.true_label", "report.text", "report.thumbnail"),
)
"""Keys that name a coordinate, beside those of `evaluation.by`."""


def coordinates(*arrays: xr.DataArray | xr.Dataset | None) -> list[str]:
    """Return the names of the coordinates that the examples have, each once."""
    there = [each for array in arrays if array is not None for each in array.coords.items()]
    on_examples = [str(name) for name, values in there if values.dims == (names.EXAMPLE,)]
    return [n for n in dict.fromkeys(on_examples) if n not in (names.EXAMPLE, names.DENOMINATOR)]


def missing_keys(draft: Draft) -> list[Mistake]:
    """Return what a study must have and does not, and what cannot be there together."""
    answers = [name for name in ("annotations", "plausibilities") if draft.has(f"{name}.path")]
    required = {
        "predictions.path": (draft.has("predictions.path"), "the path of a file"),
        "annotations.path": (answers, "the path of a file, here or in [plausibilities]"),
        "methods": (draft.tables.get("methods"), "one [[methods]] or more; it may be empty"),
    }
    mistakes = [
        Mistake(path, f"is required: {expected}", expected=expected, found="none")
        for path, (there, expected) in required.items()
        if not there
    ]
    if len(answers) > 1:
        text = "there are annotations already, and only one of them can be calibrated on"
        mistakes.append(Mistake("plausibilities", text, advice="leave one of them out"))
    return mistakes


def check_coordinates(settings: Settings, arrays: Sequence[xr.DataArray]) -> list[Mistake]:
    """Return the keys that name a coordinate which the examples do not have."""
    there = coordinates(*arrays)
    columns = settings.evaluation.columns or ()
    by = enumerate(settings.evaluation.by or ())
    named = [(path, attrgetter(path)(settings)) for path in _COLUMNS]
    named += [(f"evaluation.by[{place}]", name) for place, name in by if name in columns]
    mistakes = []
    for path, name in named:
        if name is None or name in there:
            continue
        guess, known = near(name, there), ", ".join(there) or "none"
        mistake = Mistake(
            path,
            f"examples have no {quoted(name)}; they have {known}",
            advice="name a table that has it: [examples] path",
            expected=f"one of {known}",
            found=name,
        )
        if guess:
            mistake = attrs.evolve(mistake, key=path, value=written(guess))
        mistakes.append(mistake)
    true_label = settings.evaluation.true_label
    if true_label in there:
        try:
            true_codes(true_label, arrays, label_names(arrays[0]))
        except InputError as error:
            mistakes += [each.below("evaluation.true_label") for each in mistakes_in(error)]
    return mistakes


@attrs.frozen(kw_only=True)
class Groups:
    name: str
    examples: int
    groups: int
    several: int


def plural(name: str) -> str:
    """Return what several values of a coordinate are called: ``patients``."""
    if not name.isalpha():
        return f"values of {quoted(name)}"
    if name.endswith("s"):
        return name
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


def groups_of(predictions: xr.DataArray | xr.Dataset, name: str) -> Groups:
    sizes = np.unique(example_values(name, [predictions]), return_counts=True)[1]
    several = int((sizes > 1).sum())
    return Groups(name=name, examples=int(sizes.sum()), groups=len(sizes), several=several)


def owners(predictions: xr.DataArray | xr.Dataset) -> list[Groups]:
    """Return the coordinates by whose name examples belong together, where some do."""
    belonging = []
    for name in coordinates(predictions):
        words = set(re.split(r"[^a-z]+", name.casefold()))
        if words & _OWNERS and predictions[name].dtype.kind != "f":
            groups = groups_of(predictions, name)
            belonging += [groups] * (1 < groups.groups < groups.examples)
    return sorted(belonging, key=lambda groups: -groups.groups)


_EXAMPLES = 20

_OF_DATA = {
    "augmentations-missing": '[predictions] augmentation = "COLUMN", of a table with them in rows',
    "augmentations-unread": 'calibrator = "augmentation", or a file with one row per example',
    "coordinate-missing": "",
    "risks-range": "",
    "weights-range": "",
}
"""Errors of a calibration about what is known of examples or labels, with hints in keys."""


def check_methods(methods: Iterable[Method], data: Sequence[xr.DataArray]) -> list[Mistake]:
    """Return the methods whose components do not work together, or not with the data."""
    few = [array.isel({names.EXAMPLE: slice(_EXAMPLES)}) for array in data]
    mistakes: list[Mistake] = []
    for number, method in enumerate(methods):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                calibrate(*few, **method.arguments())
            continue
        except InputError as caught:
            error, of_data = caught, caught.name in _OF_DATA
        except Exception:  # noqa: BLE001  # few examples may be too few: the study itself raises
            continue
        if not of_data and not isinstance(error, IncompatibleComponents):
            continue
        # A key of the method, where Python has an argument.
        hint = error.hint.replace("allow_no_guarantee=True", "allow_no_guarantee = true")
        if error.name == "coordinate-missing" and "did you mean" not in hint:
            table = "labels" if "over label" in error.expected else "examples"
            hint = f"[{table}] path, a table with such a column"
        error.hint = _OF_DATA.get(error.name) or hint
        for mistake in mistakes_in(error):
            place = mistake.below("calibrator") if of_data else mistake
            mistakes.append(place.below(number).below("methods"))
    return mistakes


StudyLike: TypeAlias = "Draft | Mapping[str, object] | Path | str"
"""A study: its draft, its tables as plain data, or the path of its file."""


@attrs.frozen(kw_only=True, eq=False)
class Prepared:
    """A study that can run, and all that it runs on."""

    name: str
    study: Settings
    predictions: xr.DataArray
    plausibilities: xr.DataArray
    answers: Answers
    left_out: Mapping[str, int]
    origin: Note

    def tables(self, *, whole: bool = False) -> dict[str, object]:
        with without_plugins(self.study.plugins.disable):
            return resolved(self.study, whole=whole)


def settings_file(path: Path, content: str = "settings") -> Document:
    return parse(files.read_text(path, content), path.name, path)


def prepare(source: StudyLike) -> Prepared:
    """Read and check a study and every file that it names."""
    if isinstance(source, Draft):
        parts = source
    elif isinstance(source, Mapping):
        parts = draft(source, Document(name="the study", tables=source))
    else:
        parts = load(settings_file(Path(source), "study"))
    settings = parts.settings
    predicted = settings.predictions.path is not None
    with without_plugins(settings.plugins.disable):
        mistakes = [*parts.mistakes, *missing_keys(parts)]
        answers: Answers | None = None
        arrays: list[xr.DataArray] = []
        try:
            with in_words_of_the_file():
                if predicted and settings.answers[1] is not None:
                    keys = ("annotations.path = ", "predictions.path = ")
                    _, answers, model, made, _ = read_both(settings, keys=keys)
                    arrays = [model, to_dense(made) if isinstance(made, xr.Dataset) else made]
                elif predicted:
                    arrays = [read_model(settings).predictions]
        except InputError as error:
            if not mistakes:
                raise
            alone = Mistake("", error.what, advice=error.hint)
            mistakes += [alone] if isinstance(error, MissingExtra) else mistakes_in(error)
        if arrays:
            mistakes += check_coordinates(settings, arrays)
        if answers is not None:
            mistakes += check_methods(settings.methods, arrays)
        if answers is None or mistakes:
            raise parts.error(mistakes)
        return _completed(parts, answers, *arrays)


def _completed(
    parts: Draft, answers: Answers, model: xr.DataArray, plausibilities: xr.DataArray
) -> Prepared:
    """Return the study with every default, and its data in the order of their names."""
    made = {path: source for path, (source, _) in parts.typed.items()}
    study, table = parts.settings, answers.table
    tables = cast("Sequence[Mapping[str, object]]", parts.tables["methods"])
    for place, written_method in enumerate(tables):
        if not written_method.get("name"):
            made[f"methods[{place}].name"] = "made from the components"
    called = zip(study.methods, read_methods(tables), strict=True)
    methods = tuple(attrs.evolve(method, name=name) for method, name in called)
    annotations = study.annotations
    if table is not None and annotations.reader is None:
        like = {"name": str(table.attrs["reader"]), **annotations.options}
        reader = registry.resolve(READER, like)
        annotations = attrs.evolve(annotations, reader=reader, options={})
        made["annotations.reader"] = "recognised"
    if table is not None and annotations.aggregator is None:
        annotations = attrs.evolve(annotations, aggregator=answers.aggregator)
        made["annotations.aggregator.name"] = f"default for {table.attrs[names.KIND]}"
    predictions = attrs.evolve(
        study.predictions,
        scale=model.attrs[names.SCALE],
        example=study.predictions.example or names.EXAMPLE,
    )
    study = attrs.evolve(study, annotations=annotations, predictions=predictions, methods=methods)
    more = {
        name: (names.EXAMPLE, plausibilities[name].values)
        for name in coordinates(plausibilities)
        if name not in model.coords
    }
    # By name: no result depends on the order of a file.
    model, plausibilities = (
        array.sortby(names.EXAMPLE) for array in (model.assign_coords(more), plausibilities)
    )
    model, plausibilities = _one_per(model, plausibilities, study)
    if study.evaluation.by is None:
        shown = (study.report.text, study.report.thumbnail)
        known = {study.examples.cluster, study.evaluation.true_label, *shown}
        by = tuple(name for name in few_groups(model) if name not in known)
        study = attrs.evolve(study, evaluation=attrs.evolve(study.evaluation, by=by))
        made["evaluation.by"] = f"every coordinate of 2 to {MOST_GROUPS} groups"
    return Prepared(
        name=parts.document.name,
        study=study,
        predictions=model,
        plausibilities=plausibilities,
        answers=answers,
        left_out=left_out_of(model, plausibilities),
        origin=origins(parts.document, made),
    )


def _one_per(
    model: xr.DataArray, plausibilities: xr.DataArray, study: Settings
) -> tuple[xr.DataArray, xr.DataArray]:
    """Return one example of each group, drawn by the examples' keys, where that was asked for."""
    name = study.examples.one_per
    if name is None:
        return model, plausibilities
    groups = example_values(name, (model, plausibilities))
    hashes = hash_names(model[names.EXAMPLE].values)
    order = np.argsort(Keys(study.seed, "study/one-per").uniform(hashes)[:, 0], kind="stable")
    kept = np.sort(order[np.unique(groups[order], return_index=True)[1]])
    count = {f"beside another of the same {name}": len(groups) - len(kept)}
    model = with_left_out(model.isel({names.EXAMPLE: kept}), count)
    return model, plausibilities.isel({names.EXAMPLE: kept})


def few_groups(examples: xr.DataArray | xr.Dataset) -> list[str]:
    """Return the coordinates among whose groups a weak one can be looked for."""
    clusters = {owner.name for owner in owners(examples)}
    return [
        name
        for name in coordinates(examples)
        if name not in clusters
        and examples[name].dtype.kind != "f"
        and 1 < groups_of(examples, name).groups <= MOST_GROUPS
    ]
