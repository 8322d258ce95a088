"""``plausibly convert``: annotations of any format to one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plausibly.cli import asked, common, dry, values
from plausibly.cli.output import Output

HELP = (
    "Write annotations of any format as one table that keeps everything: every response in words, "
    "its state, labels that nobody named, examples that nobody answered."
)
EXAMPLES = """\b
Examples:
  plausibly convert -a export.json -o votes.csv
  plausibly convert -a votes.tsv --columns task=item,worker=rater,label=dx \\
    -o votes.parquet
"""


def convert(
    output: Output,
    *,
    annotations: common.RequiredAnnotations,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE", help="Output: .csv, .parquet, .npz or .nc."),
    ],
    answers: common.Format,
    labels: common.Labels = None,
    dry_run: dry.DryRun = False,
) -> None:
    """Declare ``plausibly convert``."""
    opinions = asked.opinions(annotations, answers)
    values.outputs(out, {"-a": annotations, "--labels": labels})
    from plausibly.cli import layout, reading
    from plausibly.io import read_annotations, write_annotations
    from plausibly.io.annotation_files import check_output

    whose = opinions.path.name
    with output.working(f"reading {whose}"):
        table = read_annotations(opinions.path, opinions.reader, labels, **opinions.options)
        facts = reading.annotation_facts(table, opinions.path)
    check_output(out)
    if dry_run:
        output.document |= {"annotations": facts}
        dry.show(
            output,
            read={"-a": opinions.path, "--labels": labels},
            rows=[("annotations", reading.summary_of(table, whose))],
            would="write every response as one table",
            memory=table.nbytes,
            write=[out],
        )
        return
    with output.working(f"writing {out.name}"):
        write_annotations(table, out)
    output.document |= {"annotations": facts, "saved": out}
    following = ["plausibly", "aggregate", "-a", out, "-o", "plausibilities.parquet"]
    output.show(
        layout.fields(
            [
                ("annotations", reading.summary_of(table, whose)),
                ("saved", f"{out} ({layout.size(out)})"),
                ("next", layout.command_line(following, indent=13)),
            ]
        )
    )
