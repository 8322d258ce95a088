"""Sets that hold most of what experts say, with probability 1 - alpha."""

from __future__ import annotations

import math
from fractions import Fraction

import attrs
import numpy as np

from plausibly.plugin import CalibrationData, CalibrationScores, Claim, Floats, Keys, bounded, exact

_BELOW_ONE = (attrs.validators.ge(0.0), attrs.validators.lt(1.0))


@attrs.frozen(kw_only=True)
class MassCoverage:
    """Hold 1 - t of the plausibilities of a new example: ``P(lambda(C) >= 1 - t) >= 1 - alpha``.

    The score of an example is the largest threshold that leaves out at most t of its
    plausibilities, ``e_i = max{tau : sum_k lambda_ik 1[E_ik < tau] <= t}``; the threshold is the
    ``floor(alpha (n + 1))``-th smallest of these. With t = 0 every plausible label is held: all
    labels of a multi-label example.

    Attributes
    ----------
    leave_out : float
        Share of the plausibilities that a set may leave out, t.

    References
    ----------
    Split conformal prediction on e_i: docs/guarantee.md.
    """

    leave_out: float = attrs.field(default=0.1, validator=attrs.validators.and_(*_BELOW_ONE))

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return one replicate with one atom an example."""
        share = exact(self.leave_out)
        held = bounded(1 - share)
        return CalibrationScores(
            scores=_largest_thresholds(data, share)[None, :],
            separate=False,
            claim=Claim(
                target="mass",
                share=1 - share,
                event=f"C(X) holds {held} of the plausibilities of X",
                covers=f"a share of {held} of the plausibilities of a new example: of what experts "
                "would say of it",
                why="the largest threshold that leaves out no more is exchangeable with those of n "
                "others",
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
    most = np.array([math.floor(share * int(one)) for one in distinct], dtype=np.int64)[place]
    # The mass up to the last label is all of it, which is more than may be left out.
    passed = np.bincount(atoms.row[cumulative <= most[atoms.row]], minlength=len(data))
    found: Floats = scores[order][start + passed]
    return found
