"""``plausibly evaluate``: coverage and size of prediction sets on new examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plausibly.cli import chunks as chunking, options
from plausibly.cli.output import CheckFailed, Output
from plausibly.config.load import Draft

if TYPE_CHECKING:
    import xarray as xr

HELP = "Measure coverage and size of prediction sets."
EXAMPLES = """\b
Examples:
  plausibly evaluate sets.csv -a new_votes.csv
  plausibly evaluate sets.csv -a new_votes.csv -e patients.csv --by site \\
    --cluster patient
  plausibly evaluate sets.csv -a new_votes.csv --by set-size --by label
  plausibly evaluate sets.csv -a new_votes.csv --fail-under 0.89 --json
"""
FLAGS = {
    "Files": (
        options.Flag("SETS", "output.sets", "SETS"),
        options.NEW_ANNOTATIONS,
        options.NEW_EXAMPLES,
        options.NEW_PREDICTIONS,
        options.NEW_PLAUSIBILITIES,
        options.LABELS,
        options.PREDICTOR,
    ),
    "Format of the annotations": (*options.FORMAT, options.AGGREGATOR),
    "Measures": (
        options.BY,
        options.CLUSTER,
        options.TRUE_LABEL,
        options.Flag("--fail-under", "evaluation.fail_under", "SHARE"),
        options.SEED,
    ),
}
CHUNKED = True
_SLACK = 1e-9  # a mean of tenths is a tenth, whatever its last bit says


def evaluate(output: Output, loaded: Draft) -> None:
    """Declare ``plausibly evaluate``."""
    import warnings

    from plausibly.cli import evaluate_parts, layout
    from plausibly.errors import PlausiblyWarning
    from plausibly.evaluation.evaluate import evaluate as evaluated
    from plausibly.evaluation.groups import describe_coverage
    from plausibly.evaluation.result import part_rows
    from plausibly.evaluation.uniformity import describe_uniformity
    from plausibly.io import read_sets, with_coordinates
    from plausibly.study.reading import (
        check_renames,
        label_names,
        matched,
        read_answers,
        read_examples_of,
        telling_of_swaps,
    )

    options.check_answers(loaded, new=True)
    settings = loaded.settings.on_new_examples()
    path, labels, chunks = settings.output.sets, settings.labels.path, settings.compute.chunks
    with output.working(f"reading {path.name}"):
        sets = read_sets(path, chunks=chunks)
        if (examples := read_examples_of(settings)) is not None:
            sets = with_coordinates(sets, examples)
    with telling_of_swaps(settings):
        answers = read_answers(
            settings, labels=labels, declared=label_names(sets), working=output.working
        )
    check_renames(settings.labels, answers.unknown, labels=label_names(sets))
    sets, lam, left_out = matched(settings, sets, answers, path.name)
    predictions, predictor = evaluate_parts.read_for_parts(loaded, output)
    measure = settings.evaluation
    by = measure.columns
    with output.working("evaluating") as tick, chunking.counting(chunks, tick):
        evaluation = evaluated(
            sets,
            lam,
            ties=measure.ties,
            true=measure.true_label,
            by=by[0] if by else None,
            cluster=settings.examples.cluster,
            interval=measure.interval,
            seed=settings.seed,
        )
        with warnings.catch_warnings():
            # The same sets were warned of already.
            warnings.simplefilter("ignore", PlausiblyWarning)
            confidence = float(evaluation.data.attrs["confidence"])
            further = list(
                evaluate_parts.parts(sets, lam, predictions, predictor, settings, confidence)
            )
    output.document |= {
        "sets": path,
        answers.what: answers.facts,
        "aggregator": answers.component,
        **evaluation.to_json(),
        **{
            name: {
                **{key: found.attrs[key] for key in about if key in found.attrs},
                "rows": part_rows(found, dim),
            }
            for name, found, dim, about in further
        },
        "left_out": left_out,
    }
    rows = [(answers.what, answers.text)]
    if answers.component is not None:
        made = [("aggregator", answers.component, answers.by_default)]
        rows.append(("chosen", layout.choices(made)))
    rows.append(("left out", layout.counts(left_out)))
    texts = ["\n".join(evaluation.lines())]
    for name, found, _, _ in further:
        describe = describe_uniformity if name == "p_values" else describe_coverage
        texts.append("\n".join(describe(found)))
    output.show(("\n\n" if further else "\n").join([*texts, layout.fields(rows)]))
    _check(evaluation.data, measure.fail_under, path.name)


def _check(evaluation: xr.Dataset, fail_under: float | None, whose: str) -> None:
    """Raise `CheckFailed` where the aggregated coverage is too low at any alpha."""
    if fail_under is None:
        return
    from plausibly.data.names import ALPHA
    from plausibly.evaluation.result import decimal, ends

    whole = evaluation if ALPHA in evaluation.dims else evaluation.expand_dims(ALPHA)
    for alpha in whole[ALPHA].values:
        mean, low, high = (
            float(whole[f"aggregated_coverage_{end}"].sel({ALPHA: alpha}))
            for end in ("mean", "low", "high")
        )
        if mean < fail_under - _SLACK:
            raise CheckFailed(
                "coverage-below",
                f"{whose}: at alpha {alpha:g} the sets cover {decimal(mean)} of what experts said",
                expected=f"{fail_under:g} or more (--fail-under)",
                got=f"{mean:.5g}, interval {ends(low, high)}",
                do="calibrate again on recent data, or look for weak groups with --by",
                whose=whose,
                details={"alpha": float(alpha), "mean": mean, "low": low, "high": high},
            )
