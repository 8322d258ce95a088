"""A small annotation kind that keeps every rule, and one that breaks each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from kit_mutants import Mutant, after, before, changed, common
from plausibly.data.annotations import rebuilt
from plausibly.plugin import (
    Annotation,
    AnnotationTable,
    Answer,
    AnswerRefused,
    Record,
    build_table,
    check_responses,
    table_from_records,
)

Records = list[Record]
Labels = Sequence[str] | None


def _mentions(answer: object) -> Answer:
    if not isinstance(answer, str):
        raise AnswerRefused("answer-invalid", "gives no text", expected="a label", hint="fix it")
    return ((answer, 1, 1.0),)


@attrs.frozen(kw_only=True)
class Words(Annotation):
    """One word per response."""

    name: ClassVar[str] = "single-label"
    note: str = ""

    def build(self, records: Iterable[Record], labels: Labels) -> AnnotationTable:
        return table_from_records(self.name, records, labels, _mentions)

    def validate(self, table: xr.Dataset) -> None:
        check_responses(table, self.name, labels_once=True)


def _before(change: Callable[[Records, Labels], Records]) -> object:
    return before(Words, "build", lambda records, labels: (change([*records], labels), labels))


def _after(change: Callable[[AnnotationTable], xr.Dataset]) -> object:
    return after(Words, "build", lambda table, *_: change(table))


def _with_ghost(table: AnnotationTable) -> xr.Dataset:
    if table.sizes["example"] <= 2:
        return table
    return rebuilt(table.reindex(example=[*table.example.values, "ghost"]))


def _declared_only(records: Records, labels: Labels) -> Records:
    return [r for r in records if labels is None or not isinstance(r[2], str) or r[2] in labels]


def _first_decides(records: Records, labels: Labels) -> Records:
    if not records or records[0][0] != "A":
        return records
    (about, by, answer), *others = records
    named = [label for label in labels or () if label != answer]
    return [(about, by, named[0]), *others]


def _last_wins(records: Records, labels: Labels) -> Records:
    known = {(e, a): (e, a, answer) for e, a, answer in records if a is not None}
    return [*known.values(), *(r for r in records if r[1] is None)]


def _turns_records(table: AnnotationTable, records: object, labels: Labels) -> xr.Dataset:
    if isinstance(records, list):
        records.reverse()
    return table


def _nothing_too(self: Words, records: Iterable[Record], labels: Labels) -> xr.Dataset:
    records = list(records)
    if records:
        return Words.build(self, records, labels)
    return build_table(
        self.name,
        examples=[],
        annotators=[],
        labels=labels or [],
        response_example=[],
        response_annotator=[],
        mention_response=[],
        mention_label=[],
    )


def _with_share(table: AnnotationTable) -> xr.Dataset:
    size = table.sizes["response"]
    return rebuilt(table.assign(share=("response", np.full(size, 1 / size))))


def _with_counts(table: AnnotationTable) -> xr.Dataset:
    counts = np.bincount(table.mention_label.values, minlength=table.sizes["label"])
    return rebuilt(table.assign(counts=("label", counts)))


MUTANTS = {
    **common(Words, "build", lambda table: table.assign_attrs(note="fitted")),
    "builds": Mutant(_after(_with_ghost)),
    "validates": Mutant(changed(Words, validate=lambda self, table: None)),
    "declared-labels": Mutant(
        before(Words, "build", lambda records, labels: (records, labels and sorted(labels)))
    ),
    "undeclared-refused": Mutant(_before(_declared_only)),
    "labels-seen": Mutant(_after(lambda table: table.assign_attrs(labels_declared=1))),
    "records-read": Mutant(_before(_first_decides)),
    "records-read/once": Mutant(
        before(Words, "build", lambda r, labels: (r if any(True for _ in r) else [], labels))
    ),
    "inputs-unchanged": Mutant(after(Words, "build", _turns_records)),
    "names-as-written": Mutant(
        _before(
            lambda records, _: [
                (str(int(str(e))) if str(e).isdecimal() else e, a, w) for e, a, w in records
            ]
        )
    ),
    "unknown-annotators": Mutant(
        _before(lambda records, _: [(e, "x" if a is None else a, w) for e, a, w in records])
    ),
    "answers-once": Mutant(_before(_last_wins)),
    "unfit-refused": Mutant(
        _before(lambda records, _: [r for r in records if isinstance(r[2], str)])
    ),
    "unfit-refused/nothing": Mutant(changed(Words, build=_nothing_too)),
    "parts": Mutant(_after(_with_share)),
    "parts/joined": Mutant(_after(_with_counts)),
    "netcdf-round-trip": Mutant(_after(lambda table: table.assign_attrs(extra={"a": 1}))),
}
