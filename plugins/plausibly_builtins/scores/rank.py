"""The place among the labels as conformity score."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from plausibly.plugin import Floats, Places, ScoreFunction, ScoreInput, by_places


def _from_last(places: Places, _: Floats | None) -> Floats:
    scores: Floats = np.negative(places.rank, dtype=np.float64)
    return scores


@attrs.frozen(kw_only=True)
class Rank(ScoreFunction):
    """Score a label by its place: ``E(x, k) = -#{l : pi_l(x) >= pi_k(x)}``.

    -1 is the likeliest label, -K the least likely one; labels of equal probability share the worse
    place. Sets are the k likeliest labels of every example, with the same k for all of them.
    """

    randomised: ClassVar[bool] = False
    reads: ClassVar[ScoreInput] = "probability"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        """Return the ranks, negative, (..., label)."""
        return by_places(probabilities, None, _from_last)
