"""``plausibly report``: one HTML file that says whether prediction sets can be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plausibly.cli import asked, common, values
from plausibly.cli.dry import DryRun
from plausibly.cli.output import Output
from plausibly.report import REPORT

HELP = "Write one HTML file: what is guaranteed, what was measured, where it is weak, every case."
EXAMPLES = """\b
Examples:
  plausibly report out -o report.html
  plausibly report study.toml --text finding --words example=case
  plausibly report --predictor predictor.nc -p new.csv -a new_votes.csv \\
    -e patients.csv --labels risk.csv --alpha 0.1 --alpha 0.05
"""


def report(
    output: Output,
    *,
    study: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER|STUDY",
            help="What plausibly run wrote, or the study file. Instead: --predictor, -p and -a.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The HTML file.")] = Path(
        REPORT
    ),
    predictor: Annotated[
        Path | None,
        typer.Option("--predictor", metavar="FILE", help="What plausibly calibrate saved."),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            "--predictions", "-p", metavar="FILE", help="With --predictor: what the model said."
        ),
    ] = None,
    annotations: common.Annotations = None,
    plausibilities: common.Plausibilities = None,
    examples: common.Examples = None,
    labels: common.Labels = None,
    alpha: common.Alphas = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="COLUMN",
            help="Compare the groups of this column of -e [default: of each with few]. Repeatable.",
        ),
    ] = None,
    title: Annotated[
        str, typer.Option("--title", metavar="TEXT", help="Heading [default: from file names].")
    ] = "",
    words: Annotated[
        str | None,
        typer.Option(
            "--words",
            metavar="MAP",
            help="What to call things: example=nodule,annotator=radiologist.",
        ),
    ] = None,
    text: Annotated[
        str, typer.Option("--text", metavar="COLUMN", help="Column of -e with a text to show.")
    ] = "",
    thumbnail: Annotated[
        str,
        typer.Option(
            "--thumbnail", metavar="COLUMN", help="Column of -e with the path of a small picture."
        ),
    ] = "",
    annotator_names: Annotated[
        bool,
        typer.Option("--annotator-names", help="Show who answered, instead of r01, r02, ..."),
    ] = False,
    true: Annotated[
        str | None,
        typer.Option("--true", metavar="COLUMN", help="Column of -e with a known label."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="COLUMN",
            help="Column of -e, such as patient: intervals count these, not examples.",
        ),
    ] = None,
    ties: Annotated[
        common.Ties, typer.Option("--ties", help="What covers a vote that is tied.")
    ] = common.Ties.first,
    aggregator: common.Aggregator = None,
    seed: common.Seed = 0,
    only_common: common.OnlyCommon = False,
    answers: common.Answers,
    numbers: common.Views,
    renaming: common.Renaming,
    dry_run: DryRun = False,
) -> None:
    """Declare ``plausibly report``."""
    said: dict[str, object] = {
        "-p": predictions,
        "-a": annotations,
        "--plausibilities": plausibilities,
        "-e": examples,
        "--labels": labels,
        "--alpha": alpha,
        "--by": by,
        "--title": title,
        "--words": words,
        "--text": text,
        "--thumbnail": thumbnail,
        "--annotator-names": annotator_names,
        "--true": true,
        "--cluster": cluster,
        "--ties": None if ties is common.Ties.first else ties.value,
        "--aggregator": aggregator,
        "--seed": seed,
        "--only-common": only_common,
        **common.flags(answers, numbers, renaming),
    }
    from plausibly.cli import report_made as made
    from plausibly.report.options import Options
    from plausibly.report.sources import words_of

    made.check_source(study, predictor, said)
    values.outputs(
        out,
        {
            "--predictor": predictor,
            "-p": predictions,
            "-a": annotations,
            "--plausibilities": plausibilities,
            "-e": examples,
            "--labels": labels,
        },
    )
    options = Options(
        title=title,
        words=words_of(values.mapping(words, "--words", "example=nodule")),
        text=text,
        thumbnail=thumbnail,
        annotator_names=annotator_names,
        folder=Path() if examples is None else examples.parent,
    )
    if study is not None:
        made.of_study(
            output,
            study,
            options,
            examples=examples,
            labels=labels,
            by=by,
            said=said,
            out=out,
            dry_run=dry_run,
        )
    elif predictor is not None and predictions is not None:
        made.of_predictor(
            output,
            predictor,
            asked.model(predictions, numbers, examples=examples),
            asked.opinions(
                annotations,
                answers,
                plausibilities=plausibilities,
                aggregator=aggregator,
                seed=seed,
            ),
            asked.naming(labels, renaming),
            options,
            made.Judging(
                alphas=tuple(alpha or common.DEFAULT_ALPHAS),
                by=by,
                cluster=cluster,
                true=true,
                ties=ties.value,
                seed=seed,
                only_common=only_common,
            ),
            said=said,
            out=out,
            dry_run=dry_run,
        )
