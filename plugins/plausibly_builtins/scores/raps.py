"""Regularised adaptive prediction sets: labels far down the order are penalised."""

from __future__ import annotations

import math
from typing import ClassVar

import attrs
import numpy as np

from plausibly.plugin import Floats, Places, ScoreFunction, ScoreInput, by_places
from plausibly_builtins.scores.aps import adaptive
from plausibly_builtins.scores.checks import read_uniform, require_masses


@attrs.frozen(kw_only=True)
class Raps(ScoreFunction):
    """Score a label as `Aps` does, less a penalty that grows with its rank.

    ``E(x, k) = E_aps(x, k) - penalty (r_k - free_rank)_+`` with ``r_k = #{l : pi_l >= pi_k}``, 1
    for the likeliest label: ranks up to `free_rank` are free, the next costs one penalty. With
    penalty 0 it is `Aps`, bit for bit.

    Choose the parameters on examples that neither calibrate nor test: chosen on calibration
    examples, the guarantee does not hold.

    Attributes
    ----------
    penalty : float
        What each rank past `free_rank` costs, at least 0.
    free_rank : int
        Ranks without penalty, at least 0.
    randomised : bool
        As for `Aps`.

    References
    ----------
    Angelopoulos et al., Uncertainty sets for image classifiers using conformal prediction, ICLR
    2021 (there with the other sign, lambda and k_reg).
    """

    penalty: float = attrs.field(
        default=0.1,
        validator=attrs.validators.and_(attrs.validators.ge(0.0), attrs.validators.lt(math.inf)),
    )
    free_rank: int = attrs.field(default=1, validator=attrs.validators.ge(0))
    randomised: bool = False
    reads: ClassVar[ScoreInput] = "probability"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        """Return the scores, (..., label)."""
        require_masses(probabilities, "raps")
        draws = read_uniform(probabilities, uniform, "raps") if self.randomised else None
        return by_places(probabilities, draws, self._rule)

    def _rule(self, places: Places, uniform: Floats | None) -> Floats:
        past = np.maximum(places.rank - self.free_rank, 0)
        scores: Floats = adaptive(places, uniform) - self.penalty * past
        return scores
