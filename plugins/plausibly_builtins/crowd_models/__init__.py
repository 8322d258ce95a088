"""Aggregators that weigh annotators: what a response is worth depends on who gave it."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, Registrar, hookimpl


@hookimpl
def register(registrar: Registrar) -> None:
    """Register the components of this family."""
    registrar.add(
        AGGREGATOR,
        "dawid-skene",
        "plausibly_builtins.crowd_models.dawid_skene:DawidSkene",
        summary="one true label an example, a confusion matrix an annotator (EM)",
    )
    registrar.add(
        AGGREGATOR,
        "one-coin",
        "plausibly_builtins.crowd_models.one_coin:OneCoin",
        summary="one true label an example, one accuracy an annotator (EM)",
    )
    registrar.add(
        AGGREGATOR,
        "worker-agreement",
        "plausibly_builtins.crowd_models.worker_agreement:WorkerAgreement",
        summary="votes weighed by how often their annotator agrees with the majority",
    )
    registrar.add(
        AGGREGATOR,
        "weighted-vote",
        "plausibly_builtins.crowd_models.weighted_vote:WeightedVote",
        summary="votes weighed by a weight for each annotator, which you give",
    )
    registrar.add(
        AGGREGATOR,
        "exclude",
        "plausibly_builtins.crowd_models.exclude:Exclude",
        summary="any aggregator without the responses of some annotators: named, or of low weight",
    )
