"""``plausibly plugins``: what is installed, by whom, and what is broken."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from plausibly.cli import common
from plausibly.cli.output import Output
from plausibly.errors import InputError, counted, render

if TYPE_CHECKING:
    from plausibly.registry import Entry, Failure

HELP = "Components, and the plugins that offer them."
HELP_LIST = "List every component, who offers it, and what failed."
EXAMPLES = """\b
Examples:
  plausibly plugins list
  plausibly plugins list --kind combiner --json
"""
HEADER = ("kind", "name", "plugin", "distribution", "state")

app = typer.Typer(
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def plugins() -> None:
    """Declare ``plausibly plugins``, whose only command would otherwise be taken for it."""


@app.command("list", help=HELP_LIST, epilog=EXAMPLES)
def list_plugins(
    kind: Annotated[
        str | None,
        typer.Option("--kind", metavar="KIND", help="Only components of one kind."),
    ] = None,
    json: common.AsJson = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> int:
    """Declare ``plausibly plugins list``; it imports no component, and works if all are broken."""
    output = Output("plugins list", json=json, quiet=quiet, debug=debug)

    def body() -> None:
        entries, failures = chosen(kind)
        output.document |= as_data(entries, failures)
        table = [HEADER, *rows(entries, failures)]
        if sys.stdout.isatty() and not (json or quiet):
            _show_styled(table)
        else:
            output.show(aligned(table))
        for failure in failures:
            output.show(render(failure.warning()))
        output.show(counts(entries, failures))

    return output.run(body)


def chosen(kind: str | None) -> tuple[list[Entry], list[Failure]]:
    """Return what to list, sorted by kind, ours first, then by name.

    A plugin that failed before it registered anything may be of any kind, so it is always listed.

    Raises
    ------
    InputError
        ``kind-unknown``.
    """
    from plausibly.protocols import KINDS
    from plausibly.registry import default

    names = [known.name for known in KINDS]
    if kind is not None and kind not in names:
        raise InputError(
            "kind-unknown",
            f'there is no kind of component "{kind}"',
            expected=f"one of {', '.join(names)}",
            got=kind,
            do="plausibly plugins list, for all of them",
            whose="--kind",
        )
    wanted = names if kind is None else [kind]
    entries = sorted(
        (entry for entry in default().entries() if entry.kind in wanted),
        key=lambda e: (e.kind, not e.source.builtin, e.name, e.source.plugin),
    )
    failures = [
        failure
        for failure in default().failures()
        if not failure.offered or any(entry.kind in wanted for entry in failure.offered)
    ]
    return entries, failures


def rows(entries: Sequence[Entry], failures: Sequence[Failure]) -> list[tuple[str, ...]]:
    """Return one row a component, then one for each that a failed plugin was about to offer."""
    ready: list[tuple[str, ...]] = [
        (e.kind, e.name, e.source.plugin, e.source.where, "ready") for e in entries
    ]
    broken: list[tuple[str, ...]] = [
        (kind, name, failure.source.plugin, failure.source.where, failure.state)
        for failure in failures
        for kind, name in [(e.kind, e.name) for e in failure.offered] or [("-", "-")]
    ]
    return ready + broken


def counts(entries: Sequence[Entry], failures: Sequence[Failure]) -> str:
    """Return how many components, plugins and failures were listed, in words."""
    offering = {e.source for e in entries} | {f.source for f in failures}
    components = f"{counted(len(entries))} component{'' if len(entries) == 1 else 's'}"
    offered_by = f"{counted(len(offering))} plugin{'' if len(offering) == 1 else 's'}"
    return f"{components} of {offered_by}, {counted(len(failures)) if failures else 'none'} failed"


def as_data(entries: Sequence[Entry], failures: Sequence[Failure]) -> dict[str, object]:
    """Return the list as plain data, as ``--json`` prints it."""
    return {
        "components": [
            {
                "kind": entry.kind,
                "name": entry.name,
                "plugin": entry.source.plugin,
                "distribution": entry.source.distribution,
                "version": entry.source.version,
                "summary": entry.summary,
                "state": "ready",
            }
            for entry in entries
        ],
        "failures": [
            {
                "plugin": failure.source.plugin,
                "distribution": failure.source.distribution,
                "version": failure.source.version,
                "stage": failure.stage,
                "reason": failure.reason,
                "offered": [{"kind": e.kind, "name": e.name} for e in failure.offered],
            }
            for failure in failures
        ],
    }


def aligned(table: Sequence[Sequence[str]]) -> str:
    """Return a table as text whose columns start below each other, for pipes."""
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines = (
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True))
        for row in table
    )
    return "\n".join(line.rstrip() for line in lines)


def _show_styled(table: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    styled = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for title in table[0]:
        styled.add_column(title, overflow="fold")
    for row in table[1:]:
        styled.add_row(*row, style=None if row[-1] == "ready" else "red")
    Console(markup=False, emoji=False, highlight=False).print(styled)
