"""``plausibly sensitivity``: what depends on how responses become plausibilities."""

from __future__ import annotations

from typing import Annotated

import typer

from plausibly.cli import asked, common, dry, values
from plausibly.cli.output import Output

HELP = """Judge the same prediction sets by the plausibilities of several aggregators.

Each also calibrates sets of its own; everything is measured on random splits.
"""
EXAMPLES = """\b
Examples:
  plausibly sensitivity -a votes.csv -p probabilities.csv \\
    --aggregator label-frequency --aggregator dawid-skene
  plausibly sensitivity -a rankings.json --labels labels.txt -p probabilities.csv \\
    --aggregator inverse-rank --aggregator plackett-luce \\
    --aggregator '{name = "dirichlet", temperature = 3.0}'
"""


def sensitivity(
    output: Output,
    *,
    annotations: common.RequiredAnnotations,
    predictions: common.Predictions,
    aggregator: Annotated[
        list[str],
        common.component(
            "--aggregator",
            "aggregator",
            "How responses become plausibilities. Repeatable: two or more.",
        ),
    ],
    examples: common.Examples = None,
    labels: common.Labels = None,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="NAME",
            help="The aggregator that others are compared with [default: the first].",
        ),
    ] = None,
    calibrator: Annotated[
        str | None,
        common.component("--calibrator", "calibrator", "[default: expected]"),
    ] = None,
    score: Annotated[
        str | None,
        common.component("--score", "score", "[default: probability]"),
    ] = None,
    combiner: Annotated[
        str | None,
        common.component("--combiner", "combiner", "[default: average]"),
    ] = None,
    splits: Annotated[int, typer.Option("--splits", metavar="S", help="How many.")] = 100,
    test: Annotated[
        float, typer.Option("--test", metavar="SHARE", help="Of the examples, to measure on.")
    ] = 0.5,
    group: Annotated[
        str | None,
        common.column("--group", "Column of -e whose groups, such as patients, stay on one side."),
    ] = None,
    alpha: common.Alphas = None,
    seed: common.Seed = 0,
    only_common: common.OnlyCommon = False,
    answers: common.Answers,
    numbers: common.Numbers,
    dry_run: dry.DryRun = False,
) -> None:
    """Declare ``plausibly sensitivity``."""
    from plausibly.cli import layout, reading
    from plausibly.evaluation.sensitivity import (
        read_aggregators,
        sensitivity as measured,
    )
    from plausibly.io import read_annotations

    opinions = asked.opinions(annotations, answers, seed=seed)
    asked_model = asked.model(predictions, numbers, examples=examples)
    components = [values.component(one, "--aggregator") for one in aggregator]
    asked_for = [one for one in components if one is not None]
    read_aggregators(asked_for)  # a slip is said before anything is read
    whose = opinions.path.name
    naming = asked.naming(labels, common.Renaming())
    with reading.told_of_swaps(opinions, asked_model):
        model = reading.read_model(asked_model, naming, output)
        declared = labels if labels is not None else reading.label_names(model.predictions)
        with output.working(f"reading {whose}"):
            table = read_annotations(opinions.path, opinions.reader, declared, **opinions.options)
    with output.working("calibrating") as tick:
        found = measured(
            model.predictions,
            table,
            asked_for,
            alphas=tuple(alpha or common.DEFAULT_ALPHAS),
            calibrator=values.component(calibrator, "--calibrator") or "expected",
            score=values.component(score, "--score") or "probability",
            combiner=values.component(combiner, "--combiner") or "average",
            splits=min(splits, 1) if dry_run else splits,
            test=test,
            group=group,
            seed=seed,
            reference=reference,
            unanswered="drop" if opinions.unanswered == "drop" else "error",
            only_common=only_common,
            progress=tick,
        )
    output.document |= {
        "annotations": reading.annotation_facts(table, opinions.path),
        "predictions": model.facts,
    }
    rows: list[tuple[str, str | list[str]]] = [
        ("annotations", reading.summary_of(table, whose)),
        ("predictions", f"{model.whose}: {reading.shape_text(model.predictions)}"),
    ]
    if dry_run:
        several = len(asked_for)
        dry.show(
            output,
            read={"-a": opinions.path, "-p": asked_model.path, "--labels": labels},
            rows=rows,
            would=f"calibrate {splits * several:,} times: {splits:,} splits by "
            f"{several} aggregators (one split was tried)",
            memory=dry.memory_of(model.predictions, *[model.predictions] * several),
        )
        return
    output.document |= found.to_json()
    output.show(f"{layout.fields(rows)}\n\n" + "\n".join(found.lines()))
