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
_BINARY = (
    (ZIP, "a zip archive", "unpack it first"),
    (b"\x93NUMPY", "a numpy array", "give it the ending .npy"),
    (b"\x89HDF", "an HDF5 or netCDF-4 file", "give it the ending .nc"),
    (b"CDF\x01", "a netCDF-3 file", "give it the ending .nc"),
    (b"CDF\x02", "a netCDF-3 file", "give it the ending .nc"),
    (b"\xff\xfe", "UTF-16", "save it as UTF-8 (in Excel: CSV UTF-8)"),
    (b"\xfe\xff", "UTF-16", "save it as UTF-8 (in Excel: CSV UTF-8)"),
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
        got=f'"{(getattr(reason, "strerror", None) or str(reason)).lower()}"',
        do="name another file, or change the rights of this one",
        whose=str(path),
        details={"path": str(path)},
    )


def existing(path: Path | str, role: str) -> Path:
    """Return the path of a file that is there."""
    path = Path(path)
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        names = _neighbours(path.parent)
        guess = near(path.name, names)
        do = f"mend the path; there is nothing in {path.parent} either"
        if not set("\b\t\n\f\r").isdisjoint(str(path)):  # TOML reads "data\\test.csv" with a tab
            do = SLASHES
        elif guess is not None:
            do = f"did you mean {path.parent / guess}?"
        elif names:
            do = f"mend the path; {path.parent} holds {listed(names)}"
        raise InputError(
            "file-missing",
            f'{role} "{path}": there is no such file',
            expected="a file",
            got="none",
            do=do,
            whose=str(path),
            details={"path": str(path), "near": guess},
        ) from None
    except (OSError, ValueError) as reason:
        raise _unreadable(path, role, reason) from reason
    if stat.S_ISDIR(mode):
        names = _neighbours(path)
        raise InputError(
            "file-is-folder",
            f'{role} "{path}" is a folder',
            expected="a file",
            got=f"a folder with {listed(names)}" if names else "an empty folder",
            do=f"name one of its files: {path / names[0]}" if names else "name a file",
            whose=str(path),
            details={"path": str(path)},
        )
    if not stat.S_ISREG(mode):
        raise _unreadable(path, role, "a device or a pipe")
    return path


def contents(path: Path | str, role: str) -> bytes:
    """Return the bytes of a file, unpacked where it is gzip; errors as `existing`'s."""
    return opening(path, role, -1)


def read_text(path: Path | str, role: str, *, whose: str | None = None, expected: str = "") -> str:
    """Return the text of a file, whatever its lines end with; errors as those of `decode`.

    A blank file raises ``file-empty`` where something is expected.
    """
    whose = whose or Path(path).name
    text = decode(contents(path, role), whose)
    if expected and not text.strip():
        raise empty(whose, expected)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def opening(path: Path | str, role: str, size: int = HEAD) -> bytes:
    """Return the first `size` bytes of a file, as `contents` gives them."""
    path = existing(path, role)
    try:
        with path.open("rb") as file:
            data = file.read(size)
        if not data.startswith(_GZIP):
            return data
        with gzip.open(path) as file:
            return file.read(size)
    except (EOFError, zlib.error):
        size = path.stat().st_size
        raise truncated(path.name, "its content", whole="a whole gzip file", size=size) from None
    except OSError as reason:
        raise _unreadable(path, role, reason) from reason


def truncated(whose: str, ends: str, *, whole: str, size: int) -> InputError:
    """Return the error for a file that ends too early."""
    return InputError(
        "file-truncated",
        f"{whose} ends before {ends}",
        expected=whole,
        got=f"{counted(size)} bytes",
        do="copy it again",
        whose=whose,
        details={"bytes": size},
    )


def damaged(
    whose: str,
    reason: object,
    *,
    expected: str,
    what: str = "file",
    do: str = "copy it again, or write it again",
) -> InputError:
    """Return the error for a file whose parts do not fit together."""
    return InputError(
        "file-damaged",
        f"{whose} is not a whole {what}",
        expected=expected,
        got=" ".join(str(reason).split())[:120] or type(reason).__name__,
        do=do,
        whose=whose,
    )


def check_ending(path: Path, endings: Sequence[str]) -> str:
    """Return the ending of an output; raise unless it and what writes it are there."""
    ending = path.suffix.lower()
    if ending not in endings:
        raise InputError(
            "ending-unknown",
            f"cannot tell the format of {path}",
            expected=" or ".join(endings),
            got=path.suffix or "no ending",
            do=f"path={quoted(path.with_suffix(endings[0]))}",
            whose=str(path),
        )
    if ending == ".parquet":
        require("pyarrow", extra="parquet", whose=path.name)
    if ending == ".zarr":
        require("zarr", extra="zarr", whose=path.name)
    return ending


def meaningless(whose: str, option: str, got: str, expected: str, do: str = "") -> InputError:
    """Return the error for an option that says nothing about such a file."""
    return InputError(
        "option-unfit",
        f"{whose}: {option} has no meaning here",
        expected=expected,
        got=got,
        do=do or f"leave {option} out",
        whose=whose,
    )


def empty(whose: str, expected: str, got: str = "nothing") -> InputError:
    """Return the error for a file without content."""
    return InputError(
        "file-empty",
        f"{whose} is empty",
        expected=expected,
        got=got,
        do="write it again, or name another file",
        whose=whose,
    )


def decode(data: bytes, whose: str) -> str:
    """Return the text of a UTF-8 file, with or without a byte order mark.

    Raises
    ------
    InputError
        ``text-binary`` for a file of another format, ``text-encoding`` with the byte and its line.
    """
    # An archive ends with the names of what is in it.
    if data.startswith(ZIP) and b"xl/workbook.xml" in data:
        raise not_text(whose, "an Excel workbook", "save its sheet as CSV UTF-8")
    for magic, got, do in _BINARY:
        if data.startswith(magic):
            raise not_text(whose, got, do)
    start = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    try:
        text = data[start:].decode("utf-8")
    except UnicodeDecodeError as reason:
        at = start + reason.start
        before = data.rfind(b"\n", 0, at) + 1
        line = data.count(b"\n", 0, at) + 1
        raise InputError(
            "text-encoding",
            f"{whose} line {counted(line)} is not UTF-8",
            expected="UTF-8 text",
            got=f"byte 0x{data[at]:02X} at position {at - before + 1} of the line",
            do="save it as UTF-8 (in Excel: CSV UTF-8)",
            whose=whose,
            details={"byte": data[at], "offset": at},
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise not_text(whose, f"a zero byte on line {counted(line)}", "save it as CSV UTF-8")
    return text


def not_text(whose: str, got: str, do: str) -> InputError:
    """Return the error for a file of another format."""
    return InputError(
        "text-binary",
        f"{whose} is not a text file",
        expected="UTF-8 text",
        got=got,
        do=do,
        whose=whose,
    )
