"""doccano: exports of classification projects, one file a member or all labels merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NoReturn

import attrs

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    JsonNumber,
    Response,
    ResponseOptions,
    json_head,
    json_shown,
    listed,
    quoted,
    several,
    states,
    warn,
)
from plausibly_builtins.readers._doccano_files import (
    ExportFile,
    Record,
    export_files,
    heads,
    is_zip,
    records,
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
        """Return the annotation table in the export.

        Parameters
        ----------
        path : Path
            The file, folder or zip.
        labels : sequence of str or None
            The declared labels; the export lists none that nobody chose.

        Raises
        ------
        InputError
            ``export-unclear``, ``zip-unfit``, ``csv-broken``, ``record-unlike``, ``key-missing``,
            ``example-unnamed``, ``example-differs``, ``spans-unfit``, ``labels-numbered``,
            ``label-unfit``, ``labels-several``, ``annotator-unfit``, and what
            `plausibly.plugin.parse_json` and `ResponseOptions.gathered` say.

        Warns
        -----
        PlausiblyWarning
            ``examples-numbered``, ``annotators-unnamed``.
        """
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
