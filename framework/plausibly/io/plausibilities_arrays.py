"""Plausibilities as arrays: npz and netCDF-3."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data.names import DENOMINATOR, DRAW, EXAMPLE, LABEL, PLAUSIBILITIES
from plausibly.errors import InputError
from plausibly.io import arrays, netcdf, numpy_files, stored
from plausibly.io.pieces import MARK, Content, Piece, damaged, pieces_of
from plausibly.kernels.types import Ints

KIND = "plausibilities"
KEYS = {EXAMPLE: "examples", LABEL: "labels", DRAW: "draws"}

_USUAL = (PLAUSIBILITIES, "plausibility")
_ROLE = "plausibilities"
_ATTRIBUTES = "attributes"


def content_of(array: xr.DataArray, **more: object) -> Content:
    """Return plausibilities, their coordinates and attributes; `more` says what the file is."""
    first = [name for name in (EXAMPLE, LABEL, DRAW, DENOMINATOR) if name in array.coords]
    others = [str(name) for name in array.coords if name not in first]
    coordinates = {name: array.coords[name].variable for name in (*first, *others)}
    dims = tuple(str(dim) for dim in array.dims)
    return Content(
        kind=KIND,
        attributes={str(name): value for name, value in array.attrs.items()},
        pieces=(
            Piece(name=PLAUSIBILITIES, dims=dims, values=array.values),
            *pieces_of(coordinates, coordinates),
        ),
        more=more,
    )


def array_of(
    content: Content,
    whose: str,
    values: NDArray[Any] | None = None,  # Any: float32 or float64
) -> xr.DataArray:
    """Return the array of a content; `values`, where they stand beside it.

    Raises
    ------
    InputError
        ``file-damaged`` where the parts make no array.
    """
    held = {piece.name: piece for piece in content.pieces}
    found = held.pop(PLAUSIBILITIES, None)
    dims = (DRAW, EXAMPLE, LABEL)[-2 if values is None else -values.ndim :]
    try:
        return xr.DataArray(
            found.values if found is not None else values,
            dims=found.dims if found is not None else dims,
            coords={name: piece.variable for name, piece in held.items()},
            name=PLAUSIBILITIES,
            attrs=dict(content.attributes),
        )
    except (TypeError, ValueError, AttributeError) as reason:
        raise damaged(whose, reason) from reason


def write_npz(array: xr.DataArray, path: Path) -> None:
    """Write arrays under the names that any npz of plausibilities has, and all else beside them."""
    stored.write_npz(content_of(array), path, KEYS)


def write_netcdf(array: xr.DataArray, path: Path) -> None:
    """Write a variable ``plausibilities`` with its coordinates."""
    stored.write_netcdf(content_of(array), path)


def read_npz(path: Path) -> xr.DataArray | Content:
    """Return plausibilities in an npz file, or what our own file holds."""
    held = numpy_files.read_npz(path, _ROLE)
    if str(held.get(stored.ABOUT, "")).startswith(f'{{"{MARK}"'):
        return stored.npz_content(held, KIND, path.name)
    found = arrays.from_npz(path, _ROLE, _USUAL)
    array = arrays.labelled(found, name=PLAUSIBILITIES).assign_attrs(_said(held))
    totals = held.get(DENOMINATOR)
    if totals is None:
        return array
    if totals.shape != found.values.shape[:1] or totals.dtype.kind not in "iu":
        raise not_totals(path.name, f"shape {totals.shape}, type {totals.dtype}")
    return with_totals(array, totals)


def _said(held: dict[str, NDArray[Any]]) -> dict[str, object]:  # Any: as the file says
    try:
        return dict(json.loads(str(held.get(_ATTRIBUTES, np.array("{}")))))
    except (ValueError, TypeError):
        return {}


def read_netcdf(path: Path) -> xr.DataArray | Content:
    """Return plausibilities in a netCDF file, or what our own file holds."""
    content = stored.netcdf_content(netcdf.load(path, _ROLE), KIND, path.name)
    if content is not None:
        return content
    found = arrays.from_netcdf(path, _ROLE, None, _USUAL)
    kept = dict(found.coordinates)
    totals = kept.pop(DENOMINATOR, None)
    array = arrays.labelled(found, name=PLAUSIBILITIES).assign_attrs(dict(found.attributes))
    return array if totals is None else with_totals(array, totals.values)


def with_totals(array: xr.DataArray, totals: Ints) -> xr.DataArray:
    """Return the array with the total of each example."""
    return array.assign_coords({DENOMINATOR: (EXAMPLE, totals.astype(np.int64))})


def not_totals(whose: str, got: str) -> InputError:
    """Return the error for totals that are none."""
    return InputError(
        "denominator-unfit",
        f"{whose}: {DENOMINATOR} is not one total an example",
        expected="whole numbers, one a row",
        got=got,
        do=f"mend {DENOMINATOR}, or leave it out",
        whose=whose,
    )
