"""Adaptive prediction sets: the mass that is less likely than a label."""

from __future__ import annotations

from typing import ClassVar

import attrs

from plausibly.plugin import Floats, Places, ScoreFunction, ScoreInput, by_places
from plausibly_builtins.scores.checks import read_uniform, require_masses


def adaptive(places: Places, uniform: Floats | None) -> Floats:
    """Return the mass below each label; with a uniform U, also 1 - U of tied mass."""
    return places.below if uniform is None else places.below + (1 - uniform) * places.tied


@attrs.frozen(kw_only=True)
class Aps(ScoreFunction):
    """Score a label by the probability of the labels that are less likely.

    ``E(x, k) = sum_l pi_l 1[pi_l < pi_k]``. Where probabilities sum to 1 this is one minus the
    mass cumulated from the likeliest label up to and including k, ``1 - sum_l pi_l 1[pi_l >=
    pi_k]``; summed from below it is exact where that mass is nearly 1.

    Randomised, with one uniform U an example, which all its labels share:
    ``E(x, k) = sum_l pi_l 1[pi_l < pi_k] + (1 - U) sum_l pi_l 1[pi_l = pi_k]``, that is one minus
    (the mass strictly above k, and U of the mass tied with k). U = 1 gives the form without.

    The least likely label scores 0. A label of probability 0 scores 0 in both forms: in the
    deterministic one it ties with the least likely label of an example whose probabilities are all
    positive; in the randomised one every label of positive probability scores more.

    Attributes
    ----------
    randomised : bool
        Whether the mass tied with a label counts in part. Calibration and prediction take the same
        form, with uniforms keyed by the examples' names.

    References
    ----------
    Romano, Sesia & Candès, Classification with valid and adaptive coverage, NeurIPS 2020 (there
    with the other sign).
    """

    randomised: bool = False
    reads: ClassVar[ScoreInput] = "probability"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        """Return the scores, (..., label)."""
        require_masses(probabilities, "aps")
        draws = read_uniform(probabilities, uniform, "aps") if self.randomised else None
        return by_places(probabilities, draws, adaptive)
