"""Outputs of commands: checked before anything is read, and printed by ``--dry-run``."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from plausibly.atomic import check_writable, unwritable
from plausibly.cli import layout
from plausibly.cli.output import Output
from plausibly.errors import InputError

DryRun: TypeAlias = Annotated[
    bool,
    typer.Option("--dry-run", help="Check everything, say what would be done; write nothing."),
]


def show(
    output: Output,
    *,
    read: Mapping[str, Path | None],
    rows: Iterable[layout.Row] = (),
    would: str,
    write: Iterable[Path] = (),
    into: Path | None = None,
) -> None:
    inputs = {flag: path for flag, path in read.items() if path is not None}
    outputs = list(write)
    if into is not None:
        check_writable(into, below=True)
    for path in outputs if into is None or into.exists() else ():
        check_writable(path)
    output.document["dry_run"] = {
        "read": {
            flag: {"path": path, "bytes": layout.bytes_of(path)} for flag, path in inputs.items()
        },
        "would": would,
        "would_write": [
            {"path": path, "replaces_bytes": layout.bytes_of(path) if path.exists() else None}
            for path in outputs
        ],
    }
    places = [
        f"{path} ({f'in place of {layout.size(path)}' if path.exists() else 'new'})"
        for path in outputs
    ]
    output.rows(
        [
            ("dry run", "what can be checked is right; nothing was written"),
            ("read", "; ".join(f"{f} {p} ({layout.size(p)})" for f, p in inputs.items())),
            *rows,
            ("would do", would),
            ("would write", "; ".join(places)),
            ("next", "the same without --dry-run"),
        ]
    )


def check_free(path: Path, *, expected: str, found: str, hint: str) -> None:
    if path.exists() or path.is_symlink():
        raise InputError(
            "output-exists",
            f"{path} is there already, and was left as it is",
            expected=expected,
            found=found,
            hint=hint,
            source=str(path),
        )


def check_output(path: Path, inputs: Mapping[str, Path | None]) -> None:
    """Raise unless the output has a name, and is none of the files that are read."""
    try:
        if path.name in ("", ".."):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.lstat()
    except (OSError, ValueError) as reason:  # no name, one that is too long, or with a NUL
        raise unwritable(path, reason) from reason
    for flag, source in inputs.items():
        if source is not None and path.resolve() == source.resolve():
            raise InputError(
                "output-is-input",
                f"-o {path} would overwrite what {flag} reads",
                expected="another file",
                found=str(path),
                hint="-o elsewhere",
                source=str(path),
            )
