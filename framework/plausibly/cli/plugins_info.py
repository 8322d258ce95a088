"""``plausibly plugins info``: what a component is and takes, and what a plugin offers."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from plausibly.cli import completion, layout
from plausibly.cli.output import Output
from plausibly.cli.plugins_list import component_as_data, metadata_of, plural, source_as_data
from plausibly.errors import InputError

if TYPE_CHECKING:
    from plausibly.registry import Entry, Registry, Source
    from plausibly.registry.listing import About, Row

_FLAGS = {"reader", "aggregator", "calibrator", "score", "combiner"}
_ROOM = layout.WIDTH - 12  # what the titles leave of a line


HELP = "Show what components are and take: summary, parameters, defaults, meaning."
EXAMPLES = """\b
Examples:
  plausibly plugins info monte-carlo
  plausibly plugins info readers --json
"""


def info(
    output: Output,
    *,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...",
            autocompletion=completion.plugins_and_components,
            help="Components, plugins or distributions.",
        ),
    ],
) -> None:
    """Declare ``plausibly plugins info``."""
    from plausibly import registry
    from plausibly.registry.listing import Row, overview, select

    made = registry.default()
    rows = select(overview(made), names)
    plugins = [
        source
        for source in dict.fromkeys(row.source for row in rows)
        if any(r.entry is None and r.source == source for r in rows)
        or any(Row(source, "ready").answers_to(name) for name in names)
    ]
    output.document["plugins"] = [_plugin_as_data(source, rows) for source in plugins]
    components: list[dict[str, object]] = []
    texts = [_plugin(source, rows) for source in plugins]
    for row in rows:
        if row.entry is not None:
            found, why = _parameters(made, row.entry)
            components.append(_as_data(row, found, why))
            texts.append(_component(row, found, why))
    output.document["components"] = components
    output.show("\n\n".join(texts))
    made.tell_of_names()


def _parameters(made: Registry, entry: Entry) -> tuple[tuple[About, ...], str]:
    """Return the parameters of a component, or none and why they cannot be known."""
    from plausibly.registry.entries import reason_of
    from plausibly.registry.listing import about
    from plausibly.registry.parameters import plain

    try:
        return about(entry.load(), lambda value: plain(value, made.describe)), ""
    except InputError as error:
        return (), reason_of(error)


def _plugin(source: Source, rows: Sequence[Row]) -> str:
    said = metadata_of(source)
    whole = [row for row in rows if row.source == source and row.entry is None]
    state = whole[0] if whole else next(row for row in rows if row.source == source)
    offered = [f"{r.kind} {r.name}" for r in rows if r.source == source and r.kind]
    broken = [r for r in rows if r.source == source and r.entry and r.state == "failed"]
    ready = f"ready, but {plural(len(broken), 'component')} failed" if broken else "ready"
    return layout.fields(
        [
            ("plugin", str(source)),
            ("about", said["about"]),
            ("url", said["url"]),
            ("state", _state(state) if whole or state.state == "disabled" else ready),
            ("offers", ", ".join(offered)),
        ]
    )


def _state(row: Row) -> str:
    return f"{row.words}: {row.reason}" if row.reason else row.words


def _component(row: Row, found: Sequence[About], why: str) -> str:
    """Return a component with its parameters, one below the other."""
    from plausibly.registry.listing import first_sentence

    entry = row.entry
    target = "" if entry is None else entry.target
    place = target if isinstance(target, str) else f"{target.__module__}:{target.__qualname__}"
    summary = row.summary
    if not summary and entry is not None and not isinstance(entry.target, str):
        summary = first_sentence(entry.target)
    parameters: list[str] = []
    for one in found:
        default = f"default {one.default or 'made from the other parameters'}"
        takes = f"{one.type}; {'required' if one.required else default}"
        parameters += layout.fields([(one.name, takes)]).splitlines()
        parameters += layout.wrapped(f"  {one.help}", _ROOM, indent=2)
    return layout.fields(
        [
            (row.kind, f"{row.name} of {row.source}"),
            ("summary", summary),
            ("state", _state(row)),
            ("class", place),
            ("parameters", parameters or ("" if why else "none")),
            ("unknown", why),
            ("use", [_use(row, found)] if _use(row, found) else ""),
        ]
    )


def _use(row: Row, found: Sequence[About]) -> str:
    """Return how the component is written on the command line, with its defaults."""
    if row.kind not in _FLAGS or row.entry is None or row.state in ("failed", "disabled"):
        return ""
    name = row.name if row.source.builtin else row.entry.qualified
    table = [f'name = "{name}"', *(f"{one.name} = ..." for one in found if one.required)]
    for one in found:
        further = [*table, f"{one.name} = {one.default}"]
        if one.default not in ("", "none") and len(_flag(row.kind, further)) <= _ROOM:
            table = further
    return _flag(row.kind, table) if len(table) > 1 else f"--{row.kind} {shlex.quote(name)}"


def _flag(kind: str, table: Sequence[str]) -> str:
    return f"--{kind} {shlex.quote('{' + ', '.join(table) + '}')}"


def _as_data(row: Row, found: Sequence[About], why: str) -> dict[str, object]:
    import attrs

    target = "" if row.entry is None else row.entry.target
    return {
        **component_as_data(row),
        "target": target
        if isinstance(target, str)
        else f"{target.__module__}:{target.__qualname__}",
        "parameters": [attrs.asdict(one) for one in found],
        "unknown": why,
    }


def _plugin_as_data(source: Source, rows: Sequence[Row]) -> dict[str, object]:
    whole = next((r for r in rows if r.source == source and r.entry is None), None)
    return {
        **source_as_data(source),
        **metadata_of(source),
        "state": "ready" if whole is None else whole.state,
        "stage": "" if whole is None else whole.stage,
        "reason": "" if whole is None else whole.reason,
        "offers": [{"kind": r.kind, "name": r.name} for r in rows if r.source == source and r.kind],
    }
