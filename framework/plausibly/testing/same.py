"""Whether two results are the same, and copies that show who writes to them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
import xarray as xr

from plausibly.kernels.types import Floats


def same(first: object, second: object) -> bool:
    """Return whether two results are equal to the last bit, whatever they are made of."""
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        if first.dtype != second.dtype or first.shape != second.shape:
            return False
        return np.array_equal(first, second, equal_nan=first.dtype.kind == "f")
    if isinstance(first, xr.DataArray | xr.Dataset):
        return type(first) is type(second) and bool(first.identical(second))  # type: ignore[arg-type]  # of one type
    if isinstance(first, str | bytes):
        return first == second
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(same(first[k], second[k]) for k in first)
    if isinstance(first, Sequence) and isinstance(second, Sequence):
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second)


def farthest(first: Floats, second: Floats) -> float:
    """Return the largest difference of two arrays; infinite values are equal to themselves."""
    if first.shape != second.shape:
        return float("inf")
    if not first.size:
        return 0.0
    alike = first == second
    with np.errstate(invalid="ignore"):
        off = np.abs(first.astype(np.float64) - second.astype(np.float64))
    return float(np.where(alike, 0.0, np.where(np.isnan(off), np.inf, off)).max())


def read_only(array: Floats) -> Floats:
    """Return a copy that cannot be written to."""
    copy = np.array(array, copy=True)
    copy.flags.writeable = False
    return copy


def read_only_table(table: xr.Dataset) -> xr.Dataset:
    """Return a copy whose columns and coordinates cannot be written to."""
    copy = table.copy(deep=True)
    for name in copy.variables:
        values = copy[name].values
        values.flags.writeable = False
    return copy


@contextmanager
def global_randomness(seed: int) -> Iterator[list[str]]:
    """Seed the global generators for a block, and put them back.

    Yields
    ------
    list of str
        After the block: the generators that it used or seeded.
    """
    touched: list[str] = []
    # The global generator of numpy is looked at and put back, never drawn from.
    before = np.random.get_state(), random.getstate()  # noqa: NPY002  # as said
    try:
        np.random.seed(seed)  # noqa: NPY002  # as said
        random.seed(seed)
        start = _numpy_state(), random.getstate()
        yield touched
        if _numpy_state() != start[0]:
            touched.append("numpy.random")
        if random.getstate() != start[1]:
            touched.append("random")
    finally:
        np.random.set_state(before[0])  # noqa: NPY002  # as said
        random.setstate(before[1])


def _numpy_state() -> tuple[bytes, object]:
    state = np.random.get_state(legacy=False)  # noqa: NPY002  # it is watched
    inner = state["state"]
    return np.asarray(inner["key"]).tobytes(), inner["pos"]
