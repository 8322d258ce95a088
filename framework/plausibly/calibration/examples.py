"""Names of examples of which only the hashes are known."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.types import Hashes, unwritable

if TYPE_CHECKING:
    from plausibly.data.names import Names


@attrs.frozen(eq=False)
class HashedNames:
    """Names of examples by their hashes, which is what a file keeps of them."""

    hashes: Hashes = attrs.field(converter=unwritable)

    def __len__(self) -> int:
        return len(self.hashes)

    @cached_property
    def _ordered(self) -> Hashes:
        return np.sort(self.hashes)

    def take(self, rows: NDArray[np.intp]) -> HashedNames:
        """Return some of the names."""
        return HashedNames(self.hashes[rows])

    def common(self, others: Names) -> int:
        """Return how many of other names are among these."""
        if not len(self):
            return 0
        place = np.searchsorted(self._ordered, others.hashes)
        np.minimum(place, len(self) - 1, out=place)
        return int(np.count_nonzero(self._ordered[place] == others.hashes))
