"""The data that the page of a report shows, as plain frozen classes and JSON."""

from __future__ import annotations

import json
import math
from typing import cast

import attrs

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


MOST = 10_000
"""Examples that a report shows at most."""

LISTED = 30
"""Labels of one example that a report shows at most: as many bits as a set has in a report."""

HIGHEST = 5
"""Labels with the highest scores, which are shown in any case."""


@attrs.frozen(kw_only=True)
class ScoreColumn:
    """The scores of one score function, by which methods rank labels.

    Attributes
    ----------
    name : str
        Of the score function, with its parameters.
    values : tuple of tuple of int, or None
        Thousandths, by case and listed label; None where scores are the predictions.
    """

    name: str
    values: tuple[tuple[int, ...], ...] | None


@attrs.frozen(kw_only=True)
class Cases:
    """Section 6.

    Attributes
    ----------
    sentence : str
    shown_sentence : str
        Which examples are shown, where these are not all: chosen by their names, not by result.
    total, shown : int
    names : tuple of str
    listed : tuple of tuple of int
        Labels of the case whose bars are shown, in label order.
    unlisted : tuple of int
        Labels of the case whose bars are left out.
    unlisted_words : str
        Which labels are left out, empty where none is.
    plausibility : tuple of tuple of int
        Thousandths, by case and listed label.
    prediction : tuple of tuple of int, or None
        Thousandths; None where predictions are on no scale from 0 to 1.
    prediction_words : str
        What they are: ``the model's probability``.
    scores : tuple of ScoreColumn
    p : tuple by method of tuple by case of tuple of int
        Thousandths, by listed label.
    sets : tuple by view of tuple of int, (case,)
        Bit j is set where listed label j is in the set; views as in `ReportData.views`.
    size : tuple by view of tuple of int, (case,)
        Labels in the set, also those that are not listed.
    missed : tuple by view of tuple of int, (case,)
        Thousandths of the plausibilities that are outside the set.
    largest : tuple of int
        Thousandths: the largest plausibility. Ambiguity is 1000 less this.
    stratum : tuple of int
        Place in `ReportData.strata`.
    groups : tuple by column of tuple of int, (case,)
        Place in the values of the column of `ReportData.groups`.
    severity : tuple of int
        The highest severity among labels with a plausibility, -1 where none is known.
    severity_missed : tuple by view of tuple of int, (case,)
        The highest among those that the set leaves out, -1 where there is none.
    said : tuple of tuple of answers, by case
        Each answer is ``(annotator, blocks, weight)``: place in `annotators` or -1 where it is
        unknown who; blocks of labels, the most plausible first: one block of one label for single
        labels, one block for a set of labels, several for a ranking, none for an empty answer; and
        how many gave this answer.
    annotators : tuple of str
    ranked : bool
        Whether blocks are ranks.
    text : tuple of str, or None
        A text an example, at most 500 characters.
    thumbnail : tuple of str, or None
        ``data:`` addresses of pictures, empty where an example has none.
    """

    sentence: str
    shown_sentence: str
    total: int
    shown: int
    names: tuple[str, ...]
    listed: tuple[tuple[int, ...], ...]
    unlisted: tuple[int, ...]
    unlisted_words: str
    plausibility: tuple[tuple[int, ...], ...]
    prediction: tuple[tuple[int, ...], ...] | None
    prediction_words: str
    scores: tuple[ScoreColumn, ...]
    p: tuple[tuple[tuple[int, ...], ...], ...]
    sets: tuple[tuple[int, ...], ...]
    size: tuple[tuple[int, ...], ...]
    missed: tuple[tuple[int, ...], ...]
    largest: tuple[int, ...]
    stratum: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    severity: tuple[int, ...]
    severity_missed: tuple[tuple[int, ...], ...]
    said: tuple[tuple[tuple[int, tuple[tuple[int, ...], ...], float], ...], ...]
    annotators: tuple[str, ...]
    ranked: bool
    text: tuple[str, ...] | None = None
    thumbnail: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, object]:
        """Return plain data: objects by the names of attributes."""
        scores = [attrs.asdict(column, recurse=False) for column in self.scores]
        return attrs.asdict(self, recurse=False) | {"scores": scores}

    def to_text(self) -> str:
        """Return the JSON text, as short as it can be."""
        return json.dumps(self.to_json(), ensure_ascii=False, separators=(",", ":"))


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


FORMAT = 1

_ESCAPES = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


@attrs.frozen(kw_only=True)
class Words:
    """What things are called, in the singular and in the plural.

    Attributes
    ----------
    example, examples, annotator, annotators : str
        ``example``, unless whoever writes the report says ``nodule``, and so on.
    """

    example: str = "example"
    examples: str = "examples"
    annotator: str = "annotator"
    annotators: str = "annotators"


@attrs.frozen(kw_only=True)
class Label:
    """A label, named as in the data.

    Attributes
    ----------
    name : str
    risk : str
        Its level of risk in words, empty where none was said.
    severity : int
        Place of that level among all levels, the least is 0; -1 where none was said.
    """

    name: str
    risk: str = ""
    severity: int = -1


@attrs.frozen(kw_only=True)
class Method:
    """A calibration that made sets.

    Attributes
    ----------
    name : str
    about : str
        Its components: ``monte-carlo (draws 10), combiner average, score probability``.
    score : int
        Column of `Cases.scores` with its scores.
    reference : bool
        True for the calibration on votes that was added for comparison, and asked for by nobody.
    """

    name: str
    about: str
    score: int = 0
    reference: bool = False


@attrs.frozen(kw_only=True)
class GroupColumn:
    """A coordinate of the examples with few values.

    Attributes
    ----------
    name : str
    values : tuple of str
    """

    name: str
    values: tuple[str, ...]


@attrs.frozen(kw_only=True)
class ReportData:
    """All that a report shows.

    Attributes
    ----------
    title, subtitle : str
        The subtitle counts examples, labels and annotators.
    words : Words
    labels : tuple of Label
    methods : tuple of Method
        The first is shown first; the reference, if any, comes last.
    alphas : tuple of str
        As they were typed.
    groups : tuple of GroupColumn
    strata : tuple of str
        Of the largest plausibility.
    views : tuple of View
        By method, then by alpha.
    disagreement : Disagreement
    cases : Cases
        Section 6.
    believe : Believe
    provenance : Provenance
    stills : tuple of Still
        Figures that stand in the page itself, not in the data.
    """

    title: str
    subtitle: str
    words: Words
    labels: tuple[Label, ...]
    methods: tuple[Method, ...]
    alphas: tuple[str, ...]
    groups: tuple[GroupColumn, ...]
    strata: tuple[str, ...]
    views: tuple[View, ...]
    disagreement: Disagreement
    cases: Cases
    believe: Believe
    provenance: Provenance
    stills: tuple[Still, ...] = ()

    def view(self, method: int, alpha: int) -> View:
        """Return what depends on method and alpha."""
        return self.views[method * len(self.alphas) + alpha]

    def to_json(self) -> dict[str, object]:
        """Return plain data: objects by the names of attributes, None for what does not exist."""
        found = _plain(attrs.evolve(self, stills=()))
        if not isinstance(found, dict):
            return {}
        del found["stills"]
        return {"format": FORMAT, **found}

    def to_text(self) -> str:
        """Return the JSON text, as short as it can be, the same for the same data.

        Nothing in it ends a script element or a line of one: these characters are escapes.
        """
        text = json.dumps(
            self.to_json(), ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )
        return text.translate(_ESCAPES)


def _plain(value: object) -> object:
    """Return what JSON holds; numbers keep five decimals."""
    if isinstance(value, float):
        return round(value, 5) if math.isfinite(value) else None
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, Cases):  # no floats but weights, and a hundred thousand times as much
        return value.to_json()
    if attrs.has(type(value)):
        names = [
            field.name for field in attrs.fields(cast("type[attrs.AttrsInstance]", type(value)))
        ]
        return {name: _plain(getattr(value, name)) for name in names}
    return value
