"""Aggregators that weigh annotators: what a response is worth depends on who gave it."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, Registrar, hookimpl

_AGGREGATORS = {
    "dawid-skene": (
        "em:DawidSkene",
        "one true label an example, a confusion matrix an annotator (EM)",
    ),
    "one-coin": ("em:OneCoin", "one true label an example, one accuracy an annotator (EM)"),
    "worker-agreement": (
        "votes:WorkerAgreement",
        "votes weighed by how often their annotator agrees with the majority",
    ),
    "weighted-vote": (
        "votes:WeightedVote",
        "votes weighed by a weight for each annotator, which you give",
    ),
    "exclude": (
        "exclude:Exclude",
        "any aggregator without the responses of some annotators: named, or of low weight",
    ),
}


@hookimpl
def register(registrar: Registrar) -> None:
    for name, (place, summary) in _AGGREGATORS.items():
        registrar.add(AGGREGATOR, name, f"plausibly_builtins.crowd_models.{place}", summary=summary)
