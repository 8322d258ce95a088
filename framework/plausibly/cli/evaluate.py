"""``plausibly evaluate``: coverage and size of prediction sets on new examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import attrs

from plausibly.cli import options
from plausibly.cli.output import CheckFailed, Output
from plausibly.config.load import Draft

if TYPE_CHECKING:
    import xarray as xr

    from plausibly.config.settings import Settings
    from plausibly.conformal.predictor import ConformalPredictor

FLAGS = {
    "Files": "SETS -a -e -p --plausibilities --labels --predictor",
    "Format of the annotations": f"{options.FORMAT} --aggregator",
    "Measures": "--by --cluster --true-label --fail-under --seed",
}
KEYS = options.NEW
ABOUT = {"-p": "To measure where the model is in doubt."}
CHUNKED = True
_SLACK = 1e-9  # tolerance for means of decimals, such as 0.1 + 0.7

_SUBGROUPS = ("by", "compared", "left_out_subgroups", "at_least", "note")


def evaluate(output: Output, loaded: Draft) -> None:
    r"""Measure coverage and size of prediction sets.

    plausibly evaluate sets.csv -a new_votes.csv
    plausibly evaluate sets.csv -a new_votes.csv -e patients.csv --by site \
      --cluster patient
    plausibly evaluate sets.csv -a new_votes.csv --by set-size --by label
    plausibly evaluate sets.csv -a new_votes.csv --fail-under 0.89 --json
    """
    import warnings

    from plausibly.cli import layout
    from plausibly.config.settings import Examples
    from plausibly.conformal.load import load_predictor
    from plausibly.data.names import ALPHA
    from plausibly.errors import PlausiblyWarning
    from plausibly.evaluation.evaluation import evaluate as evaluated
    from plausibly.evaluation.groups import describe_coverage
    from plausibly.evaluation.result import AGGREGATED, decimal, ends, figures, part_rows, planes
    from plausibly.evaluation.uniformity import describe_uniformity
    from plausibly.io import read_sets, with_coordinates
    from plausibly.study import reading

    options.check_answers(loaded, new=True)
    if loaded.settings.evaluation.risk is not None:
        options.require(loaded, "evaluate", "labels.path", "--labels")
    settings = loaded.settings.on_new_examples()
    path, chunks, measure = settings.output.sets, settings.compute.chunks, settings.evaluation
    with output.working("reading files"):
        sets = read_sets(path, chunks=chunks)
        if (examples := reading.read_examples_of(settings)) is not None:
            sets = with_coordinates(sets, examples)
        with reading.telling_of_swaps(settings):
            answers = reading.read_answers(settings, declared=reading.label_names(sets))
        reading.check_renames(settings.labels, answers)
        sets, plausibilities, left_out = reading.matched(settings, sets, answers, path.name)
        predictions = predictor = None
        # A settings file names them for predict too: people see more measures on demand only.
        wanted = output.json or "new.predictions" in loaded.typed
        if wanted and settings.predictions.path is not None:
            if loaded.has("output.predictor"):
                predictor = load_predictor(settings.output.predictor)
            # Coordinates of the examples are known of the sets.
            alone = attrs.evolve(settings, examples=Examples())
            model = reading.read_model(alone, predictor=predictor)
            predictions = model.predictions
            reading.check_renames(settings.labels, model)
        elif "output.predictor" in loaded.typed:
            options.require(loaded, "evaluate", "new.predictions", "--predictions -p")
    with output.working("evaluating") as tick, options.counting(chunks, tick):
        evaluation = evaluated(
            sets,
            plausibilities,
            ties=measure.ties,
            true_label=measure.true_label,
            by=measure.columns[0] if measure.columns else None,
            cluster=settings.examples.cluster,
            interval=measure.interval,
            seed=settings.seed,
        )
        with warnings.catch_warnings():
            # The same sets were warned of already.
            warnings.simplefilter("ignore", PlausiblyWarning)
            confidence = float(evaluation.data.attrs["confidence"])
            parts = list(_parts(settings, sets, plausibilities, predictions, predictor, confidence))
    output.document |= {
        "sets": path,
        answers.what: answers.facts,
        "aggregator": answers.component,
        **evaluation.to_json(),
    }
    texts = []
    for name, part, dim, about in parts:
        facts = {key: part.attrs[key] for key in about if key in part.attrs}
        output.document[name] = {**facts, "rows": part_rows(part, dim)}
        describe = describe_uniformity if name == "p_values" else describe_coverage
        texts.append("\n".join(describe(part)))
    output.document["left_out"] = left_out
    method = [choice for choice in answers.chosen if not choice[2]]
    brief = answers.text
    if answers.table is not None:
        brief = reading.summary_of(answers.table, answers.source, brief=True)
    shown = [(answers.what, brief), ("left out", layout.counts(left_out))]
    before = layout.fields([*shown, ("method", layout.choices(method))])
    following: tuple[object, ...] = ("plausibly", "report")
    if not options.found_without_flags(loaded, "new.predictions"):
        made = settings.output.predictor if loaded.has("output.predictor") else "PREDICTOR"
        flag = "-a" if answers.table is not None else "--plausibilities"
        files = ("--predictor", made, "-p", "NEW", flag, answers.path)
        following = (*following, *files, *options.examples_of_groups(loaded))
    after = layout.fields([("next       ", following)])
    block = "\n".join([before, *evaluation.lines(), *([] if texts else [after])])
    output.show("\n\n".join([block, *texts, *([after] if texts else [])]))
    if measure.fail_under is None:
        return
    for plane in planes(evaluation.data):
        alpha = float(plane[ALPHA])
        mean, low, high = figures(plane, AGGREGATED)
        if mean < measure.fail_under - _SLACK:
            raise CheckFailed(
                "coverage-below",
                f"{path.name}: at alpha {alpha:g} the sets cover {decimal(mean)} of the answers",
                expected=f"{measure.fail_under:g} or more (--fail-under)",
                found=f"{mean:.5g}, interval {ends(low, high)}",
                hint="calibrate again on recent data, or look for weak groups with --by",
                source=path.name,
                details={"alpha": alpha, "mean": mean, "low": low, "high": high},
            )


def _parts(
    settings: Settings,
    sets: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    predictions: xr.DataArray | None,
    predictor: ConformalPredictor | None,
    confidence: float,
) -> Iterator[tuple[str, xr.Dataset, str | None, tuple[str, ...]]]:
    """Yield name, results, their dimension, and the attributes for JSON, as they are printed."""
    from functools import partial

    from plausibly.cli.guarantee import of_new
    from plausibly.data.names import EXAMPLE, LABEL
    from plausibly.data.plausibilities import Plausibilities
    from plausibly.evaluation import groups
    from plausibly.evaluation.groups import LEVEL, entropy, label_coordinate
    from plausibly.evaluation.inputs import example_values
    from plausibly.evaluation.slab import worst_slab_coverage
    from plausibly.evaluation.uniformity import OF, p_value_uniformity
    from plausibly.io import read_labels

    measure, cluster = settings.evaluation, settings.examples.cluster
    shared: dict[str, Any] = {  # Any: each argument has its own type
        "cluster": cluster,
        "confidence": confidence,
        "seed": settings.seed,
    }
    interval = measure.interval
    grouped = partial(
        groups.coverage_by, sets, plausibilities, ties=measure.ties, interval=interval, **shared
    )
    for name in dict.fromkeys(measure.by or ()):
        if ":" in name:
            columns = name.split(":")
            crossed = groups.ByCoordinate(*columns, crossed=len(columns), at_least=measure.at_least)
            yield "subgroups", grouped(by=crossed), groups.SUBGROUP, _SUBGROUPS
        elif name == "ambiguity":
            of = entropy(plausibilities).rename("entropy of the plausibilities")
            strata = grouped(by=groups.ByRange(of, quantiles=3))
            yield "by_entropy", strata, groups.STRATUM, ("of",)
        elif name == "set-size":
            yield "by_size", grouped(by=name), groups.SIZE, ()
        elif name == "label":
            yield "by_label", grouped(by=name), LABEL, ()
        elif name in (measure.columns or ())[1:]:
            values = groups.ByCoordinate(name, crossed=1, at_least=1)
            yield f"by_{name}", grouped(by=values), groups.SUBGROUP, _SUBGROUPS
    if measure.risk is not None and settings.labels.path is not None:
        levels = label_coordinate(measure.risk, [read_labels(settings.labels.path)])
        by_risk = grouped(by=groups.ByRisk(levels)).assign_attrs(risk=measure.risk)
        yield "by_risk", by_risk, LEVEL, ("risk",)
    if predictions is None:
        return
    of = entropy(predictions).rename("entropy of the predictions")
    halves = grouped(by=groups.ByRange(of, quantiles=2))
    yield "by_predicted_entropy", halves, groups.STRATUM, ("of",)
    slab = worst_slab_coverage(sets, plausibilities, predictions, interval=interval, **shared)
    yield "worst_slab", slab, None, ("least", "directions", "search")
    if predictor is None:
        return
    # Columns about the examples are coordinates of the sets: the same examples, by name.
    aligned = predictions.sel({EXAMPLE: sets[EXAMPLE].values})
    about = Plausibilities.of(plausibilities).about
    for column in (measure.true_label, cluster, *of_new(predictor)):
        if column is not None:
            known = example_values(column, (sets, about))
            aligned = aligned.assign_coords({column: (EXAMPLE, known)})
    true = measure.true_label
    p_values = p_value_uniformity(
        predictor, aligned, plausibilities, true_label=true, interval_method=interval, **shared
    )
    yield "p_values", p_values, OF, ("n_calibration", "grid", "fingerprint")
