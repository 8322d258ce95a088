"""Sources of a report: a study that ran, or a predictor with the data that it is reported on."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import attrs
import xarray as xr

from plausibly.config.settings import without_plugins
from plausibly.conformal.inputs import (
    FINGERPRINT,
    GUARANTEES,
    LABEL_ORDER,
    OVERLAP,
    labels_along_order,
)
from plausibly.conformal.load import load_predictor
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names
from plausibly.data.names import name_texts, positions, several
from plausibly.data.plausibilities import mean_over_draws
from plausibly.data.select import select_annotations
from plausibly.data.states import read_left_out, with_left_out
from plausibly.data.validate import Predictions
from plausibly.errors import InputError, PlausiblyWarning, counted
from plausibly.evaluation import inputs
from plausibly.evaluation.design import Methods, as_asked, read_methods
from plausibly.evaluation.shift import shift_test, warn_of_copies
from plausibly.evaluation.splits import Values, split_keys, split_seed
from plausibly.evaluation.study import load_study
from plausibly.io import read_annotations, read_plausibilities, read_predictions
from plausibly.kernels.types import Bools
from plausibly.protocols import AGGREGATOR
from plausibly.registry import called
from plausibly.report.model import BROKEN, HELD, UNCHECKED, Check, Words
from plausibly.report.sections import p_value_text
from plausibly.report.subject import MethodSets, Options, Subject, Table, with_tables
from plausibly.study.prepare import Prepared, groups_of, plural, prepare
from plausibly.study.run import (
    FIRST,
    PREDICTOR,
    RESOLVED,
    RESULTS,
    clustered_by,
    first_predictor,
    first_split,
    methods,
    on_both_sides,
    resolved_text,
)

HALF = 0.5
VOTED = "majority-vote"

Data: TypeAlias = "xr.DataArray | xr.Dataset | Path | str"
Tested: TypeAlias = tuple[ConformalPredictor, xr.DataArray]
Tables: TypeAlias = Mapping[str, Mapping[str, object]]


def method_sets(
    name: str, data: Subject, tested: Sequence[Tested], *, reference: bool = False
) -> MethodSets:
    """Return the sets of one method, of all examples that its predictors were tested on."""
    dims = (names.EXAMPLE, names.LABEL, names.ALPHA)
    parts: list[xr.Dataset] = []
    with warnings.catch_warnings():
        # The report states what the sets warn of.
        warnings.simplefilter("ignore", PlausiblyWarning)
        for predictor, predictions in tested:
            sets = predictor.predict(predictions, list(data.alphas)).transpose(*dims)
            scores = predictor.scores(predictions)
            if scores.ndim > 2:  # bars show one score per label, the mean over augmentations
                scores = scores.mean(axis=0)
            place = positions(predictor.labels, name_texts(sets[names.LABEL].values))
            part = xr.Dataset({"sets": sets, "scores": (dims[:2], scores[:, place])})
            if predictor.has_p_values:
                part["p"] = predictor.p_values(predictions).transpose(*dims[:2]).variable
            parts.append(part)
    # The weakest guarantee holds for all predictors.
    guarantees = [
        min(
            (predictor.guarantee(alpha) for predictor, _ in tested),
            key=lambda claim: (
                claim.level is not None,
                claim.level or 0,
                not claim.vacuous,
                claim.has,
            ),
        )
        for alpha in data.alphas
    ]
    whole = xr.concat(
        parts,
        names.EXAMPLE,
        data_vars="all",
        coords="different",
        compat="equals",
        join="exact",
        combine_attrs="drop",
    ).sel({names.EXAMPLE: data.predictions[names.EXAMPLE].values})
    attributes = {
        GUARANTEES: json.dumps([guarantee.to_json() for guarantee in guarantees]),
        FINGERPRINT: " ".join(predictor.fingerprint for predictor, _ in tested),
        OVERLAP: sum(int(part["sets"].attrs[OVERLAP]) for part in parts),
        LABEL_ORDER: parts[0]["sets"].attrs[LABEL_ORDER],
    }
    sets = whole["sets"].assign_attrs(attributes)
    return MethodSets(
        name=name,
        reference=reference,
        tested=tested,
        sets=with_left_out(sets, read_left_out(data.predictions.attrs)),
        p=whole["p"].values if "p" in whole else None,
        scores=whole["scores"].values,
        guarantees=guarantees,
    )


def subject_of_predictor(
    predictor: ConformalPredictor, data: Subject, *, only_common: bool = False
) -> Subject:
    data = _matched(data, only_common=only_common)
    model = _along_order(data.predictions)
    plausibilities = _along_order(data.plausibilities, model)
    data = attrs.evolve(data, predictions=model, plausibilities=plausibilities)
    name = f"{predictor.metadata.calibrator}, {predictor.metadata.combiner}"
    method = method_sets(name, data, [(predictor, model)])
    source = f"One predictor, calibrated on {several(predictor.n, 'example')}."
    return _completed(data, [method], source, _predictor_checks(method, data.words))


def _completed(
    data: Subject, methods: Sequence[MethodSets], source: str, checks: Sequence[Check]
) -> Subject:
    """Return a subject with its sets and checks; of several augmentations bars show the mean."""
    nouns = data.words.examples
    resemble = (
        f"The guarantee holds for {nouns} of the same origin, in no particular order. Checks can "
        "show that this is not so; none can show that it is."
    )
    title = f"new {nouns} resemble the calibration set"
    exchangeable = Check("exchangeable", title, UNCHECKED, resemble)
    trained = (
        f"A model is more certain on {nouns} that it was trained on. The predictions must come "
        "from a model that was trained on others, or on the other folds."
    )
    title = f"the model was trained on none of these {nouns}"
    checks = [*checks, exchangeable, Check("model-saw-none", title, UNCHECKED, trained)]
    model, table = data.predictions, data.annotations
    if names.AUGMENTATION in model.dims:
        model = model.mean(names.AUGMENTATION, keep_attrs=True)
    if table is not None:
        answered = {*name_texts(table.indexes[names.EXAMPLE])}.intersection(data.known_names)
        table = select_annotations(table, example=sorted(answered))
    return attrs.evolve(
        data, predictions=model, annotations=table, methods=methods, source=source, checks=checks
    )


def _matched(data: Subject, *, only_common: bool = False) -> Subject:
    """Return the data with the same labels and examples, in the order of their names."""
    pair = inputs.matched(data.predictions, data.plausibilities, only_common)
    model, plausibilities = (array.sortby(names.EXAMPLE) for array in pair)
    return attrs.evolve(data, predictions=model, plausibilities=plausibilities)


def _along_order(array: xr.DataArray, source: xr.DataArray | None = None) -> xr.DataArray:
    order = labels_along_order([array if source is None else source])
    return array if order is None else array.sel({names.LABEL: order})


def subject_of_study(study: Subject, tables: Tables, *, disabled: Sequence[str] = ()) -> Subject:
    """Return the subject of a study: each half of the examples is calibrated on the other."""
    half, groups = first_split(study.predictions, study.seed, HALF, study.cluster, study.stratify)
    with without_plugins(tuple(disabled)):
        methods = [_sets(study, half, name, table) for name, table in tables.items()]
        targets = {guarantee.target for method in methods for guarantee in method.guarantees}
        if "majority-vote" not in targets:
            score = next(iter(tables.values())).get("score", "probability")
            name = VOTED if VOTED not in tables else "calibrated on majority votes"
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
    checks = _split_checks(study, half, groups, tables)
    plausibilities = _along_order(mean_over_draws(study.plausibilities), study.predictions)
    model = _along_order(study.predictions)
    study = attrs.evolve(study, predictions=model, plausibilities=plausibilities)
    return _completed(study, methods, source, checks)


def _sets(
    study: Subject, half: Bools, name: str, table: Mapping[str, object], *, reference: bool = False
) -> MethodSets:
    method = read_methods({name: table})[name].made()
    model, seed = study.predictions, split_seed(study.seed, FIRST)
    tested = []
    for test in (half, ~half):
        with warnings.catch_warnings():
            # The study warned of the method when it ran.
            warnings.simplefilter("ignore", PlausiblyWarning)
            predictor = method.calibrated(
                model, study.plausibilities, ~test, seed=seed, cluster=study.cluster
            )
        new = as_asked(predictor, model.isel({names.EXAMPLE: test}), split_keys(study.seed, FIRST))
        tested.append((predictor, _along_order(new)))
    return method_sets(name, study, tested, reference=reference)


def _split_checks(
    study: Subject, half: Bools, clusters: Values | None, tables: Tables
) -> list[Check]:
    words, model, cluster = study.words, study.predictions, study.cluster
    examples, checks = words.examples, []
    if cluster is None:
        for owner, both, _ in on_both_sides(model, half):
            text = (
                f"{counted(both)} {plural(owner.name)} have {examples} on both sides of a split, "
                f'which makes coverage look higher than it is: set cluster = "{owner.name}".'
            )
            title = f"no {owner.name} on both sides"
            checks.append(Check("cluster-on-both-sides", title, BROKEN, text))
    else:
        group, groups = groups_of(model, cluster), plural(cluster)
        text = f"{counted(group.groups)} {groups} stay whole in every split."
        title = f"no {cluster} on both sides"
        checks.append(Check("cluster-on-both-sides", title, HELD, text))
        clustered = (clustered_by(table.get("calibrator"), cluster) for table in tables.values())
        if group.several and not all(clustered):
            text = (
                f"{counted(group.several)} of {counted(group.groups)} {groups} have several "
                f"{examples}, which may be alike. Intervals here count {groups}; compare with "
                f'one_per = "{cluster}" in [examples].'
            )
            title = f"{examples} of one {cluster} are like any others"
            checks.append(Check("cluster-repeats", title, UNCHECKED, text))
    with warnings.catch_warnings():
        # The report states the copies itself.
        warnings.simplefilter("ignore", PlausiblyWarning)
        copies = warn_of_copies(model, clusters)
    text = f"No two {examples} on different sides of a split have exactly the same predictions."
    if copies:
        text = (
            f"{counted(copies)} of {several(half.size, words.example)} have exactly the "
            "predictions of another, and splits separate them: coverage looks higher than it is."
        )
    state = BROKEN if copies else HELD
    return [*checks, Check("examples-alike", f"no copies among {examples}", state, text)]


def _predictor_checks(method: MethodSets, words: Words) -> list[Check]:
    predictor, predictions = method.tested[0]
    overlap, n = int(method.sets.attrs[OVERLAP]), method.sets.sizes[names.EXAMPLE]
    name, state = "overlap", HELD
    text = f"None of the {counted(n)} names is in the calibration set of {counted(predictor.n)}."
    if predictor.hashes is None:
        state = UNCHECKED
        text = "The predictor was saved without the names of its calibration set."
    elif overlap:
        name, state = "evaluated-on-calibration", BROKEN
        part = f"All {counted(n)}" if overlap == n else f"{counted(overlap)} of {counted(n)}"
        text = f"{part} {words.examples} calibrated the predictor: their coverage is no evidence."
    checks = [Check(name, f"no {words.example} here calibrated the predictor", state, text)]
    if predictor.reference is not None and not predictor.pools.calibration.claim.weights:
        shift = shift_test(predictor.reference, predictor.largest_scores(predictions))
        title = f"{words.examples} score like the calibration set"
        text = f"Largest scores: KS {shift.distance:.2f}, p {p_value_text(shift.p_value)}."
        if shift.suspected:
            text += " Under a shift nothing is guaranteed."
        name, state = ("shift-suspected", BROKEN) if shift.suspected else ("shift", HELD)
        checks.append(Check(name, title, state, text))
    return checks


def unfit(argument: str, what: str, expected: str, hint: str) -> InputError:
    return InputError(
        "report-argument", what, expected=expected, found=argument, hint=hint, source=argument
    )


def read_data(
    predictions: xr.DataArray | Path | str | None,
    annotations: xr.Dataset | Path | str | None,
    plausibilities: Data | None,
) -> tuple[xr.DataArray, xr.Dataset | None, xr.DataArray]:
    table = read_annotations(annotations) if isinstance(annotations, Path | str) else annotations
    if isinstance(plausibilities, Path | str):
        plausibilities = read_plausibilities(plausibilities)
    answers = table if plausibilities is None else plausibilities
    model = read_predictions(predictions) if isinstance(predictions, Path | str) else predictions
    if model is None or answers is None:
        missing = "predictions" if model is None else "annotations or plausibilities"
        raise unfit(
            missing,
            f"the report lacks {missing}",
            "predictions, and annotations or plausibilities, of the same examples",
            'write_report(source, "report.html", predictions=..., annotations=...)',
        )
    return Predictions.from_xarray(model).array, table, inputs.as_plausibilities(answers)


def subject_of_comparison(result: xr.Dataset, data: Subject, methods: Methods | None) -> Subject:
    """Return the subject of the result of `compare`, from the data that were compared."""
    tables: dict[str, dict[str, object]] = json.loads(str(result.attrs["methods"]))
    texts = [str(value) for parameters in tables.values() for value in parameters.values()]
    lacking = methods is None and any("(" in text for text in texts)
    by_name = read_methods(dict(tables) if methods is None else methods)
    if lacking or list(by_name) != list(tables):
        raise unfit(
            "methods",
            "methods are not those that were compared",
            f"{', '.join(tables)}, with their parameters",
            "pass the methods that were compared: methods=methods",
        )
    study = _matched(data)
    if study.n != int(result.attrs["n"]):
        raise InputError(
            "study-changed",
            "these are not the examples that were compared",
            expected=f"{counted(int(result.attrs['n']))} of them",
            found=counted(study.n),
            hint="pass the predictions and annotations that were compared",
            source="predictions",
        )
    stratify = result.attrs.get("stratify")
    study = attrs.evolve(
        study,
        alphas=[str(alpha) for alpha in json.loads(str(result.attrs["alphas"]))],
        cluster=result.attrs.get("cluster"),
        stratify=stratify if stratify in study.predictions.coords else None,
        ties=result.attrs["ties"],
        seed=int(result.attrs["seed"]),
        compared=result,
    )
    chosen = {name: attrs.asdict(method, recurse=False) for name, method in by_name.items()}
    return subject_of_study(study, chosen)


def finished(path: Path) -> tuple[Prepared, xr.Dataset]:
    """Return a study that ran, and its results, which must be those of its file and data."""
    source = None if path.is_dir() else prepare(path)
    folder = path if source is None else source.study.output.folder
    lacking = [name for name in (RESULTS, RESOLVED, PREDICTOR) if not (folder / name).exists()]
    if lacking:
        raise InputError(
            "study-unfinished",
            f"{folder} holds no results of a study",
            expected=f"{RESULTS}, {RESOLVED} and {PREDICTOR}",
            found=f"no {lacking[0]}",
            hint=f"plausibly run {'study.toml' if source is None else path}",
            source=str(folder),
        )
    ready = prepare(folder / RESOLVED)
    changed = ""
    if source is not None and resolved_text(source, folder) != resolved_text(ready, folder):
        changed = "another study"
    else:
        with warnings.catch_warnings(), without_plugins(ready.study.plugins.disable):
            # The study warned of it when it ran.
            warnings.simplefilter("ignore", PlausiblyWarning)
            fingerprint = first_predictor(ready).fingerprint
        if load_predictor(folder / PREDICTOR).fingerprint != fingerprint:
            changed = "other data"
    if changed:
        run = folder / RESOLVED if source is None else path
        raise InputError(
            "study-changed",
            f"the results in {folder} are of {changed}",
            expected="the study and the files that it names as when it ran",
            found=changed,
            hint=f"plausibly run {run}, which reports it too",
            source=str(folder),
        )
    return ready, load_study(folder / RESULTS).data


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
    files = {
        what: answers,
        "predictions": study.predictions.path,
        "examples": study.examples.path,
        "labels": study.labels.path,
    }
    named = {title: "" if path is None else path.name for title, path in files.items()}
    anonymous = options.anonymous or written.anonymous
    title = default_title("" if anonymous else named["predictions"])
    merged = attrs.evolve(
        options,
        title=options.title or written.title or title,
        words=words_of(written.words) if options.words == Words() else options.words,
        text=options.text or written.text or "",
        thumbnail=options.thumbnail or written.thumbnail or "",
        anonymous=anonymous,
        folder=study.examples.path.parent if study.examples.path else options.folder,
        files=named,
        aggregator="" if aggregator is None else called(AGGREGATOR, aggregator),
        command="\n".join(filter(None, ["plausibly run resolved.toml", options.command])),
        study=resolved_text(ready, study.output.folder),
    )
    data = Subject(
        predictions=with_tables(ready.predictions, examples, labels),
        plausibilities=ready.plausibilities,
        annotations=ready.answers.table,
        alphas=[str(alpha) for alpha in study.alphas],
        options=merged,
        cluster=study.examples.cluster,
        stratify=study.splits.stratify,
        true_label=study.evaluation.true_label,
        groups=study.evaluation.columns if by is None and examples is None else by,
        ties=study.evaluation.ties,
        seed=study.seed,
        compared=result,
    )
    return subject_of_study(data, methods(ready), disabled=study.plugins.disable)


def default_title(file: str) -> str:
    return f"Prediction sets from {file}" if file else "Prediction sets"


def words_of(words: Mapping[str, str] | None) -> Words:
    words = words or {}
    known = [field.name for field in attrs.fields(Words)]
    for key in words:
        if key not in known:
            raise InputError(
                "option-unknown",
                f'no word of a report is called "{key}"',
                expected=f"some of {', '.join(known)}",
                found=key,
                hint='words={"example": "nodule"}',
                source="words",
            )
    plurals = {f"{key}s": f"{word}s" for key, word in words.items() if f"{key}s" in known}
    return Words(**{**plurals, **words})
