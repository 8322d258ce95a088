"""Sorted adaptive prediction sets: of the probabilities, only the largest counts."""

from __future__ import annotations

import math
from typing import ClassVar

import attrs
import numpy as np

from plausibly.plugin import Floats, Places, ScoreFunction, ScoreInput, by_places
from plausibly_builtins.scores.checks import read_uniform, require_masses


@attrs.frozen(kw_only=True)
class Saps(ScoreFunction):
    """Score a label as `Aps` does, with the same weight for every label but the likeliest.

    Let ``M_0 = 0`` and ``M_r = max_l pi_l + (r - 1) weight`` be the mass of the first r labels,
    ``r_k = #{l : pi_l >= pi_k}`` and ``a_k = #{l : pi_l > pi_k}``. Then ``E(x, k) = -M_{r_k}``;
    randomised, with one uniform U an example, ``E(x, k) = -(M_{a_k} + U (M_{r_k} - M_{a_k}))``.
    Without ties the latter is the paper's score: ``-U max_l pi_l`` for the likeliest label and
    ``-(max_l pi_l + (r_k - 2 + U) weight)`` for the others.

    Choose the weight on examples that neither calibrate nor test: chosen on calibration examples,
    the guarantee does not hold.

    Attributes
    ----------
    weight : float
        Mass of each label but the likeliest, above 0.
    randomised : bool
        Whether the mass of labels tied with a label, itself among them, counts in part.

    References
    ----------
    Huang et al., Conformal prediction for deep classifier via label ranking, ICML 2024 (there with
    the other sign, and randomised).
    """

    weight: float = attrs.field(
        default=0.2,
        validator=attrs.validators.and_(attrs.validators.gt(0.0), attrs.validators.lt(math.inf)),
    )
    randomised: bool = False
    reads: ClassVar[ScoreInput] = "probability"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        """Return the scores, (..., label)."""
        require_masses(probabilities, "saps")
        draws = read_uniform(probabilities, uniform, "saps") if self.randomised else None
        return by_places(probabilities, draws, self._rule)

    def _rule(self, places: Places, uniform: Floats | None) -> Floats:
        largest, above, rank = places.largest, places.above, places.rank
        if uniform is None:
            plain: Floats = -(largest + self.weight * (rank - 1))
            return plain
        likeliest = uniform * (largest + self.weight * (rank - 1))
        others = largest + self.weight * ((above - 1) + uniform * (rank - above))
        return -np.where(above == 0, likeliest, others)
