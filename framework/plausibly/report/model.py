"""The data that the page of a report shows, as plain frozen classes and JSON."""

from __future__ import annotations

import json
import math
from functools import partial
from typing import cast

import attrs

HELD, BROKEN, UNCHECKED = "held", "broken", "cannot be checked"


@attrs.frozen
class Measure:
    name: str
    title: str
    value: Interval
    reason: str = ""


@attrs.frozen(kw_only=True)
class AnnotatorRow:
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


@attrs.frozen
class Cell:
    a: int
    b: int
    pairs: float
    examples: int


@attrs.frozen(kw_only=True)
class Disagreement:
    sentence: str
    measures: tuple[Measure, ...] = ()
    annotators: tuple[AnnotatorRow, ...] = ()
    likeness: str = ""
    who: str = ""
    labels: tuple[int, ...] = ()
    cells: tuple[Cell, ...] = ()
    note: str = ""
    nothing: str = ""


@attrs.frozen
class Check:
    name: str
    title: str
    state: str
    words: str


@attrs.frozen(kw_only=True)
class Uniformity:
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
    sentence: str
    checks: tuple[Check, ...]
    uniformity: tuple[Uniformity, ...] = ()
    nothing: str = ""


@attrs.frozen(kw_only=True)
class Provenance:
    sentence: str
    command: str
    study: str
    rows: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]


@attrs.frozen
class Still:
    section: str
    alt: str
    source: str


@attrs.frozen
class ScoreColumn:
    """The scores of one score function, by which methods rank labels."""

    name: str
    values: tuple[tuple[int, ...], ...] | None


@attrs.frozen(kw_only=True)
class Cases:
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

    def to_text(self) -> str:
        return _text(self)


@attrs.frozen
class Interval:
    """A mean with its interval; None where there is none."""

    mean: float | None
    low: float | None
    high: float | None


@attrs.frozen
class Finding:
    severity: str
    name: str
    sentence: str
    part: int | None = None


@attrs.frozen
class Promise:
    statement: str
    level: float | None
    shown: str
    rows: tuple[tuple[str, str], ...]


@attrs.frozen(kw_only=True)
class Verdict:
    sentence: str
    limits: str
    findings: tuple[Finding, ...]
    guarantee: Promise


@attrs.frozen(kw_only=True)
class Vote:
    sentence: str
    aggregated: Interval
    voted: tuple[tuple[str, Interval], ...]
    true: Interval | None
    size: Interval
    share_empty: float
    share_single: float


@attrs.frozen(kw_only=True)
class Realised:
    """Coverage of single examples in ascending order, each curve sorted on its own."""

    sentence: str
    share: tuple[float, ...]
    aggregated: tuple[float, ...]
    voted: tuple[float, ...]
    largest: tuple[float, ...]


@attrs.frozen(kw_only=True)
class Part:
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
    sentence: str
    level: float | None
    parts: tuple[Part, ...]
    note: str = ""
    nothing: str = ""


@attrs.frozen
class SizeBar:
    low: int
    high: int
    count: int
    covered: Interval


@attrs.frozen
class Sizes:
    sentence: str
    bars: tuple[SizeBar, ...]


@attrs.frozen
class Surprising:
    """The examples of whose plausibilities the sets leave out most."""

    sentence: str
    cases: tuple[int, ...]


@attrs.frozen(kw_only=True)
class Splits:
    sentence: str
    aggregated: tuple[float, ...]
    mean: float
    spread: float | None


@attrs.frozen(kw_only=True)
class View:
    """All that depends on method and alpha: `ReportData.views` at ``method * alphas + alpha``."""

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
    example: str = "example"
    examples: str = "examples"
    annotator: str = "annotator"
    annotators: str = "annotators"


@attrs.frozen
class Label:
    name: str
    risk: str = ""
    severity: int = -1


@attrs.frozen
class Method:
    name: str
    about: str
    score: int = 0
    reference: bool = False


@attrs.frozen
class GroupColumn:
    name: str
    values: tuple[str, ...]


@attrs.frozen(kw_only=True)
class ReportData:
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
        return self.views[method * len(self.alphas) + alpha]

    def to_text(self) -> str:
        """Return the JSON text, the same for the same data; nothing in it ends a script."""
        parts = attrs.asdict(self, recurse=False)
        del parts["stills"]
        whole = {name: _plain(part) for name, part in parts.items()}
        return _text({"format": FORMAT, **whole}).translate(_ESCAPES)


def _text(data: object) -> str:
    """Return JSON, as short as it can be."""
    as_dict = partial(attrs.asdict, recurse=False)
    return json.dumps(
        data, default=as_dict, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )


def _plain(value: object) -> object:
    """Return data whose numbers keep five decimals."""
    if isinstance(value, float):
        return round(value, 5) if math.isfinite(value) else None
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    # Cases have no floats but weights, and a hundred thousand times as much.
    if attrs.has(type(value)) and not isinstance(value, Cases):
        parts = attrs.asdict(cast("attrs.AttrsInstance", value), recurse=False)
        return {name: _plain(part) for name, part in parts.items()}
    return value
