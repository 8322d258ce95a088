"""``plausibly run``: a study file to results, prediction sets and a predictor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plausibly.cli import common, layout
from plausibly.cli.output import Output

SUMMARY = "A study file to results and a predictor."
HELP = "Run a study: calibrations compared on random splits, their sets, and a predictor."
EXAMPLES = """\b
Examples:
  plausibly run study.toml
  plausibly run study.toml -o elsewhere --json
"""

Study = Annotated[Path, typer.Argument(metavar="STUDY", help="A study file, such as study.toml.")]
Folder = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FOLDER", help="Output, instead of the file's folder."),
]


def run(
    study: Study,
    out: Folder = None,
    json: common.AsJson = False,
    quiet: common.Quiet = False,
    strict: common.Strict = False,
    debug: common.Debug = False,
) -> int:
    """Declare ``plausibly run``."""
    output = Output("run", json=json, quiet=quiet, strict=strict, debug=debug)

    def body() -> None:
        _run(output, study, out)

    return output.run(body)


def _run(output: Output, path: Path, out: Path | None) -> None:
    from plausibly.cli import study_words as words
    from plausibly.evaluation.tables import study_table
    from plausibly.study import prepare, run_study, write_study

    with output.working(f"reading {path.name}"):
        ready = prepare(path, folder=out)
    output.document |= words.before(ready)
    output.show(layout.fields([*words.blocks(ready), ("study", words.design(ready))]) + "\n")
    with output.working("splits") as tick:
        result = run_study(ready, progress=tick)
    with output.working("writing"):
        written = write_study(result)
    output.document |= words.after(result, written)
    output.show(f"{study_table(words.with_short_names(result.compared))}\n")
    output.show(layout.fields(words.outcome(result, written)))
