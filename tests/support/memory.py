"""Bounds on the memory in use."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

MIB = 2**20


@contextmanager
def at_most(mebibytes: float) -> Iterator[None]:
    """Check that a block uses no more memory at once."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1] / MIB
    finally:
        tracemalloc.stop()
    assert peak < mebibytes, f"{peak:.0f} MiB"
