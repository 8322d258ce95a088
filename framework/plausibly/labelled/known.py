"""Names of indexes that were seen lately: read, checked and hashed once, not by each function.

Indexes of pandas do not change, so a name list belongs to its index for as long as that lives. A
million names of 64 indexes are kept at most, the latest ones; a longer index is read anew.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict

import pandas as pd
import xarray as xr

from plausibly.keys import Names
from plausibly.labelled.text import check_names, name_texts

_KEPT = 1 << 20  # names, of all indexes together
_INDEXES = 64
_ALIKE = 1 << 5  # names that are worth a comparison with those of other indexes

# By the identity of the index. What is done to it is one operation of a dictionary at a time, so
# that threads need no lock, nor the end of an index in the middle of it.
_seen: OrderedDict[int, tuple[weakref.ref[pd.Index], Names]] = OrderedDict()


def names_of(array: xr.DataArray | xr.Dataset, dim: str) -> Names:
    """Return the names along a dim that has an index, as text."""
    index = array.get_index(dim)
    held = _seen.get(id(index))
    if held is not None and held[0]() is index:
        return held[1]
    texts = name_texts(index)
    names = _alike(texts) or Names(texts)
    remember(index, names)
    return names


def checked_names(array: xr.DataArray | xr.Dataset, dim: str, *, whose: str) -> Names:
    """Return the names along a dim; see `plausibly.labelled.text.check_names` for what may be."""
    names = names_of(array, dim)
    if not names.usable:
        check_names(names.texts, dim, whose=whose)
    return names


def remember(index: pd.Index, names: Names) -> None:
    """Keep the names of an index, unless they are too many.

    Parameters
    ----------
    index : pandas.Index
    names : Names
    """
    if len(names) > _KEPT:
        return
    place = id(index)
    _seen[place] = (weakref.ref(index, lambda _: _seen.pop(place, None)), names)
    while len(_seen) > _INDEXES or _kept() > _KEPT:
        try:
            _seen.popitem(last=False)
        except KeyError:  # another thread was faster
            return


def _kept() -> int:
    return sum(len(names) for _, names in tuple(_seen.values()))


def _alike(texts: list[str]) -> Names | None:
    """Return the names of another index where they are the same: they have been checked."""
    if len(texts) < _ALIKE:
        return None
    for _, names in tuple(_seen.values()):
        if len(names) == len(texts) and names.texts == texts:
            return names
    return None
