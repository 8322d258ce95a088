"""Calibrators: which scores a test score is compared with."""

from __future__ import annotations

from plausibly.plugin import CALIBRATOR, Registrar, hookimpl


@hookimpl
def register(registrar: Registrar) -> None:
    """Register the components of this family."""
    registrar.add(
        CALIBRATOR,
        "expected",
        "plausibly_builtins.calibrators.expected:Expected",
        summary="every label of every example, with its plausibility as mass (the default)",
    )
    registrar.add(
        CALIBRATOR,
        "monte-carlo",
        "plausibly_builtins.calibrators.monte_carlo:MonteCarlo",
        summary="labels drawn from the plausibilities",
    )
    registrar.add(
        CALIBRATOR,
        "voted",
        "plausibly_builtins.calibrators.voted:Voted",
        summary="the label with the largest plausibility: no guarantee for the others",
    )
