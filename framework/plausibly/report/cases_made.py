"""Section 6: which examples are shown, and what is said of each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.names import name_texts
from plausibly.errors import counted
from plausibly.evaluation import inputs
from plausibly.evaluation.evaluate import stratum_of
from plausibly.evaluation.groups import in_order
from plausibly.kernels.coverage import row_sums
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools, Floats, Ints
from plausibly.report.answers import said_of
from plausibly.report.cases import HIGHEST, LISTED, MOST, Cases, ScoreColumn
from plausibly.report.numbers import thousandths
from plausibly.report.subject import Subject

BUDGET = 4_300_000
"""Bytes of the examples at most, so that a report stays below 5 MB."""

SURPRISING = 10
"""Examples that are named as surprising, by method and alpha."""

PER_PLAUSIBILITY = "a plausibility, in a set, or among the five highest scores"


@attrs.frozen(kw_only=True, eq=False)
class Outcomes:
    """What the sets of all methods and alphas leave out of every example.

    Attributes
    ----------
    subject : Subject
    severity : ndarray of int, (label,)
        Place of the level of risk; -1 where none is known.
    """

    subject: Subject
    severity: Ints

    @cached_property
    def lam(self) -> NDArray[np.float64]:
        """Plausibilities, (example, label)."""
        return self.subject.plausibilities.values.astype(np.float64)

    @cached_property
    def inside(self) -> list[Bools]:
        """Sets of each view, (example, label)."""
        return [
            method.sets.values[:, :, place]
            for method in self.subject.methods
            for place in range(len(self.subject.alphas))
        ]

    @cached_property
    def missed(self) -> list[NDArray[np.float64]]:
        """Plausibility outside the sets of each view, (example,); nothing is exactly 0."""
        return [row_sums(np.where(inside, 0.0, self.lam)) for inside in self.inside]

    @cached_property
    def keys(self) -> NDArray[np.float64]:
        """A number for each example by its name alone, (example,)."""
        hashes = hash_names(self.subject.predictions[names.EXAMPLE].values)
        uniform: NDArray[np.float64] = Keys(self.subject.seed).child("report").uniform(hashes)[:, 0]
        return uniform

    def most_missed(self, view: int) -> list[int]:
        """Return the examples of which a view leaves out most, most first."""
        missed = self.missed[view]
        order = np.lexsort((self.keys, -missed))[:SURPRISING]
        return [int(row) for row in order if missed[row] > 0]

    def worst_of(self, which: Bools) -> Ints:
        """Return the highest severity among labels, (example,): `which` (example, label)."""
        worst: Ints = np.where(which, self.severity, -1).max(axis=1)
        return worst


def severities(subject: Subject) -> tuple[Ints, list[str]]:
    """Return the severity of each label, -1 where none is known, and the words of its level."""
    labels = name_texts(subject.predictions[names.LABEL].values)
    levels = [subject.risk.get(label) for label in labels]
    there = [at for at, level in enumerate(levels) if level is not None]
    severity = np.full(len(labels), -1, dtype=np.int64)
    if there:
        severity[there] = in_order([levels[at] for at in there], None)[1]
    return severity, ["" if level is None else str(level) for level in levels]


def chosen(outcomes: Outcomes, most: int) -> list[int]:
    """Return the rows of the examples that are shown, in the order of their names.

    Parameters
    ----------
    outcomes : Outcomes
    most : int
        How many are chosen by name alone; those that surprise come on top.
    """
    n = outcomes.subject.n
    if n <= most:
        return list(range(n))
    kept = set(np.argsort(outcomes.keys, kind="stable")[:most].tolist())
    for view in range(len(outcomes.inside)):
        kept.update(outcomes.most_missed(view))
    return sorted(kept)


def cases(outcomes: Outcomes, annotators: Sequence[str], *, budget: int = BUDGET) -> Cases:
    """Return section 6: as many examples as are shown at most, and as fit into a report.

    Parameters
    ----------
    outcomes : Outcomes
    annotators : sequence of str
        What those of the annotation table are called.
    budget : int
        Bytes.
    """
    most = min(MOST, outcomes.subject.n)
    while True:
        found = _cases(outcomes, chosen(outcomes, most), annotators, most)
        size = len(found.to_text().encode("utf-8", "replace"))
        if size <= budget or most <= 1:
            return found
        most = max(1, int(most * min(0.95 * budget / size, 0.95)))


def _cases(outcomes: Outcomes, rows: list[int], annotators: Sequence[str], most: int) -> Cases:
    subject = outcomes.subject
    lam = outcomes.lam[rows]
    inside = [sets[rows] for sets in outcomes.inside]
    first = subject.methods[0].scores[rows]
    listed = [_listed(*each) for each in zip(lam, _any(inside), first, strict=True)]
    labels = lam.shape[1]
    model = _prediction(subject)
    examples = name_texts(subject.predictions[names.EXAMPLE].values)
    mine = [examples[row] for row in rows]

    def bars(values: Floats) -> tuple[tuple[int, ...], ...]:
        scaled = np.array(thousandths(values)).reshape(values.shape)
        return tuple(tuple(row[some].tolist()) for row, some in zip(scaled, listed, strict=True))

    unlisted = tuple(labels - len(some) for some in listed)
    said = said_of(subject, mine)
    return Cases(
        sentence=_sentence(subject, outcomes),
        shown_sentence=_shown(subject, len(rows), most),
        total=subject.n,
        shown=len(rows),
        names=tuple(mine),
        listed=tuple(tuple(some.tolist()) for some in listed),
        unlisted=unlisted,
        unlisted_words=_left(subject, max(map(len, listed))) if any(unlisted) else "",
        plausibility=bars(lam),
        prediction=None if model is None else bars(model[0][rows]),
        prediction_words="" if model is None else model[1],
        scores=_scores(subject, model, rows, bars),
        p=tuple(bars(method.p[rows]) for method in subject.methods),
        sets=tuple(_bits(sets, listed) for sets in inside),
        size=tuple(tuple(sets.sum(axis=1).tolist()) for sets in inside),
        missed=tuple(tuple(thousandths(missed[rows])) for missed in outcomes.missed),
        largest=tuple(thousandths(lam.max(axis=1))),
        stratum=tuple(stratum_of(lam.max(axis=1)).tolist()),
        groups=tuple(
            tuple(
                inputs.codes_of(inputs.example_values(name, (subject.predictions,)))[1][
                    rows
                ].tolist()
            )
            for name in subject.by
        ),
        severity=tuple(outcomes.worst_of(lam > 0).tolist()),
        severity_missed=tuple(
            tuple(outcomes.worst_of((outcomes.lam[rows] > 0) & ~sets).tolist()) for sets in inside
        ),
        said=said.answers,
        annotators=tuple(annotators),
        ranked=said.ranked,
        text=_picked(subject.text, rows),
        thumbnail=_picked(subject.thumbnail, rows),
    )


def _any(inside: Sequence[Bools]) -> Bools:
    """Return which labels are in a set of any view, (example, label)."""
    found: Bools = np.logical_or.reduce(inside)
    return found


def _listed(lam: Floats, inside: Bools, scores: Floats) -> Ints:
    """Return the labels of one example whose bars are shown, ascending."""
    order = np.argsort(-scores, kind="stable")
    wanted = (lam > 0) | inside
    wanted[order[:HIGHEST]] = True
    if wanted.sum() > LISTED:
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        first = np.lexsort((place, -lam, ~wanted))[:LISTED]
        wanted = np.zeros_like(wanted)
        wanted[first] = True
    return np.flatnonzero(wanted)


def _bits(sets: Bools, listed: Sequence[Ints]) -> tuple[int, ...]:
    """Return the sets as numbers: bit j is listed label j."""
    return tuple(
        int((1 << np.flatnonzero(row[some])).sum()) for row, some in zip(sets, listed, strict=True)
    )


def _prediction(subject: Subject) -> tuple[NDArray[np.float64], str] | None:
    """Return what the model says of every label from 0 to 1, and what that is."""
    values = subject.predictions.values.astype(np.float64)
    scale = str(subject.predictions.attrs.get(names.SCALE, "probability"))
    if scale == "logit":
        from scipy.special import softmax

        return softmax(values, axis=1), "the model's probability (softmax of its logits)"
    if scale == "probability":
        return values, "the model's probability"
    if scale == "independent" and values.min() >= 0 and values.max() <= 1:
        return values, "the model's probability of each label on its own"
    return None


def _scores(
    subject: Subject,
    model: tuple[NDArray[np.float64], str] | None,
    rows: list[int],
    bars: Callable[[Floats], tuple[tuple[int, ...], ...]],
) -> tuple[ScoreColumn, ...]:
    """Return the scores of each score function, once."""
    columns = {}
    for method in subject.methods:
        if method.score not in columns:
            same = model is not None and np.allclose(method.scores, model[0], atol=5e-4)
            values = None if same else bars(method.scores[rows])
            columns[method.score] = ScoreColumn(name=method.score, values=values)
    return tuple(columns.values())


def _picked(texts: Sequence[str] | None, rows: list[int]) -> tuple[str, ...] | None:
    return None if texts is None else tuple(texts[row] for row in rows)


def _sentence(subject: Subject, outcomes: Outcomes) -> str:
    words = subject.words
    if subject.n == 1:
        return f"There is one {words.example}."
    return (
        f"{words.examples.capitalize()} where the set leaves out most of what {words.annotators} "
        "said come first."
    )


def _shown(subject: Subject, shown: int, most: int) -> str:
    if shown == subject.n:
        return ""
    fit = "as a report shows at most" if most == MOST else "as fit into a file of 5 MB"
    words = subject.words
    return (
        f"{counted(shown)} of {counted(subject.n)} {words.examples} are shown: {counted(most)}, as "
        f"many {fit}, chosen by a hash of their names (seed {subject.seed}) and so by no result, "
        "and besides those that the sections above name as surprising. All figures are of all "
        f"{words.examples}."
    )


def _left(subject: Subject, longest: int) -> str:
    text = f"Bars show the labels with {PER_PLAUSIBILITY} of a {subject.words.example}"
    if subject.words.example[0].casefold() in "aeiou":
        text = text.replace(" of a ", " of an ")
    if longest == LISTED:
        text += f", {LISTED} at most"
    return f"{text}; of the others only the number is stated."
