"""``plausibly plugins``: what is installed, by whom, what it takes, and what is broken."""

from __future__ import annotations

from typing import Annotated

import typer

from plausibly.cli import completion, plugins_check, plugins_info, plugins_list, plugins_new
from plausibly.cli.output import Output

HELP = "Components, and the plugins that offer them."
HELP_LIST = """List every component and plugin, who offers it, and in which state it is.

Ready means registered: plausibly plugins check loads every class as well.
"""
EXAMPLES_LIST = """\b
Examples:
  plausibly plugins list
  plausibly plugins list --kind combiner --json
  plausibly plugins list --installed
"""


def list_plugins(
    output: Output,
    *,
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
) -> None:
    """Declare ``plausibly plugins list``; without ``--kind``, `plausibly.cli.start` answers."""
    plugins_list.show(output, kind=kind, installed=installed)


COMMANDS = {
    "list": (list_plugins, HELP_LIST, EXAMPLES_LIST),
    "info": (plugins_info.info, plugins_info.HELP, plugins_info.EXAMPLES),
    "check": (plugins_check.check, plugins_check.HELP, plugins_check.EXAMPLES),
    "new": (plugins_new.new, plugins_new.HELP, plugins_new.EXAMPLES),
}
