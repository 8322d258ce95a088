"""Responses of an export: repeats, and the annotation table made of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Literal, TypeAlias

import attrs
import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.data import names, states
from plausibly.data.annotations import AnnotationTable, Rows, build_table, check_table
from plausibly.data.names import check_names, is_blank, is_missing, name_texts, positions, several
from plausibly.errors import InputError, counted, listed, warn
from plausibly.protocols import ANNOTATION, Reader
from plausibly.registry.entries import calling

Duplicates: TypeAlias = Literal["error", "first", "last", "latest", "all", "fractional"]
"""What several answers of one annotator to one example mean."""

_ALL = 'duplicates="all"'


@attrs.frozen(kw_only=True)
class Response:
    """One response as a file holds it.

    Attributes
    ----------
    example, annotator : str
        Names, as written; annotator None = unknown.
    answer : object
        What the kind of answer reads: a label (or a list of one), a list of labels, rank blocks, a
        mapping of label to weight; None where there is none.
    state : str
        One of `plausibly.data.states.STATES`. An ``answered`` one without answer becomes
        ``empty`` (label sets) or ``skipped``.
    weight : float
        How many times it counts.
    time : float or None
        In any unit: what ``latest`` compares.
    place : str
        Where in the file, as messages say it: ``"line 12"``, ``"task 7, annotation 3"``.
    """

    example: str
    annotator: str | None
    answer: object
    state: str = states.ANSWERED
    weight: float = 1.0
    time: float | None = None
    place: str = ""


def in_file_order(responses: Iterable[Response]) -> list[str]:
    """Return the places of responses, ``line 9`` before ``line 10``."""
    places = [response.place for response in responses if response.place]
    return sorted(places, key=lambda place: [int(n) for n in re.findall("[0-9]+", place)])


def _key(response: Response) -> tuple[str, str, str, str, float]:
    answer = response.answer
    text = repr(sorted(answer, key=str)) if isinstance(answer, Set) else repr(answer)
    return (response.example, response.annotator or "", response.state, text, response.weight)


def _ready(
    kind: str, response: Response, none_of_these: Set[str], policies: Mapping[str, str], source: str
) -> Response:
    """Return the response in its state, with the answer that counts; None where none does."""
    annotator, answer, state = response.annotator, response.answer, response.state
    if annotator is not None and is_blank(annotator):
        annotator = None
    if kind == "single-label" and isinstance(answer, list) and len(answer) == 1:
        (answer,) = answer
    if state == states.ANSWERED:
        blank = is_missing(answer) or (isinstance(answer, str) and is_blank(answer))
        if blank or (isinstance(answer, (Sequence, Set, Mapping)) and not len(answer)):
            answer, state = None, states.EMPTY if kind == "label-set" else states.SKIPPED
        elif none_of_these and _named(answer) <= none_of_these:
            state = states.NONE_OF_THESE
        elif annotator is None:
            state = states.UNKNOWN_ANNOTATOR
    policy = states.policy(state, kind, policies)
    if policy == states.ERROR:
        is_empty = state == states.EMPTY
        raise InputError(
            "answer-empty" if is_empty else "state-refused",
            f"{f'{source} {response.place}'.strip()}: {annotator or 'an unknown annotator'} on "
            f"example {response.example}: the response is {state}",
            expected="one label or more" if is_empty else "responses that count",
            found=f"a response that is {state}",
            hint=f'states={{"{state}": "drop"}} (or label:NAME, the label that it means)',
            source=source,
        )
    if policy.startswith(states.AS_LABEL):
        label = policy.removeprefix(states.AS_LABEL)
        answers: dict[str, object] = {"single-label": label, "soft-label": {label: 1.0}}
        answer = answers.get(kind, [label])
    elif policy != states.COUNT:
        answer = None
    elif state == states.UNKNOWN_ANNOTATOR:  # who has no name: the state would repeat it
        state = states.ANSWERED
    return attrs.evolve(response, annotator=annotator, answer=answer, state=state)


def _named(answer: object) -> set[str]:
    """Return the labels that an answer names."""
    if isinstance(answer, (list, tuple, Set)):
        return set().union(*(_named(part) for part in answer))
    return set(map(str, answer)) if isinstance(answer, Mapping) else {str(answer)}


def _resolve_duplicates(
    responses: list[Response], duplicates: Duplicates, source: str
) -> tuple[list[Response], Counter[str], bool]:
    """Return what counts, in an order independent of the file, what is left out, and repeats."""
    if duplicates not in ("first", "last"):  # which the order of the file decides
        responses.sort(key=_key)
    groups: dict[tuple[str, str | int], list[Response]] = {}
    for place, response in enumerate(responses):
        annotator = place if response.annotator is None else response.annotator
        groups.setdefault((response.example, annotator), []).append(response)
    left_out: Counter[str] = Counter()
    kept: list[Response] = []
    again: list[list[Response]] = []
    for group in groups.values():
        answers = [response for response in group if response.answer is not None]
        if len(group) == 1:
            stays = group
        elif duplicates == "latest":
            stays = [_latest(group, source)]
            left_out["earlier answers"] += len(group) - 1
        elif not answers:
            stays = group[:1]
            left_out["the same again"] += len(group) - 1
        else:
            stays = answers
            left_out["no answer beside an answer by the same annotator"] += len(group) - len(stays)
            if duplicates in ("first", "last"):
                stays = [answers[0 if duplicates == "first" else -1]]
                others = "later answers" if duplicates == "first" else "earlier answers"
                left_out[others] += len(answers) - 1
        total = sum(response.weight for response in stays)
        if duplicates == "fractional" and len(stays) > 1 and total:
            stays = [attrs.evolve(r, weight=r.weight / total) for r in stays]
        kept += stays
        if len(stays) > 1:
            again.append(stays)
    if again and duplicates == "error":
        first = again[0]
        places = in_file_order(first)
        timed = all(response.time is not None for group in again for response in group)
        latest = "latest, by their times; " if timed else ""
        raise InputError(
            "response-twice",
            f"{source}: {first[0].annotator} answered example {first[0].example} again"
            + (f", in {listed(places)}" if places else ""),
            expected="one response per annotator and example",
            found=several(len(again), "such pair"),
            hint=f"{_ALL} (or {latest}fractional, first, last)",
            source=source,
        )
    return sorted(kept, key=_key), left_out, bool(again)


def _latest(group: Sequence[Response], source: str) -> Response:
    times = [response.time for response in group if response.time is not None]
    last = [response for response in group if times and response.time == max(times)]
    if len(times) == len(group) and len({repr(_key(response)) for response in last}) == 1:
        return last[0]
    raise InputError(
        "times-unclear",
        f"{source}: nothing says which response by {group[0].annotator} to example "
        f"{group[0].example} is the latest ({listed(in_file_order(group))})",
        expected="the time of each, and one that is the latest",
        found=f"{several(len(times), 'time')} for {several(len(group), 'response')}",
        hint=f"{_ALL} (or fractional, or first or last in the file)",
        source=source,
    )


_MARK = "\x1f"
_UNKNOWN = "unknown"


@attrs.frozen(kw_only=True)
class ResponseOptions(Reader):
    """Options of every reader of responses: a base for the reader's attrs class."""

    states: Mapping[str, str] = attrs.field(
        factory=dict,
        validator=lambda _, __, policies: states.check_policies(policies),
        metadata={
            "help": "What to do with responses of a state (unfinished, skipped, empty, "
            "none-of-these, unknown-annotator, rejected, suggestion, consolidated): count, drop "
            "(counted in the summary), error, or label:NAME, the label that it stands for."
        },
    )
    duplicates: Duplicates = attrs.field(
        default="error",
        metadata={
            "help": "Several answers of one annotator to one example: an error, the first or the "
            "last in the file, the latest by its time, all of them, or all of them with one vote "
            "together."
        },
    )
    none_of_these: tuple[str, ...] = attrs.field(
        default=(),
        metadata={
            "help": 'Labels that mean "none of these": an answer of such labels alone has the '
            "state none-of-these, which counts unless states say otherwise."
        },
    )

    def gathered(
        self,
        kind: str,
        responses: Iterable[Response],
        labels: Sequence[str] | None,
        *,
        source: str,
        examples: Iterable[str] = (),
        annotators: Iterable[str] = (),
        offered: Sequence[str] | None = None,
        anonymous: bool = False,
        unlisted: Literal["excluded", "unknown"] = "excluded",
        left_out: Mapping[str, int] | None = None,
        policies: Mapping[str, str] | None = None,
    ) -> AnnotationTable:
        """Return the annotation table of the responses.

        Parameters
        ----------
        kind, responses, labels, source
            Kind of answer; all responses of the file; the declared labels or None; its name.
        examples, annotators : iterable of str
            Names that are in the table also without a response.
        offered : sequence of str, optional
            Labels that the file says could be chosen: declared where the user declares none.
        anonymous : bool
            Whether the format never says who answered: then nothing is warned of.
        unlisted : {"excluded", "unknown"}
            What it means that a response does not name a label.
        left_out : mapping of str to int, optional
            What the reader did not pass on, by reason.
        policies : mapping of str to str, optional
            What the format means by states, where the user does not say it.

        Raises
        ------
        InputError
            ``response-twice``, ``state-refused``, ``answer-empty``, ``annotations-empty``, and
            what the kind of answer says, with the place in the file.

        Warns
        -----
        PlausiblyWarning
            ``annotators-unnamed``, ``votes-consolidated``.
        """
        policies = {**(policies or {}), **self.states}
        none_of_these = frozenset(self.none_of_these)
        ready = [_ready(kind, one, none_of_these, policies, source) for one in responses]
        ready, again, repeated = _resolve_duplicates(ready, self.duplicates, source)
        _warn_of_annotators(ready, source, anonymous=anonymous)
        every = sorted({*examples, *(response.example for response in ready)})
        known = sorted({*annotators, *(r.annotator for r in ready if r.annotator is not None)})
        check_names(every, names.EXAMPLE, source=source)
        check_names(known, names.ANNOTATOR, source=source)
        declared = labels if labels is not None else offered
        known_labels, columns = _mentions(kind, ready, declared, source)
        weights = np.array([response.weight for response in ready], np.float64)
        state = np.array([states.STATES.index(response.state) for response in ready], np.int8)
        counts = {**(left_out or {}), **again}
        kept_all = repeated and self.duplicates in ("all", "fractional")
        return build_table(
            kind,
            examples=every,
            annotators=known,
            labels=known_labels,
            response_example=positions(every, [response.example for response in ready]),
            response_annotator=positions(known, [response.annotator or "" for response in ready]),
            mention_response=columns.pop(names.MENTION_RESPONSE),
            mention_label=columns.pop(names.MENTION_LABEL),
            mention_block=columns.pop(names.MENTION_BLOCK, None),
            mention_weight=columns.pop(names.MENTION_WEIGHT, None),
            variables=columns,
            response_weight=None if (weights == 1).all() else weights,
            response_state=state if state.any() else None,
            unlisted=unlisted,
            labels_declared=declared is not None,
            left_out={reason: count for reason, count in counts.items() if count},
            attributes={names.REPEATED: self.duplicates} if kept_all else {},
        )


def _warn_of_annotators(responses: Sequence[Response], source: str, *, anonymous: bool) -> None:
    unnamed = [r for r in responses if r.annotator is None and not anonymous]
    if unnamed:
        warn(
            "annotators-unnamed",
            f"{source} does not say who gave {several(len(unnamed), 'response')} "
            f"({listed(in_file_order(unnamed))})",
            expected="who said it; each is kept as the response of an unknown annotator",
            hint="name the annotators, if one of them may have answered an example again; "
            'states={"unknown-annotator": "drop"} leaves these out',
            source=source,
        )
    results = sum(response.state == states.CONSOLIDATED for response in responses)
    if results:
        warn(
            "votes-consolidated",
            f"{source} holds results, not votes: {several(results, 'response')} by the annotator "
            "consolidated",
            expected="what each annotator said",
            found="one result per example; how much annotators disagreed is lost",
            hint="export the single annotations; sets calibrated on this cover the result, not "
            "what an expert would say",
            source=source,
        )


def _mentions(
    kind: str, responses: Sequence[Response], declared: Sequence[str] | None, source: str
) -> tuple[Sequence[str], dict[str, xr.Variable]]:
    """Return the labels, and the columns of mentions as the kind of answer makes them."""
    content = [place for place, response in enumerate(responses) if response.answer is not None]
    if not content and declared is None:
        raise InputError(
            "annotations-empty",
            f"{source} names no label",
            expected="an answer that counts, or declared labels",
            found=several(len(responses), "response") + " without one",
            hint='labels="labels.txt", or look at what the file holds',
            source=source,
        )
    if not content:
        nothing = xr.Variable(names.MENTION, np.zeros(0, np.int64))
        return declared or (), {names.MENTION_RESPONSE: nothing, names.MENTION_LABEL: nothing}
    component = registry.resolve(ANNOTATION, kind)
    # Each response has an annotator of its own, by whom it is found again.
    records = [
        (response.example, f"{response.annotator or _UNKNOWN}{_MARK}{place}", response.answer)
        for place, response in ((place, responses[place]) for place in content)
    ]
    try:
        with calling(f"annotation {kind}", "build"):
            table = component.build(records, declared)
        is_ours = isinstance(table, AnnotationTable)
        rows = Rows.of(table if is_ours else check_table(table, source=f"annotation {kind}"))
    except InputError as error:
        for field in ("what", "found", "hint", "expected"):
            text = re.sub(f"{_MARK}[0-9]+", "", getattr(error, field))
            setattr(error, field, text.replace(f"annotator {_UNKNOWN} ", "an unknown annotator "))
        wrong = error.details.pop("records", None)
        wrong = wrong if isinstance(wrong, list) else []
        places = in_file_order(responses[content[record]] for record in wrong)
        where = source
        if places:
            error.details["places"] = places
            more = f" (and {counted(len(places) - 1)} more)" if len(places) > 1 else ""
            where = f"{source} {places[0]}{more}"
        error.what, error.source = f"{where}: {error.what}", source
        raise
    columns = {
        str(name): variable
        for name, variable in rows.table.variables.items()
        if variable.dims == (names.MENTION,)
    }
    called = rows.table.indexes[names.ANNOTATOR]
    place = np.array([int(str(name).rpartition(_MARK)[2]) for name in called], np.int64)
    response = xr.Variable(names.MENTION, place[rows.annotator][rows.response])
    return name_texts(rows.table.indexes[names.LABEL]), {
        **columns,
        names.MENTION_RESPONSE: response,
    }
