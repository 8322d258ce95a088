"""Files of a doccano export: one, a folder of them or a zip, each in one of four syntaxes."""

from __future__ import annotations

import csv
import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final, NoReturn

import attrs

from plausibly.plugin import (
    InputError,
    counted,
    decode_text,
    file_contents,
    file_opening,
    json_shown,
    listed,
    parse_json,
    several,
)

ENDINGS: Final = (".jsonl", ".json", ".csv", ".txt")
MOST_FILES: Final = 10_000
MOST_BYTES: Final = 1 << 30
ZIP: Final = b"PK\x03\x04"

_HEAD = 65_536
_LOOK_INTO = 20
_LINE_END = re.compile(r"\r\n?")
_PREFIX = "__label__"
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,  # a password is asked for, or a compression is not known
    ValueError,
)


@attrs.frozen
class Record:
    """An example in a file: its fields, and where it is."""

    fields: Mapping[str, object]
    place: str


@attrs.frozen
class ExportFile:
    """A file of an export.

    Attributes
    ----------
    stem : str
        Its name without ending: the member of the project, in a folder or zip.
    whose : str
        What messages call it.
    data : bytes
    """

    stem: str
    whose: str
    data: bytes


def is_zip(path: Path) -> bool:
    """Return whether a file starts as a zip does."""
    return file_opening(path, "annotations", len(ZIP)) == ZIP


def export_files(path: Path) -> list[ExportFile]:
    """Return the file, or those in a folder or zip, by their names; nothing is unpacked to disk."""
    if path.is_dir():
        found = {
            name: ExportFile(Path(name).stem, f"{path.name}/{name}", file_contents(file, "export"))
            for name, file in _inside(path).items()
        }
    elif is_zip(path):
        found = _unzipped(path)
    else:
        return [ExportFile(path.stem, path.name, file_contents(path, "annotations"))]
    _check_names(path, list(found))
    return [found[name] for name in sorted(found)]


def heads(path: Path, head: bytes) -> list[tuple[str, bytes]]:
    """Return name and first bytes of each file, for `recognises`; none where anything is amiss."""
    try:
        if path.is_dir():
            inside = _inside(path)
            _check_names(path, list(inside))
            return [(n, file_opening(file, "export", _HEAD)) for n, file in inside.items()]
        if not head.startswith(ZIP):
            return [(path.name, head)]
        with zipfile.ZipFile(path) as archive:
            entries = _entries(archive)
            _check_names(path, [entry.filename for entry in entries])
            found = []
            for entry in entries[:_LOOK_INTO]:
                with archive.open(entry) as stream:
                    found.append((entry.filename, stream.read(_HEAD)))
            return found
    except (InputError, *_BROKEN):
        return []


def records(file: ExportFile) -> list[Record]:
    """Return what a file holds: JSON, JSON Lines, fastText or CSV, as its first letters say."""
    text = _LINE_END.sub("\n", decode_text(file.data, file.whose))
    start = text.lstrip()[:9]
    if not start:
        raise InputError(
            "file-empty",
            f"{file.whose} is empty",
            expected="an export of doccano",
            got="nothing",
            do="export it again, or remove the file",
            whose=file.whose,
        )
    if start.startswith("["):
        value = parse_json(text, file.whose, 1, noun="file")
        found = enumerate(value if isinstance(value, list) else [], start=1)
        return [_record(file, entry, f"record {counted(at)}") for at, entry in found]
    lines = [(at, line) for at, line in enumerate(text.split("\n"), start=1) if line.strip(" \t")]
    if start.startswith("{"):
        return [
            _record(file, parse_json(line, file.whose, at, noun="line"), f"line {counted(at)}")
            for at, line in lines
        ]
    if start == _PREFIX or file.whose.lower().endswith(".txt"):
        return [Record(_fast_text(line), f"line {counted(at)}") for at, line in lines]
    return list(_rows(file, text))


def _record(file: ExportFile, value: object, place: str) -> Record:
    if not isinstance(value, dict):
        raise InputError(
            "record-unlike",
            f"{file.whose} {place} is no record",
            expected="an object with a text or filename, and its labels",
            got=json_shown(value),
            do="export it again",
            whose=file.whose,
        )
    return Record(value, place)


def _fast_text(line: str) -> dict[str, object]:
    words = line.split()
    labels: list[object] = [w.removeprefix(_PREFIX) for w in words if w.startswith(_PREFIX)]
    return {"text": " ".join(w for w in words if not w.startswith(_PREFIX)), "label": labels}


def _rows(file: ExportFile, text: str) -> Iterator[Record]:
    """Yield the rows of a CSV file: every cell is text."""
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    line = 1
    try:
        for row in rows:
            if row and header is None:
                header = row
                if len(set(header)) < len(header):
                    _row_refused(file, line, "columns of different names", listed(header))
            elif row and header is not None:
                if len(row) != len(header):
                    wanted = several(len(header), "cell")
                    _row_refused(file, line, wanted, several(len(row), "cell"))
                fields: dict[str, object] = dict(zip(header, row, strict=True))
                yield Record(fields, f"line {counted(line)}")
            line = rows.line_num + 1
    except csv.Error as reason:
        _row_refused(file, line, "CSV", str(reason))


def _row_refused(file: ExportFile, line: int, expected: str, got: str) -> NoReturn:
    raise InputError(
        "csv-broken",
        f"{file.whose} line {counted(line)} is no row of the table",
        expected=expected,
        got=got,
        do="export it again, as JSONL",
        whose=file.whose,
        details={"line": line},
    )


def _inside(folder: Path) -> dict[str, Path]:
    named = {file.name: file for file in folder.iterdir() if file.is_file()}
    return {name: named[name] for name in sorted(named) if _is_ours(name)}


def _is_ours(name: str) -> bool:
    path = PurePosixPath(name)
    hidden = any(part.startswith((".", "__MACOSX")) for part in path.parts)
    return path.suffix.lower() in ENDINGS and not hidden


def _entries(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [e for e in archive.infolist() if not e.is_dir() and _is_ours(e.filename)]


def _unzipped(path: Path) -> dict[str, ExportFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = _entries(archive)
            size = sum(entry.file_size for entry in entries)
            if size > MOST_BYTES or len(entries) > MOST_FILES:
                got = f"{several(len(entries), 'file')}, {several(size, 'byte')}"
                most = f"at most {counted(MOST_FILES)} files, {counted(MOST_BYTES)} bytes"
                _zip_refused(path, "is too large to read at once", most, got)
            if any(entry.flag_bits & 1 for entry in entries):
                _zip_refused(path, "has a password", "a zip without", "one that asks for it")
            found: dict[str, ExportFile] = {}
            for entry in entries:
                name = PurePosixPath(entry.filename)
                whose = f"{path.name}/{entry.filename}"
                if entry.filename in found:
                    _zip_refused(path, "holds a file twice", "each name once", entry.filename)
                found[entry.filename] = ExportFile(name.stem, whose, archive.read(entry))
            return found
    except InputError:
        raise
    except _BROKEN as reason:
        _zip_refused(path, "cannot be unpacked", "a whole zip", str(reason)[:80])


def _zip_refused(path: Path, what: str, expected: str, got: str) -> NoReturn:
    raise InputError(
        "zip-unfit",
        f"{path.name} {what}",
        expected=expected,
        got=got or "less",
        do="unpack it into a folder, and name that folder; or export it again",
        whose=path.name,
    )


def _check_names(path: Path, names: list[str]) -> None:
    """Refuse a folder or zip of which it is not plain which files are the members'."""
    stems = [PurePosixPath(name).stem for name in names]
    endings = {PurePosixPath(name).suffix.lower() for name in names}
    what = expected = ""
    if not names:
        what, expected = "holds no export", f"files that end in {listed(ENDINGS, most=4)}"
    elif len(endings) > 1:
        what, expected = "holds files of several kinds", "one file a member, all exported alike"
    elif len(set(stems)) < len(stems):
        what, expected = "has two files of one member", "one file a member"
    elif "all" in stems and len(stems) > 1:
        what = "has all labels twice: merged in all, and by member"
        expected = "either the file all, or one file a member"
    if what:
        raise InputError(
            "export-unclear",
            f"{path.name} {what}",
            expected=expected,
            got=listed(names) or "none",
            do="put the files of one export into a folder of their own",
            whose=path.name,
            details={"files": names},
        )
