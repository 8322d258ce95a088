"""What the author's kit found: a line where all is well, a table where it is not."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import Literal

import attrs

State = Literal["holds", "fails", "expected failure", "unexpected pass", "unknown rule", "not run"]

_WIDTH = 100
_FAILED = frozenset({"fails", "unexpected pass", "unknown rule"})
_WORDS: tuple[tuple[State, str, str], ...] = (
    ("fails", "1 fails", "{} fail"),
    ("unexpected pass", "1 unexpected pass", "{} unexpected passes"),
    ("unknown rule", "1 unknown rule", "{} unknown rules"),
    ("expected failure", "1 expected failure", "{} expected failures"),
    ("not run", "1 not run", "{} not run"),
)


@attrs.frozen
class Result:
    """What one rule found.

    Attributes
    ----------
    name : str
        The rule.
    state : {"holds", "fails", "expected failure", "unexpected pass", "unknown rule", "not run"}
        How the component fared.
    detail : str
        What happened; empty where the rule holds.
    sentence : str
        What the rule wants.
    """

    name: str
    state: State
    detail: str = ""
    sentence: str = ""


@attrs.frozen(kw_only=True)
class Report:
    """What all rules of a kind found of one component; prints as one line.

    Attributes
    ----------
    kind, component : str
        What was tried, as it prints.
    rules : tuple of Result
        One a rule, in order.
    """

    kind: str
    component: str
    rules: tuple[Result, ...]

    @property
    def failed(self) -> tuple[Result, ...]:
        """The results for which the component, or what was expected of it, must be mended."""
        return tuple(result for result in self.rules if result.state in _FAILED)

    def __str__(self) -> str:
        states = Counter(result.state for result in self.rules)
        run = sum(states.values()) - states["unknown rule"]
        parts = [f"{states['holds']} of {run} rules hold"]
        for state, one, many in _WORDS:
            if states[state]:
                parts.append(one if states[state] == 1 else many.format(states[state]))
        lacks = sorted({r.detail for r in self.rules if r.state == "not run"})
        why = f" ({lacks[0]})" if len(lacks) == 1 else ""
        return ", ".join(parts) + why

    def table(self) -> str:
        """Return the line and, of every rule that does not hold, state and what happened."""
        shown = [*self.failed, *(r for r in self.rules if r.state == "expected failure")]
        rows = [("rule", "state", "what happened"), *((r.name, r.state, r.detail) for r in shown)]
        first = max(len(row[0]) for row in rows) + 2
        second = max(len(row[1]) for row in rows) + 2
        lines = [f"{self.kind} {self.component}: {self}"]
        for row, wants in zip(rows, ["", *(r.sentence for r in shown)], strict=True):
            head = f"{row[0]:<{first}}{row[1]:<{second}}"
            lines += _wrapped(row[2], head, first + second)
            if wants:
                lines += _wrapped(f"wanted: {wants}", " " * (first + second), first + second)
        return "\n".join(lines)


def _wrapped(text: str, head: str, indent: int) -> list[str]:
    return textwrap.wrap(
        text,
        max(_WIDTH, indent + 40),
        initial_indent=head,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
