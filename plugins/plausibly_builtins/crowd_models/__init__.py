"""Aggregators that weigh annotators: what a response is worth depends on who gave it."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, Registrar, hookimpl

_AGGREGATORS = {
    "dawid-skene": (
        "models:DawidSkene",
        "one true label per example, one confusion matrix per annotator (EM)",
    ),
    "one-coin": ("models:OneCoin", "one true label per example, one accuracy per annotator (EM)"),
    "worker-agreement": (
        "models:WorkerAgreement",
        "votes weighted by the annotator's agreement with the majority",
    ),
    "weighted-vote": ("models:WeightedVote", "votes weighted by a given weight per annotator"),
    "exclude": (
        "models:Exclude",
        "any aggregator, without annotators that are named or have low weight",
    ),
}


@hookimpl
def register(registrar: Registrar) -> None:
    for name, (place, summary) in _AGGREGATORS.items():
        registrar.add(AGGREGATOR, name, f"plausibly_builtins.crowd_models.{place}", summary=summary)
