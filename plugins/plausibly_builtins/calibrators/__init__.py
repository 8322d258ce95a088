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
    registrar.add(
        CALIBRATOR,
        "mondrian",
        "plausibly_builtins.calibrators.mondrian:Mondrian",
        summary="apart by a group that is known of new examples, or by label",
    )
    registrar.add(
        CALIBRATOR,
        "weighted",
        "plausibly_builtins.calibrators.weighted:Weighted",
        summary="weighted by likelihood ratios, for covariate shift",
    )
    registrar.add(
        CALIBRATOR,
        "grouped",
        "plausibly_builtins.calibrators.grouped:Grouped",
        summary="several examples of a patient: for an example of a new patient",
    )
    registrar.add(
        CALIBRATOR,
        "augmentation",
        "plausibly_builtins.calibrators.augmentation:Augmentation",
        summary="several augmentations of each example: mean, pooled or separate scores",
    )
    registrar.add(
        CALIBRATOR,
        "risk",
        "plausibly_builtins.calibrators.risk:Risk",
        summary="holds the mean risk of the labels left out",
    )
    registrar.add(
        CALIBRATOR,
        "mass-coverage",
        "plausibly_builtins.calibrators.mass_coverage:MassCoverage",
        summary="holds most of the plausibilities of an example, with probability 1 - alpha",
    )
