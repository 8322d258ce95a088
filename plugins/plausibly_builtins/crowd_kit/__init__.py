"""Aggregators of the library crowd-kit, each wrapped by what it offers."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, Registrar, hookimpl

_EXTRA = "crowd"
_COMPONENTS = (
    ("glad", "glad:Glad", "abilities of annotators, and how hard an example is (EM)"),
    ("mace", "mace:Mace", "annotators know the label or say what they always say (EM)"),
    ("mmsr", "mmsr:Mmsr", "accuracies of annotators, robust to some who mislead"),
    ("kos", "kos:Kos", "message passing between annotators and examples; two labels only"),
    ("dawid-skene", "dawid_skene:DawidSkene", "crowd-kit's own dawid-skene, to compare with"),
    ("one-coin", "one_coin:OneCoin", "crowd-kit's own one-coin, to compare with"),
    ("wawa", "wawa:Wawa", "crowd-kit's own worker-agreement, to compare with"),
    ("zero-based-skill", "zero_based_skill:ZeroBasedSkill", "agreement with the weighted majority"),
)


@hookimpl
def register(registrar: Registrar) -> None:
    """Register the components of this family."""
    for name, place, summary in _COMPONENTS:
        registrar.add(
            AGGREGATOR,
            name,
            f"plausibly_builtins.crowd_kit.{place}",
            summary=summary,
            extra=_EXTRA,
        )
