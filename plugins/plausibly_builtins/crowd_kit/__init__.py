"""Aggregators of the library crowd-kit, each wrapped by what it offers."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, Registrar, hookimpl

_EXTRA = "crowd"
_COMPONENTS = (
    ("glad", "Glad", "abilities of annotators, and how hard an example is (EM)"),
    ("mace", "Mace", "annotators know the label or say what they always say (EM)"),
    ("mmsr", "Mmsr", "accuracies of annotators, robust to some who mislead"),
    ("kos", "Kos", "message passing between annotators and examples; two labels only"),
    ("dawid-skene", "DawidSkene", "crowd-kit's own dawid-skene, to compare with"),
    ("one-coin", "OneCoin", "crowd-kit's own one-coin, to compare with"),
    ("wawa", "Wawa", "crowd-kit's own worker-agreement, to compare with"),
    ("zero-based-skill", "ZeroBasedSkill", "agreement with the weighted majority"),
)


@hookimpl
def register(registrar: Registrar) -> None:
    for name, place, summary in _COMPONENTS:
        registrar.add(
            AGGREGATOR,
            name,
            f"plausibly_builtins.crowd_kit.models:{place}",
            summary=summary,
            extra=_EXTRA,
        )
