"""Several augmentations of each example: what is compared with what."""

from __future__ import annotations

from typing import Literal

import attrs
import numpy as np

from plausibly.plugin import CalibrationData, CalibrationScores, Claim, InputError, Keys


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
                got="dims example, label",
                do="xarray.concat(parts, dim='augmentation'), or calibrator expected",
                whose="predictions",
            )
        atoms = data.atoms()
        row, label, masses, denominator = atoms
        count = len(every)
        if self.scores == "mean":
            return CalibrationScores(
                scores=data.scores_of(atoms)[None, :],
                units=masses,
                row=row,
                denominator=denominator,
                label=label[None, :],
                separate=False,
                augmentation="mean",
            )
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
                covers="a label drawn from the plausibilities of a new example, seen in a random "
                "one of its augmentations",
                why="a random augmentation of the new example is one of its m, which weigh as much "
                "as those of another example",
            ),
        )
