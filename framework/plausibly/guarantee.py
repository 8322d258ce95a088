"""What a prediction set promises: level, of what, over what, under which assumptions, and why."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import attrs

from plausibly import text

if TYPE_CHECKING:
    from cattrs import Converter


_T = TypeVar("_T")
_RATIO = re.compile(r"-?[0-9]{1,999}(/[1-9][0-9]{0,999})?")


class Printer(Protocol):
    """What IPython prints with."""

    def text(self, obj: str) -> None:
        """Print a text as it is."""
        ...


Target = Literal["aggregated", "voted", "mass", "risk"]

NEW_LABEL = "a label drawn from a new example's plausibilities: what an expert would say of it"
NOT_CLAIMED = (
    "a claim about the true label, about one example, label or group, "
    "or about examples unlike these"
)
_NOT_OF_EACH = "a claim about the true label or about one example, or about examples unlike these"


def rounded(value: Fraction | float) -> str:
    """Return a share with up to four decimals, without the leading zero."""
    text = f"{float(value):.4f}".rstrip("0")
    whole, _, decimals = text.partition(".")
    decimals = decimals.ljust(2, "0")
    return f"{'' if whole == '0' else whole}.{decimals}"


_DIGITS, _TYPED = 4, 12


def bounded(value: Fraction | float, *, up: bool = False, typed: bool = True) -> str:
    """Return a bound as text that never says more than the number does, without a leading zero.

    Parameters
    ----------
    value : Fraction or float
        From 0 to 1. With four decimals, or so many that two digits say how near it is to 0 or 1.
    up : bool
        Whether an upper bound, as of a risk, is rounded up instead of down.
    typed : bool
        Whether a decimal of up to twelve digits is what somebody typed, and is printed as it is.
    """
    exact = value if isinstance(value, Fraction) else Fraction(str(value))
    far = min(exact, 1 - exact)
    places = _TYPED if typed and not exact * 10**_TYPED % 1 else _DIGITS
    while exact * 10**places % 1 and far * 10**places < 10:
        places += 1
    units = (math.ceil if up else math.floor)(exact * 10**places)
    decimals = f"{units % 10**places:0{places}d}".rstrip("0").ljust(2, "0")
    return f"{units // 10**places or ''}.{decimals}"


@attrs.frozen(kw_only=True)
class Guarantee:
    """A promise about prediction sets, complete enough to be read on its own.

    Attributes
    ----------
    alpha : Fraction
        The miscoverage rate that was asked for, exactly as typed.
    level : Fraction or None
        Lower bound of the coverage; None where nothing is promised. Of a risk, 1 minus its bound.
    target : {"aggregated", "voted", "mass", "risk"}
        Whether the promise is about labels drawn from the plausibilities, about the voted label,
        about the share of the plausibilities in a set, or about a risk on average.
    of_what : str
        What is covered, in words.
    event : str
        For the targets "mass" and "risk": what is probable, or what is small on average.
    over : str
        What the probability is taken over.
    assumptions : tuple of str
        The promise holds if all of these do.
    why : str
        The argument, in one sentence.
    reference : str
        Where the argument is proved.
    confidence : Fraction or None
        For promises about this one calibration: they hold with at least this probability over it.
    vacuous : bool
        True where the promise is kept by giving every label.
    has : int
        Number of examples that decide vacuity: calibration or held-out ones.
    needed : int or None
        Least number of such examples with which the sets say something at `alpha`.
    counted : str
        What `has` and `needed` count.
    least_alpha : float or None
        Least alpha at which the sets say something with `has` examples.
    notes : tuple of str
        Anything else the reader should know.
    share : Fraction or None
        For the target "mass": the share of the plausibilities that a set is to hold.
    each : str
        Of what each the promise holds, such as ``'each value of "site"'``; empty: overall only.
    by : str
        The coordinate of the examples, or ``"label"``, of each of whose values it holds.
    groups : tuple of (str, float)
        These values, and by how many calibration examples (a label: by which mass).
    cluster : str
        Coordinate, such as the patient, of which a new value brings the new example: what is
        promised is then the mean over its values of the means within them.
    """

    alpha: Fraction
    level: Fraction | None
    target: Target = "aggregated"
    of_what: str = NEW_LABEL
    over: str = "calibration examples and the new example together"
    assumptions: tuple[str, ...] = ("calibration and new examples are exchangeable",)
    why: str
    reference: str = ""
    confidence: Fraction | None = None
    vacuous: bool = False
    has: int = 0
    needed: int | None = None
    counted: str = "calibration examples"
    least_alpha: float | None = None
    notes: tuple[str, ...] = ()
    event: str = ""
    each: str = ""
    share: Fraction | None = None
    by: str = ""
    groups: tuple[tuple[str, float], ...] = ()
    cluster: str = ""

    def statement(self) -> str:
        """Return the promise as one formula."""
        if self.level is None:
            return "no guarantee"
        if self.target == "risk":
            text = f"E[{self.event}] <= {self.bound()}"
        else:
            symbol = "vote" if self.target == "voted" else "Y"
            text = f"P({self.event or f'{symbol} in C(X)'}) >= {self.bound()}"
        if self.each:
            text += f", for {self.each}"
        if self.confidence is not None:
            sure = bounded(self.confidence)
            text += f", with probability {sure} over the calibration"
        return f"{text} (vacuous: every label)" if self.vacuous else text

    def bound(self) -> str:
        """Return the level, or what the risk is at most, as text that promises no more than it.

        Exactly where alpha is a decimal; a level that is no simple multiple of it is rounded.
        """
        level = Fraction(0) if self.level is None else self.level
        typed = level == 1 - self.alpha
        if self.target == "risk":
            return bounded(1 - level, up=True, typed=typed)
        return bounded(level, typed=typed)

    def shown_level(self) -> str:
        """Return the level as text, of whatever label is covered."""
        if self.level is None:
            return "no guarantee"
        shown = self.bound()
        if self.target == "risk":
            shown = f"risk {shown}"
        elif self.target == "mass":
            shown += " of sets"
        return f"{shown}, vacuous" if self.vacuous else shown

    def short(self) -> str:
        """Return what is guaranteed of what experts say, as tables print it."""
        return "nothing" if self.target == "voted" else self.shown_level()

    def rows(self) -> list[tuple[str, str]]:
        """Return title and text of each part, in reading order."""
        why = ("why", f"{self.why} ({self.reference})" if self.reference else self.why)
        if self.level is None:
            return [why, *(("note", note) for note in self.notes)]
        parts = [
            ("of what", self.of_what),
            ("over", self.over),
            ("if", "; ".join(self.assumptions)),
            why,
        ]
        if self.vacuous and self.needed is not None:
            more = f"{self.needed:,} {self.counted} or more; there are {self.has:,}"
            parts.append(("vacuous", f"every set is every label; says something with {more}"))
        parts += [("note", note) for note in self.notes]
        parts.append(("not", _NOT_OF_EACH if self.each else NOT_CLAIMED))
        return parts

    def __str__(self) -> str:
        lines = [self.statement()]
        for title, words in self.rows():
            lines += textwrap.wrap(
                words, 96, initial_indent=f"  {title:<9} ", subsequent_indent=" " * 12
            )
        return "\n".join(lines)

    def _repr_pretty_(self, printer: Printer, cycle: bool) -> None:
        # What a cell or a console of IPython shows as text.
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return text.framed(self.statement(), text.table(self.rows(), titled=True))

    def to_json(self) -> dict[str, object]:
        """Return plain data; fractions become text, so that nothing is rounded."""
        data: dict[str, object] = converter().unstructure(self)
        return {**data, "statement": self.statement()}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Guarantee:
        """Return the guarantee that `to_json` described."""
        return converter().structure(data, cls)


def _fraction(value: object, _: object) -> Fraction:
    # Bounded before it is a number: an exponent or a zero denominator would hang or raise.
    if not isinstance(value, str) or not _RATIO.fullmatch(value):
        raise ValueError("no ratio of whole numbers")
    return Fraction(value)


def _exactly(value: Any, kind: type[_T]) -> _T:  # Any: what JSON holds
    if type(value) is kind or (kind is float and type(value) is int and abs(value) < 2**53):
        return kind(value)  # type: ignore[call-arg]  # of the types of JSON
    raise ValueError(f"no {kind.__name__}")


@cache
def converter() -> Converter:
    """Return the converter by which guarantees and evidence become plain data, without rounding."""
    # cattrs costs more to import than this module, which messages need.
    from cattrs import Converter

    converter = Converter()
    converter.register_structure_hook(Fraction, _fraction)
    for kind in (str, int, bool, float):
        converter.register_structure_hook(kind, _exactly)
    converter.register_unstructure_hook(Fraction, str)
    return converter
