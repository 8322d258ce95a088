"""Outputs of commands: they have a name, and are none of the files that are read."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Mapping
from pathlib import Path

from plausibly.atomic import unwritable
from plausibly.errors import InputError


def outputs(path: Path, inputs: Mapping[str, Path | None]) -> Path:
    """Return the output, which must have a name, and be none of the files that are read."""
    try:
        if path.name in ("", ".."):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.lstat()
    except (OSError, ValueError) as reason:  # no name, one that is too long, or with a NUL
        raise unwritable(path, reason) from reason
    for flag, other in inputs.items():
        if other is not None and path.resolve() == other.resolve():
            raise InputError(
                "output-is-input",
                f"-o {path} would overwrite what {flag} reads",
                expected="another file",
                got=str(path),
                do="-o elsewhere",
                whose=str(path),
            )
    return path
