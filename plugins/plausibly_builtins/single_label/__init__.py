"""Single labels, and plausibilities from votes."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, ANNOTATION, Registrar, hookimpl

_VOTES = "plausibly_builtins.single_label.votes"
_AGGREGATORS = {
    "label-frequency": (
        "LabelFrequency",
        "share of the votes for each label (default for single labels)",
    ),
    "majority-vote": ("MajorityVote", "all weight on the label with most votes; ties by a policy"),
}


@hookimpl
def register(registrar: Registrar) -> None:
    kind = f"{_VOTES}:SingleLabel"
    registrar.add(ANNOTATION, "single-label", kind, summary="one label per response")
    for name, (model, summary) in _AGGREGATORS.items():
        registrar.add(AGGREGATOR, name, f"{_VOTES}:{model}", summary=summary)
