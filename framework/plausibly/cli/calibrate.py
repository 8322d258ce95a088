"""``plausibly calibrate``: answers and predictions to a predictor with a guarantee."""

from __future__ import annotations

from collections.abc import Mapping

from plausibly.cli import chunks as chunking, dry, layout, options
from plausibly.cli.output import Output
from plausibly.config.load import Draft

FLAGS = {
    "Files": (
        options.ANNOTATIONS,
        options.PREDICTIONS.needed(),
        options.EXAMPLES,
        options.PLAUSIBILITIES,
        options.LABELS,
        options.out("output.predictor"),
    ),
    "Format of the annotations": options.FORMAT,
    "Method": (
        options.CALIBRATOR,
        options.COMBINER,
        options.SCORE,
        options.AGGREGATOR,
        options.ALPHA,
        options.SEED,
    ),
}
CHUNKED = True


def calibrate(output: Output, loaded: Draft, *, dry_run: dry.DryRun = False) -> None:
    r"""Calibrate prediction sets on all answers of the annotators.

    plausibly calibrate -a votes.csv -p probabilities.csv -o predictor.nc
    plausibly calibrate -a votes.csv -p cal.parquet -e patients.csv \
      --calibrator '{name = "mondrian", by = "site"}' --alpha 0.1,0.05
    """
    from plausibly.cli import guarantee
    from plausibly.conformal import FORMAT
    from plausibly.conformal.calibrate import calibrate as calibrated
    from plausibly.data.names import EXAMPLE, several
    from plausibly.extras import require
    from plausibly.protocols import COMBINER, SCORE
    from plausibly.study import reading

    options.check_answers(loaded)
    settings, files = loaded.settings, options.inputs(FLAGS, loaded)
    out, chunks, names = (
        settings.output.predictor,
        settings.compute.chunks,
        settings.output.keep_names,
    )
    alphas = [str(alpha) for alpha in settings.alphas]
    dry.check_output(out, files)
    with output.working("reading files"):
        model, answers, predictions, lam, left_out = reading.read_both(settings, chunks=chunks)
    if out.suffix == ".zarr":
        require("zarr", extra="zarr", source=str(out))
    rows: list[layout.Row] = [
        (answers.what, answers.text),
        ("predictions", model.text),
        ("left out", layout.counts(left_out)),
    ]
    output.document |= {
        answers.what: answers.facts,
        "predictions": model.facts,
        "left_out": left_out,
    }
    if dry_run and chunks is not None:
        # The real run reads every chunk; here the components alone are looked for.
        many = several(predictions.sizes[EXAMPLE], "example")
        would = f"read {many}, {chunks:,} at a time, and calibrate"
        dry.show(output, read=files, rows=rows, would=would, write=[out])
        return
    with output.working("calibrating") as tick, chunking.counting(chunks, tick):
        predictor = calibrated(
            predictions,
            lam,
            **settings.chosen_method.arguments(),
            seed=settings.seed,
            cluster=settings.examples.cluster,
        )
    predictor = reading.remembering(predictor, settings, (answers.component or {}).get("name"))
    calibrator = predictor.components["calibrator"] or {"name": predictor.metadata.calibrator}
    chosen: list[layout.Choice] = [*answers.chosen]
    for name, table in (
        ("calibrator", calibrator),
        ("score", reading.table_of(SCORE, predictor.score)),
        ("combiner", reading.table_of(COMBINER, predictor.combiner)),
    ):
        chosen.append((name, table, not loaded.has(f"method.{name}")))
    seed, summary = settings.seed, predictor.summary
    drawn = summary.m > 1 or summary.n_held_out or predictor.score.randomised
    if seed or drawn or _has_draws(calibrator):
        chosen.append(("seed", seed, seed == 0))
    output.document["chosen"] = {title: table for title, table, _ in chosen}
    if dry_run:
        examples, labels = several(predictor.n, "example"), several(len(predictor.labels), "label")
        dry.show(
            output,
            read=files,
            rows=[*rows, ("chosen", layout.choices(chosen))],
            would=f"save a predictor of {examples}, {labels}",
            memory=dry.memory_of(predictions, lam),
            write=[out],
        )
        return
    thresholds = guarantee.thresholds(predictor, alphas)
    with output.working(f"writing {out.name}"):
        predictor.save(out, names=names)

    output.document |= {
        "n": predictor.n,
        "labels": list(predictor.labels),
        "guarantees": [
            {**predictor.guarantee(alpha).to_json(), **threshold}
            for alpha, threshold in zip(alphas, thresholds, strict=True)
        ],
        "asks_of_new": list(guarantee.of_new(predictor)),
        "fingerprint": predictor.fingerprint,
        "saved": {"path": out, "format": FORMAT, "names": names},
    }
    matched_all = model.predictions.sizes[EXAMPLE] == predictor.n
    same = "every example matched by name" if matched_all else "examples by name"
    kept = "scores and name hashes, no examples" if names else "scores, no names"
    command = guarantee.next_command(predictor, out, alphas[0], "sets.csv")
    if options.found_without_flags(loaded, "new.predictions"):
        command = ["plausibly", "predict"]
    rows[1] = ("predictions", f"{model.text}; {same}")
    output.rows(
        [
            *rows,
            ("chosen", layout.choices(chosen)),
            *guarantee.guarantee_rows(predictor, alphas, "guarantee"),
            ("asks for", guarantee.needed_of_new(predictor)),
            ("saved", f"{out} ({layout.size(out)}, format {FORMAT}): {kept}"),
            ("next", layout.command_line(command, indent=16)),
        ]
    )


def _has_draws(table: Mapping[str, object]) -> bool:
    """Return whether a calibrator draws labels, or one inside it does."""
    return "draws" in table or any(
        _has_draws(value) for value in table.values() if isinstance(value, Mapping)
    )
