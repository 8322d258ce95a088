"""Gamma and Dirichlet variables out of keyed uniforms, in logarithms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]

HALF = 2.0**-54
"""Half the distance between two uniforms: added, none is 0."""


def log_gamma(shape: Column, first: Column, second: Column) -> Column:
    """Return logarithms of gamma variables of rate 1, of two uniforms each."""
    from scipy.special import gammaincinv

    found = np.log(second + HALF)
    other = np.flatnonzero(shape != 1.0)
    of = shape[other]
    found[other] = found[other] / of + np.log(gammaincinv(of + 1.0, first[other] + HALF))
    once = shape == 1.0  # an exponential variable, and the most frequent shape by far
    found[once] = np.log(-found[once])
    return found


def log_normalised(logs: Column, owner: NDArray[np.intp], size: int) -> Column:
    """Return logarithms of shares: of what each owner has, the sum of the shares is 1."""
    largest = np.full(size, -np.inf)
    np.maximum.at(largest, owner, logs)
    off = logs - largest[owner]
    found: Column = off - np.log(np.bincount(owner, np.exp(off), size)[owner])
    return found
