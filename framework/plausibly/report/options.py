"""Options of a report, checked, with the small pictures of its examples."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs
import xarray as xr

from plausibly.data import names
from plausibly.data.names import is_missing, name_texts, near, quoted
from plausibly.errors import InputError, counted, listed
from plausibly.evaluation.risk import label_coordinate
from plausibly.io import with_coordinates
from plausibly.io.label_tables import table_from
from plausibly.report.model import Words
from plausibly.study.prepare import MOST_GROUPS, coordinates, groups_of, owners

LARGEST = 64_000
"""Bytes of a picture: a file of 5 MB then holds some dozens of the largest."""

_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def picture(path: str, folder: Path, column: str) -> str:
    if not path:
        return ""
    file = folder / path
    try:
        content = file.read_bytes()
    except (OSError, ValueError) as reason:
        why = getattr(reason, "strerror", None) or str(reason)
        raise _unreadable(path, column, why.lower()) from reason
    if len(content) > LARGEST:
        raise InputError(
            "thumbnail-large",
            f'the picture "{path}" is too large for a report',
            expected=f"at most {counted(LARGEST)} bytes, such as 96 x 96 pixels",
            got=counted(len(content)),
            do=f"make small copies, and name them in the column {column}",
            whose=path,
        )
    kind = next((kind for start, kind in _KINDS if content.startswith(start)), "")
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        kind = "image/webp"
    if not kind:
        raise _unreadable(path, column, f"bytes that begin {content[:8]!r}")
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def _unreadable(path: str, column: str, got: str) -> InputError:
    return InputError(
        "thumbnail-unreadable",
        f'no picture can be read from "{path}"',
        expected="the path of a PNG, JPEG, GIF or WebP file, from the folder of the table of "
        "examples on",
        got=got,
        do=f"mend the column {column}, or leave thumbnail (--thumbnail) out",
        whose=path,
    )


RISK = "risk"
MOST_LETTERS = 500
"""Letters of a text that are shown of an example."""


@attrs.frozen(kw_only=True)
class Options:
    """Choices that change what a report shows, and no figure; and where the data come from."""

    title: str = ""
    words: Words = attrs.field(factory=Words)
    text: str = ""
    thumbnail: str = ""
    annotator_names: bool = False
    folder: Path = Path()
    command: str = ""
    study: str = ""
    facts: Sequence[tuple[str, str]] = ()


def with_tables(
    predictions: xr.DataArray,
    examples: Path | str | xr.Dataset | None,
    labels: Path | str | xr.Dataset | None,
) -> xr.DataArray:
    """Return predictions with what is known of their examples and labels."""
    for table, dim in ((examples, names.EXAMPLE), (labels, names.LABEL)):
        if table is not None:
            predictions = with_coordinates(predictions, table_from(table, dim))
    return predictions


def risks(*arrays: xr.DataArray) -> dict[str, object]:
    """Return the level of risk of each label that has one, from the first array that knows any."""
    for array in arrays:
        if RISK in array.coords and array[RISK].dims == (names.LABEL,):
            levels = label_coordinate(RISK, [array]).items()
            return {label: one for label, one in levels if not is_missing(one) and one != ""}
    return {}


def grouping(
    predictions: xr.DataArray, by: Sequence[str] | None, known: Sequence[str | None]
) -> list[str]:
    """Return the coordinates whose groups are compared: those that were named, or all with few."""
    there = coordinates(predictions)
    if by is not None:
        for name in by:
            _there(name, there)
        return list(by)
    apart = {*known, *(one.name for one in owners(predictions))}
    return [
        name
        for name in there
        if name not in apart
        and predictions[name].dtype.kind != "f"
        and 1 < groups_of(predictions, name).groups <= MOST_GROUPS
    ]


def texts(predictions: xr.DataArray, options: Options) -> list[str] | None:
    if not options.text:
        return None
    _there(options.text, coordinates(predictions))
    return [
        text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1].rstrip()}…"
        for text in name_texts(predictions[options.text].values)
    ]


def pictures(predictions: xr.DataArray, options: Options) -> list[str] | None:
    if not options.thumbnail:
        return None
    _there(options.thumbnail, coordinates(predictions))
    found = name_texts(predictions[options.thumbnail].values)
    return [picture(text, options.folder, options.thumbnail) for text in found]


def _there(name: str, there: Sequence[str]) -> None:
    if name in there:
        return
    guess = near(name, there)
    raise InputError(
        "coordinate-missing",
        f"examples have no coordinate {quoted(name)}",
        expected=f"one of {listed(there)}" if there else "a table of the examples that has it",
        got=name,
        do=f"did you mean {quoted(guess)}?"
        if guess
        else "name a table that has it: -e examples.csv",
        whose="examples",
        details={"coordinates": list(there)},
    )


def facts_of(named: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(title, text) for title, text in named.items() if text]
