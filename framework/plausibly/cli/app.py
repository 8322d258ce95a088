"""``plausibly`` and its commands, each imported when it is needed: the help needs none of them."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer import BadParameter
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from plausibly.cli import completion
from plausibly.cli.layout import tolerate
from plausibly.cli.output import Output
from plausibly.errors import InputError
from plausibly.text import wrapped

if TYPE_CHECKING:
    from plausibly.cli.options import Flag

GROUPS: dict[str, dict[str, str]] = {
    "Start": {
        "demo": "Show the result on 1,378 lung nodules, offline.",
        "example": "Write small example files into a folder.",
        "init": "Write a settings file that fits your files.",
    },
    "Main workflow": {
        "calibrate": "Calibrate on all answers and save a predictor.",
        "predict": "Make prediction sets for new examples.",
        "evaluate": "Measure coverage and size of prediction sets.",
        "report": "Write the results to one HTML file.",
    },
    "Annotations": {
        "agreement": "Measure how much annotators agree, and on what.",
        "aggregate": "Turn answers into plausibilities.",
        "convert": "Convert annotations to one table.",
        "sensitivity": "Show how results depend on the aggregator.",
    },
    "Studies": {
        "plan": "Find how many examples and annotators you need.",
        "run": "Compare methods over repeated splits.",
        "reproduce": "Reproduce the figures of the paper.",
    },
}
PROJECT = {
    "config": "Check settings, show them in full, or print their schema.",
    "info": "Show versions, extras, environment and plugins.",
    "plugins": "List components and plugins, or start a new one.",
}
SUMMARIES = {name: text for group in (*GROUPS.values(), PROJECT) for name, text in group.items()}
"""Summary of each command, in the order of the help. A module has the name of its command."""

SETTINGS = {"help_option_names": ["-h", "--help"]}

_PRINTING = {
    "json": typer.Option("--json", help="Print one JSON document."),
    "quiet": typer.Option("--quiet", help="Print only errors."),
    "strict": typer.Option("--strict", help="Exit with 3 on warnings."),
    "debug": typer.Option("--debug", help="Show tracebacks."),
}
_FILE = "Settings file.  [plausibly.toml, if present]"
_ANY = "Any setting: --set predictions.scale=logit."
_CONFIG = Annotated[Path | None, typer.Option("--config", metavar="FILE", help=_FILE)]
_SET = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help=_ANY)]
_SHARED = {
    "--config FILE": ("config", _FILE),
    "--set KEY=VALUE": ("set_keys", _ANY),
    "--json --quiet": ("json", "Print one JSON document; print only errors."),
    "--strict --debug": ("strict", "Exit with 3 on warnings; show tracebacks."),
    "--dry-run -h/--help": ("dry_run", "Check without writing; show this message."),
    "-h/--help": ("help", "Show this message."),
}
"""Options of all commands, two in a line: parameter and meaning."""

# The base of everything that Typer raises for wrong usage; not every version exports its name.
_WRONG_USAGE: type[Exception] = next(
    base for base in BadParameter.__mro__ if base.__name__ == "ClickException"
)


class Grouped(TyperCommand):
    groups: Mapping[str, list[str]] = {}

    def format_options(self, ctx: Any, formatter: Any) -> None:  # Any: Typer exports no types
        known = {each.name: each for each in self.get_params(ctx)}
        own = [name for names in self.groups.values() for name in names]
        shared = {"quiet", "debug", "help", *(name for name, _ in _SHARED.values())}
        rest = [name for name in known if name not in shared.union(own)]
        tables = {}
        for title, parameters in {**self.groups, "Options": rest}.items():
            records = [known[name].get_help_record(ctx) for name in parameters if name in known]
            # Typer appends the type to the name of an argument.
            tables[title] = [
                (re.sub(r" <.+>$", "", record[0]), record[1]) for record in records if record
            ]
        last = [(names, text) for names, (key, text) in _SHARED.items() if key in known]
        tables["Shared options"] = last[:-1] if "dry_run" in known else last
        indented = {
            title: [(f"    {n}" if n.startswith("--") else n, text) for n, text in rows]
            for title, rows in tables.items()
        }
        width = max(len(names) for rows in indented.values() for names, _ in rows) + 4
        formatter.write_paragraph()
        for title, rows in indented.items():
            lines = [title] if rows else []
            for names, text in rows:
                lines += wrapped(f"  {names}".ljust(width) + text, indent=width)
            formatter.write("".join(f"{line}\n" for line in lines))
        if "set_keys" in known:
            formatter.write("All settings: plausibly config show, or docs/reference/commands.md.\n")


def _declared(
    name: str,
    call: Callable[..., int | None],
    module: ModuleType | None,
    groups: Mapping[str, list[Flag]],
) -> Callable[..., int]:
    """Return a command as Typer reads it.

    Its flags, in `groups`, set keys: the function gets the settings as ``loaded``. Its other
    parameters are options of its own; `output` is made of ``--json --quiet --strict --debug``.
    With ``CONFIG = False`` it reads no settings file, with ``CHUNKED = True`` it computes chunks.
    """
    flags = [flag for group in groups.values() for flag in group]
    hints = get_type_hints(call, include_extras=True)
    declared: dict[str, tuple[Any, object]] = {  # Any: as Typer declares options
        flag.parameter: (flag.option(), None) for flag in flags
    }
    for parameter in inspect.signature(call).parameters.values():
        if parameter.name not in ("output", "loaded"):
            declared[parameter.name] = (hints[parameter.name], parameter.default)
    if flags:
        declared |= {"config": (_CONFIG, None)} if getattr(module, "CONFIG", True) else {}
        declared["set_keys"] = (_SET, None)
    declared |= {key: (Annotated[bool, option], False) for key, option in _PRINTING.items()}

    def command(**values: Any) -> int:  # Any: what was typed, which Typer has checked
        output = Output(name, **{key: values.pop(key) for key in _PRINTING})
        config, sets = values.pop("config", Path("none")), values.pop("set_keys", None)
        typed = {
            flag.key: (flag.short, value)
            for flag in flags
            if (value := values.pop(flag.parameter)) not in (None, False, [])
        }

        def body() -> int | None:
            if not flags:
                return call(output, **values)
            from plausibly.cli import options
            from plausibly.config.settings import without_plugins

            output.flags = {text for flag in flags for text in flag.names.split()}
            loaded = options.load_settings(output, config, typed, sets or ())
            output.inputs = options.inputs(flags, loaded.settings)
            for flag in flags:
                if flag.required:
                    options.require(loaded, name, flag.key, flag.names)
            with contextlib.ExitStack() as stack:
                stack.enter_context(without_plugins(loaded.settings.plugins.disable))
                if getattr(module, "CHUNKED", False):
                    dry_run = bool(values.get("dry_run"))
                    stack.enter_context(options.computing(loaded.settings.compute, dry_run=dry_run))
                return call(output, loaded, **values)

        return output.run(body)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(key, keyword, default=default, annotation=annotation)
        for key, (annotation, default) in declared.items()
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # read by Typer
    command.__annotations__ = {key: annotation for key, (annotation, _) in declared.items()}
    return command


def _help(call: Callable[..., int | None]) -> dict[str, Any]:  # Any: as Typer takes it
    """Return the text of a command's docstring, and its last paragraph as examples."""
    *about, examples = inspect.cleandoc(call.__doc__ or "").split("\n\n")
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in about)
    epilog = f"\b\nExamples:\n{textwrap.indent(examples, '  ')}\n" if examples else ""
    return {"help": text, "epilog": epilog}


def made(name: str) -> Any:  # Any: Typer does not export the type of its commands
    """Return a command, or a group of commands where its module has ``COMMANDS``."""
    module = importlib.import_module(f"plausibly.cli.{name}")
    inner = getattr(module, "COMMANDS", {})
    app = typer.Typer(
        help=getattr(module, "HELP", None),
        no_args_is_help=bool(inner),
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=SETTINGS,
    )
    for called, call in inner.items():
        app.command(called, cls=Grouped, **_help(call))(
            _declared(f"{name} {called}", call, None, {})
        )
    if not inner:
        call, groups = getattr(module, name), {}
        if hasattr(module, "FLAGS"):  # what settings need is imported for their flags only
            from plausibly.cli import options

            groups = options.flags_of(module)
        parameters = {title: [flag.parameter for flag in groups[title]] for title in groups}
        shown = type("Grouped", (Grouped,), {"groups": parameters})
        add = app.command(name, short_help=SUMMARIES[name], **_help(call), cls=shown)
        add(_declared(name, call, module, groups))
    command = get_command(app)
    command.name = name
    return command


class Commands(TyperGroup):
    """All commands: they print in one form, also wrong usage and unforeseen errors."""

    def __init__(self, **options: Any) -> None:  # Any: options of a group, from Typer
        super().__init__(**options)
        # The names alone: Typer suggests those that are near a wrong word.
        named: dict[str, Any] = dict.fromkeys(SUMMARIES)  # Any: as above
        self.commands = named

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # Any: as above
        if cmd_name in self.commands and self.commands[cmd_name] is None:
            self.commands[cmd_name] = made(cmd_name)
        return self.commands.get(cmd_name)

    def format_help_text(self, ctx: Any, formatter: Any) -> None:  # Any: as above
        # A line of 80 columns, which Click would break.
        formatter.write(f"\n  {_HELP}\n")

    def format_options(self, ctx: Any, formatter: Any) -> None:  # Any: as above
        lines = [""]
        for title, group in GROUPS.items():
            titles = [title, *[""] * (len(group) - 1)]
            lines += [
                f"{left:<16}{name:<13}{text}"
                for left, (name, text) in zip(titles, group.items(), strict=True)
            ]
        lines += [
            f"{'Project':<16}{', '.join(PROJECT)}",
            "Options: --version, --disable-plugin NAME, --install-completion, -h/--help",
            "Exit status: 0 success, 1 internal error, 2 invalid input, 3 failed check,",
            "130 interrupted.",
        ]
        formatter.write("".join(f"{line}\n" for line in lines))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,  # Any: whatever Typer passes on to its own main
    ) -> Any:  # Any: as Typer declares it; an int
        words = list(sys.argv[1:] if args is None else args)
        # Before the words are parsed the options are not known: these are looked for by name.
        name = next((word for word in words if not word.startswith("-")), "")
        output = Output(name, **{key: f"--{key}" in words for key in _PRINTING})

        def action() -> int:
            try:
                code = super(Commands, self).main(
                    args, prog_name, complete_var, False, windows_expand_args, **extra
                )
            except _WRONG_USAGE as error:
                context = getattr(error, "ctx", None)
                command = "plausibly" if context is None else str(context.command_path)
                what = str(getattr(error, "format_message", error.__str__)())
                what = what.replace("Value error, ", "")
                # Some versions of Typer repeat the suggestion that Click makes already.
                what = re.sub(r"( Did you mean [^?]*\?)\1", r"\1", what).strip()
                if type(error).__name__ == "NoArgsIsHelpError":  # a group without a command
                    output.show(what)
                    return 0
                what = " ".join(what.split())  # Click lists choices one per line
                what = f"{command}: {what[:1].lower()}{what[1:].rstrip('.')}"
                hint = f"{command} --help"
                raise InputError("usage", what, hint=hint, source=command) from error
            except SystemExit as answered:  # Typer's, after what a shell asks for
                code = answered.code
            return code if isinstance(code, int) else 0

        code = output.run(action, apart=False)  # help is a result
        if standalone_mode:
            sys.exit(code)
        return code


_HELP = "Prediction sets for labels on which experts disagree, with a stated guarantee."

app = typer.Typer(
    name="plausibly",
    cls=Commands,
    help=_HELP,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=SETTINGS,
)


def _version(requested: bool) -> None:
    if requested:
        from plausibly.version import __version__

        typer.echo(f"plausibly {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def plausibly(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--disable-plugin",
            metavar="NAME",
            autocompletion=completion.plugins,
            help="Do without a plugin. Repeatable; * = all.",
        ),
    ] = None,
) -> None:
    if without:
        from plausibly.registry import disabling

        context.with_resource(disabling(without, by="--disable-plugin"))
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> int:
    tolerate()
    code = app(standalone_mode=False)
    return code if isinstance(code, int) else 0
