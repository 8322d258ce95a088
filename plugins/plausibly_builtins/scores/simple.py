"""Scores of one label: its probability, its log-probability, its lead."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from plausibly.plugin import Floats, ScoreFunction


@attrs.frozen(kw_only=True)
class Probability(ScoreFunction):
    """Score a label by its probability: ``E(x, k) = pi_k(x)``.

    References
    ----------
    Sadinle, Lei & Wasserman, Least ambiguous set-valued classifiers, JASA 2019 (there called LAC).
    """

    randomised: ClassVar[bool] = False
    reads = "probability"
    identity: ClassVar[bool] = True

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        return probabilities


@attrs.frozen(kw_only=True)
class LogProbability(ScoreFunction):
    """Score a label by its log-probability: ``E(x, k) = log pi_k(x)``.

    Sets are those of `Probability` but for ties of floats; small probabilities do not underflow.
    """

    randomised: ClassVar[bool] = False
    reads = "log-probability"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        return probabilities


@attrs.frozen(kw_only=True)
class Margin(ScoreFunction):
    """Score a label by its lead: ``E(x, k) = pi_k(x) - max_{l != k} pi_l(x)``.

    A label without others is compared with 0.

    References
    ----------
    Johansson et al., Model-agnostic nonconformity functions for conformal classification, IJCNN
    2017 (there with the other sign).
    """

    randomised: ClassVar[bool] = False
    reads = "probability"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        if probabilities.shape[-1] == 1:
            return probabilities
        two = np.partition(probabilities, -2, axis=-1)[..., -2:]
        second, first = two[..., :1], two[..., 1:]
        return probabilities - np.where(probabilities == first, second, first)
