"""The subject of a report on a study: what ran, on which data, and sets for every example."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence

import attrs
import numpy as np
import xarray as xr

from plausibly.config.study import without_plugins
from plausibly.conformal.calibrate import calibrate
from plausibly.conformal.components import called
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names
from plausibly.data.annotations import rebuilt
from plausibly.data.names import name_texts, several, text_array
from plausibly.data.validate import mean_over_draws
from plausibly.errors import InputError, PlausiblyWarning, counted
from plausibly.evaluation.design import Method
from plausibly.evaluation.inputs import codes_of, example_values
from plausibly.evaluation.shift import warn_of_copies
from plausibly.evaluation.splits import split_seed
from plausibly.kernels.coverage import Ties
from plausibly.kernels.types import Bools
from plausibly.protocols import AGGREGATOR
from plausibly.report import options as chosen
from plausibly.report.believing import exchangeable
from plausibly.report.crossing import FIRST, crossed, halves
from plausibly.report.facts import BROKEN, HELD, UNCHECKED, Check
from plausibly.report.options import Options
from plausibly.report.parting import selected
from plausibly.report.subject import MethodSets, Subject
from plausibly.study.assumptions import grouped_by
from plausibly.study.coordinates import groups_of, owners, plural
from plausibly.study.prepare import Prepared
from plausibly.study.run import methods

VOTED = "voted"


@attrs.frozen(kw_only=True, eq=False)
class Compared:
    """A study, from a file or from `plausibly.compare`, with its data.

    Attributes
    ----------
    predictions : DataArray, ([augmentation,] example, label)
        Examples in the order of their names.
    plausibilities : DataArray, ([draw,] example, label)
        Of the same examples and labels, in the same order.
    annotations : Dataset or None
    methods : mapping of str to mapping
        Arguments of `plausibly.calibrate` by name of the method.
    alphas : sequence of str
    group, stratify, true : str or None
        Coordinates.
    by : sequence of str, or None
    ties : str
    seed : int
    result : Dataset or None
        From `plausibly.compare`.
    """

    predictions: xr.DataArray
    plausibilities: xr.DataArray
    annotations: xr.Dataset | None
    methods: Mapping[str, Mapping[str, object]]
    alphas: Sequence[str]
    group: str | None
    stratify: str | None
    true: str | None
    by: Sequence[str] | None
    ties: Ties
    seed: int
    result: xr.Dataset | None


def compared(ready: Prepared, result: xr.Dataset | None) -> Compared:
    """Return a study from its file.

    Parameters
    ----------
    ready : Prepared
    result : Dataset or None
    """
    study = ready.study
    table = ready.annotations
    part = study.annotations
    if table is not None and part is not None and (part.strip or part.rename):
        rename = part.rename or {}
        given = name_texts(table.indexes[names.LABEL])
        stripped = [label.strip() if part.strip else label for label in given]
        labels = text_array([rename.get(label, label) for label in stripped])
        table = rebuilt(table.assign_coords({names.LABEL: (names.LABEL, labels)}))
    return Compared(
        predictions=ready.predictions,
        plausibilities=ready.plausibilities,
        annotations=table,
        methods=methods(ready),
        alphas=[str(alpha) for alpha in study.alphas],
        group=study.splits.group,
        stratify=study.splits.stratify,
        true=study.evaluation.true,
        by=study.evaluation.by,
        ties=study.evaluation.ties,
        seed=study.seed,
        result=result,
    )


def study_facts(ready: Prepared) -> list[tuple[str, str]]:
    """Return what the report tells of the data of a study."""
    study = ready.study
    given = study.annotations or study.plausibilities
    what = "annotations" if study.annotations else "plausibilities"
    rows = {
        what: given.path.name if given else "",
        "predictions": study.predictions.path.name,
        "examples": study.examples.path.name if study.examples.path else "",
        "labels": study.labels.path.name if study.labels else "",
    }
    if study.aggregator is not None:
        rows["aggregator"] = called(AGGREGATOR, study.aggregator)
    return chosen.facts_of(rows)


def subject_of(
    one: Compared,
    options: Options,
    *,
    disabled: Sequence[str] = (),
    facts: Sequence[tuple[str, str]] = (),
    command: str = "",
    study: str = "",
) -> Subject:
    """Return the subject of a report on a study: sets for every example.

    Parameters
    ----------
    one : Compared
    options : Options
    disabled : sequence of str
        Plugins to do without.
    facts : sequence of (title, text)
    command, study : str
        See `Provenance`.
    """
    model = one.predictions
    half = halves(model, seed=one.seed, group=one.group, stratify=one.stratify)
    with without_plugins(tuple(disabled)):
        made = [_sets(one, half, name, table) for name, table in one.methods.items()]
        reference = _reference(one, half, made)
    plane = _plane(model)
    lam = mean_over_draws(one.plausibilities)
    table = one.annotations
    examples = name_texts(plane[names.EXAMPLE].values)
    apart = (one.group, one.stratify, one.true, options.text, options.thumbnail)
    return Subject(
        predictions=plane,
        plausibilities=lam,
        annotations=None if table is None else selected(table, examples),
        risk=chosen.risks(plane, lam),
        methods=[*made, *([] if reference is None else [reference])],
        alphas=one.alphas,
        by=chosen.grouping(plane, one.by, apart),
        cluster=one.group,
        true=one.true,
        ties=one.ties,
        seed=one.seed,
        how=_how(half, one),
        compared=one.result,
        checks=_checks(one, half, options),
        words=options.words,
        title=options.title,
        command=command,
        study=study,
        facts=facts,
        text=chosen.texts(plane, options),
        thumbnail=chosen.pictures(plane, options),
        annotator_names=options.annotator_names,
    )


def _plane(model: xr.DataArray) -> xr.DataArray:
    """Return predictions (example, label): of several augmentations the mean."""
    if names.AUGMENTATION not in model.dims:
        return model
    return model.mean(names.AUGMENTATION, keep_attrs=True)


def _sets(
    one: Compared,
    half: Bools,
    name: str,
    table: Mapping[str, object],
    *,
    reference: bool = False,
) -> MethodSets:
    return crossed(
        name,
        one.predictions,
        half,
        _calibration(one, table),
        alphas=one.alphas,
        seed=one.seed,
        reference=reference,
    )


def _calibration(
    one: Compared, table: Mapping[str, object]
) -> Callable[[Bools], ConformalPredictor]:
    """Return what calibrates a method on some of the examples, as the study's first split does."""
    call: Callable[..., ConformalPredictor] = calibrate  # it checks each argument by name
    method = attrs.asdict(Method(**table), recurse=False)  # type: ignore[arg-type]  # as there
    asked = {key: value for key, value in method.items() if value is not None}

    def calibrated(which: Bools) -> ConformalPredictor:
        return call(
            one.predictions.isel({names.EXAMPLE: which}),
            one.plausibilities.isel({names.EXAMPLE: which}),
            seed=split_seed(one.seed, FIRST),
            group=one.group,
            **asked,
        )

    return calibrated


def _reference(one: Compared, half: Bools, made: Sequence[MethodSets]) -> MethodSets | None:
    """Return sets calibrated on votes, to compare with, where the study has none."""
    if any(promise.target == "voted" for method in made for promise in method.promises):
        return None
    first = next(iter(one.methods.values()))
    table = {"calibrator": VOTED, "score": first.get("score", "probability")}
    name = VOTED if VOTED not in one.methods else "calibrated on votes"
    try:
        return _sets(one, half, name, table, reference=True)
    except InputError:  # no method of votes for such data, as for several augmentations
        return None


def _how(half: Bools, one: Compared) -> str:
    by = f" of whole {plural(one.group)}" if one.group else ""
    return (
        f"Every example has a set. The examples were cut into two random halves{by}, as in split "
        f"{FIRST} of a study of halves with seed {one.seed}: {counted(int(half.sum()))} and "
        f"{counted(int((~half).sum()))}. The sets of each half are by a predictor that was "
        "calibrated on the other half. P-values are looked at in the first half."
    )


def _checks(one: Compared, half: Bools, options: Options) -> list[Check]:
    """Return what can be checked of the examples, and what nobody can check."""
    examples = options.words.examples
    model = _plane(one.predictions)
    found = [
        Check(
            name="example-twice",
            title=f"no {options.words.example} twice",
            state=HELD,
            words=f"All {counted(half.size)} names are different.",
        )
    ]
    found += _groups(one, model, half, examples)
    groups = None if one.group is None else example_values(one.group, [model])
    rows = one.predictions
    if names.AUGMENTATION in rows.dims:
        rows = rows.isel({names.AUGMENTATION: 0}, drop=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        copies = warn_of_copies(rows, groups)
    words = f"No two {examples} that splits may part have exactly the same predictions."
    if copies:
        words = (
            f"{counted(copies)} of {several(half.size, options.words.example)} have exactly the "
            "predictions of another, and splits part them: shared ones flatter coverage."
        )
    found.append(
        Check(
            name="examples-alike",
            title=f"no copies among {examples}",
            state=BROKEN if copies else HELD,
            words=words,
        )
    )
    return [*found, *exchangeable(options.words)]


def _groups(one: Compared, model: xr.DataArray, half: Bools, examples: str) -> list[Check]:
    """Return whether examples that belong together stand on two sides, or repeat on one."""
    if one.group is None:
        found = []
        for group in owners(model):
            codes = codes_of(example_values(group.name, [model]))[1]
            both = np.intersect1d(codes[half], codes[~half]).size
            if both:
                found.append(
                    Check(
                        name="group-on-both-sides",
                        title=f"no {group.name} on both sides",
                        state=BROKEN,
                        words=f"{counted(both)} {plural(group.name)} have {examples} on both sides "
                        f'of a split, which flatters coverage: [splits] group = "{group.name}".',
                    )
                )
        return found
    group = groups_of(model, one.group)
    found = [
        Check(
            name="group-on-both-sides",
            title=f"no {one.group} on both sides",
            state=HELD,
            words=f"{counted(group.groups)} {plural(one.group)} stay whole in every split.",
        )
    ]
    if group.several and not all(
        grouped_by(table.get("calibrator"), one.group) for table in one.methods.values()
    ):
        found.append(
            Check(
                name="group-repeats",
                title=f"{examples} of one {one.group} are like any others",
                state=UNCHECKED,
                words=f"{counted(group.several)} of {counted(group.groups)} {plural(one.group)} "
                f"have several {examples}, which may be alike. Intervals here count "
                f'{plural(one.group)}; compare with [examples] one_per = "{one.group}".',
            )
        )
    return found
