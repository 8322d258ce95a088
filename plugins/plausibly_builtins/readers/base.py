"""Shared parts of readers: refusals of a file, names, times, JSON Lines, tables and arrays.

Each format is a file of its own; `Export` makes the table of its responses.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_tz
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import attrs

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    counted,
    listed,
    near,
    quoted,
    several,
    warn,
)
from plausibly.plugin.readers import (
    JsonNumber,
    ResponseOptions,
    TextTable,
    file_opening,
    json_head,
    json_shown,
    read_json,
    read_json_lines,
    read_table,
)

if TYPE_CHECKING:
    import xarray as xr

    from plausibly.plugin.readers import NamedPrediction

Entry: TypeAlias = Mapping[str, object]
"""An object of JSON."""

PlacedEntry: TypeAlias = tuple[str, Entry]
"""Where an object stands, as messages say it, and the object."""

Labels: TypeAlias = Sequence[str] | None
"""The declared labels; None where the user declares none."""

Kind: TypeAlias = Literal["single-label", "label-set"]
Unlabelled: TypeAlias = Literal["not-assigned", "empty"]

Scores: TypeAlias = "tuple[Iterable[NamedPrediction], Iterable[str], Sequence[str]]"
"""Predictions, the names of all examples, and labels that the file offers."""

CONSOLIDATED: Final = "consolidated"
"""Annotator of answers that several people gave together, or of unknown people."""

MISSING_WORDS: Final = frozenset(
    {"NA", "N/A", "#N/A", "<NA>", "nan", "NaN", "NAN", "None", "NONE", "null", "NULL", "NaT"}
)
"""What programs write where there is nothing."""

_ZONES = ("UTC", "GMT", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT")
NOT_EMPTY: Final = attrs.validators.optional(attrs.validators.min_len(1))
AGAIN: Final = "fix it, or export it again"

_MOST_SHOWN = 60
_FILE = "\0"  # source of an error until its file is known


# ---- the table of an export


@attrs.frozen(kw_only=True)
class Export(ResponseOptions):
    """Base of a format: `content` finds the responses, and makes the table with `gathered`."""

    def content(self, path: Path, labels: Labels) -> AnnotationTable:
        """Return the annotation table of the file or folder, which errors need not name."""
        raise NotImplementedError(type(self).__name__)

    def read(self, path: Path, labels: Labels) -> AnnotationTable:
        with about(path.name):
            return self.content(path, labels)


@attrs.frozen(kw_only=True)
class TimedExport(Export):
    """Base of a format that has the time of each answer: the latest counts."""

    duplicates: Literal["error", "latest", "all", "fractional"] = attrs.field(
        default="latest",
        metadata={
            "help": "Several answers of one annotator to one example: the latest by its time, an "
            "error, all of them, or all of them with one vote together."
        },
    )


@attrs.frozen(kw_only=True)
class TableExport(Export):
    """Base of a format whose files are tables, so that it reads data frames too."""

    def table_content(self, table: TextTable, labels: Labels) -> AnnotationTable:
        raise NotImplementedError(type(self).__name__)

    def content(self, path: Path, labels: Labels) -> AnnotationTable:
        return self.table_content(read_table(path, role="annotations").seen(), labels)

    def from_table(self, table: TextTable, labels: Labels) -> AnnotationTable:
        """Return the annotation table of columns of text; see `read`."""
        with about(table.source):
            return self.table_content(table.seen(), labels)


@attrs.frozen(kw_only=True)
class Scored:
    """Base of a format that holds predictions too."""

    def scored(self, path: Path) -> Scores:
        """Return the predictions that a file holds."""
        raise NotImplementedError(type(self).__name__)

    def predictions(self, path: Path, labels: Labels, model: str | None) -> xr.DataArray:
        """Return the predictions in the file or folder, of one of its models."""
        from plausibly.plugin.readers import from_named  # not needed to read annotations

        with about(path.name):
            named, examples, offered = self.scored(path)
            declared = labels or offered or None
            return from_named(named, declared, source=path.name, model=model, examples=examples)


# ---- errors and warnings


def refused(
    name: str, what: str, expected: str, found: str = "", hint: str = AGAIN, /, **details: object
) -> InputError:
    """Return the error about the file that `about` names; `what` follows its name."""
    return InputError(
        name, what, expected=expected, found=found, hint=hint, source=_FILE, details=details
    )


def cell_refused(table: TextTable, row: int, noun: str, expected: str, found: str) -> InputError:
    """Return the error about a cell that cannot be read."""
    what = f"{table.place(row).removeprefix(table.source)} has no {noun} that can be read"
    return refused("cell-unreadable", what, expected, found, AGAIN, line=table.lines[row])


def columns_missing(table: TextTable, noun: str, expected: str, hint: str) -> InputError:
    found = listed(name[:_MOST_SHOWN] for name in table.header)
    return refused("columns-missing", f" has no column of {noun}", expected, found, hint)


def key_missing(entry: Entry, reader: str, key: str, what: str, expected: str) -> InputError:
    """Return the error about an object of JSON without a key that its reader needs."""
    found = listed(map(short, entry)) or "an empty object"
    return refused("key-missing", what, expected, found, as_argument(reader, **{key: "KEY"}))


def only_predictions(reader: str, *, predicted: bool) -> InputError:
    """Return the error about an export without answers, perhaps one of predictions."""
    found, hint = "none", "export again when they are answered"
    if predicted:
        found = "predictions only"
        hint = f'plausibly.read_predictions(path, reader="{reader}") reads the predictions'
    return refused("annotations-empty", " holds no answer", "answers of annotators", found, hint)


def predictions_ranked(noun: str) -> InputError:
    what, hint = f": {noun} are rankings", "choose another one, with answers that are labels"
    return refused("predictions-ranked", what, "labels with scores", "labels in order", hint)


def unlike(
    place: str | int, expected: str, value: object = None, found: str = "", hint: str = AGAIN
) -> InputError:
    """Return the error about a place, or the number of a line, that the format has otherwise."""
    details: dict[str, object] = {"place": place}
    if isinstance(place, int):
        place, details = f"line {counted(place)}", {"line": place}
    what = f" {place} is not as the format has it"
    return refused("export-unlike", what, expected, found or json_shown(value), hint, **details)


def needed(
    reader: str, what: str, expected: str, found: str, more: str = "", /, **options: object
) -> InputError:
    """Return the error about what a file leaves open, and options of its reader decide."""
    return refused("option-needed", what, expected, found, as_argument(reader, **options) + more)


def unfit(what: str, expected: str, found: str, hint: str = "leave it out") -> InputError:
    """Return the error about an option that says nothing about such a file."""
    return refused("option-unfit", what, expected, found, hint)


@contextmanager
def about(source: str, place: str = "") -> Iterator[None]:
    """Name the file that is refused inside, and a place in it."""
    try:
        yield
    except InputError as error:
        if error.source == _FILE:
            error.what, error.source = f"{source}{place}{error.what}", source
        raise


def warn_of(source: str, name: str, what: str, expected: str, found: str, hint: str) -> None:
    """Warn of a file; `what` follows its name."""
    what = f"{source}{what}"
    warn(name, what, expected=expected, found=found, hint=hint, source=source)


def warn_missing_words(
    source: str, labels: Mapping[str, int], also: Set[str] = frozenset()
) -> None:
    seen = {text: count for text, count in labels.items() if text in MISSING_WORDS | also}
    if seen:
        labelled = f"{several(sum(seen.values()), 'label')} {listed(map(quoted, seen))}"
        what, expected = f" has {labelled}, read as text", 'names of labels; is it "no answer"?'
        hint = f"missing={json.dumps(list(seen), ensure_ascii=False)}, if it is"
        warn_of(source, "labels-like-missing", what, expected, "", hint)


def as_argument(reader: str, **options: object) -> str:
    """Return a reader with options as an argument of Python."""
    pairs = [
        f'"{key}": {value if isinstance(value, bool) else json.dumps(value, ensure_ascii=False)}'
        for key, value in {"name": reader, **options}.items()
    ]
    return f"reader={{{', '.join(pairs)}}}"


def short(name: str) -> str:
    """Return a name between quotation marks, cut where it is too long for a message."""
    return quoted(name if len(name) <= _MOST_SHOWN else f"{name[: _MOST_SHOWN - 1]}…")


def reason(number: int, noun: str, lacks: str) -> str:
    """Return why things do not count, as it follows their number: ``rows without a name``."""
    return f"{noun}{'' if number == 1 else 's'} without {lacks}"


def choose(
    reader: str, key: str, plural: str, options: Sequence[str], wanted: str | None, more: str = ""
) -> str:
    """Return the option of a reader that is wanted, or the only one that a file offers."""
    if wanted in options:
        return str(wanted)
    if wanted is None and len(options) == 1:
        return options[0]
    expected, found = f"the name of one {key}", listed(map(short, options)) or "none"
    meant = (near(wanted, options) if wanted else None) or next(iter(options), "NAME")
    meant = short(meant)[1:-1]
    if wanted is None:
        raise needed(reader, f" has {len(options)} {plural}", expected, found, more, **{key: meant})
    hint = as_argument(reader, **{key: meant})
    raise unfit(f" has no {key} {short(wanted)}", expected, found, hint)


def example_names(
    source: str, reader: str, placed: Sequence[PlacedEntry], key: str | None, usual: Sequence[str]
) -> list[str]:
    """Return the name of the example of each entry, under a key or the first usual one of all.

    Where no entry has a usual one, examples are called by their place, and a warning says so.
    """
    keys = usual if key is None else (key,)
    there: list[str] = []
    for name in keys:
        names = [text_of(entry.get(name)) or "" for _, entry in placed]
        if all(names):
            return names
        there += [name] if any(entry.get(name) for _, entry in placed) else []
    hint = as_argument(reader, example="KEY") + ", a key that names all of them"
    if key is None and not there:
        what = ": nothing has an id; examples are called by their place, from 0"
        expected = "names that stay when examples come or go"
        warn_of(source, "examples-numbered", what, expected, "", hint)
        return [str(at) for at in range(len(placed))]
    name = (there or keys)[0]
    place, entry = next((at, entry) for at, entry in placed if not text_of(entry.get(name)))
    found = shown(entry, name) if entry.get(name) is None else json_shown(entry[name])
    what, expected = f" {place} names no example", f"text or a number under {quoted(name)}"
    raise refused("example-unnamed", what, expected, found, hint, place=place)


def check_annotator(annotator: str | None, where: str) -> None:
    """Refuse the option `annotator` where the export has annotators."""
    if annotator is not None:
        expected = "an annotator only for a file that names none"
        raise unfit(f" {where}", expected, quoted(annotator), "leave annotator out")


# ---- values of JSON


def text_of(value: object) -> str | None:
    """Return a name or id of JSON as text, exactly as written; None where there is none."""
    return str(value) if isinstance(value, str) and value else None


def items_of(value: object) -> list[object]:
    """Return a list of JSON; an empty one for anything else."""
    return value if isinstance(value, list) else []


def entry_of(value: object) -> Entry:
    """Return an object of JSON; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def shown(entry: Entry, key: str) -> str:
    """Return what stands under a key, or which keys are there."""
    return json_shown(entry[key]) if key in entry else f"keys {listed(entry) or 'none'}"


def form_labels(value: object) -> list[str] | None:
    """Return the labels in a field of an Amazon form; None where it holds something else."""
    if isinstance(value, list):
        return None
    if isinstance(value, dict) and value and all(isinstance(on, bool) for on in value.values()):
        return [label for label, on in value.items() if on]
    if isinstance(value, dict) and len(value) == 1 and value.keys() <= {"label", "labels"}:
        (value,) = value.values()
    labels = value if isinstance(value, list) else [value] if value != "" else []
    if not all(isinstance(label, str) for label in labels):
        return None
    return list(map(str, labels))


def from_iso(text: str) -> datetime:
    """Return a time of ISO 8601, or with a zone by its name; ValueError if it is neither."""
    time, _, zone = text.rpartition(" ")
    known = parsedate_tz(f"1 Jan 2000 00:00:00 {zone}") if zone in _ZONES else None
    if known is None or known[9] is None:
        return datetime.fromisoformat(text)
    return datetime.fromisoformat(time).replace(tzinfo=timezone(timedelta(seconds=known[9])))


def seconds_of(value: object) -> float | None:
    """Return a time of JSON in seconds since 1970; one without zone is taken as UTC."""
    if isinstance(value, JsonNumber):
        return value.value
    try:
        moment = from_iso(value if isinstance(value, str) else "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def as_object(value: object, place: str | int, expected: str = "an object") -> Entry:
    if not isinstance(value, dict):
        raise unlike(place, expected, value)
    return value


def as_list(value: object, place: str, expected: str = "a list") -> Sequence[object]:
    if value is not None and not isinstance(value, list):
        raise unlike(place, expected, value)
    return value or []


def objects(value: object, place: str, expected: str) -> Sequence[Entry]:
    items = as_list(value, place, expected)
    return [as_object(item, f"{place}[{at}]") for at, item in enumerate(items)]


def entries(path: Path, expected: str, source: str | None = None) -> list[PlacedEntry]:
    """Return place and object of each entry of a file: of its list, one per line, or alone."""
    values = json_head(file_opening(path, "annotations"))
    if len(values) == 1 and isinstance(values[0], dict):  # it may be longer than the opening
        values = json_head(file_opening(path, "annotations", -1))
    placed: list[tuple[str, object]]
    if len(values) > 1:
        lines = read_json_lines(path, expected=expected, source=source)
        placed = [(f"line {counted(line)}", value) for line, value in lines]
    else:
        value = read_json(path, expected=expected, source=source)
        placed = [("line 1", value)]
        if isinstance(value, list):
            placed = [(f"record {counted(at)}", item) for at, item in enumerate(value, start=1)]
    return [(place, as_object(item, place)) for place, item in placed]


def lines_of(path: Path) -> list[tuple[int, Entry]]:
    """Return line and object of every line of a JSON Lines file."""
    expected = "one JSON object per line"
    lines = read_json_lines(path, expected=expected)
    return [(line, as_object(value, line, expected)) for line, value in lines]


def first_entries(head: bytes) -> list[object]:
    """Return the first entries of a file: of its only list, or one per line."""
    values = json_head(head)
    return values[0] if len(values) == 1 and isinstance(values[0], list) else values


# ---- files of a folder


def files_below(folder: Path, pattern: str) -> list[Path]:
    """Return the files below a folder, in the order of their names, hidden ones left out."""
    files = (path for path in folder.rglob(pattern) if path.is_file())
    inside = ((path.relative_to(folder).parts, path) for path in files)
    return [path for parts, path in sorted(inside) if not any(p.startswith(".") for p in parts)]


def first_bytes(folder: Path, pattern: str) -> bytes:
    """Return the start of the first file below a folder; nothing where it cannot be read."""
    with suppress(InputError, OSError):  # what cannot be read is not recognised
        for file in files_below(folder, pattern)[:1]:
            return file_opening(file, "annotations")
    return b""
