"""JSON Lines of counts: one object an example, with a number of votes by label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from plausibly.plugin import (
    InputError,
    JsonNumber,
    counted,
    json_head,
    json_shown,
    listed,
    quoted,
    read_json_lines,
    several,
)
from plausibly_builtins.readers._counts_text import COUNT, Counted, reason, whole
from plausibly_builtins.readers._names import short

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
    """Return line and object of every line of a JSON Lines file.

    Raises
    ------
    InputError
        ``line-unlike`` where a line holds something else, and what `read_json_lines` says.
    """
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
    """Raise ``counts-differ`` where the lists beside the counts are not the same numbers.

    The lists have an order that the file does not tell; so they are compared as bags.
    """
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
