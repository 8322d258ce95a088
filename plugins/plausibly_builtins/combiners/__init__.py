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
    registrar.add(
        COMBINER,
        "bonferroni",
        "plausibly_builtins.combiners.bonferroni:Bonferroni",
        summary="m times the least p-value",
    )
    registrar.add(
        COMBINER,
        "median",
        "plausibly_builtins.combiners.median:Median",
        summary="twice the median p-value",
    )
    registrar.add(
        COMBINER,
        "geometric",
        "plausibly_builtins.combiners.geometric:Geometric",
        summary="e times the geometric mean",
    )
    registrar.add(
        COMBINER,
        "harmonic",
        "plausibly_builtins.combiners.harmonic:Harmonic",
        summary="e log m times the harmonic mean",
    )
    registrar.add(
        COMBINER,
        "cauchy",
        "plausibly_builtins.combiners.cauchy:Cauchy",
        summary="Cauchy combination (no guarantee)",
    )
    registrar.add(
        COMBINER,
        "exchangeable-average",
        "plausibly_builtins.combiners.exchangeable_average:ExchangeableAverage",
        summary="twice the average, for exchangeable replicates",
    )
    registrar.add(
        COMBINER,
        "exchangeable-median",
        "plausibly_builtins.combiners.exchangeable_median:ExchangeableMedian",
        summary="twice the median, for exchangeable replicates",
    )
    registrar.add(
        COMBINER,
        "exchangeable-geometric",
        "plausibly_builtins.combiners.exchangeable_geometric:ExchangeableGeometric",
        summary="geometric mean, for exchangeable replicates",
    )
    registrar.add(
        COMBINER,
        "e-value",
        "plausibly_builtins.combiners.e_value:EValue",
        summary="mean of conformal e-values (very large sets)",
    )
    registrar.add(
        COMBINER,
        "fisher",
        "plausibly_builtins.combiners.fisher:Fisher",
        summary="for independent p-values (no guarantee)",
    )
    registrar.add(
        COMBINER,
        "stouffer",
        "plausibly_builtins.combiners.stouffer:Stouffer",
        summary="for independent p-values (no guarantee)",
    )
