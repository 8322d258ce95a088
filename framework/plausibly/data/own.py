"""Plausibilities that the framework has made of votes itself: sound by the way they were made.

While a component has them nobody can change them, and so they need no second look. Whoever asked
the component gives them away as an array like any other.
"""

from __future__ import annotations

import weakref

import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.types import Floats, Ints, is_still, still

_made: dict[int, tuple[weakref.ref[Floats], NDArray[np.int64]]] = {}
"""Totals of arrays of votes over a total, by where these stand; gone when the array is."""


def keep(values: Floats, total: Ints) -> None:
    """Remember an array of votes over a total, and let nobody change it."""
    place = id(values)
    kept = weakref.ref(still(values), lambda _: _made.pop(place, None))
    _made[place] = kept, total.astype(np.int64)


def is_sound(values: Floats, total: Ints | None) -> bool:
    """Return whether this very array was kept, over this total."""
    held = _made.get(id(values))
    if held is None or held[0]() is not values or not is_still(values):
        return False
    return total is not None and np.array_equal(held[1], total)


def give_away(values: Floats) -> None:
    """Let an array that was kept be changed again, and forget it."""
    held = _made.get(id(values))
    if held is not None and held[0]() is values:
        del _made[id(values)]
        values.flags.writeable = True
