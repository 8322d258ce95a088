"""The crowd models' equations with loops and products, as a person would with pen and paper.

Nothing of the product is used, and no logarithm but in the objective: with whole response weights
everything is a fraction, exact to the end. Their digits double in each round: from the third on
floats are taken instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

import attrs

Votes = Sequence[tuple[str, str, str, int]]
"""Example, annotator, label, how many times."""

Shares = dict[str, dict[str, Fraction]]
"""By example, then label."""

Chances = dict[tuple[str, str], Fraction]
"""By true label and said label, of one annotator."""

Pseudo = tuple[Fraction, Fraction]
"""The weight of a prior, and the chance that it is about."""


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
    """One round: parameters, what they give, and how well they fit."""

    prevalence: dict[str, Fraction]
    chance: dict[tuple[str, str, str], Fraction]  # annotator, true label, said label
    shares: Shares
    objective: float


_EXACT_ROUNDS = 2


def _log(value: Fraction) -> float:
    numerator, denominator = value.as_integer_ratio()  # of a float, too
    return math.log(numerator) - math.log(denominator)


def _prior(pairs: Iterable[Pseudo]) -> float:
    return sum(float(weight) * _log(chance) for weight, chance in pairs if weight)


def _steps(
    votes: Votes,
    labels: Sequence[str],
    rounds: int,
    label_smoothing: Fraction,
    maximise: Callable[[Votes, Shares], tuple[Chances, list[Pseudo]]],
) -> list[Step]:
    """Return the rounds from label frequency on; `maximise` is of the votes of one annotator."""
    lam = shares(votes, labels)
    if rounds > _EXACT_ROUNDS:  # floats count like fractions, but for rounding
        lam = {e: {k: float(v) for k, v in row.items()} for e, row in lam.items()}  # type: ignore[misc]  # mypy takes the rows for numbers
    steps: list[Step] = []
    for _ in range(rounds):
        size = len(lam) + len(labels) * label_smoothing
        p = {k: (sum(row[k] for row in lam.values()) + label_smoothing) / size for k in labels}
        objective = _prior((label_smoothing, value) for value in p.values())
        joint: Shares = {}
        chance: dict[tuple[str, str, str], Fraction] = {}
        for q in sorted({annotator for _, annotator, _, _ in votes}):
            own, pseudo = maximise([vote for vote in votes if vote[1] == q], lam)
            objective += _prior(pseudo)
            chance |= {(q, *pair): value for pair, value in own.items()}
        for example, annotator, label, times in votes:
            row = joint.setdefault(example, dict(p))
            for k in labels:
                row[k] *= chance[annotator, k, label] ** times
        objective += sum(_log(sum(row.values(), Fraction(0))) for row in joint.values())
        lam = {e: {k: v / sum(row.values()) for k, v in row.items()} for e, row in joint.items()}
        steps.append(Step(prevalence=p, chance=chance, shares=lam, objective=objective))
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

    def maximise(own: Votes, lam: Shares) -> tuple[Chances, list[Pseudo]]:
        chance: Chances = {}
        pseudo: list[Pseudo] = []
        for k in labels:
            before = {said: smoothing + (diagonal if k == said else 0) for said in labels}
            counts = dict(before)
            for example, _, label, times in own:
                counts[label] += times * lam[example][k]
            total = sum(counts.values(), Fraction(0))
            for said in labels:
                chance[k, said] = counts[said] / total if total else Fraction(1, len(labels))
                pseudo.append((before[said], chance[k, said]))
        return chance, pseudo

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

    def maximise(own: Votes, lam: Shares) -> tuple[Chances, list[Pseudo]]:
        good = sum((times * lam[e][label] for e, _, label, times in own), Fraction(0)) + right
        coin = good / (sum(times for *_, times in own) + right + wrong)
        missed = (1 - coin) / max(1, len(labels) - 1)
        chance = {(k, said): coin if k == said else missed for k in labels for said in labels}
        return chance, [(right, coin), (wrong, 1 - coin)]

    return _steps(votes, labels, rounds, label_smoothing, maximise)
