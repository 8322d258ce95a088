"""Calibrators: which scores a test score is compared with."""

from __future__ import annotations

from plausibly.plugin import CALIBRATOR, Registrar, hookimpl

_CALIBRATORS = {
    "expected": (
        "expected:Expected",
        "every label of every example, with its plausibility as mass (the default)",
    ),
    "monte-carlo": ("expected:MonteCarlo", "labels drawn from the plausibilities"),
    "majority-vote": (
        "expected:MajorityVote",
        "the label with the largest plausibility: no guarantee for the others",
    ),
    "mondrian": (
        "wrapped:Mondrian",
        "apart by a group that is known of new examples, or by label",
    ),
    "weighted": ("wrapped:Weighted", "weighted by likelihood ratios, for covariate shift"),
    "clustered": (
        "wrapped:Clustered",
        "several examples of a patient: for an example of a new patient",
    ),
    "augmentation": (
        "expected:Augmentation",
        "several augmentations of each example: mean, pooled or separate scores",
    ),
    "risk": ("risk:Risk", "holds the mean risk of the labels left out"),
    "mass-coverage": (
        "risk:MassCoverage",
        "holds most of the plausibilities of an example, with probability 1 - alpha",
    ),
}


@hookimpl
def register(registrar: Registrar) -> None:
    for name, (place, summary) in _CALIBRATORS.items():
        registrar.add(CALIBRATOR, name, f"plausibly_builtins.calibrators.{place}", summary=summary)
