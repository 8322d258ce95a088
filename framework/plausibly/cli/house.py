"""The outermost frame of every command: wrong usage and unforeseen errors in the house form."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any

from typer import BadParameter
from typer.core import TyperGroup

from plausibly.cli.output import Output
from plausibly.errors import InputError

# The base of everything that Typer raises for wrong usage; not every version exports its name.
_WRONG_USAGE: type[Exception] = next(
    base for base in BadParameter.__mro__ if base.__name__ == "ClickException"
)


class House(TyperGroup):
    """A group of commands that says everything in one form, and returns exit codes."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,  # Any: whatever Typer passes on to its own main
    ) -> Any:  # Any: as Typer declares it; an int
        """Run a command; exit with its code in standalone mode, else return it."""
        words = list(sys.argv[1:] if args is None else args)
        # Before the words are parsed nobody knows the options: these are looked for by name.
        output = Output(
            next((word for word in words if not word.startswith("-")), ""),
            json="--json" in words,
            quiet="--quiet" in words,
            strict="--strict" in words,
            debug="--debug" in words,
        )

        def action() -> int:
            try:
                code = super(House, self).main(
                    args, prog_name, complete_var, False, windows_expand_args, **extra
                )
            except _WRONG_USAGE as error:
                if type(error).__name__ == "NoArgsIsHelpError":  # a group without a command
                    output.show(_said(error))
                    return 0
                raise _usage(error) from error
            except SystemExit as answered:  # Typer's, after what a shell asks for
                code = answered.code
            return code if isinstance(code, int) else 0

        code = output.run(action, apart=False)  # help is a result
        if standalone_mode:
            sys.exit(code)
        return code


def _said(error: Exception) -> str:
    text = str(getattr(error, "format_message", error.__str__)()).replace("Value error, ", "")
    # Some versions of Typer repeat the suggestion that Click makes already.
    return re.sub(r"( Did you mean [^?]*\?)\1", r"\1", text).strip()


def _usage(error: Exception) -> InputError:
    """Return what Typer says of wrong usage as a message of ours."""
    context = getattr(error, "ctx", None)
    command = "plausibly" if context is None else str(context.command_path)
    what = _said(error).rstrip(".")
    return InputError(
        "usage",
        f"{command}: {what[:1].lower()}{what[1:]}",
        do=f"{command} --help",
        whose=command,
    )
