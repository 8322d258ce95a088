"""Floats as unsigned integers in the same order."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plausibly.arrays import Floats, FloatType

Bits: TypeAlias = NDArray[np.uint32] | NDArray[np.uint64]


def ordered_bits(values: Floats) -> Bits:
    """Return integers in the order of the floats; -0.0 and 0.0 are one.

    Parameters
    ----------
    values : ndarray of float32 or float64
        Without NaN.

    Returns
    -------
    ndarray of uint32 or uint64
        A new array of the same shape.
    """
    # Adding zero turns -0.0 into 0.0, whose bits are others.
    plain = np.add(values, values.dtype.type(0))
    if values.dtype == np.float32:
        bits = plain.view(np.uint32)
        bits ^= np.uint32(1 << 31) | (np.uint32(0) - (bits >> np.uint32(31)))
        return bits
    wide = plain.view(np.uint64)
    wide ^= np.uint64(1 << 63) | (np.uint64(0) - (wide >> np.uint64(63)))
    return wide


def from_bits(
    bits: int, dtype: FloatType
) -> np.floating[Any]:  # Any: the bit width is that of the numbers
    """Return the float that `ordered_bits` makes an integer of.

    Parameters
    ----------
    bits : int
        From 0; what belongs to no number is NaN.
    dtype : dtype
        float32 or float64.
    """
    top = 1 << 8 * dtype.itemsize - 1
    plain = bits ^ top if bits & top else 2 * top - 1 - bits
    unsigned = np.uint32 if dtype == np.float32 else np.uint64
    found: np.floating[Any] = np.array([plain], dtype=unsigned).view(dtype)[0]  # Any: as above
    return found
