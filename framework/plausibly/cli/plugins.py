"""``plausibly plugins``: what is installed, by whom, what it takes, and what is broken."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plausibly.cli import common, completion, dry, plugins_list

HELP = "Components, and the plugins that offer them."
HELP_LIST = """List every component and plugin, who offers it, and in which state it is.

Ready means registered: plausibly plugins check loads every class as well.
"""
HELP_INFO = "Show what components are and take: summary, parameters, defaults, meaning."
HELP_NEW = "Write a new plugin: a distribution with a component that works, tests and types."
HELP_CHECK = "Load every component of plugins, and compare it with its Protocol."
EXAMPLES_LIST = """\b
Examples:
  plausibly plugins list
  plausibly plugins list --kind combiner --json
  plausibly plugins list --installed
"""
EXAMPLES_INFO = """\b
Examples:
  plausibly plugins info monte-carlo
  plausibly plugins info readers --json
"""
EXAMPLES_NEW = """\b
Examples:
  plausibly plugins new thesis-pl --kind aggregator
  plausibly plugins new pairs --kind annotation -o ~/code/pairs
"""
EXAMPLES_CHECK = """\b
Examples:
  plausibly plugins check
  plausibly plugins check my-plugin --rules

\b
Exit code 3 where something failed.
"""

app = typer.Typer(
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command("list", help=HELP_LIST, epilog=EXAMPLES_LIST)
def list_plugins(
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            autocompletion=completion.kinds_of_component,
            metavar="KIND",
            help="Only components of one kind.",
        ),
    ] = None,
    installed: Annotated[
        bool,
        typer.Option("--installed", help="Only what metadata say; imports no plugin."),
    ] = False,
    json: common.AsJson = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> int:
    """Declare ``plausibly plugins list``; without ``--kind``, `plausibly.cli.start` answers."""
    return plugins_list.show(kind=kind, installed=installed, json=json, quiet=quiet, debug=debug)


@app.command("info", help=HELP_INFO, epilog=EXAMPLES_INFO)
def info(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...",
            autocompletion=completion.plugins_and_components,
            help="Components, plugins or distributions.",
        ),
    ],
    json: common.AsJson = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> int:
    """Declare ``plausibly plugins info``."""
    from plausibly.cli import plugins_info

    return plugins_info.show(names, json=json, quiet=quiet, debug=debug)


@app.command("check", help=HELP_CHECK, epilog=EXAMPLES_CHECK)
def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME...]",
            autocompletion=completion.plugins_and_components,
            help="Components, plugins or distributions [default: all].",
        ),
    ] = None,
    rules: Annotated[
        bool,
        typer.Option("--rules", help="Run the author's kit as well."),
    ] = False,
    json: common.AsJson = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> int:
    """Declare ``plausibly plugins check``."""
    from plausibly.cli import plugins_check

    return plugins_check.show(names or (), rules=rules, json=json, quiet=quiet, debug=debug)


@app.command("new", help=HELP_NEW, epilog=EXAMPLES_NEW)
def new(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Of the distribution, the plugin and the component."),
    ],
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            autocompletion=completion.kinds_of_component,
            metavar="KIND",
            help="annotation, reader, aggregator, score, calibrator or combiner.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Folder to write [default: NAME]."),
    ] = None,
    dry_run: dry.DryRun = False,
    json: common.AsJson = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> int:
    """Declare ``plausibly plugins new``."""
    from plausibly.cli import plugins_new

    return plugins_new.show(
        name, kind=kind, folder=out, dry_run=dry_run, json=json, quiet=quiet, debug=debug
    )
