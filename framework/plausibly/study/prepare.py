"""A study that is ready to run: its file read and checked, and every file that it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, cast

import attrs
import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.config.document import Document, Note, parse
from plausibly.config.draft import Draft, StudyError, draft, located
from plausibly.config.resolved import origins, resolved, without_unset
from plausibly.config.study import (
    AnnotationFile,
    Calibration,
    Examples,
    Output,
    PlausibilityFile,
    Plugins,
    PredictionFile,
    Study,
    without_plugins,
)
from plausibly.data import align, names
from plausibly.data.left_out import read_left_out, with_left_out
from plausibly.data.names import name_texts
from plausibly.errors import InputError, MissingExtra
from plausibly.evaluation.inputs import example_values
from plausibly.io import files
from plausibly.io.delimited import decode
from plausibly.kernels.random import Keys, hash_names
from plausibly.protocols import READER
from plausibly.registry.mistakes import Mistake, mistakes_in
from plausibly.study.coordinates import (
    MOST_GROUPS,
    check_coordinates,
    coordinates,
    groups_of,
    owners,
)
from plausibly.study.pairs import check_data, check_pairs
from plausibly.study.reading import Problem, Read, read_files

StudyLike: TypeAlias = "Study | Mapping[str, object] | Path | str"
"""A study, its tables as plain data, or the path of its file."""

_UNNAMED = "the study"


@attrs.frozen(kw_only=True, eq=False)
class Prepared:
    """A study that can run, and all that it runs on.

    Attributes
    ----------
    name : str
        Of its file.
    file : Path or None
        The file itself.
    study : Study
        With what was left to us filled in: reader, aggregator, names.
    predictions, plausibilities : DataArray, ([augmentation,] example, label)
        Of the same examples, in the order of their names, and the same labels.
    annotations : Dataset or None
        The annotation table, where there is one.
    left_out : mapping of str to int
        How many examples were left out on the way, by reason.
    origin : callable
        Returns where the value at a path of the resolved study comes from.
    """

    name: str
    file: Path | None
    study: Study
    predictions: xr.DataArray
    plausibilities: xr.DataArray
    annotations: xr.Dataset | None
    left_out: Mapping[str, int]
    origin: Note

    def tables(self) -> dict[str, object]:
        """Return the study as plain data, complete; see `plausibly.config.resolved`."""
        with without_plugins(self.study.plugins.disable):
            return resolved(self.study)


def prepare(source: StudyLike, *, folder: Path | str | None = None) -> Prepared:
    """Read and check a study and every file that it names.

    Parameters
    ----------
    source : Study, mapping, Path or str
        A study file, whose relative paths start where it lies; its tables; or a `Study`, whose
        paths start at the current folder.
    folder : Path or str, optional
        Where the results go, instead of what the study says.

    Returns
    -------
    Prepared

    Raises
    ------
    StudyError
        ``config-key`` with every mistake, each with its path and line.
    InputError
        What the readers say, where a file is all that is wrong.

    Warns
    -----
    PlausiblyWarning
        What the readers warn of.
    """
    file = Path(source) if isinstance(source, str | Path) else None
    document, parts = _drafted(source, file)
    if folder is not None:
        parts = parts.having(output=Output(folder=Path(folder)))
    with without_plugins(_disabled(parts)):
        read = read_files(parts)
        mistakes = [*parts.mistakes, *check_coordinates(parts, read)]
        calibrations = cast("Sequence[Calibration]", parts.parts.get("calibrations", ()))
        mistakes += check_pairs(calibrations)
        matched = _matched(parts, read)
        if matched is not None:
            mistakes += check_data(calibrations, *matched)
        _refuse(document, file, mistakes, read.problems)
        # Nothing is wrong, so both are there.
        model, lam = cast("tuple[xr.DataArray, xr.DataArray]", matched)
        return _completed(document, file, parts, read, model, lam, to=folder)


def _drafted(source: StudyLike, file: Path | None) -> tuple[Document, Draft]:
    """Return what was written, and what it means before any other file is read."""
    if file is not None:
        document = parse(decode(files.contents(file, "study"), file.name), file.name)
        return document, draft(document.tables).rooted(file.parent)
    tables = _tables(source) if isinstance(source, Study) else cast("Mapping[str, object]", source)
    return Document(name=_UNNAMED, tables=tables), draft(tables)


def _tables(study: Study) -> dict[str, object]:
    tables: dict[str, object] = without_unset(resolved(study))
    for calibration in cast("list[dict[str, object]]", tables["calibrations"]):
        if not calibration["name"]:
            del calibration["name"]
    return tables


def _disabled(parts: Draft) -> tuple[str, ...]:
    return (parts.part("plugins", Plugins) or Plugins()).disable


def _matched(parts: Draft, read: Read) -> tuple[xr.DataArray, xr.DataArray] | None:
    """Return predictions and plausibilities of the same labels and examples."""
    model, lam = read.predictions, read.plausibilities
    if model is None or lam is None:
        return None
    table = "annotations" if "annotations" in parts.parts else "plausibilities"
    said = parts.part("annotations", AnnotationFile) or parts.part(table, PlausibilityFile)
    predicted = parts.part("predictions", PredictionFile)
    whose = said.path.name if said else table
    other = predicted.path.name if predicted else "predictions"
    examples = parts.part("examples", Examples) or Examples()
    labels = name_texts(model[names.LABEL].values)
    hint = ""
    if set(name_texts(lam[names.LABEL].values)) < set(labels) and read.labels is None:
        hint = "name a file with every label on a line of its own, if nobody happened to say the "
        hint += "others: [labels] path"

    def match() -> tuple[xr.DataArray, xr.DataArray]:
        named = align.match_labels(lam, labels, whose=whose, other=other, do=hint)
        return align.match_examples(
            model, named, only_common=examples.only_common, whose=other, other=whose
        )

    return read.attempt(table, "path", match)


def _refuse(
    document: Document, file: Path | None, mistakes: list[Mistake], problems: list[Problem]
) -> None:
    """Raise what is wrong: one error of a file as it is, everything else as one list."""
    problems = [_of_this_file(problem, document, file) for problem in problems]
    if not mistakes and len(problems) == 1:
        raise problems[0].error
    for problem in problems:
        error = problem.error
        found = [Mistake("", error.what, advice=error.do)]
        if not isinstance(error, MissingExtra):
            found = mistakes_in(error)
        mistakes += [attrs.evolve(one, path=problem.path) for one in found]
    if mistakes:
        raise StudyError.about(document.name, located(mistakes, document.lines))


def _of_this_file(problem: Problem, document: Document, file: Path | None) -> Problem:
    """Return the problem of a file that is not there as seen from the study file."""
    error = problem.error
    path = Path(str(error.details.get("path", "")))
    if error.name != "file-missing" or file is None or path.parent != file.parent:
        return problem
    near = error.details.get("near")
    missing = InputError(
        error.name,
        f'{problem.path.partition(".")[0]} "{path.name}" is not beside {document.name}',
        expected=error.expected,
        got=error.got,
        do=f"did you mean {near}?" if near else error.do,
        whose=error.whose,
        details=error.details,
    )
    return Problem(problem.path, missing)


def _completed(
    document: Document,
    file: Path | None,
    parts: Draft,
    read: Read,
    model: xr.DataArray,
    lam: xr.DataArray,
    *,
    to: Path | str | None,
) -> Prepared:
    """Return the study with what was left to us, and its data in the order of their names."""
    made = {} if to is None else {"output.folder": "-o"}
    study = parts.study()
    for place, table in enumerate(cast("Sequence[object]", document.tables["calibrations"])):
        if isinstance(table, Mapping) and "name" not in table:
            made[f"calibrations[{place}].name"] = "made from the components"
    if read.annotations is not None and study.annotations is not None:
        kind = str(read.annotations.attrs[names.KIND])
        if study.annotations.reader is None:
            like = {"name": str(read.annotations.attrs["reader"]), **study.annotations.options}
            reader = registry.resolve(READER, like)
            annotations = attrs.evolve(study.annotations, reader=reader, options={})
            study = attrs.evolve(study, annotations=annotations)
            made["annotations.reader"] = "recognised"
        if study.aggregator is None:
            study = attrs.evolve(study, aggregator=read.aggregator)
            made["aggregator.name"] = f"default for {kind}"
    model, lam = _one_per(_sorted(_with_coordinates(model, lam)), _sorted(lam), study)
    if study.evaluation.by is None:
        by = tuple(_few_groups(model, study))
        study = attrs.evolve(study, evaluation=attrs.evolve(study.evaluation, by=by))
        made["evaluation.by"] = f"every coordinate of 2 to {MOST_GROUPS} groups"
    left_out: dict[str, int] = {}
    for array in (model, lam):
        for reason, count in read_left_out(array.attrs).items():
            left_out[reason] = left_out.get(reason, 0) + count
    return Prepared(
        name=document.name,
        file=file,
        study=study,
        predictions=model,
        plausibilities=lam,
        annotations=read.annotations,
        left_out=left_out,
        origin=origins(document, made),
    )


def _with_coordinates(model: xr.DataArray, lam: xr.DataArray) -> xr.DataArray:
    """Return predictions with all that is known about the examples."""
    more = {
        name: (names.EXAMPLE, lam[name].values)
        for name in coordinates(lam)
        if name not in model.coords
    }
    return model.assign_coords(more)


def _sorted(array: xr.DataArray) -> xr.DataArray:
    """Return examples in the order of their names: no result depends on that of a file."""
    order = np.argsort(array[names.EXAMPLE].values.astype(np.str_), kind="stable")
    return array.isel({names.EXAMPLE: order})


def _one_per(
    model: xr.DataArray, lam: xr.DataArray, study: Study
) -> tuple[xr.DataArray, xr.DataArray]:
    """Return one example of each group, drawn by the examples' keys, where that was asked for."""
    name = study.examples.one_per
    if name is None:
        return model, lam
    groups = example_values(name, (model, lam))
    hashes = hash_names(model[names.EXAMPLE].values)
    order = np.argsort(Keys(study.seed, "study/one-per").uniform(hashes)[:, 0], kind="stable")
    kept = np.sort(order[np.unique(groups[order], return_index=True)[1]])
    count = {f"beside another of the same {name}": len(groups) - len(kept)}
    model = with_left_out(model.isel({names.EXAMPLE: kept}), count)
    return model, lam.isel({names.EXAMPLE: kept})


def _few_groups(model: xr.DataArray, study: Study) -> list[str]:
    """Return the coordinates among whose groups a weak one can be looked for."""
    shown = (study.report.text, study.report.thumbnail)
    known = {
        study.splits.group,
        study.evaluation.true,
        *shown,
        *(one.name for one in owners(model)),
    }
    return [
        name
        for name in coordinates(model)
        if name not in known
        and model[name].dtype.kind != "f"
        and 1 < groups_of(model, name).groups <= MOST_GROUPS
    ]
