"""The spread of coverage over calibrations of n examples, and the smallest useful n."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from fractions import Fraction

import attrs
import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.conformal.calibrate import calibrate
from plausibly.data import names
from plausibly.data.names import text_array
from plausibly.evaluation.intervals import Doubles
from plausibly.kernels.types import Bools, Ints
from plausibly.protocols import COMBINER, ComponentLike, PValueCombiner
from plausibly.registry import called

_WHOLE = 1.0 - 1e-9
_WINDOW = 20.0  # the edge of what is enough wavers over a few square roots of n


@attrs.frozen(kw_only=True)
class Shares:
    """Components of the variance of missed mass; L_i is the plausibility that a set misses."""

    between: float
    within: float
    design_effect: float = 1.0
    atom: float = 1.0

    def ratio(self, draws: float) -> float:
        """Return the variance with m draws in units of that of one draw, without clusters."""
        drawn = 0.0 if math.isinf(draws) else self.within / draws
        return (self.design_effect * self.between + drawn) / (self.between + self.within)

    def step(self, draws: float) -> float:
        """Return how much of an example's mass stands at one score: ``(1 + (m - 1) atom) / m``."""
        return self.atom if math.isinf(draws) else (1.0 + (draws - 1.0) * self.atom) / draws

    @classmethod
    def mean(cls, several: Sequence[Shares]) -> Shares:
        means = np.mean([attrs.astuple(shares) for shares in several], axis=0).tolist()
        return cls(**dict(zip(attrs.fields_dict(cls), means, strict=True)))


ONE_DRAW = Shares(between=0.0, within=1.0)
"""Variance without a pilot: one draw, for any data."""


@attrs.frozen(kw_only=True)
class Law:
    """The beta law of the coverage of calibrations, for several n."""

    covered: Doubles
    missed: Doubles
    vacuous: Bools

    @classmethod
    def of(cls, alpha: Fraction, n: Ints, draws: float, shares: Shares = ONE_DRAW) -> Law:
        size, step = n.astype(np.float64), shares.step(draws)
        top, bottom = alpha.as_integer_ratio()
        # In Python's integers, which may be of any size: floor(alpha (n + 1)).
        rank = np.array([(count + 1) * top // bottom for count in n.tolist()], dtype=np.int64)
        if step >= _WHOLE:
            missed = rank / (size + 1.0)
        else:
            # Mass passes alpha (n + 1) - 1 somewhere within a step.
            missed = (float(alpha) * (size + 1.0) - 1.0 + step / 2.0) / (size + step)
        vacuous: Bools = rank < 1
        missed = np.where(vacuous, 0.0, missed)
        strength = np.maximum((size + 2.0) / shares.ratio(draws) - 1.0, np.finfo(np.float64).tiny)
        return cls(covered=(1.0 - missed) * strength, missed=missed * strength, vacuous=vacuous)

    def mean(self) -> Doubles:
        means = self.covered / (self.covered + self.missed)
        return np.where(self.vacuous, 1.0, means)

    def spread(self) -> Doubles:
        """Return the standard deviation of coverage over calibrations, (n,)."""
        total = self.covered + self.missed
        variance = self.covered * self.missed / (total**2 * (total + 1.0))
        return np.where(self.vacuous, 0.0, np.sqrt(variance))

    def quantile(self, share: float) -> Doubles:
        """Return the coverage below which a share of calibrations stays, (n,)."""
        from scipy.special import betaincinv

        missed = np.where(self.vacuous, 1.0, self.missed)
        return np.where(self.vacuous, 1.0, betaincinv(self.covered, missed, share))

    def within(self, alpha: Fraction, width: float, *, one_sided: bool = False) -> Doubles:
        """Return the share of calibrations whose coverage is within `width` of 1 - alpha, (n,)."""
        from scipy.special import betainc

        missed = np.where(self.vacuous, 1.0, self.missed)
        level = float(1 - alpha)
        low, high = level - width, min(1.0, level + width)
        below = betainc(self.covered, missed, max(0.0, low))
        above = 0.0 if one_sided else 1.0 - betainc(self.covered, missed, high)
        return np.where(self.vacuous, 0.0, 1.0 - below - above)


def pool_rank(alpha: Fraction, n: int, draws: int) -> int:
    """Return the rank of the threshold among m n drawn scores; every label where it is below 1."""
    return math.floor(alpha * draws * (n + 1)) - draws + 1


def examples_needed(
    alpha: Fraction,
    draws: float,
    *,
    within: float,
    confidence: float,
    shares: Shares = ONE_DRAW,
    one_sided: bool = False,
) -> int:
    """Return the n from which on enough calibrations are close enough to 1 - alpha."""
    from scipy.special import ndtri

    share = confidence if one_sided else (1.0 + confidence) / 2.0
    variance = float(alpha * (1 - alpha)) * shares.ratio(draws)
    guess = max(float(ndtri(share)) ** 2 * variance / within**2, 1.0)
    reach = _WINDOW * math.sqrt(guess) + 50.0 / float(alpha)
    while True:
        low, high = max(1, math.floor(guess - reach)), math.ceil(guess + reach)
        n = np.arange(low, high + 1)
        law = Law.of(alpha, n, draws, shares)
        bad = np.flatnonzero(law.within(alpha, within, one_sided=one_sided) < confidence)
        if bad.size and bad[-1] < 0.75 * len(n):
            return int(n[bad[-1]]) + 1
        if not bad.size and low == 1:
            return 1
        reach *= 2.0


_EXAMPLES = 20


def needed_by_combiner(
    combiners: Sequence[ComponentLike[PValueCombiner]], alphas: Sequence[Fraction]
) -> xr.Dataset:
    """Return the number of examples from which on sets do not contain all labels."""
    first = (np.arange(_EXAMPLES) + 1.0) / (_EXAMPLES + 1)
    predictions = xr.DataArray(
        np.stack([first, 1 - first], axis=1),
        dims=(names.EXAMPLE, names.LABEL),
        coords={names.EXAMPLE: np.arange(_EXAMPLES).astype(np.str_), names.LABEL: ["a", "b"]},
        attrs={names.SCALE: "probability"},
    )
    plausibilities = predictions.copy(data=np.full((_EXAMPLES, 2), 0.5))
    plausibilities = plausibilities.drop_attrs(deep=False)  # the scale marks predictions
    made = [registry.resolve(COMBINER, combiner) for combiner in combiners]
    needed, counts = [], []
    for combiner in made:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of so few examples
            predictor = calibrate(
                predictions,
                plausibilities,
                calibrator={"name": "monte-carlo", "draws": 2},
                combiner=combiner,
            )
            guarantees = [predictor.guarantee(alpha) for alpha in alphas]
        needed.append([guarantee.needed or 1 for guarantee in guarantees])
        counts.append(guarantees[0].unit)
    return xr.Dataset(
        {
            "needed": ((names.ALPHA, "combiner"), np.transpose(needed)),
            "needed_counts": ("combiner", text_array(counts)),
        },
        coords={
            names.ALPHA: [float(alpha) for alpha in alphas],
            "combiner": text_array([called(COMBINER, combiner) for combiner in made]),
        },
    )
