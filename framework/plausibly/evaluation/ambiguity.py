"""Entropy of each distribution over labels."""

from __future__ import annotations

import numpy as np
import xarray as xr

from plausibly.data import names, validate
from plausibly.data.plausibilities import Plausibilities
from plausibly.errors import InputError
from plausibly.evaluation import inputs
from plausibly.evaluation.intervals import Doubles
from plausibly.kernels.blocks import row_blocks
from plausibly.kernels.coverage import row_sums

_NEARLY = 0.01  # distance from 1 that sums of rows in files may have
_EXACTLY = 1e-6  # the same of plausibilities, which are not rescaled


def entropy(array: xr.DataArray | xr.Dataset) -> xr.DataArray:
    """Return how spread each distribution over labels is, ``-sum_k p_k log p_k``, in nats.

    Parameters
    ----------
    array : DataArray or Dataset, (example, label)
        Plausibilities, or predictions of scale ``probability`` or ``logit``; each row is divided by
        its sum. Sparse plausibilities and annotation tables are read as in `evaluate`.

    Returns
    -------
    DataArray of float64, (example,)
        Named ``entropy``, with the coordinates of the examples; from 0, where one label has
        everything, to log K.
    """
    table = _distributions(array)
    entropies = np.empty(len(table.examples))
    for rows in row_blocks(table.stored.shape):
        values = table.stored.take(rows).dense().astype(np.float64)
        shares = values / row_sums(values)[:, None]
        logs = np.log(np.where(shares > 0, shares, 1.0))
        entropies[rows] = row_sums(-(shares * logs), most=shares.shape[1])
    return _of_examples(table, entropies, "entropy")


def largest(array: xr.DataArray | xr.Dataset) -> xr.DataArray:
    """Return the largest number of each row, such as the plausibility of the majority vote.

    Parameters
    ----------
    array : DataArray or Dataset, (example, label)
        As in `entropy`.
    """
    table = _distributions(array)
    values = table.stored.weight.max(axis=1)
    return _of_examples(table, values.astype(np.float64), "largest")


def _distributions(array: xr.DataArray | xr.Dataset) -> Plausibilities:
    """Return (example, label) rows that are distributions over labels."""
    if isinstance(array, xr.Dataset) or names.SCALE not in array.attrs:
        if (
            isinstance(array, xr.DataArray)
            and names.LABEL in array.dims
            and array.dtype.kind == "f"
        ):
            # Rows of probabilities in files sum to nearly 1.
            by_label = [[names.LABEL]]
            sums = xr.apply_ufunc(row_sums, array, input_core_dims=by_label, dask="allowed")
            apart = np.abs(sums - 1)
            if bool((apart <= _NEARLY).all() & (apart > _EXACTLY).any()):
                array = array / sums
        return inputs.read_plausibilities(array)
    table = validate.check_predictions(array)
    scale = table.attrs[names.SCALE]
    if scale == "logit":
        odds = np.exp(table.values - table.values.max(axis=1, keepdims=True))
        shares = odds / row_sums(odds, most=odds.shape[1])[:, None]
        return Plausibilities.of(table.copy(data=shares))
    if scale != "probability":
        raise InputError(
            "entropy-of-scores",
            f"predictions of scale {scale} are no distributions over labels",
            expected="scale probability or logit",
            hint="another number of the examples: ByRange(DataArray over example)",
            source="predictions",
        )
    return Plausibilities.of(table)


def _of_examples(table: Plausibilities, values: Doubles, name: str) -> xr.DataArray:
    """Return numbers of the examples, under their names and coordinates."""
    about = table.about.coords
    coords = {called: item for called, item in about.items() if names.EXAMPLE in item.dims}
    return xr.DataArray(values, dims=(names.EXAMPLE,), coords=coords, name=name)
