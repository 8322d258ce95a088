"""doccano: exports of classification projects."""

from __future__ import annotations

import csv
import io
import lzma
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TypeGuard

import attrs

from plausibly.plugin import AnnotationTable, InputError, counted, listed, quoted, several
from plausibly.plugin.readers import (
    JsonNumber,
    Response,
    decode_text,
    file_opening,
    json_shown,
    parse_json,
    states,
)
from plausibly_builtins.readers import base

_ENDINGS = (".jsonl", ".json", ".csv", ".txt")
_MOST_FILES = 10_000
_MOST_BYTES = 1 << 30
_ZIP = b"PK\x03\x04"
_LINE_END = re.compile(r"\r\n?")
_PREFIX = "__label__"
_FIELDS = ("label", "cats", "annotations", "labels")
_IDS = ("id", "filename")
_SUBJECTS = ("text", "filename")
_MERGED = "all"
_UNPACK = "unpack it into a folder, and name that folder; or export it again"
_BY_TEXT = 'reader={"name": "doccano", "example": "text"}'
_SPAN_KEYS = frozenset({"start_offset", "end_offset", "from_id", "to_id"})
# The latter where a password is needed, or a compression is not known.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
)


def _records(source: str, data: bytes) -> Iterator[base.PlacedEntry]:
    """Yield place and fields of the records of a file: JSON, JSON Lines, fastText or CSV."""
    text = _LINE_END.sub("\n", decode_text(data, source))
    start = text.lstrip()[:9]
    if not start:
        raise base.refused("file-empty", " is empty", "an export of doccano", "nothing")
    every = enumerate(text.split("\n"), start=1)
    lines = [(number, line) for number, line in every if line.strip(" \t")]
    numbered: Iterable[tuple[int, object]]
    noun = "line"
    if start.startswith("["):
        numbered = enumerate(base.items_of(parse_json(text, source, 1)), start=1)
        noun = "record"
    elif start.startswith("{"):
        numbered = ((number, parse_json(line, source, number)) for number, line in lines)
    elif start == _PREFIX or source.lower().endswith(".txt"):
        numbered = map(_fast_text, lines)
    else:
        numbered = _rows(text)
    for number, entry in numbered:
        place = f"{noun} {counted(number)}"
        yield place, base.as_object(entry, place, "an object with text or filename")


def _fast_text(numbered: tuple[int, str]) -> tuple[int, base.Entry]:
    number, line = numbered
    words = line.split()
    rest = " ".join(word for word in words if not word.startswith(_PREFIX))
    named = [word.removeprefix(_PREFIX) for word in words if word.startswith(_PREFIX)]
    return number, {"text": rest, "label": named}


def _rows(text: str) -> Iterator[tuple[int, base.Entry]]:
    """Yield the rows of a CSV file, each with its line: every cell is text."""
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    line = 1
    try:
        for row in rows:
            if header and row:
                if len(row) != len(header):
                    cells, found = (several(len(of), "cell") for of in (header, row))
                    raise base.unlike(line, cells, found=found)
                yield line, dict(zip(header, row, strict=True))
            header = header or row
            if len(set(header)) < len(header):
                raise base.unlike(line, "columns of different names", found=listed(header))
            line = rows.line_num + 1
    except csv.Error as reason:
        raise base.unlike(line, "CSV", found=str(reason)) from reason


# ---- files of an export


def _is_zip(path: Path) -> bool:
    return file_opening(path, "annotations", len(_ZIP)) == _ZIP


def _files(path: Path, size: int = -1) -> dict[str, bytes]:
    """Return the first bytes of the file, or of those in a folder or zip, by their names.

    Of a zip of which not all is read, only some files are there; nothing is unpacked to disk.
    """
    if not path.is_dir() and not _is_zip(path):
        return {path.name: file_opening(path, "annotations", size)}
    if path.is_dir():
        names = sorted(file.name for file in path.iterdir() if file.is_file())
        names = list(filter(_is_ours, names))
        _check_names(names)
        return {f"{path.name}/{name}": file_opening(path / name, "export", size) for name in names}
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [e for e in archive.infolist() if not e.is_dir() and _is_ours(e.filename)]
            names = [entry.filename for entry in entries]
            total = sum(entry.file_size for entry in entries)
            if total > _MOST_BYTES or len(entries) > _MOST_FILES:
                expected = f"at most {counted(_MOST_FILES)} files, {counted(_MOST_BYTES)} bytes"
                found = f"{several(len(entries), 'file')}, {several(total, 'byte')}"
                raise base.unlike("as a whole", expected, None, found, _UNPACK)
            _check_names(names)
            entries.sort(key=lambda entry: entry.filename)
            files: dict[str, bytes] = {}
            for entry in entries[: 20 if size > 0 else None]:
                with archive.open(entry) as stream:
                    files[f"{path.name}/{entry.filename}"] = stream.read(size)
            return files
    except InputError:
        raise
    except _BROKEN as reason:
        found = str(reason)[:80] or "less"
        raise base.unlike("as a whole", "a whole zip", None, found, _UNPACK) from reason


def _is_ours(name: str) -> bool:
    path = PurePosixPath(name)
    hidden = any(part.startswith((".", "__MACOSX")) for part in path.parts)
    return path.suffix.lower() in _ENDINGS and not hidden


def _check_names(names: list[str]) -> None:
    """Refuse a folder or zip whose files are not clearly one per member."""
    stems = [PurePosixPath(name).stem for name in names]
    endings = {PurePosixPath(name).suffix.lower() for name in names}
    one_each = len(endings) == 1 and len(set(stems)) == len(stems)
    if not one_each or (_MERGED in stems and len(stems) > 1):
        expected = "files that are exported alike, or all.jsonl alone"
        hint = "put the files of one export into a folder of their own"
        found = listed(names) or "none"
        raise base.refused(
            "export-unclear", " does not hold one file per member", expected, found, hint
        )


@attrs.frozen(kw_only=True)
class Doccano(base.Export):
    """Read exports of doccano: a folder or zip of ``<username>.jsonl``, or one file.

    In a folder or zip every file is an annotator, called as the file; ``all`` holds the merged
    labels of all, and so does a file alone: its annotators are unknown. JSON Lines, JSON,
    CSV (labels joined by ``#``) and fastText are read.

    Attributes
    ----------
    kind : {"label-set", "single-label"}
        ``"single-label"``: an example has one label.
    annotator : str or None
        Who labelled, where there is one file and that is known.
    example : str or None
        Key that names the examples; None takes ``id``, ``filename``, or their place, from 0.
    field : str or None
        Key of the labels; None takes ``label``, ``cats``, ``annotations`` or ``labels``.
    label_names : mapping of str to str
        Names of labels that are exported as numbers.
    unlabelled : {"not-assigned", "empty"}
        What it means that a record has no label: no response (counted), or an empty answer.
    """

    kind: base.Kind = "label-set"
    annotator: str | None = None
    example: str | None = None
    field: str | None = None
    label_names: Mapping[str, str] = attrs.field(factory=dict)
    unlabelled: base.Unlabelled = "not-assigned"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether every file starts with labels as doccano lists them; some may be empty."""
        heads = [head]
        if path.is_dir() or head.startswith(_ZIP):
            try:
                heads = list(_files(path, 65_536).values())
            except (InputError, OSError):
                return False
        heads = [start for start in heads if start.strip()]
        return bool(heads) and all(map(_is_start, heads))

    def content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        files = _files(path)
        by_member = path.is_dir() or _is_zip(path)
        if by_member:
            base.check_annotator(self.annotator, "is an export in which every file is an annotator")
        every: list[tuple[str, base.PlacedEntry]] = []
        for source, data in files.items():
            # A member without labels has an empty file, where only confirmed are exported.
            if not by_member or data.strip():
                with base.about(source):
                    every += [(source, record) for record in _records(source, data)]
        entries = [
            (f"{source.partition('/')[2]} {place}".lstrip(), fields)
            for source, (place, fields) in every
        ]
        unnamed = self.example is None and not any({*_IDS} & {*fields} for _, fields in entries)
        if len(files) > 1 and unnamed and every:
            expected, found = "an id, by which records are the same example", listed(entries[0][1])
            what = ": no record has an id"
            raise base.refused("example-unnamed", what, expected, found, _BY_TEXT)
        names = base.example_names(path.name, "doccano", entries, self.example, _IDS)
        left_out = Counter[str]()
        subjects: dict[str, object] = {}
        responses: list[Response] = []
        stems = {source: PurePosixPath(source).stem for source in files if by_member}
        members = {source: stem for source, stem in stems.items() if stem != _MERGED}
        starts = {source: data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] for source, data in files.items()}
        for name, (where, _), (source, (place, fields)) in zip(names, entries, every, strict=True):
            member = members.get(source, self.annotator)
            spans = base.items_of(fields.get("entities"))
            left_out["spans of text beside the labels"] += len(spans)
            with base.about(source, f" {place}"):
                subject = next((fields[key] for key in _SUBJECTS if key in fields), None)
                if subjects.setdefault(name, subject) != subject:  # ids of two projects
                    what = f": example {name} is another one elsewhere"
                    expected, found = json_shown(subjects[name]), json_shown(subject)
                    hint = f"read each project by itself; or {_BY_TEXT}"
                    raise base.refused("example-differs", what, expected, found, hint)
                is_json = starts[source] in (b"{", b"[")
                by_user = self._labels(fields, member, is_json=is_json)
            for who, named in by_user.items():
                if not named and self.unlabelled == "not-assigned":
                    left_out["records without a label (not labelled, or of no label)"] += 1
                    continue
                response = Response(example=name, annotator=who, answer=None, place=where)
                state = states.ANSWERED if named else states.EMPTY
                answer = sorted(set(named)) or None
                responses.append(attrs.evolve(response, answer=answer, state=state))
        return self.gathered(
            self.kind,
            responses,
            labels,
            source=path.name,
            examples=subjects,
            annotators=members.values(),
            left_out=left_out,
        )

    def _labels(
        self, fields: base.Entry, member: str | None, *, is_json: bool
    ) -> dict[str | None, list[str]]:
        wanted = _FIELDS if self.field is None else (self.field,)
        key = next((key for key in wanted if key in fields), None)
        if key is None:
            expected = f"the key {quoted(wanted[0])}"
            raise base.key_missing(fields, "doccano", "field", " has no labels", expected)
        value = fields[key]
        entries = value if isinstance(value, list) else [value] if value not in (None, "") else []
        # Only CSV has cells; a label of JSON is one label, whatever is in it.
        if _is_text(value) and not is_json:
            entries = value.split("#") if value else []
        if not any(isinstance(entry, dict) for entry in entries):
            return {member: [self._label(entry) for entry in entries]}
        by_user: dict[str | None, list[str]] = {}
        for entry in entries:
            if not isinstance(entry, dict) or "label" not in entry or _SPAN_KEYS & entry.keys():
                raise _spans(entry)
            user = entry.get("user")
            if user is not None:
                base.check_annotator(self.annotator, "has annotations that name their user")
            who = str(user) if isinstance(user, str) else member
            by_user.setdefault(who, []).append(self._label(entry["label"]))
        return by_user

    def _label(self, value: object) -> str:
        if isinstance(value, (list, dict)):
            raise _spans(value)
        if isinstance(value, JsonNumber) and value not in self.label_names:
            what, names = " has numbers for labels", {str(value[:40]): "NAME"}
            more = ", for each number"
            found = str(value[:40])
            raise base.needed("doccano", what, "names of labels", found, more, label_names=names)
        if not isinstance(value, str):
            raise base.unlike("here", "text for a label", value)
        return self.label_names[value] if isinstance(value, JsonNumber) else value


def _spans(value: object) -> InputError:
    expected = "labels of whole examples; spans say where something is"
    return base.unlike("here", expected, value, hint="export a project for classification")


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and not isinstance(value, JsonNumber)


def _is_start(head: bytes) -> bool:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"__label__"):
        return True
    if not text.startswith((b"{", b"[")):
        header = text.partition(b"\n")[0]
        columns = {cell.strip().strip(b'"') for cell in header.split(b",")}
        return {b"label", b"Comments"} <= columns and bool({b"text", b"filename"} & columns)
    first = base.entry_of(next(iter(base.first_entries(head)), None))
    if not any(key in first for key in _SUBJECTS):
        return False
    labels, old = first.get("label"), base.items_of(first.get("annotations"))
    has_cats = isinstance(first.get("cats"), list) and "entities" in first
    if has_cats or {"Comments", "label"} <= first.keys():
        return True
    if isinstance(labels, list):
        return all(map(_is_text, labels))
    return bool(old) and all({"label", "user"} <= base.entry_of(entry).keys() for entry in old)
