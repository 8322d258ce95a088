"""``plausibly calibrate``: answers and predictions to a predictor with a guarantee."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from plausibly.cli import chunks as chunking, dry, layout, options
from plausibly.cli.output import Output
from plausibly.config.load import Draft

if TYPE_CHECKING:
    from plausibly.conformal.predictor import ConformalPredictor
    from plausibly.study.reading import Answers

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
    from plausibly.cli import promise
    from plausibly.conformal import FORMAT
    from plausibly.conformal.calibrate import calibrate as calibrated
    from plausibly.data.names import EXAMPLE, several
    from plausibly.extras import require
    from plausibly.study.reading import read_both, remembering, shape_text

    options.check_answers(loaded)
    files = options.inputs(FLAGS, loaded)
    dry.check_output(loaded.settings.output.predictor, files)
    settings = loaded.settings
    method, out = settings.chosen_method, settings.output.predictor
    chunks, names = settings.compute.chunks, settings.output.keep_names
    alphas = [str(alpha) for alpha in settings.alphas]
    model, answers, predictions, lam, left_out = read_both(
        settings, chunks=chunks, working=output.working
    )
    if out.suffix == ".zarr":
        require("zarr", extra="zarr", whose=str(out))
    text = f"{model.source}: {shape_text(model.predictions)}"
    seen: list[tuple[str, str | list[str]]] = [
        (answers.what, answers.text),
        ("predictions", text),
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
        dry.show(output, read=files, rows=seen, would=would, write=[out])
        return
    with (
        output.working("calibrating") as tick,
        chunking.counting(chunks, tick),
        promise.views_as_options(),
    ):
        predictor = calibrated(
            predictions,
            lam,
            **method.arguments(),
            seed=settings.seed,
            group=settings.examples.cluster,
        )
    predictor = remembering(predictor, settings, (answers.component or {}).get("name"))
    chosen = _chosen(loaded, predictor, answers)
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
    thresholds = promise.thresholds(predictor, alphas)
    with output.working(f"writing {out.name}"):
        predictor.save(out, names=names)

    output.document |= {
        "chosen": {title: table for title, table, _ in chosen},
        "n": predictor.n,
        "labels": list(predictor.labels),
        "guarantees": [
            {**predictor.guarantee(alpha).to_json(), **threshold}
            for alpha, threshold in zip(alphas, thresholds, strict=True)
        ],
        "asks_of_new": list(promise.of_new(predictor)),
        "fingerprint": predictor.fingerprint,
        "saved": {"path": out, "format": FORMAT, "names": names},
    }
    matched_all = model.predictions.sizes[EXAMPLE] == predictor.n
    same = "every example matched by name" if matched_all else "examples by name"
    kept = "scores and name hashes, no examples" if names else "scores, no names"
    command = promise.next_command(predictor, out, alphas[0], "sets.csv")
    if options.found_without_flags(loaded, "new.predictions"):
        command = ["plausibly", "predict"]
    output.show(
        layout.fields(
            [
                seen[0],
                ("predictions", f"{text}; {same}"),
                seen[2],
                ("chosen", layout.choices(chosen)),
                *promise.promise_rows(predictor, alphas, "guarantee"),
                ("asks for", promise.needed_of_new(predictor)),
                ("saved", f"{out} ({layout.size(out)}, format {FORMAT}): {kept}"),
                ("next", layout.command_line(command, indent=16)),
            ]
        )
    )


def _chosen(
    loaded: Draft, predictor: ConformalPredictor, answers: Answers
) -> list[tuple[str, Mapping[str, object] | int, bool]]:
    """Return title, component and whether it is the default, of all that was chosen."""
    from plausibly.protocols import COMBINER, SCORE
    from plausibly.study.reading import table_of

    calibrator = predictor.components["calibrator"] or {"name": predictor.metadata.calibrator}
    seed = loaded.settings.seed
    summary = predictor.summary
    drawn = (
        summary.m > 1 or summary.n_held_out or predictor.score.randomised or _has_draws(calibrator)
    )
    tables = {
        "calibrator": calibrator,
        "score": table_of(SCORE, predictor.score),
        "combiner": table_of(COMBINER, predictor.combiner),
    }
    made: list[tuple[str, Mapping[str, object] | int, bool]] = [*answers.chosen]
    made += [(name, table, not loaded.has(f"method.{name}")) for name, table in tables.items()]
    if seed or drawn:
        made.append(("seed", seed, seed == 0))
    return made


def _has_draws(table: Mapping[str, object]) -> bool:
    """Return whether a calibrator draws labels, or one inside it does."""
    return "draws" in table or any(
        _has_draws(value) for value in table.values() if isinstance(value, Mapping)
    )
