"""Labels drawn from plausibilities with uniforms that belong to the examples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plausibly.arrays import Floats


def draw_labels(plausibilities: Floats, uniforms: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return one label code a uniform: the first whose cumulative plausibility exceeds it.

    The uniform is scaled by the row's total instead of dividing the row, so that rows that sum to
    one only nearly are drawn from as they are, and a label of plausibility zero is never drawn.

    Parameters
    ----------
    plausibilities : ndarray, (example, label)
        Non-negative; each row has a positive total.
    uniforms : ndarray of float64, (example, draw)
        In [0, 1).

    Returns
    -------
    ndarray of int32, (draw, example)
    """
    cumulative = np.cumsum(plausibilities, axis=1, dtype=np.float64)
    scaled = uniforms * cumulative[:, -1:]
    codes = np.zeros(uniforms.shape, dtype=np.int32)
    for label in range(plausibilities.shape[1] - 1):
        codes += scaled >= cumulative[:, label : label + 1]
    # A product that rounds up to the total may land behind the last plausible label.
    last = plausibilities.shape[1] - 1 - np.argmax(plausibilities[:, ::-1] > 0, axis=1)
    bounded: NDArray[np.int32] = np.minimum(codes, last[:, None].astype(np.int32))
    return bounded.T
