"""Which responses of a file count, and what several of one annotator to one example mean."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Literal, TypeAlias

import attrs

from plausibly.data import states
from plausibly.data.text import is_blank, is_missing, several
from plausibly.errors import InputError, counted, listed

Duplicates: TypeAlias = Literal["error", "first", "last", "latest", "all", "fractional"]
"""What several answers of one annotator to one example mean."""

_BESIDE = "no answer beside an answer by the same annotator"
_EARLIER = "earlier answers"
_LATER = "later answers"
_AGAIN = "the same again"
_NUMBER = re.compile("[0-9]+")
_ALL = 'duplicates = "all"'


@attrs.frozen(kw_only=True)
class Response:
    """One response as a file holds it.

    Attributes
    ----------
    example : str
        Name of the example, as written.
    annotator : str or None
        Who responded; None = nobody knows.
    answer : object
        What the kind of answer reads: a label, a list of labels, rank blocks, a mapping of label to
        weight; None where there is none.
    state : str
        One of `plausibly.data.states.STATES`. An ``answered`` one without answer becomes
        ``empty`` (label sets) or ``skipped``.
    weight : float
        How many times it counts.
    time : float or None
        When it was given, in any unit: what ``latest`` compares.
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


@attrs.frozen(kw_only=True)
class Settled:
    """Responses in an order that does not depend on the file's; those without answer do not count.

    Attributes
    ----------
    responses : list of Response
    left_out : dict of str to int
        Responses that were taken out, by reason.
    repeated : bool
        Whether an annotator answers an example several times.
    """

    responses: list[Response]
    left_out: dict[str, int]
    repeated: bool


def settled(
    kind: str,
    responses: Iterable[Response],
    *,
    whose: str,
    policies: Mapping[str, str],
    duplicates: Duplicates,
    none_of_these: Set[str],
    as_typed: Callable[[str], str] = str,
) -> Settled:
    """Return the responses with the answers that count.

    Parameters
    ----------
    kind : str
        Kind of answer.
    responses : iterable of Response
        As the file holds them.
    whose : str
        Name of the file.
    policies : mapping of str to str
        What to do with responses of a state; see `plausibly.data.states`.
    duplicates : {"error", "first", "last", "latest", "all", "fractional"}
    none_of_these : set of str
        Labels that mean "none of these".
    as_typed : callable
        How an option of the reader is typed, for messages.

    Raises
    ------
    InputError
        ``state-refused``, ``answer-empty``, ``response-twice``, ``times-missing`` or
        ``times-equal``.
    """
    found = [_with_state(kind, response, none_of_these) for response in responses]
    _refuse(kind, found, policies, whose, as_typed)
    ready = [_with_policy(kind, response, policies) for response in found]
    if duplicates not in ("first", "last"):  # which the order of the file decides
        ready.sort(key=_key)
    groups: dict[tuple[str, str], list[Response]] = {}
    kept: list[Response] = []
    for response in ready:
        if response.annotator is None:
            kept.append(response)
        else:
            groups.setdefault((response.example, response.annotator), []).append(response)
    left_out: Counter[str] = Counter()
    again: list[list[Response]] = []
    for group in groups.values():
        one = group if len(group) == 1 else _one(group, duplicates, left_out, whose, as_typed)
        kept += one
        if len(one) > 1:
            again.append(one)
    if again and duplicates == "error":
        raise _twice(again, whose, as_typed)
    return Settled(responses=sorted(kept, key=_key), left_out=dict(left_out), repeated=bool(again))


def in_file_order(responses: Iterable[Response]) -> list[str]:
    """Return the places of responses, ``line 9`` before ``line 10``."""
    places = [response.place for response in responses if response.place]
    return sorted(places, key=lambda place: [int(n) for n in _NUMBER.findall(place)])


def _key(response: Response) -> tuple[str, str, str, str, float]:
    said = response.answer
    text = repr(sorted(said, key=str)) if isinstance(said, Set) else repr(said)
    return (response.example, response.annotator or "", response.state, text, response.weight)


def _with_state(kind: str, response: Response, none_of_these: Set[str]) -> Response:
    """Return the response in its state, where the reader called it a plain one.

    An annotator whose name is nothing but blanks is an unknown one.
    """
    if response.annotator is not None and is_blank(response.annotator):
        response = attrs.evolve(response, annotator=None)
    if response.state == states.ANSWERED:
        if _says_nothing(response.answer):
            state = states.EMPTY if kind == "label-set" else states.SKIPPED
            return attrs.evolve(response, state=state, answer=None)
        if none_of_these and _named(response.answer) <= none_of_these:
            return attrs.evolve(response, state=states.NONE_OF_THESE)
        if response.annotator is None:
            return attrs.evolve(response, state=states.UNKNOWN_ANNOTATOR)
    return response


def _says_nothing(answer: object) -> bool:
    if is_missing(answer) or (isinstance(answer, str) and is_blank(answer)):
        return True
    return isinstance(answer, (Sequence, Set, Mapping)) and not len(answer)


def _named(answer: object) -> set[str]:
    """Return the labels that an answer names."""
    if isinstance(answer, Mapping):
        return {str(label) for label in answer}
    if isinstance(answer, (list, tuple, Set)):
        return set().union(*(_named(part) for part in answer))
    return {str(answer)}


def _with_policy(kind: str, response: Response, policies: Mapping[str, str]) -> Response:
    """Return the response with the answer that counts; None where it does not count."""
    said = states.policy(response.state, kind, policies)
    if said == states.COUNT:
        # An unknown annotator is told by having no name; the state would say it twice.
        plain = response.state == states.UNKNOWN_ANNOTATOR
        return attrs.evolve(response, state=states.ANSWERED) if plain else response
    if said.startswith(states.AS_LABEL):
        return attrs.evolve(response, answer=_as_answer(kind, said[len(states.AS_LABEL) :]))
    return attrs.evolve(response, answer=None)


def _as_answer(kind: str, label: str) -> object:
    return {"single-label": label, "soft-label": {label: 1.0}}.get(kind, [label])


def _refuse(
    kind: str,
    found: Sequence[Response],
    policies: Mapping[str, str],
    whose: str,
    as_typed: Callable[[str], str],
) -> None:
    refused = [r for r in found if states.policy(r.state, kind, policies) == states.ERROR]
    if not refused:
        return
    state = min(response.state for response in refused)
    alike = sorted((r for r in refused if r.state == state), key=_key)
    first = alike[0]
    examples = list(dict.fromkeys(response.example for response in alike))
    by = first.annotator or "an unknown annotator"
    where = f"{whose} {first.place}: " if first.place else f"{whose}: "
    empty = state == states.EMPTY
    drop = f'states = {{{state} = "drop"}}'
    choices = "drop or label:NAME" if empty else "count, drop or label:NAME"
    raise InputError(
        "answer-empty" if empty else "state-refused",
        f"{where}{by} on example {first.example}: "
        + ("names no label" if empty else f"the response is {state}"),
        expected="one label or more, or a word on what an empty set means"
        if empty
        else "responses that count, or a word on what to do with others",
        got=f"{several(len(alike), 'such response')}, about {listed(examples)}",
        do=f"{as_typed(drop)} ({choices})",
        whose=whose,
        details={"examples": examples, "state": state},
    )


def _one(
    group: list[Response],
    duplicates: Duplicates,
    left_out: Counter[str],
    whose: str,
    as_typed: Callable[[str], str],
) -> list[Response]:
    """Return what stays of several responses of one annotator to one example."""
    if duplicates == "latest":
        last = _latest(group, whose, as_typed)
        left_out[_EARLIER] += len(group) - 1
        return [last]
    answers = [response for response in group if response.answer is not None]
    if answers and duplicates in ("first", "last"):
        left_out[_LATER if duplicates == "first" else _EARLIER] += len(answers) - 1
        left_out[_BESIDE] += len(group) - len(answers)
        return [answers[0 if duplicates == "first" else -1]]
    if not answers:
        left_out[_AGAIN] += len(group) - 1
        return group[:1]
    if len(answers) < len(group):
        left_out[_BESIDE] += len(group) - len(answers)
    if duplicates == "fractional" and len(answers) > 1:
        total = sum(response.weight for response in answers)
        return [attrs.evolve(r, weight=r.weight / total if total else r.weight) for r in answers]
    return answers


def _latest(group: Sequence[Response], whose: str, as_typed: Callable[[str], str]) -> Response:
    about, by = group[0].example, group[0].annotator
    places = listed(in_file_order(group))
    times = [response.time for response in group]
    known = [time for time in times if time is not None]
    if len(known) < len(times):
        raise InputError(
            "times-missing",
            f"{whose}: nothing says which of {several(len(group), 'response')} by {by} to example "
            f"{about} is the latest ({places})",
            expected="the time of each",
            got=f"{several(len(known), 'time')}",
            do=f"{as_typed(_ALL)} (or fractional, or first or last in the file)",
            whose=whose,
        )
    last = [r for r in group if r.time == max(known)]
    if len({repr(_key(response)) for response in last}) > 1:
        raise InputError(
            "times-equal",
            f"{whose}: {by} gave {counted(len(last))} different responses to example {about} at "
            f"one time ({places})",
            expected="one that is the latest",
            got=f"time {max(known)} for each",
            do=f"{as_typed(_ALL)} (or fractional), or keep one of them",
            whose=whose,
        )
    return last[0]


def _others(again: Iterable[Sequence[Response]]) -> str:
    """Return what else several answers may mean: the latest only where each has a time."""
    timed = all(response.time is not None for group in again for response in group)
    return "latest, fractional, first, last" if timed else "fractional, first, last"


def _twice(
    again: Sequence[Sequence[Response]], whose: str, as_typed: Callable[[str], str]
) -> InputError:
    by: dict[str, list[Sequence[Response]]] = {}
    for group in again:
        by.setdefault(str(group[0].annotator), []).append(group)
    name = min(by)
    examples = [group[0].example for group in by[name]]
    others = len(by) - 1
    places = in_file_order(by[name][0])
    return InputError(
        "response-twice",
        f"{whose}: {name} answered {several(len(examples), 'example')} again ({listed(examples)})"
        + (f", first in {listed(places)}" if places else ""),
        expected="one response an annotator and example",
        got=f"up to {counted(max(len(group) for group in again))}"
        + (f", also by {several(others, 'other annotator')}" if others else ""),
        do=f"{as_typed(_ALL)} (or {_others(again)})",
        whose=whose,
        details={"annotators": sorted(by), "examples": examples},
    )
