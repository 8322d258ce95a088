"""What of a page depends on method and alpha: plain frozen data."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Interval:
    """A mean with its interval; None where there is none.

    Attributes
    ----------
    mean, low, high : float or None
    """

    mean: float | None
    low: float | None
    high: float | None


@attrs.frozen(kw_only=True)
class Finding:
    """One thing to know before the figures are believed or used.

    Attributes
    ----------
    severity : {"broken", "vacuous", "weak", "kept"}
        In this order of precedence, which is the order in which they come.
    name : str
        Anchor of the finding, such as ``guarantee-vacuous``.
    sentence : str
    part : int or None
        Place in `Weak.parts` that it speaks of.
    """

    severity: str
    name: str
    sentence: str
    part: int | None = None


@attrs.frozen(kw_only=True)
class Promise:
    """The guarantee in full.

    Attributes
    ----------
    statement : str
        ``P(Y in C(X)) >= .90``, or ``no guarantee``.
    level : float or None
        What is promised of what experts say; None where nothing is.
    shown : str
        The level as tables print it: ``.90``, ``.90, vacuous``, ``nothing``.
    rows : tuple of (title, text)
        ``of what``, ``over``, ``if``, ``why``, ``checked``, ``not`` and notes, in reading order.
    """

    statement: str
    level: float | None
    shown: str
    rows: tuple[tuple[str, str], ...]


@attrs.frozen(kw_only=True)
class Verdict:
    """Section 1.

    Attributes
    ----------
    sentence : str
        What was measured beside what is guaranteed; where a guarantee is broken or vacuous, that.
    limits : str
        What it is not about.
    findings : tuple of Finding
        Broken and vacuous ones first.
    guarantee : Promise
    """

    sentence: str
    limits: str
    findings: tuple[Finding, ...]
    guarantee: Promise


@attrs.frozen(kw_only=True)
class Vote:
    """Section 2: votes against everything that was said. The bars are those of all methods.

    Attributes
    ----------
    sentence : str
    aggregated : Interval
        Aggregated coverage.
    voted : tuple of (policy, Interval)
        Coverage of the vote by what counts where it is tied: ``first``, ``fractional``, ``any``,
        ``all``. One pair called ``first`` where no vote is tied.
    true : Interval or None
        Coverage of known labels.
    size : Interval
        Labels in a set.
    share_empty, share_single : float
    """

    sentence: str
    aggregated: Interval
    voted: tuple[tuple[str, Interval], ...]
    true: Interval | None
    size: Interval
    share_empty: float
    share_single: float


@attrs.frozen(kw_only=True)
class Realised:
    """Coverage of single examples in ascending order, each curve sorted on its own.

    Attributes
    ----------
    sentence : str
    share : tuple of float
        Share of the examples up to this place, at most 200 places.
    aggregated, voted, largest : tuple of float
        Aggregated coverage, voted coverage and the largest plausibility at that place.
    """

    sentence: str
    share: tuple[float, ...]
    aggregated: tuple[float, ...]
    voted: tuple[float, ...]
    largest: tuple[float, ...]


@attrs.frozen(kw_only=True)
class Part:
    """Coverage in some of the examples.

    Attributes
    ----------
    kind : {"ambiguity", "group", "crossed"}
        A stratum of the largest plausibility, a value of one coordinate, or of several.
    title : str
        ``site north``, ``site north, sex f``, ``largest plausibility below .5``.
    n : int
    covered, size : Interval
    clear : bool
        Whether the interval ends below what is promised of the average example.
    where : tuple of (column, value)
        Which examples these are: place in `ReportData.groups`, and place in its values.
    stratum : int or None
        Which examples these are, for a stratum: place in `ReportData.strata`.
    """

    kind: str
    title: str
    n: int
    covered: Interval
    size: Interval
    clear: bool
    where: tuple[tuple[int, int], ...] = ()
    stratum: int | None = None


@attrs.frozen(kw_only=True)
class Weak:
    """Section 3.

    Attributes
    ----------
    sentence : str
    level : float or None
        What is promised of the average example, a line through the dots.
    parts : tuple of Part
        Strata, then groups and their crossings, of each kind the weakest first.
    note : str
        What the intervals hold for, and how many groups were too small to be shown.
    nothing : str
        Why there is no group, where there is none; strata are always there.
    """

    sentence: str
    level: float | None
    parts: tuple[Part, ...]
    note: str = ""
    nothing: str = ""


@attrs.frozen(kw_only=True)
class SizeBar:
    """Sets with so many labels.

    Attributes
    ----------
    low, high : int
        Both inside.
    count : int
    covered : Interval
        Aggregated coverage of these sets.
    """

    low: int
    high: int
    count: int
    covered: Interval


@attrs.frozen(kw_only=True)
class Sizes:
    """Section 5.

    Attributes
    ----------
    sentence : str
    bars : tuple of SizeBar
    """

    sentence: str
    bars: tuple[SizeBar, ...]


@attrs.frozen(kw_only=True)
class Surprising:
    """The examples of whose plausibilities the sets leave out most.

    Attributes
    ----------
    sentence : str
    cases : tuple of int
        Places in `Cases`, most first; at most ten, all of which are shown.
    """

    sentence: str
    cases: tuple[int, ...]


@attrs.frozen(kw_only=True)
class Splits:
    """What repeated random splits covered, in a study.

    Attributes
    ----------
    sentence : str
    aggregated : tuple of float
        Aggregated coverage of each split, in their order.
    mean, spread : float or None
    """

    sentence: str
    aggregated: tuple[float, ...]
    mean: float
    spread: float | None


@attrs.frozen(kw_only=True)
class View:
    """All that depends on method and alpha: `ReportData.views` at ``method * alphas + alpha``.

    Attributes
    ----------
    method, alpha : int
    verdict, vote, realised, weak, sizes, surprising
    splits : Splits or None
    """

    method: int
    alpha: int
    verdict: Verdict
    vote: Vote
    realised: Realised
    weak: Weak
    sizes: Sizes
    surprising: Surprising
    splits: Splits | None = None
