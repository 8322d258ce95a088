"""Calibrators that compare with every label at its own mass, in one or several augmentations."""

from __future__ import annotations

from typing import Literal

import attrs
import numpy as np

from plausibly.plugin import CalibrationData, CalibrationScores, Claim, InputError, Keys


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
class Augmentation:
    """Calibrate on several augmentations x^1..x^m of each example.

    Labels count with their plausibilities, as in ``expected``.

    Attributes
    ----------
    scores : {"separate", "mean", "pooled"}
        ``"separate"`` compares augmentation j of a new example with augmentation j of the
        calibration examples, one p-value each, without a threshold; combiner ``average`` then keeps
        1 - 2 alpha only. ``"mean"`` compares mean scores, ``(1/m) sum_j E(x^j, k)``, ``"pooled"``
        one random augmentation of a new example with all of them, masses 1/m.

    References
    ----------
    Stutz et al., TMLR 2023, section on data augmentation; docs/guarantee.md.
    """

    scores: Literal["separate", "mean", "pooled"] = "mean"

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return one replicate per augmentation, or one of all."""
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
                augmentation="separate",
            )
        return CalibrationScores(
            scores=scores.reshape(1, -1),
            units=np.tile(masses, count),
            row=np.tile(row, count),
            denominator=denominator * count,
            separate=False,
            augmentation="pooled",
            claim=Claim(
                covers="Y, a label drawn from the plausibilities of a new example that is seen in "
                "a random one of its augmentations",
                reason="a random augmentation of the new example is one of its m, which weigh as "
                "much as those of another example",
            ),
        )
