"""New examples as a calibration asks about them: their scores, cells, weights and uniforms."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.calibration.pools import Pools
from plausibly.calibration.pvalues import PValues
from plausibly.calibration.replicates import LABEL_CELLS
from plausibly.kernels.types import Floats, Ints

Combine = Callable[[PValues], NDArray[np.float64]]

_BLOCK = 1 << 20


@attrs.frozen(kw_only=True, eq=False)
class Queries:
    """Every label of every new example.

    Attributes
    ----------
    scores : ndarray, (example, label), or (augmentation, example, label) where these are separate
    cell : ndarray of int, (example,), or None
        Group of each example, -1 for groups that calibration lacks.
    weight : ndarray, (example,), or None
    uniform : ndarray, (example, 1), or None
        One an example, for p-values that split ties.
    order : ndarray of int, (augmentation, example), or None
        Order of the replicates, random for each example.
    """

    scores: Floats
    cell: Ints | None = None
    weight: Floats | None = None
    uniform: Floats | None
    order: Ints | None = None

    def __len__(self) -> int:
        return int(self.scores.shape[-2])

    def take(self, rows: slice | NDArray[np.intp]) -> Queries:
        """Return the queries of some examples."""
        return Queries(
            scores=self.scores[:, rows] if self.scores.ndim == 3 else self.scores[rows],
            cell=None if self.cell is None else self.cell[rows],
            weight=None if self.weight is None else self.weight[rows],
            uniform=None if self.uniform is None else self.uniform[rows],
            order=None if self.order is None else self.order[:, rows],
        )

    def p_values(self, pools: Pools, label: int | None = None) -> PValues:
        """Return the p-values against one cell; of one label where a label is named."""
        asked = slice(None) if label is None else slice(label, label + 1)
        return PValues.of(
            pools,
            self.scores[..., asked],
            weight=None if self.weight is None else self.weight[:, None],
            uniform=self.uniform,
            order=None if self.order is None else self.order[..., None],
        )


def combined(pools: Pools, queries: Queries, combine: Combine) -> NDArray[np.float64]:
    """Return the combined p-value of every label of every example, (example, label).

    Examples of groups that calibration lacks have nothing to be compared with: 1.
    """
    labels = queries.scores.shape[-1]
    found = np.empty((len(queries), labels), dtype=np.float64)
    rows = max(1, _BLOCK // (max(1, labels) * len(pools.replicates.scores)))
    for start in range(0, len(queries), rows):
        block = queries.take(slice(start, start + rows))
        found[start : start + rows] = _block(pools, block, combine)
    return found


def _block(pools: Pools, queries: Queries, combine: Combine) -> NDArray[np.float64]:
    if pools.replicates.by == LABEL_CELLS:
        columns = [combine(queries.p_values(one, k)) for k, one in enumerate(pools.cells)]
        return np.concatenate(columns, axis=1)
    if queries.cell is None:
        return combine(queries.p_values(pools))
    found = np.ones(queries.scores.shape[-2:], dtype=np.float64)
    for code, rows in _cells(queries.cell):
        found[rows] = combine(queries.take(rows).p_values(pools.cells[code]))
    return found


def _cells(cell: Ints) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Return the known cells of examples, and the rows of each."""
    for code in np.unique(cell[cell >= 0]).tolist():
        yield code, np.flatnonzero(cell == code)
