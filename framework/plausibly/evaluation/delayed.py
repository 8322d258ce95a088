"""Evaluation of sets or plausibilities in chunks, which is measured when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.conformal.chunks import whole_rows
from plausibly.conformal.predictor import columns_later, values_later
from plausibly.data import names
from plausibly.data.named import is_lazy
from plausibly.evaluation.judged import Judged
from plausibly.evaluation.measuring import Known, Measures, Measuring, Opinions
from plausibly.evaluation.shown import TIED_SHARE
from plausibly.kernels import coverage
from plausibly.kernels.types import Bools, Floats

if TYPE_CHECKING:
    import dask.array

_LARGEST = "largest_plausibility"


class Averaging(Protocol):
    """What makes averages of outcomes, (example, alpha) by name, and of largest plausibilities."""

    def __call__(self, values: Measures, largest: NDArray[np.float64]) -> xr.Dataset:
        """Return averages by name."""


@attrs.frozen(kw_only=True, eq=False)
class Later:
    """What is measured when it is asked for.

    Attributes
    ----------
    values : dict of str to Dask array, (example, alpha)
    largest : ndarray or Dask array, (example,)
        The largest plausibility.
    averages : Dataset
    """

    values: dict[str, dask.array.Array]
    largest: NDArray[np.float64] | dask.array.Array
    averages: xr.Dataset


@attrs.frozen(kw_only=True, eq=False)
class _Columns:
    """Measures one chunk.

    Attributes
    ----------
    measuring : Measuring
    quantities : tuple of str
    """

    measuring: Measuring
    quantities: tuple[str, ...]

    def __call__(self, values: Bools, *asked: Any) -> NDArray[np.float64]:  # Any: as below
        """Return (example, quantity, alpha)."""
        opinions: Opinions = asked[0] if len(asked) == 1 else Opinions(*asked)
        found = self.measuring(values, opinions)
        if len(asked) > 1:
            lam: Floats = asked[0]
            for name, column in _said(lam).items():
                found[name] = np.broadcast_to(column[:, None], found[self.quantities[0]].shape)
        return np.stack([found[name] for name in self.quantities], axis=1)


def _said(lam: Floats) -> dict[str, NDArray[np.float64]]:
    """Return what is reported of plausibilities themselves, (example,)."""
    tied = coverage.tie_counts(lam) > 1
    return {_LARGEST: lam.max(axis=1).astype(np.float64), TIED_SHARE: tied.astype(np.float64)}


@attrs.frozen(kw_only=True, eq=False)
class _Whole:
    """Averages over all chunks.

    Attributes
    ----------
    averaging : Averaging
    quantities : tuple of str
    largest : ndarray, (example,), or None
        None: the last two columns are of plausibilities.
    """

    averaging: Averaging
    quantities: tuple[str, ...]
    largest: NDArray[np.float64] | None

    def __call__(
        self, blocks: Sequence[NDArray[np.float64]]
    ) -> dict[str, NDArray[Any]]:  # Any: numbers of either kind
        """Return averages by name, from the columns of every chunk."""
        columns = np.concatenate(blocks)
        values = {name: columns[:, place] for place, name in enumerate(self.quantities)}
        largest, tied = self.largest, None
        if largest is None:
            largest, tied = values.pop(_LARGEST)[:, 0], values.pop(TIED_SHARE)[:, 0]
        found = self.averaging(values, largest)
        averages = {str(name): one.values for name, one in found.data_vars.items()}
        if tied is not None:
            averages[TIED_SHARE] = np.asarray((tied > 0).mean())
        return averages


def later(
    judged: Judged, measuring: Measuring, known: Known, averaging: Averaging, like: Averaging
) -> Later:
    """Return an evaluation that is measured when it is asked for: all of it in one pass.

    Parameters
    ----------
    judged : Judged
        Sets or plausibilities in chunks, or both.
    measuring : Measuring
    known : Known
        Of the examples.
    averaging : Averaging
        For all of them.
    like : Averaging
        The same for one example.

    Raises
    ------
    InputError
        ``label-axis-split``.
    """
    sets, lam = judged.sets, judged.given
    apart = isinstance(lam, xr.DataArray) and is_lazy(lam)
    if is_lazy(sets):
        sets = whole_rows(sets, "the prediction sets", "sets")
    else:
        sets = sets.chunk({names.EXAMPLE: lam.chunksizes[names.EXAMPLE]})
    alphas = 1
    if judged.alpha_dims:
        alphas = sets.sizes[names.ALPHA]
        sets = sets.chunk({names.ALPHA: -1})
    cut = sets.variable.chunksizes[names.EXAMPLE]
    read = [sets]
    if isinstance(lam, xr.DataArray) and apart:
        read.append(lam.chunk({names.EXAMPLE: cut, names.LABEL: -1}))
    asked: Known | Opinions = known if apart else Opinions(judged.opinions, known)
    ends = np.cumsum(cut).tolist()
    asks = [asked[end - size : end] for size, end in zip(cut, ends, strict=True)]
    one = _rehearsed(measuring, known, alphas, several=bool(judged.alpha_dims))
    template = like(one, np.zeros(1))
    quantities = tuple(one)
    if apart:
        template[TIED_SHARE] = ((), 0.0)
        quantities += (_LARGEST, TIED_SHARE)
    columns = columns_later(
        _Columns(measuring=measuring, quantities=quantities),
        read,
        asks,
        (len(quantities), alphas),
    )
    largest = None if apart else judged.largest
    whole = _Whole(averaging=averaging, quantities=quantities, largest=largest)
    return Later(
        values={name: columns[:, place] for place, name in enumerate(one)},
        largest=columns[:, len(one), 0] if largest is None else largest,
        averages=xr.Dataset(values_later(whole, columns, template), coords=template.coords),
    )


def _rehearsed(measuring: Measuring, known: Known, alphas: int, *, several: bool) -> Measures:
    """Return what is measured of the empty set of one example with one label."""
    sets = np.zeros((1, 1, alphas) if several else (1, 1), dtype=np.bool_)
    codes = None if known.codes is None else np.zeros(1, dtype=np.intp)
    about = Known(uniform=np.zeros(1), codes=codes)
    return measuring(sets, Opinions(np.ones((1, 1)), about))
