"""Half splits, and what sets leave out on the test half."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

import plausibly
from measured.data import Real
from plausibly.errors import PlausiblyWarning
from plausibly.evaluation import splits as halves

ALPHA = "0.1"

Numbers = NDArray[np.float64]

Method = Mapping[str, object]
"""Arguments of `plausibly.calibrate`: components by name."""


@attrs.frozen(eq=False)
class Half:
    """The test half of one split, with the sets of a method.

    Attributes
    ----------
    test : ndarray of int, (example,)
        Rows of the data set.
    sets : ndarray of bool, (example, label)
    lam : ndarray, (example, label)
    """

    test: NDArray[np.intp]
    sets: NDArray[np.bool_]
    lam: Numbers

    @property
    def held(self) -> Numbers:
        """Share of the plausibilities of each example that its set holds, (example,)."""
        held: Numbers = (self.lam * self.sets).sum(axis=1)
        return held

    @property
    def size(self) -> float:
        """Mean number of labels in a set."""
        return float(self.sets.sum(axis=1).mean())


def calibrated(
    predictions: xr.DataArray,
    plausibilities: xr.DataArray,
    new: xr.DataArray,
    method: Method,
    *,
    seed: int,
    alpha: str = ALPHA,
) -> NDArray[np.bool_]:
    """Return the sets (example, label) of new examples; vacuous ones are no news here."""
    # The arguments of a study's methods are names and tables: what `calibrate` takes.
    arguments: dict[str, object] = {"calibrator": "expected", "combiner": "average", **method}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        predictor = plausibly.calibrate(
            predictions,
            plausibilities,
            calibrator=arguments["calibrator"],  # type: ignore[arg-type]  # as said above
            combiner=arguments["combiner"],  # type: ignore[arg-type]  # as said above
            seed=seed,
        )
        sets: NDArray[np.bool_] = predictor.predict(new, alpha).values
    return sets


def split_halves(
    real: Real,
    methods: Mapping[str, Method],
    count: int,
    *,
    by_group: bool = False,
    seed: int = 0,
) -> Iterator[dict[str, Half]]:
    """Return the test half of each split, by the method.

    Parameters
    ----------
    real : Real
    methods : mapping of str to mapping
    count : int
        How many splits; the first ones do not depend on it.
    by_group : bool
        Whether whole groups stay on one side.
    seed : int
    """
    hashes = real.hashes
    groups = real.values("group") if by_group else None
    for number in range(count):
        chosen = halves.split(hashes, halves.split_keys(seed, number), groups=groups)
        test, rest = np.flatnonzero(chosen), np.flatnonzero(~chosen)
        drawn = halves.split_seed(seed, number)
        known = real.predictions[rest], real.plausibilities[rest]
        new = real.predictions[test]
        lam = real.plausibilities.values[test]
        yield {
            name: Half(test, calibrated(*known, new, method, seed=drawn), lam)
            for name, method in methods.items()
        }
