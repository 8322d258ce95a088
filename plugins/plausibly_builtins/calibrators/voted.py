"""Calibration on the voted label, the usual practice."""

from __future__ import annotations

import attrs

from plausibly.plugin import CalibrationData, CalibrationScores, Claim, Keys


@attrs.frozen(kw_only=True)
class Voted:
    """Compare with the score of the voted label of each calibration example.

    Atoms ``E(X_i, argmax lambda_i)``, mass 1. Ties go to the first label in the order of the
    calibration predictions. The guarantee is of the voted label and says nothing of the
    plausibilities: the other opinions may be left out.
    """

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return one replicate: the score of the vote of each example."""
        codes = data.voted()[None, :]
        return CalibrationScores(
            scores=data.scores_at(codes),
            label=codes,
            claim=Claim(
                covers="the voted label of a new example: its largest plausibility, the first of "
                "ties",
                target="voted",
            ),
        )
