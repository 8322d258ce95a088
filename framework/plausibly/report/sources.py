"""Sources of a report: a study that ran, or a predictor with the data that it is reported on."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, cast

import attrs
import numpy as np
import xarray as xr

from plausibly.calibration.alphas import AlphaLike
from plausibly.config.settings import without_plugins
from plausibly.conformal.aggregate import aggregate
from plausibly.conformal.inputs import (
    FINGERPRINT,
    GUARANTEES,
    LABEL_ORDER,
    OVERLAP,
    labels_along_order,
)
from plausibly.conformal.load import load_predictor
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import align, names
from plausibly.data.names import name_texts, positions, several
from plausibly.data.plausibilities import mean_over_draws
from plausibly.data.select import select_annotations
from plausibly.data.states import read_left_out, with_left_out
from plausibly.data.validate import Predictions
from plausibly.errors import InputError, PlausiblyWarning, counted
from plausibly.evaluation import inputs
from plausibly.evaluation.design import Methods, as_asked, read_methods
from plausibly.evaluation.inputs import codes_of, example_values
from plausibly.evaluation.shift import shift_test, warn_of_copies
from plausibly.evaluation.splits import split, split_keys, split_seed
from plausibly.evaluation.study import load_study
from plausibly.io import read_annotations, read_plausibilities, read_predictions
from plausibly.kernels.random import hash_names
from plausibly.kernels.types import Bools
from plausibly.protocols import AGGREGATOR
from plausibly.registry import called
from plausibly.report.model import BROKEN, HELD, UNCHECKED, Check, Words
from plausibly.report.sections import p_value_text
from plausibly.report.subject import (
    MethodSets,
    Options,
    Reported,
    Subject,
    Table,
    Tested,
    with_tables,
)
from plausibly.study.prepare import Prepared, groups_of, owners, plural, prepare
from plausibly.study.run import (
    PREDICTOR,
    RESOLVED,
    RESULTS,
    clustered_by,
    first_predictor,
    methods,
    resolved_text,
)

FIRST = 0
HALF = 0.5
VOTED = "majority-vote"
_WORDS = '[report] words = { example = "nodule" }'

Data: TypeAlias = "xr.DataArray | xr.Dataset | Path | str"


def method_sets(
    name: str,
    predictions: xr.DataArray,
    tested: Sequence[Tested],
    rows: Sequence[Bools],
    alphas: Sequence[AlphaLike],
    *,
    reference: bool = False,
) -> MethodSets:
    """Return the sets of one method; `rows` are the examples that each predictor was tested on."""
    order = np.argsort(np.concatenate([np.flatnonzero(mine) for mine in rows]))
    dims = (names.EXAMPLE, names.LABEL, names.ALPHA)
    sets, p_values, scores = [], [], []
    with warnings.catch_warnings():
        # The report states what the sets warn of.
        warnings.simplefilter("ignore", PlausiblyWarning)
        for pair in tested:
            new = pair.predictor.predict(pair.predictions, list(alphas)).transpose(*dims)
            new_scores = pair.predictor.scores(pair.predictions)
            if new_scores.ndim > 2:  # bars show one score per label, the mean over augmentations
                new_scores = new_scores.mean(axis=0)
            place = positions(pair.predictor.labels, name_texts(new[names.LABEL].values))
            sets.append(new)
            if pair.predictor.has_p_values:
                p = pair.predictor.p_values(pair.predictions).transpose(*dims[:2])
                p_values.append(p.values)
            scores.append(new_scores[:, place])
    # The weakest guarantee holds for all predictors.
    guarantees = [
        min(
            (pair.predictor.guarantee(alpha) for pair in tested),
            key=lambda claim: (
                claim.level is not None,
                claim.level or 0,
                not claim.vacuous,
                claim.has,
            ),
        )
        for alpha in alphas
    ]
    whole = xr.concat(
        sets, names.EXAMPLE, coords="different", compat="equals", join="exact", combine_attrs="drop"
    )
    attributes = {
        GUARANTEES: json.dumps([guarantee.to_json() for guarantee in guarantees]),
        FINGERPRINT: " ".join(pair.predictor.fingerprint for pair in tested),
        OVERLAP: sum(int(new.attrs[OVERLAP]) for new in sets),
        LABEL_ORDER: sets[0].attrs[LABEL_ORDER],
    }
    whole = whole.isel({names.EXAMPLE: order}).assign_attrs(attributes)
    metadata = tested[0].predictor.metadata
    return MethodSets(
        name=name,
        about=f"{metadata.calibrator} + {metadata.combiner}, score {metadata.score}",
        reference=reference,
        tested=tested,
        sets=with_left_out(whole, read_left_out(predictions.attrs)),
        p=np.concatenate(p_values)[order] if p_values else None,
        scores=np.concatenate(scores)[order],
        score=metadata.score,
        guarantees=guarantees,
    )


def subject_of_predictor(
    predictor: ConformalPredictor, data: Reported, options: Options, *, only_common: bool = False
) -> Subject:
    model, plausibilities = _matched(data.predictions, data.plausibilities, only_common=only_common)
    model, plausibilities = _along_order(model), _along_order(plausibilities, model)
    tested = Tested(predictor=predictor, predictions=model)
    name = f"{predictor.metadata.calibrator}, {predictor.metadata.combiner}"
    every = np.ones(model.sizes[names.EXAMPLE], dtype=np.bool_)
    method = method_sets(name, model, [tested], [every], data.alphas)
    return _subject(
        attrs.evolve(data, predictions=model, plausibilities=plausibilities),
        [method],
        f"One predictor, calibrated on {several(predictor.n, 'example')}.",
        [_overlap_check(method, options.words), *_shift_checks(method, options.words)],
        options,
    )


def _subject(
    data: Reported, methods: Sequence[MethodSets], source: str, extra: list[Check], options: Options
) -> Subject:
    shared = {field.name: getattr(data, field.name) for field in attrs.fields(Reported)}
    model = data.predictions
    if names.AUGMENTATION in model.dims:
        model = model.mean(names.AUGMENTATION, keep_attrs=True)
    shared["predictions"] = model
    examples, table = name_texts(model[names.EXAMPLE].values), data.annotations
    if table is not None:
        answered = {*name_texts(table.indexes[names.EXAMPLE])}
        shared["annotations"] = select_annotations(
            table, example=sorted(answered.intersection(examples))
        )
    noun, nouns = options.words.example, options.words.examples
    checks = [
        Check(
            "example-twice",
            f"no {noun} twice",
            HELD,
            f"All {counted(len(examples))} names are different.",
        ),
        *extra,
        Check(
            "exchangeable",
            f"new {nouns} resemble the calibration set",
            UNCHECKED,
            f"The guarantee holds for {nouns} of the same origin, in no particular order. Checks "
            "can show that this is not so; none can show that it is.",
        ),
        Check(
            "model-saw-none",
            f"the model was trained on none of these {nouns}",
            UNCHECKED,
            f"A model is more certain on {nouns} that it was trained on. The predictions must come "
            "from a model that was trained on others, or on the other folds.",
        ),
    ]
    return Subject(**shared, methods=methods, source=source, checks=checks, options=options)


def _matched(
    predictions: xr.DataArray, plausibilities: xr.DataArray, *, only_common: bool = False
) -> tuple[xr.DataArray, xr.DataArray]:
    labels = name_texts(predictions[names.LABEL].values)
    matched = align.match_labels(
        plausibilities, labels, source="plausibilities", other="predictions"
    )
    model, matched = align.match_examples(predictions, matched, only_common=only_common)
    order = np.argsort(model[names.EXAMPLE].values.astype(np.str_), kind="stable")
    return model.isel({names.EXAMPLE: order}), matched.isel({names.EXAMPLE: order})


def _along_order(array: xr.DataArray, source: xr.DataArray | None = None) -> xr.DataArray:
    order = labels_along_order([array if source is None else source])
    return array if order is None else array.sel({names.LABEL: order})


@attrs.frozen(kw_only=True, eq=False)
class Compared(Reported):
    methods: Mapping[str, Mapping[str, object]]


def subject_of_study(study: Compared, options: Options, *, disabled: Sequence[str] = ()) -> Subject:
    """Return the subject of a study: each half of the examples is calibrated on the other."""
    hashes = hash_names(study.predictions[names.EXAMPLE].values)
    groups, strata = (
        None if name is None else example_values(name, [study.predictions])
        for name in (study.cluster, study.stratify)
    )
    try:
        # The test examples of the first split of a study of halves.
        half = split(hashes, split_keys(study.seed, FIRST), test=HALF, groups=groups, strata=strata)
    except InputError as error:
        if error.name == "split-empty":
            error.hint = "calibrate on other examples, and report that predictor"
        raise
    with without_plugins(tuple(disabled)):
        methods = [_sets(study, half, name, table) for name, table in study.methods.items()]
        if all(
            guarantee.target != "majority-vote" for made in methods for guarantee in made.guarantees
        ):
            score = next(iter(study.methods.values())).get("score", "probability")
            name = VOTED if VOTED not in study.methods else "calibrated on majority votes"
            table = {"calibrator": VOTED, "score": score}
            # Some data, such as several augmentations, have no method for majority votes.
            with contextlib.suppress(InputError):
                methods.append(_sets(study, half, name, table, reference=True))
    by = f" of whole {plural(study.cluster)}" if study.cluster else ""
    first, second = counted(int(half.sum())), counted(int((~half).sum()))
    source = (
        f"Two random halves{by} ({first} and {second} examples, as in split {FIRST} of a study of "
        f"halves with random seed {study.seed}), each calibrated on the other, so that every "
        "example has a set. P-values are those of the first half."
    )
    plausibilities = _along_order(mean_over_draws(study.plausibilities), study.predictions)
    data = attrs.evolve(
        study, predictions=_along_order(study.predictions), plausibilities=plausibilities
    )
    return _subject(data, methods, source, _split_checks(study, half, options.words), options)


def _sets(
    study: Compared, half: Bools, name: str, table: Mapping[str, object], *, reference: bool = False
) -> MethodSets:
    method = read_methods({name: table})[name].made()
    model, seed = study.predictions, split_seed(study.seed, FIRST)
    tested, rows = [], (half, ~half)
    for test in rows:
        with warnings.catch_warnings():
            # The study warned of the method when it ran.
            warnings.simplefilter("ignore", PlausiblyWarning)
            predictor = method.calibrated(
                model, study.plausibilities, ~test, seed=seed, cluster=study.cluster
            )
        new = as_asked(predictor, model.isel({names.EXAMPLE: test}), split_keys(study.seed, FIRST))
        tested.append(Tested(predictor=predictor, predictions=_along_order(new)))
    return method_sets(name, _along_order(model), tested, rows, study.alphas, reference=reference)


def _split_checks(study: Compared, half: Bools, words: Words) -> list[Check]:
    examples, model, checks, values = words.examples, study.predictions, [], None
    if study.cluster is None:
        for owner in owners(model):
            codes = codes_of(example_values(owner.name, [model]))[1]
            both = np.intersect1d(codes[half], codes[~half]).size
            text = (
                f"{counted(both)} {plural(owner.name)} have {examples} on both sides of a split, "
                f'which makes coverage look higher than it is: set cluster = "{owner.name}".'
            )
            if both:
                title = f"no {owner.name} on both sides"
                checks.append(Check("cluster-on-both-sides", title, BROKEN, text))
    else:
        group, groups = groups_of(model, study.cluster), plural(study.cluster)
        text = f"{counted(group.groups)} {groups} stay whole in every split."
        title = f"no {study.cluster} on both sides"
        checks.append(Check("cluster-on-both-sides", title, HELD, text))
        if group.several and not all(
            clustered_by(table.get("calibrator"), study.cluster) for table in study.methods.values()
        ):
            text = (
                f"{counted(group.several)} of {counted(group.groups)} {groups} have several "
                f"{examples}, which may be alike. Intervals here count {groups}; compare with "
                f'one_per = "{study.cluster}" in [examples].'
            )
            title = f"{examples} of one {study.cluster} are like any others"
            checks.append(Check("cluster-repeats", title, UNCHECKED, text))
        values = example_values(study.cluster, [model])
    first = {names.AUGMENTATION: 0} if names.AUGMENTATION in model.dims else {}
    with warnings.catch_warnings():
        # The report states the copies itself.
        warnings.simplefilter("ignore", PlausiblyWarning)
        copies = warn_of_copies(model.isel(first, drop=True), values)
    text = f"No two {examples} on different sides of a split have exactly the same predictions."
    if copies:
        text = (
            f"{counted(copies)} of {several(half.size, words.example)} have exactly the "
            "predictions of another, and splits separate them: coverage looks higher than it is."
        )
    state = BROKEN if copies else HELD
    return [*checks, Check("examples-alike", f"no copies among {examples}", state, text)]


def _overlap_check(method: MethodSets, words: Words) -> Check:
    title = f"no {words.example} here calibrated the predictor"
    overlap, n = int(method.sets.attrs[OVERLAP]), method.sets.sizes[names.EXAMPLE]
    predictor = method.tested[0].predictor
    if predictor.hashes is None:
        text = "The predictor was saved without the names of its calibration set."
        return Check("overlap", title, UNCHECKED, text)
    if overlap:
        part = f"All {counted(n)}" if overlap == n else f"{counted(overlap)} of {counted(n)}"
        text = f"{part} {words.examples} calibrated the predictor: their coverage is no evidence."
        return Check("evaluated-on-calibration", title, BROKEN, text)
    text = f"None of the {counted(n)} names is in the calibration set of {counted(predictor.n)}."
    return Check("overlap", title, HELD, text)


def _shift_checks(method: MethodSets, words: Words) -> list[Check]:
    tested = method.tested[0]
    if tested.predictor.reference is None or tested.predictor.pools.calibration.claim.weights:
        return []
    shift = shift_test(
        tested.predictor.reference, tested.predictor.largest_scores(tested.predictions)
    )
    title = f"{words.examples} score like the calibration set"
    text = f"Largest scores: KS {shift.distance:.2f}, p {p_value_text(shift.p_value)}."
    if not shift.suspected:
        return [Check("shift", title, HELD, text)]
    return [Check("shift-suspected", title, BROKEN, f"{text} Under a shift nothing is guaranteed.")]


def check_arguments(arguments: Mapping[str, object], wanted: Sequence[str], source: str) -> None:
    for name, value in arguments.items():
        if value is not None and name not in wanted:
            expected = f"some of {', '.join(wanted)}" if wanted else "none of these arguments"
            what = f"{name} has no meaning in a report on {source}"
            raise _unfit(what, expected, name, f"leave {name} out", name)


def _unfit(what: str, expected: str, found: str, hint: str, name: str) -> InputError:
    return InputError(
        "report-argument", what, expected=expected, found=found, hint=hint, source=name
    )


def data(
    predictions: xr.DataArray | Path | str | None,
    annotations: xr.Dataset | Path | str | None,
    plausibilities: Data | None,
) -> tuple[xr.DataArray, xr.Dataset | None, xr.DataArray]:
    answers = annotations if plausibilities is None else plausibilities
    needed = {"predictions": predictions, "annotations or plausibilities": answers}
    for name, value in needed.items():
        if value is None:
            hint = 'write_report(source, "report.html", predictions=..., annotations=...)'
            expected = f"{', and '.join(needed)}, of the same examples"
            raise _unfit(f"the report lacks {name}", expected, "none", hint, name)
    model = read_predictions(predictions) if isinstance(predictions, Path | str) else predictions
    table = read_annotations(annotations) if isinstance(annotations, Path | str) else annotations
    if isinstance(plausibilities, Path | str):
        plausibilities = read_plausibilities(plausibilities)
    unchecked = aggregate(cast("xr.Dataset", table)) if plausibilities is None else plausibilities
    checked = Predictions.from_xarray(cast("xr.DataArray", model)).array
    return checked, table, inputs.as_plausibilities(unchecked)


def compared_results(
    result: xr.Dataset,
    model: xr.DataArray,
    table: xr.Dataset | None,
    plausibilities: xr.DataArray,
    methods: Methods | None,
    by: Sequence[str] | None,
) -> Compared:
    tables: dict[str, dict[str, object]] = json.loads(str(result.attrs["methods"]))
    texts = [str(value) for parameters in tables.values() for value in parameters.values()]
    lacking = methods is None and any("(" in text for text in texts)
    by_name = read_methods(dict(tables) if methods is None else methods)
    if lacking or list(by_name) != list(tables):
        raise _unfit(
            "the report lacks methods" if lacking else "methods are not those that were compared",
            f"{', '.join(tables)}, with their parameters",
            "none" if lacking else ", ".join(by_name),
            "pass the methods that were compared: methods=methods",
            "methods",
        )
    model, plausibilities = _matched(model, plausibilities)
    if model.sizes[names.EXAMPLE] != int(result.attrs["n"]):
        raise InputError(
            "study-changed",
            "these are not the examples that were compared",
            expected=f"{counted(int(result.attrs['n']))} of them",
            found=counted(model.sizes[names.EXAMPLE]),
            hint="pass the predictions and annotations that were compared",
            source="predictions",
        )
    stratify = result.attrs.get("stratify")
    return Compared(
        predictions=model,
        plausibilities=plausibilities,
        annotations=table,
        methods={name: attrs.asdict(method, recurse=False) for name, method in by_name.items()},
        alphas=[str(alpha) for alpha in json.loads(str(result.attrs["alphas"]))],
        cluster=result.attrs.get("cluster"),
        stratify=stratify if stratify in model.coords else None,
        groups=by,
        ties=inputs.check_ties(str(result.attrs["ties"])),
        seed=int(result.attrs["seed"]),
        compared=result,
    )


def finished(path: Path) -> tuple[Prepared, xr.Dataset]:
    ready = None if path.is_dir() else prepare(path)
    folder = path if ready is None else ready.study.output.folder
    lacking = [name for name in (RESULTS, RESOLVED, PREDICTOR) if not (folder / name).exists()]
    if lacking:
        raise InputError(
            "study-unfinished",
            f"{folder} holds no results of a study",
            expected=f"{RESULTS}, {RESOLVED} and {PREDICTOR}",
            found=f"no {lacking[0]}",
            hint=f"plausibly run {'study.toml' if ready is None else path}",
            source=str(folder),
        )
    text = "" if ready is None else resolved_text(ready, folder)
    if ready is None or text != (folder / RESOLVED).read_text(encoding="utf-8"):
        # Another version may write the same study as another text.
        ready = prepare(folder / RESOLVED)
        if text and text != resolved_text(ready, folder):
            raise _changed(path, folder, "another study", "the study")
    result = load_study(folder / RESULTS).data
    with warnings.catch_warnings(), without_plugins(ready.study.plugins.disable):
        # The study warned of it when it ran.
        warnings.simplefilter("ignore", PlausiblyWarning)
        fingerprint = first_predictor(ready).fingerprint
    if load_predictor(folder / PREDICTOR).fingerprint != fingerprint:
        raise _changed(path, folder, "other data", "the files that it names")
    return ready, result


def _changed(path: Path, folder: Path, found: str, what: str) -> InputError:
    run = folder / RESOLVED if path.is_dir() else path
    return InputError(
        "study-changed",
        f"the results in {folder} are of {found}",
        expected=f"{what} as when it ran",
        found=found,
        hint=f"plausibly run {run}, which reports it too",
        source=str(folder),
    )


def study_subject(
    ready: Prepared,
    result: xr.Dataset,
    options: Options,
    *,
    examples: Table = None,
    labels: Table = None,
    by: Sequence[str] | None = None,
) -> Subject:
    study, written = ready.study, ready.study.report
    (what, answers), aggregator = study.answers, study.annotations.aggregator
    anonymous = options.anonymous or written.anonymous
    file = "" if anonymous else _name(study.predictions.path)
    merged = attrs.evolve(
        options,
        title=options.title or written.title or default_title(file),
        words=words_of(written.words, _WORDS) if options.words == Words() else options.words,
        text=options.text or written.text or "",
        thumbnail=options.thumbnail or written.thumbnail or "",
        anonymous=anonymous,
        folder=study.examples.path.parent if study.examples.path else options.folder,
        files={
            what: _name(answers),
            "predictions": _name(study.predictions.path),
            "examples": _name(study.examples.path),
            "labels": _name(study.labels.path),
        },
        aggregator="" if aggregator is None else called(AGGREGATOR, aggregator),
        command="\n".join(filter(None, ["plausibly run resolved.toml", options.command])),
        study=resolved_text(ready, study.output.folder),
    )
    columns = study.evaluation.columns if by is None and examples is None else by
    compared = Compared(
        predictions=with_tables(ready.predictions, examples, labels),
        plausibilities=ready.plausibilities,
        annotations=ready.answers.table,
        methods=methods(ready),
        alphas=[str(alpha) for alpha in study.alphas],
        cluster=study.examples.cluster,
        stratify=study.splits.stratify,
        true_label=study.evaluation.true_label,
        groups=columns,
        ties=study.evaluation.ties,
        seed=study.seed,
        compared=result,
    )
    return subject_of_study(compared, merged, disabled=study.plugins.disable)


def _name(path: Path | None) -> str:
    return "" if path is None else path.name


def default_title(file: str) -> str:
    return f"Prediction sets from {file}" if file else "Prediction sets"


def words_of(words: Mapping[str, str] | None, hint: str = 'words={"example": "nodule"}') -> Words:
    words = words or {}
    known = [field.name for field in attrs.fields(Words)]
    for key in words:
        if key not in known:
            raise InputError(
                "option-unknown",
                f'no word of a report is called "{key}"',
                expected=f"some of {', '.join(known)}",
                found=key,
                hint=hint,
                source="words",
            )
    plurals = {f"{key}s": f"{word}s" for key, word in words.items() if f"{key}s" in known}
    return Words(**{**plurals, **words})
