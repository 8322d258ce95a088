"""``plausibly run``: a study file to results, prediction sets and a predictor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from plausibly.cli.output import DryRun, Interrupted, Output, show_dry_run
from plausibly.config.load import NAME, Draft, load
from plausibly.errors import InputError, counted, warn

FLAGS = {"Files": "-o"}
CONFIG = False  # the study is the settings file

Study = Annotated[
    Path | None,
    typer.Argument(metavar="STUDY", help=f"A study file, such as study.toml.  [{NAME}]"),
]
UNFINISHED = "unfinished"
"""Folder below that of the results where finished splits are kept until there are results."""


@contextmanager
def _in_words_of_flags(folder: Path) -> Iterator[None]:
    """Write the hint of an error of this block about finished splits with flags."""
    try:
        yield
    except InputError as error:
        hints = {
            "checkpoint-other": "--fresh to start anew, or -o elsewhere",
            "checkpoint-unknown": f"-o elsewhere, or move {folder} away",
        }
        error.hint = hints.get(error.name, error.hint)
        raise


def run(
    output: Output,
    loaded: Draft,
    *,
    study: Study = None,
    processes: Annotated[
        int, typer.Option("--processes", metavar="N", min=1, help="Splits at a time; same results.")
    ] = 1,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start anew, also where an interrupted run left splits.")
    ] = False,
    no_report: Annotated[bool, typer.Option("--no-report", help="Leave report.html out.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Run a study: calibrations compared on random splits, their sets, and a predictor.

    plausibly run study.toml
    plausibly run study.toml -o elsewhere --processes 4
    """
    from plausibly.cli import study as words
    from plausibly.cli.report import after_run
    from plausibly.data.names import several
    from plausibly.evaluation.checkpoint import Checkpoint
    from plausibly.evaluation.study import Study as Compared
    from plausibly.report import REPORT, can_report
    from plausibly.study import prepare, run_study, write_study
    from plausibly.study.prepare import settings_file
    from plausibly.study.run import kept_splits, targets_of

    output.flags = ()  # hints are keys of the study file
    path = study or Path(NAME)
    with output.working(f"reading {path.name}"):
        ready = prepare(load(settings_file(path, "study"), loaded.typed))
    settings, folder = ready.study, ready.study.output.folder
    splits, (what, answers) = settings.splits, settings.answers
    checkpoint = Checkpoint(folder=folder / UNFINISHED)
    kept = 0
    if checkpoint.folder.exists() and not fresh:
        with _in_words_of_flags(checkpoint.folder):
            kept = kept_splits(ready, checkpoint)
    output.document |= words.before(ready)
    rows = [*words.blocks(ready), ("study", words.design(ready))]
    if kept:
        text = f"{counted(kept)} of {counted(splits.count)} splits, from an interrupted run"
        rows.append(("kept", text))
    if dry_run:
        rows.append(("assumptions", words.assumptions_text(ready)))
        methods = len(settings.methods)
        times = len(splits.sizes or (0,)) * len(splits.draws or (0,)) * methods * splits.count
        planned = f"{several(splits.count, 'split')} of {several(methods, 'method')}"
        reported = [folder / REPORT] if not no_report and can_report() else []
        show_dry_run(
            output,
            read={
                "STUDY": path,
                what: answers,
                "predictions": settings.predictions.path,
                "examples": settings.examples.path,
                "labels": settings.labels.path,
            },
            rows=rows,
            would=f"calibrate and measure {several(times, 'time')}: {planned}",
            write=[*reported, *targets_of(ready)],
            into=folder,
        )
        return
    output.document["kept"] = kept
    output.rows(rows)
    targets_of(ready)  # refused before hours of splits, not after
    if fresh:
        checkpoint.discard()
    try:
        with output.working("splits") as tick, _in_words_of_flags(checkpoint.folder):
            result = run_study(ready, processes=processes, checkpoint=checkpoint, progress=tick)
    except KeyboardInterrupt as stop:
        finished = checkpoint.finished(splits.count)
        if not finished:
            raise
        raise Interrupted(
            "interrupted",
            "plausibly run was stopped",
            expected=several(splits.count, "split"),
            found=f"{counted(finished)}, which are kept in {checkpoint.folder}",
            hint="run it again: it goes on from there (--fresh: from the start)",
        ) from stop
    with output.working("writing"):
        written = write_study(result)
    checkpoint.discard()
    output.document |= words.after(result, written)
    output.show("\n".join(["", *Compared(result.compared).lines(), ""]))
    report = None
    if not no_report:
        output.document["report"] = None
        try:
            report = after_run(output, result)
        except InputError as error:
            # The study is done and written: what is wrong with its report alone undoes none of it.
            what = f"the study has no report: {error.what}"
            warn("report-none", what, hint=error.hint, source=error.source)
    output.document["written"] = [*([] if report is None else [report]), *written]
    output.rows(words.outcome(result, written, report))
