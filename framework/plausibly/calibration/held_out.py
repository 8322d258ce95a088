"""Which examples are set aside, and what combiners that rank among them share."""

from __future__ import annotations

from fractions import Fraction

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.calibration.alphas import exact as _number
from plausibly.calibration.pvalues import PValues
from plausibly.errors import IncompatibleComponents
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools, Hashes

_OPEN = (attrs.validators.gt(0.0), attrs.validators.lt(1.0))


def held_out_field() -> float:
    """Return the attrs field of the share of examples to set aside, 0.5 by default."""
    share: float = attrs.field(default=0.5, validator=attrs.validators.and_(*_OPEN))
    return share


def delta_field() -> float:
    """Return the attrs field of the probability with which a promise may fail, 1e-4 by default."""
    delta: float = attrs.field(default=1e-4, validator=attrs.validators.and_(*_OPEN))
    return delta


def exact(value: float) -> Fraction:
    """Return a parameter as the decimal that was typed."""
    number = _number(value)
    if number is None:
        msg = f"expected a number, got {value!r}"
        raise ValueError(msg)
    return number


def require_held_out(held_out: PValues | None) -> PValues:
    """Return the held-out p-values, or say that the combiner was called without them."""
    if held_out is None:
        raise IncompatibleComponents(
            "held-out-missing",
            "a combiner that ranks among held-out examples was called without them",
            expected="the p-values of the held-out examples",
            do="plausibly.calibrate(..., combiner=...), which sets them aside",
            whose="combiner",
        )
    return held_out


def keyed_share(
    share: Fraction, hashes: Hashes, keys: Keys, groups: NDArray[np.generic] | None = None
) -> Bools:
    """Return which examples are taken: all of ``floor(share G)`` of G groups.

    Those with the smallest keys, whatever their sizes: a group that is taken only where it fits
    is likely to be a small one, and new examples then are unlike those that were taken.

    Parameters
    ----------
    share : Fraction
        Of the groups; 0 <= share <= 1.
    hashes : ndarray of uint64, (example,)
        From `plausibly.kernels.random.hash_names`.
    keys : Keys
    groups : ndarray, (example,), optional
        Group of each example; by default each is a group of its own.

    Returns
    -------
    ndarray of bool, (example,)
    """
    units, member = hashes, np.arange(len(hashes))
    if groups is not None:
        # Combiners import this module, and a service, which has no groups, needs no xarray.
        from plausibly.calibration.coordinates import group_names

        distinct, member = np.unique(group_names(groups), return_inverse=True)
        units = hash_names(distinct)
    order = np.lexsort((units, keys.uniform(units)[:, 0]))
    taken = np.zeros(len(units), dtype=np.bool_)
    taken[order[: int(share * len(units))]] = True
    chosen: Bools = taken[member]
    return chosen


def one_of_each(hashes: Hashes, keys: Keys, groups: NDArray[np.str_]) -> Bools:
    """Return which example of each group has its smallest key: a random one, (example,)."""
    order = np.lexsort((hashes, keys.uniform(hashes)[:, 0]))
    chosen = np.zeros(len(hashes), dtype=np.bool_)
    chosen[order[np.unique(groups[order], return_index=True)[1]]] = True
    return chosen
