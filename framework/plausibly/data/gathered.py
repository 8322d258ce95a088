"""From responses as an export holds them, with their states, to the annotation table.

Readers only parse: they give one `Response` for every answer, draft, skip and rejected answer that
the file holds. What counts, what an annotator's second answer means, and what the summary says is
settled here, alike for every format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import attrs
import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.data import names, states
from plausibly.data.rows import Rows
from plausibly.data.seal import check_table
from plausibly.data.settled import Duplicates, Response, in_file_order, settled
from plausibly.data.table import AnnotationTable, build_table
from plausibly.data.text import check_names, several
from plausibly.errors import ComponentError, InputError, counted, listed, warn
from plausibly.protocols import ANNOTATION, READER
from plausibly.registry.calls import calling

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
    states.check_policies(value)


@attrs.frozen(kw_only=True)
class ResponseOptions:
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
