"""Label sets, plausibilities from equal shares, and labels that stand above others."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, ANNOTATION, Registrar, hookimpl

_HERE = "plausibly_builtins.label_set"
_AGGREGATORS = {
    "label-set": (
        "EqualSplit",
        "each set split equally over its labels (the default for label sets)",
    ),
    "spread": (
        "Spread",
        "any aggregator, then what a parent label has goes to the labels below it",
    ),
}


@hookimpl
def register(registrar: Registrar) -> None:
    kind = f"{_HERE}.annotation:LabelSet"
    registrar.add(ANNOTATION, "label-set", kind, summary="several labels a response")
    for name, (model, summary) in _AGGREGATORS.items():
        registrar.add(AGGREGATOR, name, f"{_HERE}.aggregators:{model}", summary=summary)
