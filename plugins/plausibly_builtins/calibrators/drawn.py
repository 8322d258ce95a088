"""Calibrators that compare with one label per example: drawn, several times, or voted."""

from __future__ import annotations

import attrs
import numpy as np

from plausibly.plugin import DRAWN_LABELS, CalibrationData, CalibrationScores, Claim, Keys


@attrs.frozen(kw_only=True)
class MonteCarlo:
    """Compare with the scores of labels drawn from the plausibilities.

    Atoms ``E(X_i, Y_i^j)`` with ``Y_i^j ~ lambda_i``, j = 1..m, one replicate per draw. Draws
    depend on the seed and on the order of the labels in the calibration predictions.

    Attributes
    ----------
    draws : int
        Labels drawn for each calibration example, m.
    systematic : bool
        Draw at evenly spaced points of each example's plausibilities, with one random offset and
        in a random order: draw j is the label at ``(u_i + j - 1) / m``. Each draw still follows the
        plausibilities, with less spread; the first draws then depend on how many there are.

    References
    ----------
    Stutz et al., Conformal prediction under ambiguous ground truth, TMLR 2023, Algorithm 1.
    """

    draws: int = attrs.field(default=10, validator=attrs.validators.ge(1))
    systematic: bool = False

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return one replicate per draw."""
        if self.systematic:
            offset = keys.child("offset").uniform(data.hashes)
            # In a random order, so that draws of an example are exchangeable as independent ones.
            order = keys.child("order").uniform(data.hashes, self.draws)
            place = np.argsort(order, axis=1, kind="stable")
            spaced = np.minimum((place + offset) / self.draws, np.nextafter(1.0, 0.0))
            codes = data.labels_at(spaced)
        else:
            codes = data.draw(self.draws, keys)
        return CalibrationScores(
            scores=data.scores_at(codes), label=codes, claim=Claim(random=(DRAWN_LABELS,))
        )


@attrs.frozen(kw_only=True)
class MajorityVote:
    """Compare with the score of the majority vote of each calibration example.

    Atoms ``E(X_i, argmax lambda_i)``, mass 1. Ties go to the first label in the order of the
    calibration predictions. The guarantee is of the majority vote, not of the other answers.
    """

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return one replicate: the score of the vote of each example."""
        codes = data.majority_vote()[None, :]
        return CalibrationScores(
            scores=data.scores_at(codes),
            label=codes,
            claim=Claim(
                covers="the majority vote of a new example: its largest plausibility, the first of "
                "ties",
                target="majority-vote",
            ),
        )
