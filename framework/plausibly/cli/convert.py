"""``plausibly convert``: annotations of any format to one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plausibly.cli import layout, options
from plausibly.cli.output import DryRun, Output, check_path, show_dry_run
from plausibly.config.load import Draft

FLAGS = {"Files": "-a --labels", "Format of the annotations": options.FORMAT}
REQUIRED = "-a"


def convert(
    output: Output,
    loaded: Draft,
    *,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE", help="Output: .csv, .parquet, .npz or .nc."),
    ],
    dry_run: DryRun = False,
) -> None:
    r"""Write annotations of any format as one table that keeps everything: every response in
    words, its state, labels that no annotator named, examples without answers.

    plausibly convert -a export.json -o votes.csv
    plausibly convert -a votes.tsv -o votes.parquet \
      --columns example=item,annotator=rater,label=dx
    """
    from plausibly.io import write_annotations
    from plausibly.io.datasets import ENDINGS
    from plausibly.io.files import check_ending
    from plausibly.study.reading import annotation_facts, read_table, summary_of

    files = output.inputs
    check_path(out, files)
    path = files["-a"]
    with output.working(f"reading {path.name}"):
        table = read_table(loaded.settings)
    output.document["annotations"] = annotation_facts(table, path)
    check_ending(out, ENDINGS)
    rows: list[layout.Row] = [("annotations", summary_of(table, path.name))]
    if dry_run:
        would = "write every response as one table"
        show_dry_run(output, read=files, rows=rows, would=would, write=[out])
        return
    with output.working(f"writing {out.name}"):
        write_annotations(table, out)
    output.document["saved"] = out
    following = ("plausibly", "aggregate", "-a", out, "-o", "plausibilities.parquet")
    output.rows([*rows, ("saved", f"{out} ({layout.size(out)})"), ("next", following)])
