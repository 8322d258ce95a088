"""Plain records, or columns of coded texts, become an annotation table; checks that kinds make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import attrs
import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.annotations import AnnotationTable, Rows, build_table, check_table
from plausibly.data.names import (
    check_names,
    is_missing,
    name_text,
    name_texts,
    near,
    quoted,
    several,
)
from plausibly.data.text_table import Coded, by_code
from plausibly.errors import InputError, listed
from plausibly.kernels.types import Bools, Ints

Record: TypeAlias = tuple[object, object, object]
"""One response as plain data: example, annotator (None where unknown), answer."""


def check_responses(table: xr.Dataset, kind: str, *, labels_once: bool = False) -> Rows:
    """Return the columns of a table of a kind, where each annotator answers an example once.

    A table whose attribute ``repeated`` says that all answers of an annotator count is not asked.

    Parameters
    ----------
    table : Dataset
        An annotation table.
    kind : str
        The kind that it must have.
    labels_once : bool
        Whether a response may name each label only once.

    Raises
    ------
    InputError
        What `check_table` raises, ``response-twice``, or ``label-repeats``.
    """
    rows = Rows.of(check_table(table, frozenset({kind})))
    if names.REPEATED not in table.attrs:
        # Responses stand in the order of examples, then annotators.
        again = np.zeros(rows.example.size, bool)
        again[1:] = rows.example[1:] == rows.example[:-1]
        again[1:] &= (rows.annotator[1:] == rows.annotator[:-1]) & (rows.annotator[1:] >= 0)
        refuse_responses(
            rows,
            again,
            "response-twice",
            "answers again",
            expected="one response per annotator and example",
            hint="keep one response per annotator and example",
        )
    if labels_once:
        pair = rows.response.astype(np.int64) * rows.labels + rows.label
        order = np.argsort(pair, kind="stable")
        repeats = np.zeros(pair.size, bool)
        repeats[order[1:]] = pair[order[1:]] == pair[order[:-1]]
        label = rows.table.indexes[names.LABEL][rows.label[repeats][:1]]
        refuse_responses(
            rows,
            rows.with_mentions(repeats),
            "label-repeats",
            f"names {listed(map(quoted, label))} twice",
            expected="each label once in a response",
            hint="fix these responses, or drop them",
        )
    return rows


def refuse_responses(
    rows: Rows, bad: Bools, name: str, says: str, *, expected: str, found: str = "", hint: str
) -> None:
    """Raise `InputError` about the responses in `bad`, if there are any.

    Parameters
    ----------
    rows : Rows
        The columns of the table.
    bad : ndarray of bool, (response,)
        The responses at fault.
    name : str
        Name of the message.
    says : str
        What the first of them does, as it follows the name of an annotator.
    expected, found, hint : str
        As in `plausibly.errors.InputError`.
    """
    places = np.flatnonzero(bad)
    if not places.size:
        return
    examples = rows.table.indexes[names.EXAMPLE][rows.example[places]]
    code = int(rows.annotator[places[0]])
    by = f"annotator {rows.table.indexes[names.ANNOTATOR][code]}" if code >= 0 else ""
    if places.size > 1:
        many = f"{several(places.size, 'such response')}, about {listed(dict.fromkeys(examples))}"
        found = f"{found}; {many}" if found else many
    raise InputError(
        name,
        f"example {examples[0]}, {by or 'an unknown annotator'} {says}",
        expected=expected,
        found=found,
        hint=hint,
        source="annotations",
        details={"examples": [str(example) for example in examples]},
    )


@attrs.frozen(kw_only=True)
class Columns:
    """Responses by column: names in the order in which they were seen, codes of each response."""

    examples: list[str]
    annotators: list[str]
    example: Ints
    annotator: Ints

    def who(self, record: int) -> str:
        """Return example and annotator of a response, as messages name them."""
        code = int(self.annotator[record])
        by = "an unknown annotator" if code < 0 else f"annotator {self.annotators[code]}"
        return f"example {self.examples[self.example[record]]}, {by}"


def check_once(columns: Columns) -> None:
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
        expected="one response per annotator and example",
        found=f"up to {count.max()}"
        + (f", also by {several(others, 'other annotator')}" if others else ""),
        hint="keep one response per annotator and example",
        source="annotations",
        details={"annotators": sorted(set(by)), "records": known[again].tolist()},
    )


Mention: TypeAlias = tuple[str, int, float]
"""Label, rank block (1 where there are no ranks), weight (1 where there are no weights)."""

Answer: TypeAlias = tuple[Mention, ...]
"""Entries of one response; an empty one is an empty answer."""

_MOST_SHOWN = 80


class AnswerRefused(Exception):
    """An answer that a kind cannot read: `parse` raises it, the framework names the response.

    Parameters
    ----------
    name : str
        Name of the message.
    says : str
        What the annotator does, as it follows the name of one: ``'ranks "eczema" twice'``.
    expected, found, hint : str
        As in `plausibly.errors.InputError`.
    """

    def __init__(self, name: str, says: str, *, expected: str, found: str = "", hint: str) -> None:
        super().__init__(name, says)
        self.name = name
        self.says = says
        self.expected = expected
        self.found = found if len(found) <= _MOST_SHOWN else f"{found[: _MOST_SHOWN - 1]}…"
        self.hint = hint


def table_from_records(
    kind: str,
    records: Iterable[Record],
    labels: Sequence[object] | None,
    parse: Callable[[object], Answer],
    *,
    blocks: bool = False,
    weights: bool = False,
    unlisted: str = "excluded",
    left_out: Mapping[str, int] | None = None,
) -> AnnotationTable:
    """Return the annotation table of plain records; their order does not matter.

    Parameters
    ----------
    kind : str
        Kind of answer, written into the table.
    records : iterable of (example, annotator, answer)
        Names are taken as text, exactly as written; annotator None = unknown.
    labels : sequence or None
        The declared labels, in order; None: those that are named, sorted, and the table says so.
    parse : callable
        Turns one answer, None where it is missing, into its mentions; raises `AnswerRefused` where
        it cannot. A mention of weight 0 declares its label and is not kept.
    blocks, weights : bool
        Whether mentions have rank blocks, and weights.
    unlisted : {"excluded", "unknown"}
        What it means that a response does not name a label.
    left_out : mapping of str to int, optional
        Responses that the caller did not pass on, by reason.

    Returns
    -------
    AnnotationTable
        Examples and annotators sorted by name.

    Raises
    ------
    InputError
        ``annotations-empty``, ``record-invalid``, ``response-twice``, ``label-unknown``, or what
        `parse` refuses. ``details["records"]`` holds the places (from 0) of the records at fault,
        so that a reader can name lines.
    """
    examples: dict[str, int] = {}
    annotators: dict[str, int] = {}
    example: list[int] = []
    annotator: list[int] = []
    answers: list[object] = []
    for record in records:
        try:
            about, by, answer = record
        except (TypeError, ValueError):
            expected = "(example, annotator, answer)"
            raise _record_invalid(len(answers), expected, record) from None
        if type(about) is not str:
            if is_missing(about):
                raise _record_invalid(len(answers), "the name of an example", about)
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
            expected="one record (example, annotator, answer) per response",
            found="none",
            hint="pass records, or look at what the file holds",
            source="annotations",
        )
    columns = Columns(
        examples=list(examples),
        annotators=list(annotators),
        example=np.array(example, np.int64),
        annotator=np.array(annotator, np.int64),
    )
    check_once(columns)
    return _table(
        kind,
        columns,
        answers,
        np.arange(len(answers)),
        labels,
        parse,
        blocks=blocks,
        weights=weights,
        unlisted=unlisted,
        left_out=left_out,
    )


def _record_invalid(place: int, expected: str, found: object) -> InputError:
    got = repr(found)
    return InputError(
        "record-invalid",
        f"annotations: record {place + 1:,} cannot be read",
        expected=expected,
        found=got if len(got) <= 60 else f"{got[:57]}...",
        hint="fix or drop that record",
        source="annotations",
        details={"records": [place]},
    )


def table_from_codes(
    kind: str,
    example: Coded,
    annotator: Coded,
    answer: Coded,
    labels: Sequence[object] | None,
    parse: Callable[[object], Answer],
    *,
    left_out: Mapping[str, int] | None = None,
) -> AnnotationTable:
    """Return the annotation table of three columns whose texts repeat.

    What `table_from_records` makes of the same rows, faster where there are many.

    Parameters
    ----------
    kind : str
        Kind of answer, written into the table.
    example, annotator, answer : Coded, (response,)
        Texts; the annotator ``""`` is an unknown one.
    labels, parse, left_out
        As in `table_from_records`.

    Raises
    ------
    InputError
        As `table_from_records`.
    """
    known, codes = annotator.names, annotator.codes
    if "" in known:
        unknown = known.index("")
        codes = np.where(codes > unknown, codes - 1, np.where(codes == unknown, -1, codes))
        known = [name for name in known if name]
    columns = Columns(
        examples=example.names, annotators=known, example=example.codes, annotator=codes
    )
    return _table(kind, columns, answer.names, answer.codes, labels, parse, left_out=left_out)


def _table(
    kind: str,
    columns: Columns,
    answers: Sequence[object],
    place: Ints,
    labels: Sequence[object] | None,
    parse: Callable[[object], Answer],
    *,
    blocks: bool = False,
    weights: bool = False,
    unlisted: str = "excluded",
    left_out: Mapping[str, int] | None = None,
) -> AnnotationTable:
    """Return the table of responses, each with the place of its answer among `answers`."""
    declared = None if labels is None else name_texts(labels)
    if declared is not None:
        check_names(declared, names.LABEL, source="the declared labels")
    codes, distinct = _distinct(columns, answers, place, parse)
    answer = by_code(codes, place)
    known = _labels(columns, answer, distinct, declared)
    examples, example = _sorted(columns.examples, columns.example)
    annotators, annotator = _sorted(columns.annotators, columns.annotator)
    example, annotator, answer = in_order(example, annotator, answer)
    # Checked here, where it costs nothing, for callers that have not checked before.
    again = example[1:] == example[:-1]
    again &= annotator[1:] == annotator[:-1]
    if again.any() and (again & (annotator[1:] >= 0)).any():
        check_once(columns)
    code = {label: place for place, label in enumerate(known)}
    kept = [[mention for mention in mentions if mention[2] > 0] for mentions in distinct]
    size = np.array([len(mentions) for mentions in kept], np.int64)
    if (size == 1).all():
        # Every answer is one label, as in most tables: nothing has to be counted out.
        mention_response, mention = np.arange(answer.size, dtype=np.int32), answer
    else:
        count, start = size[answer], (np.cumsum(size) - size)[answer]
        mention_response = np.repeat(np.arange(answer.size), count)
        mention = np.arange(mention_response.size)
        mention += np.repeat(start - (np.cumsum(count) - count), count)
    flat = [item for mentions in kept for item in mentions]
    label = np.array([code[item[0]] for item in flat], np.int64)
    block = np.array([item[1] for item in flat], np.int64)
    weight = np.array([item[2] for item in flat], np.float64)
    return build_table(
        kind,
        examples=examples,
        annotators=annotators,
        labels=known,
        response_example=example,
        response_annotator=annotator,
        mention_response=mention_response,
        mention_label=by_code(label, mention),
        mention_block=block[mention] if blocks else None,
        mention_weight=weight[mention] if weights else None,
        unlisted=unlisted,
        labels_declared=declared is not None,
        left_out=left_out,
    )


def _distinct(
    columns: Columns,
    answers: Sequence[object],
    place: Ints,
    parse: Callable[[object], Answer],
) -> tuple[Ints, list[Answer]]:
    """Return the code of each of `answers`, and the distinct ones as `parse` reads them, sorted."""
    read: dict[str, int] = {}  # texts repeat: each is parsed once
    distinct: dict[Answer, int] = {}
    codes: list[int] = []
    refused: list[tuple[int, AnswerRefused]] = []
    for at, raw in enumerate(answers):
        code = read.get(raw) if type(raw) is str else None
        if code is None:
            try:
                answer = parse(None if is_missing(raw) else raw)
            except AnswerRefused as refusal:
                refused.append((at, refusal))
                continue
            code = distinct.setdefault(tuple(sorted(answer)), len(distinct))
            if type(raw) is str:
                read[raw] = code
        codes.append(code)
    if refused:
        # The first kind of refusal, by name of example; of each answer its first record.
        record = np.zeros(len(answers), np.int64)
        record[place[::-1]] = np.arange(place.size)[::-1]
        by_name = sorted((columns.who(record[at]), int(record[at]), one) for at, one in refused)
        who, _, first = by_name[0]
        alike = [where for _, where, one in by_name if one.name == first.name]
        examples = [columns.examples[columns.example[where]] for where in alike]
        found = first.found
        if len(alike) > 1:
            about = listed(sorted(set(examples)))
            many = f"{several(len(alike), 'such response')}, about {about}"
            found = f"{found}; {many}" if found else many
        raise InputError(
            first.name,
            f"{who} {first.says}",
            expected=first.expected,
            found=found,
            hint=first.hint,
            source="annotations",
            details={"examples": examples, "records": sorted(alike)},
        )
    ordered = sorted(distinct)
    rank = np.empty(len(ordered), np.int64)
    rank[[distinct[answer] for answer in ordered]] = np.arange(len(ordered))
    return rank[np.array(codes, np.int64)], ordered


def _labels(
    columns: Columns, answer: Ints, distinct: Sequence[Answer], declared: list[str] | None
) -> list[str]:
    """Return the labels: the declared ones, which must be enough, or all that are named."""
    named = sorted({label for mentions in distinct for label, _, _ in mentions})
    if declared is None:
        if not named:
            raise InputError(
                "annotations-empty",
                "annotations name no label",
                expected="an answer that names a label, or declared labels",
                found=f"{several(answer.size, 'empty answer')}",
                hint="labels=[...], or look at what the file holds",
                source="annotations",
            )
        check_names(named, names.LABEL, source="annotations")
        return named
    outside = set(named).difference(declared)
    if not outside:
        return declared
    faulty = np.array([any(m[0] in outside for m in mentions) for mentions in distinct])
    places = np.flatnonzero(faulty[answer]).tolist()
    votes = sum(m[0] in outside for place in places for m in distinct[answer[place]])
    first = min(places, key=columns.who)
    label = next(m[0] for m in distinct[answer[first]] if m[0] in outside)
    meant = None
    if len(label) > 200:  # no slip of the pen, and dear to compare
        label = f"{label[:59]}…"
    else:
        meant = near(label, declared)
    suggestion = f"did you mean {quoted(meant)}? fix it" if meant else "fix it"
    raise InputError(
        "label-unknown",
        f"{columns.who(first)} says {quoted(label)}",
        expected=f"one of {several(len(declared), 'declared label')}",
        found=f"{several(len(outside), 'label')} outside ({several(votes, 'vote')})",
        hint=f"{suggestion}, or declare it: labels=[..., {quoted(label)}]",
        source="annotations",
        details={"labels": sorted(outside), "votes": votes, "records": places},
    )


def in_order(example: Ints, annotator: Ints, answer: Ints) -> tuple[Ints, ...]:
    """Return the codes of responses by example, annotator and answer."""
    highest = (codes.max(initial=0) for codes in (example, annotator + 1, answer))
    first, second, third = (int(code).bit_length() for code in highest)
    if first + second + third <= _BITS:  # one number per response is sorted several times as fast
        joint = example.astype(np.int64)
        joint <<= second
        joint |= annotator + 1
        joint <<= third
        joint |= answer
        joint.sort()
        answer = joint & (1 << third) - 1
        joint >>= third
        annotator = joint & (1 << second) - 1
        annotator -= 1
        joint >>= second
        return joint, annotator, answer
    order = np.lexsort((answer, annotator, example))
    return example[order], annotator[order], answer[order]


_BITS = 63


def _sorted(texts: Sequence[str], codes: Ints) -> tuple[list[str], Ints]:
    """Return names sorted, and the codes that follow them; code -1 stays."""
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.full(len(texts) + 1, -1, np.int64)
    rank[order] = np.arange(len(texts))
    return [texts[place] for place in order], rank[codes]
