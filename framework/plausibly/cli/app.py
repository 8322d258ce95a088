"""``plausibly``: the commands and what they are called; their bodies import what they need."""

from __future__ import annotations

from typing import Annotated

import typer

from plausibly.cli import completion
from plausibly.cli.commands import SETTINGS, Commands
from plausibly.cli.terminal import tolerate

HELP = """Prediction sets that cover what experts say, with a guarantee you can read.

\b
The way of your data:
  plausibly calibrate -a votes.csv -p probabilities.csv -o predictor.nc
  plausibly predict predictor.nc -p new.csv --alpha 0.1 -o sets.csv
  plausibly evaluate sets.csv -a new_votes.csv

\b
Exit codes: 0 done, 1 our fault, 2 your input, 3 a check did not pass,
130 interrupted.
"""

app = typer.Typer(
    name="plausibly",
    cls=Commands,
    help=HELP,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=SETTINGS,
)


def _version(asked: bool) -> None:
    if asked:
        from plausibly.extras import version

        typer.echo(f"plausibly {version()}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def plausibly(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--disable-plugin",
            metavar="NAME",
            autocompletion=completion.plugins,
            help="Do without a plugin. Repeatable; * = all.",
        ),
    ] = None,
) -> None:
    """Do without some plugins; print the help where no command is named."""
    if without:
        from plausibly.registry import disabling

        context.with_resource(disabling(without, by="--disable-plugin"))
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> int:
    """Run the command that the arguments name."""
    tolerate()
    code = app(standalone_mode=False)
    return code if isinstance(code, int) else 0
