"""Measurements on real data."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

import plausibly
from measured.data import Real
from measured.splits import ALPHA, Half, Method, Numbers, split_halves

PLAIN: Method = {"calibrator": "expected"}
LEAVE_OUT = 0.1
DELTA = 1e-4

PROCEDURES: Mapping[str, Method] = {
    "majority-vote": {"calibrator": "majority-vote"},
    "one draw": {"calibrator": {"name": "monte-carlo", "draws": 1}},
    "average": {"calibrator": {"name": "monte-carlo", "draws": 10}},
    "expected": PLAIN,
    "maximum": {"calibrator": {"name": "monte-carlo", "draws": 10}, "combiner": "maximum"},
    "held-out-rank": {
        "calibrator": {"name": "monte-carlo", "draws": 10},
        "combiner": "held-out-rank",
    },
    "ecdf": {
        "calibrator": {"name": "monte-carlo", "draws": 10},
        "combiner": {"name": "ecdf", "delta": DELTA},
    },
    "pac, held-out": {
        "calibrator": {"name": "monte-carlo", "draws": 10},
        "combiner": {"name": "pac", "delta": DELTA, "bound": "held-out"},
    },
    "pac": {"calibrator": "expected", "combiner": {"name": "pac", "delta": DELTA}},
}
"""Rows of the paper's table of procedures, and what stands beside them."""


@attrs.frozen
class Measured:
    """Mean over splits, and the mean set size.

    Attributes
    ----------
    mean, spread : float
        Mean and standard deviation over splits.
    size, size_spread : float
        The same of the number of labels in a set.
    splits : int
    """

    mean: float
    spread: float
    size: float
    size_spread: float
    splits: int

    @classmethod
    def of(cls, values: Sequence[float], sizes: Sequence[float]) -> Measured:
        """Return the mean and spread of what splits gave."""
        return cls(
            float(np.mean(values)),
            float(np.std(values, ddof=1)),
            float(np.mean(sizes)),
            float(np.std(sizes, ddof=1)),
            len(values),
        )

    @property
    def error(self) -> float:
        """Standard error of the mean over random splits of this data set."""
        return self.spread / math.sqrt(self.splits)

    @property
    def size_error(self) -> float:
        """Standard error of the mean size over random splits of this data set."""
        return self.size_spread / math.sqrt(self.splits)


def over_splits(
    real: Real,
    methods: Mapping[str, tuple[Method, Callable[[Half], float]]],
    count: int,
    *,
    by_group: bool = False,
) -> dict[str, Measured]:
    """Return what each method is measured by, over half splits."""
    asked = {name: method for name, (method, _) in methods.items()}
    found: dict[str, list[float]] = {name: [] for name in methods}
    sizes: dict[str, list[float]] = {name: [] for name in methods}
    for split in split_halves(real, asked, count, by_group=by_group):
        for name, half in split.items():
            found[name].append(methods[name][1](half))
            sizes[name].append(half.size)
    return {name: Measured.of(found[name], sizes[name]) for name in methods}


def covered(half: Half) -> float:
    """Return the aggregated coverage."""
    return float(half.held.mean())


def by_group(real: Real, coordinate: str, count: int) -> dict[str, dict[str, Measured]]:
    """Return coverage of each group, calibrated together and apart: (group, method).

    Parameters
    ----------
    real : Real
    coordinate : str
        Known of new examples.
    count : int
        Splits.
    """
    groups = real.values(coordinate)
    methods: dict[str, Method] = {
        "together": PLAIN,
        "apart": {"calibrator": {"name": "mondrian", "by": coordinate}},
    }
    names = sorted(set(groups.tolist()))
    found: dict[tuple[str, str], list[float]] = {(g, m): [] for g in names for m in methods}
    sizes: dict[tuple[str, str], list[float]] = {(g, m): [] for g in names for m in methods}
    for split in split_halves(real, methods, count):
        for method, half in split.items():
            for group in names:
                own = groups[half.test] == group
                if own.any():
                    found[group, method].append(float(half.held[own].mean()))
                    sizes[group, method].append(float(half.sets[own].sum(axis=1).mean()))
    return {
        group: {
            method: Measured.of(found[group, method], sizes[group, method]) for method in methods
        }
        for group in names
    }


def by_label(real: Real, count: int) -> dict[str, dict[str, Measured]]:
    """Return how often a label is held where an expert gives it: (label, method)."""
    methods: dict[str, Method] = {
        "together": PLAIN,
        "apart": {"calibrator": {"name": "mondrian", "by": "label"}},
    }
    labels = [str(label) for label in real.predictions["label"].values]
    shares: dict[str, list[Numbers]] = {method: [] for method in methods}
    sizes: dict[str, list[float]] = {method: [] for method in methods}
    for split in split_halves(real, methods, count):
        for method, half in split.items():
            share = (half.lam * half.sets).sum(axis=0) / half.lam.sum(axis=0)
            shares[method].append(share)
            sizes[method].append(half.size)
    return {
        label: {
            method: Measured.of([float(one[place]) for one in shares[method]], sizes[method])
            for method in methods
        }
        for place, label in enumerate(labels)
    }


def levels(real: Real, count: int) -> dict[str, Measured]:
    """Return what `mass-coverage`, `risk` and `expected` keep of their level."""
    risk = np.asarray(real.predictions["risk"].values, dtype=np.float64)

    def most_held(half: Half) -> float:
        # Plausibilities are counts over small totals, which sums of doubles miss by a hair.
        return float((half.held >= 1 - LEAVE_OUT - 1e-9).mean())

    def risked(half: Half) -> float:
        return float((half.lam * ~half.sets * risk).sum(axis=1).mean())

    mass = {"name": "mass-coverage", "leave_out": LEAVE_OUT}
    return over_splits(
        real,
        {
            "mass-coverage": ({"calibrator": mass}, most_held),
            "expected, share held": (PLAIN, most_held),
            "risk": ({"calibrator": {"name": "risk", "by": "risk"}}, risked),
            "expected, risk": (PLAIN, risked),
        },
        count,
    )


def of_a_new_group(real: Real, count: int) -> dict[str, Measured]:
    """Return coverage of an example of a new group; splits keep groups whole."""
    groups = real.values("group")

    def of_groups(half: Half) -> float:
        own = np.unique(groups[half.test], return_inverse=True)[1]
        return float((np.bincount(own, weights=half.held) / np.bincount(own)).mean())

    grouped: Method = {"calibrator": {"name": "clustered", "by": "group"}}
    return over_splits(
        real,
        {"expected": (PLAIN, of_groups), "clustered": (grouped, of_groups)},
        count,
        by_group=True,
    )


def of_all_labels(real: Real, count: int) -> dict[str, Measured]:
    """Return what sets hold of examples with several labels: on average, and all of them."""

    def whole(half: Half) -> float:
        return float((half.sets | (half.lam == 0)).all(axis=1).mean())

    mass: Method = {"calibrator": {"name": "mass-coverage", "leave_out": 0.0}}
    return over_splits(
        real,
        {
            "expected": (PLAIN, covered),
            "expected, all": (PLAIN, whole),
            "mass-coverage": (mass, whole),
        },
        count,
    )


def procedures(real: Real, count: int, only: Sequence[str] = ()) -> dict[str, Measured]:
    """Return aggregated coverage and set size of the procedures."""
    asked = {name: PROCEDURES[name] for name in only or PROCEDURES}
    return over_splits(real, {name: (one, covered) for name, one in asked.items()}, count)


def spreads_of_draws(
    real: Real, method: Method, *, examples: int, seeds: int, sets: int
) -> Numbers:
    """Return the standard deviation of coverage over drawn labels alone, (calibration set,).

    Parameters
    ----------
    real : Real
    method : mapping
    examples : int
        Calibration examples, the others test.
    seeds : int
        Repeated draws for each calibration set.
    sets : int
        Calibration sets: how much draws matter differs among them.
    """
    scores, lam = real.predictions.values, real.plausibilities.values
    spreads = np.zeros(sets)
    for number in range(sets):
        order = np.argsort(np.random.default_rng([number, examples]).random(len(scores)))
        known, new = order[:examples], order[examples:]
        coverage = _coverage_at(scores[new], lam[new])
        found = []
        for seed in range(seeds):
            predictor = plausibly.calibrate(
                real.predictions[known],
                real.plausibilities[known],
                calibrator=method["calibrator"],  # type: ignore[arg-type]  # a table of names
                seed=seed,
            )
            found.append(coverage(float(predictor.threshold(ALPHA))))
        spreads[number] = np.std(found, ddof=1)
    return spreads


def _coverage_at(scores: NDArray[np.floating], lam: Numbers) -> Callable[[float], float]:
    """Return aggregated coverage as a function of the threshold."""
    order = np.argsort(scores, axis=None, kind="stable")
    values = scores.ravel()[order]
    below = np.concatenate([[0.0], np.cumsum(lam.ravel()[order])]) / len(scores)
    return lambda tau: float(1 - below[np.searchsorted(values, values.dtype.type(tau))])
