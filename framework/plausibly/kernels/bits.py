"""Floats as unsigned integers in the same order."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.types import Floats

Bits: TypeAlias = NDArray[np.uint32] | NDArray[np.uint64]


def ordered_bits(values: Floats) -> Bits:
    """Return integers in the order of the floats, none of them NaN; -0.0 and 0.0 are one."""
    # Adding zero turns -0.0 into 0.0, whose bits are others.
    plain = np.add(values, values.dtype.type(0))
    if values.dtype == np.float32:
        bits = plain.view(np.uint32)
        bits ^= np.uint32(1 << 31) | (np.uint32(0) - (bits >> np.uint32(31)))
        return bits
    wide = plain.view(np.uint64)
    wide ^= np.uint64(1 << 63) | (np.uint64(0) - (wide >> np.uint64(63)))
    return wide
