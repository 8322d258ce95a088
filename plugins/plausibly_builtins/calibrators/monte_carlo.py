"""Monte Carlo conformal prediction: calibration on drawn labels."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.plugin import DRAWN_LABELS, CalibrationData, CalibrationScores, Claim, Keys


@attrs.frozen(kw_only=True)
class MonteCarlo:
    """Compare with the scores of labels drawn from the plausibilities.

    Atoms ``E(X_i, Y_i^j)`` with ``Y_i^j ~ lambda_i``, j = 1..m, one replicate a draw. Draws of
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
        """Return one replicate a draw."""
        if self.systematic:
            codes = data.labels_at(_spaced(data, self.draws, keys))
        else:
            codes = data.draw(self.draws, keys)
        return CalibrationScores(
            scores=data.scores_at(codes), label=codes, claim=Claim(random=(DRAWN_LABELS,))
        )


def _spaced(data: CalibrationData, draws: int, keys: Keys) -> NDArray[np.float64]:
    """Return evenly spaced points in [0, 1) for each example, (example, draw)."""
    offset = keys.child("offset").uniform(data.hashes)
    # In a random order, so that draws of an example are exchangeable as independent ones are.
    place = np.argsort(keys.child("order").uniform(data.hashes, draws), axis=1, kind="stable")
    spaced: NDArray[np.float64] = np.minimum((place + offset) / draws, np.nextafter(1.0, 0.0))
    return spaced
