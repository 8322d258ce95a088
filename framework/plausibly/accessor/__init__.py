"""What `.plausibly` of a DataArray or Dataset offers.

It is registered by whatever of plausibly makes or reads labelled data; for a Dataset that was
opened by other means, ``import plausibly.accessor`` registers it.
"""

from __future__ import annotations

import xarray as xr

from plausibly.accessor.arrays import ArrayAccessor
from plausibly.accessor.datasets import DatasetAccessor
from plausibly.data.accessors import register

__all__ = ["ArrayAccessor", "DatasetAccessor", "of"]

register()


def of(array: xr.DataArray | xr.Dataset) -> ArrayAccessor | DatasetAccessor:
    """Return the accessor of a DataArray or Dataset.

    Parameters
    ----------
    array : DataArray or Dataset
    """
    return DatasetAccessor(array) if isinstance(array, xr.Dataset) else ArrayAccessor(array)
