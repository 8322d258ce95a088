"""Label sets, plausibilities from equal shares, and labels that stand above others."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, ANNOTATION, Registrar, hookimpl

_HERE = "plausibly_builtins.label_set"
_AGGREGATORS = {
    "label-set": ("EqualSplit", "each set split equally over its labels (default for label sets)"),
    "spread": ("Spread", "any aggregator; the share of a parent label goes to its children"),
}


@hookimpl
def register(registrar: Registrar) -> None:
    kind = f"{_HERE}.sets:LabelSet"
    registrar.add(ANNOTATION, "label-set", kind, summary="several labels per response")
    for name, (model, summary) in _AGGREGATORS.items():
        registrar.add(AGGREGATOR, name, f"{_HERE}.sets:{model}", summary=summary)
