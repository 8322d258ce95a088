"""The crowd models' equations with loops and products, as a person would with pen and paper.

Nothing of the product is used, and no logarithm but in the objective: with whole response weights
everything is a fraction, exact to the end. Their digits double in each round: from the third on
floats are taken instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import attrs

Votes = Sequence[tuple[str, str, str, int]]
"""Example, annotator, label, how many times."""

Shares = dict[str, dict[str, Fraction]]
"""By example, then label."""


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


def _start(votes: Votes, labels: Sequence[str], rounds: int) -> Shares:
    found = shares(votes, labels)
    if rounds <= _EXACT_ROUNDS:
        return found
    # Floats count like fractions, but for rounding.
    return {e: {k: float(v) for k, v in row.items()} for e, row in found.items()}  # type: ignore[misc]  # mypy takes the rows for numbers


def _prior(pairs: Iterable[tuple[Fraction, Fraction]]) -> float:
    return sum(float(weight) * _log(chance) for weight, chance in pairs if weight)


def _expect(
    votes: Votes,
    labels: Sequence[str],
    prevalence: dict[str, Fraction],
    chance: dict[tuple[str, str, str], Fraction],
    prior: float,
) -> Step:
    joint: Shares = {}
    for example, annotator, label, times in votes:
        row = joint.setdefault(example, dict(prevalence))
        for k in labels:
            row[k] *= chance[annotator, k, label] ** times
    objective = prior + sum(_log(sum(row.values(), Fraction(0))) for row in joint.values())
    found = {e: {k: v / sum(row.values()) for k, v in row.items()} for e, row in joint.items()}
    return Step(prevalence=prevalence, chance=chance, shares=found, objective=objective)


def _prevalence(
    lam: Shares, labels: Sequence[str], smoothing: Fraction
) -> tuple[dict[str, Fraction], float]:
    size = len(lam) + len(labels) * smoothing
    found = {k: (sum(row[k] for row in lam.values()) + smoothing) / size for k in labels}
    return found, _prior((smoothing, value) for value in found.values())


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
    lam = _start(votes, labels, rounds)
    annotators = sorted({annotator for _, annotator, _, _ in votes})
    steps: list[Step] = []
    for _ in range(rounds):
        p, prior = _prevalence(lam, labels, label_smoothing)
        chance: dict[tuple[str, str, str], Fraction] = {}
        pseudo: list[tuple[Fraction, Fraction]] = []
        for q in annotators:
            for k in labels:
                before = {said: smoothing + (diagonal if k == said else 0) for said in labels}
                counts = dict(before)
                for example, annotator, label, times in votes:
                    if annotator == q:
                        counts[label] += times * lam[example][k]
                total = sum(counts.values(), Fraction(0))
                for said in labels:
                    chance[q, k, said] = counts[said] / total if total else Fraction(1, len(labels))
                    pseudo.append((before[said], chance[q, k, said]))
        steps.append(_expect(votes, labels, p, chance, prior + _prior(pseudo)))
        lam = steps[-1].shares
    return steps


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
    lam = _start(votes, labels, rounds)
    annotators = sorted({annotator for _, annotator, _, _ in votes})
    steps: list[Step] = []
    for _ in range(rounds):
        p, prior = _prevalence(lam, labels, label_smoothing)
        chance: dict[tuple[str, str, str], Fraction] = {}
        pseudo: list[tuple[Fraction, Fraction]] = []
        for q in annotators:
            own = [(e, label, times) for e, annotator, label, times in votes if annotator == q]
            good = sum((times * lam[e][label] for e, label, times in own), Fraction(0)) + right
            coin = good / (sum(times for _, _, times in own) + right + wrong)
            pseudo += [(right, coin), (wrong, 1 - coin)]
            for k in labels:
                for said in labels:
                    chance[q, k, said] = coin if k == said else (1 - coin) / (len(labels) - 1)
        steps.append(_expect(votes, labels, p, chance, prior + _prior(pseudo)))
        lam = steps[-1].shares
    return steps
