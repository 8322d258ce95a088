"""Annotations from a file or from plain Python data."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias, cast

import attrs
import xarray as xr

from plausibly import registry
from plausibly.data.annotations import AnnotationTable, check_table, rebuilt
from plausibly.data.labels import aliases_of, merge_aliases
from plausibly.data.names import ANNOTATOR, EXAMPLE, KIND, LABEL, quoted, several, warn_alike
from plausibly.data.records import Record
from plausibly.data.text_table import TextTable
from plausibly.errors import (
    ComponentError,
    InputError,
    MissingExtra,
    PlausiblyWarning,
    listed,
    warn,
)
from plausibly.io import arrays, files, frames, text
from plausibly.io.hints import NEEDED, guessed, readings
from plausibly.io.json import json_head, read_json, read_json_lines
from plausibly.io.label_tables import Names, is_table, names_of, table_from, with_coordinates
from plausibly.io.pieces import npz_names
from plausibly.progress import naming_if_slow
from plausibly.protocols import ANNOTATION, READER, Annotation, ComponentLike, Reader
from plausibly.registry.entries import Entry, calling, reason_of

_UNDECLARED = "label-unknown"

Read: TypeAlias = Callable[[list[str]], xr.Dataset]
"""Reads an annotation table; takes the declared labels."""


def read_declared(read: Read, about: xr.Dataset) -> xr.Dataset:
    """Return the annotation table that `read` gives, with answers under an alias merged."""
    labels = names_of(about, LABEL)
    aliases = aliases_of(about)
    try:
        table = _with_aliases(read, labels, aliases) if aliases else read(labels)
    except InputError as error:
        source = str(about.attrs.get("source", ""))
        if error.name == _UNDECLARED and is_table(source):
            error.do += f", or write it into the column alias of {source}, beside its label"
        raise
    return with_coordinates(merge_aliases(table, aliases, labels), about)


def _with_aliases(read: Read, labels: list[str], aliases: Mapping[str, str]) -> xr.Dataset:
    """Read with the labels; where answers name aliases, with these in their place or besides."""
    table, messages = _attempt(read, labels)
    named = _undeclared(table, aliases)
    alias_of = {aliases[alias]: alias for alias in named}
    if named and len(alias_of) == len(named):  # no label under two aliases
        table, messages = _attempt(read, [alias_of.get(label, label) for label in labels])
    if named and (len(alias_of) < len(named) or _is_undeclared(table)):
        table, messages = _attempt(read, [*labels, *aliases])
        if isinstance(table, InputError):
            both = several(len(labels) + len(aliases), "declared label")
            mine = f"{several(len(labels), 'declared label')}, or an alias"
            table.expected = table.expected.replace(both, mine)
    for one in messages:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    if isinstance(table, InputError):
        raise table
    return table


def _attempt(
    read: Read, labels: list[str]
) -> tuple[xr.Dataset | InputError, list[warnings.WarningMessage]]:
    """Return the table, or the error, and the warnings, none of which was shown yet."""
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        try:
            return read(labels), messages
        except InputError as error:
            return error, messages


def _is_undeclared(found: xr.Dataset | InputError) -> bool:
    return isinstance(found, InputError) and found.name == _UNDECLARED


def _undeclared(found: xr.Dataset | InputError, aliases: Mapping[str, str]) -> list[str]:
    """Return the aliases that the error calls undeclared; none without such an error."""
    if not isinstance(found, InputError) or found.name != _UNDECLARED:
        return []
    named = found.details.get("labels")
    if isinstance(named, (list, tuple, Mapping)):
        names = {str(name) for name in named}
        return [alias for alias in aliases if alias in names]
    return [alias for alias in aliases if quoted(alias) in found.what]


_ROLE = "annotations"

_As: TypeAlias = tuple[str, str, Callable[[list[str] | None], xr.Dataset]]
"""Name of the reader, name of the file or frame, and a function of the declared labels."""


def read_annotations(
    path: Path | str | frames.Frame,
    reader: ComponentLike[Reader] | None = None,
    labels: Names | None = None,
    **options: object,
) -> AnnotationTable:
    """Read an annotation table from a file, or from a data frame.

    Parameters
    ----------
    path : Path, str, or frame
        The file; or columns in memory: of pandas, polars, pyarrow, or a data set of Hugging Face
        (extra ``frames``), for readers of tables.
    reader : str, mapping or Reader, optional
        Its syntax, such as ``"crowd-table"``; None asks every reader whether it recognises the
        file, and takes the only one that does. A frame needs one.
    labels : sequence of str, Path, str or Dataset, optional
        The declared labels, in order: names, a path to a label table or to a file of one name a
        line, or what `plausibly.read_labels` gave, whose coordinates the result gets. Answers that
        name an alias of a label are answers of that label before anything is counted.
    **options
        Parameters of the reader, such as ``columns={"task": "item"}``.

    Returns
    -------
    AnnotationTable
        With the attributes ``reader`` and ``source``, the name of the file, or ``the frame`` or
        ``the data set``, whose rows messages count from 1; ``merged`` counts the
        answers under each alias that was named.

    Raises
    ------
    InputError
        ``file-missing``, ``format-unknown`` where no reader recognises the file,
        ``format-ambiguous`` where several do, ``options-unfit``, and what the reader and the kind
        of annotation say. For frames ``reader-unnamed``, ``reader-unfit``, and what
        `plausibly.io.frames.text_table` says.
    """
    about = None if labels is None else table_from(labels, LABEL)
    found, whose, read_as = (
        _from_file(Path(path), reader, options)
        if isinstance(path, (str, os.PathLike))
        else _from_frame(path, reader, options)
    )

    def read(declared: list[str] | None) -> xr.Dataset:
        with _naming(whose), calling(f"reader {found}", "read"):
            made = read_as(declared)
            # Tables of ours are looked at by their kind, once, below.
            is_ours = isinstance(made, AnnotationTable)
            return made if is_ours else check_table(made, whose=f"reader {found}")

    table = read(None) if about is None else read_declared(read, about)
    # A stranger's reader may have built the table from codes, past the checks of its kind.
    kind = str(table.attrs[KIND])
    annotation = registry.resolve(ANNOTATION, kind)
    with calling(f"annotation {kind}", "validate"):
        annotation.validate(table)
    # What was declared is meant.
    warn_alike(table, whose, (EXAMPLE, ANNOTATOR, *([] if about is not None else [LABEL])))
    read_from = table.assign_attrs(reader=found, source=whose)
    # Only `build_table` makes one of ours, with its codes checked and in order.
    return read_from if isinstance(read_from, AnnotationTable) else rebuilt(read_from)


@contextmanager
def _naming(source: str) -> Iterator[None]:
    """Name the file in errors of a reader, which an author's may leave out."""
    try:
        yield
    except InputError as error:
        if source not in error.what:
            error.what = f"{source}: {error.what}"
        raise


@contextmanager
def names_change(changes: bool) -> Iterator[None]:
    """Read without a word on labels that look alike, where their names are about to change."""
    with warnings.catch_warnings():
        if changes:
            pattern = r"warning names-alike:[\s\S]*\shas\slabels\s"
            warnings.filterwarnings("ignore", pattern, PlausiblyWarning)
        yield


def _from_file(path: Path, reader: ComponentLike[Reader] | None, options: dict[str, object]) -> _As:
    if not path.is_dir():
        files.existing(path, _ROLE)
    found = _recognised(path, options) if reader is None else _named(reader, options)
    return found.name, path.name, lambda declared: found.reader.read(path, declared)


def _from_frame(
    frame: frames.Frame, reader: ComponentLike[Reader] | None, options: dict[str, object]
) -> _As:
    table = frames.text_table(frame)
    named = None if reader is None else _named(reader, options)
    if named is not None and _reads_tables(named.reader):
        return named.name, table.whose, lambda declared: named.reader.from_table(table, declared)
    entries = registry.default().entries(READER)
    known = [one.name for one in _candidates(entries, {})[0].values() if _reads_tables(one.reader)]
    raise _reader_missing(table, named.name if named else None, known)


def _reader_missing(table: TextTable, named: str | None, known: list[str]) -> InputError:
    """Return the error about a frame whose reader is not named, or reads no frames."""
    found = {role: role for role in NEEDED if role in table.header}
    found |= guessed(table.header, [role for role in NEEDED if role not in found])
    do = (
        'reader="wide-table", where each column is of an annotator; "counts" or "soft-labels", '
        "where it is of a label"
    )
    if set(found) == set(NEEDED):
        pairs = ", ".join(f'"{r}": "{c}"' for r, c in sorted(found.items()) if r != c)
        do = f'reader="crowd-table", columns={{{pairs}}}' if pairs else 'reader="crowd-table"'
    what = f"{table.whose} has {several(len(table.header), 'column')}, and no reader is named"
    return InputError(
        "reader-unnamed" if named is None else "reader-unfit",
        what if named is None else f"reader {named} reads files, not {table.whose}",
        expected=f"one of {listed(known, most=9)}",
        got=f"columns {listed(map(quoted, table.header))}",
        do=do,
        whose=table.whose,
        details={"columns": list(table.header), "readers": known},
    )


def _reads_tables(reader: Reader) -> bool:
    return type(reader).from_table is not Reader.from_table


@attrs.frozen
class _Candidate:
    name: str
    reader: Reader


def _named(reader: ComponentLike[Reader], options: dict[str, object]) -> _Candidate:
    component = registry.resolve(READER, reader, options)
    return _Candidate(_name(component), component)


def _name(component: Reader) -> str:
    try:
        return str(registry.describe(READER, component)["name"])
    except ComponentError:  # an object of a class without a name here
        return type(component).__name__


def _recognised(path: Path, options: dict[str, object]) -> _Candidate:
    head = b"" if path.is_dir() else files.opening(path, _ROLE)
    if not head and not path.is_dir():
        raise files.empty(path.name, "responses")
    registry.default().tell()
    entries = registry.default().entries(READER)
    likely = _likely(entries, path)
    candidates, refusals = _candidates(likely, options)
    found = [one for one in candidates.values() if _recognises(one, path, head)]
    if not found:  # the name of the file may mislead
        more, why = _candidates([entry for entry in entries if entry not in likely], options)
        found = [one for one in more.values() if _recognises(one, path, head)]
        candidates, refusals = candidates | more, refusals | why
    if not candidates and options:
        raise _options_unfit(path, head, options, refusals)
    if len(found) == 1:
        return found[0]
    names = [candidates[entry].name for entry in entries if entry in candidates]
    names = [one.name for one in found] or names
    if not found and path.is_dir():
        files.existing(path, _ROLE)
    raise _ambiguous(path, names) if found else _unknown(path, head, names, refusals)


def _likely(entries: Sequence[Entry], path: Path) -> list[Entry]:
    """Return the readers of files with this ending, packed or not; all where it is unknown."""
    name = path.name.lower().removesuffix(".gz")
    fit = {entry for entry in entries if entry.suffixes and name.endswith(entry.suffixes)}
    return [entry for entry in entries if entry in fit or not (fit and entry.suffixes)]


def _candidates(
    entries: Iterable[Entry], options: dict[str, object]
) -> tuple[dict[Entry, _Candidate], dict[str, InputError]]:
    """Return the readers that take these options, and why the others do not."""
    found: dict[Entry, _Candidate] = {}
    refused: dict[str, InputError] = {}
    for entry in entries:
        try:
            component = cast("Reader", registry.default().make(entry, options))
        except (ComponentError, MissingExtra) as reason:
            refused[entry.name] = reason
            # Another reader's option is no fault, and an extra is named where nothing is found.
            if reason.name not in ("component-parameter", "extra-missing"):
                _warn_of(
                    entry.name, "cannot be asked", reason, f"plausibly plugins check {entry.name}"
                )
        else:
            found[entry] = _Candidate(_name(component), component)
    return found, refused


def _warn_of(reader: str, what: str, reason: BaseException, do: str) -> None:
    warn(
        "reader-failed",
        f"reader {reader} {what}",
        expected="yes or no",
        got=reason_of(reason),
        do=do,
        whose=reader,
        stacklevel=6,
    )


def _recognises(candidate: _Candidate, path: Path, head: bytes) -> bool:
    try:
        with naming_if_slow(f"reader {candidate.name} looks at {path.name}"):
            answer = candidate.reader.recognises(path, head)
        if answer not in (True, False):
            raise TypeError(f"it returned a {type(answer).__name__}")
        return answer
    except KeyboardInterrupt:
        raise
    except BaseException as reason:  # noqa: BLE001  # a stranger's reader must not stop ours
        what = f"cannot tell whether it reads {path.name}"
        _warn_of(candidate.name, what, reason, "fix its recognises; the other readers were asked")
        return False


def _options_unfit(
    path: Path, head: bytes, options: dict[str, object], refusals: dict[str, InputError]
) -> InputError:
    names = listed(quoted(name) for name in options)
    entries = registry.default().entries(READER)
    every = _candidates(entries, {})[0].values()
    likely = [one.name for one in every if _recognises(one, path, head)]
    meant = {name: why for name, why in refusals.items() if name in likely}
    reasons = [f"{name}: {reason_of(why)}" for name, why in (meant or refusals).items()]
    return InputError(
        "options-unfit",
        f"{path.name}: no reader takes {names} as given",
        expected="options of one reader",
        got=listed(reasons),
        do="name the reader, reader=..., to see what it takes",
        whose=path.name,
        details={"options": sorted(options)},
    )


def _ambiguous(path: Path, names: list[str], got: str = "", do: str = "") -> InputError:
    return InputError(
        "format-ambiguous",
        f"{path.name} could be {' or '.join(names)}",
        expected="one reader that recognises it",
        got=got or f"{len(names)}",
        do=do or f"--reader {names[0]}",
        whose=path.name,
        details={"readers": names},
    )


def _check_readable(path: Path, head: bytes, rows: list[tuple[str, ...]]) -> None:
    """Raise what keeps a file from being read at all: encoding, packing, quotes, its end."""
    name = path.name.lower().removesuffix(".gz")
    wide = bool(rows) and len(rows[0]) > 1
    if name.endswith(".xml"):
        from plausibly.io.xml import read_xml

        read_xml(path, _ROLE)
    elif name.endswith((".json", ".jsonl", ".ndjson")):
        (read_json_lines if len(json_head(head)) > 1 else read_json)(path, _ROLE)
    elif not rows and not head.startswith((b"\x93NUMPY", *arrays.SIGNATURES)):
        if not (head.startswith(b"PK") and npz_names(path)):
            text.read_table(path, role=_ROLE)
    elif wide and 2 * sum(len(row) == len(rows[0]) for row in rows) > len(rows):
        text.read_table(path, role=_ROLE, unique=False)


def _meant(
    head: bytes, rows: list[tuple[str, ...]], arrays: frozenset[str]
) -> tuple[dict[str, str], str]:
    """Return how a file could be read, each reading as it is typed, and what it starts with."""
    if rows:
        return (readings(rows) if len(set(map(len, rows))) == 1 else {}), ""
    if not arrays and not head.startswith(b"\x93NUMPY"):
        return {}, f"first bytes {head[:8]!r}"
    meant: dict[str, str] = {}
    if arrays or any(mark in head[:128] for mark in (b"'<i", b"'|i", b"'<u", b"'|u")):
        meant["counts"] = "counts, if each column counts the votes for a label"
        meant["wide-table"] = "wide-table of a CSV file, if the columns are of annotators"
    meant["soft-labels"] = "soft-labels, if annotators gave these weights"
    flags = {name: f"--reader {text}" for name, text in meant.items()}
    return flags, f"arrays {listed(sorted(arrays))}" if arrays else "an array"


def _unknown(
    path: Path, head: bytes, names: list[str], refusals: dict[str, InputError]
) -> InputError:
    rows = text.first_rows(path, head)
    _check_readable(path, head, rows)
    meant, got = _meant(head, rows, npz_names(path) if head.startswith(b"PK") else frozenset())
    if "counts" in meant:
        raise _ambiguous(
            path,
            list(meant),
            got="whole numbers, of which nothing says what they are",
            do="; ".join(meant.values()),
        )
    do = "plausibly plugins list --kind reader; name one: --reader NAME"
    if rows and not head.startswith(b"PAR1"):
        lines = head.decode("utf-8-sig", "replace").splitlines()
        first = next((line for line in lines if line), "")
        got = f"text, first line {quoted(first if len(first) <= 40 else first[:39] + '…')}"
    elif rows:
        got = f"Parquet with {listed(rows[0])}"
    marked_up = head.lstrip().startswith((b"{", b"[", b"<"))
    if meant:
        do = "; ".join(meant.values())
    elif rows and not marked_up and len(rows[0]) > 1:
        do += " (wide-table, if each column is of an annotator)"
    extra = [why.what for why in refusals.values() if why.name == "extra-missing"]
    if extra:
        got += f"; not asked: {listed(extra)}"
    return InputError(
        "format-unknown",
        f"no reader recognises {path.name}",
        expected=f"one of {several(len(names), 'format')} ({listed(names)})",
        got=got,
        do=do,
        whose=path.name,
        details={"readers": names, "columns": list(rows[0]) if rows else []},
    )


def build_annotations(
    kind: ComponentLike[Annotation], records: Iterable[Record], labels: Names | None = None
) -> AnnotationTable:
    """Return the annotation table of plain records.

    Parameters
    ----------
    kind : str, mapping or Annotation
        What an answer is: ``"single-label"`` (a label), ``"label-set"`` (a list of labels),
        ``"partial-ranking"`` (a list of labels and of lists of tied ones, best first),
        ``"soft-label"`` (a mapping of labels to weights), or a plugin's.
    records : iterable of (example, annotator, answer)
        One a response, in any order. Names are taken as text; annotator None = unknown.
    labels : sequence of str, Path, str or Dataset, optional
        The declared labels, in order, as in `plausibly.read_annotations`.

    Returns
    -------
    AnnotationTable

    Raises
    ------
    InputError
        ``record-invalid``, ``response-twice``, ``label-unknown``, ``annotations-empty``, and what
        the kind says of an answer.

    Examples
    --------
    >>> import plausibly
    >>> answers = [("scan 1", "ann", "cat"), ("scan 1", "bob", "dog")]
    >>> table = plausibly.build_annotations("single-label", answers, ["cat", "dog", "fox"])
    >>> plausibly.aggregate(table).sel(example="scan 1").values.tolist()
    [0.5, 0.5, 0.0]
    """
    component = registry.resolve(ANNOTATION, kind)
    held, whose = list(records), f"annotation {component.name}"

    def build(declared: list[str] | None) -> xr.Dataset:
        with calling(whose, "build"):
            table = component.build(held, declared)
        return check_table(table, whose=whose)

    if labels is None:
        return rebuilt(build(None))
    return rebuilt(read_declared(build, table_from(labels, LABEL)))
