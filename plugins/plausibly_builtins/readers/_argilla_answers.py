"""Argilla: values as answers of a kind, statuses as states, suggestions as scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

from plausibly.plugin import InputError, JsonNumber, json_shown, listed, quoted, several
from plausibly_builtins.readers._argilla_records import Given, Suggested

Form: TypeAlias = Literal["label", "list", "ranks"]

_STATES: Final = {"submitted": "answered", "draft": "unfinished", "discarded": "skipped"}
_NOT_THERE = "pending"
_FITS: Final[dict[Form, tuple[str, ...]]] = {
    "label": ("single-label", "label-set"),
    "list": ("label-set", "partial-ranking"),
    "ranks": ("partial-ranking",),
}
_CALLED: Final[dict[Form, str]] = {
    "label": "single labels",
    "list": "lists of labels",
    "ranks": "labels with ranks",
}


def kind_of(path: Path, question: str, given: Sequence[Given | Suggested], kind: str | None) -> str:
    """Return the kind of the answers: what their form says, or the user."""
    first: dict[Form, str] = {}
    for said in given:
        form = _form(path, said)
        if form is not None:
            first.setdefault(form, said.place)
    empty = [said.place for said in given if said.value == []]
    if empty and "ranks" not in first:
        first.setdefault("list", empty[0])
    if "label" in first and len(first) > 1:
        raise InputError(
            "answers-mixed",
            f"{path.name}: answers to {quoted(question)} are of two forms",
            expected="labels, or lists of labels",
            got=listed(f"{_CALLED[form]} ({place})" for form, place in first.items()),
            do="mend the records of one form, or put them into a file of their own",
            whose=path.name,
        )
    form = "ranks" if "ranks" in first else next(iter(first), None)
    if form is None:
        return kind or "single-label"
    if kind is not None and kind not in _FITS[form]:
        raise InputError(
            "kind-unfit",
            f"{path.name}: answers to {quoted(question)} are {_CALLED[form]}",
            expected=f"answers of kind {kind}",
            got=f"{_CALLED[form]}, first {first[form]}",
            do=f"kind = {quoted(_FITS[form][0])}, or leave kind out",
            whose=path.name,
        )
    if kind is None and form == "list":
        raise InputError(
            "kind-unclear",
            f"{path.name} does not say whether answers to {quoted(question)} are sets or rankings",
            expected="the kind of the answers: the export writes both as lists",
            got=f"lists of labels, first {first[form]}",
            do=f'--reader \'{{name = "argilla", question = {quoted(question)}, '
            'kind = "label-set"}\', or "partial-ranking"',
            whose=path.name,
        )
    return kind or _FITS[form][0]


def state_of(path: Path, said: Given) -> str | None:
    """Return the state of a response; None for somebody who has yet to answer."""
    status = said.status
    if status == _NOT_THERE:
        return None
    if status is not None and (not isinstance(status, str) or status not in _STATES):
        raise InputError(
            "status-unknown",
            f"{path.name} {said.place} has a status that is none",
            expected=listed((*_STATES, _NOT_THERE), most=len(_STATES) + 1),
            got=json_shown(status),
            do="mend that record, or export again",
            whose=path.name,
            details={"place": said.place},
        )
    state = "answered" if status is None else _STATES[status]
    return "skipped" if state == "answered" and said.value is None else state


def _form(path: Path, said: Given | Suggested) -> Form | None:
    """Return the form of an answer; None where there is none, or an empty list."""
    value = said.value
    if value is None or value == []:
        return None
    if isinstance(value, str):
        return "label"
    if isinstance(value, list) and all(isinstance(item, str) and item for item in value):
        return "list"
    if isinstance(value, list) and _ranked(value):
        return "ranks"
    raise InputError(
        "answer-unfit",
        f"{path.name} {said.place} names no label",
        expected="a label, a number, a list of labels, or labels with ranks from 1",
        got=json_shown(value),
        do='question = "..." with a question about labels; spans and tables are not read',
        whose=path.name,
        details={"place": said.place},
    )


def _ranked(items: Sequence[object]) -> bool:
    """Return whether all items are labels with ranks, or all labels in order."""
    with_rank = 0
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get("value"), str):
            return False
        rank = item.get("rank")
        whole = rank.whole if isinstance(rank, JsonNumber) else None
        if not item["value"] or (rank is not None and (whole is None or whole < 1)):
            return False
        with_rank += "rank" in item
    return with_rank in (0, len(items))


def answer_of(kind: str, value: object) -> object:
    """Return a value as its kind of answer reads it."""
    if value is None:
        return None
    if kind == "partial-ranking":
        return _blocks(value) if isinstance(value, list) else None
    if kind == "label-set":
        items = value if isinstance(value, list) else [value]
        return list(dict.fromkeys(map(str, items)))
    return str(value)


def _blocks(items: Sequence[object]) -> list[list[str]]:
    """Return the labels of a ranking by rank; what has the rank null is not ranked."""
    blocks: dict[int, list[str]] = {}
    for place, item in enumerate(items, start=1):
        if not isinstance(item, dict):
            blocks[place] = [str(item)]
        elif "rank" not in item:
            blocks[place] = [str(item["value"])]
        elif isinstance(item["rank"], JsonNumber):
            blocks.setdefault(item["rank"].whole or 0, []).append(str(item["value"]))
    return [blocks[rank] for rank in sorted(blocks)]


def scores_of(path: Path, said: Suggested) -> Iterator[tuple[str, str | None]]:
    """Yield the labels of a suggestion, each with its score: one for all, or one each."""
    several_labels = isinstance(said.value, list)
    labels = said.value if isinstance(said.value, list) else [said.value]
    score = said.score
    scores = score if several_labels and isinstance(score, list) else [score] * len(labels)
    if len(scores) != len(labels):
        raise InputError(
            "scores-unlike",
            f"{path.name} {said.place}: the suggestion has not as many scores as labels",
            expected="one score for all labels, or one each",
            got=f"{several(len(labels), 'label')}, {several(len(scores), 'score')}",
            do="mend that record, or export again",
            whose=path.name,
            details={"place": said.place},
        )
    for label, number in zip(labels, scores, strict=True):
        # What is no number is shown as it stands, and refused with its example.
        yield str(label), None if number is None else json_shown(number)
