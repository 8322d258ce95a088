"""From plain records to the annotation table: the path that all kinds of answer share.

A kind only says what one answer means (`parse`); names, codes, order and the checks across
responses are made here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TypeAlias

import attrs
import numpy as np

from plausibly.data import names
from plausibly.data.coded import Coded, Keyed, by_code
from plausibly.data.near import near
from plausibly.data.order import Ordered, by_keys, by_names
from plausibly.data.records import Records, check_once, coded_columns, read_columns
from plausibly.data.table import AnnotationTable, Given, build_table
from plausibly.data.text import check_names, name_texts, quoted, several
from plausibly.errors import InputError, listed
from plausibly.kernels.types import Ints
from plausibly.protocols import Record

Mention: TypeAlias = tuple[str, int, float]
"""Label, rank block (1 where there are no ranks), weight (1 where there are no weights)."""

Answer: TypeAlias = tuple[Mention, ...]
"""What one response names; an empty one is an empty answer."""

_MOST_SHOWN = 80


class AnswerRefused(Exception):
    """An answer that a kind cannot read: `parse` raises it, the framework names the response.

    Parameters
    ----------
    name : str
        Name of the message.
    says : str
        What the annotator does, as it follows the name of one: ``'ranks "eczema" twice'``.
    expected, got, do : str
        As in `plausibly.errors.InputError`.
    """

    def __init__(self, name: str, says: str, *, expected: str, got: str = "", do: str) -> None:
        super().__init__(name, says)
        self.name = name
        self.says = says
        self.expected = expected
        self.got = got if len(got) <= _MOST_SHOWN else f"{got[: _MOST_SHOWN - 1]}…"
        self.do = do


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
        Turns one answer into its mentions; raises `AnswerRefused` where it cannot. A mention of
        weight 0 declares its label and is not kept.
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
    declared = _declared(labels)
    columns, answers = read_columns(records)
    check_once(columns)
    answer, distinct = _answers(lambda: columns, answers, parse)
    known = _labels(lambda: columns, answer, distinct, declared)
    return _table(
        kind,
        lambda: columns,
        by_names(columns, answer),
        distinct,
        known,
        blocks=blocks,
        weights=weights,
        unlisted=unlisted,
        labels_declared=declared is not None,
        left_out=left_out,
    )


def table_from_codes(
    kind: str,
    example: Coded | Keyed,
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
        Texts; the annotator ``""`` is an unknown one. Examples may be `Keyed`.
    labels, parse, left_out
        As in `table_from_records`.

    Raises
    ------
    InputError
        As `table_from_records`.
    """
    declared = _declared(labels)

    @cache
    def columns() -> Records:
        return coded_columns(example.coded if isinstance(example, Keyed) else example, annotator)

    code, distinct = _coded_answers(columns, answer, parse)
    known = _labels(columns, code, distinct, declared)
    found = None
    if isinstance(example, Keyed) and "" not in annotator.names:
        found = by_keys(example, annotator, code)
    return _table(
        kind,
        columns,
        found or by_names(columns(), code),
        distinct,
        known,
        blocks=False,
        weights=False,
        unlisted="excluded",
        labels_declared=declared is not None,
        left_out=left_out,
    )


def _declared(labels: Sequence[object] | None) -> list[str] | None:
    declared = None if labels is None else name_texts(labels)
    if declared is not None:
        check_names(declared, names.LABEL, whose="the declared labels")
    return declared


def _coded_answers(
    columns: Callable[[], Records], answer: Coded, parse: Callable[[object], Answer]
) -> tuple[Ints, list[Answer]]:
    """Return what `_answers` does, of texts of which each is there once."""

    def one_each() -> Records:
        first = np.zeros(len(answer.names), np.int64)
        first[answer.codes[::-1]] = np.arange(answer.codes.size)[::-1]
        every = columns()
        return attrs.evolve(every, example=every.example[first], annotator=every.annotator[first])

    code, distinct = _answers(one_each, [*answer.names], parse)
    return by_code(code, answer.codes), distinct


def _answers(
    columns: Callable[[], Records],
    answers: Sequence[object],
    parse: Callable[[object], Answer],
) -> tuple[Ints, list[Answer]]:
    """Return the code of the answer in each record, and the distinct answers, sorted."""
    read: dict[str, int] = {}  # texts repeat: each is parsed once
    distinct: dict[Answer, int] = {}
    codes: list[int] = []
    refused: list[tuple[int, AnswerRefused]] = []
    for place, raw in enumerate(answers):
        code = read.get(raw) if type(raw) is str else None
        if code is None:
            try:
                answer = parse(raw)
            except AnswerRefused as refusal:
                refused.append((place, refusal))
                continue
            code = distinct.setdefault(tuple(sorted(answer)), len(distinct))
            if type(raw) is str:
                read[raw] = code
        codes.append(code)
    if refused:
        raise _refusal(columns(), refused)
    ordered = sorted(distinct)
    rank = np.empty(len(ordered), np.int64)
    rank[[distinct[answer] for answer in ordered]] = np.arange(len(ordered))
    return rank[np.array(codes, np.int64)], ordered


def _refusal(columns: Records, refused: Sequence[tuple[int, AnswerRefused]]) -> InputError:
    """Return the error about the first kind of refusal, by name of example."""
    refused = sorted(refused, key=lambda item: columns.who(item[0]))
    place, first = refused[0]
    alike = [where for where, refusal in refused if refusal.name == first.name]
    got = first.got
    if len(alike) > 1:
        examples = sorted({columns.example_of(where) for where in alike})
        many = f"{several(len(alike), 'such response')}, about {listed(examples)}"
        got = f"{got}; {many}" if got else many
    return InputError(
        first.name,
        f"{columns.who(place)} {first.says}",
        expected=first.expected,
        got=got,
        do=first.do,
        whose="annotations",
        details={
            "examples": [columns.example_of(where) for where in alike],
            "records": sorted(alike),
        },
    )


def _labels(
    columns: Callable[[], Records],
    answer: Ints,
    distinct: Sequence[Answer],
    declared: list[str] | None,
) -> list[str]:
    named = sorted({label for mentions in distinct for label, _, _ in mentions})
    if declared is None:
        if not named:
            raise InputError(
                "annotations-empty",
                "annotations name no label",
                expected="an answer that names a label, or declared labels",
                got=f"{several(answer.size, 'empty answer')}",
                do="labels=[...], or look at what the file holds",
                whose="annotations",
            )
        check_names(named, names.LABEL, whose="annotations")
        return named
    outside = set(named).difference(declared)
    if outside:
        raise _label_unknown(columns(), answer, distinct, declared, outside)
    return declared


def _label_unknown(
    columns: Records,
    answer: Ints,
    distinct: Sequence[Answer],
    declared: Sequence[str],
    outside: set[str],
) -> InputError:
    faulty = np.array([any(m[0] in outside for m in mentions) for mentions in distinct])
    places = np.flatnonzero(faulty[answer]).tolist()
    votes = sum(m[0] in outside for place in places for m in distinct[answer[place]])
    first = min(places, key=columns.who)
    label = next(m[0] for m in distinct[answer[first]] if m[0] in outside)
    meant = near(label, declared)
    suggestion = f"did you mean {quoted(meant)}? mend it" if meant else "mend it"
    return InputError(
        "label-unknown",
        f"{columns.who(first)} says {quoted(label)}",
        expected=f"one of {several(len(declared), 'declared label')}",
        got=f"{several(len(outside), 'label')} outside ({several(votes, 'vote')})",
        do=f"{suggestion}, or declare it: labels=[..., {quoted(label)}]",
        whose="annotations",
        details={"labels": sorted(outside), "votes": votes, "records": places},
    )


def _table(
    kind: str,
    columns: Callable[[], Records],
    ordered: Ordered,
    distinct: Sequence[Answer],
    labels: Sequence[str],
    *,
    blocks: bool,
    weights: bool,
    unlisted: str,
    labels_declared: bool,
    left_out: Mapping[str, int] | None,
) -> AnnotationTable:
    example, annotator, answer = ordered.example, ordered.annotator, ordered.answer
    # Asked here, where it costs nothing, for whoever has not asked before.
    again = example[1:] == example[:-1]
    again &= annotator[1:] == annotator[:-1]
    if again.any() and (again & (annotator[1:] >= 0)).any():
        check_once(columns())
    code = {label: place for place, label in enumerate(labels)}
    kept = [[mention for mention in mentions if mention[2] > 0] for mentions in distinct]
    size = np.array([len(mentions) for mentions in kept], np.int64)
    start = np.cumsum(size) - size
    if (size == 1).all():
        # Every answer is one label, as in most tables: nothing has to be counted out.
        mention_response, mention = np.arange(answer.size, dtype=np.int32), answer
    else:
        mention_response = np.repeat(np.arange(answer.size), size[answer])
        within = np.arange(mention_response.size) - np.repeat(
            np.cumsum(size[answer]) - size[answer], size[answer]
        )
        mention = start[answer][mention_response] + within
    flat = [item for mentions in kept for item in mentions]
    label = np.array([code[item[0]] for item in flat], np.int64)
    block = np.array([item[1] for item in flat], np.int64)
    weight = np.array([item[2] for item in flat], np.float64)
    return build_table(
        kind,
        examples=ordered.examples,
        annotators=ordered.annotators,
        labels=labels,
        response_example=Given(example),
        response_annotator=Given(annotator),
        mention_response=Given(mention_response),
        mention_label=Given(by_code(label, mention)),
        mention_block=block[mention] if blocks else None,
        mention_weight=weight[mention] if weights else None,
        unlisted=unlisted,
        labels_declared=labels_declared,
        left_out=left_out,
    )
