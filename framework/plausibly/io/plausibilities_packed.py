"""Packed plausibilities as arrays: npz and netCDF-3, as they are in memory."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from plausibly.data.names import EXAMPLE, LABEL, LABEL_NAME, WEIGHT
from plausibly.io import stored
from plausibly.io.pieces import Content, damaged, pieces_of
from plausibly.io.plausibilities_arrays import KIND

KEYS = {EXAMPLE: "examples", LABEL_NAME: "labels"}

_FORM = "packed"


def content_of(packed: xr.Dataset) -> Content:
    """Return the variables of packed plausibilities; the file says that it holds these."""
    first = [WEIGHT, LABEL, EXAMPLE, LABEL_NAME]
    others = [str(name) for name in packed.variables if name not in first]
    variables = {name: packed.variables[name] for name in (*first, *others)}
    return Content(
        kind=KIND,
        attributes={str(name): value for name, value in packed.attrs.items()},
        pieces=tuple(pieces_of(variables, packed.coords)),
        more={"form": _FORM},
    )


def is_content(content: Content) -> bool:
    """Return whether a file says that its plausibilities are packed."""
    return content.more.get("form") == _FORM


def dataset_of(content: Content, whose: str) -> xr.Dataset:
    """Return packed plausibilities in a file; they are checked by who asks.

    Raises
    ------
    InputError
        ``file-damaged`` where the parts make no Dataset.
    """
    try:
        return xr.Dataset(
            {piece.name: piece.variable for piece in content.pieces if not piece.coordinate},
            coords={piece.name: piece.variable for piece in content.pieces if piece.coordinate},
            attrs=dict(content.attributes),
        )
    except (TypeError, ValueError, AttributeError) as reason:
        raise damaged(whose, reason) from reason


def write_npz(packed: xr.Dataset, path: Path) -> None:
    """Write arrays ``weight``, ``label`` (codes), ``examples``, ``labels``, and all else."""
    stored.write_npz(content_of(packed), path, KEYS)


def write_netcdf(packed: xr.Dataset, path: Path) -> None:
    """Write the variables of the Dataset."""
    stored.write_netcdf(content_of(packed), path)
