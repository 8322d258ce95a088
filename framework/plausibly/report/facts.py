"""What of a page depends on no alpha: disagreement, reasons to believe it, how it was made."""

from __future__ import annotations

import attrs

from plausibly.report.views import Interval

HELD, BROKEN, UNCHECKED = "held", "broken", "cannot be checked"


@attrs.frozen(kw_only=True)
class Measure:
    """A measure of agreement.

    Attributes
    ----------
    name, title : str
    value : Interval
    reason : str
        Why there is no value.
    """

    name: str
    title: str
    value: Interval
    reason: str = ""


@attrs.frozen(kw_only=True)
class AnnotatorRow:
    """What one annotator answered.

    Attributes
    ----------
    name : str
        ``r01``, ``r02``, in the order of the names behind them, or these names where asked for.
    answers, compared : int
        Answers, and those to examples that others answered too.
    agreement, others : float or None
        With others, and of the others among themselves on the same examples.
    vote : float or None
        How often it is what the others vote for.
    low : bool
        Whether it agrees less than the others do, beyond chance.
    says : int or None
        Label that is said more often than by others, with both shares.
    says_share, says_others : float or None
    """

    name: str
    answers: int
    compared: int
    agreement: float | None
    others: float | None
    vote: float | None
    low: bool
    says: int | None
    says_share: float | None
    says_others: float | None


@attrs.frozen(kw_only=True)
class Cell:
    """Answers to one example that part over two labels.

    Attributes
    ----------
    a, b : int
        Labels, `a` before `b`.
    pairs : float
        Pairs of answers to one example of which one names `a` and not `b`, the other `b` and not
        `a`; of rankings, in the first place.
    examples : int
        With such a pair.
    """

    a: int
    b: int
    pairs: float
    examples: int


@attrs.frozen(kw_only=True)
class Disagreement:
    """Section 4.

    Attributes
    ----------
    sentence : str
    measures : tuple of Measure
    annotators : tuple of AnnotatorRow
        Those who differ first.
    likeness : str
        What `AnnotatorRow.agreement` is: ``same answer``, ``Jaccard``, ``overlap``.
    who : str
        Why annotators cannot be told apart, or who stands out, in words.
    labels : tuple of int
        Rows and columns of the heat map, those that are parted over most, in label order.
    cells : tuple of Cell
        Those that are not zero.
    note : str
        How many labels the heat map leaves out, and what it counts.
    nothing : str
        Why there is nothing to show.
    """

    sentence: str
    measures: tuple[Measure, ...] = ()
    annotators: tuple[AnnotatorRow, ...] = ()
    likeness: str = ""
    who: str = ""
    labels: tuple[int, ...] = ()
    cells: tuple[Cell, ...] = ()
    note: str = ""
    nothing: str = ""


@attrs.frozen(kw_only=True)
class Check:
    """Something to believe the numbers by.

    Attributes
    ----------
    name : str
    title : str
    state : {"held", "broken", "cannot be checked"}
    words : str
    """

    name: str
    title: str
    state: str
    words: str


@attrs.frozen(kw_only=True)
class Uniformity:
    """P-values of one kind of label, by one method.

    Attributes
    ----------
    method : int
    of : {"drawn", "voted", "true"}
        A label drawn from the plausibilities, the vote, or the known label.
    promised : bool
        Whether the method promises ``P(p <= t) <= t`` of it.
    counts : tuple of int
        P-values in 20 bins of equal width from 0 to 1.
    ks_above, ks_below : float
        By how much the share of small p-values exceeds what it may be, and falls short of it.
    p : float
        Of the hypothesis ``P(p <= t) <= t`` for every t.
    n : int
    sentence : str
    """

    method: int
    of: str
    promised: bool
    counts: tuple[int, ...]
    ks_above: float
    ks_below: float
    p: float
    n: int
    sentence: str


@attrs.frozen(kw_only=True)
class Believe:
    """Section 7.

    Attributes
    ----------
    sentence : str
    checks : tuple of Check
        Broken ones first, then those that cannot be checked.
    uniformity : tuple of Uniformity
    nothing : str
        Why there are no p-values, where there are none.
    """

    sentence: str
    checks: tuple[Check, ...]
    uniformity: tuple[Uniformity, ...] = ()
    nothing: str = ""


@attrs.frozen(kw_only=True)
class Provenance:
    """Section 8.

    Attributes
    ----------
    sentence : str
    command : str
        What gives this report again; empty where it was made in Python.
    study : str
        Text of the study file with everything filled in; empty where there is none.
    rows : tuple of (title, text)
        Data, aggregator, how the sets were made, seed, fingerprint, what was left out.
    versions : tuple of (name, version)
    """

    sentence: str
    command: str
    study: str
    rows: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]


@attrs.frozen(kw_only=True)
class Still:
    """A figure as an image in the page.

    Attributes
    ----------
    section : str
        ``vote``, ``weak`` or ``sizes``: where it stands.
    alt : str
        What it shows, in words.
    source : str
        Its SVG as a ``data:`` address.
    """

    section: str
    alt: str
    source: str
