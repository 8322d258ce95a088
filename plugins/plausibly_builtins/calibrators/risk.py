"""Calibrators of losses: the mean risk of labels left out, and the mass that a set leaves out."""

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
    Floats,
    InputError,
    Keys,
    bounded,
    exact,
    listed,
)

# Risks finer than this are rounded up, which can only enlarge sets.
_FINEST = 10**6
_COARSE = 2**20


@attrs.frozen(kw_only=True)
class Risk:
    """Hold the mean risk of what sets leave out: ``E[sum_k r_k lambda_k 1[k not in C]] <= alpha``.

    The largest threshold with ``(sum_i loss_i + max r) / (n + 1) <= alpha``. With all risks 1 it is
    the calibrator ``expected``.

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
        risks = _risks(data.label_coordinate(self.by, source="calibrator risk"), self.by)
        fine = math.lcm(*(risk.denominator for risk in risks))
        parts = fine if fine <= _FINEST else _COARSE
        whole = np.array([math.ceil(risk * parts) for risk in risks])
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
                covers=f'the "{self.by}" of the labels that a set leaves out, weighted by their '
                "plausibilities for a new example",
                reason="the mean loss of n + 1 exchangeable examples is at most alpha, with the "
                "largest loss for the new one",
                reference="conformal risk control, arXiv 2208.02814",
            ),
        )


def _risks(values: NDArray[np.generic], by: str) -> list[Fraction]:
    """Return the risks as the decimals that were typed."""
    if values.dtype.kind in "fiu" and np.isfinite(values).all():
        risks = [exact(value) for value in values.tolist()]
        if min(risks) >= 0 and max(risks) > 0:
            return risks
    raise InputError(
        "risks-range",
        f'"{by}" of the labels has no risks',
        expected="finite numbers from 0 on, one above 0",
        found=listed(values.tolist()),
        hint=f'numbers for the levels in the column "{by}" of the label table, such as 1, 2, 3',
        source="labels",
    )


@attrs.frozen(kw_only=True)
class MassCoverage:
    """Hold 1 - t of the plausibilities of a new example: ``P(lambda(C) >= 1 - t) >= 1 - alpha``.

    The score of an example is the largest threshold that leaves out at most t of its
    plausibilities, ``e_i = max{tau : sum_k lambda_ik 1[E_ik < tau] <= t}``; the threshold is the
    ``floor(alpha (n + 1))``-th smallest of these. With t = 0 every plausible label is held.

    Attributes
    ----------
    leave_out : float
        Share of the plausibilities that a set may leave out, t.

    References
    ----------
    Split conformal prediction on e_i: docs/guarantee.md.
    """

    leave_out: float = attrs.field(
        default=0.1,
        validator=attrs.validators.and_(attrs.validators.ge(0.0), attrs.validators.lt(1.0)),
    )

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return one replicate with one atom per example."""
        share = exact(self.leave_out)
        held = bounded(1 - share)
        return CalibrationScores(
            scores=_largest_thresholds(data, share)[None, :],
            separate=False,
            claim=Claim(
                target="mass",
                share=1 - share,
                event=f"C(X) holds {held} of the plausibilities of X",
                covers=f"a share of {held} of the plausibilities of a new example, the answers "
                "of its annotators",
                reason="the largest threshold that leaves out no more is exchangeable with those "
                "of n others",
                reference="split conformal prediction, docs/guarantee.md",
            ),
        )


def _largest_thresholds(data: CalibrationData, share: Fraction) -> Floats:
    """Return e_i, (example,), in the float type of the scores."""
    atoms = data.atoms()
    scores = data.scores_of(atoms)
    order = np.lexsort((scores, atoms.row))
    each = np.bincount(atoms.row, minlength=len(data))
    start = np.cumsum(each) - each
    # Sums of integers: those before a row are taken off again, whatever they come to.
    total = np.concatenate(([0], np.cumsum(atoms.units[order])))
    cumulative = total[1:] - total[start][atoms.row]
    distinct, place = np.unique(atoms.denominator, return_inverse=True)
    most = np.array([math.floor(share * int(value)) for value in distinct], dtype=np.int64)[place]
    # The mass up to the last label is all of it, which is more than may be left out.
    passed = np.bincount(atoms.row[cumulative <= most[atoms.row]], minlength=len(data))
    largest: Floats = scores[order][start + passed]
    return largest
