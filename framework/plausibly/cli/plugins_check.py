"""``plausibly plugins check``: load, make and compare every component; exit 3 where one fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from plausibly.cli import completion
from plausibly.cli.layout import wrapped
from plausibly.cli.output import Output
from plausibly.cli.plugins_list import plural, source_as_data
from plausibly.errors import EXIT_CHECK, counted

if TYPE_CHECKING:
    from plausibly.registry import Registry
    from plausibly.registry.listing import Checked, Row, Rules

HELP = "Load every component of plugins, and compare it with its Protocol."
EXAMPLES = """\b
Examples:
  plausibly plugins check
  plausibly plugins check my-plugin --rules

\b
Exit code 3 where something failed.
"""


def check(
    output: Output,
    *,
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
) -> int:
    """Declare ``plausibly plugins check``."""
    from plausibly import registry
    from plausibly.registry.listing import overview, select

    made = registry.default()
    rows = select(overview(made), names) if names else overview(made)
    made.told()  # the kit asks for components, and what failed is shown here
    kit: Rules | None = None
    if rules:
        from plausibly.testing import check as checked

        kit = checked
    found = _checked(made, rows, kit, named=bool(names))
    failed = {one.source for one in found if one.state == "failed"}
    output.document["checked"] = [as_data(one) for one in found]
    output.document["failed"] = len(failed)
    news = [one for one in found if not one.source.builtin or one.state == "failed"]
    shown = found if names else news
    width = max((len(one.source.where) for one in shown), default=0)
    for one in shown:
        output.show(_lines(one, width))
    if not names:
        for line in _lacking(found):
            output.show(line)
        fine = [one for one in found if one.source.builtin and one.state == "ok"]
        offering = {one.source for one in fine}
        output.show(
            f"ok      {plural(len(fine), 'component')} of {plural(len(offering), 'plugin')} "
            "of plausibly"
        )
    plugins = {row.source for row in rows if row.state != "disabled"}
    of = plural(len(plugins), "plugin")
    output.show(f"{counted(len(failed))} of {of} failed." if failed else f"{of}, none failed.")
    made.tell_of_names()
    return EXIT_CHECK if failed else 0


def _lacking(found: Sequence[Checked]) -> list[str]:
    """Return one line for each plugin of ours that needs an extra, with what to type."""
    number = Counter(
        (one.source.plugin, one.do)
        for one in found
        if one.source.builtin and one.state == "needs extra"
    )
    return [
        f"EXTRA   {plural(count, 'component')} of {plugin}:  {do}"
        for (plugin, do), count in sorted(number.items())
    ]


def _checked(
    made: Registry, rows: Sequence[Row], kit: Rules | None, *, named: bool
) -> list[Checked]:
    from plausibly.registry.listing import Checked, check_entry, check_failure

    whole = [f for f in made.failures() if f.component is None]
    sources = {row.source for row in rows}
    found = [check_failure(failure) for failure in whole if failure.source in sources]
    for row in rows:
        if row.entry is not None and row.state != "disabled":
            rules = kit if named or not row.source.builtin else None
            found.append(check_entry(row.entry, made.make, rules))
        elif row.state == "ready":
            found.append(Checked(row.source, "ok", reason=row.reason))
    return sorted(found, key=lambda one: (one.source.builtin, one.source.where, one.what))


def _lines(one: Checked, width: int) -> str:
    """Return what was found as people read it: a line a problem, then what to do."""
    title = {"ok": "ok", "failed": "FAILED", "needs extra": "EXTRA"}[one.state]
    head = f"{title:<8}{one.source.where:<{width}}  "
    lines: list[str] = []
    for text in one.lines():
        first, *rest = text.splitlines()
        lines += wrapped(head + first, indent=10)
        lines += [f"{'':<10}{line}" for line in rest]  # the table of the author's kit
    if one.do:
        lines += wrapped(f"{'':<8}do  {one.do}", indent=12)
    return "\n".join(lines)


def as_data(one: Checked) -> dict[str, object]:
    """Return what was found as ``--json`` prints it: each problem with all that it is about."""
    import attrs

    whose = {**source_as_data(one.source), "kind": one.kind, "component": one.name}
    return {
        **whose,
        "state": one.state,
        "stage": one.stage,
        "reason": one.reason,
        "problems": [{**whose, **attrs.asdict(problem)} for problem in one.problems],
        "do": one.do,
    }
