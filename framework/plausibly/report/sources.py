"""Sources of a report: a study that ran, or a predictor with the data that it is reported on."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.alphas import AlphaLike, Alphas, read_alphas
from plausibly.config.settings import Settings, without_plugins
from plausibly.conformal.aggregate import aggregate
from plausibly.conformal.calibrate import calibrate
from plausibly.conformal.inputs import FINGERPRINT, GUARANTEES, LABEL_ORDER, OVERLAP
from plausibly.conformal.load import load_predictor
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import align, names
from plausibly.data.names import name_texts, positions, several
from plausibly.data.plausibilities import mean_over_draws
from plausibly.data.states import read_left_out, with_left_out
from plausibly.data.validate import Predictions
from plausibly.errors import InputError, PlausiblyWarning, counted
from plausibly.evaluation import inputs
from plausibly.evaluation.design import Method, Methods, as_asked, read_methods
from plausibly.evaluation.inputs import codes_of, example_values
from plausibly.evaluation.shift import warn_of_copies
from plausibly.evaluation.splits import split, split_keys, split_seed
from plausibly.evaluation.study import load_study
from plausibly.guarantee import Guarantee
from plausibly.io import read_annotations, read_plausibilities, read_predictions
from plausibly.kernels.random import hash_names
from plausibly.kernels.types import Bools, Floats
from plausibly.protocols import AGGREGATOR
from plausibly.registry.components import called
from plausibly.report.model import BROKEN, HELD, UNCHECKED, Check, Words
from plausibly.report.options import Options, facts_of, with_tables
from plausibly.report.sections import exchangeable, of_names, of_overlap, of_shift, selected
from plausibly.report.subject import MethodSets, Reported, Subject, Tested
from plausibly.study.prepare import Prepared, groups_of, owners, plural, prepare
from plausibly.study.run import (
    PREDICTOR,
    RESOLVED,
    RESULTS,
    first_predictor,
    grouped_by,
    methods,
    resolved_text,
)

FIRST = 0
HALF = 0.5


def halves(one: Reported) -> Bools:
    """Return one half: the test examples of the first split of a study of halves."""
    hashes = hash_names(one.predictions[names.EXAMPLE].values)
    groups, strata = (
        None if name is None else example_values(name, [one.predictions])
        for name in (one.cluster, one.stratify)
    )
    try:
        return split(hashes, split_keys(one.seed, FIRST), test=HALF, groups=groups, strata=strata)
    except InputError as error:
        if error.name == "split-empty":
            error.do = "calibrate on others, and report the predictor: plausibly report --predictor"
        raise


def _made(one: Tested, alphas: Sequence[AlphaLike]) -> tuple[Bools, Floats, Floats]:
    """Return sets (example, label, alpha), p-values and scores (example, label) of a predictor."""
    sets = one.predictor.predict(one.predictions, list(alphas))
    p = one.predictor.p_values(one.predictions).transpose(names.EXAMPLE, names.LABEL)
    scores = one.predictor.scores(one.predictions)
    if scores.ndim > 2:  # one score per label: what the bars show of several augmentations
        scores = scores.mean(axis=0)
    place = positions(one.predictor.labels, name_texts(sets[names.LABEL].values))
    sets = sets.transpose(names.EXAMPLE, names.LABEL, names.ALPHA)
    return sets.values, p.values, scores[:, place]


def method_sets(
    name: str,
    predictions: xr.DataArray,
    tested: Sequence[Tested],
    rows: Sequence[Bools],
    alphas: Sequence[AlphaLike],
    *,
    reference: bool = False,
) -> MethodSets:
    """Return the sets of one method with the attributes that sets have.

    Each predictor was tested on some of the examples, which `rows` says.
    """
    with warnings.catch_warnings():
        # What there is to say of the sets stands in the report, or the study said it.
        warnings.simplefilter("ignore", PlausiblyWarning)
        parts = [_made(one, alphas) for one in tested]
    found: list[NDArray[Any]] = []  # Any: truth values, and floats
    for each in zip(*parts, strict=True):
        found.append(np.empty((rows[0].size, *each[0].shape[1:]), dtype=each[0].dtype))
        for mine, part in zip(rows, each, strict=True):
            found[-1][mine] = part
    values, p, scores = found
    # What the predictors all promise.
    promises = [
        min((one.predictor.guarantee(alpha) for one in tested), key=_strength) for alpha in alphas
    ]
    first, metadata = tested[0].predictor, tested[0].predictor.metadata
    sets = xr.DataArray(
        values,
        dims=(names.EXAMPLE, names.LABEL, names.ALPHA),
        coords={
            **{key: value.variable for key, value in _one_row(predictions).coords.items()},
            names.ALPHA: [float(promise.alpha) for promise in promises],
        },
        attrs={
            GUARANTEES: json.dumps([promise.to_json() for promise in promises]),
            FINGERPRINT: " ".join(one.predictor.fingerprint for one in tested),
            OVERLAP: sum(
                int(np.isin(hash_names(one.predictions[names.EXAMPLE].values), known).sum())
                for one in tested
                if (known := one.predictor.hashes) is not None
            ),
            LABEL_ORDER: json.dumps(list(first.labels)),
        },
    )
    return MethodSets(
        name=name,
        about=f"{metadata.calibrator} + {metadata.combiner}, score {metadata.score}",
        reference=reference,
        tested=tested,
        sets=with_left_out(sets, read_left_out(predictions.attrs)),
        p=p,
        scores=scores,
        score=metadata.score,
        promises=promises,
    )


def _strength(one: Guarantee) -> tuple[bool, float, bool, int]:
    return one.level is not None, float(one.level or 0), not one.vacuous, one.has


def subject_of_predictor(
    predictor: ConformalPredictor, data: Reported, options: Options, *, only_common: bool = False
) -> Subject:
    model, lam = _matched(data.predictions, data.plausibilities, only_common=only_common)
    one = Tested(predictor=predictor, predictions=model)
    name = f"{predictor.metadata.calibrator}, {predictor.metadata.combiner}"
    every = np.ones(model.sizes[names.EXAMPLE], dtype=np.bool_)
    method = method_sets(name, model, [one], [every], data.alphas)
    shift = of_shift(method, options.words)
    checks = [
        of_names(every.size, options.words),
        of_overlap(method, options.words),
        *([] if shift is None else [shift]),
        *exchangeable(options.words),
    ]
    how = f"By one predictor, calibrated on {counted(predictor.n)} others."
    return _subject(data, model, lam, methods=[method], how=how, checks=checks, options=options)


def _subject(
    data: Reported,
    model: xr.DataArray,
    lam: xr.DataArray,
    **others: Any,  # Any: of Subject
) -> Subject:
    shared = attrs.asdict(
        data, recurse=False, filter=attrs.filters.include(*attrs.fields(Reported))
    )
    plane = _plane(model)
    shared |= {"predictions": plane, "plausibilities": lam}
    return Subject(**shared | {"annotations": selected(data.annotations, plane)}, **others)


def _matched(
    predictions: xr.DataArray, plausibilities: xr.DataArray, *, only_common: bool = False
) -> tuple[xr.DataArray, xr.DataArray]:
    """Return both for the same examples, in the order of their names, and labels."""
    labels = name_texts(predictions[names.LABEL].values)
    lam = align.match_labels(plausibilities, labels, whose="plausibilities", other="predictions")
    model, lam = align.match_examples(predictions, lam, only_common=only_common)
    order = np.argsort(model[names.EXAMPLE].values.astype(np.str_), kind="stable")
    return model.isel({names.EXAMPLE: order}), lam.isel({names.EXAMPLE: order})


def _plane(model: xr.DataArray) -> xr.DataArray:
    """Return predictions (example, label): of several augmentations the mean."""
    if names.AUGMENTATION not in model.dims:
        return model
    return model.mean(names.AUGMENTATION, keep_attrs=True)


def _one_row(model: xr.DataArray) -> xr.DataArray:
    """Return predictions (example, label): of several augmentations the first."""
    if names.AUGMENTATION not in model.dims:
        return model
    return model.isel({names.AUGMENTATION: 0}, drop=True)


VOTED = "voted"


@attrs.frozen(kw_only=True, eq=False)
class Compared(Reported):
    """A study, from a file or from `plausibly.compare`."""

    methods: Mapping[str, Mapping[str, object]]


def compared(ready: Prepared, result: xr.Dataset) -> Compared:
    study = ready.study
    return Compared(
        predictions=ready.predictions,
        plausibilities=ready.plausibilities,
        annotations=ready.annotations,
        methods=methods(ready),
        alphas=[str(alpha) for alpha in study.alphas],
        cluster=study.examples.cluster,
        stratify=study.splits.stratify,
        true=study.evaluation.true_label,
        groups=study.evaluation.columns,
        ties=study.evaluation.ties,
        seed=study.seed,
        compared=result,
    )


def study_facts(study: Settings) -> list[tuple[str, str]]:
    what, answers = study.answers
    files = {
        what: answers,
        "predictions": study.predictions.path,
        "examples": study.examples.path,
        "labels": study.labels.path,
    }
    rows = {name: _name(path) for name, path in files.items()}
    if study.annotations.aggregator is not None:
        rows["aggregator"] = called(AGGREGATOR, study.annotations.aggregator)
    return facts_of(rows)


def subject_of_study(one: Compared, options: Options, *, disabled: Sequence[str] = ()) -> Subject:
    half = halves(one)
    with without_plugins(tuple(disabled)):
        methods = [_sets(one, half, name, table) for name, table in one.methods.items()]
        methods += _reference(one, half, methods)
    lam, checks = mean_over_draws(one.plausibilities), _checks(one, half, options)
    more = {"methods": methods, "how": _how(half, one), "checks": checks, "options": options}
    return _subject(one, one.predictions, lam, **more)


def _sets(
    one: Compared, half: Bools, name: str, table: Mapping[str, object], *, reference: bool = False
) -> MethodSets:
    """Return the sets of one method for every example, each half calibrated on the other.

    It is calibrated as the study's first split does.
    """
    call: Callable[..., ConformalPredictor] = calibrate  # it checks each argument by name
    method = attrs.asdict(Method(**table), recurse=False)  # type: ignore[arg-type]  # as there
    method = {key: value for key, value in method.items() if value is not None}
    method |= {"seed": split_seed(one.seed, FIRST), "group": one.cluster}
    model, lam = one.predictions, one.plausibilities
    tested, rows = [], (half, ~half)
    for test in rows:
        others, mine = {names.EXAMPLE: ~test}, {names.EXAMPLE: test}
        with warnings.catch_warnings():
            # The study warned of the same method.
            warnings.simplefilter("ignore", PlausiblyWarning)
            predictor = call(model.isel(others), lam.isel(others), **method)
        new = as_asked(predictor, model.isel(mine), split_keys(one.seed, FIRST))
        tested.append(Tested(predictor=predictor, predictions=new))
    return method_sets(name, model, tested, rows, one.alphas, reference=reference)


def _reference(one: Compared, half: Bools, made: Sequence[MethodSets]) -> list[MethodSets]:
    """Return sets calibrated on votes, to compare with, where the study has none."""
    if any(promise.target == "voted" for method in made for promise in method.promises):
        return []
    first = next(iter(one.methods.values()))
    table = {"calibrator": VOTED, "score": first.get("score", "probability")}
    name = VOTED if VOTED not in one.methods else "calibrated on votes"
    try:
        return [_sets(one, half, name, table, reference=True)]
    except InputError:  # no method of votes for such data, as for several augmentations
        return []


def _how(half: Bools, one: Compared) -> str:
    by = f" of whole {plural(one.cluster)}" if one.cluster else ""
    return (
        f"Every example has a set. The examples were cut into two random halves{by}, as in split "
        f"{FIRST} of a study of halves with seed {one.seed}: {counted(int(half.sum()))} and "
        f"{counted(int((~half).sum()))}. The sets of each half are by a predictor that was "
        "calibrated on the other half. P-values are looked at in the first half."
    )


def _checks(one: Compared, half: Bools, options: Options) -> list[Check]:
    """Return what can be checked of the examples, and what nobody can check."""
    words, many = options.words, options.words.examples
    model = _plane(one.predictions)
    groups = None if one.cluster is None else example_values(one.cluster, [model])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        copies = warn_of_copies(_one_row(one.predictions), groups)
    told = f"No two {many} that splits may part have exactly the same predictions."
    if copies:
        told = f"{counted(copies)} of {several(half.size, words.example)} have exactly the "
        told += "predictions of another, and splits part them: shared ones flatter coverage."
    return [
        of_names(half.size, words),
        *_groups(one, model, half, many),
        Check("examples-alike", f"no copies among {many}", BROKEN if copies else HELD, told),
        *exchangeable(words),
    ]


def _groups(one: Compared, model: xr.DataArray, half: Bools, examples: str) -> list[Check]:
    """Return whether examples that belong together stand on two sides, or repeat on one."""
    apart, found = "group-on-both-sides", []
    if one.cluster is None:
        for other in owners(model):
            codes = codes_of(example_values(other.name, [model]))[1]
            both = np.intersect1d(codes[half], codes[~half]).size
            told = (
                f"{counted(both)} {plural(other.name)} have {examples} on both sides "
                f'of a split, which flatters coverage: [splits] group = "{other.name}".'
            )
            if both:
                found.append(Check(apart, f"no {other.name} on both sides", BROKEN, told))
        return found
    group, groups = groups_of(model, one.cluster), plural(one.cluster)
    told = f"{counted(group.groups)} {groups} stay whole in every split."
    found.append(Check(apart, f"no {one.cluster} on both sides", HELD, told))
    if group.several and not all(
        grouped_by(table.get("calibrator"), one.cluster) for table in one.methods.values()
    ):
        told = (
            f"{counted(group.several)} of {counted(group.groups)} {groups} have several "
            f"{examples}, which may be alike. Intervals here count {groups}; compare with "
            f'[examples] one_per = "{one.cluster}".'
        )
        title = f"{examples} of one {one.cluster} are like any others"
        found.append(Check("group-repeats", title, UNCHECKED, told))
    return found


Data: TypeAlias = "xr.DataArray | xr.Dataset | Path | str"


def only(given: Mapping[str, object], wanted: Sequence[str], whose: str) -> None:
    for name, value in given.items():
        if value is not None and name not in wanted:
            raise InputError(
                "report-argument",
                f"{name} has no meaning in a report on {whose}",
                expected=f"some of {', '.join(wanted)}" if wanted else "none of these arguments",
                got=name,
                do=f"leave {name} out",
                whose=name,
            )


def data(
    predictions: xr.DataArray | Path | str | None,
    annotations: xr.Dataset | Path | str | None,
    plausibilities: Data | None,
) -> tuple[xr.DataArray, xr.Dataset | None, xr.DataArray]:
    """Return predictions, the annotation table where there is one, and plausibilities."""
    opinions = annotations if plausibilities is None else plausibilities
    needed = {"predictions": predictions, "annotations or plausibilities": opinions}
    for name, value in needed.items():
        if value is None:
            raise InputError(
                "report-argument",
                f"the report lacks {name}",
                expected=f"{', and '.join(needed)}, of the same examples",
                got="none",
                do='write_report(source, "report.html", predictions=..., annotations=...)',
                whose=name,
            )
    model = read_predictions(predictions) if isinstance(predictions, Path | str) else predictions
    table = read_annotations(annotations) if isinstance(annotations, Path | str) else annotations
    if isinstance(plausibilities, Path | str):
        plausibilities = read_plausibilities(plausibilities)
    lam = aggregate(cast("xr.Dataset", table)) if plausibilities is None else plausibilities
    checked = Predictions.from_xarray(cast("xr.DataArray", model)).array
    return checked, table, inputs.as_plausibilities(lam)


def alphas_of(given: Alphas) -> list[AlphaLike]:
    """Return alphas as they are typed; each of them can be read."""
    read_alphas(given)
    each: list[AlphaLike] = np.asarray(given, dtype=object).ravel().tolist()
    return each


def compared_results(
    result: xr.Dataset,
    model: xr.DataArray,
    table: xr.Dataset | None,
    lam: xr.DataArray,
    methods: Methods | None,
    by: Sequence[str] | None,
) -> Compared:
    """Return what `plausibly.compare` gave, with its data, examples in the order of their names."""
    told: dict[str, dict[str, object]] = json.loads(str(result.attrs["methods"]))
    found = _methods(methods, told).items()
    model, lam = _matched(model, lam)
    if model.sizes[names.EXAMPLE] != int(result.attrs["n"]):
        raise InputError(
            "study-changed",
            "these are not the examples that were compared",
            expected=f"{counted(int(result.attrs['n']))} of them",
            got=counted(model.sizes[names.EXAMPLE]),
            do="pass the predictions and annotations that compare was given",
            whose="predictions",
        )
    stratify = result.attrs.get("stratify")
    return Compared(
        predictions=model,
        plausibilities=lam,
        annotations=table,
        methods={name: attrs.asdict(one, recurse=False) for name, one in found},
        alphas=[str(alpha) for alpha in json.loads(str(result.attrs["alphas"]))],
        cluster=result.attrs.get("group"),
        stratify=stratify if stratify in model.coords else None,
        true=None,
        groups=by,
        ties=inputs.check_ties(str(result.attrs["ties"])),
        seed=int(result.attrs["seed"]),
        compared=result,
    )


def _methods(
    methods: Methods | None, told: Mapping[str, Mapping[str, object]]
) -> dict[str, Method]:
    """Return the methods that were compared, from their names where these say all."""
    if methods is None:
        whole = not any("(" in str(value) for table in told.values() for value in table.values())
        if whole:
            return read_methods(dict(told))
        raise InputError(
            "report-argument",
            "the report lacks methods",
            expected="those that compare was given, since some have parameters",
            got="none",
            do='write_report(study, "report.html", methods=methods, ...)',
            whose="methods",
        )
    found = read_methods(methods)
    if list(found) != list(told):
        raise InputError(
            "report-argument",
            "methods are not those that were compared",
            expected=", ".join(told),
            got=", ".join(found),
            do="pass what compare was given",
            whose="methods",
        )
    return found


def finished(path: Path) -> tuple[Prepared, xr.Dataset]:
    """Return a study that ran and its results, from the folder of these or from its file."""
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
    if ready is None or asked != (folder / RESOLVED).read_text(encoding="utf-8"):
        # Another version may write the same study in other words.
        ready = prepare(folder / RESOLVED)
        if asked and asked != resolved_text(ready, folder):
            raise _changed(path, folder, "another study", "the study")
    result = load_study(folder / RESULTS).data
    with warnings.catch_warnings(), without_plugins(ready.study.plugins.disable):
        # It was warned of when the study ran.
        warnings.simplefilter("ignore", PlausiblyWarning)
        found = first_predictor(ready).fingerprint
    if load_predictor(folder / PREDICTOR).fingerprint != found:
        raise _changed(path, folder, "other data", "the files that it names")
    return ready, result


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
    ready: Prepared,
    result: xr.Dataset,
    options: Options,
    *,
    examples: Path | str | xr.Dataset | None = None,
    labels: Path | str | xr.Dataset | None = None,
    by: Sequence[str] | None = None,
) -> Subject:
    """Return the subject of a report on a study that ran."""
    said = ready.study.report
    folder = ready.study.examples.path.parent if ready.study.examples.path else options.folder
    merged = attrs.evolve(
        options,
        title=options.title or said.title or default_title(_name(ready.study.predictions.path)),
        words=words_of(said.words) if options.words == Words() else options.words,
        text=options.text or said.text or "",
        thumbnail=options.thumbnail or said.thumbnail or "",
        annotator_names=options.annotator_names and not said.anonymous,
        folder=folder,
        facts=study_facts(ready.study),
        command="\n".join(filter(None, ["plausibly run resolved.toml", options.command])),
        study=resolved_text(ready, ready.study.output.folder),
    )
    study = compared(ready, result)
    study = attrs.evolve(study, predictions=with_tables(study.predictions, examples, labels))
    if by is not None or examples is not None:
        study = attrs.evolve(study, groups=by)
    return subject_of_study(study, merged, disabled=ready.study.plugins.disable)


def _name(path: Path | None) -> str:
    return "" if path is None else path.name


def default_title(file: str) -> str:
    return f"Prediction sets from {file}" if file else "Prediction sets"


def words_of(said: Mapping[str, str] | None) -> Words:
    """Return what examples and annotators are called; plurals end in s where none is said."""
    words = dict(said or {})
    known = [field.name for field in attrs.fields(Words)]
    for key in (key for key in words if key not in known):
        raise InputError(
            "words-unknown",
            f'no word of a report is called "{key}"',
            expected=f"some of {', '.join(known)}",
            got=key,
            do='words={"example": "nodule"} (--set report.words=example=nodule)',
            whose="words",
        )
    plurals = {f"{key}s": f"{word}s" for key, word in words.items()}
    return Words(**{key: word for key, word in {**plurals, **words}.items() if key in known})
