"""Coverage and size of each set: of all sets in memory, or of one chunk of examples at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.arrays import Bools, Floats, Ints
from plausibly.evaluation.summary import SET_SIZE
from plausibly.kernels import coverage
from plausibly.kernels.coverage import Ties
from plausibly.kernels.slots import Slots
from plausibly.labelled import names
from plausibly.labelled.named import is_lazy

A = TypeVar("A", "Opinions", Ints)
Measures = dict[str, NDArray[np.float64]]


@attrs.frozen(eq=False)
class Opinions:
    """What experts say of some examples.

    Attributes
    ----------
    plausibilities : ndarray, (example, label), or Slots
    uniform : ndarray, (example,), or None
        For ties that are broken at random.
    """

    plausibilities: Floats | Slots
    uniform: NDArray[np.float64] | None

    def __getitem__(self, rows: slice) -> Opinions:
        """Return what is said of some of them."""
        lam = self.plausibilities
        return Opinions(
            lam.take(rows) if isinstance(lam, Slots) else lam[rows],
            None if self.uniform is None else self.uniform[rows],
        )


@attrs.frozen
class _Measuring:
    """Measures sets against opinions.

    Attributes
    ----------
    ties : str
    """

    ties: Ties

    def __call__(self, values: Bools, opinions: Opinions) -> Measures:
        planes, lam = _planes(values), opinions.plausibilities
        uniform = opinions.uniform
        found = {
            "aggregated_coverage": [coverage.aggregated(plane, lam) for plane in planes],
            "voted_coverage": [coverage.voted(plane, lam, self.ties, uniform) for plane in planes],
            SET_SIZE: [coverage.sizes(plane).astype(np.float64) for plane in planes],
        }
        return {name: np.stack(columns, axis=1) for name, columns in found.items()}


def _holding(values: Bools, codes: Ints) -> Measures:
    rows = np.arange(len(codes))
    held = [plane[rows, codes].astype(np.float64) for plane in _planes(values)]
    return {"held": np.stack(held, axis=1)}


def _planes(values: Bools) -> list[Bools]:
    """Return sets (example, label[, alpha]) as one array an alpha."""
    return [values] if values.ndim == 2 else list(np.moveaxis(values, 2, 0))


def measure(sets: xr.DataArray, opinions: Opinions, ties: Ties) -> Measures:
    """Return aggregated and voted coverage, and size, of each set, (example, alpha).

    Parameters
    ----------
    sets : DataArray of bool, (example, label[, alpha])
        In memory or in chunks.
    opinions : Opinions
        Of the same examples.
    ties : {"first", "random", "fractional", "any", "all"}
    """
    return _over(sets, _Measuring(ties), opinions)


def holds(sets: xr.DataArray, codes: Ints) -> NDArray[np.float64]:
    """Return 1 for each set that holds the label of this code, (example, alpha).

    Parameters
    ----------
    sets : DataArray of bool, (example, label[, alpha])
    codes : ndarray of int, (example,)
    """
    return _over(sets, _holding, codes)["held"]


def _over(sets: xr.DataArray, what: Callable[[Bools, A], Measures], beside: A) -> Measures:
    if not is_lazy(sets):
        return what(sets.values, beside)
    from plausibly.lazy.chunks import chunks_of, reduced, whole_rows

    cut = whole_rows(sets, "the prediction sets", "sets")
    if names.ALPHA in cut.dims:
        cut = cut.chunk({names.ALPHA: -1})
    asks = [(chunk, beside[chunk.start : chunk.stop]) for chunk in chunks_of(cut)]
    parts = list(reduced(what, cut, asks))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
