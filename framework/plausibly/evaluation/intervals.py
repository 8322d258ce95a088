"""Confidence intervals of coverage and set sizes, and means over groups with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias, get_args

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.evaluation.result import ENDS, SET_SIZE
from plausibly.evaluation.splits import check_option, check_share
from plausibly.kernels.types import Ints

Doubles: TypeAlias = NDArray[np.float64]
IntervalMethod: TypeAlias = Literal["auto", "wilson", "t", "betting"]
METHODS: tuple[IntervalMethod, ...] = get_args(IntervalMethod)

_SAME = 1e-6  # plausibilities sum to 1 within this, so values this close are the same value
_BET = 0.5  # share of the capital that a bet may lose at most
_HALVINGS = 60
_ENOUGH = 100
_FEW = 10  # examples or clusters, below which their spread says too little


@attrs.frozen
class Interval:
    """A mean with its confidence interval, NaN where there is no value.

    It is `rough` where fewer than ten clusters (in effect) stand behind it, or behind what differs
    from 0 or 1.
    """

    mean: float
    low: float
    high: float
    rough: bool = attrs.field(default=False, eq=False)


def interval(
    values: Doubles,
    *,
    weights: Doubles | None = None,
    clusters: Ints | None = None,
    method: IntervalMethod = "auto",
    confidence: float = 0.95,
    top: float = 1.0,
    among: int = 1,
) -> Interval:
    """Return the mean of outcomes in [0, top] and a two-sided interval for its expectation.

    Parameters
    ----------
    values : ndarray of float64, (example,)
        Outcomes, such as the coverage of each example.
    weights : ndarray of float64, (example,), optional
        In [0, 1], such as the plausibility of one label: the mean is ``sum w y / sum w``.
    clusters : ndarray of int, (example,), optional
        Code of the cluster (a patient, say) of each example: outcomes of one cluster may be alike.
    method : {"auto", "wilson", "t", "betting"}
        ``"wilson"`` is for 0/1 outcomes. ``"t"`` uses the spread of the outcomes. ``"betting"``
        holds for every sample size; it reads the outcomes in their order, which must not depend on
        them, and with clusters it is about the mean of the clusters' means. ``"auto"`` is Wilson
        where all outcomes, or all but those of fewer than ten examples (clusters), are 0 or `top`.
    confidence : float
    top : float
        Largest possible outcome: 1 for a coverage, the number of labels for a set size.
    among : int
        How many intervals are to hold together (Bonferroni); of several, ``"auto"`` is Wilson for
        fewer than 100 examples (clusters), as Student's t is too short so far out.

    Returns
    -------
    Interval
        Inside [0, top], and never of width zero: where the outcomes show no spread, or there is
        only one cluster, the interval is the Kullback-Leibler bound for bounded outcomes.

    Raises
    ------
    InputError
        ``option-unknown`` and ``option-range``.

    Notes
    -----
    The variance of the mean is that of the jackknife over clusters g (CR3), ``sum_g (d_g /
    (1 - W_g / W))^2 / W^2`` with residual sums d_g and weights W_g, with Kish's degrees of freedom,
    ``W^2 / sum_g W_g^2 - 1``. Wilson's interval has the effective number of examples ``R (1 - R)``
    over that variance, at most ``W^2 / sum w^2`` (Kish 1965), for the mean R.
    """
    check_method(method, confidence)
    if weights is not None:
        positive = weights > 0
        values, weights = values[positive], weights[positive]
        clusters = None if clusters is None else clusters[positive]
    if len(values) == 0:
        return Interval(math.nan, math.nan, math.nan)
    shares = np.clip(values / top, 0.0, 1.0)
    codes = np.arange(len(shares)) if clusters is None else clusters
    if among > 1 and method == "auto" and len(np.unique(codes)) < _ENOUGH:
        method = "wilson"
    if weights is None:
        mean, weights = float(shares.mean()), np.ones(len(shares))
    else:
        mean = float((weights * shares).sum() / weights.sum())
    low, high, rough = _bounds(shares, weights, mean, codes, method, (1.0 - confidence) / among)
    low, high = max(0.0, min(low, mean)), min(1.0, max(high, mean))
    return Interval(mean * top, low * top, high * top, rough)


def check_method(method: str, confidence: float) -> None:
    check_option("interval", method, METHODS, 'interval="auto"')
    check_share("confidence", confidence, 0.95)


def _bounds(
    shares: Doubles, weights: Doubles, mean: float, codes: Ints, method: IntervalMethod, miss: float
) -> tuple[float, float, bool]:
    """Return both ends for the weighted mean of shares in [0, 1], and whether they are rough."""
    from scipy.special import ndtri, stdtrit

    _, first, code, members = np.unique(
        codes, return_index=True, return_inverse=True, return_counts=True
    )
    weights = weights / weights.max()  # squares of small weights would vanish
    by_cluster = np.bincount(code, weights=weights)
    total = float(weights.sum())
    units = total**2 / float(np.square(by_cluster).sum())
    few = any(
        0 < len(np.unique(code[off])) < min(_FEW, len(members))
        for off in (shares < 1.0 - _SAME, shares > _SAME)
    )
    rough = len(members) < len(shares) and (units < _FEW or few)
    if method == "betting":
        order = np.argsort(first)
        means = (np.bincount(code, weights=weights * shares) / by_cluster)[order]
        bets = (by_cluster / members)[order]
        return _betting_low(means, bets, miss), 1.0 - _betting_low(1.0 - means, bets, miss), False
    if units < 2.0:
        return *_kullback_leibler(mean, units, miss), rough
    alone = units == len(shares)
    sums = np.bincount(code, weights=weights * (shares - mean))
    alike = bool(np.ptp(shares) <= _SAME) or float(np.square(sums).sum()) <= (
        (_SAME * total) ** 2 / units
    )
    # A large cluster draws the mean to itself; the jackknife compares it with that of the others.
    variance = float(np.square(sums / (1.0 - by_cluster / total)).sum()) / total**2
    binary = bool((np.minimum(shares, 1.0 - shares) <= _SAME).all())
    student = float(stdtrit(units - 1.0, 1.0 - miss / 2.0))
    if method == "wilson" or (method == "auto" and (binary or few)):
        effective = units
        if not alone and not alike:
            most = total**2 / float(np.square(weights).sum())
            effective = min(most, mean * (1.0 - mean) / variance)
        quantile = float(ndtri(1.0 - miss / 2.0)) if alone else student
        # The score interval of Wilson (1927) for so many independent outcomes.
        square = quantile**2 / effective
        middle = (mean + square / 2.0) / (1.0 + square)
        reach = math.sqrt(mean * (1.0 - mean) * square + square**2 / 4.0) / (1.0 + square)
        return middle - reach, middle + reach, rough
    if alike:
        return *_kullback_leibler(mean, units, miss), rough
    if alone:  # Student's t, which the jackknife widens by a hair
        variance *= (units - 1.0) / units
    reach = student * math.sqrt(variance)
    return mean - reach, mean + reach, rough


def _kullback_leibler(mean: float, units: float, miss: float) -> tuple[float, float]:
    """Return all m with ``units * kl(mean, m) <= log(2 / miss)``: Chernoff's bound, both sides."""
    budget = math.log(2.0 / miss) / units

    def outside(candidate: float) -> bool:
        pairs = ((mean, candidate), (1.0 - mean, 1.0 - candidate))
        terms = (p * math.log(p / q) if q > 0.0 else math.inf for p, q in pairs if p > 0.0)
        return sum(terms) > budget

    low = 0.0 if mean == 0.0 else _bisect(outside, 0.0, mean)
    high = 1.0 if mean == 1.0 else 1.0 - _bisect(lambda rest: outside(1.0 - rest), 0.0, 1.0 - mean)
    return low, high


def _bisect(outside: Callable[[float], bool], low: float, high: float) -> float:
    """Return the place below which `outside` holds, from below, so that intervals only widen."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if outside(middle):
            low = middle
        else:
            high = middle
    return low


def _betting_low(shares: Doubles, weights: Doubles, miss: float) -> float:
    """Return the low end of the hedged-capital interval (Waudby-Smith & Ramdas 2023, theorem 3).

    That is the least mean against which half the capital cannot be made ``1 / miss``.
    """
    size = len(shares)
    count = np.arange(1, size + 1)
    means = (0.5 + np.cumsum(weights * shares)) / (1.0 + np.cumsum(weights))
    spread = (0.25 + np.cumsum(np.square(weights * (shares - means)))) / (count + 1)
    before = np.concatenate(([0.25], spread[:-1]))
    bets = np.sqrt(2.0 * math.log(2.0 / miss) / (size * before))

    def outside(candidate: float) -> bool:
        stakes = np.minimum(bets, _BET / candidate)
        capital = np.log1p(stakes * (weights * (shares - candidate))).sum()
        return bool(capital >= math.log(2.0 / miss))

    return _bisect(outside, 0.0, 1.0)


_SHARES = {"share_empty": 0, "share_singleton": 1}
ROUGH = "rough"
"""True if few clusters stand behind an interval; where there are clusters."""

Variables: TypeAlias = dict[str, tuple[Sequence[str], NDArray[np.generic]]]


def variables(
    name: str, nested: object, dims: Sequence[str], ends: Sequence[str] = ENDS
) -> Variables:
    """Return variables NAME_mean, NAME_low and NAME_high of a nested list of intervals."""
    each = np.array(nested, dtype=object)
    return {
        f"{name}_{end}": (
            dims,
            np.array([getattr(bounds, end) for bounds in each.ravel()]).reshape(each.shape),
        )
        for end in ends
    }


Measures: TypeAlias = dict[str, Doubles]
"""Measures of each set, (example, alpha), by name."""


@attrs.frozen(eq=False)
class Averaging:
    """Averaging of outcomes in an order that does not depend on rows."""

    clusters: Ints | None
    labels: int
    method: IntervalMethod
    confidence: float

    def interval(
        self,
        values: Doubles,
        weights: Doubles | None = None,
        *,
        rows: Ints | slice = slice(None),
        top: float = 1.0,
        among: int = 1,
    ) -> Interval:
        """Return the interval of outcomes (example,), or of some rows of them."""
        return interval(
            np.ascontiguousarray(values[rows]),
            weights=None if weights is None else weights[rows],
            clusters=None if self.clusters is None else self.clusters[rows],
            method=self.method,
            confidence=self.confidence,
            top=top,
            among=among,
        )

    def variables(self, name: str, nested: Sequence[object], dim: str | None = None) -> Variables:
        """Return variables of intervals by alpha, or by what is along `dim` and alpha."""
        dims = [names.ALPHA] if dim is None else [dim, names.ALPHA]
        return variables(name, nested, dims, ENDS if self.clusters is None else (*ENDS, ROUGH))

    def grouped(
        self,
        outcomes: Measures,
        groups: Sequence[Ints],
        titles: NDArray[np.generic],
        *,
        dim: str,
        prefix: str = "",
        count: str = "n",
        among: int = 1,
    ) -> xr.Dataset:
        """Return means and shares of sets for each group of rows, (group, alpha), and sizes."""
        columns: Variables = {f"{prefix}{count}": ([dim], np.array(list(map(len, groups))))}
        for name, values in outcomes.items():
            top = float(self.labels) if name == SET_SIZE else 1.0
            each = [
                [self.interval(column, rows=rows, top=top, among=among) for column in values.T]
                for rows in groups
            ]
            columns |= self.variables(f"{prefix}{name}", each, dim)
            for title, size in _SHARES.items() if name == SET_SIZE else ():
                exact = values == size
                shares = np.stack(
                    [exact[rows].sum(axis=0) / (len(rows) or math.nan) for rows in groups]
                )
                columns[f"{prefix}{title}"] = ([dim, names.ALPHA], shares)
        return xr.Dataset(columns, coords={dim: titles})


def groups_of(codes: Ints, count: int) -> list[Ints]:
    """Return the rows of each code, ascending."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(codes, minlength=count))[:-1])
