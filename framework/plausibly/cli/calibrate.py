"""``plausibly calibrate``: what experts and model said to a predictor with a guarantee."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plausibly.cli import asked, chunks as chunking, common, dry, layout, values
from plausibly.cli.output import Output

HELP = "Calibrate a model on everything the experts said: a predictor with a guarantee."
EXAMPLES = """\b
Examples:
  plausibly calibrate -a votes.csv -p probabilities.csv -o predictor.nc
  plausibly calibrate -a votes.csv -p cal.parquet --calibrator monte-carlo \\
    --draws 10 -o predictor.nc
  plausibly calibrate --plausibilities lam.nc -p cal.npz -e patients.csv \\
    --group patient --combiner '{name = "ecdf", delta = 0.01}' -o predictor.nc
  plausibly calibrate -a votes.csv -p probabilities.csv -e patients.csv \\
    --calibrator '{name = "mondrian", by = "site"}' -o predictor.nc
  plausibly calibrate -a votes.csv -p views.csv --view view \\
    --calibrator augmentation -o predictor.nc
"""


def calibrate(
    output: Output,
    *,
    predictions: common.Predictions,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Output: .nc, or a .zarr folder.")
    ],
    annotations: common.Annotations = None,
    plausibilities: common.Plausibilities = None,
    examples: common.Examples = None,
    labels: common.Labels = None,
    calibrator: Annotated[
        str | None,
        common.component("--calibrator", "calibrator", "What to compare with [default: expected]."),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option("--draws", help="Labels drawn for each example, where the calibrator draws."),
    ] = None,
    score: Annotated[
        str | None,
        common.component("--score", "score", "Score of a label [default: probability]."),
    ] = None,
    combiner: Annotated[
        str | None,
        common.component("--combiner", "combiner", "Merges p-values [default: average]."),
    ] = None,
    aggregator: common.Aggregator = None,
    group: Annotated[
        str | None,
        common.column(
            "--group",
            "Column of -e whose groups, such as patients, are held out, one example of each.",
        ),
    ] = None,
    alpha: common.Alphas = None,
    seed: common.Seed = 0,
    only_common: common.OnlyCommon = False,
    allow_no_guarantee: Annotated[
        bool,
        typer.Option(
            "--allow-no-guarantee",
            help="Calibrate also where the combiner has no guarantee for these p-values.",
        ),
    ] = False,
    no_names: Annotated[
        bool,
        typer.Option("--no-names", help="Keep no hashes of the examples' names in the predictor."),
    ] = False,
    answers: common.Answers,
    numbers: common.Views,
    renaming: common.Renaming,
    chunked: chunking.Chunking,
    dry_run: dry.DryRun = False,
) -> None:
    """Declare ``plausibly calibrate``."""
    inputs = {
        "-a": annotations,
        "--plausibilities": plausibilities,
        "-p": predictions,
        "-e": examples,
        "--labels": labels,
    }
    with chunking.computing(chunked, dry_run=dry_run):
        _run(
            output,
            asked.opinions(
                annotations,
                answers,
                plausibilities=plausibilities,
                aggregator=aggregator,
                seed=seed,
            ),
            asked.model(predictions, numbers, examples=examples, chunks=chunked.chunks),
            asked.naming(labels, renaming),
            asked.Method(
                calibrator=values.component(calibrator, "--calibrator"),
                score=values.component(score, "--score"),
                combiner=values.component(combiner, "--combiner"),
                draws=draws,
                group=group,
                alphas=tuple(alpha or common.DEFAULT_ALPHAS),
                seed=seed,
                only_common=only_common,
                allow_no_guarantee=allow_no_guarantee,
            ),
            values.outputs(out, inputs),
            names=not no_names,
            dry_run=dry_run,
        )


def _run(
    output: Output,
    asked_opinions: asked.AskedOpinions,
    asked_model: asked.AskedPredictions,
    naming: asked.Naming,
    method: asked.Method,
    out: Path,
    *,
    names: bool,
    dry_run: bool,
) -> None:
    import attrs

    from plausibly import registry
    from plausibly.calibration.alphas import read_alphas
    from plausibly.cli import asks, matching, reading
    from plausibly.cli.promise import notes_of, promise_of
    from plausibly.conformal import FORMAT
    from plausibly.conformal.calibrate import calibrate as calibrated
    from plausibly.data.names import EXAMPLE, several
    from plausibly.extras import require
    from plausibly.protocols import CALIBRATOR, COMBINER, SCORE

    read_alphas(list(method.alphas))  # a slip is said before anything is read
    model, opinions, predictions, lam, left_out = matching.read_both(
        output, asked_opinions, asked_model, naming, only_common=method.only_common
    )
    if out.suffix == ".zarr":
        require("zarr", extra="zarr", whose=str(out))
    files = {
        asked_opinions.flag: asked_opinions.path,
        "-p": asked_model.path,
        "-e": asked_model.examples,
        "--labels": naming.labels,
    }
    seen: list[tuple[str, str | list[str]]] = [
        (asked_opinions.what, opinions.text),
        ("predictions", f"{model.whose}: {reading.shape_text(model.predictions)}"),
        ("left out", layout.counts(left_out)),
    ]
    output.document |= {
        asked_opinions.what: opinions.facts,
        "predictions": model.facts,
        "left_out": left_out,
    }
    if dry_run and asked_model.chunks is not None:
        # The real run reads every chunk; here the components alone are looked for.
        registry.resolve(CALIBRATOR, method.calibrator or "expected")
        registry.resolve(SCORE, method.score or "probability")
        registry.resolve(COMBINER, method.combiner or "average")
        many = several(predictions.sizes[EXAMPLE], "example")
        would = f"read {many}, {asked_model.chunks:,} at a time, and calibrate"
        dry.show(output, read=files, rows=seen, would=would, write=[out])
        return
    with (
        output.working("calibrating") as tick,
        chunking.counting(asked_model.chunks, tick),
        asks.views_as_options(),
    ):
        predictor = calibrated(
            predictions,
            lam,
            calibrator=method.calibrator or "expected",
            score=method.score or "probability",
            combiner=method.combiner or "average",
            draws=method.draws,
            seed=method.seed,
            group=method.group,
            allow_no_guarantee=method.allow_no_guarantee,
        )
    if opinions.aggregator is not None:
        metadata = attrs.evolve(predictor.metadata, aggregator=str(opinions.aggregator["name"]))
        predictor = attrs.evolve(predictor, metadata=metadata)
    chosen = matching.chosen(predictor, method, opinions)
    if dry_run:
        output.document["chosen"] = {title: table for title, table, _ in chosen}
        dry.show(
            output,
            read=files,
            rows=[*seen, ("chosen", layout.choices(chosen))],
            would=f"save a predictor of {several(predictor.n, 'example')}, "
            f"{several(len(predictor.labels), 'label')}",
            memory=dry.memory_of(predictions, lam),
            write=[out],
        )
        return
    thresholds = asks.thresholds(predictor, method.alphas)
    with output.working(f"writing {out.name}"):
        predictor.save(out, names=names)

    promises = [predictor.guarantee(alpha) for alpha in method.alphas]
    output.document |= {
        "chosen": {title: table for title, table, _ in chosen},
        "n": predictor.n,
        "labels": list(predictor.labels),
        "guarantees": [
            {**promise.to_json(), **threshold.facts()}
            for promise, threshold in zip(promises, thresholds, strict=True)
        ],
        "asks_of_new": list(asks.of_new(predictor)),
        "fingerprint": predictor.fingerprint,
        "saved": {"path": out, "format": FORMAT, "names": names},
    }
    matched_all = model.predictions.sizes[EXAMPLE] == predictor.n
    same = "every example matched by name" if matched_all else "examples by name"
    kept = "scores and name hashes, no examples" if names else "scores, no names"
    column = asked_model.options.get("view")
    command = asks.next_command(
        predictor,
        out,
        method.alphas[0],
        "sets.csv",
        view=None if column is None else str(column),
    )
    output.show(
        layout.fields(
            [
                (asked_opinions.what, opinions.text),
                (
                    "predictions",
                    f"{model.whose}: {reading.shape_text(model.predictions)}; {same}",
                ),
                ("left out", layout.counts(left_out)),
                ("chosen", layout.choices(chosen)),
                *(("guarantee", promise_of(predictor, alpha)) for alpha in method.alphas),
                *(("note", note) for note in notes_of(promises)),
                ("asks for", asks.asked_of_new(predictor)),
                ("saved", f"{out} ({layout.size(out)}, format {FORMAT}): {kept}"),
                ("next", layout.command_line(command, indent=16)),
            ]
        )
    )
