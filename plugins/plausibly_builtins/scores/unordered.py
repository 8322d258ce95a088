"""Scores of labels in any order: of one probability, of the rank, and of sums (APS, RAPS, SAPS)."""

from __future__ import annotations

import math
from typing import ClassVar

import attrs
import numpy as np

from plausibly.plugin import (
    Floats,
    IncompatibleComponents,
    InputError,
    Places,
    ScoreFunction,
    by_places,
)


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


@attrs.frozen(kw_only=True)
class Rank(ScoreFunction):
    """Score a label by its place: ``E(x, k) = -#{l : pi_l(x) >= pi_k(x)}``.

    -1 is the likeliest label, -K the least likely one; labels of equal probability share the worse
    place. Sets are the k likeliest labels of every example, with the same k for all of them.
    """

    randomised: ClassVar[bool] = False
    reads = "probability"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        return by_places(
            probabilities, None, lambda places, _: np.negative(places.rank, dtype=np.float64)
        )


class Adaptive(ScoreFunction):
    """Base of scores that add probabilities up."""

    name: ClassVar[str]
    reads = "probability"
    randomised: bool

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        least = probabilities.min(initial=0.0)
        if least < 0:
            raise IncompatibleComponents(
                "scale-unsuitable",
                f"score {self.name} adds probabilities up, and the predictions fall below 0",
                expected="scale probability, logit or independent",
                found=f"{least:.4g}",
                hint="score margin or rank, or scale='logit' if they are logits",
                source=f"score {self.name}",
            )
        if not self.randomised:
            return self._summed(probabilities, None)
        wanted = (*probabilities.shape[:-1], 1)
        draws = np.asarray(uniform, dtype=np.float64)  # None has no shape
        if draws.shape != wanted or not ((draws >= 0) & (draws <= 1)).all():
            raise InputError(
                "uniform-malformed",
                f"score {self.name} needs one uniform per example",
                expected=f"numbers from 0 to 1 of shape {wanted}",
                found=f"shape {draws.shape}",
                hint=f"uniform=numpy.random.default_rng(0).random({wanted})",
                source=f"score {self.name}",
            )
        return self._summed(probabilities, draws)

    def _summed(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        return by_places(probabilities, uniform, self._rule)

    def _rule(self, places: Places, uniform: Floats | None) -> Floats:
        """Return the mass below each label; with a uniform U, also 1 - U of tied mass."""
        return places.below if uniform is None else places.below + (1 - uniform) * places.tied


@attrs.frozen(kw_only=True)
class Aps(Adaptive):
    """Score a label by the probability of the labels that are less likely.

    ``E(x, k) = sum_l pi_l 1[pi_l < pi_k]``. Where probabilities sum to 1 this is one minus the
    mass cumulated from the likeliest label up to and including k; summed from below it is exact
    where that mass is nearly 1. Randomised, with one uniform U per example, which all its labels
    share: ``E(x, k) = sum_l pi_l 1[pi_l < pi_k] + (1 - U) sum_l pi_l 1[pi_l = pi_k]``.

    Attributes
    ----------
    randomised : bool
        Whether the mass tied with a label counts in part, with uniforms keyed by the examples'
        names.

    References
    ----------
    Romano, Sesia & Candès, Classification with valid and adaptive coverage, NeurIPS 2020 (there
    with the other sign).
    """

    name: ClassVar[str] = "aps"

    randomised: bool = False


@attrs.frozen(kw_only=True)
class Raps(Adaptive):
    """Score a label as `Aps` does, less a penalty that grows with its rank.

    ``E(x, k) = E_aps(x, k) - penalty (r_k - free_rank)_+`` with ``r_k = #{l : pi_l >= pi_k}``, 1
    for the likeliest label. Choose the parameters on examples that neither calibrate nor test: the
    guarantee does not hold else.

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

    name: ClassVar[str] = "raps"

    penalty: float = attrs.field(
        default=0.1,
        validator=attrs.validators.and_(attrs.validators.ge(0.0), attrs.validators.lt(math.inf)),
    )
    free_rank: int = attrs.field(default=1, validator=attrs.validators.ge(0))
    randomised: bool = False

    def _rule(self, places: Places, uniform: Floats | None) -> Floats:
        past = np.maximum(places.rank - self.free_rank, 0)
        return super()._rule(places, uniform) - self.penalty * past


@attrs.frozen(kw_only=True)
class Saps(Adaptive):
    """Score a label as `Aps` does, with the same weight for every label but the likeliest.

    Let ``M_0 = 0`` and ``M_r = max_l pi_l + (r - 1) weight`` be the mass of the first r labels,
    ``r_k = #{l : pi_l >= pi_k}`` and ``a_k = #{l : pi_l > pi_k}``. Then ``E(x, k) = -M_{r_k}``;
    randomised, with one uniform U per example, ``E(x, k) = -(M_{a_k} + U (M_{r_k} - M_{a_k}))``.
    Choose the weight on examples that neither calibrate nor test: the guarantee does not hold else.

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

    name: ClassVar[str] = "saps"

    weight: float = attrs.field(
        default=0.2,
        validator=attrs.validators.and_(attrs.validators.gt(0.0), attrs.validators.lt(math.inf)),
    )
    randomised: bool = False

    def _rule(self, places: Places, uniform: Floats | None) -> Floats:
        largest, above, rank = places.largest, places.above, places.rank
        if uniform is None:
            return -(largest + self.weight * (rank - 1))
        likeliest = uniform * (largest + self.weight * (rank - 1))
        others = largest + self.weight * ((above - 1) + uniform * (rank - above))
        return -np.where(above == 0, likeliest, others)
