"""Small pictures, put into the page: it asks for no other file."""

from __future__ import annotations

import base64
from pathlib import Path

from plausibly.errors import InputError, counted

LARGEST = 64_000
"""Bytes of a picture: a file of 5 MB then holds some dozens of the largest."""

_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def picture(path: str, folder: Path, column: str) -> str:
    """Return the address of a picture that holds all of it.

    Parameters
    ----------
    path : str
        Of a PNG, JPEG, GIF or WebP file; empty for none.
    folder : Path
        Where a relative path starts.
    column : str
        That names it, for messages.

    Returns
    -------
    str
        ``data:image/...;base64,...``; empty for none.

    Raises
    ------
    InputError
        ``thumbnail-unreadable`` or ``thumbnail-large``.
    """
    if not path:
        return ""
    file = folder / path
    try:
        content = file.read_bytes()
    except (OSError, ValueError) as reason:
        why = getattr(reason, "strerror", None) or str(reason)
        raise _unreadable(path, column, why.lower()) from reason
    if len(content) > LARGEST:
        raise InputError(
            "thumbnail-large",
            f'the picture "{path}" is too large for a report',
            expected=f"at most {counted(LARGEST)} bytes, such as 96 x 96 pixels",
            got=counted(len(content)),
            do=f"make small copies, and name them in the column {column}",
            whose=path,
        )
    kind = next((kind for start, kind in _KINDS if content.startswith(start)), "")
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        kind = "image/webp"
    if not kind:
        raise _unreadable(path, column, f"bytes that begin {content[:8]!r}")
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def _unreadable(path: str, column: str, got: str) -> InputError:
    return InputError(
        "thumbnail-unreadable",
        f'no picture can be read from "{path}"',
        expected="the path of a PNG, JPEG, GIF or WebP file, from the folder of the table of "
        "examples on",
        got=got,
        do=f"mend the column {column}, or leave thumbnail (--thumbnail) out",
        whose=path,
    )
