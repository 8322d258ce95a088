"""Plain records by column: which example, which annotator, what answer."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
import numpy as np

from plausibly.data import names
from plausibly.data.coded import Coded
from plausibly.data.text import is_missing, name_text, several
from plausibly.errors import InputError, listed
from plausibly.kernels.types import Ints
from plausibly.protocols import Record


@attrs.frozen(kw_only=True)
class Records:
    """Records by column: names in the order in which they were seen, codes of each record."""

    examples: list[str]
    annotators: list[str]
    example: Ints
    annotator: Ints

    def who(self, record: int) -> str:
        """Return example and annotator of a record, as messages name them."""
        code = int(self.annotator[record])
        by = "an unknown annotator" if code < 0 else f"annotator {self.annotators[code]}"
        return f"example {self.example_of(record)}, {by}"

    def example_of(self, record: int) -> str:
        """Return the name of the example of a record."""
        return self.examples[int(self.example[record])]


def read_columns(records: Iterable[Record]) -> tuple[Records, list[object]]:
    """Return names and codes of the records, and their answers as given."""
    examples: dict[str, int] = {}
    annotators: dict[str, int] = {}
    example: list[int] = []
    annotator: list[int] = []
    answers: list[object] = []
    for record in records:
        try:
            about, by, answer = record
        except (TypeError, ValueError):
            raise _record_invalid(
                len(answers), "(example, annotator, answer)", repr(record)
            ) from None
        if type(about) is not str:
            if is_missing(about):
                raise _record_invalid(len(answers), "the name of an example", repr(about))
            about = name_text(about)
        if type(by) is not str:
            by = None if is_missing(by) else name_text(by)
        example.append(examples.setdefault(about, len(examples)))
        annotator.append(
            names.UNKNOWN_ANNOTATOR if by is None else annotators.setdefault(by, len(annotators))
        )
        answers.append(answer)
    if not answers:
        raise InputError(
            "annotations-empty",
            "annotations hold no response",
            expected="one record (example, annotator, answer) a response",
            got="none",
            do="pass records, or look at what the file holds",
            whose="annotations",
        )
    columns = Records(
        examples=list(examples),
        annotators=list(annotators),
        example=np.array(example, np.int64),
        annotator=np.array(annotator, np.int64),
    )
    return columns, answers


def coded_columns(example: Coded, annotator: Coded) -> Records:
    """Return the columns of records whose names are coded; the annotator "" is an unknown one."""
    codes = annotator.codes
    names_of = annotator.names
    if "" in names_of:
        unknown = names_of.index("")
        codes = np.where(codes > unknown, codes - 1, np.where(codes == unknown, -1, codes))
        names_of = [name for name in names_of if name]
    return Records(
        examples=example.names,
        annotators=names_of,
        example=example.codes,
        annotator=codes,
    )


def _record_invalid(place: int, expected: str, got: str) -> InputError:
    return InputError(
        "record-invalid",
        f"annotations: record {place + 1:,} cannot be read",
        expected=expected,
        got=got if len(got) <= 60 else f"{got[:57]}...",
        do="mend or drop that record",
        whose="annotations",
        details={"records": [place]},
    )


def check_once(columns: Records) -> None:
    """Refuse a second response of a known annotator to an example."""
    known = np.flatnonzero(columns.annotator >= 0)
    pair = columns.example.astype(np.int64) * len(columns.annotators) + columns.annotator
    pair = pair if known.size == pair.size else pair[known]
    ordered = np.sort(pair)
    if not (ordered[1:] == ordered[:-1]).any():
        return
    found, first, count = np.unique(pair, return_index=True, return_counts=True)
    twice = count > 1
    example, annotator = np.divmod(found[twice], len(columns.annotators))
    by = [columns.annotators[code] for code in annotator]
    name = min(by)
    examples = sorted(
        columns.examples[code] for code, of in zip(example, by, strict=True) if of == name
    )
    others = len(set(by)) - 1
    again = np.ones(known.size, bool)
    again[first] = False
    raise InputError(
        "response-twice",
        f"{name} answered {several(len(examples), 'example')} again ({listed(examples)})",
        expected="one response an annotator and example",
        got=f"up to {count.max()}"
        + (f", also by {several(others, 'other annotator')}" if others else ""),
        do="keep one response an annotator and example",
        whose="annotations",
        details={"annotators": sorted(set(by)), "records": known[again].tolist()},
    )
