"""Figures of results: one function each, which takes axes of matplotlib and returns them.

Needs the extra ``plots``. Without axes a figure of its own is made, which shows itself in a
notebook and is written with ``axes.figure.savefig("figure.png")``; nothing global is touched.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plausibly.plots.by_alpha import alphas, threshold
    from plausibly.plots.covering import coverage
    from plausibly.plots.curves import p_values, realised, uniformity
    from plausibly.plots.parts import groups, labels, risk, strata
    from plausibly.plots.set_sizes import sizes

__all__ = [
    "alphas",
    "coverage",
    "groups",
    "labels",
    "p_values",
    "realised",
    "risk",
    "sizes",
    "strata",
    "threshold",
    "uniformity",
]

_HOME = {
    "alphas": "by_alpha",
    "coverage": "covering",
    "groups": "parts",
    "labels": "parts",
    "p_values": "curves",
    "realised": "curves",
    "risk": "parts",
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
