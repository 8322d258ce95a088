"""The subject of a report: sets of several methods, what annotators answered, and options."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.alphas import AlphaLike
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names
from plausibly.data.annotations import Rows
from plausibly.data.names import is_missing, name_texts, positions
from plausibly.errors import InputError, counted
from plausibly.evaluation.groups import in_order, label_coordinate
from plausibly.evaluation.inputs import codes_of, example_values
from plausibly.guarantee import Guarantee
from plausibly.io import with_coordinates
from plausibly.io.label_tables import table_from
from plausibly.kernels.coverage import Ties, row_sums
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools, Floats, Ints
from plausibly.report.model import Check, Words
from plausibly.study.prepare import coordinates, few_groups

LARGEST = 64_000  # bytes of a picture: a file of 5 MB then holds some dozens of the largest
SURPRISING = 10  # examples that are named as surprising, by method and alpha
RISK = "risk"

PICTURES = {".jpg": "jpeg", **{f".{kind}": kind for kind in ("jpeg", "png", "gif", "webp")}}

Table: TypeAlias = "Path | str | xr.Dataset | None"

Answer: TypeAlias = tuple[int, tuple[tuple[int, ...], ...], float]
"""Annotator, blocks of labels, and how many gave it."""


@attrs.frozen(kw_only=True)
class Options:
    title: str = ""
    words: Words = attrs.field(factory=Words)
    text: str = ""
    thumbnail: str = ""
    anonymous: bool = False
    folder: Path = Path()
    command: str = ""
    study: str = ""
    files: Mapping[str, str] = attrs.field(factory=dict)
    aggregator: str = ""


@attrs.frozen(kw_only=True, eq=False)
class MethodSets:
    """Sets of one method, from predictors with the predictions that each was tested on."""

    name: str
    reference: bool
    tested: Sequence[tuple[ConformalPredictor, xr.DataArray]]
    sets: xr.DataArray
    p: Floats | None
    scores: Floats
    guarantees: Sequence[Guarantee]

    @property
    def score(self) -> str:
        return self.tested[0][0].metadata.score

    @property
    def about(self) -> str:
        metadata = self.tested[0][0].metadata
        return f"{metadata.calibrator} + {metadata.combiner}, score {metadata.score}"


@attrs.frozen(kw_only=True, eq=False)
class Subject:
    """All that the figures of a report are made of; predictions are (example, label).

    The methods, their source and the checks are added once the sets are made; `groups` are the
    coordinates whose groups are compared, if named.
    """

    predictions: xr.DataArray
    plausibilities: xr.DataArray
    annotations: xr.Dataset | None = None
    alphas: Sequence[AlphaLike]
    options: Options
    groups: Sequence[str] | None = None
    cluster: str | None = None
    stratify: str | None = None
    true_label: str | None = None
    ties: Ties = "first"
    seed: int = 0
    compared: xr.Dataset | None = None
    methods: Sequence[MethodSets] = ()
    source: str = ""
    checks: Sequence[Check] = ()

    @cached_property
    def risk(self) -> Mapping[str, object]:
        """Levels of risk by label, of the labels that have one."""
        with suppress(InputError):  # no label has one
            levels = label_coordinate(RISK, (self.predictions, self.plausibilities)).items()
            return {name: of for name, of in levels if not is_missing(of) and of != ""}
        return {}

    @cached_property
    def severity(self) -> Ints:
        """Place of the risk of each label among all levels, (label,): -1 without one."""
        places = np.full(len(self.labels), -1, dtype=np.int64)
        known = [place for place, label in enumerate(self.labels) if label in self.risk]
        if known:
            levels = [self.risk[self.labels[place]] for place in known]
            places[known] = in_order(levels, None)[1]
        return places

    @cached_property
    def labels(self) -> list[str]:
        return name_texts(self.predictions[names.LABEL].values)

    @cached_property
    def inside(self) -> list[Bools]:
        """Sets of each view, (example, label)."""
        return [
            method.sets.values[:, :, place]
            for method in self.methods
            for place in range(len(self.alphas))
        ]

    @cached_property
    def missed(self) -> list[Floats]:
        """Plausibility outside of the sets of each view, (example,): exactly 0 for nothing."""
        plausibility = self.plausibilities.values.astype(np.float64)
        return [row_sums(np.where(inside, 0.0, plausibility)) for inside in self.inside]

    def most_missed(self, view: int) -> list[int]:
        missed = self.missed[view]
        order = np.lexsort((self.order, -missed))[:SURPRISING]
        return [int(row) for row in order if missed[row] > 0]

    @cached_property
    def by(self) -> Sequence[str]:
        if self.groups is not None:
            return list(self.groups)
        others = {self.cluster, self.stratify, self.true_label}
        others |= {self.options.text, self.options.thumbnail}
        return [name for name in few_groups(self.predictions) if name not in others]

    @cached_property
    def coded(self) -> Sequence[tuple[list[str], Ints]]:
        """Values of each of these coordinates, and their codes (example,)."""
        columns = [codes_of(example_values(name, (self.predictions,))) for name in self.by]
        return [(name_texts(values), codes) for values, codes in columns]

    @cached_property
    def text(self) -> Sequence[str] | None:
        return self._shown(self.options.text)

    @cached_property
    def thumbnail(self) -> Sequence[str] | None:
        column = self.options.thumbnail
        shown = self._shown(column)
        return shown and [_picture(path, self.options.folder, column) for path in shown]

    @cached_property
    def order(self) -> NDArray[np.float64]:
        """A number per example that depends on its name and the random seed alone."""
        return self._keys(self.known_names)

    @cached_property
    def known_names(self) -> list[str]:
        return name_texts(self.predictions[names.EXAMPLE].values)

    @cached_property
    def example_names(self) -> Sequence[str]:
        if self.options.anonymous:
            return _numbered(self.words.example, self.order)
        return self.known_names

    @cached_property
    def annotator_names(self) -> Sequence[str]:
        """Names of the annotators as shown, in the order of the annotation table."""
        table = self.annotations
        known = [] if table is None else name_texts(table.indexes[names.ANNOTATOR])
        if self.options.anonymous:
            return _numbered(self.words.annotator, self._keys(known))
        return known

    def _keys(self, known: Iterable[object]) -> NDArray[np.float64]:
        return Keys(self.seed).child("report").uniform(hash_names(known))[:, 0]

    def _shown(self, name: str) -> list[str] | None:
        if name and name not in coordinates(self.predictions):
            example_values(name, (self.predictions,))  # raises, and names those that there are
        return name_texts(self.predictions[name].values) if name else None

    @property
    def words(self) -> Words:
        return self.options.words

    @property
    def n(self) -> int:
        return int(self.predictions.sizes[names.EXAMPLE])

    @cached_property
    def answers(self) -> Sequence[Sequence[Answer]]:
        """Answers to each example: the known annotators first, by name."""
        answers: list[list[Answer]] = [[] for _ in range(self.n)]
        if self.annotations is None:
            return answers
        rows = Rows.of(self.annotations)
        example_place, label_place = (
            positions(known, name_texts(self.annotations.indexes[dim]))
            for dim, known in ((names.EXAMPLE, self.known_names), (names.LABEL, self.labels))
        )
        # The last entry is the rank of code -1, an unknown annotator.
        rank = np.append(positions(sorted(self.annotator_names), self.annotator_names), -1)
        blocks: list[defaultdict[int, list[int]]] = [defaultdict(list) for _ in rows.example]
        entries = (rows.response, rows.block, label_place[rows.label])
        for response, block, label in zip(*(column.tolist() for column in entries), strict=True):
            if label >= 0:
                blocks[response][block].append(label)
        columns = (example_place[rows.example], rank[rows.annotator], rows.weight)
        for example, annotator, weight, named in zip(
            *(column.tolist() for column in columns), blocks, strict=True
        ):
            if example >= 0:
                answer = tuple(tuple(sorted(named[block])) for block in sorted(named))
                count = int(weight) if weight.is_integer() else weight
                answers[example].append((annotator, answer, count))
        # Unknown annotators, of code -1, come last.
        return [sorted(row, key=lambda answer: (answer[0] < 0, *answer)) for row in answers]


def _numbered(noun: str, keys: NDArray[np.float64]) -> list[str]:
    place = np.argsort(np.argsort(keys, kind="stable"), kind="stable")
    width = len(str(len(keys)))
    return [f"{noun} {number + 1:0{width}}" for number in place.tolist()]


def with_tables(predictions: xr.DataArray, examples: Table, labels: Table) -> xr.DataArray:
    for table, dim in ((examples, names.EXAMPLE), (labels, names.LABEL)):
        if table is not None:
            predictions = with_coordinates(predictions, table_from(table, dim))
    return predictions


def _picture(path: str, folder: Path, column: str) -> str:
    """Return a picture as an address that holds its content; no text for no path."""
    if not path:
        return ""
    kind = PICTURES.get(Path(path).suffix.lower())
    content, problem = b"", "another kind of file, or a larger one"
    try:
        content = (folder / path).read_bytes()
    except (OSError, ValueError) as reason:
        problem = str(reason)
    if not 0 < len(content) <= LARGEST or kind is None:
        raise InputError(
            "thumbnail-unreadable",
            f'no picture can be read from "{path}"',
            expected=f"a .png, .jpg, .gif or .webp file of at most {counted(LARGEST)} bytes, by "
            "its path relative to the table of examples",
            found=problem,
            hint=f"fix the column {column}, or leave thumbnail out",
            source=path,
        )
    return f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"
