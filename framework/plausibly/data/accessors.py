"""The door `.plausibly` of DataArrays and Datasets: there as soon as anything labelled is."""

from __future__ import annotations

from importlib import import_module

import xarray as xr

NAME = "plausibly"


def _open(array: xr.DataArray | xr.Dataset) -> object:
    """Return what `.plausibly` is: looked up by name, since figures stand on a higher floor."""
    opened: object = import_module("plausibly.accessor").of(array)
    return opened


def register() -> None:
    """Let DataArrays and Datasets have the accessor; what already has the name keeps it."""
    if not hasattr(xr.DataArray, NAME):
        xr.register_dataarray_accessor(NAME)(_open)  # type: ignore[no-untyped-call]  # xarray lacks the hint
    if not hasattr(xr.Dataset, NAME):
        xr.register_dataset_accessor(NAME)(_open)  # type: ignore[no-untyped-call]  # xarray lacks the hint
