"""Selectors: partial rankings as nested lists, example > annotator > block > index of a label."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import attrs
import numpy as np

from plausibly.plugin import AnnotationTable, Reader, build_table, quoted, several
from plausibly.plugin.readers import JsonNumber, read_json
from plausibly_builtins.readers.base import about, refused, unlike

_START = re.compile(rb"\s*\[\s*\[\s*\[\s*\[")
_LEVELS = ("a list of examples", "a list of rankings", "a list of blocks", "a list of indices")


@attrs.frozen(kw_only=True)
class Selectors(Reader):
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
        with about(path.name):
            if labels is None:
                what, hint = " holds no label names", 'labels="labels.txt" (one name per line)'
                raise refused("labels-unnamed", what, "names in their order", "", hint)
            cases = _filled(read_json(path, expected="nested lists of indices"), 0, "")
            examples: list[int] = []
            mentions: list[tuple[int, int, int]] = []
            for example, rankings in enumerate(cases):
                place = f": example {example}"
                for number, blocks in enumerate(_filled(rankings, 1, place), start=1):
                    ranks = _ranks(blocks, labels, f"{place}, ranking {number}")
                    mentions += [(len(examples), label, rank) for label, rank in ranks.items()]
                    examples.append(example)
        response, label, block = np.array(mentions, np.int64).T
        return build_table(
            "partial-ranking",
            examples=[str(example) for example in range(len(cases))],
            annotators=(),
            labels=labels,
            response_example=np.array(examples, np.int64),
            response_annotator=np.full(len(examples), -1),
            mention_response=response,
            mention_label=label,
            mention_block=block,
        )


def _ranks(blocks: object, labels: Sequence[str], where: str) -> dict[int, int]:
    ranks: dict[int, int] = {}
    for rank, indices in enumerate(_filled(blocks, 2, where), start=1):
        place = f"{where}, block {rank}"
        for index in _filled(indices, 3, place):
            label = index.whole if isinstance(index, JsonNumber) else None
            if label is None or not 0 <= label < len(labels):
                number = several(len(labels), "label")
                expected = f"an index from 0 to {len(labels) - 1}: {number} are declared"
                hint = 'declare all, in order: labels="labels.txt"'
                raise unlike(place[2:], expected, index, hint=hint)
            if label in ranks:
                found = f"ranks {ranks[label]} and {rank}"
                raise unlike(where[2:], f"{quoted(labels[label])} once", found=found)
            ranks[label] = rank
    return ranks


def _filled(content: object, level: int, place: str) -> list[object]:
    if isinstance(content, list) and content:
        return content
    raise unlike(place[2:] or "the file", f"{_LEVELS[level]}, not empty", content)
