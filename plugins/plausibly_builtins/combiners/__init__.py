"""Combiners: from the p-values of several replicates to one."""

from __future__ import annotations

from plausibly.plugin import COMBINER, Registrar, hookimpl


@hookimpl
def register(registrar: Registrar) -> None:
    """Register the components of this family."""
    registrar.add(
        COMBINER,
        "average",
        "plausibly_builtins.combiners.average:Average",
        summary="mean p-value (the default)",
    )
    registrar.add(
        COMBINER,
        "twice-average",
        "plausibly_builtins.combiners.twice_average:TwiceAverage",
        summary="twice the mean p-value",
    )
    registrar.add(
        COMBINER,
        "maximum",
        "plausibly_builtins.combiners.maximum:Maximum",
        summary="largest p-value: the union of the sets",
    )
    registrar.add(
        COMBINER,
        "ecdf",
        "plausibly_builtins.combiners.ecdf:Ecdf",
        summary="held-out distribution function with a confidence band",
    )
    registrar.add(
        COMBINER,
        "held-out-rank",
        "plausibly_builtins.combiners.held_out_rank:HeldOutRank",
        summary="rank among the p-values of held-out examples",
    )
    registrar.add(
        COMBINER,
        "pac",
        "plausibly_builtins.combiners.pac:Pac",
        summary="held-out order statistic: a promise for this calibration",
    )
