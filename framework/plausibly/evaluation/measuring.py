"""Coverage and size of each set: of all sets in memory, or of one chunk of examples at a time."""

from __future__ import annotations

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.named import is_lazy
from plausibly.evaluation.summary import SET_SIZE
from plausibly.kernels import coverage
from plausibly.kernels.coverage import Ties
from plausibly.kernels.sparse import Slots
from plausibly.kernels.types import Bools, Floats, Ints

Measures = dict[str, NDArray[np.float64]]


@attrs.frozen(kw_only=True, eq=False)
class Known:
    """What is known of some examples besides what experts say.

    Attributes
    ----------
    uniform : ndarray, (example,), or None
        For ties that are broken at random.
    order : ndarray of int, (label,), or None
        The labels in the order of their names, in which tied ones are counted then.
    codes : ndarray of int, (example,), or None
        Of their known labels.
    """

    uniform: NDArray[np.float64] | None = None
    order: Ints | None = None
    codes: Ints | None = None

    def __getitem__(self, rows: slice) -> Known:
        """Return what is known of some of them."""
        return Known(
            uniform=None if self.uniform is None else self.uniform[rows],
            order=self.order,
            codes=None if self.codes is None else self.codes[rows],
        )


@attrs.frozen(eq=False)
class Opinions:
    """What experts say of some examples.

    Attributes
    ----------
    plausibilities : ndarray, (example, label), or Slots
    known : Known
    """

    plausibilities: Floats | Slots
    known: Known = Known()

    def __getitem__(self, rows: slice) -> Opinions:
        """Return what is said of some of them."""
        lam = self.plausibilities
        some = lam.take(rows) if isinstance(lam, Slots) else lam[rows]
        return Opinions(some, self.known[rows])


@attrs.frozen(kw_only=True, eq=False)
class Measuring:
    """Measures sets against opinions.

    Attributes
    ----------
    ties : {"first", "random", "fractional", "any", "all"}
        See `plausibly.evaluate`.
    shares : ndarray of float64, (alpha,), or None
        Plausibility that sets are to hold at least, where that was promised.
    """

    ties: Ties
    shares: NDArray[np.float64] | None = None

    def __call__(self, values: Bools, opinions: Opinions) -> Measures:
        """Return what is measured of each set, (example, alpha), by name.

        Parameters
        ----------
        values : ndarray of bool, (example, label[, alpha])
        opinions : Opinions
            Of these examples.
        """
        planes, lam, known = _planes(values), opinions.plausibilities, opinions.known
        found = {
            "aggregated_coverage": [coverage.aggregated(plane, lam) for plane in planes],
            "voted_coverage": [
                coverage.voted(plane, lam, self.ties, known.uniform, known.order)
                for plane in planes
            ],
        }
        if known.codes is not None:
            rows = np.arange(len(known.codes))
            held = [plane[rows, known.codes].astype(np.float64) for plane in planes]
            found["true_coverage"] = held
        found[SET_SIZE] = [coverage.sizes(plane).astype(np.float64) for plane in planes]
        measures = {name: np.stack(columns, axis=1) for name, columns in found.items()}
        if self.shares is not None:
            enough = measures["aggregated_coverage"] >= self.shares
            measures["mass_coverage"] = enough.astype(np.float64)
        return measures


def _planes(values: Bools) -> list[Bools]:
    """Return sets (example, label[, alpha]) as one array an alpha."""
    return [values] if values.ndim == 2 else list(np.moveaxis(values, 2, 0))


def measure(sets: xr.DataArray, opinions: Opinions, measuring: Measuring) -> Measures:
    """Return what is measured of each set, (example, alpha), by name.

    Parameters
    ----------
    sets : DataArray of bool, (example, label[, alpha])
        In memory, or in chunks, which are read now.
    opinions : Opinions
        Of the same examples.
    measuring : Measuring
    """
    if not is_lazy(sets):
        return measuring(sets.values, opinions)
    from plausibly.conformal.chunks import chunks_of, reduced, whole_rows

    cut = whole_rows(sets, "the prediction sets", "sets")
    if names.ALPHA in cut.dims:
        cut = cut.chunk({names.ALPHA: -1})
    asks = [(chunk, opinions[chunk.start : chunk.stop]) for chunk in chunks_of(cut)]
    parts = list(reduced(measuring, cut, asks))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
