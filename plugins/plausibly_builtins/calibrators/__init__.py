"""Calibrators: which scores a test score is compared with."""

from __future__ import annotations

from plausibly.plugin import CALIBRATOR, Registrar, hookimpl

_CALIBRATORS = {
    "expected": (
        "expected:Expected",
        "weight every label by its plausibility; draws nothing (default)",
    ),
    "monte-carlo": ("drawn:MonteCarlo", "draw labels from the plausibilities (Algorithm 1)"),
    "majority-vote": (
        "drawn:MajorityVote",
        "use the most plausible label only; no guarantee for answers",
    ),
    "mondrian": ("wrapped:Mondrian", "calibrate each group separately"),
    "weighted": ("wrapped:Weighted", "correct for a known covariate shift"),
    "clustered": ("wrapped:Clustered", "give every cluster the same weight"),
    "augmentation": ("expected:Augmentation", "use several augmentations per example"),
    "risk": ("risk:Risk", "bound the mean risk of missed labels"),
    "mass-coverage": ("risk:MassCoverage", "cover a chosen share of each example's answers"),
}


@hookimpl
def register(registrar: Registrar) -> None:
    for name, (place, summary) in _CALIBRATORS.items():
        registrar.add(CALIBRATOR, name, f"plausibly_builtins.calibrators.{place}", summary=summary)
