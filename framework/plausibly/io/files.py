"""Opening files and their text, with an error at once where that cannot be."""

from __future__ import annotations

import gzip
import stat
import zlib
from collections.abc import Sequence
from pathlib import Path

from plausibly.data.names import near, quoted
from plausibly.errors import SLASHES, InputError, counted, listed
from plausibly.extras import require

HEAD = 65_536
"""How many of the first bytes a reader is shown that is asked whether it recognises a file."""

_GZIP = b"\x1f\x8b"
ZIP = b"PK\x03\x04"
NETCDF = (b"CDF\x01", b"CDF\x02", b"CDF\x05", b"\x89HDF")
"""First bytes of netCDF files."""

_BINARY = (
    (ZIP, "a zip archive", "unpack it first"),
    (b"\x93NUMPY", "a numpy array", "give it the ending .npy"),
    *((mark, "a netCDF file", "give it the ending .nc") for mark in NETCDF),
    *((mark, "UTF-16", "save it as CSV UTF-8") for mark in (b"\xff\xfe", b"\xfe\xff")),
)


def _neighbours(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError:
        return []


def _unreadable(path: Path, role: str, reason: object) -> InputError:
    return InputError(
        "file-unreadable",
        f'{role} "{path}" cannot be read',
        expected="a readable file, which can be read again",
        found=f'"{(getattr(reason, "strerror", None) or str(reason)).lower()}"',
        hint="name another file, or change the rights of this one",
        source=str(path),
    )


def existing(path: Path | str, role: str, *, folder: bool = False) -> Path:
    """Return the path of a file that is there, perhaps of a folder."""
    path = Path(path)
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        names = _neighbours(path.parent)
        guess = near(path.name, names)
        hint = f"fix the path; {path.parent} holds {listed(names) or 'no file'}"
        if not set("\b\t\n\f\r").isdisjoint(str(path)):  # TOML reads "data\\test.csv" with a tab
            hint = SLASHES
        elif guess is not None:
            hint = f"did you mean {path.parent / guess}?"
        raise InputError(
            "file-missing",
            f'{role} "{path}": there is no such file',
            expected="a file",
            found="none",
            hint=hint,
            source=str(path),
        ) from None
    except (OSError, ValueError) as reason:
        raise _unreadable(path, role, reason) from reason
    if folder and stat.S_ISDIR(mode):
        return path
    if stat.S_ISDIR(mode):
        raise InputError(
            "file-is-folder",
            f'{role} "{path}" is a folder',
            expected="a file",
            found=f"a folder with {listed(_neighbours(path)) or 'no file'}",
            hint="name one of its files",
            source=str(path),
        )
    if not stat.S_ISREG(mode):
        raise _unreadable(path, role, "a device or a pipe")
    return path


def read_text(path: Path | str, role: str, *, source: str | None = None, expected: str = "") -> str:
    """Return the text of a file with LF for line ends; refuse a blank one if more is expected."""
    source = source or Path(path).name
    text = decode(opening(path, role, -1), source)
    if expected and not text.strip():
        raise empty(source, expected)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def opening(path: Path | str, role: str, size: int = HEAD) -> bytes:
    """Return the first `size` bytes of a file, or all (-1), unpacked where it is gzip."""
    path = existing(path, role)
    try:
        with path.open("rb") as file:
            data = file.read(size)
        if not data.startswith(_GZIP):
            return data
        with gzip.open(path) as file:
            return file.read(size)
    except (EOFError, zlib.error):
        found = f"{counted(path.stat().st_size)} bytes"
        raise damaged(path.name, found, expected="a whole gzip file") from None
    except OSError as reason:
        raise _unreadable(path, role, reason) from reason


def damaged(
    source: str,
    reason: object,
    *,
    expected: str,
    what: str = "file",
    hint: str = "copy it again, or write it again",
) -> InputError:
    """Return the error for a file whose parts do not fit together."""
    return InputError(
        "file-damaged",
        f"{source} is not a whole {what}",
        expected=expected,
        found=" ".join(str(reason).split())[:120] or type(reason).__name__,
        hint=hint,
        source=source,
    )


def check_ending(path: Path, endings: Sequence[str]) -> str:
    """Return the ending of an output; raise unless it and what writes it are there."""
    ending = path.suffix.lower()
    if ending not in endings:
        raise InputError(
            "ending-unknown",
            f"cannot tell the format of {path}",
            expected=" or ".join(endings),
            found=path.suffix or "no ending",
            hint=f"path={quoted(path.with_suffix(endings[0]))}",
            source=str(path),
        )
    if ending == ".parquet":
        require("pyarrow", extra="parquet", source=path.name)
    if ending == ".zarr":
        require("zarr", extra="zarr", source=path.name)
    return ending


def meaningless(source: str, option: str, found: str, expected: str, hint: str = "") -> InputError:
    """Return the error for an option that says nothing about such a file."""
    return InputError(
        "option-unfit",
        f"{source}: {option} has no meaning here",
        expected=expected,
        found=found,
        hint=hint or f"leave {option} out",
        source=source,
        details={"option": option},
    )


def empty(source: str, expected: str, found: str = "nothing") -> InputError:
    """Return the error for a file without content."""
    return InputError(
        "file-empty",
        f"{source} is empty",
        expected=expected,
        found=found,
        hint="write it again, or name another file",
        source=source,
    )


def decode(data: bytes, source: str) -> str:
    """Return the text of a UTF-8 file, with or without a byte order mark.

    Raises
    ------
    InputError
        ``text-binary`` for a file of another format, ``text-encoding`` with the byte and its line.
    """
    # An archive ends with the names of what is in it.
    if data.startswith(ZIP) and b"xl/workbook.xml" in data:
        raise not_text(source, "an Excel workbook", "save its sheet as CSV UTF-8")
    for magic, found, hint in _BINARY:
        if data.startswith(magic):
            raise not_text(source, found, hint)
    start = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    try:
        text = data[start:].decode("utf-8")
    except UnicodeDecodeError as reason:
        at = start + reason.start
        before = data.rfind(b"\n", 0, at) + 1
        line = data.count(b"\n", 0, at) + 1
        raise InputError(
            "text-encoding",
            f"{source} line {counted(line)} is not UTF-8",
            expected="UTF-8 text",
            found=f"byte 0x{data[at]:02X} at position {at - before + 1} of the line",
            hint="save it as UTF-8 (in Excel: CSV UTF-8)",
            source=source,
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise not_text(source, f"a zero byte on line {counted(line)}", "save it as CSV UTF-8")
    return text


def not_text(source: str, found: str, hint: str) -> InputError:
    """Return the error for a file of another format."""
    return InputError(
        "text-binary",
        f"{source} is not a text file",
        expected="UTF-8 text",
        found=found,
        hint=hint,
        source=source,
    )
