"""How much memory is in hand at once."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

MIB = 2**20


@contextmanager
def at_most(mebibytes: float) -> Iterator[None]:
    """Demand that a block has no more in hand at once."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1] / MIB
    finally:
        tracemalloc.stop()
    assert peak < mebibytes, f"{peak:.0f} MiB"
