"""Components that lack a member: one given as a class, one by its place, one that is not there."""

from __future__ import annotations

from typing import ClassVar

import attrs

from plausibly.plugin import AGGREGATOR, Registrar, hookimpl


@attrs.frozen(kw_only=True)
class Half:
    """An aggregator that cannot aggregate."""

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})

    def aggregat(self, annotations: object, keys: object) -> object:
        """Return nothing: the name is misspelt."""
        return None


@hookimpl
def register(registrar: Registrar) -> None:
    """Register all three."""
    registrar.add(AGGREGATOR, "half-class", Half)  # type: ignore[arg-type]  # the mistake
    registrar.add(AGGREGATOR, "half-place", "half_component:Half")
    registrar.add(AGGREGATOR, "half-gone", "half_component:Gone")
