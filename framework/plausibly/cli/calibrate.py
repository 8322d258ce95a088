"""``plausibly calibrate``: answers and predictions to a predictor with a guarantee."""

from __future__ import annotations

from plausibly.cli import layout, options
from plausibly.cli.output import DryRun, Output, check_path, show_dry_run
from plausibly.config.load import Draft

FLAGS = {
    "Files": "-a -p -e --plausibilities --labels -o",
    "Format of the annotations": options.FORMAT,
    "Method": "--calibrator --combiner --score --aggregator --alpha --seed",
}
KEYS = {"-o": "output.predictor"}
ABOUT = {"-o": "Where to save the predictor.", "--alpha": "Miscoverage rates to report."}
REQUIRED = "-p"
CHUNKED = True


def calibrate(output: Output, loaded: Draft, *, dry_run: DryRun = False) -> None:
    r"""Calibrate prediction sets on all answers of the annotators.

    plausibly calibrate -a votes.csv -p probabilities.csv -o predictor.nc
    plausibly calibrate -a votes.csv -p cal.parquet -e patients.csv \
      --calibrator '{name = "mondrian", by = "site"}' --alpha 0.1,0.05
    """
    from plausibly.cli import guarantee
    from plausibly.conformal import FORMAT
    from plausibly.conformal.aggregate import warn_of_one_annotator
    from plausibly.conformal.calibrate import calibrate as calibrated
    from plausibly.data.names import EXAMPLE, several
    from plausibly.extras import require
    from plausibly.protocols import COMBINER, SCORE
    from plausibly.study import reading

    options.check_answers(loaded)
    settings, files = loaded.settings, output.inputs
    out, names = settings.output.predictor, settings.output.keep_names
    chunks = settings.compute.chunks
    alphas = [str(alpha) for alpha in settings.alphas]
    check_path(out, files)
    with output.working("reading files"):
        model, answers, predictions, plausibilities, left_out = reading.read_both(
            settings, chunks=chunks
        )
    if answers.table is not None:
        warn_of_one_annotator(answers.table)
    if out.suffix == ".zarr":
        require("zarr", extra="zarr", source=str(out))
    rows: list[layout.Row] = [(answers.what, answers.text), ("predictions", model.text)]
    rows.append(("left out", layout.counts(left_out)))
    facts = {answers.what: answers.facts, "predictions": model.facts, "left_out": left_out}
    output.document |= facts
    if dry_run and chunks is not None:
        # The real run reads every chunk; here the components alone are looked for.
        count = several(predictions.sizes[EXAMPLE], "example")
        would = f"read {count}, {chunks:,} at a time, and calibrate"
        show_dry_run(output, read=files, rows=rows, would=would, write=[out])
        return
    with output.working("calibrating") as tick, options.counting(chunks, tick):
        predictor = calibrated(
            predictions,
            plausibilities,
            **settings.chosen_method.arguments(),
            seed=settings.seed,
            cluster=settings.examples.cluster,
        )
    predictor = reading.remembering(predictor, settings, (answers.component or {}).get("name"))
    calibrator = predictor.components["calibrator"] or {"name": predictor.metadata.calibrator}
    components = {
        "calibrator": calibrator,
        "combiner": reading.table_of(COMBINER, predictor.combiner),
        "score": reading.table_of(SCORE, predictor.score),
    }
    method: list[layout.Choice] = [
        (name, table, not loaded.has(f"method.{name}")) for name, table in components.items()
    ]
    method += answers.chosen
    seed, summary = settings.seed, predictor.summary
    drawn = "draws" in repr(calibrator) or summary.n_held_out or predictor.score.randomised
    if seed or drawn or summary.m > 1:
        method.append(("seed", seed, seed == 0))
    output.document["method"] = {title: table for title, table, _ in method}
    if dry_run:
        examples, labels = several(predictor.n, "example"), several(len(predictor.labels), "label")
        show_dry_run(
            output,
            read=files,
            rows=[*rows, ("method", layout.choices(method))],
            would=f"save a predictor of {examples}, {labels}",
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
    kept = f"no examples, only scores{' and hashed names' if names else ''}"
    command = guarantee.next_command(predictor, out, alphas[0], "sets.csv")
    if options.found_without_flags(loaded, "new.predictions"):
        command = ("plausibly", "predict")
    shape = reading.shape_text(model.predictions, matched=predictor.n)
    rows[1] = ("predictions", f"{model.source}: {shape}")
    output.rows(
        [
            *rows,
            ("method", layout.choices(method)),
            *guarantee.guarantee_rows(predictor, alphas, "guarantee"),
            ("needs", guarantee.needed_of_new(predictor)),
            ("saved", f"{out} ({layout.size(out)}; {kept})"),
            ("next", command),
        ]
    )
