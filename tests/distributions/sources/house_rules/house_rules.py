"""A combiner with the signature of another library."""

from __future__ import annotations

from typing import ClassVar

import attrs

from plausibly.plugin import COMBINER, Registrar, hookimpl


@attrs.frozen(kw_only=True)
class HouseMin:
    """The smallest p-value, times their number."""

    held_out: ClassVar[float] = 0.0
    needs: ClassVar[str] = "mean"

    def combine(self, p_values: object, alpha: object) -> object:
        """Return what the other library wants."""
        return p_values

    def guarantee(self, claim: object, summary: object, alpha: object) -> object:
        """Return what the other library promises."""
        return summary


@hookimpl
def register(registrar: Registrar) -> None:
    """Register the combiner by its place, so that it is looked at when it is asked for."""
    registrar.add(COMBINER, "house-min", "house_rules:HouseMin")
