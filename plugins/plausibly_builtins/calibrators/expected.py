"""Expected draws: Monte Carlo conformal prediction with every label at its own mass."""

from __future__ import annotations

import attrs

from plausibly.plugin import CalibrationData, CalibrationScores, Keys


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
