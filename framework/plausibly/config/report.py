"""All mistakes of a study file as one error: a line each, then the first in the house form."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import cast

import attrs

from plausibly.errors import InputError, counted, render, visible
from plausibly.registry.mistakes import Mistake

_WIDTH = 80


@attrs.frozen
class Located:
    """A mistake and the line of the file on which it stands.

    Attributes
    ----------
    mistake : Mistake
        With the path from the top of the file.
    line : int or None
        None where it is not known: the path then stands alone.
    """

    mistake: Mistake
    line: int | None

    @property
    def text(self) -> str:
        """Path, what is wrong, and what to do about it, in one line."""
        text = str(self.mistake)
        do = "" if self.mistake.unknown else self.do
        if not do or do in text:
            return text
        if text.endswith("?") and do.startswith("all: "):
            return f"{text} A{do[1:]}"
        return f"{text}; {do}"

    @property
    def do(self) -> str:
        """What can be typed instead."""
        if not self.mistake.value:
            return self.mistake.advice
        key = self.mistake.key.rpartition(".")[2]
        # An item of a list has no name to write it under.
        shown = f"{key} = " if key and not key.endswith("]") else ""
        return f"write {shown}{self.mistake.value}"

    def fields(self) -> dict[str, object]:
        """Return the same as plain data."""
        return {"path": self.mistake.path, "line": self.line, "text": self.text, "do": self.do}


def located(mistakes: Iterable[Mistake], lines: Mapping[str, int]) -> list[Located]:
    """Return mistakes with their lines, in the order of the file; those without a line come last.

    What is missing stands on the line of the table that lacks it.

    Parameters
    ----------
    mistakes : iterable of Mistake
        With paths from the top of the file.
    lines : mapping of str to int
        From `plausibly.config.locate.lines_of`.
    """
    found = [Located(mistake, _line(mistake.path, lines)) for mistake in mistakes]
    return sorted(found, key=lambda one: (one.line is None, one.line or 0))


def _line(path: str, lines: Mapping[str, int]) -> int | None:
    while path and path not in lines:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return lines.get(path)


class StudyError(InputError):
    """A study file with mistakes: ``config-key``.

    The fields are about the first mistake; ``details["mistakes"]`` has all of them, and as text all
    are listed.
    """

    @classmethod
    def about(cls, whose: str, mistakes: Iterable[Located]) -> StudyError:
        """Return the error about all mistakes of a file.

        Parameters
        ----------
        whose : str
            Name of the file.
        mistakes : iterable of Located
            One or more, in the order of the file.
        """
        those = list(mistakes)
        first, count = those[0], len(those)
        mistake = first.mistake
        where = whose if first.line is None else f"{whose} line {counted(first.line)}"
        parts = mistake.expected and mistake.got
        more = f"(mistake 1 of {counted(count)}, all are listed)" if count > 1 else ""
        what = f"{where}: {mistake.path}" if parts else f"{where}: {mistake}"
        got = mistake.got if parts else ""
        return cls(
            "config-key",
            what if parts or not more else f"{what} {more}",
            expected=mistake.expected if parts else "",
            got=f"{got} {more}".strip() if parts else "",
            do=first.do,
            whose=whose,
            details={"file": whose, "mistakes": [one.fields() for one in those]},
        )

    def listing(self) -> str:
        """Return a line a mistake under the name of the file, in 80 columns."""
        found = cast("list[dict[str, object]]", self.details["mistakes"])
        lines = ["" if one["line"] is None else f" line {one['line']}" for one in found]
        width = max(2, *(len(line) + 2 for line in lines))
        count = len(found)
        rows = [f"{self.whose}: {counted(count)} mistake{'s' * (count > 1)}, nothing was run"]
        for line, one in zip(lines, found, strict=True):
            rows += textwrap.wrap(
                visible(str(one["text"])),
                _WIDTH,
                initial_indent=line.ljust(width),
                subsequent_indent=" " * width,
                break_on_hyphens=False,
                break_long_words=False,
            )
        return "\n".join(rows)

    def __str__(self) -> str:
        alone = len(cast("list[object]", self.details["mistakes"])) == 1
        return render(self) if alone else f"{self.listing()}\n{render(self)}"
