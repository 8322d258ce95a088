"""Aggregators of the library crowd-kit, each wrapped by what it offers."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, Registrar, hookimpl

_EXTRA = "crowd"
_COMPONENTS = (
    ("glad", "Glad", "ability of each annotator, difficulty of each example (EM)"),
    ("mace", "Mace", "annotators know the label or guess, each in their own way (EM)"),
    ("mmsr", "Mmsr", "accuracy of each annotator, robust to adversarial ones"),
    ("kos", "Kos", "message passing between annotators and examples; two labels only"),
    ("dawid-skene", "DawidSkene", "Dawid-Skene as crowd-kit implements it"),
    ("one-coin", "OneCoin", "one-coin Dawid-Skene as crowd-kit implements it"),
    ("wawa", "Wawa", "worker agreement (Wawa) as crowd-kit implements it"),
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
