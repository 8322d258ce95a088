"""Figures of results: one function each, which takes axes of matplotlib and returns them.

Needs the extra ``plots``. Without axes a figure of its own is made, which shows itself in a
notebook and is written with ``axes.figure.savefig("figure.png")``; nothing global is touched.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plausibly.plots.agreeing import agreement, annotators
    from plausibly.plots.by_alpha import alphas, threshold
    from plausibly.plots.covering import coverage
    from plausibly.plots.curves import p_values, realised, uniformity
    from plausibly.plots.heat import confusion, disagreement, sensitivity
    from plausibly.plots.one_example import example, region
    from plausibly.plots.parts import groups, labels, risk, strata
    from plausibly.plots.plan_bounds import planning
    from plausibly.plots.set_sizes import sizes

__all__ = [
    "agreement",
    "alphas",
    "annotators",
    "confusion",
    "coverage",
    "disagreement",
    "example",
    "groups",
    "labels",
    "p_values",
    "planning",
    "realised",
    "region",
    "risk",
    "sensitivity",
    "sizes",
    "strata",
    "threshold",
    "uniformity",
]

_HOME = {
    "agreement": "agreeing",
    "alphas": "by_alpha",
    "annotators": "agreeing",
    "confusion": "heat",
    "coverage": "covering",
    "disagreement": "heat",
    "example": "one_example",
    "groups": "parts",
    "labels": "parts",
    "p_values": "curves",
    "planning": "plan_bounds",
    "realised": "curves",
    "region": "one_example",
    "risk": "parts",
    "sensitivity": "heat",
    "sizes": "set_sizes",
    "strata": "parts",
    "threshold": "by_alpha",
    "uniformity": "curves",
}


if not TYPE_CHECKING:  # pragma: no branch  # so that a checker knows a name that is not there

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
