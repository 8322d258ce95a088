"""Combiners: from the p-values of several replicates to one."""

from __future__ import annotations

from plausibly.plugin import COMBINER, Registrar, hookimpl

_COMBINERS = {
    "average": ("average:Average", "mean p-value (the default)"),
    "twice-average": ("average:TwiceAverage", "twice the mean p-value"),
    "maximum": ("average:Maximum", "largest p-value: the union of the sets"),
    "ecdf": ("held_out:Ecdf", "held-out distribution function with a confidence band"),
    "held-out-rank": ("held_out:HeldOutRank", "rank among the p-values of held-out examples"),
    "pac": ("held_out:Pac", "held-out order statistic: a guarantee for this calibration"),
    "bonferroni": ("merging:Bonferroni", "m times the least p-value"),
    "median": ("merging:Median", "twice the median p-value"),
    "geometric": ("merging:Geometric", "e times the geometric mean"),
    "harmonic": ("merging:Harmonic", "e log m times the harmonic mean"),
    "cauchy": ("merging:Cauchy", "Cauchy combination (no guarantee)"),
    "exchangeable-average": (
        "merging:ExchangeableAverage",
        "twice the average, for exchangeable replicates",
    ),
    "exchangeable-median": (
        "merging:ExchangeableMedian",
        "twice the median, for exchangeable replicates",
    ),
    "exchangeable-geometric": (
        "merging:ExchangeableGeometric",
        "geometric mean, for exchangeable replicates",
    ),
    "e-value": ("average:EValue", "mean of conformal e-values (very large sets)"),
    "fisher": ("independent:Fisher", "for independent p-values (no guarantee)"),
    "stouffer": ("independent:Stouffer", "for independent p-values (no guarantee)"),
}


@hookimpl
def register(registrar: Registrar) -> None:
    for name, (place, summary) in _COMBINERS.items():
        registrar.add(COMBINER, name, f"plausibly_builtins.combiners.{place}", summary=summary)
