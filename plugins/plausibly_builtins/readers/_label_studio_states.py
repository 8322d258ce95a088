"""Label Studio: the state of an annotation."""

from __future__ import annotations

from collections.abc import Sequence

from plausibly.plugin import states
from plausibly_builtins.readers._label_studio_tasks import (
    Entry,
    Fields,
    Region,
    entry_of,
    is_cancelled,
    moment,
    text_of,
)

_ACCEPTED = ("accepted", "fixed_and_accepted")
_REJECTED = "rejected"
_PARENT = "parent_prediction"


def state_of(
    entry: Entry,
    regions: Sequence[Region],
    answer: Sequence[object],
    suggested: Sequence[object] | None,
    *,
    draft: bool,
) -> str:
    """Return the state of a response.

    Parameters
    ----------
    entry : Entry
        The annotation, or draft.
    regions : sequence of Region
        What it says of the chosen control.
    answer : sequence
        The labels or ranks in them.
    suggested : sequence or None
        Those of the prediction that it was made from, where that is known.
    draft : bool
        Whether it was not sent.
    """
    fields = entry.fields
    if draft:
        return states.UNFINISHED
    if is_cancelled(fields):
        return states.SKIPPED
    if _is_rejected(fields):
        return states.REJECTED
    if not answer:
        return states.EMPTY
    if text_of(fields.get(_PARENT)) and _unchanged(regions, answer, suggested):
        return states.SUGGESTION
    return states.ANSWERED


def _unchanged(
    regions: Sequence[Region], answer: Sequence[object], suggested: Sequence[object] | None
) -> bool:
    if suggested is None:
        return all(region.origin == "prediction" for region in regions)
    if all(isinstance(item, str) for item in (*answer, *suggested)):
        return set(answer) == set(suggested)
    return list(answer) == list(suggested)


def original(entry: Entry, predictions: Sequence[Entry], whose: str) -> Entry | None:
    """Return the prediction that an annotation was made from, where the export holds it."""
    parent = text_of(entry.fields.get(_PARENT))
    if parent is None:
        return None
    for prediction in predictions:
        if prediction.id == parent:
            return prediction
    inside = entry.fields.get("prediction")
    if isinstance(inside, dict) and isinstance(inside.get("result"), list):
        return entry_of(inside, f"{entry.place}, its prediction", whose)
    return None


def _is_rejected(fields: Fields) -> bool:
    """Return whether a reviewer's last word was no."""
    action = fields.get("last_action")
    if action in (_REJECTED, *_ACCEPTED):
        return action == _REJECTED
    reviews = fields.get("reviews")
    found = (
        [review for review in reviews if isinstance(review, dict)]
        if isinstance(reviews, list)
        else []
    )
    if not found:
        return False
    times = [moment(review.get("created_at")) for review in found]
    last = max(range(len(found)), key=lambda at: (times[at] or 0.0, at))
    return found[last].get("accepted") is False
