"""Responses of an export: repeats, and the annotation table made of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Literal, TypeAlias

import attrs
import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.data import names, states
from plausibly.data.annotations import AnnotationTable, Rows, build_table, check_table
from plausibly.data.names import check_names, is_blank, is_missing, several
from plausibly.errors import ComponentError, InputError, counted, listed, warn
from plausibly.protocols import ANNOTATION, READER, Reader
from plausibly.registry.entries import calling

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
    """Responses in an order independent of the file; those without answer do not count."""

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
    """Return the responses with the answers that count."""
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
    """Return the response in its state, where the reader called it a plain one."""
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


_MARK = "\x1f"
_MARKED = re.compile(f"{_MARK}[0-9]+")
_UNKNOWN = "unknown"
_MENTION = (
    names.MENTION_RESPONSE,
    names.MENTION_LABEL,
    names.MENTION_BLOCK,
    names.MENTION_WEIGHT,
)


def _policies(_: object, __: object, value: Mapping[str, str]) -> None:
    if value:
        states.check_policies(value)


@attrs.frozen(kw_only=True)
class ResponseOptions(Reader):
    """What every reader of responses lets its user say: a base for the reader's attrs class.

    Attributes
    ----------
    states : mapping of str to str
        What to do with responses of a state: ``count``, ``drop``, ``error``, or ``label:NAME``.
    duplicates : {"error", "first", "last", "latest", "all", "fractional"}
        What several answers of one annotator to one example mean.
    none_of_these : tuple of str
        Labels that mean "none of these".
    """

    states: Mapping[str, str] = attrs.field(
        factory=dict,
        validator=_policies,
        metadata={
            "help": "What to do with responses of a state (unfinished, skipped, empty, "
            "none-of-these, unknown-annotator, rejected, suggestion, consolidated): count, drop "
            "(counted in the summary), error, or label:NAME, the label that it stands for."
        },
    )
    duplicates: Duplicates = attrs.field(
        default="error",
        validator=attrs.validators.in_(("error", "first", "last", "latest", "all", "fractional")),
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

    def _as_typed(self, option: str) -> str:
        """Return an option as the command line takes it, where the reader has a name."""
        try:
            name = registry.default().describe(READER, self)["name"]
        except ComponentError:
            return option
        return f"--reader '{{name = \"{name}\", {option}}}'"

    def gathered(
        self,
        kind: str,
        responses: Iterable[Response],
        labels: Sequence[str] | None,
        *,
        whose: str,
        examples: Iterable[str] = (),
        annotators: Iterable[str] = (),
        offered: Sequence[str] | None = None,
        anonymous: bool = False,
        unlisted: Literal["excluded", "unknown"] = "excluded",
        left_out: Mapping[str, int] | None = None,
    ) -> AnnotationTable:
        """Return the annotation table of the responses.

        Their order does not matter, unless `duplicates` is ``"first"`` or ``"last"``.

        Parameters
        ----------
        kind : str
            Kind of answer.
        responses : iterable of Response
            All that the file holds.
        labels : sequence of str or None
            The declared labels.
        whose : str
            Name of the file.
        examples, annotators : iterable of str
            Names that are in the table also without a response.
        offered : sequence of str, optional
            Labels that the file says could be chosen, in its order: the declared ones where the
            user declares none.
        anonymous : bool
            Whether the format never says who answered: then nothing is warned of.
        unlisted : {"excluded", "unknown"}
            What it means that a response does not name a label.
        left_out : mapping of str to int, optional
            What the reader did not pass on, by reason.

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
        ready = settled(
            kind,
            responses,
            whose=whose,
            policies=self.states,
            duplicates=self.duplicates,
            none_of_these=frozenset(self.none_of_these),
            as_typed=self._as_typed,
        )
        if not anonymous:
            unnamed = [r for r in ready.responses if r.annotator is None]
            _warn_unnamed(unnamed, whose, self._as_typed('states = {unknown-annotator = "drop"}'))
        _warn_consolidated([r for r in ready.responses if r.state == states.CONSOLIDATED], whose)
        repeated = self.duplicates if self.duplicates in ("all", "fractional") else None
        return _table(
            kind,
            ready.responses,
            labels,
            whose=whose,
            examples=examples,
            annotators=annotators,
            offered=offered,
            unlisted=unlisted,
            left_out={**(left_out or {}), **ready.left_out},
            attributes={names.REPEATED: repeated} if repeated and ready.repeated else {},
        )


def _warn_unnamed(unnamed: Sequence[Response], whose: str, drop: str) -> None:
    if unnamed:
        warn(
            "annotators-unnamed",
            f"{whose} does not say who gave {several(len(unnamed), 'response')} "
            f"({listed(in_file_order(unnamed))})",
            expected="who said it; each is kept as the response of an unknown annotator",
            do="name the annotators, if one of them may have answered an example again; "
            f"{drop} leaves these out",
            whose=whose,
            stacklevel=6,
        )


def _warn_consolidated(found: Sequence[Response], whose: str) -> None:
    if found:
        warn(
            "votes-consolidated",
            f"{whose} holds results, not votes: {several(len(found), 'response')} by the "
            "annotator consolidated",
            expected="what each annotator said",
            got="one result an example; how much annotators disagreed is lost",
            do="export the single annotations; sets calibrated on this cover the result, not what "
            "an expert would say",
            whose=whose,
            stacklevel=6,
        )


def _table(
    kind: str,
    responses: Sequence[Response],
    labels: Sequence[str] | None,
    *,
    whose: str,
    examples: Iterable[str],
    annotators: Iterable[str],
    offered: Sequence[str] | None,
    unlisted: str,
    left_out: Mapping[str, int],
    attributes: Mapping[str, object],
) -> AnnotationTable:
    """Return the table: answers read by their kind, each under a name of its own, then put back."""
    all_examples = sorted({*examples, *(response.example for response in responses)})
    known = sorted({*annotators, *(r.annotator for r in responses if r.annotator is not None)})
    check_names(all_examples, names.EXAMPLE, whose=whose)
    check_names(known, names.ANNOTATOR, whose=whose)
    declared = labels if labels is not None else offered
    content = [place for place, response in enumerate(responses) if response.answer is not None]
    said = _read_by_kind(kind, responses, content, declared, whose)
    if said is None and declared is None:
        raise InputError(
            "annotations-empty",
            f"{whose} names no label",
            expected="an answer that counts, or declared labels",
            got=several(len(responses), "response") + " without one",
            do="--labels labels.txt, or look at what the file holds",
            whose=whose,
        )
    example_code = {name: code for code, name in enumerate(all_examples)}
    annotator_code: dict[str | None, int] = {name: code for code, name in enumerate(known)}
    weights = np.array([response.weight for response in responses], np.float64)
    state = np.array([states.STATES.index(response.state) for response in responses], np.int8)
    columns = {} if said is None else _mentions(said, content)
    nothing = np.zeros(0, np.int64)
    return build_table(
        kind,
        examples=all_examples,
        annotators=known,
        labels=(declared or ()) if said is None else said.table.indexes[names.LABEL],
        response_example=np.array([example_code[r.example] for r in responses], np.int64),
        response_annotator=np.array(
            [annotator_code.get(r.annotator, names.UNKNOWN_ANNOTATOR) for r in responses], np.int64
        ),
        mention_response=columns.get(names.MENTION_RESPONSE, nothing),
        mention_label=columns.get(names.MENTION_LABEL, nothing),
        mention_block=columns.get(names.MENTION_BLOCK),
        mention_weight=columns.get(names.MENTION_WEIGHT),
        variables={name: item for name, item in columns.items() if name not in _MENTION},
        response_weight=None if (weights == 1).all() else weights,
        response_state=state if state.any() else None,
        unlisted=unlisted,
        labels_declared=declared is not None,
        left_out={reason: count for reason, count in left_out.items() if count},
        attributes=attributes,
    )


def _read_by_kind(
    kind: str,
    responses: Sequence[Response],
    content: Sequence[int],
    declared: Sequence[str] | None,
    whose: str,
) -> Rows | None:
    """Return the answers as their kind reads them; annotators are called by place and name."""
    if not content:
        return None
    component = registry.resolve(ANNOTATION, kind)
    records = [
        (
            responses[place].example,
            f"{responses[place].annotator or _UNKNOWN}{_MARK}{place}",
            responses[place].answer,
        )
        for place in content
    ]
    try:
        with calling(f"annotation {kind}", "build"):
            table = component.build(records, declared)
        is_ours = isinstance(table, AnnotationTable)
        return Rows.of(table if is_ours else check_table(table, whose=f"annotation {kind}"))
    except InputError as error:
        raise _with_place(error, responses, content, whose) from None


def _mentions(said: Rows, content: Sequence[int]) -> dict[str, xr.Variable]:
    """Return the columns of the mentions, with the responses in their own order."""
    called = said.table.indexes[names.ANNOTATOR]
    place = np.array([int(str(name).rpartition(_MARK)[2]) for name in called], np.int64)
    of_response = place[said.annotator]
    found = {
        str(name): variable
        for name, variable in said.table.variables.items()
        if variable.dims == (names.MENTION,)
    }
    found[names.MENTION_RESPONSE] = xr.Variable(names.MENTION, of_response[said.response])
    return found


def _with_place(
    error: InputError, responses: Sequence[Response], content: Sequence[int], whose: str
) -> InputError:
    """Return the error of a kind with the place in the file, and the annotators as they are."""
    fields = error.fields()
    for field in ("what", "got", "do", "expected"):
        text = _MARKED.sub("", str(fields[field]))
        fields[field] = text.replace(f"annotator {_UNKNOWN} ", "an unknown annotator ")
    details = error.details
    records = details.pop("records", None)
    found = records if isinstance(records, list) else []
    places = in_file_order(responses[content[record]] for record in found)
    if places:
        details["places"] = places
        more = f" (and {counted(len(places) - 1)} more)" if len(places) > 1 else ""
        fields["what"] = f"{whose} {places[0]}{more}: {fields['what']}"
    else:
        fields["what"] = f"{whose}: {fields['what']}"
    return InputError(
        str(fields["name"]),
        str(fields["what"]),
        expected=str(fields["expected"]),
        got=str(fields["got"]),
        do=str(fields["do"]),
        whose=whose,
        details=details,
    )
