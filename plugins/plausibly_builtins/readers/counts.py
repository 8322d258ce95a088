"""Tables of counts: how many annotators gave each label to each example."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    JsonNumber,
    NamedArray,
    Response,
    ResponseOptions,
    TextTable,
    build_table,
    counted,
    file_opening,
    from_npy,
    from_npz,
    json_head,
    json_shown,
    listed,
    names_examples,
    near,
    quoted,
    read_json_lines,
    read_table,
    several,
    states,
    warn,
)
from plausibly_builtins.readers._exports import check_names, short

_MOST = 2**53  # whole numbers that a float64 weight holds exactly


def from_arrays(path: Path, array: str, labels: Sequence[str] | None) -> Counted:
    """Return the counts in an npy or npz file; options and errors are those of the reader."""
    found = (
        from_npy(path, "annotations")
        if path.suffix.lower() == ".npy"
        else from_npz(path, "annotations", (array,))
    )
    values = _whole(found)
    return Counted(
        examples=found.examples,
        columns=columns_of(found, labels),
        values=values,
        places=[f"row {counted(row + 1)}" for row in range(len(values))],
    )


def columns_of(found: NamedArray, labels: Sequence[str] | None) -> list[str]:
    """Return the label of each column of an array."""
    width = found.values.shape[1]
    if found.labels is not None:
        if labels is not None:
            check_columns(found.whose, found.labels, labels)
        return found.labels
    if labels is None:
        raise InputError(
            "labels-unnamed",
            f"{found.whose} has {several(width, 'column')} and no label names",
            expected="names in column order; an order is never guessed",
            do="--labels labels.txt (one name a line)",
            whose=found.whose,
        )
    if len(labels) != width:
        raise InputError(
            "names-count",
            f"{found.whose} has {several(width, 'column')} and {counted(len(labels))} labels",
            expected="one name a column",
            got=listed(labels),
            do="name every column once, in order",
            whose=found.whose,
        )
    return list(labels)


def _whole(found: NamedArray) -> NDArray[np.int64]:
    """Return the counts of an array as integers."""
    values = found.values
    fit = np.isfinite(values) & (values >= 0) & (values == np.floor(values)) & (values < _MOST)
    if not fit.all():
        row, column = (int(index) for index in np.argwhere(~fit)[0])
        raise InputError(
            "count-unreadable",
            f"{found.whose} row {counted(row + 1)}, column {column + 1} is not a number of votes",
            expected="a whole number, 0 or more",
            got=f"{values[row, column]}",
            do="save the counts, not shares of them",
            whose=found.whose,
        )
    return values.astype(np.int64)


NAMES: Final = ("example", "uid", "id", "text_id", "pairID")
"""Keys that name an example, the first that is there."""

_ROUNDED = 0.005  # shares may be written with two decimals


def first_object(head: bytes) -> dict[str, object]:
    """Return the object on the first line of a JSON Lines file; an empty one where it is none."""
    values = json_head(head)
    return values[0] if values and isinstance(values[0], dict) else {}


def is_flat(head: bytes) -> bool:
    """Return whether the first object is a row of a table: nothing in it holds other values."""
    entry = first_object(head)
    return bool(entry) and not any(isinstance(value, (dict, list)) for value in entry.values())


def is_lines(path: Path) -> bool:
    """Return whether a file is JSON Lines by its ending, packed or not."""
    return path.name.lower().removesuffix(".gz").endswith((".jsonl", ".ndjson"))


def has_counter(head: bytes, field: str) -> bool:
    """Return whether the first object holds counts by label, and a name."""
    entry = first_object(head)
    found = entry.get(field)
    return (
        isinstance(found, dict)
        and any(isinstance(entry.get(key), str) for key in NAMES)
        and all(isinstance(n, JsonNumber) and COUNT.fullmatch(n) for n in found.values())
    )


def objects(path: Path) -> list[tuple[int, dict[str, object]]]:
    """Return line and object of every line of a JSON Lines file."""
    found: list[tuple[int, dict[str, object]]] = []
    for line, value in read_json_lines(path, expected="one JSON object a line"):
        if not isinstance(value, dict):
            raise InputError(
                "line-unlike",
                f"{path.name} line {counted(line)} holds no object",
                expected="one JSON object a line, about one example",
                got=json_shown(value),
                do="mend or remove that line",
                whose=path.name,
                details={"line": line},
            )
        found.append((line, value))
    return found


def name_key(path: Path, entry: Mapping[str, object], key: str | None, reader: str) -> str:
    """Return the key that names the examples: the given one, or the first that is usual."""
    wanted = (key,) if key is not None else NAMES
    for name in wanted:
        # ChaosNLI has an object called example, too.
        if isinstance(entry.get(name), str) or (name == key and key in entry):
            return name
    raise InputError(
        "key-missing",
        f"{path.name} names no example",
        expected=f"the key {listed(map(quoted, wanted), most=len(wanted))} in every object",
        got=listed(map(short, entry)) or "an empty object",
        do=f'--reader \'{{name = "{reader}", example = "KEY"}}\'',
        whose=path.name,
        details={"seen": list(entry)},
    )


def named(path: Path, line: int, entry: Mapping[str, object], key: str) -> str:
    """Return the name of the example of an object; empty where there is none."""
    value = entry.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(
            "example-unnamed",
            f"{path.name} line {counted(line)} holds no name as {quoted(key)}",
            expected="text or a number",
            got=json_shown(value),
            do="mend that line",
            whose=path.name,
            details={"line": line},
        )
    return str(value)


def unnamed_refused(path: Path, lines: Sequence[int], do: str) -> InputError:
    """Return the error about objects without the name of an example."""
    shown = listed(map(counted, lines))
    return InputError(
        "example-unnamed",
        f"{path.name} names no example in line{'s' if len(lines) > 1 else ''} {shown}",
        expected="the name of an example",
        got="none",
        do=do,
        whose=path.name,
        details={"lines": list(lines)},
    )


def check_once(path: Path, examples: Sequence[str], lines: Sequence[int]) -> None:
    """Raise ``example-twice`` where two lines are about one example."""
    first: dict[str, int] = {}
    for name, line in zip(examples, lines, strict=True):
        before = first.setdefault(name, line)
        if before != line:
            raise InputError(
                "example-twice",
                f"{path.name} names {short(name)} in lines {counted(before)} and {counted(line)}",
                expected="one line an example",
                got="two",
                do="keep one of them",
                whose=path.name,
                details={"lines": [before, line]},
            )


def from_lines(path: Path, *, example: str | None, field: str, unnamed: str) -> Counted:
    """Return the counts in a JSON Lines file; options and errors are those of the reader."""
    entries = objects(path)
    key = name_key(path, entries[0][1], example, "counts")
    names = [named(path, line, entry, key) for line, entry in entries]
    without = [line for (line, _), name in zip(entries, names, strict=True) if not name]
    if without and unnamed != "drop":
        do = 'name it, or --reader \'{name = "counts", unnamed = "drop"}\' (recorded)'
        raise unnamed_refused(path, without, do)
    found = [
        (name, line, _counts(path, line, entry, field))
        for (line, entry), name in zip(entries, names, strict=True)
        if name
    ]
    check_once(path, [name for name, _, _ in found], [line for _, line, _ in found])
    columns = sorted({label for _, _, counts in found for label in counts})
    place = {label: column for column, label in enumerate(columns)}
    values = np.zeros((len(found), len(columns)), np.int64)
    for row, (_, _, counts) in enumerate(found):
        for label, number in counts.items():
            values[row, place[label]] = number
    return Counted(
        examples=[name for name, _, _ in found],
        columns=columns,
        values=values,
        places=[f"line {counted(line)}" for _, line, _ in found],
        left_out={reason(len(without), "line", "a name"): len(without)},
        offered=False,
    )


def _counts(path: Path, line: int, entry: Mapping[str, object], field: str) -> dict[str, int]:
    counter = entry.get(field)
    where = f"{path.name} line {counted(line)}"
    if not isinstance(counter, dict):
        raise InputError(
            "key-missing",
            f"{where} holds no counts as {quoted(field)}",
            expected='an object of label and votes, such as {"cat": 3, "dog": 1}',
            got=json_shown(counter) if field in entry else listed(map(short, entry)) or "{}",
            do='--reader \'{name = "counts", field = "KEY"}\', if another key has them',
            whose=path.name,
            details={"line": line, "seen": list(entry)},
        )
    for label, number in counter.items():
        if not (isinstance(number, JsonNumber) and COUNT.fullmatch(number) and label):
            raise InputError(
                "count-unreadable",
                f"{where}, {field}: {short(label)} has no number of votes"
                if label
                else f"{where}, {field}: a label without a name has votes",
                expected="a whole number, 0 or more, for each label",
                got=json_shown(number),
                do="mend that line",
                whose=path.name,
                details={"line": line},
            )
    counts = {label: whole(str(number)) for label, number in counter.items()}
    _check_beside(path, line, entry, field, sorted(filter(None, counts.values())))
    return counts


def _check_beside(
    path: Path, line: int, entry: Mapping[str, object], field: str, counts: Sequence[int]
) -> None:
    """Raise ``counts-differ`` where the lists beside the counts are not the same numbers."""
    total = sum(counts)
    said: Sequence[float]
    for key, said, margin in (
        ("label_count", counts, 0.0),
        ("label_dist", [count / max(total, 1) for count in counts], _ROUNDED),
    ):
        beside = entry.get(key)
        if field == key or not isinstance(beside, list):
            continue
        numbers = [item.value for item in beside if isinstance(item, JsonNumber)]
        found = sorted(number for number in numbers if number)
        alike = len(found) == len(said) and all(
            abs(a - b) <= margin for a, b in zip(found, said, strict=True)
        )
        if not alike or len(numbers) < len(beside):
            raise InputError(
                "counts-differ",
                f"{path.name} line {counted(line)}: {key} is not what {field} says",
                expected=f"the same numbers, of {several(total, 'vote')}",
                got=json_shown(beside),
                do="mend that line, or remove the wrong one of the two",
                whose=path.name,
                details={"line": line},
            )


COUNT = re.compile(r"(0|[1-9][0-9]{0,14})(\.0+)?")
"""A number of votes: programs write whole numbers as 2.0 too."""

EXAMPLE = "example"

_FAULTS = {
    re.compile(r"-[0-9.,]+"): ("a negative number", "a count is 0 or more: mend that line"),
    re.compile(r"[0-9]*,[0-9]+"): ("a comma", "write numbers without commas"),
    re.compile(r"[0-9]*\.[0-9]+"): (
        "a fraction",
        '--reader \'{name = "soft-labels", example = "COLUMN"}\', if these are shares',
    ),
}
"""Numbers that are no counts, what is wrong with them, and what to do."""


@attrs.frozen(kw_only=True, eq=False)
class Counted:
    """Votes by example and label.

    Attributes
    ----------
    examples : list of str or None
        Names; None = by their places.
    columns : list of str
        The label of each column.
    values : ndarray of int64, (example, column)
        The votes.
    places : list of str
        Where in the file each example stands.
    left_out : dict of str to int
        What does not count, by reason.
    offered : bool
        Whether the file names all of its labels, in an order.
    """

    examples: list[str] | None
    columns: list[str]
    values: NDArray[np.int64]
    places: list[str]
    left_out: dict[str, int] = attrs.field(factory=dict)
    offered: bool = True


def reason(number: int, noun: str, lacks: str) -> str:
    """Return why things do not count, as it follows their number: ``rows without a name``."""
    return f"{noun}{'' if number == 1 else 's'} without {lacks}"


def from_text(
    table: TextTable, *, example: str | None, ignore: Sequence[str], unnamed: str
) -> Counted:
    """Return the counts in a table of text; options and errors are those of the reader."""
    table.need(ignore, do="name columns of the file in ignore")
    if not len(table):
        raise InputError(
            "file-empty",
            f"{table.whose} is empty",
            expected="one row an example",
            got="a header and no rows",
            do="write it again, or name another file",
            whose=table.whose,
        )
    wrong = {
        name: _no_counts(cells)
        for name, cells in zip(table.header, table.columns, strict=True)
        if name not in ignore
    }
    table.need(wrong, do="name that column in ignore")
    name = _name_column(table, wrong, example)
    wrong.pop(name)
    _check_counts(table, wrong, name)
    columns = list(wrong)
    names = table.column(name)
    kept = _kept(table, names, unnamed)
    values = np.empty((len(kept), len(columns)), np.int64)
    for place, column in enumerate(columns):
        cells = table.column(column)
        number = {cell: whole(cell) for cell in set(cells)}
        values[:, place] = [number[cells[row]] for row in kept]
    examples = [names[row] for row in kept]
    dropped = len(table) - len(kept)
    _check_once(table, examples, kept)
    return Counted(
        examples=examples,
        columns=columns,
        values=values,
        places=[table.place(row).removeprefix(f"{table.whose} ") for row in kept],
        left_out={reason(dropped, "row", "a name"): dropped},
    )


def _no_counts(cells: Sequence[str]) -> list[int]:
    """Return the rows of a column that hold no count."""
    odd = {cell for cell in set(cells) if not COUNT.fullmatch(cell)}
    return [row for row, cell in enumerate(cells) if cell in odd] if odd else []


def _name_column(table: TextTable, wrong: dict[str, list[int]], example: str | None) -> str:
    """Return the column that names the examples."""
    wanted = example or (EXAMPLE if EXAMPLE in wrong else None)
    if wanted is not None:
        table.need([wanted], do='--reader \'{name = "counts", example = "COLUMN"}\'')
        if wanted in wrong:
            return wanted
    for name, rows in wrong.items():
        if _is_text(table.column(name), rows):
            return name
    raise InputError(
        "columns-missing",
        f"{table.whose} has no column that names the examples",
        expected="a column example, or one that is not of counts",
        got=listed(wrong),
        do=example_hint("counts", table),
        whose=table.whose,
        details={"seen": list(table.header)},
    )


def example_hint(reader: str, table: TextTable) -> str:
    """Return what to do where no column is known to name the examples."""
    name = next((n for n in table.header if names_examples(n, table.column(n))), None)
    if name is None:
        return "add a column example with their names"
    return f'--reader \'{{name = "{reader}", example = "{name}"}}\', if that column does'


def _is_text(cells: Sequence[str], wrong: Sequence[int]) -> bool:
    """Return whether a column holds mostly something else than counts, right or wrong."""
    return 2 * sum(_fault(cells[row]) is None for row in wrong) > len(cells)


def _fault(cell: str) -> tuple[str, str] | None:
    return next((said for pattern, said in _FAULTS.items() if pattern.fullmatch(cell)), None)


def _check_counts(table: TextTable, wrong: dict[str, list[int]], named: str) -> None:
    """Raise an error unless every column that is left holds counts and nothing else."""
    words = [name for name, rows in wrong.items() if _is_text(table.column(name), rows)]
    if words:
        shown = ", ".join(f'"{name}"' for name in words)
        raise InputError(
            "columns-not-counts",
            f"{table.whose} holds no counts in column{'s' if len(words) > 1 else ''} "
            f"{listed(map(quoted, words))}",
            expected="one column that names the examples, then counts",
            got=f"{quoted(table.column(words[0])[wrong[words[0]][0]])} and the like",
            do=f"--reader '{{name = \"counts\", ignore = [{shown}]}}'",
            whose=table.whose,
            details={"columns": words},
        )
    cells = [(row, name) for name, rows in wrong.items() for row in rows]
    if cells:
        row, name = min(cells)
        cell = table.column(name)[row]
        said, do = _fault(cell) or ("", "mend that line")
        many = f" ({several(len(cells), 'such cell')})" if len(cells) > 1 else ""
        raise InputError(
            "count-unreadable",
            f"{table.place(row)}, column {quoted(name)} is not a number of votes",
            expected="a whole number, 0 or more",
            got=quoted(cell) + (f", {said}" if said else "") + many,
            do=do.replace("COLUMN", named),
            whose=table.whose,
            details={"lines": sorted({table.lines[where] for where, _ in cells})},
        )
    if not wrong:
        raise InputError(
            "columns-missing",
            f"{table.whose} has no column of counts",
            expected="one column that names the examples, then one a label",
            got=listed(table.header),
            do="add one column a label",
            whose=table.whose,
        )


def whole(cell: str) -> int:
    """Return the number in a cell that `COUNT` matches."""
    return int(cell.partition(".")[0])


def _kept(table: TextTable, names: Sequence[str], unnamed: str) -> list[int]:
    """Return the rows that have a name; raises an error if one has none, unless it may."""
    without = [row for row, name in enumerate(names) if not name]
    if without and unnamed != "drop":
        raise InputError(
            "example-unnamed",
            f"{table.whose} names no example in {table.places(without)}",
            expected="the name of an example",
            got="an empty cell",
            do='name it, or --reader \'{name = "counts", unnamed = "drop"}\' (recorded)',
            whose=table.whose,
            details={"lines": [table.lines[row] for row in without]},
        )
    return [row for row, name in enumerate(names) if name]


def _check_once(table: TextTable, examples: Sequence[str], kept: Sequence[int]) -> None:
    twice = [name for name, count in Counter(examples).items() if count > 1]
    if twice:
        rows = [row for row, name in zip(kept, examples, strict=True) if name == twice[0]]
        more = f" (and {several(len(twice) - 1, 'example')} more again)" if len(twice) > 1 else ""
        raise InputError(
            "example-twice",
            f"{table.whose} names {quoted(twice[0])} in {table.places(rows)}{more}",
            expected="one row an example",
            got=f"{len(rows)}",
            do="keep one, or add up their counts",
            whose=table.whose,
            details={"examples": twice},
        )


def check_columns(
    whose: str,
    columns: Sequence[str],
    labels: Sequence[str],
    *,
    reader: str = "counts",
    does: str = "counts votes for",
) -> None:
    """Raise ``label-unknown`` unless every column is of a declared label."""
    outside = [name for name in columns if name not in labels]
    if not outside:
        return
    meant = near(outside[0], [name for name in labels if name not in columns])
    shown = ", ".join(f'"{name}"' for name in outside)
    ignore = f"--reader '{{name = \"{reader}\", ignore = [{shown}]}}'"
    raise InputError(
        "label-unknown",
        f"{whose} {does} {listed(map(quoted, outside))}",
        expected=f"columns among the {several(len(labels), 'declared label')}",
        got=f"{several(len(outside), 'column')} besides",
        do=f"did you mean {quoted(meant)}? mend it, or {ignore}" if meant else ignore,
        whose=whose,
        details={"labels": outside},
    )


@attrs.frozen(kw_only=True)
class Counts(ResponseOptions):
    """Read votes that were counted: one row an example, one column a label.

    Who voted is unknown; each count becomes one response that counts so many times. An example
    without any vote stays. In JSON Lines an object holds the counts of an example by label, and
    a label that is not there has none.

    Attributes
    ----------
    example : str or None
        Column or key that names the examples; None takes ``example``, else the first column that is
        not of counts, or the key ``uid``, ``id``, ``text_id`` or ``pairID``.
    ignore : tuple of str
        Columns that are neither the names nor a label.
    unnamed : {"error", "drop"}
        What to do with rows without a name; dropped ones are counted.
    array : str
        Array of an npz file. Names are taken from its arrays ``labels``, ``label_names`` or
        ``class_names``, and ``examples`` or ``names``.
    field : str
        Key of the counts in JSON Lines.
    """

    example: str | None = None
    ignore: tuple[str, ...] = ()
    unnamed: Literal["error", "drop"] = "error"
    array: str = "counts"
    field: str = "label_counter"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file says that it holds counts, by an array or a key of that name."""
        if head.startswith(b"PK"):
            return _has_array(path, self.array)
        return is_lines(path) and has_counter(head, self.field)

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the file."""
        ending = path.suffix.lower()
        if ending in {".npy", ".npz"}:
            return self._table(from_arrays(path, self.array, labels), labels, path.name)
        if is_lines(path) and not is_flat(file_opening(path, "annotations")):
            found = from_lines(path, example=self.example, field=self.field, unnamed=self.unnamed)
            return self._table(found, labels, path.name)
        return self.from_table(read_table(path, role="annotations"), labels)

    def from_table(self, table: TextTable, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table of columns of text; see `read`."""
        found = from_text(
            table.seen(), example=self.example, ignore=self.ignore, unnamed=self.unnamed
        )
        return self._table(found, labels, table.whose, ignorable=True)

    def _table(
        self, found: Counted, labels: Sequence[str] | None, whose: str, *, ignorable: bool = False
    ) -> AnnotationTable:
        """Return the table; examples by name, else in their order."""
        check_names(whose, found.columns, "label")
        check_names(whose, found.examples or [], "example")
        aside = self.none_of_these
        if states.policy(states.NONE_OF_THESE, "single-label", self.states) == states.COUNT:
            aside = ()
        offered = [name for name in found.columns if name not in aside]
        if labels is not None:
            check_columns(whose, offered, labels)
        else:  # what was declared is a label, whatever it sums to
            _warn_of_sums(found, whose, ignorable)
        if found.columns and not (self.states or self.none_of_these):
            return _table(found, labels)
        return self.gathered(
            "single-label",
            _responses(found),
            labels,
            whose=whose,
            examples=_examples(found),
            offered=offered if found.offered else None,
            anonymous=True,
            left_out=found.left_out,
        )


def _warn_of_sums(found: Counted, whose: str, ignorable: bool) -> None:
    """Warn where a column is the sum of two others or more: no label, but a total."""
    total = found.values.sum(axis=1, keepdims=True)
    sums = (2 * found.values == total).all(axis=0) & found.values.any(axis=0)
    if len(found.columns) < 3 or sums.sum() != 1:
        return
    name = found.columns[int(sums.argmax())]
    warn(
        "column-of-sums",
        f"{whose}: column {quoted(name)} is the sum of the others in every row",
        expected="one column a label",
        got=f"columns {listed(map(quoted, found.columns))}",
        do=f'--reader \'{{name = "counts", ignore = ["{name}"]}}\', if it is a total'
        if ignorable
        else f"write the file without {quoted(name)}, if it is a total",
        whose=whose,
        details={"columns": [name]},
        stacklevel=6,
    )


def _examples(found: Counted) -> list[str]:
    return found.examples or [str(row) for row in range(len(found.values))]


def _responses(found: Counted) -> Iterator[Response]:
    names = _examples(found)
    for row, column in np.argwhere(found.values).tolist():
        yield Response(
            example=names[row],
            annotator=None,
            answer=found.columns[column],
            weight=float(found.values[row, column]),
            place=f"{found.places[row]}, column {found.columns[column]}",
        )


def _table(found: Counted, labels: Sequence[str] | None) -> AnnotationTable:
    """Return the table of plain votes, as `gathered` would, without an object for each."""
    examples, values = _examples(found), found.values
    if found.examples is not None:
        order = sorted(range(len(examples)), key=examples.__getitem__)
        examples, values = [examples[row] for row in order], values[order]
    known = list(found.columns if labels is None else labels)
    place = np.array([known.index(name) for name in found.columns], np.int64)
    example, column = np.nonzero(values)
    return build_table(
        "single-label",
        examples=examples,
        annotators=(),
        labels=known,
        response_example=example,
        response_annotator=np.full(example.size, -1),
        mention_response=np.arange(example.size),
        mention_label=place[column],
        response_weight=values[example, column],
        labels_declared=labels is not None or found.offered,
        left_out={reason: count for reason, count in found.left_out.items() if count},
    )


def _has_array(path: Path, name: str) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{name}.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False
