"""Where a report comes from: a study that ran, or a predictor, with what it is reported on."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import attrs
import xarray as xr

from plausibly.config.study import without_plugins
from plausibly.conformal.stored import load_predictor
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.evaluation.results import load_study
from plausibly.report import of_study
from plausibly.report.model import Words
from plausibly.report.of_study import Compared
from plausibly.report.options import Options, with_tables
from plausibly.report.subject import Subject
from plausibly.study.files import PREDICTOR, RESOLVED, RESULTS, resolved_text
from plausibly.study.prepare import Prepared, prepare
from plausibly.study.run import StudyResult, first_predictor


@attrs.frozen(kw_only=True, eq=False)
class Finished:
    """A study that ran.

    Attributes
    ----------
    prepared : Prepared
    compared : Dataset
        From `plausibly.compare`.
    """

    prepared: Prepared
    compared: xr.Dataset

    @classmethod
    def of(cls, result: StudyResult) -> Finished:
        """Return a study that ran in this process."""
        return cls(prepared=result.prepared, compared=result.compared)


def finished(path: Path) -> Finished:
    """Return a study that ran, from the folder of its results or from its file.

    Parameters
    ----------
    path : Path
        A folder with ``resolved.toml`` and ``results.nc``, or a study file whose results are there.

    Raises
    ------
    InputError
        ``study-unfinished`` where there are no results, ``study-changed`` where the file or its
        data are no longer those that gave them; and what `prepare` says.
    """
    folder = path
    ready: Prepared | None = None
    if not path.is_dir():
        ready = prepare(path)
        folder = ready.study.output.folder
    lacking = [name for name in (RESULTS, RESOLVED, PREDICTOR) if not (folder / name).exists()]
    if lacking:
        run = path if ready is not None else "study.toml"
        raise InputError(
            "study-unfinished",
            f"{folder} holds no results of a study",
            expected=f"{RESULTS}, {RESOLVED} and {PREDICTOR}",
            got=f"no {lacking[0]}",
            do=f"plausibly run {run}",
            whose=str(folder),
        )
    asked = "" if ready is None else resolved_text(ready, folder)
    if asked != (folder / RESOLVED).read_text(encoding="utf-8"):
        # Another version may write the same study in other words.
        ready = prepare(folder / RESOLVED)
        if asked and asked != resolved_text(ready, folder):
            raise _changed(path, folder, "another study", "the study")
    ready = cast("Prepared", ready)
    result = load_study(folder / RESULTS)
    with warnings.catch_warnings(), without_plugins(ready.study.plugins.disable):
        # It was warned of when the study ran.
        warnings.simplefilter("ignore", PlausiblyWarning)
        found = first_predictor(ready).fingerprint
    if load_predictor(folder / PREDICTOR).fingerprint != found:
        raise _changed(path, folder, "other data", "the files that it names")
    return Finished(prepared=ready, compared=result)


def _changed(path: Path, folder: Path, got: str, what: str) -> InputError:
    run = folder / RESOLVED if path.is_dir() else path
    return InputError(
        "study-changed",
        f"the results in {folder} are of {got}",
        expected=f"{what} as when it ran",
        got=got,
        do=f"plausibly run {run}, which reports it too",
        whose=str(folder),
    )


def study_subject(
    one: Finished,
    options: Options,
    *,
    examples: Path | str | xr.Dataset | None = None,
    labels: Path | str | xr.Dataset | None = None,
    by: Sequence[str] | None = None,
    command: str = "",
) -> Subject:
    """Return the subject of a report on a study that ran.

    Parameters
    ----------
    one : Finished
    options : Options
        In the place of those of the study file, where they say something.
    examples, labels : Path, str or Dataset, optional
        Tables of what else is known of them.
    by : sequence of str, optional
        Coordinates whose groups are compared, instead of those of the study.
    command : str
        What was typed after ``plausibly run``, if more is needed to make the report again.
    """
    ready = one.prepared
    said = ready.study.report
    folder = ready.study.examples.path.parent if ready.study.examples.path else options.folder
    merged = attrs.evolve(
        options,
        title=options.title or said.title or default_title(ready.study.predictions.path.name),
        words=words_of(said.words) if options.words == Words() else options.words,
        text=options.text or said.text or "",
        thumbnail=options.thumbnail or said.thumbnail or "",
        annotator_names=options.annotator_names or said.annotator_names,
        folder=folder,
    )
    study = of_study.compared(ready, one.compared)
    study = attrs.evolve(study, predictions=with_tables(study.predictions, examples, labels))
    if by is not None or examples is not None:
        study = attrs.evolve(study, by=by)
    text = resolved_text(ready, ready.study.output.folder)
    return of_study.subject_of(
        study,
        merged,
        disabled=ready.study.plugins.disable,
        facts=of_study.study_facts(ready),
        command="\n".join(["plausibly run resolved.toml", *([command] if command else [])]),
        study=text,
    )


def compared_subject(one: Compared, options: Options) -> Subject:
    """Return the subject of a report on what `plausibly.compare` gave, with its data."""
    title = options.title or default_title("")
    return of_study.subject_of(one, attrs.evolve(options, title=title))


def default_title(file: str) -> str:
    """Return a heading from the name of the file of predictions."""
    return f"Prediction sets from {file}" if file else "Prediction sets"


def words_of(said: Mapping[str, str] | None) -> Words:
    """Return what examples and annotators are called; plurals end in s where none is said.

    Parameters
    ----------
    said : mapping of str to str, or None
        Some of ``example``, ``examples``, ``annotator``, ``annotators``.

    Raises
    ------
    InputError
        ``words-unknown``.
    """
    given = dict(said or {})
    known = [field.name for field in attrs.fields(Words)]
    for key in given:
        if key not in known:
            raise InputError(
                "words-unknown",
                f'no word of a report is called "{key}"',
                expected=f"some of {', '.join(known)}",
                got=key,
                do='words={"example": "nodule"} (--words example=nodule)',
                whose="words",
            )
    for one in ("example", "annotator"):
        if one in given:
            given.setdefault(f"{one}s", f"{given[one]}s")
    return Words(**given)
