"""doccano: exports of classification projects."""

from __future__ import annotations

import csv
import io
import lzma
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final, Literal, NoReturn

import attrs

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    JsonNumber,
    Response,
    ResponseOptions,
    counted,
    decode_text,
    file_contents,
    file_opening,
    json_head,
    json_shown,
    listed,
    parse_json,
    quoted,
    several,
    states,
    warn,
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


_FIELDS = ("label", "cats", "annotations", "labels")
_SUBJECTS = ("text", "filename")
_MERGED = "all"
_UNLABELLED = "records without a label (not labelled, or of no label)"
_SPANS = "spans of text beside the labels"
_SPAN_KEYS = frozenset({"start_offset", "end_offset", "from_id", "to_id"})


@attrs.frozen(kw_only=True)
class Doccano(ResponseOptions):
    """Read exports of doccano: a folder or zip of ``<username>.jsonl``, or one file.

    In a folder or zip every file is an annotator, called as the file; ``all`` holds the merged
    labels of everybody, and so does a file alone: nobody knows whose they are. JSON Lines, JSON,
    CSV (labels joined by ``#``) and fastText are read; comments and spans are not. The order of
    labels says nothing.

    Attributes
    ----------
    kind : {"label-set", "single-label"}
        ``"single-label"``: an example has one label.
    annotator : str or None
        Who labelled, where there is one file and that is known.
    example : str or None
        Key that names the examples. None takes ``id``, or the ``filename`` of images; where there
        is neither, examples are called by their place, from 0.
    field : str or None
        Key of the labels; None takes ``label``, ``cats``, ``annotations`` or ``labels``.
    label_names : mapping of str to str
        Names of labels that are exported as numbers.
    unlabelled : {"not-assigned", "empty"}
        What it means that a record has no label, which the file does not say: no response (counted
        in the summary), or an empty answer.
    """

    kind: Literal["label-set", "single-label"] = "label-set"
    annotator: str | None = None
    example: str | None = None
    field: str | None = None
    label_names: Mapping[str, str] = attrs.field(factory=dict)
    unlabelled: Literal["not-assigned", "empty"] = "not-assigned"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether every file starts with labels as doccano lists them; some may be empty."""
        found = [start for _, start in heads(path, head) if start.strip()]
        return bool(found) and all(map(_starts_so, found))

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the export."""
        files = export_files(path)
        several_files = path.is_dir() or is_zip(path)
        if several_files and self.annotator is not None:
            _refuse_annotator(path.name, self.annotator, "in which every file is an annotator")
        # Whoever labelled nothing has an empty file, where only confirmed labels are exported.
        parsed = [(f, [] if several_files and not f.data.strip() else records(f)) for f in files]
        everything = [record for _, found in parsed for record in found]
        key = self._key(path.name, everything, one=len(files) == 1)
        left_out = Counter[str]()
        subjects: dict[str, object] = {}
        responses: list[Response] = []
        for file, found in parsed:
            member = file.stem if several_files and file.stem != _MERGED else self.annotator
            for at, record in enumerate(found):
                name = str(at) if key is None else _name(file, record, key)
                self._check_subject(file, record, name, subjects)
                field = self._field(file, record)
                spans = record.fields.get("entities")
                left_out[_SPANS] += len(spans) if isinstance(spans, list) else 0
                prefix = f"{file.whose.partition('/')[2]} " if several_files else ""
                for who, said in self._said(file, record, field, member):
                    if not said and self.unlabelled == "not-assigned":
                        left_out[_UNLABELLED] += 1
                        continue
                    responses.append(
                        Response(
                            example=name,
                            annotator=who,
                            answer=self._answer(file, record, said) if said else None,
                            state=states.ANSWERED if said else states.EMPTY,
                            place=f"{prefix}{record.place}",
                        )
                    )
        return self.gathered(
            self.kind,
            responses,
            labels,
            whose=path.name,
            examples=subjects,
            annotators=[f.stem for f in files if several_files and f.stem != _MERGED],
            left_out=left_out,
        )

    def _key(self, whose: str, found: Sequence[Record], *, one: bool) -> str | None:
        """Return the key that names the examples; None where their places do."""
        if self.example is not None:
            return self.example
        for key in ("id", "filename"):
            if any(key in record.fields for record in found):
                return key
        if not found:
            return None
        if not one:
            raise InputError(
                "example-unnamed",
                f"{whose}: no record has an id",
                expected="an id, by which records of several files are the same example",
                got=listed(found[0].fields),
                do=self._as_typed('example = "text"'),
                whose=whose,
            )
        warn(
            "examples-numbered",
            f"{whose}: {several(len(found), 'example')} without id are called by their place",
            expected="an id; predictions must name the examples 0, 1, … in this order",
            do=self._as_typed('example = "text"') + " takes another key",
            whose=whose,
            stacklevel=4,
        )
        return None

    def _check_subject(
        self, file: ExportFile, record: Record, name: str, subjects: dict[str, object]
    ) -> None:
        """Refuse one name for two texts: ids of two projects are no ids of one."""
        fields = record.fields
        subject = next((fields[key] for key in _SUBJECTS if key in fields), None)
        if subjects.setdefault(name, subject) != subject:
            raise InputError(
                "example-differs",
                f"{file.whose} {record.place}: example {name} is another one elsewhere",
                expected=f"what it is elsewhere: {json_shown(subjects[name])}",
                got=json_shown(subject),
                do="read each project by itself; or " + self._as_typed('example = "text"'),
                whose=file.whose,
            )

    def _field(self, file: ExportFile, record: Record) -> str:
        wanted = _FIELDS if self.field is None else (self.field,)
        for key in wanted:
            if key in record.fields:
                return key
        raise InputError(
            "key-missing",
            f"{file.whose} {record.place} has no labels",
            expected=f"the key {quoted(wanted[0])}",
            got=listed(map(quoted, record.fields)) or "no key",
            do=self._as_typed('field = "KEY"') + ", a key that is there",
            whose=file.whose,
        )

    def _said(
        self, file: ExportFile, record: Record, field: str, member: str | None
    ) -> Iterator[tuple[str | None, list[str]]]:
        """Yield each annotator of a record with the labels; nobody's list is there if empty."""
        value = record.fields[field]
        if isinstance(value, str) and not isinstance(value, JsonNumber):
            # Only CSV has cells; a label of JSON is one label, whatever is in it.
            joined = not file.data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"["))
            value = (value.split("#") if joined else [value]) if value else []
        entries = [] if value is None else value if isinstance(value, list) else [value]
        if not any(isinstance(entry, dict) for entry in entries):
            yield member, [self._label(file, record, entry) for entry in entries]
            return
        by_user: dict[str | None, list[str]] = {}
        for entry in entries:
            if not isinstance(entry, dict) or "label" not in entry or _SPAN_KEYS & entry.keys():
                _refuse_spans(file, record, entry)
            user = entry.get("user")
            if user is not None and self.annotator is not None:
                _refuse_annotator(file.whose, self.annotator, "whose annotations name their user")
            who = str(user) if isinstance(user, str) else member
            by_user.setdefault(who, []).append(self._label(file, record, entry["label"]))
        yield from by_user.items()

    def _label(self, file: ExportFile, record: Record, said: object) -> str:
        if isinstance(said, (list, dict)):
            _refuse_spans(file, record, said)
        if isinstance(said, JsonNumber):
            if said in self.label_names:
                return self.label_names[said]
            raise InputError(
                "labels-numbered",
                f"{file.whose} {record.place} has the number {said[:40]} for a label",
                expected="names of labels; a number is an id of the database, or a measurement",
                got=f"{said[:40]}, whose name is in no file",
                do=self._as_typed(f'label_names = {{"{said[:40]}" = "NAME"}}')
                + ", with a name for each number",
                whose=file.whose,
            )
        if not isinstance(said, str):
            raise InputError(
                "label-unfit",
                f"{file.whose} {record.place} has a label that is no text",
                expected="text",
                got=json_shown(said),
                do="export it again",
                whose=file.whose,
            )
        return said

    def _answer(self, file: ExportFile, record: Record, said: Sequence[str]) -> object:
        different = sorted(set(said))
        if self.kind == "label-set":
            return different
        if len(different) > 1:
            raise InputError(
                "labels-several",
                f"{file.whose} {record.place} names {several(len(different), 'label')}",
                expected="one, as kind = single-label says",
                got=listed(map(quoted, different)),
                do=self._as_typed('kind = "label-set"') + "; or export one file a member",
                whose=file.whose,
            )
        return different[0]


def _name(file: ExportFile, record: Record, key: str) -> str:
    value = record.fields.get(key)
    if isinstance(value, str) and value:
        return str(value)
    raise InputError(
        "example-unnamed",
        f"{file.whose} {record.place} does not name its example",
        expected=f"text or a number under {quoted(key)}",
        got=json_shown(value) if key in record.fields else listed(map(quoted, record.fields)),
        do="export it again, or name another key with example",
        whose=file.whose,
    )


def _refuse_spans(file: ExportFile, record: Record, said: object) -> NoReturn:
    raise InputError(
        "spans-unfit",
        f"{file.whose} {record.place} labels a part of its text",
        expected="labels of whole examples; spans say where something is",
        got=json_shown(said),
        do="export a project for classification",
        whose=file.whose,
    )


def _refuse_annotator(whose: str, annotator: str, because: str) -> NoReturn:
    raise InputError(
        "annotator-unfit",
        f"{whose} is an export {because}",
        expected="an annotator only where the export names none",
        got=quoted(annotator),
        do="leave annotator out",
        whose=whose,
    )


def _starts_so(head: bytes) -> bool:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"__label__"):
        return True
    if not text.startswith((b"{", b"[")):
        header = text.partition(b"\n")[0]
        columns = {cell.strip().strip(b'"') for cell in header.split(b",")}
        return {b"label", b"Comments"} <= columns and bool({b"text", b"filename"} & columns)
    values = json_head(head)
    first = values[0] if values else None
    if isinstance(first, list):
        first = first[0] if first else None
    if not isinstance(first, dict) or not any(key in first for key in _SUBJECTS):
        return False
    if isinstance(first.get("cats"), list) and "entities" in first:
        return True
    if "Comments" in first and "label" in first:
        return True
    labels, old = first.get("label"), first.get("annotations")
    if isinstance(labels, list):
        return all(isinstance(e, str) and not isinstance(e, JsonNumber) for e in labels)
    return (
        isinstance(old, list)
        and bool(old)
        and all(isinstance(e, dict) and "label" in e and "user" in e for e in old)
    )
