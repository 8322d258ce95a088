"""The lead over the best other label as conformity score."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from plausibly.plugin import Floats, ScoreFunction, ScoreInput


@attrs.frozen(kw_only=True)
class Margin(ScoreFunction):
    """Score a label by its lead: ``E(x, k) = pi_k(x) - max_{l != k} pi_l(x)``.

    In [-1, 1] for probabilities. Labels that share the largest probability have margin 0; a label
    without others is compared with 0.

    References
    ----------
    Johansson et al., Model-agnostic nonconformity functions for conformal classification, IJCNN
    2017 (there with the other sign).
    """

    randomised: ClassVar[bool] = False
    reads: ClassVar[ScoreInput] = "probability"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        """Return the margins, (..., label)."""
        if probabilities.shape[-1] == 1:
            return probabilities
        two = np.partition(probabilities, -2, axis=-1)[..., -2:]
        second, first = two[..., :1], two[..., 1:]
        margins: Floats = probabilities - np.where(probabilities == first, second, first)
        return margins
