"""The commands with their options in Markdown, from their ``--help``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from typer import Context
from typer.main import get_command

from plausibly.cli.app import app

_PARAGRAPH = "\n\n"

_TYPES = {
    "int": "N",
    "integer": "N",
    "float": "NUMBER",
    "path": "PATH",
    "text": "TEXT",
    "str": "TEXT",
}


def page() -> str:
    """Return a table of the commands, and a section for each."""
    root = get_command(app)
    every = list(_commands(root, Context(root, info_name="plausibly")))
    lines = [
        f"| [`{name}`](#{re.sub(r'[^a-z-]', '', name.replace(' ', '-'))}) "
        f"| {_cell(about.partition(_PARAGRAPH)[0])} |"
        for name, about, _ in every[1:]
    ]
    table = "\n".join(["| command | what it does |", "|---|---|", *lines, ""])
    return "\n".join([table, *(section for _, _, section in every)])


# Any: Typer does not export these types.
def _commands(command: Any, context: Any) -> Iterator[tuple[str, str, str]]:
    """Yield name, help and section of a command, and of those below it."""
    about, examples = _about_and_examples(command.help or "", command.epilog or "")
    usage, rows = [context.command_path, "[OPTIONS]"], []
    for parameter in sorted(command.params, key=lambda one: one.param_type_name != "argument"):
        if parameter.param_type_name == "argument":
            shown = parameter.metavar or parameter.name.upper()
            usage.append(shown if parameter.required else f"[{shown.strip('[]')}]")
            rows.append((shown, f"{parameter.help or ''}{' [required]' * parameter.required}"))
        elif not parameter.hidden:
            rows.append(_option(parameter, context))
    rows.append(("-h, --help", "Show the help."))
    below = hasattr(command, "list_commands")
    found = [f"## {context.command_path}\n"]
    if context.parent is not None:
        found.append(f"{_escaped(about)}\n")
    found.append(f"```text\n{' '.join([*usage, *['COMMAND ...'] * below])}\n```\n")
    if examples:
        found.append(f"```sh\n{examples}\n```\n")
    lines = [f"| {_escaped_code(flag)} | {_cell(meaning)} |" for flag, meaning in rows]
    found.append("\n".join(["| argument or option | meaning |", "|---|---|", *lines, ""]))
    yield context.command_path, about, "\n".join(found)
    for name in command.list_commands(context) if below else ():
        inside = command.get_command(context, name)
        yield from _commands(inside, Context(inside, info_name=name, parent=context))


def _option(parameter: Any, context: Any) -> tuple[str, str]:  # Any: as above
    """Return flags and meaning of an option, alike for every version of Typer."""
    record, about = parameter.get_help_record(context)
    flags = ", ".join(sorted(parameter.opts, key=len))
    kind = record.rpartition("--")[2].partition(" ")[2].strip("<>[]")
    if parameter.is_flag:
        value = ""
    else:
        value = parameter.metavar or (kind if "|" in kind else _TYPES[kind.split()[0].lower()])
    return f"{flags} {value}".strip(), about.replace("\\[", "[")


def _about_and_examples(about: str, epilog: str) -> tuple[str, str]:
    """Return the help, and its examples as lines to be typed."""
    blocks = [block.removeprefix("\b\n") for block in about.strip().split("\n\n")]
    lines = epilog.replace("\b\n", "").strip().split("\n")
    typed = [line[2:] for line in lines if line.startswith("  ")]
    # Lines after the examples, such as an exit code.
    rest = [line for line in lines if line and not line.startswith("  ") and line != "Examples:"]
    return "\n\n".join([*blocks, *rest]), "\n".join(typed)


def _escaped(text: str) -> str:
    return re.sub(r"([<*_|])", r"\\\1", text)


def _escaped_code(text: str) -> str:
    return f"`{text}`".replace("|", r"\|")


def _cell(text: str) -> str:
    return _escaped(" ".join(text.split()))
