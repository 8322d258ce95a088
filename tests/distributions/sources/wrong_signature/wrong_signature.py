"""A plugin whose hook takes something else."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, Registrar, hookimpl


@hookimpl  # type: ignore[arg-type]  # the mistake: the argument is called registrar
def register(reg: Registrar) -> None:
    """Register an aggregator that nobody will see."""
    reg.add(AGGREGATOR, "wrong", "wrong_signature:Wrong")
