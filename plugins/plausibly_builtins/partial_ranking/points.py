"""Partial rankings, and plausibilities from ranks: inverse ranks, Borda points, draws."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import (
    Aggregator,
    Annotation,
    AnnotationTable,
    Answer,
    AnswerRefused,
    Bools,
    Floats,
    Ints,
    Keys,
    Record,
    Rows,
    an,
    check_responses,
    label_text,
    names,
    refuse_responses,
    table_from_records,
)
from plausibly_builtins.aggregation import Shares, Terms
from plausibly_builtins.rankings import Ranked, Unmentioned, dirichlet

_GAP = "a label in every rank: the numbers of the ranks are the weights"


@attrs.frozen(kw_only=True)
class PartialRanking(Annotation):
    """A list of rank blocks, the best first.

    An answer is a list whose entries are blocks: a label, or a list of labels that share the rank.
    ``[["eczema", "psoriasis"], "tinea"]`` ranks two labels first and one second. Labels that are
    not listed are excluded. None, empty text and the empty list are a skip: a response without
    mention.
    """

    name: ClassVar[str] = "partial-ranking"

    def build(self, records: Iterable[Record], labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table of ``(example, annotator, blocks)`` records."""
        return table_from_records(self.name, records, labels, _mentions, blocks=True)

    def validate(self, table: xr.Dataset) -> None:
        """Refuse repeated labels, empty ranks, and annotators who answer twice."""
        rows = check_responses(table, self.name, labels_once=True)
        # blocks rise within a response: each starts at 1, or is one after, or at, the one before
        starts = _begins(rows.response)
        before = np.where(starts, 0, np.roll(rows.block, 1))
        refuse_responses(
            rows,
            rows.with_mentions((rows.block - before > 1) | (starts & (rows.block != 1))),
            "ranking-gap",
            "leaves a rank empty",
            expected=_GAP,
            hint="close the gap, or drop the ranking",
        )


def _mentions(answer: object) -> Answer:
    if answer is None or answer == "":
        return ()
    if not isinstance(answer, (list, tuple)):
        raise AnswerRefused(
            "answer-invalid",
            f"gives {an(type(answer).__name__)}",
            expected='a list of blocks, such as [["eczema", "psoriasis"], "tinea"]',
            found=repr(answer),
            hint="split it into blocks, best first",
        )
    ranks: dict[str, int] = {}
    for rank, block in enumerate(answer, start=1):
        block = [block] if label_text(block) is not None else block
        labels = list(block) if isinstance(block, (list, tuple, set, frozenset)) else [None]
        texts = [name for label in labels if (name := label_text(label))]
        if not labels or labels == [""]:
            raise AnswerRefused(
                "ranking-gap",
                f"leaves rank {rank} empty",
                expected=_GAP,
                hint="close the gap, or drop the ranking",
            )
        if len(texts) < len(labels):
            raise AnswerRefused(
                "answer-invalid",
                f"has no label at a place in rank {rank}",
                expected="a label, or a list of labels",
                found=repr(block),
                hint="fix or drop it",
            )
        for label in texts:
            if label in ranks:
                raise AnswerRefused(
                    "ranking-repeats",
                    f'ranks "{label}" twice',
                    expected="each label once",
                    found=f"ranks {ranks[label]} and {rank}",
                    hint="fix or drop it",
                )
            ranks[label] = rank
    return tuple((label, rank, 1.0) for label, rank in ranks.items())


@attrs.frozen(kw_only=True)
class InverseRank(Shares):
    """Plausibility of a label = the sum of its inverse ranks, normalised.

    ``alpha_iy = sum_b w_b sum_r 1[y in block r of ranking b] / (r |block r|)`` over the partial
    rankings b of example i, w_b their `response_weight`; ``lambda_iy = alpha_iy / sum_k alpha_ik``.
    Blocks count from 1; labels that are not ranked get nothing.

    A block shares its weight: ``{a, b, c} > d`` gives a, b and c 2/9 each, d 1/3. Values are the
    exact ones, rounded once, up to rankings of about thirty labels.

    References
    ----------
    Stutz et al., *Conformal prediction under ambiguous ground truth*, TMLR 2023, inverse rank
    normalisation. The code published with the paper leaves out ``|block|``; the paper has it.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"partial-ranking", "single-label"})

    def _terms(self, rows: Rows) -> Terms:
        divisor = rows.block.astype(np.int64) * _blocks(rows)[1]
        weight = rows.weight[rows.response]
        unit = math.lcm(*np.unique(divisor).tolist())
        terms = weight / divisor
        if unit < 2**53 and _whole(units := weight * (unit // divisor)):
            terms = units
        return terms, rows.by_example(terms), None


@attrs.frozen(kw_only=True)
class Borda(Shares):
    """Plausibility of a label = its points, summed over the rankings and normalised.

    ``alpha_iy = sum_b w_b (m_b + 1 - place_b(y))`` over the partial rankings b of example i that
    name y, w_b their `response_weight`; ``lambda_iy = alpha_iy / sum_k alpha_ik``. The first place
    is 1. Labels that are tied share their places: a block after c labels has places c + 1 to
    c + |B|, and each of it the mean of them.

    m_b is how many labels there are places for: where `unlisted` of the table is ``excluded``, the
    number of labels that any response of the example names; where it is ``unknown``, the number
    that b itself names (the modified Borda count).

    References
    ----------
    Emerson, The original Borda count and partial voting, Social Choice and Welfare 40 (2013),
    353-358. Ties: Black, Partial justification of the Borda count, Public Choice 28 (1976), 1-15.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"partial-ranking", "single-label"})

    def _terms(self, rows: Rows) -> Terms:
        # In halves of a point: a mean of places may be one.
        if rows.table.attrs[names.UNLISTED] == "excluded":
            # How many labels the responses that count name, by example.
            counts = rows.weight[rows.response] > 0
            example = rows.example[rows.response].astype(np.int64)
            once = np.unique(example[counts] * rows.labels + rows.label[counts])
            named = np.bincount(once // max(rows.labels, 1), minlength=rows.n)
            places: Ints = named[example]
        else:
            places = rows.mentions[rows.response]
        before, size = _blocks(rows)
        halves = rows.weight[rows.response] * (2 * (places - before) + 1 - size)
        total = rows.by_example(halves)
        return halves, total, total.astype(np.int64) if _whole(halves) else None


def _begins(values: Ints) -> Bools:
    """Return where values differ from the one before: (mention,)."""
    changed: Bools = np.diff(values, prepend=-1) != 0
    return changed


def _blocks(rows: Rows) -> tuple[Ints, Ints]:
    """Return how many labels stand before the block of each mention, and in it: (mention,)."""
    at, begins = np.arange(rows.response.size), _begins(rows.response)
    new_block = begins | _begins(rows.block)
    block = np.cumsum(new_block) - 1
    before = at[new_block][block] - at[begins][np.cumsum(begins) - 1]
    return before, np.bincount(block)[block]


def _whole(terms: Floats) -> bool:
    """Return whether terms are whole numbers whose sums a float64 holds exactly."""
    return bool((terms == np.rint(terms)).all() and float(np.abs(terms).sum()) < 2.0**53)


@attrs.frozen(kw_only=True)
class Dirichlet(Aggregator):
    """Plausibilities drawn around the inverse ranks, each draw from a Dirichlet distribution.

    ``lambda_i^j ~ Dirichlet(temperature mu_i + prior)`` with mu_i the plausibilities of
    `inverse-rank`, whatever the number of rankings. Draws are keyed by the names of the examples.

    Attributes
    ----------
    draws : int
        How many.
    temperature : float
        How many votes the answers are worth, more than 0: draws are close to mu where it is large.
    prior : float
        Added for each label that takes part. With 0 (default), labels of inverse rank 0 get none.
    unmentioned : {"nothing", "together", "each"}
        Labels that no response of the example names get nothing (default); or `prior` for all of
        them, shared equally; or `prior` for each, as published.

    References
    ----------
    Stutz et al., Evaluating AI systems under uncertain ground truth: a case study in dermatology,
    arXiv 2307.02191, probabilistic inverse rank normalisation.
    """

    accepts: ClassVar[frozenset[str]] = InverseRank.accepts

    draws: int = attrs.field(default=10, validator=attrs.validators.ge(1))
    temperature: float = attrs.field(default=10.0, validator=attrs.validators.gt(0.0))
    prior: float = attrs.field(default=0.0, validator=attrs.validators.ge(0.0))
    unmentioned: Unmentioned = "nothing"

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        ranked = Ranked.of(annotations, self.accepts, self.unmentioned if self.prior else "nothing")
        around = InverseRank().aggregate(annotations, keys).values
        shape = np.concatenate(
            [
                np.append(around[i, list(example.labels)], [0.0] * bool(example.rest))
                * self.temperature
                + ranked.prior(example, self.prior)
                for i, example in enumerate(ranked.examples)
            ]
            or [np.zeros(0)]
        )
        size = np.array([example.size for example in ranked.examples], np.intp)
        draws = [
            dirichlet(shape, size, keys.child(f"dirichlet-{draw}"), ranked.rows.hashes)
            for draw in range(1, self.draws + 1)
        ]
        return ranked.drawn(draws, self.prior, keys.child("dirichlet"))
