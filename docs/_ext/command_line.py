"""The page of all commands, made from the commands themselves when the site is built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import attrs
from typer import Context
from typer.main import get_command

from plausibly.cli.app import app

HEAD = """\
{say}

{lines}
"""

SAY = """\
The thing that is acted on stands first; data go by name (`-a` what the experts said, `-p` what
the model said, `-e` what is known of the examples, `-o` where the result goes). A component is a
name, or an inline TOML table with its parameters: `--combiner '{name = "ecdf", delta = 0.01}'`.

- **Exit codes**: 0 done (warnings allowed), 1 our fault, 2 your input, 3 a check did not pass,
  130 interrupted.
- **`--dry-run`** checks everything that a command reads, with the messages and exit codes of the
  real run, says what would be done and written, and writes nothing.
- **`--json`** prints one document for programs, **`--quiet`** nothing but errors.
- **Results** go to stdout, messages and progress to stderr. A terminal gets colours and lines as
  wide as it is, a pipe plain text of 80 columns. `NO_COLOR` turns colours off, `FORCE_COLOR` on.
- **Completion** of commands, options, components and columns of your tables:
  `plausibly --install-completion`, or `plausibly --show-completion` to see what that would add to
  the files of your shell (bash, zsh, fish, PowerShell)."""


@attrs.frozen(kw_only=True)
class Option:
    """An option or an argument: how it is written, what it does."""

    written: str
    about: str


@attrs.frozen(kw_only=True)
class Command:
    """A command: its words, usage, help, and examples, and what it takes."""

    name: str
    usage: str
    about: str
    examples: str
    arguments: tuple[Option, ...]
    options: tuple[Option, ...]


def commands() -> list[Command]:
    """Return every command in the order of the help, those of a group after it."""
    root = get_command(app)
    return list(_below(root, Context(root, info_name="plausibly")))


def _below(group: Any, context: Any) -> Iterator[Command]:  # Any: Typer does not export these types
    yield _read(group, context)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inside = Context(command, info_name=name, parent=context)
        if hasattr(command, "list_commands"):
            yield from _below(command, inside)
        else:
            yield _read(command, inside)


def _read(command: Any, context: Any) -> Command:  # Any: as above
    arguments, options = [], []
    pieces = [context.command_path]
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            shown = parameter.metavar or parameter.name.upper()
            pieces.append(shown if parameter.required else f"[{shown.strip('[]')}]")
            required = " [required]" if parameter.required else ""
            arguments.append(Option(written=shown, about=f"{parameter.help or ''}{required}"))
        elif not parameter.hidden:
            options.append(_option(parameter, context))
    options.append(Option(written="-h, --help", about="Show the help."))
    pieces.insert(1, "[OPTIONS]")
    if hasattr(command, "list_commands"):
        pieces.append("COMMAND ...")
    about, examples = _told(command.help or "", command.epilog or "")
    return Command(
        name=context.command_path,
        usage=" ".join(pieces),
        about=about,
        examples=examples,
        arguments=tuple(arguments),
        options=tuple(options),
    )


_TYPES = {
    "int": "N",
    "integer": "N",
    "float": "NUMBER",
    "path": "PATH",
    "text": "TEXT",
    "str": "TEXT",
}


def _option(parameter: Any, context: Any) -> Option:  # Any: as above
    """Return an option, alike for every version of Typer."""
    written, about = parameter.get_help_record(context)
    flags = ", ".join(sorted(parameter.opts, key=len))
    takes = "" if parameter.is_flag else parameter.metavar or _kind(written)
    return Option(
        written=f"{flags} {takes}".strip(),
        about=" ".join(about.replace("\\[", "[").split()),
    )


def _kind(written: str) -> str:
    """Return what an option takes: a type, or one of several words."""
    kind = written.rpartition("--")[2].partition(" ")[2].strip("<>[]")
    return kind if "|" in kind else _TYPES[kind.split()[0].lower()]


def _told(about: str, epilog: str) -> tuple[str, str]:
    """Return what the help says, and its examples as lines to be typed."""
    blocks = [block.removeprefix("\b\n") for block in about.strip().split("\n\n")]
    lines = epilog.replace("\b\n", "").strip().split("\n")
    typed = [line[2:] for line in lines if line.startswith("  ")]
    # What stands behind the examples, such as an exit code.
    rest = [line for line in lines if line and not line.startswith("  ") and line != "Examples:"]
    return "\n\n".join([*blocks, *rest]), "\n".join(typed)


def page() -> str:
    """Return what stands below the title of the page, in Markdown."""
    every = commands()
    tree = "\n".join(
        f"| [`{one.name}`](#{re.sub(r'[^a-z-]', '', one.name.replace(' ', '-'))}) "
        f"| {_cell(_first(one))} |"
        for one in every[1:]
    )
    found = [HEAD.format(say=SAY, lines=f"| command | what it does |\n|---|---|\n{tree}")]
    for one in every:
        found.append(f"## {one.name}\n")
        if one.name != "plausibly":
            found.append(f"{_escaped(one.about)}\n")
        found.append(f"```text\n{one.usage}\n```\n")
        if one.examples:
            found.append(f"```sh\n{one.examples}\n```\n")
        rows = [*one.arguments, *one.options]
        table = "\n".join(f"| {_code(row.written)} | {_cell(row.about)} |" for row in rows)
        found.append(f"| argument or option | meaning |\n|---|---|\n{table}\n")
    return "\n".join(found)


def _first(command: Command) -> str:
    return " ".join(command.about.split("\n\n")[0].split())


def _escaped(text: str) -> str:
    return re.sub(r"([<*_|])", r"\\\1", text)


def _cell(text: str) -> str:
    return _escaped(" ".join(text.split()))


def _code(text: str) -> str:
    return f"`{text}`".replace("|", r"\|")
