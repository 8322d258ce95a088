"""Conformal risk control: labels cost what they risk, and the mean cost of leaving out is held."""

from __future__ import annotations

import math
from fractions import Fraction

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.plugin import (
    CalibrationData,
    CalibrationScores,
    Claim,
    InputError,
    Keys,
    exact,
    listed,
)

# Risks finer than this are rounded up, which can only enlarge sets.
_FINEST = 10**6
_COARSE = 2**20


@attrs.frozen(kw_only=True)
class Risk:
    """Hold the mean risk of what sets leave out: ``E[sum_k r_k lambda_k 1[k not in C]] <= alpha``.

    The largest threshold with ``(sum_i loss_i + max r) / (n + 1) <= alpha``; no sampling. With all
    risks 1 it is the calibrator ``expected``.

    Attributes
    ----------
    by : str
        Coordinate of the labels with their risks, numbers from 0 on. alpha is in the same units;
        where it would be 1 or more, divide both by the largest risk.

    References
    ----------
    Angelopoulos, Bates, Fisch, Lei & Schuster, Conformal risk control, arXiv 2208.02814.
    """

    by: str = attrs.field(validator=attrs.validators.min_len(1))

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return one replicate whose atoms weigh plausibility times risk."""
        risks = _risks(data.label_coordinate(self.by, whose="calibrator risk"), self.by)
        fine = math.lcm(*(risk.denominator for risk in risks))
        parts = fine if fine <= _FINEST else _COARSE
        whole = np.array([math.ceil(risk * parts) for risk in risks], dtype=np.int64)
        # Labels without a risk are atoms too: their examples count.
        atoms = data.atoms()
        return CalibrationScores(
            scores=data.scores_of(atoms)[None, :],
            # Python integers: finely counted plausibilities times finely counted risks are large.
            units=atoms.units.astype(object) * whole[atoms.label],
            row=atoms.row,
            denominator=atoms.denominator.astype(object) * parts,
            separate=False,
            test_mass=max(risks),
            claim=Claim(
                target="risk",
                event=f"{self.by} left out",
                covers=f'the "{self.by}" of the labels that a set leaves out, each times its '
                "plausibility: what experts would say of a new example",
                why="the mean loss of n + 1 exchangeable examples is at most alpha, with the "
                "largest loss for the new one",
                reference="conformal risk control, arXiv 2208.02814",
            ),
        )


def _risks(values: NDArray[np.generic], by: str) -> list[Fraction]:
    """Return the risks as the decimals that were typed."""
    numeric = values.dtype.kind in "fiu"
    wrong = [str(v) for v in values.tolist() if not numeric or not math.isfinite(v) or v < 0]
    if not wrong:
        risks = [exact(value) for value in values.tolist()]
        if max(risks) > 0:
            return risks
    raise InputError(
        "risks-range",
        f'"{by}" of the labels has no risks',
        expected="finite numbers from 0 on, one above 0",
        got=listed(wrong) or "only 0",
        do=f'numbers for the levels in the column "{by}" of the label table, such as 1, 2, 3',
        whose="labels",
    )
