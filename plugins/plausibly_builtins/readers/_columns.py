"""What readers of tables, arrays and JSON Lines share: which columns or keys hold what."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from plausibly.plugin import (
    InputError,
    NamedArray,
    TextTable,
    counted,
    from_npy,
    from_npz,
    json_head,
    json_shown,
    listed,
    names_examples,
    near,
    quoted,
    read_json_lines,
    several,
)
from plausibly_builtins.readers._exports import as_typed, refused, short

COUNT: Final = re.compile(r"(0|[1-9][0-9]{0,14})(\.0+)?")
"""A number of votes: programs write whole numbers as 2.0 too."""

NAMES: Final = ("example", "uid", "id", "text_id", "pairID")
"""Keys that name an example, the first that is there."""


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


def line_refused(
    line: int, name: str, what: str, expected: str, got: str, do: str = "mend that line"
) -> InputError:
    """Return the error about a line; `what` goes on after its number."""
    what = f" line {counted(line)}{what}"
    return refused(name, what, expected, got, do, line=line)


def objects(path: Path) -> list[tuple[int, dict[str, object]]]:
    """Return line and object of every line of a JSON Lines file."""
    found: list[tuple[int, dict[str, object]]] = []
    for line, value in read_json_lines(path, expected="one JSON object a line"):
        if not isinstance(value, dict):
            raise line_refused(
                line,
                "line-unlike",
                " holds no object",
                "one JSON object a line, about one example",
                json_shown(value),
                "mend or remove that line",
            )
        found.append((line, value))
    return found


def named_objects(
    path: Path, reader: str, key: str | None, do: str, *, unnamed: bool = False
) -> list[tuple[int, str, dict[str, object]]]:
    """Return line, name and object of every line; without a name only where that may be.

    The name is under the key, or the first usual one that the first object has.
    """
    found = objects(path)
    first, wanted = found[0][1], NAMES if key is None else (key,)
    # ChaosNLI has an object called example, too.
    fit = [name for name in wanted if isinstance(first.get(name), str) or (key and name in first)]
    if not fit:
        raise refused(
            "key-missing",
            " names no example",
            f"the key {listed(map(quoted, wanted), most=len(wanted))} in every object",
            listed(map(short, first)) or "an empty object",
            as_typed(reader, 'example = "KEY"'),
            seen=list(first),
        )
    named = [(line, key_text(line, entry, fit[0]), entry) for line, entry in found]
    without = [line for line, name, _ in named if not name]
    if without and not unnamed:
        lines = f"line{'s' if len(without) > 1 else ''} {listed(map(counted, without))}"
        raise refused(
            "example-unnamed",
            f" names no example in {lines}",
            "the name of an example",
            "none",
            do,
            lines=without,
        )
    return named


def key_text(line: int, entry: Mapping[str, object], key: str) -> str:
    """Return the name under a key of an object; empty where there is none."""
    value = entry.get(key)
    if value is not None and not isinstance(value, str):
        raise line_refused(
            line,
            "example-unnamed",
            f" holds no name as {quoted(key)}",
            "text or a number",
            json_shown(value),
        )
    return str(value or "")


def check_once(lines: Mapping[int, str]) -> None:
    """Raise ``example-twice`` where two lines are about one example."""
    first: dict[str, int] = {}
    for line, name in lines.items():
        before = first.setdefault(name, line)
        if before != line:
            raise refused(
                "example-twice",
                f" names {short(name)} in lines {counted(before)} and {counted(line)}",
                "one line an example",
                "two",
                "keep one of them",
                lines=[before, line],
            )


def reason(number: int, noun: str, lacks: str) -> str:
    """Return why things do not count, as it follows their number: ``rows without a name``."""
    return f"{noun}{'' if number == 1 else 's'} without {lacks}"


def array_of(path: Path, name: str) -> NamedArray | None:
    """Return the array in an npy or npz file, None where the ending is of neither."""
    ending = path.suffix.lower()
    if ending == ".npy":
        return from_npy(path, "annotations")
    return from_npz(path, "annotations", (name,)) if ending == ".npz" else None


def labels_of(found: NamedArray, labels: Sequence[str] | None) -> list[str]:
    """Return the label of each column of an array."""
    width = found.values.shape[1]
    if found.labels is not None:
        if labels is not None:
            check_columns(found.labels, labels)
        return found.labels
    if labels is None:
        raise refused(
            "labels-unnamed",
            f" has {several(width, 'column')} and no label names",
            "names in column order; an order is never guessed",
            "",
            "--labels labels.txt (one name a line)",
        )
    if len(labels) != width:
        raise refused(
            "names-count",
            f" has {several(width, 'column')} and {counted(len(labels))} labels",
            "one name a column",
            listed(labels),
            "name every column once, in order",
        )
    return list(labels)


def check_columns(
    columns: Sequence[str],
    labels: Sequence[str],
    *,
    reader: str = "counts",
    does: str = "counts votes for",
) -> None:
    """Raise ``label-unknown`` unless every column is of a declared label."""
    outside = [name for name in columns if name not in labels]
    if outside:
        meant = near(outside[0], [name for name in labels if name not in columns])
        ignore = as_typed(reader, f"ignore = {toml_list(outside)}")
        raise refused(
            "label-unknown",
            f" {does} {listed(map(quoted, outside))}",
            f"columns among the {several(len(labels), 'declared label')}",
            f"{several(len(outside), 'column')} besides",
            f"did you mean {quoted(meant)}? mend it, or {ignore}" if meant else ignore,
            labels=outside,
        )


def toml_list(names: Sequence[str]) -> str:
    """Return names as a list that can be typed."""
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def check_named(table: TextTable, names: Sequence[str], noun: str, do: str) -> None:
    """Raise ``example-unnamed`` where a row has no name."""
    unnamed = [row for row, name in enumerate(names) if not name]
    if unnamed:
        raise refused(
            "example-unnamed",
            f" names no {noun} in {table.places(unnamed)}",
            f"the name of {'an' if noun == 'example' else 'a'} {noun}",
            "an empty cell",
            do,
            lines=[table.lines[row] for row in unnamed],
        )


def example_hint(reader: str, table: TextTable) -> str:
    """Return what to do where no column is known to name the examples."""
    name = next((n for n in table.header if names_examples(n, table.column(n))), None)
    if name is None:
        return "add a column example with their names"
    return as_typed(reader, f'example = "{name}"') + ", if that column does"


def check_names(names: Sequence[str], noun: Literal["example", "label"]) -> None:
    """Raise an error unless every name is there once, and can be one."""
    again = [name for name, count in Counter(names).items() if count > 1]
    if again:
        places = [place for place, name in enumerate(names, start=1) if name == again[0]]
        raise refused(
            f"{noun}-twice",
            f" names the {noun} {short(again[0])} twice",
            "each name once",
            f"at places {counted(places[0])} and {counted(places[1])}"
            + (f", and {several(len(again) - 1, 'other name')} again" if again[1:] else ""),
            "keep one, or give them names of their own",
            **{f"{noun}s": again},
        )
    unfit = [place for place, name in enumerate(names, start=1) if not name or "\0" in name]
    if unfit:
        raise refused(
            f"{noun}-unnamed",
            f" has {several(len(unfit), noun)} without a usable name",
            "text with at least one character, and no NUL",
            f"none at place {counted(unfit[0])}",
            f"name each {noun}",
        )
