"""``plausibly plugins``: components with summaries, parameters and states; checks of them."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from plausibly.cli import completion, layout, plugins_new
from plausibly.cli.output import Output
from plausibly.errors import EXIT_CHECK, InputError, counted
from plausibly.text import wrapped

if TYPE_CHECKING:
    from plausibly.registry import Entry, Source
    from plausibly.registry.listing import About, Row, Rules

HELP = "Components, and the plugins that offer them."
_FLAGS = {"reader", "aggregator", "calibrator", "score", "combiner"}
_NAMED = typer.Argument(
    metavar="NAME...",
    autocompletion=completion.plugins_and_components,
    help="Components, plugins or distributions.",
)
_ROOM = layout.WIDTH - 12  # what the titles leave of a line
_COMPONENT = ("kind", "name", "summary", "state", "stage", "reason")
_TITLES = {"ok": "ok", "ready": "ok", "failed": "FAILED", "needs extra": "EXTRA"}


def list_plugins(
    output: Output,
    *,
    kind: Annotated[
        plugins_new.Kind | None, typer.Option("--kind", metavar="KIND", help="Only one kind.")
    ] = None,
) -> None:
    """List the components of every kind, with a line on what each one does.

    Registered classes are loaded by plausibly plugins check.

    plausibly plugins list
    plausibly plugins list --kind combiner --json
    """
    from plausibly import registry
    from plausibly.registry.listing import overview

    # A plugin without a component may be of any kind.
    rows = [row for row in overview(registry.default()) if kind is None or row.kind in ("", kind)]
    sources = dict.fromkeys(row.source for row in rows)
    components = [_data(row, *_COMPONENT) for row in rows if row.kind]
    output.document["components"] = components
    output.document["plugins"] = [
        {
            **_data(_plugin(source, rows), "state", "stage", "reason"),
            "components": sum(1 for row in rows if row.source == source and row.entry),
        }
        for source in sources
    ]
    for title, members in groupby(rows, key=lambda row: row.kind):
        output.show(f"{title or 'plugins without a component'}\n{_listed(list(members))}\n")
    for words, source, reason in dict.fromkeys((r.words, r.source, r.reason) for r in rows):
        if reason:
            output.show("\n".join(wrapped(f"{words}  {source}: {reason}", indent=2)))
    failed, disabled = (
        len({row.source for row in rows if row.state == state}) for state in ("failed", "disabled")
    )
    output.rows(
        [
            ("components", counted(len(components))),
            ("plugins", f"{counted(len(sources))}, {failed} failed, {disabled} disabled"),
            ("next", "plausibly plugins check" if failed else ""),
        ]
    )


def _listed(rows: Sequence[Row]) -> str:
    """Return a line per component: name, summary, plugin if it is not ours, state if not ready."""
    names = Counter(row.name for row in rows)
    lines: list[layout.Row] = []
    for row in rows:
        qualified = names[row.name] > 1 or not row.name
        name = f"{row.source.plugin}:{row.name}".rstrip(":") if qualified else row.name
        notes = [] if row.source.builtin else [row.source.where]
        notes += [row.words] * (row.state != "ready")
        summary = " ".join(filter(None, (row.summary, f"({', '.join(notes)})" if notes else "")))
        lines.append((f"  {name}", summary or "no summary"))
    return layout.fields(lines)


def _data(row: Row, *names: str) -> dict[str, object]:
    source = {name: getattr(row.source, name) for name in ("plugin", "distribution", "version")}
    return {**source, **{name: getattr(row, name) for name in names}}


def _plugin(source: Source, rows: Sequence[Row]) -> Row:
    """Return a row with the state of a plugin as a whole."""
    from plausibly.registry.listing import Row

    whole = (r for r in rows if r.source == source and (r.entry is None or r.state == "disabled"))
    return next(whole, Row(source, "ready"))


def _state(row: Row) -> str:
    return f"{row.words}: {row.reason}" if row.reason else row.words


def info(
    output: Output,
    *,
    names: Annotated[list[str], _NAMED],
) -> None:
    """Show what components are and take: summary, parameters, defaults, meaning.

    plausibly plugins info monte-carlo
    plausibly plugins info readers --json
    """
    import attrs

    from plausibly import registry
    from plausibly.registry.entries import reason_of
    from plausibly.registry.listing import about, overview, select
    from plausibly.registry.parameters import plain

    made = registry.default()
    rows = select(overview(made), names)
    plugins: list[dict[str, object]] = []
    components: list[dict[str, object]] = []
    texts: list[str] = []
    for source in dict.fromkeys(row.source for row in rows):
        if any(source.is_called(name) for name in names):
            whole = _plugin(source, rows)
            offers = [row for row in rows if row.source == source and row.kind]
            named = [{"kind": row.kind, "name": row.name} for row in offers]
            plugins.append({**_data(whole, "state", "stage", "reason"), "offers": named})
            lines: list[layout.Row] = [
                ("plugin", str(source)),
                ("state", _state(whole)),
                ("offers", ", ".join(f"{row.kind} {row.name}" for row in offers)),
            ]
            texts.append(layout.fields(lines))
    for row in rows:
        if row.entry is None:
            continue
        parameters: tuple[About, ...] = ()
        why = ""
        try:
            parameters = about(row.entry.load(), lambda value: plain(value, made.describe))
        except InputError as error:  # its parameters cannot be known
            why = reason_of(error)
        described = [attrs.asdict(parameter) for parameter in parameters]
        more = {"target": row.entry.place, "parameters": described, "unknown": why}
        components.append({**_data(row, *_COMPONENT), **more})
        texts.append(_component(row, row.entry, parameters, why))
    output.document |= {"plugins": plugins, "components": components}
    output.show("\n\n".join(texts))


def _component(row: Row, entry: Entry, parameters: Sequence[About], why: str) -> str:
    lines: list[str] = []
    for parameter in parameters:
        default = f"default {parameter.default or 'made from the other parameters'}"
        takes = f"{parameter.type}; {'required' if parameter.required else default}"
        lines += layout.fields([(parameter.name, takes)]).splitlines()
        lines += wrapped(f"  {parameter.help}", _ROOM, indent=2)
    rows: list[layout.Row] = [
        (row.kind, f"{row.name} of {row.source}"),
        ("summary", row.summary),
        ("state", _state(row)),
        ("class", entry.place),
        ("parameters", lines or ("" if why else "none")),
        ("unknown", why),
    ]
    if row.kind in _FLAGS and row.state != "disabled":
        name = row.name if row.source.builtin else entry.qualified
        required = [f"{parameter.name} = ..." for parameter in parameters if parameter.required]
        table = "{" + ", ".join([f'name = "{name}"', *required]) + "}"
        rows.append(("use", [f"--{row.kind} {shlex.quote(table if required else name)}"]))
    return layout.fields(rows)


def check(
    output: Output,
    *,
    names: Annotated[list[str] | None, _NAMED] = None,
    rules: Annotated[bool, typer.Option("--rules", help="Run the author's kit as well.")] = False,
) -> int:
    """Load every component of plugins, and compare it with its Protocol.

    Exit code 3 where something failed.

    plausibly plugins check
    plausibly plugins check my-plugin --rules
    """
    from plausibly import registry
    from plausibly.registry.listing import check_entry, overview, select

    made = registry.default()
    rows = select(overview(made), names) if names else overview(made)
    kit: Rules | None = None
    if rules:
        from plausibly.testing import check as kit
    results: list[Row] = []
    for row in rows:
        if row.state != "disabled":
            untested = row.source.builtin and not names
            tried = row.entry and check_entry(row.entry, made, None if untested else kit)
            results.append(tried or row)
    results.sort(key=lambda result: (result.source.builtin, result.source.where))
    failed = {result.source for result in results if result.state == "failed"}
    keys = ("kind", "name", "state", "stage", "reason", "hint")
    output.document |= {"checked": [_data(r, *keys) for r in results], "failed": len(failed)}
    alike: Counter[tuple[str, str]] = Counter()
    for result in results:
        if names or not result.source.builtin or result.state == "failed":
            output.show(_lines(result))
        else:
            alike[_TITLES[result.state], result.hint] += 1
    for (title, hint), count in alike.items():
        output.show(f"{title:<8}{counted(count)} of plausibly's components  {hint}".rstrip())
    of = len({result.source for result in results})
    output.show(f"plugins {counted(of)}, {counted(len(failed))} failed")
    return EXIT_CHECK if failed else 0


def _lines(row: Row) -> str:
    plugin = row.source.plugin
    what = f"{row.kind} {plugin}:{row.name}" if row.kind else f"plugin {plugin}"
    where = f", at {row.stage}" if row.stage else ""
    reason = f": {row.reason}" if row.reason else ""
    text = f"{_TITLES[row.state]:<8}{row.source.where}  {what}{where}{reason}"
    first, *table = text.splitlines()
    lines = [*wrapped(first, indent=10), *(f"{'':<10}{line}" for line in table)]
    if row.hint:
        lines += wrapped(f"{'':<8}hint  {row.hint}", indent=12)
    return "\n".join(lines)


COMMANDS = {"list": list_plugins, "info": info, "check": check, "new": plugins_new.new}
