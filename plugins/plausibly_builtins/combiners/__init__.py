"""Combiners: from the p-values of several replicates to one."""

from __future__ import annotations

from plausibly.plugin import COMBINER, Registrar, hookimpl

_COMBINERS = {
    "average": ("average:Average", "mean p-value (default)"),
    "twice-average": (
        "merging:TwiceAverage",
        "twice the mean p-value; guarantee for any dependence",
    ),
    "maximum": ("merging:Maximum", "largest p-value; larger sets"),
    "ecdf": ("held_out:Ecdf", "Algorithm 2; needs many held-out examples"),
    "held-out-rank": ("held_out:HeldOutRank", "rank of the mean p-value among held-out examples"),
    "pac": ("pac:Pac", "guarantee for this predictor with probability 1 - delta"),
    "bonferroni": ("merging:Bonferroni", "m times the smallest p-value"),
    "median": ("merging:Median", "twice the median p-value"),
    "geometric": ("merging:Geometric", "e times the geometric mean"),
    "harmonic": ("merging:Harmonic", "e log m times the harmonic mean"),
    "cauchy": ("merging:Cauchy", "Cauchy combination; no guarantee"),
    "exchangeable-average": (
        "merging:ExchangeableAverage",
        "twice the mean, for exchangeable replicates",
    ),
    "exchangeable-median": (
        "merging:ExchangeableMedian",
        "twice the median, for exchangeable replicates",
    ),
    "exchangeable-geometric": (
        "merging:ExchangeableGeometric",
        "geometric mean, for exchangeable replicates",
    ),
    "e-value": ("merging:EValue", "mean of conformal e-values; very large sets"),
    "fisher": ("merging:Fisher", "Fisher's method for independent p-values; no guarantee"),
    "stouffer": ("merging:Stouffer", "Stouffer's method for independent p-values; no guarantee"),
}


@hookimpl
def register(registrar: Registrar) -> None:
    for name, (place, summary) in _COMBINERS.items():
        registrar.add(COMBINER, name, f"plausibly_builtins.combiners.{place}", summary=summary)
