"""Names of indexes that were seen lately: read, checked and hashed once, not by each function.

Indexes of pandas do not change, so names belong to their index for as long as that lives. Of 64
indexes they are kept at most: of the latest eight, and of others while these are a million names.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from functools import partial
from importlib import import_module

import numpy as np
import pandas as pd
import xarray as xr
from xarray.indexes import PandasIndex

from plausibly.data.names import check_names, name_texts, text_index
from plausibly.kernels.random import Names
from plausibly.kernels.utf8 import Utf8

_KEPT = 1 << 20  # names, of all indexes together, beyond the latest ones
_INDEXES, _LATEST = 64, 8
_ALIKE = 1 << 5  # names that are worth a comparison with those of other indexes
_LONG = 1 << 10  # names that are worth more than reading them as text

# By the identity of the index. What is done to it is one operation of a dictionary at a time, so
# that threads need no lock, nor the end of an index in the middle of it.
_seen: OrderedDict[int, tuple[weakref.ref[pd.Index], Names]] = OrderedDict()
_texts: OrderedDict[tuple[int, str], tuple[weakref.ref[pd.Index], PandasIndex]] = OrderedDict()


def names_of(array: xr.DataArray | xr.Dataset, dim: str) -> Names:
    """Return the names along a dim that has an index, as text."""
    index = array.get_index(dim)
    held = _seen.get(id(index))
    if held is not None and held[0]() is index:
        return held[1]
    read = Names(_bytes(index) or name_texts(index))
    names = _alike(read) or read
    remember(index, names)
    return names


def checked_names(array: xr.DataArray | xr.Dataset, dim: str, *, whose: str) -> Names:
    """Return the names along a dim; see `plausibly.data.names.check_names` for what may be."""
    names = names_of(array, dim)
    if not names.usable:
        check_names(names.texts, dim, whose=whose)
    return names


def remember(index: pd.Index, names: Names) -> None:
    """Keep the names of an index while it lives, and while there are not too many later ones."""
    place = id(index)
    _seen[place] = (weakref.ref(index, lambda _: _seen.pop(place, None)), names)
    while len(_seen) > _INDEXES or (len(_seen) > _LATEST and _kept() > _KEPT):
        try:
            _seen.popitem(last=False)
        except KeyError:  # another thread was faster
            return


def as_text(array: xr.DataArray | xr.Dataset, dim: str, names: Names) -> PandasIndex:
    """Return the index of names as text along a dim whose own index has numbers, or objects."""
    index = array.get_index(dim)
    place = (id(index), dim)
    held = _texts.get(place)
    if held is not None and held[0]() is index:
        return held[1]
    made = text_index(names, dim)
    remember(made.index, names)
    _texts[place] = (weakref.ref(index, lambda _: _texts.pop(place, None)), made)
    while len(_texts) > _LATEST:
        try:
            _texts.popitem(last=False)
        except KeyError:  # another thread was faster
            break
    return made


def _held() -> list[Names]:
    """Return the names that are kept, the earliest first."""
    while True:
        try:
            return [names for _, names in _seen.values()]
        except RuntimeError:  # an index came or went meanwhile: of another thread, or as garbage
            continue


def _kept() -> int:
    return sum(map(len, _held()))


def _alike(read: Names) -> Names | None:
    """Return the names of another index where they are the same: they have been checked."""
    if len(read) < _ALIKE:
        return None
    return next((names for names in _held() if names.same(read)), None)


def _bytes(index: pd.Index) -> Utf8 | None:
    """Return the names of a long index that keeps them as Arrow does; None where it does not."""
    if len(index) < _LONG or getattr(index.dtype, "storage", "") != "pyarrow" or index.hasnans:
        return None
    arrow = import_module("pyarrow")  # which pandas keeps them by
    array = arrow.array(index.array)
    if isinstance(array, arrow.ChunkedArray):
        array = array.combine_chunks()
    wide = {arrow.large_string(): np.int64, arrow.string(): np.int32}.get(array.type)
    if wide is None:
        return None
    _, offsets, data = array.buffers()
    places = np.frombuffer(offsets, wide)[array.offset : array.offset + len(array) + 1]
    return Utf8(np.frombuffer(data, np.uint8), places, partial(name_texts, index.array))
