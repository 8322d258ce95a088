"""netCDF files: netCDF-3 through scipy, netCDF-4 with the extra ``netcdf``."""

from __future__ import annotations

import io
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from plausibly import extras
from plausibly.data.names import AUGMENTATION, EXAMPLE, LABEL
from plausibly.errors import InputError, listed
from plausibly.io import files

CLASSIC = (b"CDF\x01", b"CDF\x02")
SIGNATURES = (*CLASSIC, b"CDF\x05", b"\x89HDF")


class _Lock:
    """A lock around the netCDF-4 library, which ends the process when two threads are in it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.acquire, self.release = self._lock.acquire, self._lock.release

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def __reduce__(self) -> str:
        return "LOCK"  # in another process, that of its own


LOCK = _Lock()


def opened(path: Path, *, lazy: bool = False) -> xr.Dataset:
    """Return a netCDF-4 file, read, or for Dask to read."""
    read = xr.open_dataset if lazy else xr.load_dataset
    more: dict[str, Any] = {"backend_kwargs": {"lock": LOCK}}  # Any: arguments of xarray
    if lazy:
        more["chunks"] = {}
    with LOCK:
        return decoded(read(path, engine="netcdf4", decode_cf=False, **more))


def load(path: Path | str, role: str) -> xr.Dataset:
    """Return a whole netCDF file.

    Raises
    ------
    InputError
        ``file-missing``, ``file-damaged``, or ``extra-missing`` for netCDF-4 without the extra.
    """
    path = Path(path)
    data = files.contents(path, role)
    try:
        if data.startswith(CLASSIC):
            return decoded(xr.load_dataset(io.BytesIO(data), engine="scipy", decode_cf=False))
        extras.require("netCDF4", extra="netcdf", whose=path.name)
        return opened(path)
    except InputError:
        raise
    except Exception as reason:  # the parsers raise a dozen kinds on damaged files
        raise InputError(
            "file-damaged",
            f"{path.name} is not a whole netCDF file",
            expected="a file as xarray's to_netcdf writes it",
            got=" ".join(str(reason).split())[:120] or type(reason).__name__,
            do="copy it again, or write it again",
            whose=path.name,
        ) from reason


def decoded(raw: xr.Dataset) -> xr.Dataset:
    """Return a dataset as xarray decodes it, but that a stored 0 never means "nothing here".

    Zarr fills with 0 where nobody says otherwise, and a probability of 0 is a number like others.
    """
    for variable in raw.variables.values():
        for key in ("_FillValue", "missing_value"):
            if variable.attrs.get("add_offset", 0) == 0 and np.array_equal(
                variable.attrs.get(key, np.nan), 0
            ):
                del variable.attrs[key]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xr.SerializationWarning)  # NaN is refused further on
        return xr.decode_cf(raw, decode_times=False)


def variable_of(
    dataset: xr.Dataset,
    wanted: str | None,
    usual: tuple[str, ...],
    whose: str,
    *,
    augmented: bool = False,
) -> xr.DataArray:
    """Return the variable over ``example`` and ``label``, in that order.

    Parameters
    ----------
    dataset : Dataset
        What the file holds.
    wanted : str, optional
        The variable to take.
    usual : tuple of str
        Names that win where several variables have the dims.
    whose : str
        Name of the file.
    augmented : bool
        Whether it may have the dim ``augmentation``, which then comes first.

    Raises
    ------
    InputError
        ``variable-missing`` where `wanted` is not there, or none or several could be meant.
    """
    more = {AUGMENTATION} if augmented else set()
    fit = [
        str(name) for name, array in dataset.items() if set(array.dims) - more == {EXAMPLE, LABEL}
    ]
    named = [name for name in usual if name in fit]
    if wanted is not None:
        candidates = [wanted] if wanted in fit else []
    else:
        candidates = fit if len(fit) == 1 else named
    if len(candidates) != 1:
        shown = listed(f"{name} ({', '.join(map(str, a.dims))})" for name, a in dataset.items())
        several = fit and wanted is None
        raise InputError(
            "variable-missing",
            f"{whose} has {listed(fit)}"
            if several
            else f"{whose} has no {wanted or 'predictions'}",
            expected="one variable over example and label",
            got=shown or "no variable",
            do=f"--variable {fit[0]}" if fit else "name the dims example and label",
            whose=whose,
            details={"variables": [str(name) for name in dataset]},
        )
    return dataset[candidates[0]].transpose(..., EXAMPLE, LABEL)
