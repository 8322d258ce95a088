"""``plausibly plugins list``, without Typer, which takes longer to import than the list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from plausibly.cli import layout
from plausibly.cli.output import Output
from plausibly.errors import InputError, counted

if TYPE_CHECKING:
    from plausibly.registry import Source
    from plausibly.registry.listing import Row

HEADER = ("kind", "name", "plugin", "distribution", "state")
HEADER_INSTALLED = ("plugin", "module", "distribution", "state")


def show(output: Output, *, kind: str | None = None, installed: bool = False) -> None:
    from plausibly import registry
    from plausibly.registry import listing

    made = registry.default()
    if installed:
        _print_installed(output, listing.installed(made))
    else:
        if kind is not None:
            check_kind(kind, do="plausibly plugins list, for all of them")
        # A plugin without a component may be of any kind.
        rows = [row for row in listing.overview(made) if kind is None or row.kind in ("", kind)]
        _print(output, rows)
    made.report(failures=False)


def check_kind(kind: str, *, do: str) -> None:
    """Raise ``kind-unknown`` unless there is such a kind of component."""
    from plausibly.protocols import KINDS

    names = [known.name for known in KINDS]
    if kind not in names:
        close = get_close_matches(kind, names, n=1)
        raise InputError(
            "kind-unknown",
            f'there is no kind of component "{kind}"',
            expected=f"one of {', '.join(names)}",
            got=kind,
            do=f"--kind {close[0]}" if close else do,
            whose="--kind",
        )


def _print(output: Output, rows: Sequence[Row]) -> None:
    sources = dict.fromkeys(row.source for row in rows)
    output.document["components"] = [component_as_data(row) for row in rows if row.kind]
    output.document["plugins"] = [
        {
            **plugin_as_data(source, rows),
            "components": sum(1 for row in rows if row.source == source and row.entry),
        }
        for source in sources
    ]
    cells = [
        [row.kind or "-", row.name or "-", row.source.plugin, row.source.where, row.words]
        for row in rows
    ]
    if _width([HEADER, *cells]) > layout.WIDTH:
        # Which extra is missing stands below.
        for cell, row in zip(cells, rows, strict=True):
            cell[-1] = "no extra" if row.state == "needs extra" else row.words
    output.show(layout.aligned(_fitting([HEADER, *cells])))
    # Components of one plugin that lack the same are one line.
    alike = Counter((row.source, row.words, row.reason) for row in rows)
    reasons: dict[str, None] = {}
    for row in rows:
        if row.reason:
            whole = row.entry is None or row.state == "disabled"
            whose = str(row.source) if whole else f"{row.kind} {row.source.plugin}:{row.name}"
            several = alike[row.source, row.words, row.reason]
            if row.state == "needs extra" and several > 1:
                whose = f"{plural(several, 'component')} of {row.source.plugin}"
            lines = layout.wrapped(f"{row.words}  {whose}: {row.reason}", indent=2)
            reasons["\n".join(lines)] = None
    for text in reasons:
        output.show(text)
    components = sum(1 for row in rows if row.kind and row.state in ("ready", "needs extra"))
    failed, disabled = (
        list(dict.fromkeys(row.source for row in rows if row.state == state))
        for state in ("failed", "disabled")
    )
    text = f"{plural(components, 'component')} of {plural(len(sources), 'plugin')}, "
    text += f"{counted(len(failed)) if failed else 'none'} failed"
    text += f", {counted(len(disabled))} disabled" * bool(disabled)
    if failed:
        named = " ".join(source.plugin for source in failed) if len(failed) < 4 else ""
        text += f":  plausibly plugins check {named}".rstrip()
    output.show(text)


def _print_installed(output: Output, found: Sequence[Row]) -> None:
    output.document["plugins"] = [
        {**source_as_data(one.source), **_values(one, "module", "state", "reason")}
        | metadata_of(one.source)
        for one in found
    ]
    rows = [[o.source.plugin, o.module or "-", o.source.where, o.state] for o in found]
    output.show(layout.aligned(_fitting([HEADER_INSTALLED, *rows])))
    for one in found:
        if one.reason:
            lines = layout.wrapped(f"{one.state}  {one.source}: {one.reason}", indent=2)
            output.show("\n".join(lines))
    distributions = {one.source.distribution for one in found}
    output.show(
        f"{plural(len(found), 'plugin')} of {plural(len(distributions), 'distribution')}, "
        "none imported:  plausibly plugins list"
    )


def plural(number: int, noun: str) -> str:
    return f"{counted(number)} {noun}{'' if number == 1 else 's'}"


def _values(record: object, *names: str) -> dict[str, object]:
    return {name: getattr(record, name) for name in names}


def source_as_data(source: Source) -> dict[str, object]:
    return _values(source, "plugin", "distribution", "version")


def component_as_data(row: Row) -> dict[str, object]:
    state = _values(row, "summary", "state", "stage", "reason")
    return {"kind": row.kind, "name": row.name, **source_as_data(row.source), **state}


def plugin_as_data(source: Source, rows: Sequence[Row]) -> dict[str, object]:
    """Return a plugin with what is known of it as a whole."""
    state: dict[str, object] = {"state": "ready", "stage": "", "reason": ""}
    for row in rows:
        if row.source == source and (row.entry is None or row.state == "disabled"):
            state = _values(row, *state)
            break
    return {**source_as_data(source), **state}


def metadata_of(source: Source) -> dict[str, str]:
    """Return what a distribution says of itself: summary and address."""
    import importlib.metadata

    try:
        about = importlib.metadata.metadata(source.distribution)
    except (importlib.metadata.PackageNotFoundError, ValueError):  # of this run, or unreadable
        return {"about": "", "url": ""}
    pages = [page.partition(",")[2].strip() for page in about.get_all("Project-URL") or ()]
    pages += about.get_all("Home-page") or []
    return {"about": next(iter(about.get_all("Summary") or []), ""), "url": next(iter(pages), "")}


def _width(table: Sequence[Sequence[str]]) -> int:
    return max(map(len, layout.aligned(table).splitlines()))


def _fitting(table: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """Return a table without the columns for which a terminal is too narrow; a pipe gets all."""
    for title in ("distribution", "module", "plugin") if layout.results().isatty() else ():
        if _width(table) > layout.columns() and title in table[0][1:]:
            place = table[0].index(title)
            table = [[*row[:place], *row[place + 1 :]] for row in table]
    return table
