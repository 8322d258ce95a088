"""``plausibly run``: a study file to results, prediction sets and a predictor."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plausibly.cli import dry, options
from plausibly.cli.output import Interrupted, Output
from plausibly.config.load import NAME, Draft, load
from plausibly.errors import InputError, counted, warn

if TYPE_CHECKING:
    from plausibly.evaluation.checkpoint import Checkpoint
    from plausibly.study import Prepared, StudyResult


FLAGS = {"Files": (options.out("output.folder", "FOLDER"),)}
CONFIG = False  # the study is the settings file

Study = Annotated[
    Path | None,
    typer.Argument(metavar="STUDY", help=f"A study file, such as study.toml.  [{NAME}]"),
]
UNFINISHED = "unfinished"
"""Folder below that of the results where finished splits are kept until there are results."""


def run(
    output: Output,
    loaded: Draft,
    *,
    study: Study = None,
    processes: Annotated[
        int,
        typer.Option(
            "--processes", metavar="N", min=1, help="Splits at a time; the results are the same."
        ),
    ] = 1,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start anew, also where an interrupted run left splits.")
    ] = False,
    no_report: Annotated[bool, typer.Option("--no-report", help="Leave report.html out.")] = False,
    dry_run: dry.DryRun = False,
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
    from plausibly.study import prepare, write_study
    from plausibly.study.prepare import settings_file
    from plausibly.study.run import targets_of

    output.flags = ()  # hints are keys of the study file
    path = study or Path(NAME)
    with output.working(f"reading {path.name}"):
        ready = prepare(load(settings_file(path, "study"), loaded.typed))
    settings, folder = ready.study, ready.study.output.folder
    checkpoint = Checkpoint(folder=folder / UNFINISHED)
    output.document |= words.before(ready)
    rows = [*words.blocks(ready), ("study", words.design(ready))]
    if dry_run:
        rows.append(("assumptions", words.assumptions_text(ready)))
        splits, (what, answers) = settings.splits, settings.answers
        if finished := 0 if fresh else checkpoint.finished(splits.count):
            rows.append(("kept", f"{counted(finished)} splits, from an interrupted run"))
        methods = len(settings.methods)
        times = len(splits.sizes or (0,)) * len(splits.draws or (0,)) * methods * splits.count
        planned = f"{several(splits.count, 'split')} of {several(methods, 'method')}"
        reported = not no_report and can_report()
        dry.show(
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
            write=[*([folder / REPORT] if reported else []), *targets_of(ready)],
            into=folder,
        )
        return
    output.rows(rows)
    targets_of(ready)  # refused before hours of splits, not after
    if fresh:
        checkpoint.discard()
    result = _finished(output, ready, checkpoint, processes, max(len(title) for title, _ in rows))
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
            warn(
                "report-none",
                f"the study has no report: {error.what}",
                expected=error.expected,
                found=error.found,
                hint=error.hint,
                source=error.source,
                details={"error": error.name},
            )
    output.document["written"] = [*([] if report is None else [report]), *written]
    output.rows(words.outcome(result, written, report))


def _finished(
    output: Output, ready: Prepared, checkpoint: Checkpoint, processes: int, width: int
) -> StudyResult:
    """Run what an interrupted run has left of a study, and show how many splits it had finished."""
    from plausibly.data.names import several
    from plausibly.study import run_study

    count = ready.study.splits.count
    kept = checkpoint.finished(count)
    output.document["kept"] = 0

    def show(text: str) -> None:
        output.rows([("kept".ljust(width), text)])

    with output.working("splits") as tick:

        def progress(done: int, total: int) -> None:
            if kept and not output.document["kept"]:
                output.document["kept"] = done
                show(f"{counted(done)} of {counted(total)} splits, from an interrupted run")
            tick(done, total)

        again = partial(
            run_study, ready, processes=processes, checkpoint=checkpoint, progress=progress
        )
        try:
            try:
                return again()
            except InputError as error:
                if error.name == "checkpoint-unknown":
                    error.hint = f"-o elsewhere, or move {checkpoint.folder} away"
                if error.name != "checkpoint-other":
                    raise
                show(f"nothing: the interrupted run was of another study ({error.found})")
                checkpoint.discard()
                kept = 0
                return again()
        except KeyboardInterrupt as stop:
            finished = checkpoint.finished(count)
            if not finished:
                raise
            raise Interrupted(
                "interrupted",
                "plausibly run was stopped",
                expected=several(count, "split"),
                found=f"{counted(finished)}, which are kept in {checkpoint.folder}",
                hint="run it again: it goes on from there (--fresh: from the start)",
            ) from stop
