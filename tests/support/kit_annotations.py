"""A small annotation kind that keeps every rule, and one that breaks each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from kit_mutants import Mutant, changed, common
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
    """One word a response."""

    name: ClassVar[str] = "single-label"
    note: str = ""

    def build(self, records: Iterable[Record], labels: Labels) -> AnnotationTable:
        return table_from_records(self.name, records, labels, _mentions)

    def validate(self, table: xr.Dataset) -> None:
        check_responses(table, self.name, labels_once=True)


def _before(change: Callable[[Records, Labels], tuple[Records, Labels]]) -> object:
    def build(self: Words, records: Iterable[Record], labels: Labels) -> AnnotationTable:
        return Words.build(self, *change(list(records), labels))

    return changed(Words, build=build)


def _after(change: Callable[[AnnotationTable], xr.Dataset]) -> object:
    def build(self: Words, records: Iterable[Record], labels: Labels) -> xr.Dataset:
        return change(Words.build(self, records, labels))

    return changed(Words, build=build)


def _build(build: Callable[[Words, Iterable[Record], Labels], xr.Dataset]) -> object:
    return changed(Words, build=build)


def _with_ghost(table: AnnotationTable) -> xr.Dataset:
    if table.sizes["example"] <= 2:
        return table
    return rebuilt(table.reindex(example=[*table.example.values, "ghost"]))


def _sorted_labels(records: Records, labels: Labels) -> tuple[Records, Labels]:
    return records, None if labels is None else sorted(labels)


def _declared_only(records: Records, labels: Labels) -> tuple[Records, Labels]:
    if labels is None:
        return records, labels
    return [r for r in records if not isinstance(r[2], str) or r[2] in labels], labels


def _first_decides(records: Records, labels: Labels) -> tuple[Records, Labels]:
    if records and records[0][0] == "A":
        (about, by, answer), *others = records
        named = [label for label in labels or () if label != answer]
        return [(about, by, named[0]), *others], labels
    return records, labels


def _numbers(records: Records, labels: Labels) -> tuple[Records, Labels]:
    as_number = [(str(int(str(e))) if str(e).isdecimal() else e, a, w) for e, a, w in records]
    return as_number, labels


def _somebody(records: Records, labels: Labels) -> tuple[Records, Labels]:
    return [(e, "nobody" if a is None else a, answer) for e, a, answer in records], labels


def _last_wins(records: Records, labels: Labels) -> tuple[Records, Labels]:
    known = {(e, a): (e, a, answer) for e, a, answer in records if a is not None}
    return [*known.values(), *(r for r in records if r[1] is None)], labels


def _odd_are_skips(records: Records, labels: Labels) -> tuple[Records, Labels]:
    return [r for r in records if isinstance(r[2], str)], labels


def _others_said_it(records: Records, labels: Labels) -> tuple[Records, Labels]:
    by = sorted({str(a) for _, a, _ in records if a is not None})
    turned = dict(zip(by, by[::-1], strict=True))
    # A second response of one annotator is refused under the name that it came with.
    if len({(e, a) for e, a, _ in records}) < len(records):
        return records, labels
    return [(e, turned.get(str(a)), answer) for e, a, answer in records], labels


def _two_labels(records: Records, labels: Labels) -> tuple[Records, Labels]:
    if labels is not None and len(labels) == 1:
        raise ValueError("one label")
    return records, labels


def _reads_twice(self: Words, records: Iterable[Record], labels: Labels) -> xr.Dataset:
    return Words.build(self, records if any(True for _ in records) else [], labels)


def _turns_records(self: Words, records: Iterable[Record], labels: Labels) -> xr.Dataset:
    table = Words.build(self, records, labels)
    if isinstance(records, list):
        records.reverse()
    return table


def _nothing_too(self: Words, records: Iterable[Record], labels: Labels) -> xr.Dataset:
    records = list(records)
    if records:
        return Words.build(self, records, labels)
    none: list[int] = []
    return build_table(
        self.name,
        examples=[],
        annotators=[],
        labels=labels or [],
        response_example=none,
        response_annotator=none,
        mention_response=none,
        mention_label=none,
    )


def _with_share(table: AnnotationTable) -> xr.Dataset:
    size = table.sizes["response"]
    return rebuilt(table.assign(share=("response", np.full(size, 1 / size))))


def _with_counts(table: AnnotationTable) -> xr.Dataset:
    counts = np.bincount(table.mention_label.values, minlength=table.sizes["label"])
    return rebuilt(table.assign(counts=("label", counts)))


def _loads_in_place(self: Words, table: xr.Dataset) -> None:
    Words.validate(self, table.load())


MUTANTS = {
    **common(Words, "build", lambda table: table.assign_attrs(note="fitted")),
    "builds": Mutant(_after(_with_ghost)),
    "validates": Mutant(changed(Words, validate=lambda self, table: None)),
    "declared-labels": Mutant(_before(_sorted_labels)),
    "undeclared-refused": Mutant(_before(_declared_only)),
    "labels-seen": Mutant(_after(lambda table: table.assign_attrs(labels_declared=1))),
    "records-read": Mutant(_before(_first_decides)),
    "records-read/once": Mutant(_build(_reads_twice)),
    "lazy-stays-lazy": Mutant(changed(Words, validate=_loads_in_place)),
    "inputs-unchanged": Mutant(_build(_turns_records)),
    "names-as-written": Mutant(_before(_numbers)),
    "unknown-annotators": Mutant(_before(_somebody)),
    "answers-once": Mutant(_before(_last_wins)),
    "unfit-refused": Mutant(_before(_odd_are_skips)),
    "unfit-refused/nothing": Mutant(_build(_nothing_too)),
    "one-label": Mutant(_before(_two_labels)),
    "parts": Mutant(_after(_with_share)),
    "parts/joined": Mutant(_after(_with_counts)),
    "shown-as-frame": Mutant(_before(_others_said_it)),
    "netcdf-round-trip": Mutant(_after(lambda table: table.assign_attrs(extra={"a": 1}))),
}
