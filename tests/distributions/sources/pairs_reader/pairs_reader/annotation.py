"""Pairwise answers: of two labels, which fits better."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import (
    AnnotationTable,
    Answer,
    AnswerRefused,
    Record,
    check_responses,
    refuse_responses,
    table_from_records,
)


@attrs.frozen(kw_only=True)
class Pairwise:
    """A list of pairs ``(better, worse)``.

    The better label of pair j stands in rank block 2 j - 1, the worse one in block 2 j.
    """

    name: ClassVar[str] = "pairwise"

    def build(self, records: Iterable[Record], labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table of ``(example, annotator, pairs)`` records."""
        return table_from_records(
            self.name, records, labels, _mentions, blocks=True, unlisted="unknown"
        )

    def example(self) -> tuple[list[Record], list[str]]:
        """Return records and labels that the author's kit tries this kind on."""
        records: list[Record] = [
            ("scan_1", "a", [("cat", "dog"), ("cat", "fox")]),
            ("scan_1", "b", [("dog", "fox")]),
            ("scan_2", "a", [("dog", "cat")]),
            ("scan_2", "b", []),
            ("scan_3", None, [("fox", "dog"), ("fox", "cat"), ("dog", "cat")]),
        ]
        return records, ["fox", "cat", "dog"]

    def validate(self, table: xr.Dataset) -> None:
        """Refuse responses with half a pair."""
        rows = check_responses(table, self.name)
        start = np.r_[True, rows.response[1:] != rows.response[:-1]][: rows.response.size]
        place = np.arange(rows.response.size)
        within = place - np.maximum.accumulate(np.where(start, place, 0)) + 1
        odd = (rows.mentions % 2 == 1) | rows.with_mentions(within != rows.block)
        refuse_responses(
            rows,
            odd,
            "pair-broken",
            "compares one label with nothing",
            expected="pairs of a better and a worse label",
            hint="fix these responses, or drop them",
        )


def _mentions(answer: object) -> Answer:
    if not isinstance(answer, (list, tuple)):
        raise AnswerRefused(
            "answer-invalid",
            f"gives a {type(answer).__name__}",
            expected='a list of pairs, such as [("cat", "dog")]',
            found=repr(answer),
            hint="write the better label first",
        )
    result: list[tuple[str, int, float]] = []
    for number, pair in enumerate(sorted(answer)):
        better, worse = map(str, pair)
        if better == worse:
            raise AnswerRefused(
                "pair-broken",
                f'compares "{better}" with itself',
                expected="two labels",
                hint="fix or drop it",
            )
        result += [(better, 2 * number + 1, 1.0), (worse, 2 * number + 2, 1.0)]
    return tuple(result)
