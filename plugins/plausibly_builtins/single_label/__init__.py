"""Single labels, and plausibilities from votes."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, ANNOTATION, Registrar, hookimpl


@hookimpl
def register(registrar: Registrar) -> None:
    registrar.add(
        ANNOTATION,
        "single-label",
        "plausibly_builtins.single_label.votes:SingleLabel",
        summary="one label per response",
    )
    registrar.add(
        AGGREGATOR,
        "label-frequency",
        "plausibly_builtins.single_label.votes:LabelFrequency",
        summary="share of the votes for each label (default for single labels)",
    )
    registrar.add(
        AGGREGATOR,
        "majority-vote",
        "plausibly_builtins.single_label.votes:MajorityVote",
        summary="all weight on the label with most votes; ties by a policy",
    )
