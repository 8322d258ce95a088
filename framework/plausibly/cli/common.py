"""Options of every command: how it answers."""

from __future__ import annotations

import dataclasses
from typing import Annotated, TypeAlias

import typer

AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON document, for programs.")
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]
Strict: TypeAlias = Annotated[bool, typer.Option("--strict", help="A warning makes it exit 3.")]
Debug: TypeAlias = Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Printing:
    """How a command answers."""

    json: AsJson = False
    quiet: Quiet = False
    strict: Strict = False
    debug: Debug = False
