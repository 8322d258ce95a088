"""The commands by name, each imported when it is asked for: the help of all needs none of them."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

import typer
from typer.main import get_command

from plausibly.cli import common
from plausibly.cli.house import House
from plausibly.cli.output import Output

SUMMARIES = {
    "demo": "Real ratings, the whole way, offline.",
    "run": "A study file to results and a predictor.",
    "aggregate": "Annotations to plausibilities.",
    "convert": "Annotations of any format to one table.",
    "calibrate": "Votes and probabilities to a predictor.",
    "predict": "New probabilities to prediction sets.",
    "evaluate": "Prediction sets against new votes.",
    "report": "All of it in one HTML file.",
    "reproduce": "The paper's figures, made again.",
    "plan": "How many examples, annotators and draws.",
    "agreement": "How much annotators agree, and who differs.",
    "sensitivity": "What depends on the aggregator: coverage, sizes, labels.",
    "info": "Versions, extras, environment, plugins.",
    "config": "Study files: check one, show it filled in, the schema.",
    "plugins": "Components, and the plugins that offer them.",
}
"""What the help says of each command, in its order. Modules are called as their commands are."""

SETTINGS = {"help_option_names": ["-h", "--help"]}


def declared(name: str, function: Callable[..., None]) -> Callable[..., int]:
    """Return a command as Typer reads it: groups of options taken apart, and those of the output.

    A parameter that is a dataclass is a group, whose fields are options; `output` is made of
    ``--json --quiet --strict --debug``, which every command has.
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {  # Any: dataclasses of any kind
        one: kind for one, kind in hints.items() if dataclasses.is_dataclass(kind)
    }
    groups["output"] = common.Printing
    options: dict[str, inspect.Parameter] = {}
    given = inspect.signature(function).parameters.values()
    for one in sorted(given, key=lambda one: one.name == "output"):
        if one.name not in groups:
            options[one.name] = one.replace(annotation=hints[one.name])
            continue
        types = get_type_hints(groups[one.name], include_extras=True)
        for field in dataclasses.fields(groups[one.name]):
            options[field.name] = inspect.Parameter(
                field.name, one.KEYWORD_ONLY, default=field.default, annotation=types[field.name]
            )

    def command(**values: Any) -> int:  # Any: what was typed, which Typer has checked
        for one, kind in groups.items():
            fields = [field.name for field in dataclasses.fields(kind)]
            values[one] = kind(**{field: values.pop(field) for field in fields})
        output: Output = values["output"].output(name)
        return output.run(lambda: function(**{**values, "output": output}))

    kept = [one.replace(kind=one.KEYWORD_ONLY) for one in options.values()]
    command.__signature__ = inspect.Signature(kept)  # type: ignore[attr-defined]  # read by Typer
    command.__annotations__ = {one.name: one.annotation for one in kept}
    return command


def made(name: str) -> Any:  # Any: Typer does not export the type of its commands
    """Return a command, from its module: an app of its own, or a function of the same name."""
    module = importlib.import_module(f"plausibly.cli.{name}")
    app = getattr(module, "app", None)
    if app is None:
        app = typer.Typer(
            add_completion=False,
            rich_markup_mode=None,
            pretty_exceptions_enable=False,
            context_settings=SETTINGS,
        )
        app.command(name, short_help=SUMMARIES[name], help=module.HELP, epilog=module.EXAMPLES)(
            declared(name, getattr(module, name))
        )
    command = get_command(app)
    command.name = name
    return command


class Commands(House):
    """All commands of plausibly."""

    def __init__(self, **said: Any) -> None:  # Any: whatever Typer says of a group
        super().__init__(**said)
        # The names alone: Typer suggests those that are near a wrong word.
        named: dict[str, Any] = dict.fromkeys(SUMMARIES)  # Any: as above
        self.commands = named

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # Any: as above
        """Return a command; None where there is none of this name."""
        if cmd_name in self.commands and self.commands[cmd_name] is None:
            self.commands[cmd_name] = made(cmd_name)
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # Any: as above
        """Write what each command is for, without importing one."""
        with formatter.section("Commands"):
            formatter.write_dl(list(SUMMARIES.items()))
