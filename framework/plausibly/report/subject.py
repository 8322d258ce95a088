"""The subject of a report: sets of several methods, and what annotators answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import attrs
import numpy as np
import xarray as xr

from plausibly.calibration.alphas import AlphaLike
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names
from plausibly.data.annotations import Rows
from plausibly.data.names import name_texts, positions
from plausibly.guarantee import Guarantee
from plausibly.kernels.coverage import Ties
from plausibly.kernels.types import Floats
from plausibly.report.model import Check, Words
from plausibly.report.options import Options, grouping, pictures, risks, texts

Answer: TypeAlias = tuple[int, tuple[tuple[int, ...], ...], float]
"""Annotator, blocks of labels, and how many gave it."""


def answers_to(subject: Subject, examples: Sequence[str]) -> tuple[tuple[Answer, ...], ...]:
    """Return the answers to some examples: of each the known annotators first, by name."""
    table = subject.annotations
    if table is None:
        return ((),) * len(examples)
    rows = Rows.of(table)
    labels = name_texts(subject.predictions[names.LABEL].values)
    place = positions(labels, name_texts(table.indexes[names.LABEL]))
    wanted = positions(list(examples), name_texts(table.indexes[names.EXAMPLE]))
    who = name_texts(table.indexes[names.ANNOTATOR])
    # The last is where code -1 looks: nobody knows who that was.
    rank = np.append(positions(sorted(who), who), -1)
    found: list[list[Answer]] = [[] for _ in examples]
    ends = np.cumsum(rows.mentions)
    for response in np.flatnonzero(wanted[rows.example] >= 0).tolist():
        mine = slice(int(ends[response] - rows.mentions[response]), int(ends[response]))
        blocks: dict[int, list[int]] = {}
        for label, block in zip(rows.label[mine].tolist(), rows.block[mine].tolist(), strict=True):
            if place[label] >= 0:
                blocks.setdefault(block, []).append(int(place[label]))
        weight = float(rows.weight[response])
        answer = (
            int(rank[rows.annotator[response]]),
            tuple(tuple(sorted(blocks[block])) for block in sorted(blocks)),
            int(weight) if weight.is_integer() else weight,
        )
        found[int(wanted[rows.example[response]])].append(answer)
    known_first = (sorted(each, key=lambda answer: (answer[0] < 0, *answer)) for each in found)
    return tuple(map(tuple, known_first))


@attrs.frozen(kw_only=True, eq=False)
class Tested:
    """A predictor and the examples that it never saw."""

    predictor: ConformalPredictor
    predictions: xr.DataArray


@attrs.frozen(kw_only=True, eq=False)
class MethodSets:
    """The sets of one method, for every example."""

    name: str
    about: str
    reference: bool
    tested: Sequence[Tested]
    sets: xr.DataArray
    p: Floats
    scores: Floats
    score: str
    promises: Sequence[Guarantee]


@attrs.frozen(kw_only=True, eq=False)
class Reported:
    """The data of a report; `groups` are the coordinates whose groups are compared, if named."""

    predictions: xr.DataArray
    plausibilities: xr.DataArray
    annotations: xr.Dataset | None = None
    alphas: Sequence[AlphaLike]
    groups: Sequence[str] | None = None
    cluster: str | None = None
    stratify: str | None = None
    true: str | None = None
    ties: Ties = "first"
    seed: int = 0
    compared: xr.Dataset | None = None


@attrs.frozen(kw_only=True, eq=False)
class Subject(Reported):
    """All that the figures of a report are made of; predictions are (example, label)."""

    methods: Sequence[MethodSets]
    how: str
    checks: Sequence[Check]
    options: Options
    risk: Mapping[str, object] = attrs.field(init=False)
    by: Sequence[str] = attrs.field(init=False)
    text: Sequence[str] | None = attrs.field(init=False)
    thumbnail: Sequence[str] | None = attrs.field(init=False)

    @risk.default
    def _risk(self) -> Mapping[str, object]:
        return risks(self.predictions, self.plausibilities)

    @by.default
    def _by(self) -> Sequence[str]:
        shown = self.options.text, self.options.thumbnail
        known = (self.cluster, self.stratify, self.true, *shown)
        return grouping(self.predictions, self.groups, known)

    @text.default
    def _text(self) -> Sequence[str] | None:
        return texts(self.predictions, self.options)

    @thumbnail.default
    def _thumbnail(self) -> Sequence[str] | None:
        return pictures(self.predictions, self.options)

    @property
    def words(self) -> Words:
        return self.options.words

    @property
    def n(self) -> int:
        return int(self.predictions.sizes[names.EXAMPLE])
