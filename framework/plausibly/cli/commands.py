"""The commands by name, each imported when it is needed: the help of all needs none of them."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_type_hints

import typer
from typer.core import TyperCommand
from typer.main import get_command

from plausibly.cli import common
from plausibly.cli.house import House
from plausibly.cli.output import Output

SUMMARIES = {
    "demo": "Real ratings, the whole way, offline.",
    "init": "A settings file that fits your files.",
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

Config: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="Settings file, or none.  [plausibly.toml, if present]"
    ),
]
Sets: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Any setting: --set predictions.scale=logit."),
]


class Grouped(TyperCommand):
    """A command whose options stand in groups."""

    groups: Mapping[str, list[str]] = {}

    def format_options(self, ctx: Any, formatter: Any) -> None:  # Any: Typer exports no types
        """Write the options of each group, and then the shared ones."""
        shown = [(each, each.get_help_record(ctx)) for each in self.get_params(ctx)]
        records = {
            # Typer appends the type to the name of an argument.
            each.name: (re.sub(r" <.+>$", "", record[0]), record[1])
            for each, record in shown
            if record is not None
        }
        own = [name for names in self.groups.values() for name in names]
        groups = {**self.groups, "Options": [name for name in records if name not in own]}
        for title, names in groups.items():
            rows = [records[name] for name in names if name in records]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def declared(name: str, module: Any) -> Callable[..., int]:  # Any: a module
    """Return a command as Typer reads it.

    ``FLAGS`` of the module set keys: the function gets the settings as ``loaded``. Its other
    parameters are options of its own; `output` is made of ``--json --quiet --strict --debug``.
    """
    call: Callable[..., int | None] = getattr(module, name)
    flags = _flags(module)
    hints = get_type_hints(call, include_extras=True)
    options = {
        each.parameter: inspect.Parameter(
            each.parameter, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=each.option()
        )
        for each in flags
    }
    own = [
        one.replace(annotation=hints[one.name], kind=one.KEYWORD_ONLY)
        for one in inspect.signature(call).parameters.values()
        if one.name not in ("output", "loaded")
    ]
    options |= {one.name: one for one in own}
    reads = getattr(module, "CONFIG", True)
    if flags:
        shared = {"config": Config, "set_keys": Sets} if reads else {"set_keys": Sets}
        options |= {
            key: inspect.Parameter(
                key, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind
            )
            for key, kind in shared.items()
        }
    printing = get_type_hints(common.Printing, include_extras=True)
    for field in dataclasses.fields(common.Printing):
        options[field.name] = inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=printing[field.name],
        )

    def command(**values: Any) -> int:  # Any: what was typed, which Typer has checked
        printed = [field.name for field in dataclasses.fields(common.Printing)]
        output = Output(name, **{field: values.pop(field) for field in printed})
        config, sets = values.pop("config", None), values.pop("set_keys", None)
        typed = {
            each.key: (each.long, value)
            for each in flags
            if (value := values.pop(each.parameter)) not in (None, False, [])
        }

        def body() -> int | None:
            if not flags:
                return call(output, **values)
            from plausibly.cli import settings

            output.flags = {text for each in flags for text in each.names.split()}
            loaded = settings.load(output, config, typed, sets or (), reads=reads)
            settings.check_required(module.FLAGS, loaded, name)
            with settings.without_plugins(loaded.settings.plugins.disable):
                return call(output, loaded, **values)

        return output.run(body)

    command.__signature__ = inspect.Signature(list(options.values()))  # type: ignore[attr-defined]  # read by Typer
    command.__annotations__ = {one.name: one.annotation for one in options.values()}
    return command


def _flags(module: Any) -> list[Any]:  # Any: a module; flags, whose module is imported with it
    return [flag for flags in getattr(module, "FLAGS", {}).values() for flag in flags]


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
        groups = {
            title: [flag.parameter for flag in flags]
            for title, flags in getattr(module, "FLAGS", {}).items()
        }
        app.command(
            name,
            short_help=SUMMARIES[name],
            help=module.HELP,
            epilog=module.EXAMPLES,
            cls=type("Grouped", (Grouped,), {"groups": groups}),
        )(declared(name, module))
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
