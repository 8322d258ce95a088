"""The examples that a report shows, column by column: what the model, the experts and the sets say.

A case is the example at one place of every column. What is said of its labels stands in the order
of its own `Cases.listed`: labels with a plausibility, in a set, or among the five highest scores.
"""

from __future__ import annotations

import json

import attrs

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
