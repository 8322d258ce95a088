"""Calibrators by the labels they compare with: expected, drawn, majority vote, augmented."""

from __future__ import annotations

from typing import Literal

import attrs
import numpy as np

from plausibly.plugin import (
    DRAWN_LABELS,
    CalibrationData,
    CalibrationScores,
    Claim,
    InputError,
    Keys,
)


@attrs.frozen(kw_only=True)
class Expected:
    """Compare with the scores of every plausible label, weighted by its plausibility.

    Atoms ``E(X_i, k)`` with mass ``lambda_ik``: the limit of infinitely many draws, without
    drawing. It is conformal risk control with the plausibility mass left out as the loss.

    References
    ----------
    Angelopoulos et al., Conformal risk control, arXiv 2208.02814.
    """

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return one replicate whose atoms carry masses; only mean p-values exist."""
        atoms = data.atoms()
        return CalibrationScores(
            scores=data.scores_of(atoms)[None, :],
            units=atoms.units,
            row=atoms.row,
            denominator=atoms.denominator,
            label=atoms.label[None, :],
            separate=False,
        )


@attrs.frozen(kw_only=True)
class MonteCarlo:
    """Compare with the scores of labels drawn from the plausibilities.

    Atoms ``E(X_i, Y_i^j)`` with ``Y_i^j ~ lambda_i``, j = 1..m, one replicate per draw. Draws of
    different examples are independent. They depend on the seed and on the order of the labels in
    the calibration predictions.

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
    calibration predictions. The guarantee is of the majority vote and says nothing of the
    plausibilities: the other opinions may be left out.
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


@attrs.frozen(kw_only=True)
class Augmentation:
    """Calibrate on several augmentations x^1..x^m of each example.

    ``"separate"`` compares augmentation j of a new example with augmentation j of the calibration
    examples, one p-value each: there is no threshold, and combiner ``average`` keeps 1 - 2 alpha
    only; ``maximum``, ``held-out-rank`` and the rules for p-values of any dependence keep
    1 - alpha. ``"mean"`` compares mean scores, ``(1/m) sum_j E(x^j, k)``, and keeps 1 - alpha.
    ``"pooled"`` compares one augmentation with all of them, masses 1/m, and keeps 1 - alpha for a
    random augmentation of a new example. Labels count with their plausibilities, as in
    ``expected``.

    Attributes
    ----------
    scores : {"separate", "mean", "pooled"}

    References
    ----------
    Stutz et al., TMLR 2023, section on data augmentation; docs/guarantee.md.
    """

    scores: Literal["separate", "mean", "pooled"] = "mean"

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return one replicate an augmentation, or one of all."""
        every = data.augmented
        if every is None:
            raise InputError(
                "augmentations-missing",
                "predictions have no augmentations",
                expected="the dim augmentation: predictions of each augmentation of an example",
                found="dims example, label",
                hint="xarray.concat(parts, dim='augmentation'), or calibrator expected",
                source="predictions",
            )
        if self.scores == "mean":
            calibration = Expected().calibrate(data, keys)
            return attrs.evolve(calibration, augmentation="mean")
        row, label, masses, denominator = data.atoms()
        count = len(every)
        scores = every[:, row, label]
        if self.scores == "separate":
            return CalibrationScores(
                scores=scores,
                units=masses,
                row=row,
                denominator=denominator,
                label=np.tile(label, (count, 1)),
                augmentation="separate",
            )
        return CalibrationScores(
            scores=scores.reshape(1, -1),
            units=np.tile(masses, count),
            row=np.tile(row, count),
            denominator=denominator * count,
            label=np.tile(label, count)[None, :],
            separate=False,
            augmentation="pooled",
            claim=Claim(
                covers="Y, a label drawn from the plausibilities of a new example that is seen in "
                "a random one of its augmentations",
                reason="a random augmentation of the new example is one of its m, which weigh as "
                "much as those of another example",
            ),
        )
