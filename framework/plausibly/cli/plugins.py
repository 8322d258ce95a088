"""``plausibly plugins``: what is installed, by whom, and what is broken."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from plausibly.registry import Entry, Failure, Registry

app = typer.Typer(
    help="Components and the plugins that offer them.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

HEADER = ("kind", "name", "plugin", "distribution", "state")


@app.callback()
def plugins() -> None:
    """Components and the plugins that offer them."""


@app.command("list")
def list_plugins(
    kind: Annotated[
        str | None, typer.Option("--kind", help="Only one kind, such as aggregator.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """List every component, the plugin that offers it, and every plugin that failed.

    Works with every plugin broken, and imports no component.

    \b
    Example:
      plausibly plugins list --kind combiner
    """  # noqa: D301  # \b is a mark for the help, not a backslash
    from plausibly.registry import default

    entries, failures = chosen(default(), kind)
    if as_json:
        typer.echo(json.dumps(as_data(entries, failures), ensure_ascii=False, indent=2))
        return
    show([HEADER, *rows(entries, failures)])
    if failures:
        typer.echo("")
        for failure in failures:
            typer.echo(f"{failure.source} {failure.state}: {failure.reason}")
            typer.echo(f"  {'do':<10}{failure.remedy}")
    typer.echo(counts(entries, failures))


def chosen(registry: Registry, kind: str | None) -> tuple[list[Entry], list[Failure]]:
    """Return what to list, sorted by kind, ours first, then by name.

    A plugin that failed before it registered anything may be of any kind, so it is always listed.
    """
    from plausibly.errors import InputError
    from plausibly.protocols import KINDS

    names = [known.name for known in KINDS]
    if kind is not None and kind not in names:
        raise InputError(
            "kind-unknown",
            f'there is no kind of component "{kind}"',
            expected=", ".join(names),
            got=kind,
            do="plausibly plugins list, which lists all of them",
            whose="--kind",
        )
    wanted = names if kind is None else [kind]
    entries = sorted(
        (entry for entry in registry.entries() if entry.kind in wanted),
        key=lambda e: (e.kind, not e.source.builtin, e.name, e.source.plugin),
    )
    failures = [
        failure
        for failure in registry.failures()
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
    """Return how many components, plugins and failures there are, in words."""
    from plausibly.errors import counted

    plugins = {e.source for e in entries} | {f.source for f in failures}
    components = f"{counted(len(entries))} component{'' if len(entries) == 1 else 's'}"
    offered_by = f"{counted(len(plugins))} plugin{'' if len(plugins) == 1 else 's'}"
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


def show(table: Sequence[Sequence[str]]) -> None:
    """Print a table: with Rich on a terminal, as aligned text where it is piped."""
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table

        rich = Table(box=None, pad_edge=False, header_style="bold")
        for title in table[0]:
            rich.add_column(title, overflow="fold")
        for row in table[1:]:
            rich.add_row(*row, style="red" if row[-1].startswith("failed") else None)
        Console(markup=False, emoji=False, highlight=False).print(rich)
        return
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    for row in table:
        line = "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True))
        typer.echo(line.rstrip())
