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

if TYPE_CHECKING:
    from plausibly.registry import Source
    from plausibly.registry.listing import About, Row

HELP = "Components, and the plugins that offer them."
_FLAGS = {"reader", "aggregator", "calibrator", "score", "combiner"}
_NAMED = typer.Argument(
    metavar="NAME...",
    autocompletion=completion.plugins_and_components,
    help="Components, plugins or distributions.",
)
_ROOM = layout.WIDTH - 12  # what the titles leave of a line


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
    from plausibly.registry import listing

    known = registry.default()
    # A plugin without a component may be of any kind.
    rows = [row for row in listing.overview(known) if kind is None or row.kind in ("", kind)]
    sources = dict.fromkeys(row.source for row in rows)
    output.document["components"] = [component_as_data(row) for row in rows if row.kind]
    output.document["plugins"] = [
        {
            **plugin_as_data(source, rows),
            "components": sum(1 for row in rows if row.source == source and row.entry),
        }
        for source in sources
    ]
    for name, members in groupby(rows, key=lambda row: row.kind):
        output.show(f"{name or 'plugins without a component'}\n{_listed(list(members))}\n")
    # Why components are not ready: once for those of one plugin that lack the same.
    alike = Counter((row.source, row.words, row.reason) for row in rows if row.reason)
    for row in rows:
        if count := alike.pop((row.source, row.words, row.reason), 0):
            what = f"{row.kind} {row.source.plugin}:{row.name}"
            if row.entry is None or row.state == "disabled":
                what = str(row.source)
            elif count > 1:
                what = f"{plural(count, 'component')} of {row.source.plugin}"
            text = f"{row.words}  {what}: {row.reason}"
            output.show("\n".join(layout.wrapped(text, indent=2)))
    components = sum(1 for row in rows if row.kind and row.state in ("ready", "needs extra"))
    states = {(row.state, row.source) for row in rows}
    failed, disabled = (sum(1 for s, _ in states if s == state) for state in ("failed", "disabled"))
    text = f"{plural(components, 'component')} of {plural(len(sources), 'plugin')}, "
    text += f"{counted(failed) if failed else 'none'} failed"
    text += f", {counted(disabled)} disabled" * bool(disabled)
    output.show(text + ":  plausibly plugins check" * bool(failed))
    known.report(failures=False)


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
    state: dict[str, object] = {"state": "ready", "stage": "", "reason": ""}
    for row in rows:
        if row.source == source and (row.entry is None or row.state == "disabled"):
            state = _values(row, *state)
            break
    return {**source_as_data(source), **state}


def metadata_of(source: Source) -> dict[str, str]:
    import importlib.metadata

    try:
        about = importlib.metadata.metadata(source.distribution).json
    except (importlib.metadata.PackageNotFoundError, ValueError):  # of this run, or unreadable
        about = {}
    pages = [str(page).partition(",")[2].strip() for page in about.get("project_url", ())]
    url = next(iter(pages), about.get("home_page", ""))
    return {"about": str(about.get("summary", "")), "url": str(url)}


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
    from plausibly.registry.listing import Row, about, first_sentence, overview, select
    from plausibly.registry.parameters import plain

    made = registry.default()
    rows = select(overview(made), names)
    texts: list[str] = []
    plugins: list[dict[str, object]] = []
    for source in dict.fromkeys(row.source for row in rows):
        mine = [row for row in rows if row.source == source]
        named = any(Row(source, "ready").answers_to(name) for name in names)
        if not named and all(row.entry for row in mine):
            continue
        metadata, offers = metadata_of(source), [row for row in mine if row.kind]
        whole = [row for row in mine if row.entry is None or row.state == "disabled"]
        broken = sum(1 for row in mine if row.entry and row.state == "failed")
        state = f"ready, but {plural(broken, 'component')} failed" if broken else "ready"
        lines = [
            ("plugin", str(source)),
            *metadata.items(),
            ("state", _state(whole[0]) if whole else state),
            ("offers", ", ".join(f"{row.kind} {row.name}" for row in offers)),
        ]
        texts.append(layout.fields(lines))
        offered = [{"kind": row.kind, "name": row.name} for row in offers]
        plugins.append({**metadata, **plugin_as_data(source, rows), "offers": offered})
    components: list[dict[str, object]] = []
    for row in rows:
        if row.entry is None:
            continue
        parameters: tuple[About, ...] = ()
        why, target = "", row.entry.target
        try:
            parameters = about(row.entry.load(), lambda value: plain(value, made.describe))
        except InputError as error:  # its parameters cannot be known
            why = reason_of(error)
        place = target if isinstance(target, str) else f"{target.__module__}:{target.__qualname__}"
        data = [attrs.asdict(parameter) for parameter in parameters]
        more = {"target": place, "parameters": data, "unknown": why}
        components.append({**component_as_data(row), **more})
        summary = row.summary or ("" if isinstance(target, str) else first_sentence(target))
        shown: list[layout.Row] = [
            (row.kind, f"{row.name} of {row.source}"),
            ("summary", summary),
            ("state", _state(row)),
            ("class", place),
            ("parameters", _parameters(parameters) or ("" if why else "none")),
            ("unknown", why),
        ]
        if row.kind in _FLAGS and row.state not in ("failed", "disabled"):
            name = row.name if row.source.builtin else row.entry.qualified
            required = [f"{p.name} = ..." for p in parameters if p.required]
            table = "{" + ", ".join([f'name = "{name}"', *required]) + "}"
            shown.append(("use", [f"--{row.kind} {shlex.quote(table if required else name)}"]))
        texts.append(layout.fields(shown))
    output.document |= {"plugins": plugins, "components": components}
    output.show("\n\n".join(texts))
    made.report(failures=False)


def _state(row: Row) -> str:
    return f"{row.words}: {row.reason}" if row.reason else row.words


def _parameters(parameters: Sequence[About]) -> list[str]:
    lines: list[str] = []
    for parameter in parameters:
        default = f"default {parameter.default or 'made from the other parameters'}"
        takes = f"{parameter.type}; {'required' if parameter.required else default}"
        lines += layout.fields([(parameter.name, takes)]).splitlines()
        lines += layout.wrapped(f"  {parameter.help}", _ROOM, indent=2)
    return lines


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
    import attrs

    from plausibly import registry
    from plausibly.registry import listing
    from plausibly.registry.listing import overview, select

    made = registry.default()
    rows = select(overview(made), names) if names else overview(made)
    made.report(failures=False)  # the kit asks for components, and what failed is shown here
    kit: listing.Rules | None = None
    if rules:
        from plausibly.testing import check as kit
    sources = {row.source for row in rows}
    whole = [failure for failure in made.failures() if failure.component is None]
    results = [listing.check_failure(failure) for failure in whole if failure.source in sources]
    for row in rows:
        if row.entry is not None and row.state != "disabled":
            untested = row.source.builtin and not names
            results.append(listing.check_entry(row.entry, made, None if untested else kit))
        elif row.state == "ready":
            results.append(attrs.evolve(row, state="ok"))
    results.sort(key=lambda result: (result.source.builtin, result.source.where, result.what))
    failed = {result.source for result in results if result.state == "failed"}
    documents: list[dict[str, object]] = []
    for result in results:
        source = {**source_as_data(result.source), "kind": result.kind, "component": result.name}
        problems = [{**source, **attrs.asdict(problem)} for problem in result.problems]
        state = {name: getattr(result, name) for name in ("state", "stage", "reason")}
        documents.append({**source, **state, "problems": problems, "hint": result.hint})
    output.document |= {"checked": documents, "failed": len(failed)}
    shown = [
        result
        for result in results
        if names or not result.source.builtin or result.state == "failed"
    ]
    width = max((len(result.source.where) for result in shown), default=0)
    for result in shown:
        output.show(_lines(result, width))
    if not names:
        # One line for each plugin of ours that needs an extra, with what to type.
        ours = [result for result in results if result.source.builtin]
        lacking = Counter((o.source.plugin, o.hint) for o in ours if o.state == "needs extra")
        for (plugin, hint), count in sorted(lacking.items()):
            output.show(f"EXTRA   {plural(count, 'component')} of {plugin}:  {hint}")
        fine = [result for result in ours if result.state == "ok"]
        offering = plural(len({result.source for result in fine}), "plugin")
        output.show(f"ok      {plural(len(fine), 'component')} of {offering} of plausibly")
    of = plural(len({row.source for row in rows if row.state != "disabled"}), "plugin")
    output.show(f"{counted(len(failed))} of {of} failed." if failed else f"{of}, none failed.")
    return EXIT_CHECK if failed else 0


def _lines(row: Row, width: int) -> str:
    title = {"ok": "ok", "failed": "FAILED", "needs extra": "EXTRA"}[row.state]
    head = f"{title:<8}{row.source.where:<{width}}  "
    lines: list[str] = []
    for text in row.lines():
        first, *rest = text.splitlines()
        lines += layout.wrapped(head + first, indent=10)
        lines += [f"{'':<10}{line}" for line in rest]  # the table of the author's kit
    if row.hint:
        lines += layout.wrapped(f"{'':<8}hint  {row.hint}", indent=12)
    return "\n".join(lines)


COMMANDS = {"list": list_plugins, "info": info, "check": check, "new": plugins_new.new}
