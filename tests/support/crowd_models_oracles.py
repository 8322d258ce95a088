"""The crowd models' equations with loops and products, as a person would with pen and paper.

Nothing of the product is used, and no logarithm: with whole response weights everything is a
fraction, exact to the end. Their digits double in each round: from the third on floats are taken
instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import attrs

Votes = Sequence[tuple[str, str, str, int]]
"""Example, annotator, label, how many times."""

Shares = dict[str, dict[str, Fraction]]
"""By example, then label."""

Chances = dict[tuple[str, str], Fraction]
"""By true label and said label, of one annotator."""


def shares(
    votes: Votes, labels: Sequence[str], worth: Mapping[str, Fraction] | None = None
) -> Shares:
    """Weight of those who say a label / weight of all."""
    found: Shares = {}
    for example, annotator, label, times in votes:
        row = found.setdefault(example, dict.fromkeys(labels, Fraction(0)))
        row[label] += times * (1 if worth is None else worth[annotator])
    return {e: {k: v / sum(row.values()) for k, v in row.items()} for e, row in found.items()}


def agreement(votes: Votes, labels: Sequence[str]) -> dict[str, Fraction]:
    """Share of an annotator's responses that say a label with the most votes, 1/L where L tie."""
    counts = shares(votes, labels)
    right: dict[str, Fraction] = {}
    total: dict[str, int] = {}
    for example, annotator, label, times in votes:
        most = max(counts[example].values())
        top = [k for k, v in counts[example].items() if v == most]
        right[annotator] = right.get(annotator, Fraction(0))
        right[annotator] += Fraction(times, len(top)) if label in top else 0
        total[annotator] = total.get(annotator, 0) + times
    return {q: right[q] / total[q] for q in total}


@attrs.frozen(kw_only=True)
class Step:
    """One round: chances of annotators, and the plausibilities that they give."""

    chance: dict[tuple[str, str, str], Fraction]  # annotator, true label, said label
    shares: Shares


_EXACT_ROUNDS = 2


def _steps(
    votes: Votes,
    labels: Sequence[str],
    rounds: int,
    label_smoothing: Fraction,
    maximise: Callable[[Votes, Shares], Chances],
) -> list[Step]:
    """Return the rounds from label frequency on; `maximise` is of the votes of one annotator."""
    lam = shares(votes, labels)
    if rounds > _EXACT_ROUNDS:  # floats count like fractions, but for rounding
        lam = {e: {k: float(v) for k, v in row.items()} for e, row in lam.items()}  # type: ignore[misc]  # mypy takes the rows for numbers
    steps: list[Step] = []
    for _ in range(rounds):
        size = len(lam) + len(labels) * label_smoothing
        p = {k: (sum(row[k] for row in lam.values()) + label_smoothing) / size for k in labels}
        joint: Shares = {}
        chance: dict[tuple[str, str, str], Fraction] = {}
        for q in sorted({annotator for _, annotator, _, _ in votes}):
            own = maximise([vote for vote in votes if vote[1] == q], lam)
            chance |= {(q, *pair): value for pair, value in own.items()}
        for example, annotator, label, times in votes:
            row = joint.setdefault(example, dict(p))
            for k in labels:
                row[k] *= chance[annotator, k, label] ** times
        lam = {e: {k: v / sum(row.values()) for k, v in row.items()} for e, row in joint.items()}
        steps.append(Step(chance=chance, shares=lam))
    return steps


def dawid_skene(
    votes: Votes,
    labels: Sequence[str],
    *,
    rounds: int,
    smoothing: Fraction = Fraction(0),
    diagonal: Fraction = Fraction(0),
    label_smoothing: Fraction = Fraction(0),
) -> list[Step]:
    """Confusion matrices, from label frequency on."""

    def maximise(own: Votes, lam: Shares) -> Chances:
        chance: Chances = {}
        for k in labels:
            counts = {answer: smoothing + (diagonal if k == answer else 0) for answer in labels}
            for example, _, label, times in own:
                counts[label] += times * lam[example][k]
            total = sum(counts.values(), Fraction(0))
            for answer in labels:
                chance[k, answer] = counts[answer] / total if total else Fraction(1, len(labels))
        return chance

    return _steps(votes, labels, rounds, label_smoothing, maximise)


def one_coin(
    votes: Votes,
    labels: Sequence[str],
    *,
    rounds: int,
    right: Fraction = Fraction(0),
    wrong: Fraction = Fraction(0),
    label_smoothing: Fraction = Fraction(0),
) -> list[Step]:
    """One chance to be right an annotator, from label frequency on."""

    def maximise(own: Votes, lam: Shares) -> Chances:
        good = sum((times * lam[e][label] for e, _, label, times in own), Fraction(0)) + right
        coin = good / (sum(times for *_, times in own) + right + wrong)
        missed = (1 - coin) / max(1, len(labels) - 1)
        return {(k, other): coin if k == other else missed for k in labels for other in labels}

    return _steps(votes, labels, rounds, label_smoothing, maximise)
