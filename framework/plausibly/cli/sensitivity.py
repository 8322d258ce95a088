"""``plausibly sensitivity``: what depends on how responses become plausibilities."""

from __future__ import annotations

from typing import Annotated

import typer

from plausibly.cli import completion, layout, options
from plausibly.cli.output import DryRun, Output, show_dry_run
from plausibly.config.load import Draft, component_value

FLAGS = {
    "Files": "-a -p -e --labels",
    "Format of the annotations": options.FORMAT,
    "Method": "--calibrator --combiner --alpha --splits --cluster --seed",
}
REQUIRED = "-a -p"


def sensitivity(
    output: Output,
    loaded: Draft,
    *,
    aggregator: Annotated[
        list[str],
        typer.Option(
            "--aggregator",
            metavar="NAME",
            autocompletion=completion.components("aggregator"),
            help="How answers become plausibilities. Repeatable: two or more.",
        ),
    ],
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference", metavar="NAME", help="Aggregator to compare with.  [the first]"
        ),
    ] = None,
    dry_run: DryRun = False,
) -> None:
    r"""Judge the same prediction sets by the plausibilities of several aggregators.

    Each also calibrates sets of its own; everything is measured on random splits.

    plausibly sensitivity -a votes.csv -p probabilities.csv \
      --aggregator label-frequency --aggregator dawid-skene
    plausibly sensitivity -a rankings.json --labels labels.txt \
      -p probabilities.csv --aggregator inverse-rank \
      --aggregator '{name = "dirichlet", temperature = 3.0}'
    """
    from plausibly.evaluation.aggregators import read_aggregators, sensitivity as measured
    from plausibly.study import reading

    settings, files = loaded.settings, output.inputs
    path, method = files["-a"], settings.chosen_method
    components = [component_value(text, "--aggregator ") for text in aggregator]
    read_aggregators(components)  # a slip is refused before anything is read
    splits = settings.splits.count
    with output.working("reading files"), reading.telling_of_swaps(settings):
        model = reading.read_model(settings)
        table = reading.read_table(settings, declared=model.labels)
    with output.working("calibrating") as tick:
        result = measured(
            model.predictions,
            table,
            components,
            alphas=tuple(str(alpha) for alpha in settings.alphas),
            calibrator=method.calibrator,
            score=method.score,
            combiner=method.combiner,
            splits=min(splits, 1) if dry_run else splits,
            test=settings.splits.test,
            cluster=settings.examples.cluster,
            seed=settings.seed,
            reference=reference,
            unanswered=settings.annotations.unanswered,
            only_common=settings.examples.only_common,
            progress=tick,
        )
    output.document |= {
        "annotations": reading.annotation_facts(table, path),
        "predictions": model.facts,
    }
    rows: list[layout.Row] = [
        ("annotations", reading.summary_of(table, path.name)),
        ("predictions", model.text),
    ]
    if dry_run:
        count = len(components)
        times = f"{splits:,} splits by {count} aggregators (one split was tried)"
        would = f"calibrate {splits * count:,} times: {times}"
        show_dry_run(output, read=files, rows=rows, would=would)
        return
    output.document |= result.to_json()
    output.show(f"{layout.fields(rows)}\n\n" + "\n".join(result.lines()))
