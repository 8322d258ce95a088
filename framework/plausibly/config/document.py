"""A study file as text: its tables, and on which line each key stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal

import attrs

from plausibly.config.locate import lines_of
from plausibly.errors import SLASHES, InputError, counted

_WHERE = re.compile(r" \(at (?:line (?P<line>\d+), column \d+|end of document)\)$")
_BACKSLASH = re.compile(r'"[^"]*\\[^"]*"')


@attrs.frozen(kw_only=True)
class Document:
    """What a study file says.

    Attributes
    ----------
    name : str
        Of the file, as messages call it.
    tables : mapping
        Plain data; decimals are numbers as typed.
    lines : mapping of str to int
        Of each key, by its path.
    """

    name: str
    tables: Mapping[str, object]
    lines: Mapping[str, int] = attrs.field(factory=dict)


def parse(text: str, name: str) -> Document:
    """Return what the text of a study file says.

    Raises
    ------
    InputError
        ``toml-broken`` with the line.
    """
    try:
        tables = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        reason = str(error)
        where = _WHERE.search(reason)
        number = int(where["line"]) if where and where["line"] else text.count("\n") + 1
        got = _WHERE.sub("", reason)
        do = "mend that line"
        line = "".join(text.splitlines()[number - 1 : number])
        if _BACKSLASH.search(line):
            got = f"a backslash between double quotation marks: {got[:1].lower()}{got[1:]}"
            do = SLASHES
        raise InputError(
            "toml-broken",
            f"{name} line {counted(number)} is no TOML",
            expected='key = value, [table] or [[list of tables]], and text in "quotation marks"',
            got=f"{got[:1].lower()}{got[1:]}",
            do=do,
            whose=name,
            details={"line": number},
        ) from None
    return Document(name=name, tables=tables, lines=lines_of(text))
