"""Lists of votes: JSON Lines where each example lists its votes, or the annotators by label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from plausibly.plugin import AnnotationTable, counted, listed, quoted
from plausibly.plugin.readers import Response
from plausibly_builtins.readers import base
from plausibly_builtins.readers.label_columns import (
    check_names,
    first_object,
    is_lines,
    named_objects,
)

_FIELDS = ("annotator_labels", "label_distribution")


@attrs.frozen(kw_only=True)
class VoteLists(base.Export):
    """Read JSON Lines with the votes of one example per object: lists of labels, or of annotators.

    A list holds one label per vote, of unknown annotators, as ``annotator_labels`` of SNLI and
    MultiNLI. An object holds the annotators by label, as ``label_distribution`` of DynaSent: one
    under two labels answered twice (see `duplicates`).

    Attributes
    ----------
    field : str or None
        Key of the votes; None takes ``annotator_labels`` or ``label_distribution``.
    example : str or None
        Key that names the examples; None takes ``uid``, ``example``, ``id``, ``text_id`` or
        ``pairID``.
    no_vote : tuple of str
        What stands in a list where there is no vote; counted in the summary.
    """

    field: str | None = None
    example: str | None = None
    no_vote: tuple[str, ...] = ("", "-", "-1")

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the first object holds votes under the usual key, or that of `field`."""
        entry = first_object(head) if is_lines(path) else {}
        return any(_is_votes(entry.get(key)) for key in self._keys())

    def content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        entries = named_objects(path, "vote-lists", self.example)
        places = [f"line {counted(line)}" for line, _, _ in entries]
        names = [name for _, name, _ in entries]
        check_names(names, "example", places)
        offered: dict[str, None] = {}
        empty = 0
        responses: list[Response] = []
        for place, (line, name, entry) in zip(places, entries, strict=True):
            votes = self._votes(line, entry)
            shared = Response(example=name, annotator=None, answer=None, place=place)
            if isinstance(votes, Mapping):
                offered |= dict.fromkeys(votes)
                for label, people in votes.items():
                    named = attrs.evolve(
                        shared, answer=label, place=f"{place}, {base.short(label)}"
                    )
                    responses += [attrs.evolve(named, annotator=who) for who in people]
            else:
                cast = Counter(vote for vote in votes if vote not in self.no_vote)
                empty += len(votes) - cast.total()
                each = cast.items()
                responses += [
                    attrs.evolve(shared, answer=vote, weight=float(n)) for vote, n in each
                ]
        return self.gathered(
            "single-label",
            responses,
            labels,
            source=path.name,
            examples=names,
            offered=sorted(offered) if offered else None,
            anonymous=True,
            left_out={base.reason(empty, "place", "a vote"): empty},
        )

    def _keys(self) -> tuple[str, ...]:
        return _FIELDS if self.field is None else (self.field,)

    def _votes(self, line: int, entry: base.Entry) -> Sequence[str] | Mapping[str, Sequence[str]]:
        keys = [key for key in self._keys() if key in entry]
        if len(keys) != 1:
            what = f" line {counted(line)} holds {'votes twice' if keys else 'no votes'}"
            expected = f"one key among {listed(map(quoted, self._keys()))}"
            found = listed(map(base.short, keys or entry)) or "an empty object"
            hint, seen = base.as_argument("vote-lists", field="KEY"), list(entry)
            raise base.refused("key-missing", what, expected, found, hint, seen=seen)
        votes = entry[keys[0]]
        if isinstance(votes, list) and _is_votes(votes):
            return [str(vote) for vote in votes]
        if isinstance(votes, dict) and _is_votes(votes):
            for people in votes.values():
                if len(set(people)) < len(people):
                    raise base.unlike(line, "each annotator once under a label", people)
            return {label: [str(who) for who in people] for label, people in votes.items()}
        expected = 'a list of labels, or annotators by label: {"cat": ["ann", "bo"], "dog": []}'
        raise base.unlike(line, expected, votes)


def _is_votes(value: object) -> bool:
    """Return whether a value is a list of texts, or such lists by label."""
    if isinstance(value, dict):
        return all(
            label and isinstance(people, list) and all(people) and _is_votes(people)
            for label, people in value.items()
        )
    return isinstance(value, list) and all(isinstance(vote, str) for vote in value)
