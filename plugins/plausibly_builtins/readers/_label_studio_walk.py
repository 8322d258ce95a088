"""Label Studio: one pass over the tasks, each annotation once, with its state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import attrs

from plausibly.plugin import InputError, Response, states
from plausibly_builtins.readers._label_studio_answers import said
from plausibly_builtins.readers._label_studio_controls import Control
from plausibly_builtins.readers._label_studio_people import People
from plausibly_builtins.readers._label_studio_states import original, state_of
from plausibly_builtins.readers._label_studio_tasks import (
    AGAIN,
    Entry,
    Region,
    Task,
    is_cancelled,
    text_of,
)
from plausibly_builtins.readers._label_studio_values import Reading

_BESIDE = "drafts beside an annotation"
_NOWHERE = "responses to none of the repeated controls"
_TRUTH = "marked as ground truth"


@attrs.frozen(kw_only=True)
class Walk:
    """One pass over the tasks, with what is not passed on.

    Attributes
    ----------
    control : Control
        Whose values are the answers.
    reading : Reading
    people : People
    policies : mapping of str to str
        What to do with responses of a state: drafts beside an annotation matter where they count.
    drop_truth : bool
        Whether annotations that are marked as ground truth are left out.
    left_out : Counter
        What is not passed on, by reason.
    truths : list of str
        The places of what is marked as ground truth.
    """

    control: Control
    reading: Reading
    people: People
    policies: Mapping[str, str]
    drop_truth: bool
    left_out: Counter[str]
    truths: list[str] = attrs.field(factory=list)

    def responses(self, tasks: Sequence[Task]) -> Iterator[Response]:
        """Yield the responses to one example, or to each repetition in it."""
        annotations = self._counted(self._once(e for task in tasks for e in task.annotations))
        drafts = list(self._drafts([e for t in tasks for e in t.drafts], annotations))
        predictions = [entry for task in tasks for entry in task.predictions]
        entries = [(e, False) for e in annotations] + [(e, True) for e in drafts]
        found = [(by_index(entry, self.control), entry, draft) for entry, draft in entries]
        indices = sorted({index for regions, _, _ in found for index in regions})
        if not self.control.repeats:
            indices = [""]
        elif not indices:
            self.left_out[_NOWHERE] += len(found)
        for by_name, entry, draft in found:
            for index in indices:
                regions = by_name.get(index, [])
                answer = said(regions, self.control, self.reading, entry.place)
                before = original(entry, predictions, self.reading.whose)
                suggested = None
                if before is not None:
                    them = by_index(before, self.control).get(index, [])
                    suggested = said(them, self.control, self.reading, before.place)
                yield Response(
                    example=called(tasks[0].example, index),
                    annotator=self.people.name(entry),
                    answer=None if is_cancelled(entry.fields) else answer or None,
                    state=state_of(entry, regions, answer, suggested, draft=draft),
                    time=entry.time,
                    place=entry.place,
                )

    def _once(self, entries: Iterator[Entry]) -> list[Entry]:
        """Return annotations, those with one id once: the later one where they differ."""
        kept: list[Entry] = []
        known: dict[str, int] = {}
        for entry in entries:
            at = known.get(entry.id) if entry.id else None
            if at is None:
                if entry.id:
                    known[entry.id] = len(kept)
                kept.append(entry)
                continue
            self.left_out[AGAIN] += 1
            kept[at] = self._later(kept[at], entry)
        return kept

    def _later(self, one: Entry, other: Entry) -> Entry:
        if one.regions == other.regions and state_of(one, (), [], None, draft=False) == state_of(
            other, (), [], None, draft=False
        ):
            return one
        if one.time is not None and other.time is not None and one.time != other.time:
            return max(one, other, key=lambda entry: entry.time or 0.0)
        raise InputError(
            "annotation-differs",
            f"{self.reading.whose} {one.place} is there twice and says two things",
            expected="one annotation an id, or the time of each change",
            got="different results at one time, or without time",
            do="remove one of them",
            whose=self.reading.whose,
        )

    def _counted(self, annotations: Sequence[Entry]) -> list[Entry]:
        """Return annotations without those that are the truth, where those are dropped."""
        true = [e for e in annotations if _is_truth(e)]
        self.truths.extend(entry.place for entry in true)
        if not self.drop_truth:
            return list(annotations)
        self.left_out[_TRUTH] += len(true)
        return [entry for entry in annotations if not _is_truth(entry)]

    def _drafts(self, drafts: Sequence[Entry], annotations: Sequence[Entry]) -> Iterator[Entry]:
        """Yield drafts; those of people who have sent an annotation only where drafts count."""
        dropped = states.policy(states.UNFINISHED, "", self.policies) == states.DROP
        ids = {entry.id for entry in annotations} - {None}
        people = {self.people.name(entry) for entry in annotations} - {None}
        for draft in drafts:
            beside = text_of(draft.fields.get("annotation")) in ids
            if dropped and (beside or self.people.name(draft) in people):
                self.left_out[_BESIDE] += 1
            else:
                yield draft


def by_example(tasks: Sequence[Task]) -> list[list[Task]]:
    """Return the tasks that are about one example together."""
    found: dict[str, list[Task]] = {}
    for task in tasks:
        found.setdefault(task.example, []).append(task)
    return list(found.values())


def by_index(entry: Entry, control: Control) -> dict[str, list[Region]]:
    """Return the regions of the control, by the index in its name."""
    found: dict[str, list[Region]] = {}
    for region in entry.regions:
        index = control.index(region.control)
        if index is not None:
            found.setdefault(index, []).append(region)
    return found


def called(example: str, index: str) -> str:
    """Return the name of an example, or of one repetition in it."""
    return f"{example}#{index}" if index else example


def _is_truth(entry: Entry) -> bool:
    return entry.fields.get("ground_truth") is True or entry.fields.get("honeypot") is True
