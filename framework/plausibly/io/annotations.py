"""Annotations from a file or from plain Python data."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

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
    an,
    listed,
    warn,
)
from plausibly.io import files, text
from plausibly.io.datasets import npz_names
from plausibly.io.hints import NEEDED, columns_hint
from plausibly.io.json import json_head, read_json, read_json_lines, shortened
from plausibly.io.label_tables import Names, is_table, names_of, table_from, with_coordinates
from plausibly.progress import naming_if_slow
from plausibly.protocols import ANNOTATION, READER, Annotation, ComponentLike, Reader
from plausibly.registry import called
from plausibly.registry.entries import Entry, calling, reason_of

if TYPE_CHECKING:
    from plausibly.io.frames import Frame

Read: TypeAlias = Callable[[list[str]], xr.Dataset]
"""Reads an annotation table; takes the declared labels."""


def _read_declared(read: Read, about: xr.Dataset) -> xr.Dataset:
    """Return the annotation table that `read` gives, with answers under an alias merged.

    The labels are declared alone; where answers name aliases, with these in their place, or, if a
    label has two of them, besides.
    """
    labels, aliases = names_of(about, LABEL), aliases_of(about)
    declared, every = labels, [*labels, *aliases]
    while True:
        result: xr.Dataset | InputError
        # No warning is shown but those of the reading that counts.
        with warnings.catch_warnings(record=True) as messages:
            warnings.simplefilter("always")
            try:
                result = read(declared)
            except InputError as error:
                result = error
        if isinstance(result, xr.Dataset) or result.name != "label-unknown" or declared is every:
            break
        unknown = result.details.get("labels")
        listed_there = unknown if isinstance(unknown, list) else []
        named = [a for a in aliases if a in listed_there or quoted(a) in result.what]
        if declared is labels and not named:
            break
        alias_of = {aliases[alias]: alias for alias in named}
        in_place = [alias_of.get(label, label) for label in labels]
        declared = in_place if declared is labels and len(alias_of) == len(named) else every
    for caught in messages:
        warnings.warn_explicit(caught.message, caught.category, caught.filename, caught.lineno)
    if isinstance(result, InputError):
        source = str(about.attrs.get("source", ""))
        if result.name == "label-unknown" and is_table(source):
            result.hint += f", or write it into the column alias of {source}, beside its label"
        both, mine = (several(len(of), "declared label") for of in (every, labels))
        if declared is every:
            result.expected = result.expected.replace(both, f"{mine}, or an alias")
        raise result
    return with_coordinates(merge_aliases(result, aliases, labels), about)


_ROLE = "annotations"


def read_annotations(
    path: Path | str | Frame,
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
        Its syntax, such as ``"long-table"``; None takes the only reader that recognises the file.
        A frame needs one.
    labels : sequence of str, Path, str or Dataset, optional
        The declared labels, in order: names, a path to a label table or to a file of one name per
        line, or what `plausibly.read_labels` gave, whose coordinates the result gets. Answers that
        name an alias of a label are answers of that label before anything is counted.
    **options
        Parameters of the reader, such as ``columns={"example": "item"}``.

    Returns
    -------
    AnnotationTable
        With the attributes ``reader``, ``source`` (name of the file, ``the frame`` or ``the data
        set``, whose rows messages count from 1), and ``merged``: answers under each alias.

    Raises
    ------
    InputError
        ``file-missing``, ``format-unknown`` where no reader recognises the file,
        ``format-ambiguous`` where several do, ``options-unfit``, and what the reader and the kind
        of annotation say. For frames ``reader-unnamed``, ``reader-unfit``, ``frame-unfit``.
    """
    about = None if labels is None else table_from(labels, LABEL)
    load: Callable[[list[str] | None], xr.Dataset]
    if isinstance(path, (str, os.PathLike)):
        file = Path(path)
        files.existing(file, _ROLE, folder=True)
        if reader is None:
            component = _recognised(file, options)
        else:
            component = registry.resolve(READER, reader, options)
        source, load = file.name, partial(component.read, file)
    else:
        from plausibly.io import frames  # few calls have one

        frame = frames.text_table(path)
        component = _reader_of_frames(frame, reader, options)
        source, load = frame.source, partial(component.from_table, frame)
    reader_name = called(READER, component)

    def read(declared: list[str] | None) -> xr.Dataset:
        try:
            with calling(f"reader {reader_name}", "read"):
                made = load(declared)
                # Only `build_table` makes one of ours, with its codes checked and in order.
                is_ours = isinstance(made, AnnotationTable)
                table = made if is_ours else check_table(made, source=f"reader {reader_name}")
            # It may have been built from codes, past the checks of its kind.
            kind = str(table.attrs[KIND])
            annotation = registry.resolve(ANNOTATION, kind)
            with calling(f"annotation {kind}", "validate"):
                annotation.validate(table)
            return table
        except InputError as error:
            if source not in error.what:  # which an author's reader may leave out
                error.what = f"{source}: {error.what}"
            raise

    table = read(None) if about is None else _read_declared(read, about)
    # What was declared is meant.
    warn_alike(table, source, (EXAMPLE, ANNOTATOR, *([] if about is not None else [LABEL])))
    read_from = table.assign_attrs(reader=reader_name, source=source)
    return read_from if isinstance(read_from, AnnotationTable) else rebuilt(read_from)


@contextmanager
def names_change(changes: bool) -> Iterator[None]:
    """Read without a word on labels that look alike, where their names are about to change."""
    with warnings.catch_warnings():
        if changes:
            pattern = r"warning names-alike:[\s\S]*\shas\slabels\s"
            warnings.filterwarnings("ignore", pattern, PlausiblyWarning)
        yield


_BY_COLUMN = (
    'reader="wide-table", if each column is of an annotator; reader="counts" or '
    'reader="soft-labels", if each is of a label; what a model gave are predictions'
)


def _reader_of_frames(
    table: TextTable, reader: ComponentLike[Reader] | None, options: dict[str, object]
) -> Reader:
    """Return the reader of a frame, or raise where none is named, or one of files."""
    if reader is None and {*NEEDED} == {*table.header}:
        reader = "long-table"
    name, what = "reader-unnamed", f"no reader is named for {table.source}"
    if reader is not None:
        component = registry.resolve(READER, reader, options)
        if type(component).from_table is not Reader.from_table:
            return component
        name, what = "reader-unfit", f"reader {called(READER, component)} reads files only"
    hint = columns_hint([table.header], [role for role in NEEDED if role not in table.header])
    raise InputError(
        name,
        what,
        expected="a reader of tables, such as long-table",
        found=f"columns {listed(map(quoted, table.header))}",
        hint=_BY_COLUMN if "_COLUMN" in hint else f'reader="long-table", {hint}',
        source=table.source,
    )


def _recognised(path: Path, options: dict[str, object]) -> Reader:
    head = b"" if path.is_dir() else files.opening(path, _ROLE)
    if not head and not path.is_dir():
        raise files.empty(path.name, "responses")
    registry.default().report()
    entries = registry.default().entries(READER)
    # Readers of files with this ending, compressed or not; all where it is unknown.
    ending = path.name.lower().removesuffix(".gz")
    fit = [entry for entry in entries if entry.suffixes and ending.endswith(entry.suffixes)]
    likely = [entry for entry in entries if entry in fit or not (fit and entry.suffixes)]
    refusals: dict[str, InputError] = {}
    matches: list[Reader] = []
    for group in (likely, [entry for entry in entries if entry not in likely]):
        if not matches:  # the name of the file may mislead
            readers = _candidates(group, options, refusals)
            matches = [reader for reader in readers if _recognises(reader, path, head)]
    if options and len(refusals) == len(entries):
        every = _candidates(entries, {}, {})
        fit_names = [called(READER, reader) for reader in every if _recognises(reader, path, head)]
        meant = {name: why for name, why in refusals.items() if name in fit_names}
        reasons = [f"{name}: {reason_of(why)}" for name, why in (meant or refusals).items()]
        raise InputError(
            "options-unfit",
            f"{path.name}: no reader takes {listed(map(quoted, options))} as given",
            expected="options of one reader",
            found=listed(reasons),
            hint="name the reader, reader=..., to see what it takes",
            source=path.name,
        )
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = [called(READER, reader) for reader in matches]
        raise InputError(
            "format-ambiguous",
            f"{path.name} could be {' or '.join(names)}",
            expected="one reader that recognises it",
            found=f"{len(names)}",
            hint=f"reader={quoted(names[0])}",
            source=path.name,
            details={"readers": names},
        )
    files.existing(path, _ROLE)
    raise _unknown(path, head, len(entries), refusals)


def _candidates(
    entries: Iterable[Entry], options: dict[str, object], refused: dict[str, InputError]
) -> list[Reader]:
    """Return the readers that take these options; `refused` gets the reasons of the others."""
    readers: list[Reader] = []
    for entry in entries:
        try:
            readers.append(registry.default().create(READER, entry, options))
        except (ComponentError, MissingExtra) as reason:
            refused[entry.name] = reason
            # Another reader's option is no fault, and an extra is named where nothing is found.
            if reason.name not in ("component-parameter", "extra-missing"):
                hint = f"plausibly plugins check {entry.name}"
                _warn_of(entry.name, "cannot be asked", reason, hint)
    return readers


def _warn_of(reader: str, what: str, reason: BaseException, hint: str) -> None:
    warn(
        "reader-failed",
        f"reader {reader} {what}",
        expected="yes or no",
        found=reason_of(reason),
        hint=hint,
        source=reader,
    )


def _recognises(reader: Reader, path: Path, head: bytes) -> bool:
    name = called(READER, reader)
    try:
        with naming_if_slow(f"reader {name} looks at {path.name}"):
            answer = reader.recognises(path, head)
        if answer not in (True, False):
            raise TypeError(f"it returned {an(type(answer).__name__)}")
        return answer
    except KeyboardInterrupt:
        raise
    except BaseException as reason:  # noqa: BLE001  # the reader of a plugin must not stop ours
        what = f"cannot tell whether it reads {path.name}"
        _warn_of(name, what, reason, "fix its recognises; the other readers were asked")
        return False


def _unknown(path: Path, head: bytes, readers: int, refusals: dict[str, InputError]) -> InputError:
    """Return the error for a file that no reader recognises, or raise what keeps it unread."""
    rows = text.first_rows(path, head)
    widths = [*map(len, rows)] or [0]
    held = sorted(npz_names(path)) if head.startswith(b"PK") else []
    is_array = held or head.startswith(b"\x93NUMPY")
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(".xml"):
        from plausibly.io.xml import read_xml

        read_xml(path, _ROLE)
    elif name.endswith((".json", ".jsonl", ".ndjson")):
        (read_json_lines if len(json_head(head)) > 1 else read_json)(path, _ROLE)
    elif not (rows or is_array or head.startswith(files.NETCDF)) or (
        widths[0] > 1 and 2 * widths.count(widths[0]) > len(rows)
    ):
        text.read_table(path, role=_ROLE, unique=False)
    found = f"first bytes {head[:8]!r}"
    hint = 'plausibly plugins list --kind reader; name one: reader="NAME"'
    if head.lstrip().startswith((b"{", b"[", b"<")) or (rows and max(widths) == 1):
        first = head.decode("utf-8-sig", "replace").strip().partition("\n")[0]
        found = f"text, first line {quoted(shortened(first.strip()))}"
    elif rows:
        found = f"columns {listed(map(shortened, rows[0]), most=9)}"
        hint = columns_hint(rows)
        hint = _BY_COLUMN if "_COLUMN" in hint or len({*widths}) > 1 else hint
    elif is_array:
        found = f"arrays {listed(held)}" if held else "an array"
        hint = 'reader="counts", if each column counts votes; reader="soft-labels", if not'
    extra = [why.what for why in refusals.values() if why.name == "extra-missing"]
    if extra:
        found += f"; not asked: {listed(extra)}"
    return InputError(
        "format-unknown",
        f"no reader recognises {path.name}",
        expected="columns example, annotator, label, or one of "
        f"{several(readers - 1, 'other format')}",
        found=found,
        hint=hint,
        source=path.name,
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
    held, source = list(records), f"annotation {component.name}"

    def build(declared: list[str] | None) -> xr.Dataset:
        with calling(source, "build"):
            table = component.build(held, declared)
        return check_table(table, source=source)

    if labels is None:
        return rebuilt(build(None))
    return rebuilt(_read_declared(build, table_from(labels, LABEL)))
