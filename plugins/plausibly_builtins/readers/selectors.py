"""Selectors: partial rankings as nested lists, example > annotator > block > index of a label."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import attrs
import numpy as np

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    JsonNumber,
    build_table,
    json_shown,
    quoted,
    read_json,
    several,
)

_START = re.compile(rb"\s*\[\s*\[\s*\[\s*\[")
_LEVELS = ("a list of examples", "a list of rankings", "a list of blocks", "a list of indices")


@attrs.frozen(kw_only=True)
class Selectors:
    """Read JSON of nested lists: example, ranking, block of tied labels, index of a label.

    Indices count the declared labels from 0. Examples are called ``"0"``, ``"1"``, … Annotators are
    unknown: the file does not say whether the third ranking of two examples is by one person.
    Labels that are not listed are excluded.
    """

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file starts with four nested lists."""
        return path.suffix.lower() == ".json" and bool(_START.match(head))

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the file, of kind ``partial-ranking``."""
        if labels is None:
            raise InputError(
                "labels-unnamed",
                f"{path.name} holds indices and no label names",
                expected="names in the order of the indices; an order is never guessed",
                do="--labels labels.txt (one name a line)",
                whose=path.name,
            )
        walk = _Walk(whose=path.name, labels=labels)
        walk.examples(read_json(path, expected="nested lists of indices"))
        return build_table(
            "partial-ranking",
            examples=[str(example) for example in range(walk.count)],
            annotators=(),
            labels=labels,
            response_example=np.array(walk.response_example, np.int64),
            response_annotator=np.full(len(walk.response_example), -1),
            mention_response=np.array(walk.mention_response, np.int64),
            mention_label=np.array(walk.mention_label, np.int64),
            mention_block=np.array(walk.mention_block, np.int64),
        )


@attrs.define(kw_only=True)
class _Walk:
    """One pass over the nested lists, with the place of whatever is wrong."""

    whose: str
    labels: Sequence[str]
    count: int = 0
    response_example: list[int] = attrs.field(factory=list)
    mention_response: list[int] = attrs.field(factory=list)
    mention_label: list[int] = attrs.field(factory=list)
    mention_block: list[int] = attrs.field(factory=list)

    def examples(self, content: object) -> None:
        cases = self._filled(content, 0, self.whose)
        self.count = len(cases)
        for example, rankings in enumerate(cases):
            place = f"{self.whose}: example {example}"
            for reader, blocks in enumerate(self._filled(rankings, 1, place)):
                where = f"{place}, ranking {reader + 1}"
                self.response_example.append(example)
                self._ranking(self._filled(blocks, 2, where), where)

    def _ranking(self, blocks: list[object], where: str) -> None:
        ranks: dict[int, int] = {}
        for rank, indices in enumerate(blocks, start=1):
            for index in self._filled(indices, 3, f"{where}, block {rank}"):
                label = self._label(index, f"{where}, block {rank}")
                if label in ranks:
                    raise self._repeats(where, label, ranks[label], rank)
                ranks[label] = rank
                self.mention_response.append(len(self.response_example) - 1)
                self.mention_label.append(label)
                self.mention_block.append(rank)

    def _filled(self, content: object, level: int, place: str) -> list[object]:
        if isinstance(content, list) and content:
            return content
        got = "an empty list" if content == [] else json_shown(content)
        raise InputError(
            "selectors-shape",
            f"{place} is not {_LEVELS[level]}",
            expected=f"{_LEVELS[level]}, with one entry or more",
            got=got,
            do="mend or remove it",
            whose=self.whose,
            details={"place": place},
        )

    def _label(self, index: object, place: str) -> int:
        number = index.whole if isinstance(index, JsonNumber) else None
        if number is not None and 0 <= number < len(self.labels):
            return number
        raise InputError(
            "label-index",
            f"{place} names label {json_shown(index)}",
            expected=f"an index from 0 to {len(self.labels) - 1}: "
            f"{several(len(self.labels), 'label')} are declared",
            got=json_shown(index),
            do="declare all labels, in order: --labels labels.txt",
            whose=self.whose,
            details={"place": place},
        )

    def _repeats(self, where: str, label: int, first: int, second: int) -> InputError:
        ranks = f"rank {first} twice" if first == second else f"ranks {first} and {second}"
        return InputError(
            "ranking-repeats",
            f"{where} ranks {quoted(self.labels[label])} twice",
            expected="each label once",
            got=ranks,
            do="mend or drop it",
            whose=self.whose,
            details={"place": where, "label": self.labels[label]},
        )
