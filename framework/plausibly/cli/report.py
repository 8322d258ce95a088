"""``plausibly report``: one HTML file that says whether prediction sets can be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plausibly.cli import dry, options
from plausibly.cli.output import Output
from plausibly.config.load import Draft

HELP = "Write the results to one HTML file: guarantee, coverage, weak groups, every example."
EXAMPLES = """\b
Examples:
  plausibly report out -o report.html
  plausibly report study.toml --title "Skin lesions" --set report.text=finding
  plausibly report --predictor predictor.nc -p new.csv -a new_votes.csv \\
    -e patients.csv --labels risk.csv --alpha 0.1,0.05
"""
FLAGS = {
    "Files": (
        options.NEW_ANNOTATIONS,
        options.NEW_PREDICTIONS,
        options.NEW_EXAMPLES,
        options.NEW_PLAUSIBILITIES,
        options.LABELS,
        options.PREDICTOR,
        options.out("output.report"),
    ),
    "Format of the annotations": options.FORMAT,
    "Report": (
        options.ALPHA,
        options.BY,
        options.CLUSTER,
        options.Flag("--title", "report.title", "TEXT"),
        options.Flag("--anonymous", "report.anonymous"),
    ),
}


def report(
    output: Output,
    loaded: Draft,
    *,
    study: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER|STUDY",
            help="What plausibly run wrote, or the study file. Instead: --predictor, -p and -a.",
        ),
    ] = None,
    dry_run: dry.DryRun = False,
) -> None:
    """Declare ``plausibly report``."""
    from plausibly.cli import report_made as made

    made.check_source(study, loaded)
    dry.check_output(loaded.settings.output.report, options.inputs(FLAGS, loaded))
    if study is None:
        made.of_predictor(output, loaded, options.inputs(FLAGS, loaded), dry_run=dry_run)
    else:
        made.of_study(output, study, loaded, dry_run=dry_run)
