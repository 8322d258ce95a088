"""Monte Carlo conformal prediction: calibration on drawn labels."""

from __future__ import annotations

import attrs

from plausibly.plugin import CalibrationData, Keys, Replicates


@attrs.frozen(kw_only=True)
class MonteCarlo:
    """Compare with the scores of labels drawn from the plausibilities.

    Atoms ``E(X_i, Y_i^j)`` with ``Y_i^j ~ lambda_i``, j = 1..m, one replicate a draw. Draws of
    different examples are independent.

    Attributes
    ----------
    draws : int
        Labels drawn for each calibration example, m.

    References
    ----------
    Stutz et al., Conformal prediction under ambiguous ground truth, TMLR 2023, Algorithm 1.
    """

    draws: int = attrs.field(default=10, validator=attrs.validators.ge(1))

    def replicates(self, data: CalibrationData, keys: Keys) -> Replicates:
        """Return one replicate a draw."""
        return Replicates(scores=data.scores_at(data.draw(self.draws, keys)))
