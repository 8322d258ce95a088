"""Label sets, plausibilities from equal shares, and labels that stand above others."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, ANNOTATION, Registrar, hookimpl


@hookimpl
def register(registrar: Registrar) -> None:
    registrar.add(
        ANNOTATION,
        "label-set",
        "plausibly_builtins.label_set.annotation:LabelSet",
        summary="several labels a response",
    )
    registrar.add(
        AGGREGATOR,
        "label-set",
        "plausibly_builtins.label_set.equal_split:EqualSplit",
        summary="each set split equally over its labels (the default for label sets)",
    )
    registrar.add(
        AGGREGATOR,
        "spread",
        "plausibly_builtins.label_set.spread:Spread",
        summary="any aggregator, then what a parent label has goes to the labels below it",
    )
