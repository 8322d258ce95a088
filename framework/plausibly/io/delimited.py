"""Delimited text as RFC 4180 has it: bytes to characters, characters to rows, rows with lines."""

from __future__ import annotations

import csv
import io
import re
import string
from collections.abc import Iterable, Iterator
from itertools import islice

from plausibly.errors import InputError, counted

_BLOCK = 4_096
_QUOTED = re.compile(r'[,;\t"\r\n]|^\s|\s$')
_SNIFFED_ROWS = 20
_SNIFFED_CHARACTERS = 65_536
_DELIMITERS = (",", ";", "\t", "|")
_DECLARED = re.compile(r'"?sep=([^\r\n"])"?\r?(?:\n|\Z)', re.IGNORECASE)  # Excel writes this line
_EDGES = string.whitespace + "\xa0\u200b\ufeff"
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


def sniff(text: str, suffix: str = "") -> str:
    """Return the delimiter of a text table: comma, semicolon, tab or ``|``."""
    if (declared := _DECLARED.match(text)) is not None:
        return declared[1]
    tabs = suffix.lower() in {".tsv", ".tab"}
    if tabs and "\t" in text.lstrip("\r\n").partition("\n")[0]:
        return "\t"
    rows = io.StringIO(text[:_SNIFFED_CHARACTERS], newline="").readlines()
    if len(text) > _SNIFFED_CHARACTERS and len(rows) > 1:
        rows.pop()
    for delimiter in _DELIMITERS:
        filled = (row for row in csv.reader(rows, delimiter=delimiter) if row)
        widths = {len(row) for row in islice(filled, _SNIFFED_ROWS)}
        if len(widths) == 1 and widths.pop() > 1:
            return delimiter
    first = next((row for row in rows if row.strip()), "")
    return max(("\t", *_DELIMITERS) if tabs else _DELIMITERS, key=first.count)


def undeclared(text: str) -> str:
    """Return a text with an empty line in place of a first line ``sep=;``, so that lines count."""
    return _DECLARED.sub("\n", text, count=1) if _DECLARED.match(text) else text


def trimmed(header: Iterable[str], text: str = "") -> tuple[str, ...]:
    """Return names of columns without blanks at their ends, unless quotes in `text` keep these."""
    return tuple(name if f'"{name}"' in text else name.strip(_EDGES) for name in header)


def parse(text: str, whose: str, delimiter: str) -> Iterator[tuple[list[list[str]], list[int]]]:
    """Yield the rows of a text table, and the lines on which they start, in blocks."""
    rows: list[list[str]] = []
    lines: list[int] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    end = 0
    try:
        for row in reader:
            if row and (row[0] or len(row) == 1 or any(row)):
                rows.append(row)
                lines.append(end + 1)
            end = reader.line_num
            if len(rows) == _BLOCK:
                yield rows, lines
                rows, lines = [], []
    except csv.Error as reason:
        what, got = "a quoted field does not end", "the end of the file inside quotes"
        if "expected after" in str(reason):
            what, got = "text follows a closing quote", "a quote inside quotes that is not doubled"
        raise InputError(
            "quote-broken",
            f"{whose} line {counted(end + 1)}: {what}",
            expected='quotes around a field, and inside it doubled: "say ""yes"""',
            got=got,
            do="fix the quotes of that line",
            whose=whose,
            details={"line": end + 1},
        ) from None
    if rows:
        yield rows, lines


def line(fields: Iterable[object]) -> str:
    r"""Return one line of a CSV file, with its end."""
    texts = map(str, fields)
    cells = (f'"{t.replace(chr(34), chr(34) * 2)}"' if _QUOTED.search(t) else t for t in texts)
    return ",".join(cells) + "\n"
