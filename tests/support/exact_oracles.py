"""Right answers by brute force, with fractions and loops; small worlds and real data for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, cached_property
from math import comb, floor, inf
from pathlib import Path

import numpy as np
import xarray as xr
from hypothesis import strategies as st
from numpy.typing import NDArray

from plausibly.kernels.types import Floats
from tables import labelled, shares

ONE = Fraction(1)


@dataclass(frozen=True)
class Drawn:
    """Monte Carlo or majority vote: `scores[j][i]` is the score of example i's j-th label."""

    scores: tuple[tuple[float, ...], ...]

    @property
    def n(self) -> int:
        return len(self.scores[0])

    @property
    def atoms(self) -> list[float]:
        return sorted({score for row in self.scores for score in row})

    def each(self, s: float) -> list[Fraction]:
        """Return one split-conformal p-value a replicate: (how many lie at or below s, + 1) / N."""
        return [Fraction(sum(a <= s for a in row) + 1, self.n + 1) for row in self.scores]

    def mean(self, s: float) -> Fraction:
        """Return the mean of the p-values of the replicates (Algorithm 1)."""
        if s not in self.known:
            each = self.each(s)
            self.known[s] = sum(each, Fraction(0)) / len(each)
        return self.known[s]

    @cached_property
    def known(self) -> dict[float, Fraction]:
        return {}


@dataclass(frozen=True)
class Weighted:
    """Expected calibration: every label's score, with the label's plausibility as its mass."""

    weighted: tuple[tuple[float, Fraction], ...]
    n: int

    @property
    def atoms(self) -> list[float]:
        return sorted({score for score, mass in self.weighted if mass > 0})

    def each(self, s: float) -> list[Fraction]:
        raise LookupError("expected calibration has no separate replicates")

    def mean(self, s: float) -> Fraction:
        """Return (mass at or below s, + 1) / N."""
        if s not in self.known:
            below = sum((mass for score, mass in self.weighted if score <= s), Fraction(0))
            self.known[s] = (below + 1) / (self.n + 1)
        return self.known[s]

    @cached_property
    def known(self) -> dict[float, Fraction]:
        return {}


Calibration = Drawn | Weighted


def drawn(scores: Sequence[Sequence[float]], labels: Sequence[Sequence[int]]) -> Drawn:
    """Return the calibration in which draw j of example i is `labels[j][i]`."""
    return Drawn(tuple(tuple(scores[i][k] for i, k in enumerate(row)) for row in labels))


def expected(scores: Sequence[Sequence[float]], masses: Sequence[Sequence[Fraction]]) -> Weighted:
    """Return the calibration that keeps every label with its plausibility."""
    pairs = tuple(
        (score, mass)
        for row, weights in zip(scores, masses, strict=True)
        for score, mass in zip(row, weights, strict=True)
    )
    return Weighted(pairs, len(scores))


def vote(plausibilities: Sequence[Fraction]) -> int:
    """Return the first largest label."""
    return max(range(len(plausibilities)), key=lambda k: (plausibilities[k], -k))


def label_at(plausibilities: Sequence[Fraction], uniform: Fraction) -> int:
    """Return the label in whose stretch of the cumulated plausibilities `uniform` lies."""
    total = Fraction(0)
    for k, mass in enumerate(plausibilities):
        total += mass
        if uniform < total:
            return k
    raise ValueError("the uniform lies beyond the total")


# Algorithm 1, by its rank


def algorithm_rank(alpha: Fraction, m: int, n: int) -> int:
    """Return k = floor(alpha m (n + 1)) - m + 1."""
    return floor(alpha * m * (n + 1)) - m + 1


def order_statistic(values: Sequence[float], k: int) -> float:
    """Return the k-th smallest value; -inf below the first, +inf above the last."""
    if k <= 0:
        return -inf
    return inf if k > len(values) else sorted(values)[k - 1]


def algorithm_threshold(calibration: Drawn, alpha: Fraction) -> float:
    pool = [score for row in calibration.scores for score in row]
    k = algorithm_rank(alpha, len(calibration.scores), calibration.n)
    return order_statistic(pool, k)


# Combiners


@dataclass(frozen=True)
class Rule:
    """A way to make one decision out of a calibration, and of held-out p-values where it has any.

    `p` is the exact p-value (for `ecdf` to 50 digits, for `pac` there is none: `keeps` decides).
    """

    name: str
    delta: Fraction = Fraction(1, 10_000)
    two_sided: bool = True

    @property
    def splits(self) -> bool:
        return self.name in ("ecdf", "held-out-rank", "pac")

    def p(self, calibration: Calibration, held_out: Sequence[Fraction], s: float) -> Fraction:
        """Return the p-value of a test score; `held_out` are the held-out mean p-values."""
        if self.name == "maximum":
            return max(calibration.each(s))
        mean = calibration.mean(s)
        match self.name:
            case "average":
                return mean
            case "twice-average":
                return min(ONE, 2 * mean)
            case "held-out-rank":
                return Fraction(at_most(held_out, mean) + 1, len(held_out) + 1)
            case "ecdf":
                share = Fraction(at_most(held_out, mean), len(held_out))
                return min(ONE, share + band(len(held_out), self.delta, self.two_sided))
        raise LookupError(self.name)

    def keeps(
        self, calibration: Calibration, held_out: Sequence[Fraction], s: float, alpha: Fraction
    ) -> bool:
        """Return whether a label with score `s` is in the prediction set."""
        if self.name != "pac":
            return self.p(calibration, held_out, s) > alpha
        k = pac_rank(len(held_out), alpha, self.delta)
        return k == 0 or calibration.mean(s) >= sorted(held_out)[k - 1]

    def threshold(
        self, calibration: Calibration, held_out: Sequence[Fraction], alpha: Fraction
    ) -> float:
        """Return the least atom that is kept: -inf where every score is, +inf where none is."""
        for s in [-inf, *calibration.atoms]:
            if self.keeps(calibration, held_out, s, alpha):
                return s
        return inf


def at_most(values: Sequence[Fraction], bound: Fraction) -> int:
    return sum(value <= bound for value in values)


@cache
def band(h: int, delta: Fraction, two_sided: bool) -> Fraction:
    """Return sqrt(log(2 / delta) / (2 h)) to 50 digits; log(1 / delta) where one-sided."""
    with localcontext() as context:
        context.prec = 60
        ratio = Fraction(2 if two_sided else 1) / delta
        logarithm = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
        return Fraction(+(logarithm / (2 * h)).sqrt())


@cache
def binomial_cdf(successes: int, trials: int, share: Fraction) -> Fraction:
    """Return P(Binomial(trials, share) <= successes), exactly."""
    return sum(
        (
            comb(trials, i) * share**i * (1 - share) ** (trials - i)
            for i in range(min(successes, trials) + 1)
        ),
        Fraction(0),
    )


@cache
def pac_rank(h: int, alpha: Fraction, delta: Fraction) -> int:
    """Return max{k : BinomCDF(k - 1; h, alpha) <= delta}, 0 where there is none."""
    k = 0
    while k < h and binomial_cdf(k, h, alpha) <= delta:
        k += 1
    return k


# ---- worlds with every nuisance at once: ties, two float widths, votes, odd alphas


SPECIAL_ALPHAS = ("0.1", "0.29", "0.57", "0.7", "0.05", "0.2", "0.3", "0.5", "0.000001", "0.999999")


@dataclass(frozen=True)
class World:
    """Inputs of a user, with their exact plausibilities."""

    predictions: xr.DataArray
    plausibilities: xr.DataArray
    test: xr.DataArray
    masses: tuple[tuple[Fraction, ...], ...]
    counted: bool
    draws: int
    seed: int
    alphas: tuple[str, ...]

    @property
    def scores(self) -> list[list[float]]:
        """Calibration scores as Python floats, exactly (the score is the probability itself)."""
        rows: list[list[float]] = self.predictions.values.tolist()
        return rows

    @property
    def test_scores(self) -> list[list[float]]:
        rows: list[list[float]] = self.test.values.tolist()
        return rows

    @property
    def names(self) -> list[str]:
        return [str(name) for name in self.predictions["example"].values]


def table(values: Floats, names: Sequence[str], labels: Sequence[str]) -> xr.DataArray:
    return labelled(values, list(names), list(labels), attrs={"scale": "any"})


def plausibilities_of(
    votes: NDArray[np.int64], names: list[str], labels: list[str], *, counted: bool
) -> xr.DataArray:
    """Return shares of votes; `counted` says what their denominators are."""
    return shares(votes, names, labels, counted=counted)


def exact_masses(plausibilities: xr.DataArray) -> tuple[tuple[Fraction, ...], ...]:
    """Return each plausibility as the fraction that its double is."""
    return tuple(tuple(Fraction(float(value)) for value in row) for row in plausibilities.values)


def alpha_texts() -> st.SearchStrategy[str]:
    """Return decimals in (0, 1) with one to six decimals, as a user types them."""
    typed = st.integers(1, 6).flatmap(
        lambda digits: st.integers(1, 10**digits - 1).map(lambda units: f"0.{units:0{digits}d}")
    )
    return st.one_of(st.sampled_from(SPECIAL_ALPHAS), typed)


@st.composite
def worlds(
    draw: st.DrawFn, *, most: int = 40, draws: int = 12, alphas: int = 4, counted: bool = True
) -> World:
    """Return worlds of up to `most` calibration examples, 6 labels, `draws` draws."""
    n, k, t = draw(st.integers(1, most)), draw(st.integers(1, 6)), draw(st.integers(1, 5))
    dtype = np.dtype(draw(st.sampled_from([np.float32, np.float64])))
    values = draw(st.sampled_from([2, 3, 6, 1000]))
    # Tenths are not doubles, and their float32 differs from their float64.
    scale = draw(st.sampled_from([0.1, 0.125, -0.3]))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = (random.integers(values, size=(n + t, k)) * scale).astype(dtype)
    votes = np.zeros((n, k), dtype=np.int64)
    for i in range(n):
        annotators = int(random.integers(1, 13))
        np.add.at(votes[i], random.integers(k, size=annotators), 1)
        if random.random() < 0.2:
            votes[i] = np.eye(k, dtype=np.int64)[random.integers(k)] * annotators
    names = [f"case {i}" for i in range(n)]
    labels = [f"label {i}" for i in range(k)]
    plausibilities = plausibilities_of(votes, names, labels, counted=counted)
    masses = tuple(tuple(Fraction(int(v), int(row.sum())) for v in row) for row in votes)
    texts = st.lists(alpha_texts(), min_size=2, max_size=alphas, unique_by=Fraction)
    return World(
        predictions=table(scores[:n], names, labels),
        plausibilities=plausibilities,
        test=table(scores[n:], [f"new {i}" for i in range(t)], labels),
        masses=masses if counted else exact_masses(plausibilities),
        counted=counted,
        draws=draw(st.integers(1, draws)),
        seed=draw(st.integers(0, 1000)),
        alphas=tuple(draw(texts)),
    )


# ---- the six real data sets that have single votes and a model


NOISE_110 = 2
VGG19 = "vgg19"

NAMES = ("crema_d", "imagenet16h", "sleep_dodh", "chaosnli_snli", "lidc_malignancy", "cifar10h")


def load(shared: Path, name: str) -> tuple[xr.DataArray, xr.DataArray]:
    """Return predictions and plausibilities (example, label) of a data set."""
    arrays = np.load(shared / "data" / name / "data.npz", allow_pickle=False)
    counts, probabilities = arrays["counts"], arrays["probs"]
    if name == "imagenet16h":
        model = list(arrays["model_names"]).index(VGG19)
        counts, probabilities = counts[NOISE_110], probabilities[NOISE_110, model]
    labels = [str(label) for label in arrays["class_names"]]
    predictions = labelled(probabilities, f"{name} ", labels)
    return predictions, shares(counts.astype(np.int64), f"{name} ", labels)
