"""What one worker of a SageMaker Ground Truth job answered: the fields of a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import attrs

from plausibly.plugin import InputError, json_shown, listed, quoted
from plausibly_builtins.readers._crowd_times import from_iso

Kind: TypeAlias = Literal["label-set", "single-label"]


@attrs.frozen(kw_only=True)
class WorkerAnswer:
    """What one worker said of one object.

    Attributes
    ----------
    example : str
    annotator : str or None
    content : mapping of str to object
        The fields of the form.
    time : float or None
        When it was sent, in seconds.
    place : str
    """

    example: str
    annotator: str | None
    content: Mapping[str, object]
    time: float | None
    place: str


def seconds(text: object) -> float | None:
    """Return a time of the format as seconds; None where it is none."""
    try:
        return from_iso(str(text)).timestamp()
    except (ValueError, OverflowError):
        return None


def field_of(answers: Sequence[WorkerAnswer], wanted: str | None, whose: str) -> str:
    """Return the field of the form that holds the labels: the one named, or the only one."""
    fields = list(dict.fromkeys(name for answer in answers for name in answer.content))
    if wanted is not None and wanted in fields:
        return wanted
    likely = [
        name
        for name in fields
        if any(_labels(answer.content.get(name)) is not None for answer in answers)
    ]
    if wanted is None and len(likely) == 1:
        return likely[0]
    choice = likely[0] if likely else "FIELD"
    raise InputError(
        "field-several" if wanted is None and likely else "field-missing",
        f"{whose}: workers filled {listed(map(quoted, fields)) or 'no field'}"
        if wanted is None
        else f"{whose}: no worker filled {quoted(wanted)}",
        expected="one field with a label, or the name of the one to read",
        got=f"labels in {listed(map(quoted, likely)) or 'none'}",
        do=f'--reader \'{{name = "sagemaker", field = "{choice}"}}\'',
        whose=whose,
        details={"fields": fields},
    )


def kind_of(answers: Sequence[WorkerAnswer], field: str, wanted: Kind | None) -> Kind:
    """Return the kind of the answers: the one named; label sets where a form offers several."""
    several = any(
        isinstance(said, dict) and "labels" in said
        for said in (answer.content.get(field) for answer in answers)
    )
    return wanted or ("label-set" if several else "single-label")


def answer_of(answer: WorkerAnswer, field: str, kind: Kind, whose: str) -> object:
    """Return what a worker said in a field, as an answer of the kind; None for nothing."""
    said = answer.content.get(field)
    labels = [] if said is None else _labels(said)
    if labels is not None and (kind == "label-set" or len(labels) < 2):
        return (labels or None) if kind == "label-set" else (labels[0] if labels else None)
    do = '--reader \'{name = "sagemaker", kind = "label-set"}\', if several labels can be right'
    raise InputError(
        "answer-invalid",
        f"{whose} {answer.place}: field {quoted(field)} holds no label",
        expected="one label" if kind == "single-label" else "labels",
        got=json_shown(said),
        do=do
        if labels
        else 'read another field: --reader \'{name = "sagemaker", field = "FIELD"}\'',
        whose=whose,
    )


def _labels(said: object) -> list[str] | None:
    """Return the labels in one field; None where it holds something else.

    Forms write ``"a"``, ``{"label": "a"}``, ``{"labels": ["a", "b"]}``, or the state of each button
    or box, ``{"a": true, "b": false}``.
    """
    if isinstance(said, str):
        return [str(said)] if said else []
    if not isinstance(said, dict) or not said:
        return None
    if set(said) == {"label"} and isinstance(said["label"], str):
        return [str(said["label"])]
    if set(said) == {"labels"} and isinstance(said["labels"], list):
        texts = [str(label) for label in said["labels"] if isinstance(label, str)]
        return texts if len(texts) == len(said["labels"]) else None
    if all(isinstance(state, bool) for state in said.values()):
        return [label for label, state in said.items() if state]
    return None
