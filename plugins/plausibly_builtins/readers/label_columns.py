"""A number for each label: tables, arrays and JSON Lines with a column or key per label."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

import attrs

from plausibly.plugin import AnnotationTable, counted, listed, near, quoted, several
from plausibly.plugin.readers import (
    NamedArray,
    TextTable,
    file_opening,
    from_npy,
    from_npz,
    json_head,
    json_shown,
    names_examples,
)
from plausibly_builtins.readers import base

COUNT: Final = re.compile(r"(0|[1-9][0-9]{0,14})(\.0+)?")
"""A number of votes: programs write whole numbers as 2.0 too."""

EXAMPLE_KEYS: Final = ("example", "uid", "id", "text_id", "pairID")
"""Keys that name an example, the first that is there."""


@attrs.frozen(kw_only=True)
class LabelColumns(base.TableExport):
    """Base of formats with a number for each label, in a table, an array or JSON Lines."""

    example: str | None = None
    ignore: tuple[str, ...] = ()
    array: str = ""

    def array_content(self, found: NamedArray, labels: base.Labels) -> AnnotationTable:
        raise NotImplementedError(type(self).__name__)

    def lines_content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        raise NotImplementedError(type(self).__name__)

    def check_rows(self, table: TextTable) -> None:
        """Raise an error unless the table has rows, and the columns that are ignored."""
        table.need(self.ignore, do="name columns of the file in ignore")
        if not len(table):
            expected, got = "one row per example", "a header and no rows"
            raise base.refused("file-empty", " is empty", expected, got)

    def content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        if path.suffix.lower() == ".npy":
            return self.array_content(from_npy(path, "annotations"), labels)
        if path.suffix.lower() == ".npz":
            return self.array_content(from_npz(path, "annotations", (self.array,)), labels)
        if is_lines(path) and not is_flat(file_opening(path, "annotations")):
            return self.lines_content(path, labels)
        return super().content(path, labels)


def first_object(head: bytes) -> base.Entry:
    """Return the object on the first line of a JSON Lines file; an empty one where it is none."""
    values = json_head(head)
    return base.entry_of(values[0]) if values else {}


def is_flat(head: bytes) -> bool:
    """Return whether the first object is a row of a table: nothing in it holds other values."""
    entry = first_object(head)
    return bool(entry) and not any(isinstance(value, (dict, list)) for value in entry.values())


def is_lines(path: Path) -> bool:
    """Return whether a file is JSON Lines by its ending, packed or not."""
    return path.name.lower().removesuffix(".gz").endswith((".jsonl", ".ndjson"))


def named_objects(
    path: Path, reader: str, key: str | None, do: str = base.AGAIN, *, unnamed: bool = False
) -> list[tuple[int, str, base.Entry]]:
    """Return line, name and object of every line; without a name only where that may be.

    The name is under the key, or the first usual one that the first object has.
    """
    found = base.objects(path)
    first, wanted = found[0][1], EXAMPLE_KEYS if key is None else (key,)
    # ChaosNLI has an object called example, too.
    fit = [name for name in wanted if isinstance(first.get(name), str) or (key and name in first)]
    if not fit:
        expected = f"the key {listed(map(quoted, wanted), most=len(wanted))} in every object"
        got = listed(map(base.short, first)) or "an empty object"
        do, seen = base.as_argument(reader, example="KEY"), list(first)
        raise base.refused("key-missing", " names no example", expected, got, do, seen=seen)
    named = [(line, key_text(line, entry, fit[0]), entry) for line, entry in found]
    lines = [line for line, name, _ in named if not name]
    if lines and not unnamed:
        what = f" names no example in line{'s' if len(lines) > 1 else ''} "
        what += listed(map(counted, lines))
        raise base.refused("example-unnamed", what, "a name in every line", "none", do, lines=lines)
    return named


def key_text(line: int, entry: base.Entry, key: str) -> str:
    """Return the name under a key of an object; empty where there is none."""
    value = entry.get(key)
    if value is not None and not isinstance(value, str):
        what, got = f" holds no name as {quoted(key)}", json_shown(value)
        raise base.line_refused(line, "example-unnamed", what, "text or a number", got)
    return str(value or "")


def labels_in_order(width: int, labels: base.Labels, noun: str, place: str = "") -> list[str]:
    if labels is not None and len(labels) == width:
        return list(labels)
    what, expected = f"{place} has {several(width, noun)}", f"names in the order of the {noun}s"
    if labels is not None:
        what += f" and {counted(len(labels))} labels"
        raise base.refused("names-count", what, expected, listed(labels), "name each once")
    do = 'labels="labels.txt" (one name per line)'
    raise base.refused("labels-unnamed", f"{what} and no label names", expected, "", do)


def labels_of(reader: str, found: NamedArray, labels: base.Labels) -> list[str]:
    if found.labels is None:
        return labels_in_order(found.values.shape[1], labels, "column")
    if labels is not None:
        check_columns(reader, found.labels, labels)
    return found.labels


def check_columns(reader: str, columns: Sequence[str], labels: Sequence[str]) -> None:
    outside = [name for name in columns if name not in labels]
    if outside:
        meant = near(outside[0], [name for name in labels if name not in columns])
        what = f" has numbers for {listed(map(quoted, outside))}"
        expected = f"columns among the {several(len(labels), 'declared label')}"
        got = f"{several(len(outside), 'column')} besides"
        do = base.as_argument(reader, ignore=outside)
        do = f"did you mean {quoted(meant)}? fix it, or {do}" if meant else do
        raise base.refused("label-unknown", what, expected, got, do, labels=outside)


def example_hint(reader: str, table: TextTable) -> str:
    """Return what to do where no column is known to name the examples."""
    name = next((n for n in table.header if names_examples(n, table.column(n))), None)
    if name is None:
        return "add a column example with their names"
    return base.as_argument(reader, example=name) + ", if that column does"


def check_names(
    names: Sequence[str], noun: Literal["example", "label"], places: Sequence[str] = ()
) -> None:
    """Raise an error unless every name is there once, and can be one."""

    def place(at: int) -> str:
        return places[at] if places else f"place {counted(at + 1)}"

    again = [name for name, count in Counter(names).items() if count > 1]
    if again:
        first, second, *_ = (at for at, name in enumerate(names) if name == again[0])
        others = f", and {several(len(again) - 1, 'other name')} again" if again[1:] else ""
        what = f" names the {noun} {base.short(again[0])} twice"
        got = f"{place(first)} and {place(second)}{others}"
        do, details = "keep one, or rename it", {f"{noun}s": again}
        raise base.refused(f"{noun}-twice", what, "each name once", got, do, **details)
    unfit = [at for at, name in enumerate(names) if not name or "\0" in name]
    if unfit:
        what = f" has {several(len(unfit), noun)} without a usable name"
        expected = "text with at least one character, and no NUL"
        raise base.refused(f"{noun}-unnamed", what, expected, f"none at {place(unfit[0])}")
