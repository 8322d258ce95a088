"""The result of a study in a file, and back, exactly."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import xarray as xr

from plausibly.atomic import check_ours, holds, replacing
from plausibly.data import names
from plausibly.errors import InputError, listed
from plausibly.evaluation.results import METHOD, SPLIT
from plausibly.evaluation.shown import Study
from plausibly.io import netcdf

_INT32 = range(-(2**31), 2**31)
_SEED = "seed"
_MEASURE = "aggregated_coverage"
_DIMS = (METHOD, SPLIT, names.ALPHA)


def is_study(path: Path) -> bool:
    """Return whether a file holds the result of a study."""
    return holds(path, _MEASURE.encode())


def save_study(study: xr.Dataset, path: str | Path) -> None:
    """Write what `plausibly.compare` gave as netCDF-3, whole or not at all.

    Parameters
    ----------
    study : Dataset
    path : str or Path
        netCDF-3 has no 64-bit integers: counts are stored in 32 bits, a longer seed as text.

    Raises
    ------
    InputError
        ``study-unknown`` where it is no such result; ``output-occupied`` or ``output-unwritable``.
    """
    _check(study, "this Dataset")
    attributes = {
        name: str(value) if isinstance(value, int) and value not in _INT32 else value
        for name, value in study.attrs.items()
    }
    check_ours(path, is_study, "an older result of a study")
    with replacing(path) as part:
        whole = study.assign_attrs(attributes)
        whole.to_netcdf(part, engine="scipy", format="NETCDF3_64BIT")


def load_study(path: str | Path) -> Study:
    """Read what `save_study` wrote, or ``results.nc`` of ``plausibly run``.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Study
        The Dataset as `plausibly.compare` gave it, with the same types.

    Raises
    ------
    InputError
        ``file-missing``, ``file-damaged``, or ``study-unknown`` where the file holds no study.
    """
    path = Path(path)
    stored = netcdf.load(path, "study")
    _check(stored, path.name)
    found = stored.copy()
    for name, values in stored.variables.items():
        if values.dtype.kind in "OS":
            texts = np.array(values.values.tolist(), dtype=np.str_).reshape(values.shape)
            found[name] = (values.dims, texts)
        elif values.dtype.kind == "i":
            found[name] = (values.dims, values.values.astype(np.int64))
    # Coordinates stay coordinates, in their order; how the file stored them is its own affair.
    study = Study(
        {name: found[name].variable for name in stored.data_vars},
        coords={name: found[name].variable for name in stored.coords},
        attrs={str(name): _plain(value) for name, value in stored.attrs.items()},
    ).drop_encoding()
    seed = study.attrs.get(_SEED)
    if isinstance(seed, str) and re.fullmatch(r"-?\d+", seed):
        study.attrs[_SEED] = int(seed)
    return study


def _plain(value: object) -> object:
    """Return an attribute as it was before netCDF made a number of numpy of it."""
    return value.item() if isinstance(value, np.generic) else value


def _check(study: xr.Dataset, whose: str) -> None:
    """Raise ``study-unknown`` unless it has the dims and the first measure of a study."""
    if not set(_DIMS) <= set(study.dims) or _MEASURE not in study:
        raise InputError(
            "study-unknown",
            f"{whose} is no result of a study",
            expected=f"{_MEASURE} over method, split and alpha",
            got=f"{listed(study.data_vars) or 'no variable'} over {listed(study.dims) or 'no dim'}",
            do="pass what plausibly.compare returns, or results.nc of plausibly run",
            whose=whose,
        )
