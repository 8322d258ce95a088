"""Plain records, or columns of coded texts, become an annotation table; checks that kinds make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.annotations import AnnotationTable, Rows, build_table, check_table, order_of
from plausibly.data.names import (
    check_names,
    is_missing,
    name_text,
    name_texts,
    near,
    quoted,
    several,
)
from plausibly.data.text_table import Coded
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
        repeats = np.ones(pair.size, bool)
        repeats[np.unique(pair, return_index=True)[1]] = False
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
    raise InputError(
        name,
        f"example {examples[0]}, {by or 'an unknown annotator'} {says}",
        expected=expected,
        found="; ".join(filter(None, (found, _many(places.size, dict.fromkeys(examples))))),
        hint=hint,
        source="annotations",
        details={"examples": [str(example) for example in examples]},
    )


def _many(number: int, examples: Iterable[str]) -> str:
    """Return how many responses are at fault, where there are several."""
    return f"{number:,} such responses, about {listed(examples)}" if number > 1 else ""


@attrs.frozen(kw_only=True)
class Columns:
    """Responses by column: names and answers as they were seen, and their places by response."""

    examples: list[str]
    annotators: list[str]
    answers: Sequence[object]
    example: Ints
    annotator: Ints
    answer: Ints

    def who(self, record: int) -> str:
        """Return example and annotator of a response, as messages name them."""
        code = int(self.annotator[record])
        by = "an unknown annotator" if code < 0 else f"annotator {self.annotators[code]}"
        return f"example {self.examples[self.example[record]]}, {by}"


def check_once(columns: Columns) -> None:
    """Refuse a second response of a known annotator to an example."""
    known = np.flatnonzero(columns.annotator >= 0)
    pair = columns.example.astype(np.int64) * len(columns.annotators) + columns.annotator
    order = known[np.argsort(pair[known], kind="stable")]
    again = np.sort(order[1:][pair[order[1:]] == pair[order[:-1]]]).tolist()
    if again:
        raise InputError(
            "response-twice",
            f"{min(map(columns.who, again))} answers again",
            expected="one response per annotator and example",
            found=f"{several(len(again), 'response')} too many",
            hint="keep one response per annotator and example",
            source="annotations",
            details={"records": again},
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
            if is_missing(about):
                raise ValueError("an example without a name")
        except (TypeError, ValueError):
            raise InputError(
                "record-invalid",
                f"annotations: record {len(answers) + 1:,} cannot be read",
                expected="(example, annotator, answer), with the name of an example",
                found=repr(record)[:_MOST_SHOWN],
                hint="fix or drop that record",
                source="annotations",
                details={"records": [len(answers)]},
            ) from None
        if type(about) is not str:
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
        answers=answers,
        example=np.array(example, np.int64),
        annotator=np.array(annotator, np.int64),
        answer=np.arange(len(answers)),
    )
    coded = _coded(columns, labels, parse, blocks=blocks, weights=weights)
    return build_table(kind, **coded, unlisted=unlisted, left_out=left_out)


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
        examples=example.names,
        annotators=known,
        answers=answer.names,
        example=example.codes,
        annotator=codes,
        answer=answer.codes,
    )
    return build_table(kind, **_coded(columns, labels, parse), left_out=left_out)


def _coded(
    columns: Columns,
    labels: Sequence[object] | None,
    parse: Callable[[object], Answer],
    *,
    blocks: bool = False,
    weights: bool = False,
) -> dict[str, Any]:  # Any: arguments of `build_table`
    """Return names and codes of responses and mentions, sorted by name."""
    declared = None if labels is None else name_texts(labels)
    if declared is not None:
        check_names(declared, names.LABEL, source="the declared labels")
    answer, distinct = _distinct(columns, parse)
    known = _labels(columns, answer, distinct, declared)
    examples, example = _sorted(columns.examples, columns.example)
    annotators, annotator = _sorted(columns.annotators, columns.annotator)
    order = order_of(example, annotator, answer)
    example, annotator, answer = example[order], annotator[order], answer[order]
    again = example[1:] == example[:-1]
    again &= annotator[1:] == annotator[:-1]
    if (again & (annotator[1:] >= 0)).any():
        check_once(columns)
    code = {label: place for place, label in enumerate(known)}
    kept = [[mention for mention in mentions if mention[2] > 0] for mentions in distinct]
    size = np.array([len(mentions) for mentions in kept], np.int64)
    count, start = size[answer], (np.cumsum(size) - size)[answer]
    mention_response = np.repeat(np.arange(answer.size), count)
    mention = np.arange(mention_response.size)
    mention += np.repeat(start - (np.cumsum(count) - count), count)
    flat = [item for mentions in kept for item in mentions]
    label = np.array([code[item[0]] for item in flat], np.int64)
    block = np.array([item[1] for item in flat], np.int64)
    weight = np.array([item[2] for item in flat], np.float64)
    return {
        "examples": examples,
        "annotators": annotators,
        "labels": known,
        "response_example": example,
        "response_annotator": annotator,
        "mention_response": mention_response,
        "mention_label": label[mention],
        "mention_block": block[mention] if blocks else None,
        "mention_weight": weight[mention] if weights else None,
        "labels_declared": declared is not None,
    }


def _distinct(columns: Columns, parse: Callable[[object], Answer]) -> tuple[Ints, list[Answer]]:
    """Return the code of each response's answer, and the different answers that `parse` reads."""
    read: dict[str, int] = {}  # texts repeat: each is parsed once
    distinct: dict[Answer, int] = {}
    codes: list[int] = []
    refused: list[tuple[int, AnswerRefused]] = []
    for at, raw in enumerate(columns.answers):
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
        # The first kind of refusal, by name of example.
        record = {code: at for at, code in reversed([*enumerate(columns.answer.tolist())])}
        first_at, first = min(refused, key=lambda pair: columns.who(record.get(pair[0], 0)))
        alike = sorted(record.get(at, 0) for at, one in refused if one.name == first.name)
        examples = sorted({columns.examples[columns.example[at]] for at in alike})
        raise InputError(
            first.name,
            f"{columns.who(record.get(first_at, 0))} {first.says}",
            expected=first.expected,
            found="; ".join(filter(None, (first.found, _many(len(alike), examples)))),
            hint=first.hint,
            source="annotations",
            details={"examples": examples, "records": alike},
        )
    ordered = sorted(distinct)
    rank = np.empty(len(ordered), np.int64)
    rank[[distinct[answer] for answer in ordered]] = np.arange(len(ordered))
    return rank[np.array(codes, np.int64)][columns.answer], ordered


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
    first = min(places, key=columns.who)
    label = next(m[0] for m in distinct[answer[first]] if m[0] in outside)
    label = label if len(label) <= _MOST_SHOWN else f"{label[: _MOST_SHOWN - 1]}…"
    meant = near(label, declared)
    suggestion = f"did you mean {quoted(meant)}? fix it" if meant else "fix it"
    raise InputError(
        "label-unknown",
        f"{columns.who(first)} says {quoted(label)}",
        expected=f"one of {several(len(declared), 'declared label')}",
        found=f"{several(len(outside), 'label')} outside ({several(len(places), 'vote')})",
        hint=f"{suggestion}, or declare it: labels=[..., {quoted(label)}]",
        source="annotations",
        details={"labels": sorted(outside), "votes": len(places), "records": places},
    )


def _sorted(texts: Sequence[str], codes: Ints) -> tuple[list[str], Ints]:
    """Return names sorted, and the codes that follow them; code -1 stays."""
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.full(len(texts) + 1, -1, np.int64)
    rank[order] = np.arange(len(texts))
    return [texts[place] for place in order], rank[codes]
