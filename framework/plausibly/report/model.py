"""What the page of a report shows: plain frozen data, and the JSON that the page reads.

Sections 1, 2, 3 and 5 are in `views`, section 6 in `cases`, sections 4, 7 and 8 in `facts`. Each
has its first sentence in words, and says in words where it has nothing to show.

Every list of texts is named once and then pointed into by position: labels, methods, alphas,
columns of groups, annotators. Shares, p-values and predictions of single examples are whole
thousandths, so that ten thousand examples stay small; all other numbers are plain.
"""

from __future__ import annotations

import json
import math
from typing import cast

import attrs

from plausibly.report.cases import Cases
from plausibly.report.facts import Believe, Disagreement, Provenance, Still
from plausibly.report.views import View

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
