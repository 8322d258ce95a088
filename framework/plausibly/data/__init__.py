"""Annotation tables, plausibilities and predictions under their names.

The accessor `.plausibly` of DataArrays and Datasets is there as soon as this package is.
"""

from importlib import import_module

import xarray as xr


def _open(array: xr.DataArray | xr.Dataset) -> object:
    """Return what `.plausibly` is: looked up by name, since figures are in a higher layer."""
    opened: object = import_module("plausibly.accessor").of(array)
    return opened


def register() -> None:
    """Let DataArrays and Datasets have the accessor; what already has the name keeps it."""
    if not hasattr(xr.DataArray, "plausibly"):
        xr.register_dataarray_accessor("plausibly")(_open)  # type: ignore[no-untyped-call]  # xarray lacks the hint
    if not hasattr(xr.Dataset, "plausibly"):
        xr.register_dataset_accessor("plausibly")(_open)  # type: ignore[no-untyped-call]  # xarray lacks the hint


register()
