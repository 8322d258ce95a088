"""Measurements on simulated examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import attrs
import numpy as np
import xarray as xr

import plausibly
from measured import worlds
from measured.splits import ALPHA, Method, Numbers, calibrated
from measured.worlds import Examples

Pair: TypeAlias = Callable[[np.random.Generator], tuple[Examples, Examples]]
"""Makes calibration and new examples."""


@attrs.frozen
class Mean:
    """Mean over independent calibrations, and its standard error."""

    mean: float
    error: float

    @classmethod
    def of(cls, values: Numbers) -> Mean:
        """Return the mean of what calibrations gave."""
        return cls(float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))))


def coverage(make: Pair, methods: Mapping[str, Method], runs: int, *, seed: int) -> dict[str, Mean]:
    """Return aggregated coverage of methods over independent calibrations.

    Parameters
    ----------
    make : callable
    methods : mapping of str to mapping
    runs : int
    seed : int
        Run r draws from ``[seed, r]``.
    """
    found = {name: np.zeros(runs) for name in methods}
    for run in range(runs):
        known, new = make(np.random.default_rng([seed, run]))
        predictions, lam = known.tables()
        asked, truth = new.tables("new")
        for name, method in methods.items():
            sets = calibrated(predictions, lam, asked, method, seed=run)
            found[name][run] = (truth.values * sets).sum(axis=1).mean()
    return {name: Mean.of(values) for name, values in found.items()}


def shift(runs: int, *, n: int = 500, test: int = 1000, others: int = 2000) -> dict[str, Mean]:
    """Return coverage of new examples that are shifted to where annotators agree less.

    Parameters
    ----------
    runs : int
    n, test : int
        Calibration and new examples of a run.
    others : int
        Examples without annotations, of either kind, from which ratios are estimated.
    """
    random = np.random.default_rng(20)
    source = worlds.shifted(others, random, new=False).features("source")
    target = worlds.shifted(others, random, new=True).features("target")

    def make(random: np.random.Generator) -> tuple[Examples, Examples]:
        known = worlds.shifted(n, random, new=False)
        new = worlds.shifted(test, random, new=True)
        both = xr.concat([known.features("case"), new.features("new")], dim="example")
        ratios = plausibly.likelihood_ratios(source, target, both).values
        return known.known("estimated", ratios[:n]), new.known("estimated", ratios[n:])

    methods: dict[str, Method] = {
        "expected": {"calibrator": "expected"},
        "weighted": {"calibrator": {"name": "weighted", "by": "weight"}},
        "weighted, estimated": {"calibrator": {"name": "weighted", "by": "estimated"}},
    }
    return coverage(make, methods, runs, seed=2)


def new_patient(runs: int, *, n: int = 30, test: int = 500) -> dict[str, Mean]:
    """Return coverage of a random example of a new patient, calibrated on n patients."""

    def make(random: np.random.Generator) -> tuple[Examples, Examples]:
        known = worlds.patients(n, random)
        return known, worlds.one_each(worlds.patients(test, random), random)

    methods: dict[str, Method] = {
        "expected": {"calibrator": "expected"},
        "clustered": {"calibrator": {"name": "clustered", "by": "patient"}},
    }
    return coverage(make, methods, runs, seed=4)


def smoothed(runs: int, *, n: int = 50, test: int = 400) -> dict[str, Mean]:
    """Return coverage with tied scores, with ties split or not."""

    def make(random: np.random.Generator) -> tuple[Examples, Examples]:
        return worlds.plain(n, random, ties=True), worlds.plain(test, random, ties=True)

    split = {"name": "average", "smoothed": True}
    calibrators: dict[str, object] = {
        "expected": "expected",
        "monte-carlo": {"name": "monte-carlo", "draws": 10},
        "one draw": {"name": "monte-carlo", "draws": 1},
    }
    methods: dict[str, Method] = {}
    for name, calibrator in calibrators.items():
        methods[name] = {"calibrator": calibrator}
        methods[f"{name}, smoothed"] = {"calibrator": calibrator, "combiner": split}
    return coverage(make, methods, runs, seed=8)


def violations(
    delta: float, runs: int, *, n: int, held_out: float, population: int = 20_000
) -> float:
    """Return the share of calibrations by `pac` whose own coverage is below 1 - alpha.

    Calibration examples are drawn from a population with replacement, so that the coverage of a
    threshold over the population is what the calibration's sets cover, exactly.

    Parameters
    ----------
    delta : float
    runs : int
        Calibrations.
    n : int
        Calibration examples.
    held_out : float
        Share of them.
    population : int
    """
    everyone = worlds.plain(population, np.random.default_rng(6))
    order = np.argsort(everyone.scores, axis=None, kind="stable")
    values = everyone.scores.ravel()[order]
    missed = np.concatenate([[0], np.cumsum(everyone.votes.ravel()[order])])
    allowed = population * worlds.ANNOTATORS / 10
    below = 0
    for run in range(runs):
        random = np.random.default_rng([6, run])
        predictions, lam = everyone.take(random.integers(population, size=n)).tables()
        predictor = plausibly.calibrate(
            predictions,
            lam,
            combiner={"name": "pac", "delta": delta, "bound": "held-out", "held_out": held_out},
            seed=run,
        )
        tau = float(predictor.threshold(ALPHA))
        below += int(missed[np.searchsorted(values, tau)] > allowed)
    return below / runs


def margin(share: float, runs: int, *, errors: float) -> float:
    """Return how far a share may be above its probability, in binomial standard errors."""
    return float(errors * np.sqrt(share * (1 - share) / runs))
