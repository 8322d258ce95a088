"""Names of the array types that kernels and components exchange."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[
    np.floating[Any]
]  # Any: the bit width, float32 or float64, is the user's
Ints: TypeAlias = NDArray[np.integer[Any]]  # Any: the bit width is a detail of storage
FloatType: TypeAlias = np.dtype[np.floating[Any]]  # Any: as for Floats
Numbers: TypeAlias = NDArray[Any]  # Any: floats or integers of any width, as files hold them
Masses: TypeAlias = NDArray[Any]  # Any: int64, or Python integers in an object array past 2^62
Hashes: TypeAlias = NDArray[np.uint64]
Bools: TypeAlias = NDArray[np.bool_]


def unwritable(column: NDArray[Any]) -> NDArray[Any]:  # Any: what it holds is not looked at
    """Return a read-only view of an array, or a number."""
    view = np.asarray(column).view()
    view.flags.writeable = False
    return view
