"""Hulls along ordered labels: values without a hole."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Array = TypeVar("Array", bound=NDArray[Any])  # Any: flags or numbers


def hull(values: Array) -> Array:
    """Return the least values that are at least these and have no hole along the last axis.

    ``v'_k = min(max_(l <= k) v_l, max_(l >= k) v_l)``: the labels with ``v' >= t`` are those from
    the first to the last with ``v >= t``, for every t. Nothing is rounded. Of sets it is the
    smallest interval around each.
    """
    below = np.maximum.accumulate(values, axis=-1)
    above = np.maximum.accumulate(values[..., ::-1], axis=-1)[..., ::-1]
    return cast("Array", np.minimum(below, above))
