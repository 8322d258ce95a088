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
from typing import Final, Literal, TypeAlias, TypeGuard

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
)
from plausibly_builtins.readers._exports import about, at, one_or_all, refused, text_of, told

ENDINGS: Final = (".jsonl", ".json", ".csv", ".txt")
MOST_FILES: Final = 10_000
MOST_BYTES: Final = 1 << 30
ZIP: Final = b"PK\x03\x04"

_LINE_END = re.compile(r"\r\n?")
_PREFIX = "__label__"
_FIELDS = ("label", "cats", "annotations", "labels")
_SUBJECTS = ("text", "filename")
_MERGED = "all"
_SPAN_KEYS = frozenset({"start_offset", "end_offset", "from_id", "to_id"})
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


Fields: TypeAlias = Mapping[str, object]


@attrs.frozen
class Record:
    """An example in a file: its fields, and where it is."""

    fields: Fields
    place: str


@attrs.frozen
class ExportFile:
    """A file of an export; without ending it is called as the member of the project."""

    stem: str
    whose: str
    data: bytes


def is_zip(path: Path) -> bool:
    """Return whether a file starts as a zip does."""
    return file_opening(path, "annotations", len(ZIP)) == ZIP


def export_files(path: Path) -> list[ExportFile]:
    """Return the file, or those in a folder or zip, by their names; nothing is unpacked to disk."""
    if path.is_dir():
        data = {name: file_contents(file, "export") for name, file in _inside(path).items()}
    elif is_zip(path):
        data = _unzipped(path)
    else:
        return [ExportFile(path.stem, path.name, file_contents(path, "annotations"))]
    _check_names(path, list(data))
    return [
        ExportFile(PurePosixPath(name).stem, f"{path.name}/{name}", data[name])
        for name in sorted(data)
    ]


def heads(path: Path, head: bytes) -> list[bytes]:
    """Return the first bytes of each file, for `recognises`; none where anything is amiss."""
    try:
        if path.is_dir():
            inside = _inside(path)
            _check_names(path, list(inside))
            return [file_opening(file, "export") for file in inside.values()]
        if not head.startswith(ZIP):
            return [head]
        with zipfile.ZipFile(path) as archive:
            entries = _entries(archive)
            _check_names(path, [entry.filename for entry in entries])
            found = []
            for entry in entries[:20]:
                with archive.open(entry) as stream:
                    found.append(stream.read(65_536))
            return found
    except (InputError, *_BROKEN):
        return []


def records(file: ExportFile) -> Iterator[Record]:
    """Yield what a file holds: JSON, JSON Lines, fastText or CSV, as its first letters say."""
    text = _LINE_END.sub("\n", decode_text(file.data, file.whose))
    start = text.lstrip()[:9]
    if not start:
        raise refused(
            "file-empty",
            " is empty",
            "an export of doccano",
            "nothing",
            "export it again, or remove the file",
        )
    lines = [(at, line) for at, line in enumerate(text.split("\n"), start=1) if line.strip(" \t")]
    found: Iterator[tuple[str, object]]
    if start.startswith("["):
        value = parse_json(text, file.whose, 1, noun="file")
        every = enumerate(value if isinstance(value, list) else [], start=1)
        found = ((f"record {counted(at)}", entry) for at, entry in every)
    elif start.startswith("{"):
        parsed = ((at, parse_json(line, file.whose, at, noun="line")) for at, line in lines)
        found = ((f"line {counted(at)}", entry) for at, entry in parsed)
    elif start == _PREFIX or file.whose.lower().endswith(".txt"):
        found = ((f"line {counted(at)}", _fast_text(line)) for at, line in lines)
    else:
        found = _rows(file, text)
    for place, entry in found:
        if not isinstance(entry, dict):
            raise refused(
                "record-unlike",
                f" {place} is no record",
                "an object with a text or filename, and its labels",
                json_shown(entry),
                "export it again",
            )
        yield Record(entry, place)


def _fast_text(line: str) -> dict[str, object]:
    words = line.split()
    labels: list[object] = [w.removeprefix(_PREFIX) for w in words if w.startswith(_PREFIX)]
    return {"text": " ".join(w for w in words if not w.startswith(_PREFIX)), "label": labels}


def _rows(file: ExportFile, text: str) -> Iterator[tuple[str, object]]:
    """Yield the rows of a CSV file: every cell is text."""

    def broken(expected: str, got: str) -> InputError:
        what = f" line {counted(line)} is no row of the table"
        do = "export it again, as JSONL"
        return refused("csv-broken", what, expected, got, do, line=line)

    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    line = 1
    try:
        for row in rows:
            if row and not header:
                header = row
                if len(set(header)) < len(header):
                    raise broken("columns of different names", listed(header))
            elif row:
                if len(row) != len(header):
                    raise broken(several(len(header), "cell"), several(len(row), "cell"))
                yield f"line {counted(line)}", dict(zip(header, row, strict=True))
            line = rows.line_num + 1
    except csv.Error as reason:
        raise broken("CSV", str(reason)) from reason


def _inside(folder: Path) -> dict[str, Path]:
    named = {file.name: file for file in folder.iterdir() if file.is_file()}
    return {name: named[name] for name in sorted(named) if _is_ours(name)}


def _is_ours(name: str) -> bool:
    path = PurePosixPath(name)
    hidden = any(part.startswith((".", "__MACOSX")) for part in path.parts)
    return path.suffix.lower() in ENDINGS and not hidden


def _entries(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [e for e in archive.infolist() if not e.is_dir() and _is_ours(e.filename)]


def _unzipped(path: Path) -> dict[str, bytes]:
    def unfit(what: str, expected: str, got: str) -> InputError:
        do = "unpack it into a folder, and name that folder; or export it again"
        return refused("zip-unfit", f" {what}", expected, got or "less", do)

    try:
        with zipfile.ZipFile(path) as archive:
            entries = _entries(archive)
            size = sum(entry.file_size for entry in entries)
            if size > MOST_BYTES or len(entries) > MOST_FILES:
                got = f"{several(len(entries), 'file')}, {several(size, 'byte')}"
                most = f"at most {counted(MOST_FILES)} files, {counted(MOST_BYTES)} bytes"
                raise unfit("is too large to read at once", most, got)
            if any(entry.flag_bits & 1 for entry in entries):
                raise unfit("has a password", "a zip without", "one that asks for it")
            found: dict[str, bytes] = {}
            for entry in entries:
                if entry.filename in found:
                    raise unfit("holds a file twice", "each name once", entry.filename)
                found[entry.filename] = archive.read(entry)
            return found
    except InputError:
        raise
    except _BROKEN as reason:
        raise unfit("cannot be unpacked", "a whole zip", str(reason)[:80]) from reason


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
    elif _MERGED in stems and len(stems) > 1:
        what = "has all labels twice: merged in all, and by member"
        expected = "either the file all, or one file a member"
    if what:
        raise refused(
            "export-unclear",
            f" {what}",
            expected,
            listed(names) or "none",
            "put the files of one export into a folder of their own",
            files=names,
        )


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
        found = [start for start in heads(path, head) if start.strip()]
        return bool(found) and all(map(_starts_so, found))

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the export."""
        with about(path.name):
            files = export_files(path)
            several_files = path.is_dir() or is_zip(path)
            if several_files:
                self._check_annotator(path.name, "in which every file is an annotator")
            parsed: list[tuple[ExportFile, list[Record]]] = []
            for file in files:
                # Whoever labelled nothing has an empty file, where only confirmed are exported.
                empty = several_files and not file.data.strip()
                with about(file.whose):
                    parsed.append((file, [] if empty else list(records(file))))
            every = [record for _, found in parsed for record in found]
            key = self._key(path.name, every, one=len(files) == 1)
        left_out = Counter[str]()
        subjects: dict[str, object] = {}
        responses: list[Response] = []
        for file, found in parsed:
            member = file.stem if several_files and file.stem != _MERGED else self.annotator
            prefix = f"{file.whose.partition('/')[2]} " if several_files else ""
            for number, record in enumerate(found):
                fields = record.fields
                left_out["spans of text beside the labels"] += len(_listed(fields.get("entities")))
                with about(file.whose), at(record.place):
                    name = str(number) if key is None else _name(fields, key)
                    self._check_subject(fields, name, subjects)
                    for who, said in self._said(file, fields, member).items():
                        if not said and self.unlabelled == "not-assigned":
                            left_out["records without a label (not labelled, or of no label)"] += 1
                            continue
                        responses.append(
                            Response(
                                example=name,
                                annotator=who,
                                answer=self._answer(said) if said else None,
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

    def _check_annotator(self, whose: str, because: str) -> None:
        if self.annotator is not None:
            raise InputError(
                "annotator-unfit",
                f"{whose} is an export {because}",
                expected="an annotator only where the export names none",
                got=quoted(self.annotator),
                do="leave annotator out",
                whose=whose,
            )

    def _key(self, whose: str, found: Sequence[Record], *, one: bool) -> str | None:
        """Return the key that names the examples; None where their places do."""
        if self.example is not None:
            return self.example
        for key in ("id", "filename"):
            if any(key in record.fields for record in found):
                return key
        if found and not one:
            raise refused(
                "example-unnamed",
                ": no record has an id",
                "an id, by which records of several files are the same example",
                listed(found[0].fields),
                self._as_typed('example = "text"'),
            )
        if found:
            told(
                whose,
                "examples-numbered",
                f": {several(len(found), 'example')} without id are called by their place",
                "an id; predictions must name the examples 0, 1, … in this order",
                "",
                self._as_typed('example = "text"') + " takes another key",
                stacklevel=4,
            )
        return None

    def _check_subject(self, fields: Fields, name: str, subjects: dict[str, object]) -> None:
        """Refuse one name for two texts: ids of two projects are no ids of one."""
        subject = next((fields[key] for key in _SUBJECTS if key in fields), None)
        if subjects.setdefault(name, subject) != subject:
            raise refused(
                "example-differs",
                f": example {name} is another one elsewhere",
                f"what it is elsewhere: {json_shown(subjects[name])}",
                json_shown(subject),
                "read each project by itself; or " + self._as_typed('example = "text"'),
            )

    def _said(
        self, file: ExportFile, fields: Fields, member: str | None
    ) -> dict[str | None, list[str]]:
        """Return the labels of a record by annotator; nobody's list is there if empty."""
        wanted = _FIELDS if self.field is None else (self.field,)
        key = next((key for key in wanted if key in fields), None)
        if key is None:
            raise refused(
                "key-missing",
                " has no labels",
                f"the key {quoted(wanted[0])}",
                listed(map(quoted, fields)) or "no key",
                self._as_typed('field = "KEY"') + ", a key that is there",
            )
        value = fields[key]
        entries = value if isinstance(value, list) else [value] if value not in (None, "") else []
        # Only CSV has cells; a label of JSON is one label, whatever is in it.
        if _is_text(value) and not file.data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(
            (b"{", b"[")
        ):
            entries = value.split("#") if value else []
        if not any(isinstance(entry, dict) for entry in entries):
            return {member: [self._label(entry) for entry in entries]}
        by_user: dict[str | None, list[str]] = {}
        for entry in entries:
            if not isinstance(entry, dict) or "label" not in entry or _SPAN_KEYS & entry.keys():
                raise _spans(entry)
            user = entry.get("user")
            if user is not None:
                self._check_annotator(file.whose, "whose annotations name their user")
            who = str(user) if isinstance(user, str) else member
            by_user.setdefault(who, []).append(self._label(entry["label"]))
        return by_user

    def _label(self, said: object) -> str:
        if isinstance(said, (list, dict)):
            raise _spans(said)
        if isinstance(said, JsonNumber) and said not in self.label_names:
            typed = self._as_typed(f'label_names = {{"{said[:40]}" = "NAME"}}')
            raise refused(
                "labels-numbered",
                f" has the number {said[:40]} for a label",
                "names of labels; a number is an id of the database, or a measurement",
                f"{said[:40]}, whose name is in no file",
                f"{typed}, with a name for each number",
            )
        if not isinstance(said, str):
            what = " has a label that is no text"
            raise refused("label-unfit", what, "text", json_shown(said), "export it again")
        return self.label_names[said] if isinstance(said, JsonNumber) else said

    def _answer(self, said: Sequence[str]) -> object:
        different = sorted(set(said))
        if self.kind == "single-label" and len(different) > 1:
            raise refused(
                "labels-several",
                f" names {several(len(different), 'label')}",
                "one, as kind = single-label says",
                listed(map(quoted, different)),
                self._as_typed('kind = "label-set"') + "; or export one file a member",
            )
        return one_or_all(self.kind, different)


def _name(fields: Fields, key: str) -> str:
    name = text_of(fields.get(key))
    if name is None:
        raise refused(
            "example-unnamed",
            " does not name its example",
            f"text or a number under {quoted(key)}",
            json_shown(fields[key]) if key in fields else listed(map(quoted, fields)),
            "export it again, or name another key with example",
        )
    return name


def _spans(said: object) -> InputError:
    return refused(
        "spans-unfit",
        " labels a part of its text",
        "labels of whole examples; spans say where something is",
        json_shown(said),
        "export a project for classification",
    )


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and not isinstance(value, JsonNumber)


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
    labels, old = first.get("label"), _listed(first.get("annotations"))
    if isinstance(first.get("cats"), list) and "entities" in first:
        return True
    if "Comments" in first and "label" in first:
        return True
    if isinstance(labels, list):
        return all(map(_is_text, labels))
    return bool(old) and all(isinstance(e, dict) and "label" in e and "user" in e for e in old)
