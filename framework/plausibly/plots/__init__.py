"""Figures of results: one function each, which takes axes of matplotlib and returns them.

Needs the extra ``plots``. Without axes a figure of its own is made, which shows itself in a
notebook and is written with ``axes.figure.savefig("figure.png")``; nothing global is touched.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plausibly.plots.answers import agreement, annotators, confusion, disagreement, sensitivity
    from plausibly.plots.examples import example, region
    from plausibly.plots.plans import planning
    from plausibly.plots.sets import (
        alphas,
        coverage,
        groups,
        labels,
        p_values,
        realised,
        risk,
        sizes,
        strata,
        threshold,
        uniformity,
    )

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
    "agreement": "answers",
    "alphas": "sets",
    "annotators": "answers",
    "confusion": "answers",
    "coverage": "sets",
    "disagreement": "answers",
    "example": "examples",
    "groups": "sets",
    "labels": "sets",
    "p_values": "sets",
    "planning": "plans",
    "realised": "sets",
    "region": "examples",
    "risk": "sets",
    "sensitivity": "answers",
    "sizes": "sets",
    "strata": "sets",
    "threshold": "sets",
    "uniformity": "sets",
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
